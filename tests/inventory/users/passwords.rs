//! Passwords of users, and whether a user is enabled.

use toposcope::inventory::{Entity, ErrorKind, Problem};
use toposcope::model::{Permission, User};

use crate::support::{Fixture, PASSWORD, at_every_call, id, invalid, not_found, refusal, time};

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

#[tokio::test]
async fn the_keys_of_a_disabled_user_are_refused_until_the_user_is_enabled_again() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let key = fixture.user_key(&user, |_| {}).await;
    for _ in 0..2 {
        fixture.inventory.set_user_enabled(user.id, false).await.unwrap();
        let refused = fixture.inventory.authenticate_user_key(key.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::User });
        fixture.inventory.set_user_enabled(user.id, true).await.unwrap();
        fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    }
}

#[tokio::test]
async fn the_sessions_of_a_disabled_user_end_for_good_and_nobody_elses() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
    let sessions = [fixture.log_in(&user).await, fixture.log_in(&user).await];
    let others = fixture.log_in(&other).await;
    for is_enabled in [false, true] {
        fixture.inventory.set_user_enabled(user.id, is_enabled).await.unwrap();
        for session in &sessions {
            let ended = fixture.inventory.authenticate_session(session.plaintext()).await;
            assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
            assert_eq!(fixture.mentioning(session.session().id).await, []);
        }
    }
    fixture.inventory.authenticate_session(others.plaintext()).await.unwrap();
    // Enabling an already enabled user keeps the existing sessions.
    let session = fixture.log_in(&user).await;
    fixture.inventory.set_user_enabled(user.id, true).await.unwrap();
    fixture.inventory.authenticate_session(session.plaintext()).await.unwrap();
}

#[tokio::test]
async fn a_session_that_begins_while_its_user_is_disabled_ends_with_the_others() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
        async |inventory, user| inventory.set_user_enabled(user.id, false).await,
        async |fixture, user, result| {
            result.unwrap();
            assert_eq!(fixture.sessions_of(user.id).await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_disabled_user_cannot_log_in_and_is_not_told_from_one_who_does_not_exist() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    fixture.inventory.set_user_enabled(user.id, false).await.unwrap();
    let attempt = fixture.inventory.log_in(&user.email, PASSWORD.to_owned());
    assert_eq!(fixture.refusal(attempt).await, ErrorKind::InvalidCredentials);
    fixture.inventory.set_user_enabled(user.id, true).await.unwrap();
    fixture.log_in(&user).await;
}

#[tokio::test]
async fn whether_a_user_is_disabled_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
    assert!(fixture.inventory.is_user_enabled(user.id).await.unwrap());
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let expected = User { updated_at: now, ..user.clone() };
    for is_enabled in [false, false, true, true] {
        assert_eq!(fixture.inventory.set_user_enabled(user.id, is_enabled).await.unwrap(), expected);
        assert_eq!(fixture.inventory.is_user_enabled(user.id).await.unwrap(), is_enabled);
        assert_eq!(fixture.inventory.user(user.id).await.unwrap(), expected);
        let users = fixture.inventory.users(fixture.organization).await.unwrap();
        assert_eq!(users, std::slice::from_ref(&expected));
    }
}

#[tokio::test]
async fn an_unknown_user_is_neither_enabled_nor_disabled() {
    let fixture = Fixture::new().await;
    assert_eq!(refusal(fixture.inventory.is_user_enabled(id(3)).await), not_found(Entity::User, id(3)));
    for is_enabled in [false, true] {
        let attempt = fixture.inventory.set_user_enabled(id(3), is_enabled);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::User, id(3)));
    }
}

/// A user disabled during a request is refused; the error depends on the records that still exist at that
/// moment.
#[tokio::test]
async fn who_is_disabled_while_asking_is_refused() {
    at_every_call(
        async |fixture: &Fixture| {
            let user = fixture.owner().await;
            (fixture.user_key(&user, |_| {}).await, fixture.log_in(&user).await)
        },
        async |inventory, (key, _)| inventory.set_user_enabled(key.record().user_id, false).await.unwrap(),
        async |inventory, (_, session)| inventory.authenticate_session(session.plaintext()).await,
        async |fixture, (key, _), result| {
            let refused = refusal(result);
            let expected = [ErrorKind::NotAuthenticated, ErrorKind::Disabled { entity: Entity::User }];
            assert!(expected.contains(&refused), "{refused:?}");
            let by_key = fixture.inventory.authenticate_user_key(key.plaintext()).await;
            assert_eq!(refusal(by_key), expected[1]);
        },
    )
    .await;
}
