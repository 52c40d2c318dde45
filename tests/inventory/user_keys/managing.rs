//! Reading, enabling, disabling and deleting users' keys.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, IssuedKey};
use toposcope::model::{Permission, User, UserApiKey};
use uuid::Uuid;

use crate::support::{
    Fixture, at_every_call, id, in_person, not_found, refusal, settle, through_a_key, time,
};

/// A key with a value in every field, and its owner.
async fn full_key(fixture: &Fixture) -> (User, IssuedKey<UserApiKey>) {
    let owner = fixture.owner().await;
    let issued = fixture.user_key(&owner, |new| {
        new.network_ids = vec![fixture.other_network, fixture.network];
        new.tags = fixture.tags.to_vec();
        new.expires_at = Some(time("2027-01-01T00:00:00Z"));
    });
    let issued = issued.await;
    (owner, issued)
}

#[tokio::test]
async fn a_key_is_found_as_created_with_the_key_itself_masked() {
    let fixture = Fixture::new().await;
    let (owner, issued) = full_key(&fixture).await;
    let found = fixture.inventory.user_api_key(issued.record().id).await.unwrap();
    assert_eq!(&found, issued.record());
    assert_eq!(fixture.inventory.user_api_keys(owner.id).await.unwrap(), [found]);
}

#[tokio::test]
async fn keys_are_listed_by_age_for_their_user_alone() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
    let mut records = Vec::new();
    for name in ["z", "a", "m"] {
        fixture.clock.advance(Duration::from_micros(1));
        records.push(fixture.user_key(&owner, |new| new.name = name.to_owned()).await.record().clone());
    }
    let others = fixture.user_key(&other, |_| {}).await.record().clone();
    assert_eq!(fixture.inventory.user_api_keys(owner.id).await.unwrap(), records);
    assert_eq!(fixture.inventory.user_api_keys(other.id).await.unwrap(), [others]);
    fixture.inventory.delete_user_api_key(records[1].id).await.unwrap();
    records.remove(1);
    assert_eq!(fixture.inventory.user_api_keys(owner.id).await.unwrap(), records);
}

#[tokio::test]
async fn a_key_that_is_unknown_is_not_found_by_anything() {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let daemons = fixture.daemon_key(|_| {}).await;
    for unknown in [id(3), owner.id, daemons.record().id] {
        let expected = not_found(Entity::UserApiKey, unknown);
        let inventory = &fixture.inventory;
        assert_eq!(refusal(inventory.user_api_key(unknown).await), expected);
        assert_eq!(fixture.refusal(inventory.set_user_api_key_enabled(unknown, false)).await, expected);
        assert_eq!(fixture.refusal(inventory.delete_user_api_key(unknown)).await, expected);
        let caller = in_person(&owner);
        assert_eq!(fixture.refusal(inventory.delete_user_api_key_as(&caller, unknown)).await, expected);
    }
    let unknown = refusal(fixture.inventory.user_api_keys(id(3)).await);
    assert_eq!(unknown, not_found(Entity::User, id(3)));
}

