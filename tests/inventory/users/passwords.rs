//! Changes of passwords.

use toposcope::inventory::{Entity, ErrorKind, Problem};
use toposcope::model::Permission;

use crate::support::{PASSWORD, World, at_every_moment, id, invalid, not_found, refusal};

const OTHER: &str = "battery staple";

#[tokio::test]
async fn only_the_latest_password_is_the_users() {
    let world = World::new().await;
    let user = world.owner().await;
    world.inventory.set_user_password(user.id, Some(OTHER.to_owned())).await.unwrap();
    let refused = world.inventory.log_in(&user.email, PASSWORD.to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    world.inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
    assert_eq!(world.inventory.user(user.id).await.unwrap(), user, "the password is no part of the user");
}

#[tokio::test]
async fn a_password_that_is_taken_away_lets_nobody_in_until_there_is_one_again() {
    let world = World::new().await;
    let user = world.owner().await;
    world.inventory.set_user_password(user.id, None).await.unwrap();
    for password in [PASSWORD, ""] {
        let refused = world.inventory.log_in(&user.email, password.to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
    // Removing a password that does not exist is not an error.
    world.inventory.set_user_password(user.id, None).await.unwrap();
    world.inventory.set_user_password(user.id, Some(OTHER.to_owned())).await.unwrap();
    world.inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
}

#[tokio::test]
async fn another_password_ends_all_sessions_of_the_user_and_nobody_elses() {
    for password in [Some(OTHER), Some(PASSWORD), None] {
        let world = World::new().await;
        let user = world.owner().await;
        let other = world.user("b@example.net", Permission::Viewer, &[]).await;
        let key = world.user_key(&user, |_| {}).await;
        let sessions = [world.log_in(&user).await, world.log_in(&user).await, world.log_in(&user).await];
        let others = world.log_in(&other).await;
        world.inventory.set_user_password(user.id, password.map(str::to_owned)).await.unwrap();
        for session in &sessions {
            let ended = world.inventory.authenticate_session(session.plaintext()).await;
            assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
            assert_eq!(world.store.mentioning(session.session().id).await, []);
        }
        world.inventory.authenticate_session(others.plaintext()).await.unwrap();
        world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    }
}

#[tokio::test]
async fn a_password_that_cannot_be_accepted_changes_nothing() {
    let world = World::new().await;
    let user = world.owner().await;
    let session = world.log_in(&user).await;
    for (length, problem) in [
        (0, Problem::MinLength { min: 10 }),
        (9, Problem::MinLength { min: 10 }),
        (1001, Problem::MaxLength { max: 1000 }),
    ] {
        let attempt = world.inventory.set_user_password(user.id, Some("ü".repeat(length)));
        assert_eq!(world.refusal(attempt).await, invalid("password", problem));
    }
    world.inventory.authenticate_session(session.plaintext()).await.unwrap();
    world.log_in(&user).await;
    for length in [10, 1000] {
        let password = "ü".repeat(length);
        world.inventory.set_user_password(user.id, Some(password.clone())).await.unwrap();
        world.inventory.log_in(&user.email, password).await.unwrap();
    }
}

#[tokio::test]
async fn an_unknown_user_gets_no_password() {
    let world = World::new().await;
    for password in [Some(OTHER.to_owned()), None] {
        let attempt = world.inventory.set_user_password(id(3), password);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::User, id(3)));
    }
}

#[tokio::test]
async fn a_session_that_begins_while_the_password_changes_ends_with_the_others() {
    for password in [Some(OTHER), None] {
        at_every_moment(
            async |world: &World| world.owner().await,
            |inventory, user| {
                let email = user.email.clone();
                async move {
                    inventory.log_in(&email, PASSWORD.to_owned()).await.unwrap();
                }
            },
            async |inventory, user| inventory.set_user_password(user.id, password.map(str::to_owned)).await,
            async |world, user, result| {
                result.unwrap();
                assert_eq!(world.sessions_of(user.id).await, 0);
                assert!(world.inventory.log_in(&user.email, PASSWORD.to_owned()).await.is_err());
            },
        )
        .await;
    }
}

#[tokio::test]
async fn of_two_passwords_set_at_once_one_holds() {
    at_every_moment(
        async |world: &World| world.owner().await,
        |inventory, user| {
            let id = user.id;
            async move { inventory.set_user_password(id, Some("set by somebody".to_owned())).await.unwrap() }
        },
        async |inventory, user| inventory.set_user_password(user.id, Some(OTHER.to_owned())).await,
        async |world, user, result| {
            result.unwrap();
            world.inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
            let other = world.inventory.log_in(&user.email, "set by somebody".to_owned()).await;
            assert_eq!(refusal(other), ErrorKind::InvalidCredentials);
        },
    )
    .await;
}

#[tokio::test]
async fn a_user_who_is_deleted_while_given_a_password_leaves_none() {
    for password in [Some(OTHER), None] {
        at_every_moment(
            async |world: &World| world.owner().await,
            |inventory, user| {
                let id = user.id;
                async move { inventory.delete_user(id).await.unwrap() }
            },
            async |inventory, user| inventory.set_user_password(user.id, password.map(str::to_owned)).await,
            async |world, user, result| {
                assert_eq!(refusal(result), not_found(Entity::User, user.id));
                assert_eq!(world.store.mentioning(user.id).await, []);
            },
        )
        .await;
    }
}
