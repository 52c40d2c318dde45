//! Creation of users, and their rights.

use std::time::Duration;

use toposcope::access::Scope;
use toposcope::inventory::{Entity, ErrorKind, NewUser, Problem};
use toposcope::model::{Permission, User};

use crate::support::{
    Fixture, LEVELS, already_exists, concurrently, id, invalid, not_found, reference_invalid, refusal, time,
};

impl Fixture {
    fn new_user(&self, email: &str) -> NewUser {
        NewUser::new(self.organization, email, Permission::Member)
    }
}

#[tokio::test]
async fn new_user_has_the_address_in_lower_case() {
    let fixture = Fixture::new().await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let mut new = fixture.new_user(" Jürgen.MÜLLER@Example.NET\n");
    new.network_ids = vec![fixture.other_network, fixture.network];
    new.password = Some("correct horse".to_owned());
    let user = fixture.inventory.create_user(new).await.unwrap();
    assert_eq!(user.email, "jürgen.müller@example.net");
    assert_eq!(user.network_ids, [fixture.other_network, fixture.network]);
    assert_eq!((user.organization_id, user.permissions), (fixture.organization, Permission::Member));
    assert_eq!((user.created_at, user.updated_at), (now, now));
    assert_eq!(fixture.inventory.user(user.id).await.unwrap(), user);
}

#[tokio::test]
async fn invalid_new_user_is_refused() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let refused = async |adapt: &dyn Fn(&mut NewUser)| {
        let mut new = fixture.new_user("a@example.net");
        adapt(&mut new);
        fixture.refusal(fixture.inventory.create_user(new)).await
    };
    let too_long = format!("m@{}", "d".repeat(253));
    for (email, problem) in [
        ("", Problem::Empty),
        (" \t", Problem::Empty),
        ("a@", Problem::MinLength { min: 3 }),
        ("nobody", Problem::InvalidFormat),
        ("@example.net", Problem::InvalidFormat),
        ("nobody@", Problem::InvalidFormat),
        ("no body@example.net", Problem::InvalidFormat),
        ("nobody@example\u{a0}.net", Problem::InvalidFormat),
        (too_long.as_str(), Problem::MaxLength { max: 254 }),
    ] {
        let kind = refused(&|new| new.email = email.to_owned()).await;
        assert_eq!(kind, invalid("email", problem), "{email:?}");
    }
    // The length is counted in characters, not bytes.
    for (length, problem) in [
        (0, Problem::MinLength { min: 10 }),
        (9, Problem::MinLength { min: 10 }),
        (1001, Problem::MaxLength { max: 1000 }),
    ] {
        let kind = refused(&|new| new.password = Some("🦀".repeat(length))).await;
        assert_eq!(kind, invalid("password", problem), "{length}");
    }
    for bad in [foreign.network, id(7), fixture.organization] {
        let kind = refused(&|new| new.network_ids = vec![fixture.network, bad]).await;
        assert_eq!(kind, reference_invalid(Entity::Network, "network_ids.1"));
    }
    let kind = refused(&|new| new.organization_id = id(9)).await;
    assert_eq!(kind, not_found(Entity::Organization, id(9)));
    for (email, length) in [("a@example.net", 10), (&too_long[..254], 1000)] {
        let mut new = fixture.new_user(email);
        new.password = Some("🦀".repeat(length));
        fixture.inventory.create_user(new).await.unwrap();
    }
}

#[tokio::test]
async fn address_is_taken_in_every_case_variant_and_in_every_organization() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.inventory.create_user(fixture.new_user("Owner@Example.net")).await.unwrap();
    let commits = fixture.commits();
    for email in ["owner@example.net", "OWNER@EXAMPLE.NET", " oWnEr@eXaMpLe.NeT "] {
        for organization in [fixture.organization, foreign.organization] {
            let mut new = NewUser::new(organization, email, Permission::Owner);
            new.password = Some("correct horse".to_owned());
            assert_eq!(
                refusal(fixture.inventory.create_user(new).await),
                already_exists(Entity::User, "owner@example.net")
            );
        }
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn one_of_many_concurrent_users_with_one_address_is_created() {
    let fixture = Fixture::new().await;
    let users = concurrently(&fixture, 16, |fixture, number| async move {
        let email = if number % 2 == 0 { "a@example.net" } else { "A@EXAMPLE.NET" };
        fixture.inventory.create_user(fixture.new_user(email)).await
    });
    let refused: Vec<_> = users.await.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 15);
    for error in refused {
        assert!(matches!(error.kind(), ErrorKind::AlreadyExists { .. }), "{error}");
    }
}

