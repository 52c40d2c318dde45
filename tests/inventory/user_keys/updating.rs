//! Updates of a key by its user.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, IssuedKey, UserApiKeyUpdate};
use toposcope::model::{Permission, User, UserApiKey};

use crate::support::{LEVELS, NOW, World, at_every_moment, in_person, not_found, refusal, time};

const LATER: &str = "2026-08-15T00:00:00Z";

/// An Admin's key with a value in every field.
async fn full_key(world: &World) -> (User, IssuedKey<UserApiKey>) {
    let owner = world.user("a@example.net", Permission::Admin, &[]).await;
    let issued = world.user_key(&owner, |new| {
        new.network_ids = vec![world.other_network, world.network];
        new.tags = world.tags.to_vec();
        new.expires_at = Some(time("2027-01-01T00:00:00Z"));
        new.permissions = Permission::Member;
    });
    let issued = issued.await;
    (owner, issued)
}

fn update_of(key: &UserApiKey) -> UserApiKeyUpdate {
    UserApiKeyUpdate::new(key.organization_id, key.user_id, key.name.clone(), key.tags.clone())
}

/// Updates a key with all fields and asserts that the answer and a read show the expected key.
async fn assert_becomes(
    adapt: impl Fn(&World, &mut UserApiKeyUpdate),
    apply_expected: impl Fn(&World, &mut UserApiKey),
) {
    let world = World::new().await;
    let (owner, issued) = full_key(&world).await;
    world.clock.set(time(LATER));
    let mut update = update_of(issued.record());
    adapt(&world, &mut update);
    let mut expected = UserApiKey { updated_at: time(LATER), ..issued.record().clone() };
    apply_expected(&world, &mut expected);
    let id = expected.id;
    let changed = world.inventory.update_user_api_key_as(&in_person(&owner), id, &update).await.unwrap();
    assert_eq!(changed, expected);
    assert_eq!(world.inventory.user_api_key(id).await.unwrap(), expected);
}

#[tokio::test]
async fn what_an_update_leaves_out_stays_as_it_is() {
    assert_becomes(|_, _| {}, |_, _| {}).await;
}

#[tokio::test]
async fn each_field_of_a_key_is_changed_alone() {
    assert_becomes(|_, update| update.name = " phone\n".to_owned(), |_, key| key.name = "phone".to_owned())
        .await;
    assert_becomes(|_, update| update.name = "🦀".repeat(100), |_, key| key.name = "🦀".repeat(100)).await;
    assert_becomes(|_, update| update.is_enabled = Some(false), |_, key| key.is_enabled = false).await;
    for level in [Permission::Viewer, Permission::Member, Permission::Admin] {
        assert_becomes(
            move |_, update| update.permissions = Some(level),
            move |_, key| key.permissions = level,
        )
        .await;
    }
}

#[tokio::test]
async fn the_end_of_a_key_is_moved_also_into_the_past_or_taken_away() {
    for end in ["2026-08-14T00:00:00Z", LATER, "2026-08-15T00:00:00.000001Z", "9999-01-01T00:00:00Z"] {
        let end = Some(time(end));
        assert_becomes(move |_, update| update.expires_at = Some(end), move |_, key| key.expires_at = end)
            .await;
    }
    assert_becomes(|_, update| update.expires_at = Some(None), |_, key| key.expires_at = None).await;
}

#[tokio::test]
async fn tags_and_networks_are_replaced_as_a_whole_each_once() {
    assert_becomes(|_, update| update.tags.clear(), |_, key| key.tags.clear()).await;
    assert_becomes(|_, update| update.network_ids = Some(Vec::new()), |_, key| key.network_ids.clear()).await;
    assert_becomes(
        |world, update| {
            update.tags = vec![world.tags[1], world.tags[1]];
            update.network_ids = Some(vec![world.network, world.other_network, world.network]);
        },
        |world, key| {
            key.tags = vec![world.tags[1]];
            key.network_ids = vec![world.network, world.other_network];
        },
    )
    .await;
}

