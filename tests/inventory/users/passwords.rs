//! Changes of passwords.

use toposcope::inventory::{Entity, ErrorKind, Problem};
use toposcope::model::Permission;

use crate::support::{Fixture, PASSWORD, at_every_call, id, invalid, not_found, refusal};

const OTHER: &str = "battery staple";

#[tokio::test]
async fn only_the_latest_password_is_the_users() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    fixture.inventory.set_user_password(user.id, Some(OTHER.to_owned())).await.unwrap();
    let refused = fixture.inventory.log_in(&user.email, PASSWORD.to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    fixture.inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
    assert_eq!(fixture.inventory.user(user.id).await.unwrap(), user, "the password is no part of the user");
}

#[tokio::test]
async fn a_password_that_is_taken_away_lets_nobody_in_until_there_is_one_again() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    fixture.inventory.set_user_password(user.id, None).await.unwrap();
    for password in [PASSWORD, ""] {
        let refused = fixture.inventory.log_in(&user.email, password.to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
    // Removing a password that does not exist is not an error.
    fixture.inventory.set_user_password(user.id, None).await.unwrap();
    fixture.inventory.set_user_password(user.id, Some(OTHER.to_owned())).await.unwrap();
    fixture.inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
}

#[tokio::test]
async fn another_password_ends_all_sessions_of_the_user_and_nobody_elses() {
    for password in [Some(OTHER), Some(PASSWORD), None] {
        let fixture = Fixture::new().await;
        let user = fixture.owner().await;
        let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
        let key = fixture.user_key(&user, |_| {}).await;
        let sessions =
            [fixture.log_in(&user).await, fixture.log_in(&user).await, fixture.log_in(&user).await];
        let others = fixture.log_in(&other).await;
        fixture.inventory.set_user_password(user.id, password.map(str::to_owned)).await.unwrap();
        for session in &sessions {
            let ended = fixture.inventory.authenticate_session(session.plaintext()).await;
            assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
            assert_eq!(fixture.mentioning(session.session().id).await, []);
        }
        fixture.inventory.authenticate_session(others.plaintext()).await.unwrap();
        fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    }
}

#[tokio::test]
async fn a_password_that_cannot_be_accepted_changes_nothing() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let session = fixture.log_in(&user).await;
    for (length, problem) in [
        (0, Problem::MinLength { min: 10 }),
        (9, Problem::MinLength { min: 10 }),
        (1001, Problem::MaxLength { max: 1000 }),
    ] {
        let attempt = fixture.inventory.set_user_password(user.id, Some("ü".repeat(length)));
        assert_eq!(fixture.refusal(attempt).await, invalid("password", problem));
    }
    fixture.inventory.authenticate_session(session.plaintext()).await.unwrap();
    fixture.log_in(&user).await;
    for length in [10, 1000] {
        let password = "ü".repeat(length);
        fixture.inventory.set_user_password(user.id, Some(password.clone())).await.unwrap();
        fixture.inventory.log_in(&user.email, password).await.unwrap();
    }
}

#[tokio::test]
async fn an_unknown_user_gets_no_password() {
    let fixture = Fixture::new().await;
    for password in [Some(OTHER.to_owned()), None] {
        let attempt = fixture.inventory.set_user_password(id(3), password);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::User, id(3)));
    }
}

#[tokio::test]
async fn a_session_that_begins_while_the_password_changes_ends_with_the_others() {
    for password in [Some(OTHER), None] {
        at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
            async |inventory, user| inventory.set_user_password(user.id, password.map(str::to_owned)).await,
            async |fixture, user, result| {
                result.unwrap();
                assert_eq!(fixture.sessions_of(user.id).await, 0);
                assert!(fixture.inventory.log_in(&user.email, PASSWORD.to_owned()).await.is_err());
            },
        )
        .await;
    }
}

#[tokio::test]
async fn of_two_passwords_set_at_once_one_holds() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| {
            inventory.set_user_password(user.id, Some("set by somebody".to_owned())).await.unwrap()
        },
        async |inventory, user| inventory.set_user_password(user.id, Some(OTHER.to_owned())).await,
        async |fixture, user, result| {
            result.unwrap();
            fixture.inventory.log_in(&user.email, OTHER.to_owned()).await.unwrap();
            let other = fixture.inventory.log_in(&user.email, "set by somebody".to_owned()).await;
            assert_eq!(refusal(other), ErrorKind::InvalidCredentials);
        },
    )
    .await;
}

#[tokio::test]
async fn a_user_who_is_deleted_while_given_a_password_leaves_none() {
    for password in [Some(OTHER), None] {
        at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, user| inventory.delete_user(user.id).await.unwrap(),
            async |inventory, user| inventory.set_user_password(user.id, password.map(str::to_owned)).await,
            async |fixture, user, result| {
                assert_eq!(refusal(result), not_found(Entity::User, user.id));
                assert_eq!(fixture.mentioning(user.id).await, []);
            },
        )
        .await;
    }
}
