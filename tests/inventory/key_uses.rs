//! Times at which keys were last used.

use std::time::Duration;

use toposcope::access::Clock;
use toposcope::inventory::{Entity, ErrorKind, UserApiKeyUpdate};
use toposcope::model::Timestamp;
use toposcope::store::Version;
use uuid::Uuid;

use crate::support::{Fault, Faulty, NOW, SplitMix64, World, in_person, refusal, settle, time};

impl World {
    /// Returns the recorded time at which a user's key was last used.
    async fn last_used(&self, key: Uuid) -> Option<Timestamp> {
        settle().await;
        self.inventory.user_api_key(key).await.unwrap().last_used
    }

    /// Returns the versions of all records with an id, except that of its last use.
    async fn versions(&self, key: Uuid) -> Vec<Version> {
        let contents = self.store.contents().await.into_iter();
        let records = contents.filter(|kept| kept.key.id == key && kept.key.kind.as_str() != "key_use");
        records.map(|kept| kept.version).collect()
    }
}

fn after(seconds: u64) -> Timestamp {
    time(NOW).plus_micros(i64::try_from(seconds).unwrap() * 1_000_000)
}

#[tokio::test]
async fn a_key_that_was_never_used_says_so() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    assert_eq!(world.last_used(issued.record().id).await, None);
    let daemons = world.daemon_key(|_| {}).await;
    assert_eq!(world.inventory.daemon_api_key(daemons.record().id).await.unwrap().last_used, None);
}

#[tokio::test]
async fn the_use_of_a_key_is_noted_at_most_once_a_minute() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let daemons = world.daemon_key(|_| {}).await;
    for (seconds, noted) in [(0, 0), (1, 0), (59, 0), (60, 60), (61, 60), (119, 60), (120, 120), (1000, 1000)]
    {
        world.clock.set(after(seconds));
        let commits = world.store.commits();
        for _ in 0..3 {
            world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
            world.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
            settle().await;
        }
        assert_eq!(world.last_used(issued.record().id).await, Some(after(noted)), "after {seconds} s");
        let found = world.inventory.daemon_api_key(daemons.record().id).await.unwrap();
        assert_eq!(found.last_used, Some(after(noted)), "after {seconds} s");
        assert_eq!(world.store.commits() - commits, if seconds == noted { 2 } else { 0 });
    }
}

#[tokio::test]
async fn the_use_of_a_key_that_is_changed_meanwhile_is_noted_no_later_for_it() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    for (seconds, noted) in [(0, 0), (59, 0), (118, 118)] {
        world.clock.set(after(seconds));
        if seconds == 59 {
            world.inventory.enable_user_api_key(issued.record().id).await.unwrap();
        }
        world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        assert_eq!(world.last_used(issued.record().id).await, Some(after(noted)), "after {seconds} s");
    }
}

#[tokio::test]
async fn many_requests_at_once_note_one_use() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let commits = world.store.commits();
    let requests = (0..100).map(|_| {
        let (inventory, text) = (world.inventory.clone(), issued.plaintext().to_owned());
        tokio::spawn(async move { inventory.authenticate_user_key(&text).await.map(drop) })
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.unwrap().unwrap();
    }
    assert_eq!(world.last_used(issued.record().id).await, Some(time(NOW)));
    assert_eq!(world.store.commits(), commits + 1);
}

