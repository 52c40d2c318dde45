//! Lookup of users, and their rights.

use std::time::Duration;

use toposcope::access::Scope;
use toposcope::inventory::{Entity, ErrorKind, Inventory, NewUser};
use toposcope::model::{Permission, User};
use uuid::Uuid;

use crate::support::{LEVELS, World, at_every_moment, id, not_found, reference_invalid, refusal, time};

#[tokio::test]
async fn users_are_listed_by_age_for_their_organization_alone() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let mut users = Vec::new();
    for email in ["z@example.net", "a@example.net", "m@example.net"] {
        world.clock.advance(Duration::from_micros(1));
        users.push(world.user(email, Permission::Viewer, &[]).await);
    }
    let theirs = NewUser::new(foreign.organization, "theirs@example.net", Permission::Owner);
    let theirs = world.inventory.create_user(theirs).await.unwrap();
    assert_eq!(world.inventory.users(world.organization).await.unwrap(), users);
    assert_eq!(world.inventory.users(foreign.organization).await.unwrap(), [theirs]);
    assert!(world.inventory.users(id(9)).await.unwrap().is_empty());
    world.inventory.delete_user(users[1].id).await.unwrap();
    users.remove(1);
    assert_eq!(world.inventory.users(world.organization).await.unwrap(), users);
}

#[tokio::test]
async fn a_user_gets_another_level_and_other_networks_and_stays_the_same_otherwise() {
    let world = World::new().await;
    let user = world.user("a@example.net", Permission::Viewer, &[world.network]).await;
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    for level in LEVELS {
        for networks in [vec![], vec![world.other_network], vec![world.other_network, world.network]] {
            let changed = world.inventory.set_user_rights(user.id, level, networks.clone()).await.unwrap();
            let expected =
                User { permissions: level, network_ids: networks, updated_at: now, ..user.clone() };
            assert_eq!(changed, expected);
            assert_eq!(world.inventory.user(user.id).await.unwrap(), expected);
        }
    }
    world.log_in(&user).await;
}

#[tokio::test]
async fn a_network_that_is_granted_twice_is_granted_once() {
    let world = World::new().await;
    let user = world.user("a@example.net", Permission::Member, &[]).await;
    let networks = vec![world.other_network, world.network, world.other_network];
    let changed = world.inventory.set_user_rights(user.id, Permission::Member, networks).await.unwrap();
    assert_eq!(changed.network_ids, [world.other_network, world.network]);
}

#[tokio::test]
async fn another_level_and_other_networks_count_from_the_next_request_on() {
    let world = World::new().await;
    let user = world.user("a@example.net", Permission::Admin, &[]).await;
    let both = [world.network, world.other_network];
    let key = world.user_key(&user, |new| new.network_ids = both.to_vec()).await;
    let session = world.log_in(&user).await;
    for (level, networks) in [
        (Permission::Viewer, vec![world.network]),
        (Permission::Owner, vec![]),
        (Permission::Member, vec![]),
        (Permission::Member, vec![world.other_network]),
    ] {
        world.inventory.set_user_rights(user.id, level, networks.clone()).await.unwrap();
        let present = world.inventory.authenticate_session(session.plaintext()).await.unwrap();
        let scope = Scope::granted(level, networks);
        assert_eq!((present.permission(), present.scope()), (level, &scope));
        let by_key = world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        assert_eq!(by_key.permission(), level.min(Permission::Admin));
        assert_eq!(by_key.scope(), &scope.intersect(&Scope::only(both)));
    }
}

#[tokio::test]
async fn networks_that_are_granted_later_are_the_organizations_own_as_well() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let user = world.user("a@example.net", Permission::Viewer, &[world.network]).await;
    for bad in [foreign.network, id(7), world.organization, user.id] {
        // An Owner needs no grants, but a foreign network is refused for an Owner too.
        for level in LEVELS {
            let networks = vec![world.other_network, world.other_network, bad];
            let attempt = world.inventory.set_user_rights(user.id, level, networks);
            let expected = reference_invalid(Entity::Network, "network_ids.2");
            assert_eq!(world.refusal(attempt).await, expected);
        }
    }
}

#[tokio::test]
async fn an_unknown_user_gets_no_rights() {
    let world = World::new().await;
    for unknown in [id(3), world.organization] {
        let attempt = world.inventory.set_user_rights(unknown, Permission::Viewer, vec![id(7)]);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::User, unknown));
    }
}

#[tokio::test]
async fn another_level_leaves_a_disabled_user_disabled() {
    let world = World::new().await;
    let user = world.owner().await;
    let key = world.user_key(&user, |_| {}).await;
    world.inventory.disable_user(user.id).await.unwrap();
    world.inventory.set_user_rights(user.id, Permission::Admin, vec![]).await.unwrap();
    let refused = world.inventory.authenticate_user_key(key.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::User });
    assert!(!world.inventory.is_user_enabled(user.id).await.unwrap());
}

/// Two concurrent updates of a user must both take effect.
async fn assert_both_are_there<F: Future<Output = ()> + Send + 'static>(
    interfere: impl Fn(Inventory, &Uuid) -> F,
    check: impl AsyncFn(&World, Uuid),
) {
    at_every_moment(
        async |world: &World| world.user("a@example.net", Permission::Viewer, &[]).await.id,
        interfere,
        async |inventory, user| inventory.set_user_rights(*user, Permission::Admin, vec![]).await,
        async |world, user, result| {
            assert_eq!(result.unwrap().permissions, Permission::Admin);
            assert_eq!(world.inventory.user(*user).await.unwrap().permissions, Permission::Admin);
            check(world, *user).await;
        },
    )
    .await;
}

#[tokio::test]
async fn of_two_changes_of_a_user_at_once_none_is_lost() {
    assert_both_are_there(
        |inventory, user| {
            let user = *user;
            async move {
                inventory.disable_user(user).await.unwrap();
            }
        },
        async |world, user| {
            assert!(!world.inventory.is_user_enabled(user).await.unwrap());
        },
    )
    .await;
    assert_both_are_there(
        |inventory, user| {
            let user = *user;
            async move {
                inventory.set_user_password(user, Some("battery staple".to_owned())).await.unwrap();
            }
        },
        async |world, user| {
            let email = world.inventory.user(user).await.unwrap().email;
            world.inventory.log_in(&email, "battery staple".to_owned()).await.unwrap();
        },
    )
    .await;
}

#[tokio::test]
async fn a_user_who_is_deleted_while_given_rights_does_not_come_back() {
    at_every_moment(
        async |world: &World| world.user("a@example.net", Permission::Viewer, &[]).await.id,
        |inventory, user| {
            let user = *user;
            async move { inventory.delete_user(user).await.unwrap() }
        },
        async |inventory, user| inventory.set_user_rights(*user, Permission::Admin, vec![]).await,
        async |world, user, result| {
            assert_eq!(refusal(result), not_found(Entity::User, *user));
            assert_eq!(world.store.mentioning(*user).await, []);
        },
    )
    .await;
}
