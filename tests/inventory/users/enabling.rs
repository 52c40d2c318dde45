//! Disabling and enabling users.

use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{Permission, User};

use crate::support::{PASSWORD, World, at_every_moment, id, not_found, refusal, time};

#[tokio::test]
async fn the_keys_of_a_disabled_user_are_refused_until_the_user_is_enabled_again() {
    let world = World::new().await;
    let user = world.owner().await;
    let key = world.user_key(&user, |_| {}).await;
    for _ in 0..2 {
        world.inventory.disable_user(user.id).await.unwrap();
        let refused = world.inventory.authenticate_user_key(key.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::User });
        world.inventory.enable_user(user.id).await.unwrap();
        world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    }
}

#[tokio::test]
async fn the_sessions_of_a_disabled_user_end_for_good_and_nobody_elses() {
    let world = World::new().await;
    let user = world.owner().await;
    let other = world.user("b@example.net", Permission::Viewer, &[]).await;
    let sessions = [world.log_in(&user).await, world.log_in(&user).await];
    let others = world.log_in(&other).await;
    for is_enabled in [false, true] {
        if is_enabled {
            world.inventory.enable_user(user.id).await.unwrap()
        } else {
            world.inventory.disable_user(user.id).await.unwrap()
        };
        for session in &sessions {
            let ended = world.inventory.authenticate_session(session.plaintext()).await;
            assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
            assert_eq!(world.store.mentioning(session.session().id).await, []);
        }
    }
    world.inventory.authenticate_session(others.plaintext()).await.unwrap();
    // Enabling an already enabled user keeps the existing sessions.
    let session = world.log_in(&user).await;
    world.inventory.enable_user(user.id).await.unwrap();
    world.inventory.authenticate_session(session.plaintext()).await.unwrap();
}

#[tokio::test]
async fn a_session_that_begins_while_its_user_is_disabled_ends_with_the_others() {
    at_every_moment(
        async |world: &World| world.owner().await,
        |inventory, user| {
            let email = user.email.clone();
            async move {
                inventory.log_in(&email, PASSWORD.to_owned()).await.unwrap();
            }
        },
        async |inventory, user| inventory.disable_user(user.id).await,
        async |world, user, result| {
            result.unwrap();
            assert_eq!(world.sessions_of(user.id).await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_disabled_user_cannot_log_in_and_is_not_told_from_one_who_does_not_exist() {
    let world = World::new().await;
    let user = world.owner().await;
    world.inventory.disable_user(user.id).await.unwrap();
    let attempt = world.inventory.log_in(&user.email, PASSWORD.to_owned());
    assert_eq!(world.refusal(attempt).await, ErrorKind::InvalidCredentials);
    world.inventory.enable_user(user.id).await.unwrap();
    world.log_in(&user).await;
}

#[tokio::test]
async fn whether_a_user_is_disabled_changes_nothing_else() {
    let world = World::new().await;
    let user = world.user("a@example.net", Permission::Member, &[world.network]).await;
    assert!(world.inventory.is_user_enabled(user.id).await.unwrap());
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    let expected = User { updated_at: now, ..user.clone() };
    for is_enabled in [false, false, true, true] {
        assert_eq!(
            if is_enabled {
                world.inventory.enable_user(user.id).await.unwrap()
            } else {
                world.inventory.disable_user(user.id).await.unwrap()
            },
            expected
        );
        assert_eq!(world.inventory.is_user_enabled(user.id).await.unwrap(), is_enabled);
        assert_eq!(world.inventory.user(user.id).await.unwrap(), expected);
        let users = world.inventory.users(world.organization).await.unwrap();
        assert_eq!(users, std::slice::from_ref(&expected));
    }
}

#[tokio::test]
async fn an_unknown_user_is_neither_enabled_nor_disabled() {
    let world = World::new().await;
    assert_eq!(refusal(world.inventory.is_user_enabled(id(3)).await), not_found(Entity::User, id(3)));
    let (enabled, disabled) = (world.inventory.enable_user(id(3)), world.inventory.disable_user(id(3)));
    assert_eq!(world.refusal(enabled).await, not_found(Entity::User, id(3)));
    assert_eq!(world.refusal(disabled).await, not_found(Entity::User, id(3)));
}

/// A user disabled during a request is refused; the error depends on the records that still exist at that
/// moment.
#[tokio::test]
async fn who_is_disabled_while_asking_is_refused() {
    at_every_moment(
        async |world: &World| {
            let user = world.owner().await;
            (world.user_key(&user, |_| {}).await, world.log_in(&user).await)
        },
        |inventory, (key, _)| {
            let user = key.record().user_id;
            async move {
                inventory.disable_user(user).await.unwrap();
            }
        },
        async |inventory, (_, session)| inventory.authenticate_session(session.plaintext()).await,
        async |world, (key, _), result| {
            let refused = refusal(result);
            let expected = [ErrorKind::NotAuthenticated, ErrorKind::Disabled { entity: Entity::User }];
            assert!(expected.contains(&refused), "{refused:?}");
            let by_key = world.inventory.authenticate_user_key(key.plaintext()).await;
            assert_eq!(refusal(by_key), expected[1]);
        },
    )
    .await;
}
