//! Times at which keys were last used.

use std::time::Duration;

use fastrand::Rng;
use toposcope::access::{Caller, Clock};
use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{Timestamp, UserApiKey, UserApiKeyId};
use toposcope::store::Version;

use crate::support::{Fault, Fixture, NOW, concurrently, in_person, refusal, settle, time};

impl Fixture {
    /// Returns the recorded time at which a user's key was last used.
    async fn last_used(&self, key: UserApiKeyId) -> Option<Timestamp> {
        settle().await;
        self.inventory.user_api_keys().get(&Caller::system(self.organization), key).await.unwrap().last_used
    }

    /// Returns the versions of all records with an id, except that of its last use.
    async fn versions(&self, key: UserApiKeyId) -> Vec<Version> {
        let contents = self.contents().await.into_iter();
        let records =
            contents.filter(|stored| stored.record.key.id == key.uuid() && stored.kind() != "key_use");
        records.map(|stored| stored.record.version).collect()
    }
}

fn after(seconds: u64) -> Timestamp {
    time(NOW).plus_micros(i64::try_from(seconds).unwrap() * 1_000_000)
}

#[tokio::test]
async fn unused_key_has_no_time_of_use() {
    let (fixture, issued) = Fixture::with_key().await;
    assert_eq!(fixture.last_used(issued.record().id).await, None);
    let daemons = fixture.daemon_key(|_| {}).await;
    assert_eq!(
        fixture
            .inventory
            .daemon_api_keys()
            .get(&fixture.system(), daemons.record().id)
            .await
            .unwrap()
            .last_used,
        None
    );
}

#[tokio::test]
async fn use_of_a_key_is_recorded_at_most_once_a_minute() {
    let (fixture, issued) = Fixture::with_key().await;
    let daemons = fixture.daemon_key(|_| {}).await;
    for (seconds, recorded) in
        [(0, 0), (1, 0), (59, 0), (60, 60), (61, 60), (119, 60), (120, 120), (1000, 1000)]
    {
        fixture.clock.set(after(seconds));
        let commits = fixture.commits();
        for _ in 0..3 {
            fixture.by_key(&issued).await.unwrap();
            fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
            settle().await;
        }
        assert_eq!(fixture.last_used(issued.record().id).await, Some(after(recorded)), "after {seconds} s");
        let found =
            fixture.inventory.daemon_api_keys().get(&fixture.system(), daemons.record().id).await.unwrap();
        assert_eq!(found.last_used, Some(after(recorded)), "after {seconds} s");
        assert_eq!(fixture.commits() - commits, if seconds == recorded { 2 } else { 0 });
    }
}

