//! Reading, enabling, disabling and deleting users' keys.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, IssuedKey};
use toposcope::model::{Permission, User, UserApiKey};
use uuid::Uuid;

use crate::support::{
    World, at_every_moment, id, in_person, not_found, refusal, settle, through_a_key, time,
};

/// A key with a value in every field, and its owner.
async fn full_key(world: &World) -> (User, IssuedKey<UserApiKey>) {
    let owner = world.owner().await;
    let issued = world.user_key(&owner, |new| {
        new.network_ids = vec![world.other_network, world.network];
        new.tags = world.tags.to_vec();
        new.expires_at = Some(time("2027-01-01T00:00:00Z"));
    });
    let issued = issued.await;
    (owner, issued)
}

#[tokio::test]
async fn a_key_is_found_as_created_with_the_key_itself_masked() {
    let world = World::new().await;
    let (owner, issued) = full_key(&world).await;
    let found = world.inventory.user_api_key(issued.record().id).await.unwrap();
    assert_eq!(&found, issued.record());
    assert_eq!(world.inventory.user_api_keys(owner.id).await.unwrap(), [found]);
}

#[tokio::test]
async fn keys_are_listed_by_age_for_their_user_alone() {
    let world = World::new().await;
    let owner = world.owner().await;
    let other = world.user("b@example.net", Permission::Viewer, &[]).await;
    let mut records = Vec::new();
    for name in ["z", "a", "m"] {
        world.clock.advance(Duration::from_micros(1));
        records.push(world.user_key(&owner, |new| new.name = name.to_owned()).await.record().clone());
    }
    let others = world.user_key(&other, |_| {}).await.record().clone();
    assert_eq!(world.inventory.user_api_keys(owner.id).await.unwrap(), records);
    assert_eq!(world.inventory.user_api_keys(other.id).await.unwrap(), [others]);
    world.inventory.delete_user_api_key(records[1].id).await.unwrap();
    records.remove(1);
    assert_eq!(world.inventory.user_api_keys(owner.id).await.unwrap(), records);
}

#[tokio::test]
async fn a_key_that_is_unknown_is_not_found_by_anything() {
    let world = World::new().await;
    let owner = world.owner().await;
    let daemons = world.daemon_key(|_| {}).await;
    for unknown in [id(3), owner.id, daemons.record().id] {
        let expected = not_found(Entity::UserApiKey, unknown);
        let inventory = &world.inventory;
        assert_eq!(refusal(inventory.user_api_key(unknown).await), expected);
        assert_eq!(world.refusal(inventory.disable_user_api_key(unknown)).await, expected);
        assert_eq!(world.refusal(inventory.delete_user_api_key(unknown)).await, expected);
        let caller = in_person(&owner);
        assert_eq!(world.refusal(inventory.delete_user_api_key_as(&caller, unknown)).await, expected);
    }
    let unknown = refusal(world.inventory.user_api_keys(id(3)).await);
    assert_eq!(unknown, not_found(Entity::User, id(3)));
}

