//! Conditions and effects of deleting a network.

use toposcope::inventory::{Entity, ErrorKind, NewShare};
use toposcope::model::{Permission, User, UserApiKey};

use crate::support::{PASSWORD, World, bare_host, id, not_found, refusal, time};

fn in_use(used_by: Entity) -> ErrorKind {
    ErrorKind::InUse { entity: Entity::Network, name: "Laboratory".to_owned(), used_by }
}

#[tokio::test]
async fn a_network_without_anything_on_it_is_deleted_and_nothing_else() {
    let world = World::new().await;
    world.put(&bare_host(id(1), world.network)).await;
    world.daemon_key(|_| {}).await;
    let before = world.store.contents().await;
    let network = world.inventory.create_network(world.organization, "short-lived").await.unwrap();
    world.inventory.delete_network(network.id).await.unwrap();
    assert_eq!(world.store.contents().await, before);
    let unknown = not_found(Entity::Network, network.id);
    assert_eq!(refusal(world.inventory.network(network.id).await), unknown);
    assert_eq!(world.refusal(world.inventory.delete_network(network.id)).await, unknown);
    assert_eq!(world.inventory.networks(world.organization).await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_unknown_network_is_not_deleted() {
    let world = World::new().await;
    for unknown in [id(7), world.organization, world.tags[0]] {
        let attempt = world.inventory.delete_network(unknown);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::Network, unknown));
    }
}

#[tokio::test]
async fn a_network_stays_while_a_host_is_on_it() {
    let world = World::new().await;
    let network = world.other_network;
    world.put(&bare_host(id(1), network)).await;
    world.put(&bare_host(id(2), network)).await;
    for host in [1, 2] {
        let attempt = world.inventory.delete_network(network);
        assert_eq!(world.refusal(attempt).await, in_use(Entity::Host));
        world.inventory.delete_host(world.organization, id(host)).await.unwrap();
    }
    world.inventory.delete_network(network).await.unwrap();
}

#[tokio::test]
async fn a_network_is_free_when_its_last_host_has_moved_away() {
    let world = World::new().await;
    world.put(&bare_host(id(1), world.other_network)).await;
    world.put(&bare_host(id(1), world.network)).await;
    world.inventory.delete_network(world.other_network).await.unwrap();
    world.host(id(1)).await;
}

#[tokio::test]
async fn a_network_stays_while_there_is_a_daemons_key_of_it_also_one_of_no_use() {
    let world = World::new().await;
    let network = world.other_network;
    let issued = world.daemon_key(|new| {
        new.network_id = network;
        new.is_enabled = false;
    });
    let key = issued.await.record().id;
    assert_eq!(world.refusal(world.inventory.delete_network(network)).await, in_use(Entity::DaemonApiKey));
    world.inventory.delete_daemon_api_key(key).await.unwrap();
    world.inventory.delete_network(network).await.unwrap();
}

#[tokio::test]
async fn a_network_stays_while_there_is_a_share_of_it_also_one_that_nobody_finds() {
    let world = World::new().await;
    let network = world.other_network;
    let mut new = NewShare::new(world.organization, "the laboratory");
    new.network_id = Some(network);
    new.is_enabled = false;
    let share = world.inventory.create_share(new).await.unwrap().id;
    world.inventory.create_share(NewShare::new(world.organization, "everything")).await.unwrap();
    for is_enabled in [true, false] {
        assert_eq!(world.refusal(world.inventory.delete_network(network)).await, in_use(Entity::Share));
        if is_enabled {
            world.inventory.enable_share(share).await.unwrap()
        } else {
            world.inventory.disable_share(share).await.unwrap()
        };
    }
    world.inventory.delete_share(share).await.unwrap();
    world.inventory.delete_network(network).await.unwrap();
}

#[tokio::test]
async fn nobody_is_granted_a_network_that_was_deleted() {
    let world = World::new().await;
    let third = world.inventory.create_network(world.organization, "third").await.unwrap().id;
    let networks = [world.network, third, world.other_network];
    let mut people: Vec<(User, UserApiKey)> = Vec::new();
    for level in [Permission::Viewer, Permission::Member, Permission::Owner] {
        let user = world.user(&format!("{level}@example.net"), level, &networks).await;
        let issued = world.user_key(&user, |new| {
            new.network_ids = networks.to_vec();
            new.tags = world.tags.to_vec();
        });
        let key = issued.await.record().clone();
        people.push((user, key));
    }
    let other = world.user("other@example.net", Permission::Viewer, &[world.network]).await;
    let others = world.user_key(&other, |new| new.network_ids = vec![world.network]).await;
    let updated_at = time("2026-08-15T00:00:00Z");
    world.clock.set(updated_at);
    world.inventory.delete_network(third).await.unwrap();
    assert_eq!(world.store.mentioning(third).await, []);
    assert_eq!(world.inventory.user(other.id).await.unwrap(), other);
    assert_eq!(&world.inventory.user_api_key(others.record().id).await.unwrap(), others.record());
    for (user, key) in people {
        let network_ids = vec![world.network, world.other_network];
        let found = world.inventory.user(user.id).await.unwrap();
        assert_eq!(found, User { network_ids: network_ids.clone(), updated_at, ..user });
        let found = world.inventory.user_api_key(key.id).await.unwrap();
        assert_eq!(found, UserApiKey { network_ids, updated_at, ..key });
    }
}

#[tokio::test]
async fn whose_grants_are_withdrawn_stays_as_they_are_otherwise() {
    let world = World::new().await;
    let third = world.inventory.create_network(world.organization, "third").await.unwrap().id;
    let user = world.user("a@example.net", Permission::Member, &[world.network, third]).await;
    let disabled = world.user("b@example.net", Permission::Member, &[third]).await;
    world.inventory.disable_user(disabled.id).await.unwrap();
    let key = world.user_key(&user, |new| new.network_ids = vec![third, world.network]).await;
    let switched_off = world.user_key(&user, |new| new.network_ids = vec![third]).await;
    world.inventory.disable_user_api_key(switched_off.record().id).await.unwrap();
    let session = world.log_in(&user).await;
    world.inventory.delete_network(third).await.unwrap();
    let by_key = world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    assert_eq!(by_key.scope().networks(), Some(&[world.network][..]));
    let in_person = world.inventory.authenticate_session(session.plaintext()).await.unwrap();
    assert_eq!(in_person.scope().networks(), Some(&[world.network][..]));
    let refused = world.inventory.authenticate_user_key(switched_off.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::UserApiKey });
    world.inventory.log_in(&disabled.email, PASSWORD.to_owned()).await.unwrap_err();
    world.log_in(&user).await;
}

#[tokio::test]
async fn an_empty_network_is_deleted_whatever_is_on_those_of_others() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    world.inventory.put_host(foreign.organization, bare_host(id(1), foreign.network)).await.unwrap();
    world.put(&bare_host(id(2), world.network)).await;
    world.inventory.delete_network(world.other_network).await.unwrap();
    assert!(world.inventory.delete_network(foreign.network).await.is_err());
}
