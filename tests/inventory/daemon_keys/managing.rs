//! Reading, enabling, disabling and deleting daemons' keys.

use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind, IssuedKey, NewDaemonApiKey};
use toposcope::model::DaemonApiKey;

use crate::support::{Fixture, at_every_call, id, not_found, refusal, settle, time};

async fn full_key(fixture: &Fixture) -> IssuedKey<DaemonApiKey> {
    let issued = fixture.daemon_key(|new| {
        new.tags = fixture.tags.to_vec();
        new.expires_at = Some(time("2027-01-01T00:00:00Z"));
    });
    issued.await
}

#[tokio::test]
async fn keys_are_listed_by_age_for_their_organization_alone() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let mut records = Vec::new();
    for (name, network) in [("z", fixture.network), ("a", fixture.other_network), ("m", fixture.network)] {
        fixture.clock.advance(Duration::from_micros(1));
        let issued = fixture.daemon_key(|new| {
            new.name = name.to_owned();
            new.network_id = network;
        });
        records.push(issued.await.record().clone());
    }
    let theirs = NewDaemonApiKey::new(foreign.network, "theirs");
    let theirs = fixture.inventory.create_daemon_api_key(theirs).await.unwrap().record().clone();
    assert_eq!(fixture.inventory.daemon_api_keys(fixture.organization).await.unwrap(), records);
    assert_eq!(fixture.inventory.daemon_api_keys(foreign.organization).await.unwrap(), [theirs]);
    assert!(fixture.inventory.daemon_api_keys(id(9)).await.unwrap().is_empty());
    fixture.inventory.delete_daemon_api_key(records[1].id).await.unwrap();
    records.remove(1);
    assert_eq!(fixture.inventory.daemon_api_keys(fixture.organization).await.unwrap(), records);
}

#[tokio::test]
async fn a_key_that_is_unknown_is_not_found_by_anything() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let users = fixture.user_key(&owner, |_| {}).await;
    for unknown in [id(3), fixture.network, users.record().id] {
        let expected = not_found(Entity::DaemonApiKey, unknown);
        let inventory = &fixture.inventory;
        assert_eq!(refusal(inventory.daemon_api_key(unknown).await), expected);
        assert_eq!(fixture.refusal(inventory.set_daemon_api_key_enabled(unknown, true)).await, expected);
        assert_eq!(fixture.refusal(inventory.delete_daemon_api_key(unknown)).await, expected);
    }
}

#[tokio::test]
async fn a_key_is_switched_off_and_on_and_stays_the_same_otherwise() {
    let fixture = Fixture::new().await;
    let issued = full_key(&fixture).await;
    let key = issued.record();
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    for is_enabled in [false, false, true, true] {
        let expected = DaemonApiKey { is_enabled, updated_at: now, ..key.clone() };
        let changed = fixture.inventory.set_daemon_api_key_enabled(key.id, is_enabled).await.unwrap();
        assert_eq!(changed, expected);
        assert_eq!(fixture.inventory.daemon_api_key(key.id).await.unwrap(), expected);
        assert_eq!(fixture.inventory.daemon_api_keys(fixture.organization).await.unwrap(), [expected]);
    }
    // The key still holds its network and its tags.
    for (entity, attempt) in [
        (Entity::Network, refusal(fixture.inventory.delete_network(fixture.network).await)),
        (Entity::Tag, refusal(fixture.inventory.delete_tag(fixture.tags[0]).await)),
    ] {
        let is_held = matches!(attempt, ErrorKind::InUse { entity: held, used_by, .. }
            if held == entity && used_by == Entity::DaemonApiKey);
        assert!(is_held, "{attempt:?}");
    }
}

#[tokio::test]
async fn a_deleted_key_is_refused_and_nothing_of_it_is_left() {
    let fixture = Fixture::new().await;
    let other = full_key(&fixture).await;
    fixture.inventory.authenticate_daemon_key(other.plaintext()).await.unwrap();
    settle().await;
    let before = fixture.contents().await;
    let issued = full_key(&fixture).await;
    fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
    settle().await;
    assert_eq!(fixture.contents().await.len(), before.len() + 3, "the key, its secret and its use");
    let key = issued.record().id;
    fixture.inventory.delete_daemon_api_key(key).await.unwrap();
    assert_eq!(fixture.contents().await, before);
    assert_eq!(fixture.mentioning(key).await, []);
    let refused = fixture.inventory.authenticate_daemon_key(issued.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::NotAuthenticated);
    let again = fixture.inventory.delete_daemon_api_key(key);
    assert_eq!(fixture.refusal(again).await, not_found(Entity::DaemonApiKey, key));
    fixture.inventory.authenticate_daemon_key(other.plaintext()).await.unwrap();
}

#[tokio::test]
async fn a_key_that_is_deleted_while_switched_does_not_come_back() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await.record().id,
        async |inventory, key| inventory.delete_daemon_api_key(*key).await.unwrap(),
        async |inventory, key| inventory.set_daemon_api_key_enabled(*key, false).await,
        async |fixture, key, result| {
            if let Err(error) = result {
                assert_eq!(*error.kind(), not_found(Entity::DaemonApiKey, *key));
            }
            assert_eq!(fixture.mentioning(*key).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn of_two_who_delete_a_key_at_once_one_finds_it_gone() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await.record().id,
        async |inventory, key| inventory.delete_daemon_api_key(*key).await.unwrap(),
        async |inventory, key| inventory.delete_daemon_api_key(*key).await,
        async |fixture, key, result| {
            assert_eq!(refusal(result), not_found(Entity::DaemonApiKey, *key));
            assert_eq!(fixture.mentioning(*key).await, []);
        },
    )
    .await;
}
