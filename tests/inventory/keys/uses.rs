//! Times at which keys were last used.

use std::time::Duration;

use fastrand::Rng;
use toposcope::access::Clock;
use toposcope::inventory::{Entity, ErrorKind, UserApiKeyUpdate};
use toposcope::model::Timestamp;
use toposcope::store::Version;
use uuid::Uuid;

use crate::support::{Fault, Fixture, NOW, in_person, refusal, settle, time};

impl Fixture {
    /// Returns the recorded time at which a user's key was last used.
    async fn last_used(&self, key: Uuid) -> Option<Timestamp> {
        settle().await;
        self.inventory.user_api_key(key).await.unwrap().last_used
    }

    /// Returns the versions of all records with an id, except that of its last use.
    async fn versions(&self, key: Uuid) -> Vec<Version> {
        let contents = self.contents().await.into_iter();
        let records = contents.filter(|stored| stored.record.key.id == key && stored.kind() != "key_use");
        records.map(|stored| stored.record.version).collect()
    }
}

fn after(seconds: u64) -> Timestamp {
    time(NOW).plus_micros(i64::try_from(seconds).unwrap() * 1_000_000)
}

#[tokio::test]
async fn a_key_that_was_never_used_says_so() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    assert_eq!(fixture.last_used(issued.record().id).await, None);
    let daemons = fixture.daemon_key(|_| {}).await;
    assert_eq!(fixture.inventory.daemon_api_key(daemons.record().id).await.unwrap().last_used, None);
}

#[tokio::test]
async fn the_use_of_a_key_is_noted_at_most_once_a_minute() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let daemons = fixture.daemon_key(|_| {}).await;
    for (seconds, noted) in [(0, 0), (1, 0), (59, 0), (60, 60), (61, 60), (119, 60), (120, 120), (1000, 1000)]
    {
        fixture.clock.set(after(seconds));
        let commits = fixture.commits();
        for _ in 0..3 {
            fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
            fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
            settle().await;
        }
        assert_eq!(fixture.last_used(issued.record().id).await, Some(after(noted)), "after {seconds} s");
        let found = fixture.inventory.daemon_api_key(daemons.record().id).await.unwrap();
        assert_eq!(found.last_used, Some(after(noted)), "after {seconds} s");
        assert_eq!(fixture.commits() - commits, if seconds == noted { 2 } else { 0 });
    }
}

#[tokio::test]
async fn the_use_of_a_key_that_is_changed_meanwhile_is_noted_no_later_for_it() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    for (seconds, noted) in [(0, 0), (59, 0), (118, 118)] {
        fixture.clock.set(after(seconds));
        if seconds == 59 {
            fixture.inventory.set_user_api_key_enabled(issued.record().id, true).await.unwrap();
        }
        fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        assert_eq!(fixture.last_used(issued.record().id).await, Some(after(noted)), "after {seconds} s");
    }
}

#[tokio::test]
async fn many_requests_at_once_note_one_use() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let commits = fixture.commits();
    let requests = (0..100).map(|_| {
        let (inventory, text) = (fixture.inventory.clone(), issued.plaintext().to_owned());
        tokio::spawn(async move { inventory.authenticate_user_key(&text).await.map(drop) })
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.unwrap().unwrap();
    }
    assert_eq!(fixture.last_used(issued.record().id).await, Some(time(NOW)));
    assert_eq!(fixture.commits(), commits + 1);
}