#[tokio::test]
async fn users_are_listed_by_age_for_their_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mut users = Vec::new();
    for email in ["z@example.net", "a@example.net", "m@example.net"] {
        fixture.clock.advance(Duration::from_micros(1));
        users.push(fixture.user(email, Permission::Viewer, &[]).await);
    }
    let theirs = NewUser::new(foreign.organization, "theirs@example.net", Permission::Owner);
    let theirs = fixture.inventory.create_user(theirs).await.unwrap();
    assert_eq!(fixture.inventory.users(fixture.organization).await.unwrap(), users);
    assert_eq!(fixture.inventory.users(foreign.organization).await.unwrap(), [theirs]);
    assert!(fixture.inventory.users(id(9)).await.unwrap().is_empty());
    fixture.inventory.delete_user(users[1].id).await.unwrap();
    users.remove(1);
    assert_eq!(fixture.inventory.users(fixture.organization).await.unwrap(), users);
}

#[tokio::test]
async fn change_of_rights_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Viewer, &[fixture.network]).await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    for level in LEVELS {
        for networks in [vec![], vec![fixture.other_network], vec![fixture.other_network, fixture.network]] {
            let changed = fixture.inventory.set_user_rights(user.id, level, networks.clone()).await.unwrap();
            let expected =
                User { permissions: level, network_ids: networks, updated_at: now, ..user.clone() };
            assert_eq!(changed, expected);
            assert_eq!(fixture.inventory.user(user.id).await.unwrap(), expected);
        }
    }
    fixture.log_in(&user).await;
}

#[tokio::test]
async fn network_that_is_granted_twice_is_granted_once() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Member, &[]).await;
    let networks = vec![fixture.other_network, fixture.network, fixture.other_network];
    let changed = fixture.inventory.set_user_rights(user.id, Permission::Member, networks).await.unwrap();
    assert_eq!(changed.network_ids, [fixture.other_network, fixture.network]);
}

#[tokio::test]
async fn changed_rights_apply_from_the_next_request_on() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Admin, &[]).await;
    let both = [fixture.network, fixture.other_network];
    let key = fixture.user_key(&user, |new| new.network_ids = both.to_vec()).await;
    let session = fixture.log_in(&user).await;
    for (level, networks) in [
        (Permission::Viewer, vec![fixture.network]),
        (Permission::Owner, vec![]),
        (Permission::Member, vec![]),
        (Permission::Member, vec![fixture.other_network]),
    ] {
        fixture.inventory.set_user_rights(user.id, level, networks.clone()).await.unwrap();
        let present = fixture.by_session(&session).await.unwrap();
        let scope = Scope::granted(level, networks);
        assert_eq!((present.permission(), present.scope()), (level, &scope));
        let by_key = fixture.by_key(&key).await.unwrap();
        assert_eq!(by_key.permission(), level.min(Permission::Admin));
        assert_eq!(by_key.scope(), &scope.intersect(&Scope::only(both)));
    }
}

#[tokio::test]
async fn network_of_another_organization_is_not_granted_to_an_existing_user() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let user = fixture.user("a@example.net", Permission::Viewer, &[fixture.network]).await;
    for bad in [foreign.network, id(7), fixture.organization, user.id] {
        // An Owner needs no grants, but a foreign network is refused for an Owner too.
        for level in LEVELS {
            let networks = vec![fixture.other_network, fixture.other_network, bad];
            let attempt = fixture.inventory.set_user_rights(user.id, level, networks);
            assert_eq!(fixture.refusal(attempt).await, reference_invalid(Entity::Network, "network_ids.2"));
        }
    }
}

#[tokio::test]
async fn change_of_rights_leaves_a_disabled_user_disabled() {
    let (fixture, user) = Fixture::with_owner().await;
    let key = fixture.user_key(&user, |_| {}).await;
    fixture.inventory.set_user_enabled(user.id, false).await.unwrap();
    fixture.inventory.set_user_rights(user.id, Permission::Admin, vec![]).await.unwrap();
    assert_eq!(refusal(fixture.by_key(&key).await), ErrorKind::Disabled { entity: Entity::User });
    assert!(!fixture.inventory.is_user_enabled(user.id).await.unwrap());
}
