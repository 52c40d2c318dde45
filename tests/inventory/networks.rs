//! Conditions and effects of deleting a network.

use toposcope::inventory::{Entity, ErrorKind, NewShare};
use toposcope::model::{Permission, User, UserApiKey};

use crate::support::{Fixture, PASSWORD, bare_host, id, not_found, refusal, time};

fn in_use(used_by: Entity) -> ErrorKind {
    ErrorKind::InUse { entity: Entity::Network, name: "Laboratory".to_owned(), used_by }
}

#[tokio::test]
async fn a_network_without_anything_on_it_is_deleted_and_nothing_else() {
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
async fn an_unknown_network_is_not_deleted() {
    let fixture = Fixture::new().await;
    for unknown in [id(7), fixture.organization, fixture.tags[0]] {
        let attempt = fixture.inventory.delete_network(unknown);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Network, unknown));
    }
}

#[tokio::test]
async fn a_network_stays_while_a_host_is_on_it() {
    let fixture = Fixture::new().await;
    let network = fixture.other_network;
    fixture.put(&bare_host(id(1), network)).await;
    fixture.put(&bare_host(id(2), network)).await;
    for host in [1, 2] {
        let attempt = fixture.inventory.delete_network(network);
        assert_eq!(fixture.refusal(attempt).await, in_use(Entity::Host));
        fixture.inventory.delete_host(fixture.organization, id(host)).await.unwrap();
    }
    fixture.inventory.delete_network(network).await.unwrap();
}

#[tokio::test]
async fn a_network_is_free_when_its_last_host_has_moved_away() {
    let fixture = Fixture::new().await;
    fixture.put(&bare_host(id(1), fixture.other_network)).await;
    fixture.put(&bare_host(id(1), fixture.network)).await;
    fixture.inventory.delete_network(fixture.other_network).await.unwrap();
    fixture.host(id(1)).await;
}

#[tokio::test]
async fn a_network_stays_while_there_is_a_daemons_key_of_it_also_one_of_no_use() {
    let fixture = Fixture::new().await;
    let network = fixture.other_network;
    let issued = fixture.daemon_key(|new| {
        new.network_id = network;
        new.is_enabled = false;
    });
    let key = issued.await.record().id;
    assert_eq!(
        fixture.refusal(fixture.inventory.delete_network(network)).await,
        in_use(Entity::DaemonApiKey)
    );
    fixture.inventory.delete_daemon_api_key(key).await.unwrap();
    fixture.inventory.delete_network(network).await.unwrap();
}

#[tokio::test]
async fn a_network_stays_while_there_is_a_share_of_it_also_one_that_nobody_finds() {
    let fixture = Fixture::new().await;
    let network = fixture.other_network;
    let mut new = NewShare::new(fixture.organization, "the laboratory");
    new.network_id = Some(network);
    new.is_enabled = false;
    let share = fixture.inventory.create_share(new).await.unwrap().id;
    fixture.inventory.create_share(NewShare::new(fixture.organization, "everything")).await.unwrap();
    for is_enabled in [true, false] {
        assert_eq!(fixture.refusal(fixture.inventory.delete_network(network)).await, in_use(Entity::Share));
        fixture.inventory.set_share_enabled(share, is_enabled).await.unwrap();
    }
    fixture.inventory.delete_share(share).await.unwrap();
    fixture.inventory.delete_network(network).await.unwrap();
}

#[tokio::test]
async fn nobody_is_granted_a_network_that_was_deleted() {
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
async fn whose_grants_are_withdrawn_stays_as_they_are_otherwise() {
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
    let by_key = fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    assert_eq!(by_key.scope().networks(), Some(&[fixture.network][..]));
    let in_person = fixture.inventory.authenticate_session(session.plaintext()).await.unwrap();
    assert_eq!(in_person.scope().networks(), Some(&[fixture.network][..]));
    let refused = fixture.inventory.authenticate_user_key(switched_off.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::UserApiKey });
    fixture.inventory.log_in(&disabled.email, PASSWORD.to_owned()).await.unwrap_err();
    fixture.log_in(&user).await;
}

#[tokio::test]
async fn an_empty_network_is_deleted_whatever_is_on_those_of_others() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    fixture.inventory.put_host(foreign.organization, bare_host(id(1), foreign.network)).await.unwrap();
    fixture.put(&bare_host(id(2), fixture.network)).await;
    fixture.inventory.delete_network(fixture.other_network).await.unwrap();
    assert!(fixture.inventory.delete_network(foreign.network).await.is_err());
}