#[tokio::test]
async fn a_key_is_switched_off_and_on_and_stays_the_same_otherwise() {
    let fixture = Fixture::new().await;
    let (_, issued) = full_key(&fixture).await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let key = issued.record();
    for is_enabled in [false, false, true, true] {
        let expected = UserApiKey { is_enabled, updated_at: now, ..key.clone() };
        let changed = fixture.inventory.set_user_api_key_enabled(key.id, is_enabled).await.unwrap();
        assert_eq!(changed, expected);
        assert_eq!(fixture.inventory.user_api_key(key.id).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_key_that_is_switched_off_is_refused_until_it_is_switched_on() {
    let fixture = Fixture::new().await;
    let (owner, issued) = full_key(&fixture).await;
    for _ in 0..2 {
        let caller = fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
        assert_eq!(caller.user_id(), owner.id);
        fixture.inventory.set_user_api_key_enabled(issued.record().id, false).await.unwrap();
        let refused = fixture.inventory.authenticate_user_key(issued.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::UserApiKey });
        fixture.inventory.set_user_api_key_enabled(issued.record().id, true).await.unwrap();
    }
}

/// Deletes a key in one of several ways, and asserts that nothing of it is left.
async fn assert_deletes(delete: impl AsyncFn(&Fixture, &User, Uuid)) {
    let fixture = Fixture::new().await;
    let owner = fixture.owner().await;
    let other = fixture.user_key(&owner, |new| new.tags = fixture.tags.to_vec()).await;
    fixture.inventory.authenticate_user_key(other.plaintext()).await.unwrap();
    settle().await;
    let before = fixture.contents().await;
    let issued = fixture.user_key(&owner, |new| new.tags = fixture.tags.to_vec()).await;
    fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    settle().await;
    let key = issued.record().id;
    assert_eq!(fixture.contents().await.len(), before.len() + 3, "the key, its secret and its use");
    delete(&fixture, &owner, key).await;
    assert_eq!(fixture.contents().await, before);
    assert_eq!(fixture.mentioning(key).await, []);
    let refused = fixture.inventory.authenticate_user_key(issued.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::NotAuthenticated);
    let unknown = not_found(Entity::UserApiKey, key);
    assert_eq!(refusal(fixture.inventory.delete_user_api_key(key).await), unknown);
    let again = fixture.inventory.delete_user_api_key_as(&in_person(&owner), key).await;
    assert_eq!(refusal(again), unknown);
}

#[tokio::test]
async fn a_deleted_key_is_refused_and_nothing_of_it_is_left() {
    assert_deletes(async |fixture, _, key| fixture.inventory.delete_user_api_key(key).await.unwrap()).await;
    assert_deletes(async |fixture, owner, key| {
        fixture.inventory.delete_user_api_key_as(&in_person(owner), key).await.unwrap();
    })
    .await;
    // A caller supplied by the host application counts as a user session too.
    assert_deletes(async |fixture, owner, key| {
        let caller = Caller::new(fixture.organization, owner.id, Permission::Viewer, Scope::only([]));
        fixture.inventory.delete_user_api_key_as(&caller, key).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn nobody_deletes_the_key_of_another() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let user = fixture.user("a@example.net", Permission::Viewer, &[]).await;
    let key = fixture.user_key(&user, |_| {}).await.record().id;
    let owner = fixture.owner().await;
    let namesake = Caller::new(foreign.organization, user.id, Permission::Owner, Scope::all());
    for caller in [in_person(&owner), namesake] {
        let attempt = fixture.inventory.delete_user_api_key_as(&caller, key);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::UserApiKey, key));
    }
}

#[tokio::test]
async fn a_key_deletes_no_key() {
    let fixture = Fixture::new().await;
    let (owner, issued) = full_key(&fixture).await;
    let caller = through_a_key(&owner);
    for key in [issued.record().id, id(3)] {
        let attempt = fixture.inventory.delete_user_api_key_as(&caller, key);
        assert_eq!(fixture.refusal(attempt).await, ErrorKind::UserContextRequired);
    }
}

#[tokio::test]
async fn of_two_who_delete_a_key_at_once_one_finds_it_gone() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await,
        async |inventory, (_, issued)| inventory.delete_user_api_key(issued.record().id).await.unwrap(),
        async |inventory, (owner, issued)| {
            inventory.delete_user_api_key_as(&in_person(owner), issued.record().id).await
        },
        async |fixture, (_, issued), result| {
            assert_eq!(refusal(result), not_found(Entity::UserApiKey, issued.record().id));
            assert_eq!(fixture.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn a_key_that_is_deleted_while_switched_does_not_come_back() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await,
        async |inventory, (_, issued)| inventory.delete_user_api_key(issued.record().id).await.unwrap(),
        async |inventory, (_, issued)| {
            inventory.set_user_api_key_enabled(issued.record().id, true).await.map(drop)
        },
        async |fixture, (_, issued), result| {
            if let Err(error) = result {
                assert_eq!(*error.kind(), not_found(Entity::UserApiKey, issued.record().id));
            }
            assert_eq!(fixture.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}
