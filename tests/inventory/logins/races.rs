//! Changes of a user during a login.

use std::cell::Cell;

use toposcope::inventory::{ErrorKind, Inventory};
use toposcope::model::{Permission, User};

use crate::support::{Fixture, PASSWORD, at_every_call, refusal};

/// Logs in while a concurrent task changes the user right before a call of the store, once for each call up
/// to the commit.
async fn assert_nobody_gets_in<I>(change: impl AsyncFn(&Inventory, &User) -> I) {
    let moments = Cell::new(0);
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        change,
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await,
        async |fixture, user, result| {
            assert_eq!(refusal(result), ErrorKind::InvalidCredentials);
            assert_eq!(fixture.sessions_of(user.id).await, 0);
            moments.set(moments.get() + 1);
        },
    )
    .await;
    assert!(moments.get() > 2, "the change came between the verification and the commit as well");
}

#[tokio::test]
async fn a_password_that_changes_during_a_login_lets_nobody_in_any_more() {
    for password in [Some("battery staple"), None] {
        assert_nobody_gets_in(async |inventory, user| {
            inventory.set_user_password(user.id, password.map(str::to_owned)).await.unwrap()
        })
        .await;
    }
}

#[tokio::test]
async fn a_user_who_is_disabled_during_a_login_does_not_get_in() {
    assert_nobody_gets_in(async |inventory, user| inventory.set_user_enabled(user.id, false).await.unwrap())
        .await;
}

#[tokio::test]
async fn a_user_who_is_deleted_during_a_login_does_not_get_in() {
    assert_nobody_gets_in(async |inventory, user| inventory.delete_user(user.id).await.unwrap()).await;
}

#[tokio::test]
async fn password_that_becomes_the_right_one_during_a_login_lets_in_until_the_hash_is_read() {
    let refusals = Cell::new(0);
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| {
            let password = "battery staple".to_owned();
            inventory.set_user_password(user.id, Some(password)).await.unwrap();
        },
        async |inventory, user| inventory.log_in(&user.email, "battery staple".to_owned()).await,
        async |_, user, result| match result {
            Ok(issued) => assert_eq!(issued.user(), user),
            Err(error) => {
                assert_eq!(*error.kind(), ErrorKind::InvalidCredentials);
                refusals.set(refusals.get() + 1);
            }
        },
    )
    .await;
    assert_eq!(
        refusals.get(),
        1,
        "one call follows the one that reads the hash, before the password is verified"
    );
}

#[tokio::test]
async fn a_user_whose_rights_change_during_a_login_gets_in_with_those_that_are_new() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| inventory.set_user_rights(user.id, Permission::Viewer, vec![]).await.unwrap(),
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
        async |fixture, _, issued| {
            let caller = fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
            assert_eq!(caller.permission(), Permission::Viewer);
        },
    )
    .await;
}

#[tokio::test]
async fn another_login_of_the_user_does_not_disturb_one() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await,
        async |fixture, _, result| {
            fixture.inventory.authenticate_session(result.unwrap().plaintext()).await.unwrap();
        },
    )
    .await;
}
