use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind, NewUser, NewUserApiKey, Problem};
use toposcope::model::{Permission, User};

use crate::support::{LEVELS, World, id, invalid, refusal, time};

/// A user with the first of both networks.
async fn user(world: &World, permission: Permission) -> User {
    let mut new = NewUser::new(world.organization, format!("{permission}@example.net"), permission);
    new.network_ids = vec![world.network];
    world.inventory.create_user(new).await.unwrap()
}

#[tokio::test]
async fn a_key_is_recorded_as_asked_for_with_the_key_itself_masked() {
    let world = World::new().await;
    let owner = user(&world, Permission::Owner).await;
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    let mut new = NewUserApiKey::new(owner.id, " laptop ", Permission::Member);
    new.network_ids = vec![world.other_network, world.network];
    new.tags = world.tags.to_vec();
    new.expires_at = Some(time("2026-08-15T00:00:00.000001Z"));
    new.is_enabled = false;
    let issued = world.inventory.create_user_api_key(new).await.unwrap();
    let (record, text) = (issued.record(), issued.plaintext());
    assert_eq!(record.name, "laptop");
    assert_eq!((record.user_id, record.organization_id), (owner.id, world.organization));
    assert_eq!(record.network_ids, [world.other_network, world.network]);
    assert_eq!((record.tags.as_slice(), record.permissions), (&world.tags[..], Permission::Member));
    assert_eq!((record.created_at, record.updated_at, record.last_used), (now, now, None));
    assert_eq!(record.expires_at, Some(time("2026-08-15T00:00:00.000001Z")));
    assert!(!record.is_enabled);
    assert_eq!(text.len(), "topo_u_".len() + 38);
    assert!(text.starts_with("topo_u_"));
    assert_eq!(record.key, format!("topo_u_…{}", &text[text.len() - 4..]));
}

#[tokio::test]
async fn a_key_works_without_end_and_reaches_no_network_unless_told_otherwise() {
    let world = World::new().await;
    let owner = user(&world, Permission::Owner).await;
    let new = NewUserApiKey::new(owner.id, "plain", Permission::Owner);
    let issued = world.inventory.create_user_api_key(new).await.unwrap();
    assert!(issued.record().is_enabled);
    assert_eq!(issued.record().expires_at, None);
    world.clock.advance(Duration::from_secs(100 * 366 * 24 * 3600));
    let caller = world.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(caller.scope().networks(), Some(&[][..]));
}

#[tokio::test]
async fn no_two_keys_are_the_same() {
    let world = World::new().await;
    let owner = user(&world, Permission::Owner).await;
    let mut texts = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..20 {
        let new = NewUserApiKey::new(owner.id, "same name", Permission::Viewer);
        let issued = world.inventory.create_user_api_key(new).await.unwrap();
        texts.push(issued.plaintext().to_owned());
        ids.push(issued.record().id);
    }
    texts.sort_unstable();
    texts.dedup();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((texts.len(), ids.len()), (20, 20));
}

#[tokio::test]
async fn a_name_has_one_to_a_hundred_characters() {
    let world = World::new().await;
    let owner = user(&world, Permission::Owner).await;
    let commits = world.store.commits();
    let too_long = "🦀".repeat(101);
    for (name, problem) in [
        ("", Problem::Empty),
        (" \u{2003}\t", Problem::Empty),
        (too_long.as_str(), Problem::MaxLength { max: 100 }),
    ] {
        let new = NewUserApiKey::new(owner.id, name, Permission::Viewer);
        assert_eq!(refusal(world.inventory.create_user_api_key(new).await), invalid("name", problem));
    }
    assert_eq!(world.store.commits(), commits);
    let new = NewUserApiKey::new(owner.id, "🦀".repeat(100), Permission::Viewer);
    world.inventory.create_user_api_key(new).await.unwrap();
}

#[tokio::test]
async fn a_key_does_not_end_now_or_earlier() {
    let world = World::new().await;
    let owner = user(&world, Permission::Owner).await;
    let commits = world.store.commits();
    let now = time("2026-08-14T12:00:00.5Z");
    world.clock.set(now);
    for end in ["2026-08-14T12:00:00.5Z", "2026-08-14T12:00:00.499999Z", "0000-01-01T00:00:00Z"] {
        let mut new = NewUserApiKey::new(owner.id, "over", Permission::Viewer);
        new.expires_at = Some(time(end));
        let refused = refusal(world.inventory.create_user_api_key(new).await);
        assert_eq!(refused, invalid("expires_at", Problem::NotInFuture { now }));
    }
    assert_eq!(world.store.commits(), commits);
}

#[tokio::test]
async fn a_key_has_at_most_its_owners_level() {
    let world = World::new().await;
    for of_user in LEVELS {
        let user = user(&world, of_user).await;
        for of_key in LEVELS {
            let commits = world.store.commits();
            let new = NewUserApiKey::new(user.id, "level", of_key);
            let result = world.inventory.create_user_api_key(new).await;
            if of_key <= of_user {
                assert_eq!(result.unwrap().record().permissions, of_key);
            } else {
                assert_eq!(refusal(result), ErrorKind::PermissionDenied);
                assert_eq!(world.store.commits(), commits);
            }
        }
    }
}

#[tokio::test]
async fn a_key_reaches_only_networks_that_its_owner_can_access() {
    let world = World::new().await;
    for level in LEVELS {
        let user = user(&world, level).await;
        let commits = world.store.commits();
        let mut new = NewUserApiKey::new(user.id, "reach", Permission::Viewer);
        new.network_ids = vec![world.network, world.other_network];
        let result = world.inventory.create_user_api_key(new).await;
        if level.sees_every_network() {
            assert_eq!(result.unwrap().record().network_ids, [world.network, world.other_network]);
        } else {
            let denied = ErrorKind::AccessDenied { entity: Entity::Network, id: world.other_network };
            assert_eq!(refusal(result), denied);
            assert_eq!(world.store.commits(), commits);
        }
    }
}

#[tokio::test]
async fn networks_and_tags_are_the_organizations_own() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    for level in [Permission::Owner, Permission::Viewer] {
        let user = user(&world, level).await;
        let commits = world.store.commits();
        for bad in [foreign.network, id(7)] {
            let mut new = NewUserApiKey::new(user.id, "networks", Permission::Viewer);
            new.network_ids = vec![world.network, bad];
            let field = "network_ids.1".to_owned();
            let refused = refusal(world.inventory.create_user_api_key(new).await);
            assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Network, field });
        }
        for bad in [foreign.tag, id(7)] {
            let mut new = NewUserApiKey::new(user.id, "tags", Permission::Viewer);
            new.tags = vec![world.tags[0], bad];
            let field = "tags.1".to_owned();
            let refused = refusal(world.inventory.create_user_api_key(new).await);
            assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Tag, field });
        }
        assert_eq!(world.store.commits(), commits);
    }
}

#[tokio::test]
async fn a_key_of_an_unknown_user_is_refused() {
    let world = World::new().await;
    let commits = world.store.commits();
    let new = NewUserApiKey::new(id(3), "nobody's", Permission::Viewer);
    let refused = refusal(world.inventory.create_user_api_key(new).await);
    assert_eq!(refused, ErrorKind::NotFound { entity: Entity::User, id: id(3) });
    assert_eq!(world.store.commits(), commits);
}
