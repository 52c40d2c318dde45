//! Organizations, and API access of their users' keys.

use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind, NewOrganization};
use toposcope::model::Organization;

use crate::support::{World, at_every_moment, id, not_found, refusal, time};

#[tokio::test]
async fn api_access_is_given_and_taken_and_changes_nothing_else() {
    let world = World::new().await;
    let organization = world.inventory.organization(world.organization).await.unwrap();
    let now = time("2026-08-15T00:00:00Z");
    world.clock.set(now);
    for api_access in [false, false, true, true] {
        let expected = Organization { api_access, updated_at: now, ..organization.clone() };
        let changed = if api_access {
            world.inventory.enable_api_access(world.organization).await.unwrap()
        } else {
            world.inventory.disable_api_access(world.organization).await.unwrap()
        };
        assert_eq!(changed, expected);
        assert_eq!(world.inventory.organization(world.organization).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn api_access_counts_from_the_next_request_on_for_keys_of_that_organization_alone() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let owner = world.owner().await;
    let key = world.user_key(&owner, |_| {}).await;
    let session = world.log_in(&owner).await;
    for _ in 0..2 {
        world.inventory.disable_api_access(foreign.organization).await.unwrap();
        world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        world.inventory.disable_api_access(world.organization).await.unwrap();
        let refused = world.inventory.authenticate_user_key(key.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::ApiAccessRequired);
        world.inventory.authenticate_session(session.plaintext()).await.unwrap();
        world.inventory.enable_api_access(world.organization).await.unwrap();
    }
}

#[tokio::test]
async fn organizations_are_listed_by_age() {
    let world = World::new().await;
    let mut organizations = vec![world.inventory.organization(world.organization).await.unwrap()];
    for name in ["z", "a", "m"] {
        world.clock.advance(Duration::from_micros(1));
        let mut new = NewOrganization::new(name);
        new.api_access = false;
        organizations.push(world.inventory.create_organization(new).await.unwrap());
    }
    assert_eq!(world.inventory.organizations().await.unwrap(), organizations);
    organizations[1] = world.inventory.enable_api_access(organizations[1].id).await.unwrap();
    assert_eq!(world.inventory.organizations().await.unwrap(), organizations);
}

#[tokio::test]
async fn an_unknown_organization_gets_no_api_access() {
    let world = World::new().await;
    for unknown in [id(9), world.network] {
        let attempt = world.inventory.enable_api_access(unknown);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::Organization, unknown));
    }
}

#[tokio::test]
async fn of_two_who_set_api_access_at_once_the_one_who_comes_last_has_it() {
    at_every_moment(
        async |world: &World| world.organization,
        |inventory, organization| {
            let organization = *organization;
            async move {
                inventory.enable_api_access(organization).await.unwrap();
            }
        },
        async |inventory, organization| inventory.disable_api_access(*organization).await,
        async |world, organization, result| {
            assert!(!result.unwrap().api_access);
            assert!(!world.inventory.organization(*organization).await.unwrap().api_access);
        },
    )
    .await;
}