#[tokio::test]
async fn a_changed_key_acts_as_changed_from_the_next_request_on() {
    let world = World::new().await;
    let (owner, issued) = full_key(&world).await;
    let (caller, id) = (in_person(&owner), issued.record().id);
    let authenticate = async || world.inventory.authenticate_user_key(issued.plaintext()).await;
    let mut update = update_of(issued.record());
    update.permissions = Some(Permission::Viewer);
    update.network_ids = Some(vec![world.network]);
    world.inventory.update_user_api_key_as(&caller, id, &update).await.unwrap();
    let present = authenticate().await.unwrap();
    assert_eq!((present.permission(), present.scope()), (Permission::Viewer, &Scope::only([world.network])));
    update.is_enabled = Some(false);
    world.inventory.update_user_api_key_as(&caller, id, &update).await.unwrap();
    assert_eq!(refusal(authenticate().await), ErrorKind::Disabled { entity: Entity::UserApiKey });
    update.is_enabled = Some(true);
    update.expires_at = Some(Some(time(NOW)));
    world.inventory.update_user_api_key_as(&caller, id, &update).await.unwrap();
    assert_eq!(refusal(authenticate().await), ErrorKind::Expired { entity: Entity::UserApiKey });
    update.expires_at = Some(None);
    world.inventory.update_user_api_key_as(&caller, id, &update).await.unwrap();
    world.clock.advance(Duration::from_secs(1000 * 365 * 24 * 3600));
    authenticate().await.unwrap();
}

#[tokio::test]
async fn users_of_every_level_change_their_own_keys() {
    for level in LEVELS {
        let world = World::new().await;
        let user = world.user("a@example.net", level, &[world.network]).await;
        let issued = world.user_key(&user, |_| {}).await;
        let mut update = update_of(issued.record());
        update.network_ids = Some(vec![world.network]);
        update.permissions = Some(level);
        let by_session = in_person(&user);
        let by_host =
            Caller::new(user.organization_id, user.id, user.permissions, by_session.scope().clone());
        for caller in [by_session, by_host] {
            let id = issued.record().id;
            let changed = world.inventory.update_user_api_key_as(&caller, id, &update).await.unwrap();
            assert_eq!(changed.network_ids, [world.network]);
        }
    }
}

/// A user whose level was lowered may still rename an older key: its effective rights are limited by the
/// user's.
#[tokio::test]
async fn a_key_above_its_users_present_level_may_keep_it() {
    let world = World::new().await;
    let (owner, issued) = full_key(&world).await;
    let lowered = world.inventory.set_user_rights(owner.id, Permission::Viewer, vec![]).await.unwrap();
    let mut update = update_of(issued.record());
    update.name = "renamed".to_owned();
    let id = issued.record().id;
    let changed = world.inventory.update_user_api_key_as(&in_person(&lowered), id, &update).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.permissions), ("renamed", Permission::Member));
    assert_eq!(changed.network_ids, issued.record().network_ids);
    let present = world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!((present.permission(), present.scope()), (Permission::Viewer, &Scope::only([])));
}

#[tokio::test]
async fn of_two_changes_of_a_key_at_once_none_is_lost() {
    at_every_moment(
        async |world: &World| full_key(world).await,
        |inventory, (_, issued)| {
            let id = issued.record().id;
            async move {
                inventory.disable_user_api_key(id).await.unwrap();
            }
        },
        async |inventory, (owner, issued)| {
            let mut update = update_of(issued.record());
            update.name = "renamed".to_owned();
            inventory.update_user_api_key_as(&in_person(owner), issued.record().id, &update).await
        },
        async |world, (_, issued), result| {
            assert_eq!(result.unwrap().name, "renamed");
            let found = world.inventory.user_api_key(issued.record().id).await.unwrap();
            assert_eq!((found.name.as_str(), found.is_enabled), ("renamed", false));
        },
    )
    .await;
}

#[tokio::test]
async fn a_key_that_is_deleted_while_changed_does_not_come_back() {
    at_every_moment(
        async |world: &World| full_key(world).await,
        |inventory, (_, issued)| {
            let id = issued.record().id;
            async move { inventory.delete_user_api_key(id).await.unwrap() }
        },
        async |inventory, (owner, issued)| {
            let update = update_of(issued.record());
            inventory.update_user_api_key_as(&in_person(owner), issued.record().id, &update).await
        },
        async |world, (_, issued), result| {
            if let Err(error) = result {
                assert_eq!(*error.kind(), not_found(Entity::UserApiKey, issued.record().id));
            }
            assert_eq!(world.store.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}
