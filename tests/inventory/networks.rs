//! Conditions and effects of deleting a network.

use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{Permission, User, UserApiKey};

use crate::support::{Fixture, bare_host, id, not_found, refusal, time};

#[tokio::test]
async fn deletion_of_an_empty_network_changes_nothing_else() {
    let fixture = Fixture::new().await;
    fixture.put(&bare_host(id(1), fixture.network)).await;
    fixture.daemon_key(|_| {}).await;
    let before = fixture.contents().await;
    let network = fixture.inventory.create_network(fixture.organization, "short-lived").await.unwrap();
    fixture.inventory.delete_network(network.id).await.unwrap();
    assert_eq!(fixture.contents().await, before);
    let unknown = not_found(Entity::Network, network.id);
    assert_eq!(refusal(fixture.inventory.network(network.id).await), unknown);
    assert_eq!(fixture.refusal(fixture.inventory.delete_network(network.id)).await, unknown);
    assert_eq!(fixture.inventory.networks(fixture.organization).await.unwrap().len(), 2);
}

#[tokio::test]
async fn unknown_network_is_not_deleted() {
    let fixture = Fixture::new().await;
    for unknown in [id(7), fixture.organization, fixture.tags[0]] {
        let attempt = fixture.inventory.delete_network(unknown);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Network, unknown));
    }
}

#[tokio::test]
async fn deletion_of_a_network_withdraws_it_from_users_and_keys() {
    let fixture = Fixture::new().await;
    let third = fixture.inventory.create_network(fixture.organization, "third").await.unwrap().id;
    let networks = [fixture.network, third, fixture.other_network];
    let mut people: Vec<(User, UserApiKey)> = Vec::new();
    for level in [Permission::Viewer, Permission::Member, Permission::Owner] {
        let user = fixture.user(&format!("{level}@example.net"), level, &networks).await;
        let issued = fixture.user_key(&user, |new| {
            new.network_ids = networks.to_vec();
            new.tags = fixture.tags.to_vec();
        });
        let key = issued.await.record().clone();
        people.push((user, key));
    }
    let other = fixture.user("other@example.net", Permission::Viewer, &[fixture.network]).await;
    let others = fixture.user_key(&other, |new| new.network_ids = vec![fixture.network]).await;
    let updated_at = time("2026-08-15T00:00:00Z");
    fixture.clock.set(updated_at);
    fixture.inventory.delete_network(third).await.unwrap();
    assert_eq!(fixture.mentioning(third).await, []);
    assert_eq!(fixture.inventory.user(other.id).await.unwrap(), other);
    assert_eq!(&fixture.inventory.user_api_key(others.record().id).await.unwrap(), others.record());
    for (user, key) in people {
        let network_ids = vec![fixture.network, fixture.other_network];
        let found = fixture.inventory.user(user.id).await.unwrap();
        assert_eq!(found, User { network_ids: network_ids.clone(), updated_at, ..user });
        let found = fixture.inventory.user_api_key(key.id).await.unwrap();
        assert_eq!(found, UserApiKey { network_ids, updated_at, ..key });
    }
}

#[tokio::test]
async fn withdrawn_grant_leaves_users_keys_and_sessions_otherwise_unchanged() {
    let fixture = Fixture::new().await;
    let third = fixture.inventory.create_network(fixture.organization, "third").await.unwrap().id;
    let user = fixture.user("a@example.net", Permission::Member, &[fixture.network, third]).await;
    let disabled = fixture.user("b@example.net", Permission::Member, &[third]).await;
    fixture.inventory.set_user_enabled(disabled.id, false).await.unwrap();
    let key = fixture.user_key(&user, |new| new.network_ids = vec![third, fixture.network]).await;
    let switched_off = fixture.user_key(&user, |new| new.network_ids = vec![third]).await;
    fixture.inventory.set_user_api_key_enabled(switched_off.record().id, false).await.unwrap();
    let session = fixture.log_in(&user).await;
    fixture.inventory.delete_network(third).await.unwrap();
    let by_key = fixture.by_key(&key).await.unwrap();
    assert_eq!(by_key.scope().networks(), Some(&[fixture.network][..]));
    let in_person = fixture.by_session(&session).await.unwrap();
    assert_eq!(in_person.scope().networks(), Some(&[fixture.network][..]));
    let refused = fixture.by_key(&switched_off).await;
    assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::UserApiKey });
    fixture.try_log_in(&disabled.email).await.unwrap_err();
    fixture.log_in(&user).await;
}

#[tokio::test]
async fn empty_network_is_deleted_whatever_other_networks_contain() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.inventory.put_host(foreign.organization, bare_host(id(1), foreign.network)).await.unwrap();
    fixture.put(&bare_host(id(2), fixture.network)).await;
    fixture.inventory.delete_network(fixture.other_network).await.unwrap();
    assert!(fixture.inventory.delete_network(foreign.network).await.is_err());
}