#[tokio::test]
async fn change_of_a_key_does_not_delay_the_record_of_its_use() {
    let (fixture, issued) = Fixture::with_key().await;
    for (seconds, recorded) in [(0, 0), (59, 0), (118, 118)] {
        fixture.clock.set(after(seconds));
        if seconds == 59 {
            fixture
                .inventory
                .user_api_keys()
                .enable(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
                .unwrap();
        }
        fixture.by_key(&issued).await.unwrap();
        assert_eq!(fixture.last_used(issued.record().id).await, Some(after(recorded)), "after {seconds} s");
    }
}

#[tokio::test]
async fn concurrent_requests_record_one_use() {
    let (fixture, issued) = Fixture::with_key().await;
    let commits = fixture.commits();
    let text = issued.plaintext();
    let requests = concurrently(&fixture, 100, |fixture, _| {
        let text = text.to_owned();
        async move { fixture.inventory.authenticate_user_key(&text).await.unwrap() }
    });
    requests.await;
    assert_eq!(fixture.last_used(issued.record().id).await, Some(time(NOW)));
    assert_eq!(fixture.commits(), commits + 1);
}

#[tokio::test]
async fn two_inventories_on_one_store_record_a_use_at_most_once_a_minute_together() {
    let fixture = Fixture::new().await;
    let inventories = [fixture.inventory.clone(), fixture.second_inventory()];
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let mut random = Rng::with_seed(7);
    let mut recorded: Vec<Timestamp> = Vec::new();
    for _ in 0..200 {
        fixture.clock.advance(Duration::from_secs(random.u64(0..40)));
        let commits = fixture.commits();
        inventories[random.usize(0..2)].authenticate_user_key(issued.plaintext()).await.unwrap();
        let last_used = fixture.last_used(issued.record().id).await.expect("it was used");
        let (now, before) = (fixture.clock.now(), recorded.last().copied());
        if fixture.commits() > commits {
            assert!(before.is_none_or(|before| now >= before.plus_micros(60_000_000)));
            assert_eq!(last_used, now);
            recorded.push(now);
        }
        assert_eq!(recorded.last(), Some(&last_used));
        assert!(now < last_used.plus_micros(2 * 60_000_000), "it may be off by the minute of each inventory");
    }
    assert!(recorded.len() > 20);
}

#[tokio::test]
async fn clock_that_was_set_back_does_not_delay_the_record_of_a_use() {
    let (fixture, issued) = Fixture::with_key().await;
    fixture.clock.set(time("2030-01-01T00:00:00Z"));
    fixture.by_key(&issued).await.unwrap();
    assert_eq!(fixture.last_used(issued.record().id).await, Some(time("2030-01-01T00:00:00Z")));
    fixture.clock.set(after(0));
    fixture.by_key(&issued).await.unwrap();
    assert_eq!(fixture.last_used(issued.record().id).await, Some(after(0)));
}

#[tokio::test]
async fn record_of_a_use_does_not_change_the_key() {
    let (fixture, issued) = Fixture::with_key().await;
    let daemons = fixture.daemon_key(|_| {}).await;
    let ids = [issued.record().id, daemons.record().id.uuid().into()];
    let before = [fixture.versions(ids[0]).await, fixture.versions(ids[1]).await];
    for minute in 0..3 {
        fixture.clock.set(after(60 * minute));
        fixture.by_key(&issued).await.unwrap();
        fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
        settle().await;
    }
    assert_eq!([fixture.versions(ids[0]).await, fixture.versions(ids[1]).await], before);
    let found = fixture.inventory.user_api_keys().get(&fixture.system(), ids[0]).await.unwrap();
    assert_eq!((found.last_used, found.updated_at), (Some(after(120)), issued.record().updated_at));
}

#[tokio::test]
async fn every_method_that_returns_a_key_includes_its_last_use() {
    let (fixture, owner) = Fixture::with_owner().await;
    let unused = fixture.user_key(&owner, |_| {}).await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let unused_daemons = fixture.daemon_key(|_| {}).await;
    let daemons = fixture.daemon_key(|_| {}).await;
    fixture.clock.set(after(5));
    fixture.by_key(&issued).await.unwrap();
    fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
    settle().await;
    let (inventory, used) = (&fixture.inventory, Some(after(5)));
    let key = issued.record();
    assert_eq!(
        inventory.user_api_keys().get(&Caller::system(key.organization_id), key.id).await.unwrap().last_used,
        used
    );
    for found in
        inventory.user_api_keys().of_user(&Caller::system(owner.organization_id), owner.id).await.unwrap()
    {
        assert_eq!(found.last_used, used.filter(|_| found.id != unused.record().id));
    }
    assert_eq!(
        inventory
            .user_api_keys()
            .enable(&Caller::system(key.organization_id), key.id)
            .await
            .unwrap()
            .last_used,
        used
    );
    let rename = |key: &mut UserApiKey| {
        key.name = "renamed".to_owned();
        Ok(())
    };
    let updated = inventory.records().update(&in_person(&owner), key.id, rename).await.unwrap();
    assert_eq!(updated.last_used, used);
    let key = daemons.record().id;
    assert_eq!(inventory.daemon_api_keys().get(&fixture.system(), key).await.unwrap().last_used, used);
    for found in inventory.daemon_api_keys().all(&fixture.system()).await.unwrap() {
        assert_eq!(found.last_used, used.filter(|_| found.id != unused_daemons.record().id));
    }
    assert_eq!(inventory.daemon_api_keys().disable(&fixture.system(), key).await.unwrap().last_used, used);
}

#[tokio::test]
async fn use_of_a_refused_key_is_not_recorded() {
    let (fixture, owner) = Fixture::with_owner().await;
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
    inventory.user_api_keys().disable(&fixture.system(), key).await.unwrap();
    assert_refused(ErrorKind::Disabled { entity: Entity::UserApiKey }).await;
    inventory.user_api_keys().enable(&fixture.system(), key).await.unwrap();
    inventory.users().disable(&Caller::system(owner.organization_id), owner.id).await.unwrap();
    assert_refused(ErrorKind::Disabled { entity: Entity::User }).await;
    inventory.users().enable(&Caller::system(owner.organization_id), owner.id).await.unwrap();
    inventory.organizations().disable_api_access(fixture.organization).await.unwrap();
    assert_refused(ErrorKind::ApiAccessRequired).await;
    inventory.organizations().enable_api_access(fixture.organization).await.unwrap();
    inventory.daemon_api_keys().disable(&fixture.system(), daemons_key).await.unwrap();
    refusal(inventory.authenticate_daemon_key(daemons.plaintext()).await);
    inventory.daemon_api_keys().enable(&fixture.system(), daemons_key).await.unwrap();
    fixture.clock.set(after(100));
    assert_refused(ErrorKind::Expired { entity: Entity::UserApiKey }).await;
    refusal(inventory.authenticate_daemon_key(daemons.plaintext()).await);
    assert_eq!(fixture.last_used(key).await, None);
    assert_eq!(
        inventory.daemon_api_keys().get(&fixture.system(), daemons_key).await.unwrap().last_used,
        None
    );
}

#[tokio::test]
async fn key_deleted_before_its_use_is_recorded_leaves_no_record() {
    let (fixture, owner) = Fixture::with_owner().await;
    let before = fixture.contents().await;
    let issued = fixture.user_key(&owner, |_| {}).await;
    let daemons = fixture.daemon_key(|_| {}).await;
    // The tasks do not run before the deletions.
    fixture.by_key(&issued).await.unwrap();
    fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
    fixture
        .inventory
        .user_api_keys()
        .delete(&Caller::system(issued.record().organization_id), issued.record().id)
        .await
        .unwrap();
    fixture.inventory.daemon_api_keys().delete(&fixture.system(), daemons.record().id).await.unwrap();
    settle().await;
    assert_eq!(fixture.contents().await, before);
}

#[tokio::test]
async fn request_neither_waits_for_the_record_of_its_use_nor_fails_with_it() {
    let (fixture, issued) = Fixture::with_key().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::SilentCommits);
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(probe.commits(), 1, "the record of the use is pending, and the request does not wait for it");
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

/// A request makes two calls of the store. The first looks up the key, and the second gets its use, its user and the
/// organization together.
#[tokio::test]
async fn request_whose_use_is_not_recorded_makes_two_calls_of_the_store() {
    let (fixture, issued) = Fixture::with_key().await;
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
async fn concurrent_records_of_uses_are_limited_and_made_up_for() {
    const KEYS: usize = 100;
    let (fixture, owner) = Fixture::with_owner().await;
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
    for key in
        inventory.user_api_keys().of_user(&Caller::system(owner.organization_id), owner.id).await.unwrap()
    {
        assert_eq!(key.last_used, Some(time(NOW)));
    }
}

#[tokio::test]
async fn pending_records_of_uses_end_with_the_inventory() {
    let (fixture, issued) = Fixture::with_key().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::SilentCommits);
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(probe.commits(), 1);
    drop(inventory);
    probe.set(Fault::None);
    assert_eq!(fixture.last_used(issued.record().id).await, None);
}
