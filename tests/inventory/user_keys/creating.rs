use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind, NewUser, NewUserApiKey, Problem};
use toposcope::model::{Permission, User};

use crate::support::{Fixture, LEVELS, id, invalid, not_found, refusal, time};

/// A user with the first of both networks.
async fn user(fixture: &Fixture, permission: Permission) -> User {
    let mut new = NewUser::new(fixture.organization, format!("{permission}@example.net"), permission);
    new.network_ids = vec![fixture.network];
    fixture.inventory.create_user(new).await.unwrap()
}

#[tokio::test]
async fn a_key_is_recorded_as_asked_for_with_the_key_itself_masked() {
    let fixture = Fixture::new().await;
    let owner = user(&fixture, Permission::Owner).await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let mut new = NewUserApiKey::new(owner.id, " laptop ", Permission::Member);
    new.network_ids = vec![fixture.other_network, fixture.network];
    new.tags = fixture.tags.to_vec();
    new.expires_at = Some(time("2026-08-15T00:00:00.000001Z"));
    new.is_enabled = false;
    let issued = fixture.inventory.create_user_api_key(new).await.unwrap();
    let (record, text) = (issued.record(), issued.plaintext());
    assert_eq!(record.name, "laptop");
    assert_eq!((record.user_id, record.organization_id), (owner.id, fixture.organization));
    assert_eq!(record.network_ids, [fixture.other_network, fixture.network]);
    assert_eq!((record.tags.as_slice(), record.permissions), (&fixture.tags[..], Permission::Member));
    assert_eq!((record.created_at, record.updated_at, record.last_used), (now, now, None));
    assert_eq!(record.expires_at, Some(time("2026-08-15T00:00:00.000001Z")));
    assert!(!record.is_enabled);
    assert_eq!(text.len(), "topo_u_".len() + 38);
    assert!(text.starts_with("topo_u_"));
    assert_eq!(record.key, format!("topo_u_…{}", &text[text.len() - 4..]));
}

#[tokio::test]
async fn a_key_works_without_end_and_reaches_no_network_unless_told_otherwise() {
    let fixture = Fixture::new().await;
    let owner = user(&fixture, Permission::Owner).await;
    let new = NewUserApiKey::new(owner.id, "plain", Permission::Owner);
    let issued = fixture.inventory.create_user_api_key(new).await.unwrap();
    assert!(issued.record().is_enabled);
    assert_eq!(issued.record().expires_at, None);
    fixture.clock.advance(Duration::from_secs(100 * 366 * 24 * 3600));
    let caller = fixture.inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(caller.scope().networks(), Some(&[][..]));
}

#[tokio::test]
async fn no_two_keys_are_the_same() {
    let fixture = Fixture::new().await;
    let owner = user(&fixture, Permission::Owner).await;
    let mut texts = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..20 {
        let new = NewUserApiKey::new(owner.id, "same name", Permission::Viewer);
        let issued = fixture.inventory.create_user_api_key(new).await.unwrap();
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
    let fixture = Fixture::new().await;
    let owner = user(&fixture, Permission::Owner).await;
    let commits = fixture.commits();
    let too_long = "🦀".repeat(101);
    for (name, problem) in [
        ("", Problem::Empty),
        (" \u{2003}\t", Problem::Empty),
        (too_long.as_str(), Problem::MaxLength { max: 100 }),
    ] {
        let new = NewUserApiKey::new(owner.id, name, Permission::Viewer);
        assert_eq!(refusal(fixture.inventory.create_user_api_key(new).await), invalid("name", problem));
    }
    assert_eq!(fixture.commits(), commits);
    let new = NewUserApiKey::new(owner.id, "🦀".repeat(100), Permission::Viewer);
    fixture.inventory.create_user_api_key(new).await.unwrap();
}

#[tokio::test]
async fn a_key_does_not_end_now_or_earlier() {
    let fixture = Fixture::new().await;
    let owner = user(&fixture, Permission::Owner).await;
    let commits = fixture.commits();
    let now = time("2026-08-14T12:00:00.5Z");
    fixture.clock.set(now);
    for end in ["2026-08-14T12:00:00.5Z", "2026-08-14T12:00:00.499999Z", "0000-01-01T00:00:00Z"] {
        let mut new = NewUserApiKey::new(owner.id, "over", Permission::Viewer);
        new.expires_at = Some(time(end));
        let refused = refusal(fixture.inventory.create_user_api_key(new).await);
        assert_eq!(refused, invalid("expires_at", Problem::NotInFuture { now }));
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn a_key_has_at_most_its_owners_level() {
    let fixture = Fixture::new().await;
    for of_user in LEVELS {
        let user = user(&fixture, of_user).await;
        for of_key in LEVELS {
            let commits = fixture.commits();
            let new = NewUserApiKey::new(user.id, "level", of_key);
            let result = fixture.inventory.create_user_api_key(new).await;
            if of_key <= of_user {
                assert_eq!(result.unwrap().record().permissions, of_key);
            } else {
                assert_eq!(refusal(result), ErrorKind::PermissionDenied);
                assert_eq!(fixture.commits(), commits);
            }
        }
    }
}

#[tokio::test]
async fn a_key_reaches_only_networks_that_its_owner_can_access() {
    let fixture = Fixture::new().await;
    for level in LEVELS {
        let user = user(&fixture, level).await;
        let commits = fixture.commits();
        let mut new = NewUserApiKey::new(user.id, "reach", Permission::Viewer);
        new.network_ids = vec![fixture.network, fixture.other_network];
        let result = fixture.inventory.create_user_api_key(new).await;
        if level.sees_every_network() {
            assert_eq!(result.unwrap().record().network_ids, [fixture.network, fixture.other_network]);
        } else {
            let denied = ErrorKind::AccessDenied { entity: Entity::Network, id: fixture.other_network };
            assert_eq!(refusal(result), denied);
            assert_eq!(fixture.commits(), commits);
        }
    }
}

#[tokio::test]
async fn networks_and_tags_are_the_organizations_own() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    for level in [Permission::Owner, Permission::Viewer] {
        let user = user(&fixture, level).await;
        let commits = fixture.commits();
        for bad in [foreign.network, id(7)] {
            let mut new = NewUserApiKey::new(user.id, "networks", Permission::Viewer);
            new.network_ids = vec![fixture.network, bad];
            let field = "network_ids.1".to_owned();
            let refused = refusal(fixture.inventory.create_user_api_key(new).await);
            assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Network, field });
        }
        for bad in [foreign.tag, id(7)] {
            let mut new = NewUserApiKey::new(user.id, "tags", Permission::Viewer);
            new.tags = vec![fixture.tags[0], bad];
            let field = "tags.1".to_owned();
            let refused = refusal(fixture.inventory.create_user_api_key(new).await);
            assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Tag, field });
        }
        assert_eq!(fixture.commits(), commits);
    }
}

#[tokio::test]
async fn a_key_of_an_unknown_user_is_refused() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits();
    let new = NewUserApiKey::new(id(3), "nobody's", Permission::Viewer);
    let refused = refusal(fixture.inventory.create_user_api_key(new).await);
    assert_eq!(refused, not_found(Entity::User, id(3)));
    assert_eq!(fixture.commits(), commits);
}
