//! Rehashing of passwords, and changes of a user during a login.

use std::cell::Cell;

use argon2::password_hash::PasswordHasher as _;
use argon2::{Algorithm, Argon2, Params, Version};
use toposcope::access::{PasswordCost, PasswordHasher};
use toposcope::inventory::{ErrorKind, Inventory};
use toposcope::model::{Permission, User};
use toposcope::store::{Facets, Key, Name};

use crate::support::{Fixture, PASSWORD, at_every_call, refusal, with_interference_at_every_call};
use crate::users::Change;

const PASSWORD_KIND: Name = Name::new("password");

/// Returns an inventory that differs from the fixture's in the cost of passwords only.
fn at_another_cost(inventory: Inventory) -> Inventory {
    inventory.with_passwords(PasswordHasher::new().with_cost(PasswordCost::new(16, 2).unwrap()))
}

/// Returns the stored password record of a user.
async fn stored_hash(fixture: &Fixture, user: &User) -> String {
    let contents = fixture.contents().await;
    let key = Key::new(PASSWORD_KIND, user.id);
    let stored = contents.into_iter().find(|stored| stored.record.key == key).expect("there is a password");
    String::from_utf8(stored.record.body.to_vec()).unwrap()
}

#[tokio::test]
async fn password_of_another_cost_is_rehashed_at_the_next_login() {
    let (fixture, user) = Fixture::with_owner().await;
    let before = stored_hash(&fixture, &user).await;
    assert!(before.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{before}");
    let inventory = at_another_cost(fixture.second_inventory());
    let issued = inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    let anew = stored_hash(&fixture, &user).await;
    assert!(anew.starts_with("$argon2id$v=19$m=16,t=2,p=1$"), "{anew}");
    inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    assert_eq!(stored_hash(&fixture, &user).await, anew, "it is of the present cost now");
    inventory.authenticate_session(issued.plaintext()).await.unwrap();
    let refused = inventory.log_in(&user.email, "battery staple".to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn refused_login_rehashes_nothing() {
    let (fixture, user) = Fixture::with_owner().await;
    let inventory = at_another_cost(fixture.second_inventory());
    let wrong = inventory.log_in(&user.email, "battery staple".to_owned());
    assert_eq!(fixture.refusal(wrong).await, ErrorKind::InvalidCredentials);
    fixture.inventory.set_user_enabled(user.id, false).await.unwrap();
    let disabled = inventory.log_in(&user.email, PASSWORD.to_owned());
    assert_eq!(fixture.refusal(disabled).await, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn password_that_changes_during_the_rehashing_of_the_old_one_is_kept() {
    for change in [Change::SetPassword("battery staple"), Change::RemovePassword] {
        at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, user| change.apply(inventory, user.id).await.unwrap(),
            async |inventory, user| {
                at_another_cost(inventory.clone()).log_in(&user.email, PASSWORD.to_owned()).await
            },
            async |fixture, user, result| {
                assert_eq!(refusal(result), ErrorKind::InvalidCredentials);
                let log_in = async |password: &str| {
                    fixture.inventory.log_in(&user.email, password.to_owned()).await.map(drop)
                };
                assert_eq!(refusal(log_in(PASSWORD).await), ErrorKind::InvalidCredentials);
                if let Change::SetPassword(password) = change {
                    log_in(password).await.unwrap();
                }
            },
        )
        .await;
    }
}

/// A password shorter than any that is accepted today.
#[tokio::test]
async fn password_shorter_than_the_current_minimum_is_accepted_and_not_rehashed() {
    let (fixture, user) = Fixture::with_owner().await;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    let hash = argon2.hash_password_with_salt(b"short", b"0123456789abcdef").unwrap().to_string();
    let facets = Facets::default().with_organization(fixture.organization);
    fixture.overwrite(Key::new(PASSWORD_KIND, user.id), facets, hash.clone().into_bytes()).await;
    let inventory = at_another_cost(fixture.second_inventory());
    for _ in 0..2 {
        inventory.log_in(&user.email, "short".to_owned()).await.unwrap();
        assert_eq!(stored_hash(&fixture, &user).await, hash);
    }
}

#[tokio::test]
async fn longest_password_logs_in_and_a_longer_one_does_not() {
    let (fixture, user) = Fixture::with_owner().await;
    let longest = "🦀".repeat(1000);
    fixture.inventory.set_user_password(user.id, Some(longest.clone())).await.unwrap();
    fixture.inventory.log_in(&user.email, longest.clone()).await.unwrap();
    for wrong in [format!("{longest}x"), longest.repeat(2), "x".repeat(1 << 20)] {
        let refused = fixture.inventory.log_in(&user.email, wrong).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
}

#[tokio::test]
async fn login_is_refused_if_the_user_is_disabled_or_deleted_or_gets_another_password_meanwhile() {
    for change in
        [Change::SetPassword("battery staple"), Change::RemovePassword, Change::Disable, Change::Delete]
    {
        let calls = with_interference_at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, user| change.apply(inventory, user.id).await.unwrap(),
            async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await,
            async |fixture, user, result| {
                assert_eq!(refusal(result), ErrorKind::InvalidCredentials, "{change:?}");
                assert_eq!(fixture.sessions_of(user.id).await, 0);
            },
        )
        .await;
        assert!(calls > 2, "the change came between the verification and the commit as well");
    }
}

#[tokio::test]
async fn password_that_becomes_the_right_one_during_a_login_logs_in_until_the_hash_is_read() {
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
async fn rights_that_change_during_a_login_apply_to_its_session() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| inventory.set_user_rights(user.id, Permission::Viewer, vec![]).await.unwrap(),
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
        async |fixture, _, issued| {
            let caller = fixture.by_session(&issued).await.unwrap();
            assert_eq!(caller.permission(), Permission::Viewer);
        },
    )
    .await;
}

#[tokio::test]
async fn concurrent_logins_of_one_user_both_succeed() {
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
