use toposcope::inventory::{Entity, ErrorKind, NewUser, Problem};
use toposcope::model::Permission;

use crate::support::{Fixture, already_exists, id, invalid, not_found, refusal, time};

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
