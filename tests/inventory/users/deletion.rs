//! Deletion of users with everything that belongs to them.

use toposcope::inventory::{Entity, ErrorKind, Inventory, IssuedKey, IssuedSession, NewUserApiKey};
use toposcope::model::{Permission, User, UserApiKey};

use crate::support::{Fixture, PASSWORD, at_every_call, in_person, not_found, refusal, settle};

/// A user with every kind of record that a user can have.
async fn busy_user(fixture: &Fixture) -> (User, Vec<IssuedKey<UserApiKey>>, Vec<IssuedSession>) {
    let both = [fixture.network, fixture.other_network];
    let user = fixture.user("a@example.net", Permission::Member, &both).await;
    let mut keys = Vec::new();
    let mut sessions = Vec::new();
    for number in 0..3 {
        let issued = fixture.user_key(&user, |new| {
            new.name = format!("key {number}");
            new.network_ids = both.to_vec();
            new.tags = fixture.tags.to_vec();
        });
        keys.push(issued.await);
        sessions.push(fixture.log_in(&user).await);
    }
    for key in &keys {
        fixture.by_key(&key).await.unwrap();
    }
    settle().await;
    fixture.inventory.submit_referral(&in_person(&user), "reddit", Some("r/homelab")).await.unwrap();
    (user, keys, sessions)
}

#[tokio::test]
async fn deletion_of_a_user_removes_all_records_of_the_user_and_no_others() {
    let (fixture, other) = Fixture::with_owner().await;
    fixture.user_key(&other, |new| new.tags = fixture.tags.to_vec()).await;
    fixture.log_in(&other).await;
    fixture.inventory.submit_referral(&in_person(&other), "other", None).await.unwrap();
    let before = fixture.contents().await;
    let (user, keys, sessions) = busy_user(&fixture).await;
    // The user, the password, the referral; each key with its secret and its use, and each session.
    assert_eq!(fixture.contents().await.len(), before.len() + 3 + 3 * (3 + 1));
    fixture.inventory.delete_user(user.id).await.unwrap();
    assert_eq!(fixture.contents().await, before);
    for gone in keys.iter().map(|key| key.record().id).chain([user.id]) {
        assert_eq!(fixture.mentioning(gone).await, []);
    }
    for key in &keys {
        assert_eq!(refusal(fixture.by_key(&key).await), ErrorKind::NotAuthenticated);
        let refused = fixture.inventory.user_api_key(key.record().id).await;
        assert_eq!(refusal(refused), not_found(Entity::UserApiKey, key.record().id));
    }
    for session in &sessions {
        assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::NotAuthenticated);
    }
}

#[tokio::test]
async fn deleted_user_is_not_found_and_the_address_is_free() {
    let (fixture, user) = Fixture::with_owner().await;
    fixture.inventory.delete_user(user.id).await.unwrap();
    let unknown = not_found(Entity::User, user.id);
    assert_eq!(refusal(fixture.inventory.user(user.id).await), unknown);
    assert_eq!(refusal(fixture.inventory.user_api_keys(user.id).await), unknown);
    assert_eq!(fixture.refusal(fixture.inventory.delete_user(user.id)).await, unknown);
    let login = fixture.try_log_in(&user.email).await;
    assert_eq!(refusal(login), ErrorKind::InvalidCredentials);
    let successor = fixture.owner().await;
    assert_ne!(successor.id, user.id);
    fixture.log_in(&successor).await;
}

async fn assert_nothing_is_left<I>(what_the_user_does: impl AsyncFn(&Inventory, &User) -> I) {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        what_the_user_does,
        async |inventory, user| inventory.delete_user(user.id).await,
        async |fixture, user, result| {
            result.unwrap();
            assert_eq!(fixture.mentioning(user.id).await, []);
            let kinds: Vec<String> =
                fixture.contents().await.iter().map(|stored| stored.kind().to_owned()).collect();
            let of_users = ["user", "password", "user_api_key", "key_secret", "session", "referral"];
            assert!(!kinds.iter().any(|kind| of_users.contains(&kind.as_str())), "{kinds:?}");
        },
    )
    .await;
}

#[tokio::test]
async fn records_that_a_user_creates_during_the_deletion_are_deleted() {
    assert_nothing_is_left(async |inventory, user| {
        inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap()
    })
    .await;
    assert_nothing_is_left(async |inventory, user| {
        inventory.create_user_api_key(NewUserApiKey::new(user.id, "late", Permission::Viewer)).await.unwrap()
    })
    .await;
    assert_nothing_is_left(async |inventory, user| {
        inventory.submit_referral(&in_person(user), "reddit", None).await.unwrap()
    })
    .await;
    assert_nothing_is_left(async |inventory, user| {
        inventory.set_user_password(user.id, Some("battery staple".to_owned())).await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn key_whose_user_is_deleted_meanwhile_is_not_created() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| inventory.delete_user(user.id).await.unwrap(),
        async |inventory, user| {
            inventory.create_user_api_key(NewUserApiKey::new(user.id, "late", Permission::Viewer)).await
        },
        async |fixture, user, result| {
            assert_eq!(refusal(result), not_found(Entity::User, user.id));
            assert_eq!(fixture.mentioning(user.id).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn referral_whose_user_is_deleted_meanwhile_is_not_recorded() {
    at_every_call(
        async |fixture: &Fixture| {
            let user = fixture.owner().await;
            let session = fixture.log_in(&user).await;
            fixture.by_session(&session).await.unwrap()
        },
        async |inventory, caller| inventory.delete_user(caller.user_id()).await.unwrap(),
        async |inventory, caller| inventory.submit_referral(caller, "reddit", None).await,
        async |fixture, caller, result| {
            assert_eq!(refusal(result), ErrorKind::NotAuthenticated);
            assert_eq!(fixture.mentioning(caller.user_id()).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn user_who_is_deleted_during_authentication_is_refused() {
    at_every_call(
        async |fixture: &Fixture| fixture.log_in(&fixture.owner().await).await,
        async |inventory, session| inventory.delete_user(session.user().id).await.unwrap(),
        async |inventory, session| inventory.authenticate_session(session.plaintext()).await,
        async |_, _, result| assert_eq!(refusal(result), ErrorKind::NotAuthenticated),
    )
    .await;
    at_every_call(
        async |fixture: &Fixture| fixture.user_key(&fixture.owner().await, |_| {}).await,
        async |inventory, key| inventory.delete_user(key.record().user_id).await.unwrap(),
        async |inventory, key| inventory.authenticate_user_key(key.plaintext()).await,
        async |fixture, key, result| {
            assert_eq!(refusal(result), ErrorKind::NotAuthenticated);
            settle().await;
            assert_eq!(fixture.mentioning(key.record().id).await, []);
        },
    )
    .await;
}
