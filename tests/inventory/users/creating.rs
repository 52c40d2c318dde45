use toposcope::inventory::{Entity, ErrorKind, NewUser, Problem};
use toposcope::model::Permission;

use crate::support::{World, id, invalid, refusal, time};

impl World {
    fn new_user(&self, email: &str) -> NewUser {
        NewUser::new(self.organization, email, Permission::Member)
    }
}

#[tokio::test]
async fn a_user_is_found_as_created_with_the_address_in_lower_case() {
    let world = World::new().await;
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    let mut new = world.new_user(" Jürgen.MÜLLER@Example.NET\n");
    new.network_ids = vec![world.other_network, world.network];
    new.password = Some("correct horse".to_owned());
    let user = world.inventory.create_user(new).await.unwrap();
    assert_eq!(user.email, "jürgen.müller@example.net");
    assert_eq!(user.network_ids, [world.other_network, world.network]);
    assert_eq!((user.organization_id, user.permissions), (world.organization, Permission::Member));
    assert_eq!((user.created_at, user.updated_at), (now, now));
    assert_eq!(world.inventory.user(user.id).await.unwrap(), user);
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_and_nothing_is_stored() {
    let world = World::new().await;
    let commits = world.store.commits();
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
        let refused = refusal(world.inventory.create_user(world.new_user(email)).await);
        assert_eq!(refused, invalid("email", problem), "{email:?}");
    }
    assert_eq!(world.store.commits(), commits);
    too_long.pop();
    world.inventory.create_user(world.new_user(&too_long)).await.unwrap();
}

#[tokio::test]
async fn an_address_is_taken_in_every_case_and_in_every_organization() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    world.inventory.create_user(world.new_user("Owner@Example.net")).await.unwrap();
    let commits = world.store.commits();
    for email in ["owner@example.net", "OWNER@EXAMPLE.NET", " oWnEr@eXaMpLe.NeT "] {
        for organization in [world.organization, foreign.organization] {
            let mut new = NewUser::new(organization, email, Permission::Owner);
            new.password = Some("correct horse".to_owned());
            let name = "owner@example.net".to_owned();
            let taken = ErrorKind::AlreadyExists { entity: Entity::User, name };
            assert_eq!(refusal(world.inventory.create_user(new).await), taken);
        }
    }
    assert_eq!(world.store.commits(), commits);
}

#[tokio::test]
async fn of_users_who_come_at_once_with_one_address_one_gets_it() {
    let world = World::new().await;
    let tasks = (0..16).map(|number| {
        let inventory = world.inventory.clone();
        let email = if number % 2 == 0 { "a@example.net" } else { "A@EXAMPLE.NET" };
        let new = world.new_user(email);
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
    let world = World::new().await;
    let commits = world.store.commits();
    for (length, problem) in [
        (0, Problem::MinLength { min: 10 }),
        (9, Problem::MinLength { min: 10 }),
        (1001, Problem::MaxLength { max: 1000 }),
    ] {
        let mut new = world.new_user("a@example.net");
        // Characters, not bytes.
        new.password = Some("🦀".repeat(length));
        assert_eq!(refusal(world.inventory.create_user(new).await), invalid("password", problem));
    }
    assert_eq!(world.store.commits(), commits, "nothing of a refused user stays, so the address is free");
    for (email, length) in [("a@example.net", 10), ("b@example.net", 1000)] {
        let mut new = world.new_user(email);
        new.password = Some("🦀".repeat(length));
        world.inventory.create_user(new).await.unwrap();
    }
}

#[tokio::test]
async fn networks_granted_are_the_organizations_own() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let commits = world.store.commits();
    for bad in [foreign.network, id(7), world.organization] {
        let mut new = world.new_user("a@example.net");
        new.network_ids = vec![world.network, bad];
        let field = "network_ids.1".to_owned();
        let refused = refusal(world.inventory.create_user(new).await);
        assert_eq!(refused, ErrorKind::ReferenceInvalid { entity: Entity::Network, field });
    }
    assert_eq!(world.store.commits(), commits);
}

#[tokio::test]
async fn a_user_of_an_unknown_organization_is_refused() {
    let world = World::new().await;
    let commits = world.store.commits();
    let mut new = NewUser::new(id(9), "a@example.net", Permission::Viewer);
    new.password = Some("correct horse".to_owned());
    let refused = refusal(world.inventory.create_user(new).await);
    assert_eq!(refused, ErrorKind::NotFound { entity: Entity::Organization, id: id(9) });
    assert_eq!(world.store.commits(), commits);
}
