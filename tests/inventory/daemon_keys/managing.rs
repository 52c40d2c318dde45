//! Reading, enabling, disabling and deleting daemons' keys.

use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind, IssuedKey, NewDaemonApiKey};
use toposcope::model::DaemonApiKey;

use crate::support::{World, at_every_moment, id, not_found, refusal, settle, time};

async fn full_key(world: &World) -> IssuedKey<DaemonApiKey> {
    let issued = world.daemon_key(|new| {
        new.tags = world.tags.to_vec();
        new.expires_at = Some(time("2027-01-01T00:00:00Z"));
    });
    issued.await
}

#[tokio::test]
async fn keys_are_listed_by_age_for_their_organization_alone() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let mut records = Vec::new();
    for (name, network) in [("z", world.network), ("a", world.other_network), ("m", world.network)] {
        world.clock.advance(Duration::from_micros(1));
        let issued = world.daemon_key(|new| {
            new.name = name.to_owned();
            new.network_id = network;
        });
        records.push(issued.await.record().clone());
    }
    let theirs = NewDaemonApiKey::new(foreign.network, "theirs");
    let theirs = world.inventory.create_daemon_api_key(theirs).await.unwrap().record().clone();
    assert_eq!(world.inventory.daemon_api_keys(world.organization).await.unwrap(), records);
    assert_eq!(world.inventory.daemon_api_keys(foreign.organization).await.unwrap(), [theirs]);
    assert!(world.inventory.daemon_api_keys(id(9)).await.unwrap().is_empty());
    world.inventory.delete_daemon_api_key(records[1].id).await.unwrap();
    records.remove(1);
    assert_eq!(world.inventory.daemon_api_keys(world.organization).await.unwrap(), records);
}

#[tokio::test]
async fn a_key_that_is_unknown_is_not_found_by_anything() {
    let world = World::new().await;
    let owner = world.owner().await;
    let users = world.user_key(&owner, |_| {}).await;
    for unknown in [id(3), world.network, users.record().id] {
        let expected = not_found(Entity::DaemonApiKey, unknown);
        let inventory = &world.inventory;
        assert_eq!(refusal(inventory.daemon_api_key(unknown).await), expected);
        assert_eq!(world.refusal(inventory.enable_daemon_api_key(unknown)).await, expected);
        assert_eq!(world.refusal(inventory.delete_daemon_api_key(unknown)).await, expected);
    }
}

#[tokio::test]
async fn a_key_is_switched_off_and_on_and_stays_the_same_otherwise() {
    let world = World::new().await;
    let issued = full_key(&world).await;
    let key = issued.record();
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    for is_enabled in [false, false, true, true] {
        let expected = DaemonApiKey { is_enabled, updated_at: now, ..key.clone() };
        let changed = if is_enabled {
            world.inventory.enable_daemon_api_key(key.id).await.unwrap()
        } else {
            world.inventory.disable_daemon_api_key(key.id).await.unwrap()
        };
        assert_eq!(changed, expected);
        assert_eq!(world.inventory.daemon_api_key(key.id).await.unwrap(), expected);
        assert_eq!(world.inventory.daemon_api_keys(world.organization).await.unwrap(), [expected]);
    }
    // The key still holds its network and its tags.
    for (entity, attempt) in [
        (Entity::Network, refusal(world.inventory.delete_network(world.network).await)),
        (Entity::Tag, refusal(world.inventory.delete_tag(world.tags[0]).await)),
    ] {
        let is_held = matches!(attempt, ErrorKind::InUse { entity: held, used_by, .. }
            if held == entity && used_by == Entity::DaemonApiKey);
        assert!(is_held, "{attempt:?}");
    }
}

#[tokio::test]
async fn a_deleted_key_is_refused_and_nothing_of_it_is_left() {
    let world = World::new().await;
    let other = full_key(&world).await;
    world.inventory.authenticate_daemon_key(other.plaintext()).await.unwrap();
    settle().await;
    let before = world.store.contents().await;
    let issued = full_key(&world).await;
    world.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(world.store.contents().await.len(), before.len() + 3, "the key, its secret and its use");
    let key = issued.record().id;
    world.inventory.delete_daemon_api_key(key).await.unwrap();
    assert_eq!(world.store.contents().await, before);
    assert_eq!(world.store.mentioning(key).await, []);
    let refused = world.inventory.authenticate_daemon_key(issued.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::NotAuthenticated);
    let again = world.inventory.delete_daemon_api_key(key);
    assert_eq!(world.refusal(again).await, not_found(Entity::DaemonApiKey, key));
    world.inventory.authenticate_daemon_key(other.plaintext()).await.unwrap();
}

#[tokio::test]
async fn a_key_that_is_deleted_while_switched_does_not_come_back() {
    at_every_moment(
        async |world: &World| full_key(world).await.record().id,
        |inventory, key| {
            let key = *key;
            async move { inventory.delete_daemon_api_key(key).await.unwrap() }
        },
        async |inventory, key| inventory.disable_daemon_api_key(*key).await,
        async |world, key, result| {
            if let Err(error) = result {
                assert_eq!(*error.kind(), not_found(Entity::DaemonApiKey, *key));
            }
            assert_eq!(world.store.mentioning(*key).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn of_two_who_delete_a_key_at_once_one_finds_it_gone() {
    at_every_moment(
        async |world: &World| full_key(world).await.record().id,
        |inventory, key| {
            let key = *key;
            async move { inventory.delete_daemon_api_key(key).await.unwrap() }
        },
        async |inventory, key| inventory.delete_daemon_api_key(*key).await,
        async |world, key, result| {
            assert_eq!(refusal(result), not_found(Entity::DaemonApiKey, *key));
            assert_eq!(world.store.mentioning(*key).await, []);
        },
    )
    .await;
}