#[tokio::test]
async fn two_inventories_on_one_store_note_a_use_at_most_once_a_minute_together() {
    let fixture = Fixture::new().await;
    let inventories = [fixture.inventory.clone(), fixture.second_inventory()];
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let mut random = Rng::with_seed(7);
    let mut noted: Vec<Timestamp> = Vec::new();
    for _ in 0..200 {
        fixture.clock.advance(Duration::from_secs(random.u64(0..40)));
        let commits = fixture.commits();
        inventories[random.usize(0..2)].authenticate_user_key(issued.plaintext()).await.unwrap();
        let last_used = fixture.last_used(issued.record().id).await.expect("it was used");
        let (now, before) = (fixture.clock.now(), noted.last().copied());
        if fixture.commits() > commits {
            assert!(before.is_none_or(|before| now >= before.plus_micros(60_000_000)));
            assert_eq!(last_used, now);
            noted.push(now);
        }
        assert_eq!(noted.last(), Some(&last_used));
        assert!(now < last_used.plus_micros(2 * 60_000_000), "it may be off by the minute of each inventory");
    }
    assert!(noted.len() > 20);
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_hold_up_what_is_noted() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    fixture.clock.set(time("2030-01-01T00:00:00Z"));
    fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(fixture.last_used(issued.record().id).await, Some(time("2030-01-01T00:00:00Z")));
    fixture.clock.set(after(0));
    fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(fixture.last_used(issued.record().id).await, Some(after(0)));
}

#[tokio::test]
async fn noting_a_use_leaves_the_key_alone() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let daemons = fixture.daemon_key(|_| {}).await;
    let ids = [issued.record().id, daemons.record().id];
    let before = [fixture.versions(ids[0]).await, fixture.versions(ids[1]).await];
    for minute in 0..3 {
        fixture.clock.set(after(60 * minute));
        fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
        settle().await;
    }
    assert_eq!([fixture.versions(ids[0]).await, fixture.versions(ids[1]).await], before);
    let found = fixture.inventory.user_api_key(ids[0]).await.unwrap();
    assert_eq!((found.last_used, found.updated_at), (Some(after(120)), issued.record().updated_at));
}

#[tokio::test]
async fn whatever_gives_a_key_tells_when_it_was_last_used() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let unused = fixture.user_key(&owner, |_| {}).await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let unused_daemons = fixture.daemon_key(|_| {}).await;
    let daemons = fixture.daemon_key(|_| {}).await;
    fixture.clock.set(after(5));
    fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
    settle().await;
    let (inventory, used) = (&fixture.inventory, Some(after(5)));
    let key = issued.record();
    assert_eq!(inventory.user_api_key(key.id).await.unwrap().last_used, used);
    for found in inventory.user_api_keys(owner.id).await.unwrap() {
        assert_eq!(found.last_used, used.filter(|_| found.id != unused.record().id));
    }
    assert_eq!(inventory.set_user_api_key_enabled(key.id, true).await.unwrap().last_used, used);
    let update = UserApiKeyUpdate::new(key.organization_id, key.user_id, "renamed", vec![]);
    let updated = inventory.update_user_api_key_as(&in_person(&owner), key.id, &update).await.unwrap();
    assert_eq!(updated.last_used, used);
    let key = daemons.record().id;
    assert_eq!(inventory.daemon_api_key(key).await.unwrap().last_used, used);
    for found in inventory.daemon_api_keys(fixture.organization).await.unwrap() {
        assert_eq!(found.last_used, used.filter(|_| found.id != unused_daemons.record().id));
    }
    assert_eq!(inventory.set_daemon_api_key_enabled(key, false).await.unwrap().last_used, used);
}

