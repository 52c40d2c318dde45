//! Organizations, and API access of their users' keys.

use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind, NewOrganization};
use toposcope::model::Organization;

use crate::support::{Fixture, at_every_call, id, not_found, refusal, time};

#[tokio::test]
async fn api_access_is_given_and_taken_and_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let organization = fixture.inventory.organization(fixture.organization).await.unwrap();
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    for api_access in [false, false, true, true] {
        let expected = Organization { api_access, updated_at: now, ..organization.clone() };
        let changed = fixture.inventory.set_api_access(fixture.organization, api_access).await.unwrap();
        assert_eq!(changed, expected);
        assert_eq!(fixture.inventory.organization(fixture.organization).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn api_access_counts_from_the_next_request_on_for_keys_of_that_organization_alone() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let owner = fixture.owner().await;
    let key = fixture.user_key(&owner, |_| {}).await;
    let session = fixture.log_in(&owner).await;
    for _ in 0..2 {
        fixture.inventory.set_api_access(foreign.organization, false).await.unwrap();
        fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        fixture.inventory.set_api_access(fixture.organization, false).await.unwrap();
        let refused = fixture.inventory.authenticate_user_key(key.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::ApiAccessRequired);
        fixture.inventory.authenticate_session(session.plaintext()).await.unwrap();
        fixture.inventory.set_api_access(fixture.organization, true).await.unwrap();
    }
}

#[tokio::test]
async fn organizations_are_listed_by_age() {
    let fixture = Fixture::new().await;
    let mut organizations = vec![fixture.inventory.organization(fixture.organization).await.unwrap()];
    for name in ["z", "a", "m"] {
        fixture.clock.advance(Duration::from_micros(1));
        let mut new = NewOrganization::new(name);
        new.api_access = false;
        organizations.push(fixture.inventory.create_organization(new).await.unwrap());
    }
    assert_eq!(fixture.inventory.organizations().await.unwrap(), organizations);
    organizations[1] = fixture.inventory.set_api_access(organizations[1].id, true).await.unwrap();
    assert_eq!(fixture.inventory.organizations().await.unwrap(), organizations);
}

#[tokio::test]
async fn an_unknown_organization_gets_no_api_access() {
    let fixture = Fixture::new().await;
    for unknown in [id(9), fixture.network] {
        let attempt = fixture.inventory.set_api_access(unknown, true);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Organization, unknown));
    }
}

#[tokio::test]
async fn of_two_who_set_api_access_at_once_the_one_who_comes_last_has_it() {
    at_every_call(
        async |fixture: &Fixture| fixture.organization,
        async |inventory, organization| inventory.set_api_access(*organization, true).await.unwrap(),
        async |inventory, organization| inventory.set_api_access(*organization, false).await,
        async |fixture, organization, result| {
            assert!(!result.unwrap().api_access);
            assert!(!fixture.inventory.organization(*organization).await.unwrap().api_access);
        },
    )
    .await;
}