#[tokio::test]
async fn a_key_is_switched_off_and_on_and_stays_the_same_otherwise() {
    let world = World::new().await;
    let (_, issued) = full_key(&world).await;
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    let key = issued.record();
    for is_enabled in [false, false, true, true] {
        let expected = UserApiKey { is_enabled, updated_at: now, ..key.clone() };
        let changed = if is_enabled {
            world.inventory.enable_user_api_key(key.id).await.unwrap()
        } else {
            world.inventory.disable_user_api_key(key.id).await.unwrap()
        };
        assert_eq!(changed, expected);
        assert_eq!(world.inventory.user_api_key(key.id).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_key_that_is_switched_off_is_refused_until_it_is_switched_on() {
    let world = World::new().await;
    let (owner, issued) = full_key(&world).await;
    for _ in 0..2 {
        let caller = world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        assert_eq!(caller.user_id(), owner.id);
        world.inventory.disable_user_api_key(issued.record().id).await.unwrap();
        let refused = world.inventory.authenticate_user_key(issued.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::UserApiKey });
        world.inventory.enable_user_api_key(issued.record().id).await.unwrap();
    }
}

/// Deletes a key in one of several ways, and asserts that nothing of it is left.
async fn assert_deletes(delete: impl AsyncFn(&World, &User, Uuid)) {
    let world = World::new().await;
    let owner = world.owner().await;
    let other = world.user_key(&owner, |new| new.tags = world.tags.to_vec()).await;
    world.inventory.authenticate_user_key(other.plaintext()).await.unwrap();
    settle().await;
    let before = world.store.contents().await;
    let issued = world.user_key(&owner, |new| new.tags = world.tags.to_vec()).await;
    world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    let key = issued.record().id;
    assert_eq!(world.store.contents().await.len(), before.len() + 3, "the key, its secret and its use");
    delete(&world, &owner, key).await;
    assert_eq!(world.store.contents().await, before);
    assert_eq!(world.store.mentioning(key).await, []);
    let refused = world.inventory.authenticate_user_key(issued.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::NotAuthenticated);
    let unknown = not_found(Entity::UserApiKey, key);
    assert_eq!(refusal(world.inventory.delete_user_api_key(key).await), unknown);
    let again = world.inventory.delete_user_api_key_as(&in_person(&owner), key).await;
    assert_eq!(refusal(again), unknown);
}

#[tokio::test]
async fn a_deleted_key_is_refused_and_nothing_of_it_is_left() {
    assert_deletes(async |world, _, key| world.inventory.delete_user_api_key(key).await.unwrap()).await;
    assert_deletes(async |world, owner, key| {
        world.inventory.delete_user_api_key_as(&in_person(owner), key).await.unwrap();
    })
    .await;
    // A caller supplied by the host application counts as a user session too.
    assert_deletes(async |world, owner, key| {
        let caller = Caller::new(world.organization, owner.id, Permission::Viewer, Scope::only([]));
        world.inventory.delete_user_api_key_as(&caller, key).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn nobody_deletes_the_key_of_another() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let user = world.user("a@example.net", Permission::Viewer, &[]).await;
    let key = world.user_key(&user, |_| {}).await.record().id;
    let owner = world.owner().await;
    let namesake = Caller::new(foreign.organization, user.id, Permission::Owner, Scope::all());
    for caller in [in_person(&owner), namesake] {
        let attempt = world.inventory.delete_user_api_key_as(&caller, key);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::UserApiKey, key));
    }
}

#[tokio::test]
async fn a_key_deletes_no_key() {
    let world = World::new().await;
    let (owner, issued) = full_key(&world).await;
    let caller = through_a_key(&owner);
    for key in [issued.record().id, id(3)] {
        let attempt = world.inventory.delete_user_api_key_as(&caller, key);
        assert_eq!(world.refusal(attempt).await, ErrorKind::UserContextRequired);
    }
}

#[tokio::test]
async fn of_two_who_delete_a_key_at_once_one_finds_it_gone() {
    at_every_moment(
        async |world: &World| full_key(world).await,
        |inventory, (_, issued)| {
            let key = issued.record().id;
            async move { inventory.delete_user_api_key(key).await.unwrap() }
        },
        async |inventory, (owner, issued)| {
            inventory.delete_user_api_key_as(&in_person(owner), issued.record().id).await
        },
        async |world, (_, issued), result| {
            assert_eq!(refusal(result), not_found(Entity::UserApiKey, issued.record().id));
            assert_eq!(world.store.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn a_key_that_is_deleted_while_switched_does_not_come_back() {
    at_every_moment(
        async |world: &World| full_key(world).await,
        |inventory, (_, issued)| {
            let key = issued.record().id;
            async move { inventory.delete_user_api_key(key).await.unwrap() }
        },
        async |inventory, (_, issued)| inventory.enable_user_api_key(issued.record().id).await.map(drop),
        async |world, (_, issued), result| {
            if let Err(error) = result {
                assert_eq!(*error.kind(), not_found(Entity::UserApiKey, issued.record().id));
            }
            assert_eq!(world.store.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}