#[tokio::test]
async fn two_inventories_on_one_store_note_a_use_at_most_once_a_minute_together() {
    let world = World::new().await;
    let inventories = [world.inventory.clone(), world.inventory_in(world.store.clone())];
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let mut random = SplitMix64(7);
    let mut noted: Vec<Timestamp> = Vec::new();
    for _ in 0..200 {
        world.clock.advance(Duration::from_secs(random.below(40) as u64));
        let commits = world.store.commits();
        inventories[random.below(2)].authenticate_user_key(issued.plaintext()).await.unwrap();
        let last_used = world.last_used(issued.record().id).await.expect("it was used");
        let (now, before) = (world.clock.now(), noted.last().copied());
        if world.store.commits() > commits {
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
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    world.clock.set(time("2030-01-01T00:00:00Z"));
    world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(world.last_used(issued.record().id).await, Some(time("2030-01-01T00:00:00Z")));
    world.clock.set(after(0));
    world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(world.last_used(issued.record().id).await, Some(after(0)));
}

#[tokio::test]
async fn noting_a_use_leaves_the_key_alone() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let daemons = world.daemon_key(|_| {}).await;
    let ids = [issued.record().id, daemons.record().id];
    let before = [world.versions(ids[0]).await, world.versions(ids[1]).await];
    for minute in 0..3 {
        world.clock.set(after(60 * minute));
        world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        world.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
        settle().await;
    }
    assert_eq!([world.versions(ids[0]).await, world.versions(ids[1]).await], before);
    let found = world.inventory.user_api_key(ids[0]).await.unwrap();
    assert_eq!((found.last_used, found.updated_at), (Some(after(120)), issued.record().updated_at));
}

#[tokio::test]
async fn whatever_gives_a_key_tells_when_it_was_last_used() {
    let world = World::new().await;
    let owner = world.owner().await;
    let unused = world.user_key(&owner, |_| {}).await;
    let issued = world.user_key(&owner, |_| {}).await;
    let unused_daemons = world.daemon_key(|_| {}).await;
    let daemons = world.daemon_key(|_| {}).await;
    world.clock.set(after(5));
    world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    world.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
    settle().await;
    let (inventory, used) = (&world.inventory, Some(after(5)));
    let key = issued.record();
    assert_eq!(inventory.user_api_key(key.id).await.unwrap().last_used, used);
    for found in inventory.user_api_keys(owner.id).await.unwrap() {
        assert_eq!(found.last_used, used.filter(|_| found.id != unused.record().id));
    }
    assert_eq!(inventory.enable_user_api_key(key.id).await.unwrap().last_used, used);
    let update = UserApiKeyUpdate::new(key.organization_id, key.user_id, "renamed", vec![]);
    let updated = inventory.update_user_api_key_as(&in_person(&owner), key.id, &update).await.unwrap();
    assert_eq!(updated.last_used, used);
    let key = daemons.record().id;
    assert_eq!(inventory.daemon_api_key(key).await.unwrap().last_used, used);
    for found in inventory.daemon_api_keys(world.organization).await.unwrap() {
        assert_eq!(found.last_used, used.filter(|_| found.id != unused_daemons.record().id));
    }
    assert_eq!(inventory.disable_daemon_api_key(key).await.unwrap().last_used, used);
}

#[tokio::test]
async fn the_use_of_a_key_that_is_refused_is_not_noted() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |new| new.expires_at = Some(after(100))).await;
    let daemons = world.daemon_key(|new| new.expires_at = Some(after(100))).await;
    let (key, daemons_key) = (issued.record().id, daemons.record().id);
    let inventory = &world.inventory;
    let assert_refused = async |expected: ErrorKind| {
        let commits = world.store.commits();
        assert_eq!(refusal(inventory.authenticate_user_key(issued.plaintext()).await), expected);
        settle().await;
        assert_eq!(world.store.commits(), commits);
    };
    inventory.disable_user_api_key(key).await.unwrap();
    assert_refused(ErrorKind::Disabled { entity: Entity::UserApiKey }).await;
    inventory.enable_user_api_key(key).await.unwrap();
    inventory.disable_user(owner.id).await.unwrap();
    assert_refused(ErrorKind::Disabled { entity: Entity::User }).await;
    inventory.enable_user(owner.id).await.unwrap();
    inventory.disable_api_access(world.organization).await.unwrap();
    assert_refused(ErrorKind::ApiAccessRequired).await;
    inventory.enable_api_access(world.organization).await.unwrap();
    inventory.disable_daemon_api_key(daemons_key).await.unwrap();
    refusal(inventory.authenticate_daemon_key(daemons.plaintext()).await);
    inventory.enable_daemon_api_key(daemons_key).await.unwrap();
    world.clock.set(after(100));
    assert_refused(ErrorKind::Expired { entity: Entity::UserApiKey }).await;
    refusal(inventory.authenticate_daemon_key(daemons.plaintext()).await);
    assert_eq!(world.last_used(key).await, None);
    assert_eq!(inventory.daemon_api_key(daemons_key).await.unwrap().last_used, None);
}

#[tokio::test]
async fn a_key_that_is_deleted_before_its_use_is_noted_leaves_no_note() {
    let world = World::new().await;
    let owner = world.owner().await;
    let before = world.store.contents().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let daemons = world.daemon_key(|_| {}).await;
    // The tasks do not run before the deletions.
    world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    world.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
    world.inventory.delete_user_api_key(issued.record().id).await.unwrap();
    world.inventory.delete_daemon_api_key(daemons.record().id).await.unwrap();
    settle().await;
    assert_eq!(world.store.contents().await, before);
}

#[tokio::test]
async fn no_request_waits_for_its_use_to_be_noted_or_fails_by_it() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let store = Faulty::new(world.store.clone());
    let inventory = world.inventory_in(store.clone());
    store.set(Fault::SilentCommits);
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(store.commits(), 1, "the note is waited for, but not by the request");
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(world.last_used(issued.record().id).await, None);
    store.set(Fault::None);
    assert_eq!(world.last_used(issued.record().id).await, Some(time(NOW)));
    world.clock.set(after(60));
    // The two reads of the request succeed; the read and the commit of the use fail.
    for call in 2..=3 {
        store.set(Fault::UnavailableAt(call));
        inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        settle().await;
        world.clock.advance(Duration::from_secs(60));
    }
    assert_eq!(world.last_used(issued.record().id).await, Some(time(NOW)));
}

/// Two calls of the store per request: the key's lookup, then its use, its user and the organization together.
#[tokio::test]
async fn a_request_whose_use_need_not_be_noted_asks_no_more_than_it_must() {
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let store = Faulty::new(world.store.clone());
    let inventory = world.inventory_in(store.clone());
    for (seconds, calls) in [(0, 4), (0, 2), (59, 2), (60, 4), (119, 2)] {
        world.clock.set(after(seconds));
        store.set(Fault::None);
        inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        settle().await;
        assert_eq!(store.calls(), calls, "after {seconds} s");
    }
}

#[tokio::test]
async fn uses_that_are_noted_at_once_are_bounded_in_number_and_made_up_for() {
    const KEYS: usize = 100;
    let world = World::new().await;
    let owner = world.owner().await;
    let store = Faulty::new(world.store.clone());
    let inventory = world.inventory_in(store.clone());
    let mut keys = Vec::new();
    for _ in 0..KEYS {
        keys.push(world.user_key(&owner, |_| {}).await);
    }
    store.set(Fault::SilentCommits);
    for key in &keys {
        inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    }
    settle().await;
    let under_way = store.commits();
    assert!((1..KEYS).contains(&under_way), "{under_way}");
    store.set(Fault::None);
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
    let world = World::new().await;
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |_| {}).await;
    let store = Faulty::new(world.store.clone());
    let inventory = world.inventory_in(store.clone());
    store.set(Fault::SilentCommits);
    inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(store.commits(), 1);
    drop(inventory);
    store.set(Fault::None);
    assert_eq!(world.last_used(issued.record().id).await, None);
}
