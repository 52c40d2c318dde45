//! Creation of users, and their rights.

use std::time::Duration;

use toposcope::access::Scope;
use toposcope::inventory::{Entity, ErrorKind, Inventory, NewUser, Problem};
use toposcope::model::{Permission, User};
use uuid::Uuid;

use crate::support::{
    Fixture, LEVELS, already_exists, at_every_call, id, invalid, not_found, reference_invalid, refusal, time,
};

impl Fixture {
    fn new_user(&self, email: &str) -> NewUser {
        NewUser::new(self.organization, email, Permission::Member)
    }
}

#[tokio::test]
async fn a_user_is_found_as_created_with_the_address_in_lower_case() {
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
async fn an_address_that_is_none_is_refused_and_nothing_is_stored() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits();
    let mut too_long = "m@".to_owned();
    too_long.push_str(&"d".repeat(253));
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
        let refused = refusal(fixture.inventory.create_user(fixture.new_user(email)).await);
        assert_eq!(refused, invalid("email", problem), "{email:?}");
    }
    assert_eq!(fixture.commits(), commits);
    too_long.pop();
    fixture.inventory.create_user(fixture.new_user(&too_long)).await.unwrap();
}

#[tokio::test]
async fn an_address_is_taken_in_every_case_and_in_every_organization() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    fixture.inventory.create_user(fixture.new_user("Owner@Example.net")).await.unwrap();
    let commits = fixture.commits();
    for email in ["owner@example.net", "OWNER@EXAMPLE.NET", " oWnEr@eXaMpLe.NeT "] {
        for organization in [fixture.organization, foreign.organization] {
            let mut new = NewUser::new(organization, email, Permission::Owner);
            new.password = Some("correct horse".to_owned());
            let name = "owner@example.net".to_owned();
            let taken = already_exists(Entity::User, name);
            assert_eq!(refusal(fixture.inventory.create_user(new).await), taken);
        }
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn of_users_who_come_at_once_with_one_address_one_gets_it() {
    let fixture = Fixture::new().await;
    let tasks = (0..16).map(|number| {
        let inventory = fixture.inventory.clone();
        let email = if number % 2 == 0 { "a@example.net" } else { "A@EXAMPLE.NET" };
        let new = fixture.new_user(email);
        tokio::spawn(async move { inventory.create_user(new).await })
    });
    let mut created = 0;
    for task in tasks.collect::<Vec<_>>() {
        match task.await.unwrap() {
            Ok(_) => created += 1,
            Err(error) => assert!(matches!(error.kind(), ErrorKind::AlreadyExists { .. }), "{error}"),
        }
    }
    assert_eq!(created, 1);
}

#[tokio::test]
async fn a_password_has_ten_to_a_thousand_characters() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits();
    for (length, problem) in [
        (0, Problem::MinLength { min: 10 }),
        (9, Problem::MinLength { min: 10 }),
        (1001, Problem::MaxLength { max: 1000 }),
    ] {
        let mut new = fixture.new_user("a@example.net");
        // Characters, not bytes.
        new.password = Some("🦀".repeat(length));
        assert_eq!(refusal(fixture.inventory.create_user(new).await), invalid("password", problem));
    }
    assert_eq!(fixture.commits(), commits, "nothing of a refused user stays, so the address is free");
    for (email, length) in [("a@example.net", 10), ("b@example.net", 1000)] {
        let mut new = fixture.new_user(email);
        new.password = Some("🦀".repeat(length));
        fixture.inventory.create_user(new).await.unwrap();
    }
}

#[tokio::test]
async fn networks_granted_are_the_organizations_own() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let commits = fixture.commits();
    for bad in [foreign.network, id(7), fixture.organization] {
        let mut new = fixture.new_user("a@example.net");
        new.network_ids = vec![fixture.network, bad];
        let field = "network_ids.1".to_owned();
        let refused = refusal(fixture.inventory.create_user(new).await);
        assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Network, field });
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn a_user_of_an_unknown_organization_is_refused() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits();
    let mut new = NewUser::new(id(9), "a@example.net", Permission::Viewer);
    new.password = Some("correct horse".to_owned());
    let refused = refusal(fixture.inventory.create_user(new).await);
    assert_eq!(refused, not_found(Entity::Organization, id(9)));
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn users_are_listed_by_age_for_their_organization_alone() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
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
async fn a_user_gets_another_level_and_other_networks_and_stays_the_same_otherwise() {
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
async fn a_network_that_is_granted_twice_is_granted_once() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Member, &[]).await;
    let networks = vec![fixture.other_network, fixture.network, fixture.other_network];
    let changed = fixture.inventory.set_user_rights(user.id, Permission::Member, networks).await.unwrap();
    assert_eq!(changed.network_ids, [fixture.other_network, fixture.network]);
}