#[tokio::test]
async fn the_use_of_a_key_that_is_refused_is_not_noted() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |new| new.expires_at = Some(after(100))).await;
    let daemons = fixture.daemon_key(|new| new.expires_at = Some(after(100))).await;
    let (key, daemons_key) = (issued.record().id, daemons.record().id);
    let inventory = &fixture.inventory;
    let assert_refused = async |expected: ErrorKind| {
        let commits = fixture.commits();
        assert_eq!(refusal(inventory.authenticate_user_key(issued.plaintext()).await), expected);
        settle().await;
        assert_eq!(fixture.commits(), commits);
    };
    inventory.set_user_api_key_enabled(key, false).await.unwrap();
    assert_refused(ErrorKind::Disabled { entity: Entity::UserApiKey }).await;
    inventory.set_user_api_key_enabled(key, true).await.unwrap();
    inventory.set_user_enabled(owner.id, false).await.unwrap();
    assert_refused(ErrorKind::Disabled { entity: Entity::User }).await;
    inventory.set_user_enabled(owner.id, true).await.unwrap();
    inventory.set_api_access(fixture.organization, false).await.unwrap();
    assert_refused(ErrorKind::ApiAccessRequired).await;
    inventory.set_api_access(fixture.organization, true).await.unwrap();
    inventory.set_daemon_api_key_enabled(daemons_key, false).await.unwrap();
    refusal(inventory.authenticate_daemon_key(daemons.plaintext()).await);
    inventory.set_daemon_api_key_enabled(daemons_key, true).await.unwrap();
    fixture.clock.set(after(100));
    assert_refused(ErrorKind::Expired { entity: Entity::UserApiKey }).await;
    refusal(inventory.authenticate_daemon_key(daemons.plaintext()).await);
    assert_eq!(fixture.last_used(key).await, None);
    assert_eq!(inventory.daemon_api_key(daemons_key).await.unwrap().last_used, None);
}

#[tokio::test]
async fn a_key_that_is_deleted_before_its_use_is_noted_leaves_no_note() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let before = fixture.contents().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let daemons = fixture.daemon_key(|_| {}).await;
    // The tasks do not run before the deletions.
    fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
    fixture.inventory.delete_user_api_key(issued.record().id).await.unwrap();
    fixture.inventory.delete_daemon_api_key(daemons.record().id).await.unwrap();
    settle().await;
    assert_eq!(fixture.contents().await, before);
}

#[tokio::test]
async fn no_request_waits_for_its_use_to_be_noted_or_fails_by_it() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::SilentCommits);
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(probe.commits(), 1, "the note is waited for, but not by the request");
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(fixture.last_used(issued.record().id).await, None);
    probe.set(Fault::None);
    assert_eq!(fixture.last_used(issued.record().id).await, Some(time(NOW)));
    fixture.clock.set(after(60));
    // The two reads of the request succeed; the read and the commit of the use fail.
    for call in 2..=3 {
        probe.set(Fault::UnavailableAt(call));
        inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        settle().await;
        fixture.clock.advance(Duration::from_secs(60));
    }
    assert_eq!(fixture.last_used(issued.record().id).await, Some(time(NOW)));
}

/// Two calls of the store per request: the key's lookup, then its use, its user and the organization together.
#[tokio::test]
async fn a_request_whose_use_need_not_be_noted_asks_no_more_than_it_must() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let (inventory, probe) = fixture.probed();
    for (seconds, calls) in [(0, 4), (0, 2), (59, 2), (60, 4), (119, 2)] {
        fixture.clock.set(after(seconds));
        probe.set(Fault::None);
        inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        settle().await;
        assert_eq!(probe.calls(), calls, "after {seconds} s");
    }
}

#[tokio::test]
async fn uses_that_are_noted_at_once_are_bounded_in_number_and_made_up_for() {
    const KEYS: usize = 100;
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let (inventory, probe) = fixture.probed();
    let mut keys = Vec::new();
    for _ in 0..KEYS {
        keys.push(fixture.user_key(&owner, |_| {}).await);
    }
    probe.set(Fault::SilentCommits);
    for key in &keys {
        inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    }
    settle().await;
    let under_way = probe.commits();
    assert!((1..KEYS).contains(&under_way), "{under_way}");
    probe.set(Fault::None);
    settle().await;
    for key in &keys {
        inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        settle().await;
    }
    for key in inventory.user_api_keys(owner.id).await.unwrap() {
        assert_eq!(key.last_used, Some(time(NOW)));
    }
}

#[tokio::test]
async fn notes_that_are_under_way_end_with_the_inventory() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::SilentCommits);
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(probe.commits(), 1);
    drop(inventory);
    probe.set(Fault::None);
    assert_eq!(fixture.last_used(issued.record().id).await, None);
}
