//! Deletion of users with everything that belongs to them.

use toposcope::inventory::{Entity, ErrorKind, Inventory, IssuedKey, IssuedSession, NewUserApiKey};
use toposcope::model::{Permission, User, UserApiKey};

use crate::support::{PASSWORD, World, at_every_moment, id, in_person, not_found, refusal, settle};

/// A user with every kind of record that a user can have.
async fn busy_user(world: &World) -> (User, Vec<IssuedKey<UserApiKey>>, Vec<IssuedSession>) {
    let both = [world.network, world.other_network];
    let user = world.user("a@example.net", Permission::Member, &both).await;
    let mut keys = Vec::new();
    let mut sessions = Vec::new();
    for number in 0..3 {
        let issued = world.user_key(&user, |new| {
            new.name = format!("key {number}");
            new.network_ids = both.to_vec();
            new.tags = world.tags.to_vec();
        });
        keys.push(issued.await);
        sessions.push(world.log_in(&user).await);
    }
    for key in &keys {
        world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    }
    settle().await;
    world.inventory.submit_referral(&in_person(&user), "reddit", Some("r/homelab")).await.unwrap();
    (user, keys, sessions)
}

#[tokio::test]
async fn nothing_of_a_deleted_user_is_left_in_the_store_and_nothing_else_is_touched() {
    let world = World::new().await;
    let other = world.owner().await;
    world.user_key(&other, |new| new.tags = world.tags.to_vec()).await;
    world.log_in(&other).await;
    world.inventory.submit_referral(&in_person(&other), "other", None).await.unwrap();
    let before = world.store.contents().await;
    let (user, keys, sessions) = busy_user(&world).await;
    // The user, the password, the referral; each key with its secret and its use, and each session.
    assert_eq!(world.store.contents().await.len(), before.len() + 3 + 3 * (3 + 1));
    world.inventory.delete_user(user.id).await.unwrap();
    assert_eq!(world.store.contents().await, before);
    for gone in keys.iter().map(|key| key.record().id).chain([user.id]) {
        assert_eq!(world.store.mentioning(gone).await, []);
    }
    for key in &keys {
        let refused = world.inventory.authenticate_user_key(key.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::NotAuthenticated);
        let refused = world.inventory.user_api_key(key.record().id).await;
        assert_eq!(refusal(refused), not_found(Entity::UserApiKey, key.record().id));
    }
    for session in &sessions {
        let refused = world.inventory.authenticate_session(session.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::NotAuthenticated);
    }
}

#[tokio::test]
async fn a_deleted_user_is_unknown_and_the_address_is_free() {
    let world = World::new().await;
    let user = world.owner().await;
    world.inventory.delete_user(user.id).await.unwrap();
    let unknown = not_found(Entity::User, user.id);
    assert_eq!(refusal(world.inventory.user(user.id).await), unknown);
    assert_eq!(refusal(world.inventory.user_api_keys(user.id).await), unknown);
    assert_eq!(world.refusal(world.inventory.delete_user(user.id)).await, unknown);
    let login = world.inventory.log_in(&user.email, PASSWORD.to_owned()).await;
    assert_eq!(refusal(login), ErrorKind::InvalidCredentials);
    let successor = world.owner().await;
    assert_ne!(successor.id, user.id);
    world.log_in(&successor).await;
}

#[tokio::test]
async fn an_unknown_user_is_not_deleted() {
    let world = World::new().await;
    for unknown in [id(3), world.organization] {
        let attempt = world.inventory.delete_user(unknown);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::User, unknown));
    }
}

async fn assert_nothing_is_left<F: Future<Output = ()> + Send + 'static>(
    what_the_user_does: impl Fn(Inventory, &User) -> F,
) {
    at_every_moment(
        async |world: &World| world.owner().await,
        what_the_user_does,
        async |inventory, user| inventory.delete_user(user.id).await,
        async |world, user, result| {
            result.unwrap();
            assert_eq!(world.store.mentioning(user.id).await, []);
            let kinds: Vec<String> =
                world.store.contents().await.iter().map(|kept| kept.key.kind.to_string()).collect();
            let of_users = ["user", "password", "user_api_key", "key_secret", "session", "referral"];
            assert!(!kinds.iter().any(|kind| of_users.contains(&kind.as_str())), "{kinds:?}");
        },
    )
    .await;
}

#[tokio::test]
async fn what_a_user_does_while_being_deleted_goes_as_well() {
    assert_nothing_is_left(|inventory, user| {
        let email = user.email.clone();
        async move {
            inventory.log_in(&email, PASSWORD.to_owned()).await.unwrap();
        }
    })
    .await;
    assert_nothing_is_left(|inventory, user| {
        let new = NewUserApiKey::new(user.id, "late", Permission::Viewer);
        async move {
            inventory.create_user_api_key(new).await.unwrap();
        }
    })
    .await;
    assert_nothing_is_left(|inventory, user| {
        let caller = in_person(user);
        async move {
            inventory.submit_referral(&caller, "reddit", None).await.unwrap();
        }
    })
    .await;
    assert_nothing_is_left(|inventory, user| {
        let id = user.id;
        async move {
            inventory.set_user_password(id, Some("battery staple".to_owned())).await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_that_is_made_while_its_user_is_deleted_is_not_left_behind() {
    at_every_moment(
        async |world: &World| world.owner().await,
        |inventory, user| {
            let id = user.id;
            async move { inventory.delete_user(id).await.unwrap() }
        },
        async |inventory, user| {
            inventory.create_user_api_key(NewUserApiKey::new(user.id, "late", Permission::Viewer)).await
        },
        async |world, user, result| {
            assert_eq!(refusal(result), not_found(Entity::User, user.id));
            assert_eq!(world.store.mentioning(user.id).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn what_a_user_says_while_being_deleted_is_not_left_behind() {
    at_every_moment(
        async |world: &World| {
            let user = world.owner().await;
            let session = world.log_in(&user).await;
            world.inventory.authenticate_session(session.plaintext()).await.unwrap()
        },
        |inventory, caller| {
            let id = caller.user_id();
            async move { inventory.delete_user(id).await.unwrap() }
        },
        async |inventory, caller| inventory.submit_referral(caller, "reddit", None).await,
        async |world, caller, result| {
            assert_eq!(refusal(result), ErrorKind::NotAuthenticated);
            assert_eq!(world.store.mentioning(caller.user_id()).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn who_is_deleted_while_asking_is_not_authenticated() {
    at_every_moment(
        async |world: &World| world.log_in(&world.owner().await).await,
        |inventory, session| {
            let id = session.user().id;
            async move { inventory.delete_user(id).await.unwrap() }
        },
        async |inventory, session| inventory.authenticate_session(session.plaintext()).await,
        async |_, _, result| assert_eq!(refusal(result), ErrorKind::NotAuthenticated),
    )
    .await;
    at_every_moment(
        async |world: &World| world.user_key(&world.owner().await, |_| {}).await,
        |inventory, key| {
            let id = key.record().user_id;
            async move { inventory.delete_user(id).await.unwrap() }
        },
        async |inventory, key| inventory.authenticate_user_key(key.plaintext()).await,
        async |world, key, result| {
            assert_eq!(refusal(result), ErrorKind::NotAuthenticated);
            settle().await;
            assert_eq!(world.store.mentioning(key.record().id).await, []);
        },
    )
    .await;
}