#[tokio::test]
async fn another_level_and_other_networks_count_from_the_next_request_on() {
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
        let present = fixture.inventory.authenticate_session(session.plaintext()).await.unwrap();
        let scope = Scope::granted(level, networks);
        assert_eq!((present.permission(), present.scope()), (level, &scope));
        let by_key = fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        assert_eq!(by_key.permission(), level.min(Permission::Admin));
        assert_eq!(by_key.scope(), &scope.intersect(&Scope::only(both)));
    }
}

#[tokio::test]
async fn networks_that_are_granted_later_are_the_organizations_own_as_well() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let user = fixture.user("a@example.net", Permission::Viewer, &[fixture.network]).await;
    for bad in [foreign.network, id(7), fixture.organization, user.id] {
        // An Owner needs no grants, but a foreign network is refused for an Owner too.
        for level in LEVELS {
            let networks = vec![fixture.other_network, fixture.other_network, bad];
            let attempt = fixture.inventory.set_user_rights(user.id, level, networks);
            let expected = reference_invalid(Entity::Network, "network_ids.2");
            assert_eq!(fixture.refusal(attempt).await, expected);
        }
    }
}

#[tokio::test]
async fn an_unknown_user_gets_no_rights() {
    let fixture = Fixture::new().await;
    for unknown in [id(3), fixture.organization] {
        let attempt = fixture.inventory.set_user_rights(unknown, Permission::Viewer, vec![id(7)]);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::User, unknown));
    }
}

#[tokio::test]
async fn another_level_leaves_a_disabled_user_disabled() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let key = fixture.user_key(&user, |_| {}).await;
    fixture.inventory.set_user_enabled(user.id, false).await.unwrap();
    fixture.inventory.set_user_rights(user.id, Permission::Admin, vec![]).await.unwrap();
    let refused = fixture.inventory.authenticate_user_key(key.plaintext()).await;
    assert_eq!(refusal(refused), ErrorKind::Disabled { entity: Entity::User });
    assert!(!fixture.inventory.is_user_enabled(user.id).await.unwrap());
}

/// Two concurrent updates of a user must both take effect.
async fn assert_both_are_there<I>(
    interfere: impl AsyncFn(&Inventory, &Uuid) -> I,
    check: impl AsyncFn(&Fixture, Uuid),
) {
    at_every_call(
        async |fixture: &Fixture| fixture.user("a@example.net", Permission::Viewer, &[]).await.id,
        interfere,
        async |inventory, user| inventory.set_user_rights(*user, Permission::Admin, vec![]).await,
        async |fixture, user, result| {
            assert_eq!(result.unwrap().permissions, Permission::Admin);
            assert_eq!(fixture.inventory.user(*user).await.unwrap().permissions, Permission::Admin);
            check(fixture, *user).await;
        },
    )
    .await;
}

#[tokio::test]
async fn of_two_changes_of_a_user_at_once_none_is_lost() {
    assert_both_are_there(
        async |inventory, user| inventory.set_user_enabled(*user, false).await.unwrap(),
        async |fixture, user| {
            assert!(!fixture.inventory.is_user_enabled(user).await.unwrap());
        },
    )
    .await;
    assert_both_are_there(
        async |inventory, user| {
            inventory.set_user_password(*user, Some("battery staple".to_owned())).await.unwrap()
        },
        async |fixture, user| {
            let email = fixture.inventory.user(user).await.unwrap().email;
            fixture.inventory.log_in(&email, "battery staple".to_owned()).await.unwrap();
        },
    )
    .await;
}

#[tokio::test]
async fn a_user_who_is_deleted_while_given_rights_does_not_come_back() {
    at_every_call(
        async |fixture: &Fixture| fixture.user("a@example.net", Permission::Viewer, &[]).await.id,
        async |inventory, user| inventory.delete_user(*user).await.unwrap(),
        async |inventory, user| inventory.set_user_rights(*user, Permission::Admin, vec![]).await,
        async |fixture, user, result| {
            assert_eq!(refusal(result), not_found(Entity::User, *user));
            assert_eq!(fixture.mentioning(*user).await, []);
        },
    )
    .await;
}
