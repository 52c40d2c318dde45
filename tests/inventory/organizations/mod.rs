//! Organizations with their networks, tags, shares and referrals.
//!
//! The tests are about names, API access, and references.

mod bootstrap;
mod deletion;
mod ensured;
mod references;
mod referrals;
mod transfer;

use std::time::Duration;
use toposcope::access::Caller;

use toposcope::inventory::{Entity, ErrorKind, ListOrderField, ListQuery, NewOrganization, Problem};
use toposcope::model::{Network, Organization, Tag};
use uuid::Uuid;

use crate::support::{Fixture, already_exists, at_every_call, id, invalid, not_found, refusal, time, uuid};

const BLANKS: [&str; 4] = ["", " ", "\t\r\n", "\u{a0}\u{2003}"];

#[tokio::test]
async fn new_records_have_a_trimmed_name_and_the_time_of_the_clock() {
    let fixture = Fixture::new().await;
    let inventory = &fixture.inventory;
    let now = time("2026-09-01T00:00:00.000001Z");
    fixture.clock.set(now);
    let organization = inventory.organizations().create("  Näme\u{0}\n").await.unwrap();
    let network = inventory
        .networks()
        .create(&Caller::system(organization.id), Network::new("\tOffice "))
        .await
        .unwrap();
    let tag =
        inventory.tags().create(&Caller::system(organization.id), Tag::new(" tag\u{2003}")).await.unwrap();
    assert_eq!((organization.name.as_str(), organization.api_access), ("Näme\u{0}", true));
    assert_eq!((network.name.as_str(), network.organization_id), ("Office", organization.id));
    assert_eq!((tag.name.as_str(), tag.organization_id), ("tag", organization.id));
    let times = [organization.created_at, organization.updated_at, network.created_at, network.updated_at];
    assert_eq!(times, [now; 4]);
    assert_eq!([tag.created_at, tag.updated_at], [now; 2]);
    assert_eq!(inventory.organizations().get(organization.id).await.unwrap(), organization);
    assert_eq!(
        inventory.networks().get(&Caller::system(network.organization_id), network.id).await.unwrap(),
        network
    );
    assert_eq!(inventory.tags().get(&Caller::system(tag.organization_id), tag.id).await.unwrap(), tag);
}

#[tokio::test]
async fn blank_name_is_refused_and_nothing_is_stored() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits();
    for name in BLANKS {
        let empty = invalid("name", Problem::Empty);
        assert_eq!(refusal(fixture.inventory.organizations().create(name).await), empty);
        assert_eq!(
            refusal(fixture.inventory.networks().create(&fixture.system(), Network::new(name)).await),
            empty
        );
        let with_id =
            fixture.inventory.networks().create_with_id(&fixture.system(), id(1), Network::new(name)).await;
        assert_eq!(refusal(with_id), empty);
        assert_eq!(refusal(fixture.inventory.tags().create(&fixture.system(), Tag::new(name)).await), empty);
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn name_has_at_most_100_characters() {
    let fixture = Fixture::new().await;
    let longest = "🦀".repeat(100);
    let padded = format!("  {longest}  ");
    assert_eq!(fixture.inventory.organizations().create(padded.as_str()).await.unwrap().name, longest);
    assert_eq!(
        fixture.inventory.networks().create(&fixture.system(), Network::new(&padded)).await.unwrap().name,
        longest
    );
    assert_eq!(
        fixture.inventory.tags().create(&fixture.system(), Tag::new(&padded)).await.unwrap().name,
        longest
    );
    let (name, too_long) = ("n".repeat(101), invalid("name", Problem::MaxLength { max: 100 }));
    assert_eq!(fixture.refusal(fixture.inventory.organizations().create(name.as_str())).await, too_long);
    assert_eq!(
        fixture.refusal(fixture.inventory.networks().create(&fixture.system(), Network::new(&name))).await,
        too_long
    );
    assert_eq!(
        fixture.refusal(fixture.inventory.tags().create(&fixture.system(), Tag::new(&name))).await,
        too_long
    );
}

#[tokio::test]
async fn networks_and_tags_of_an_unknown_organization_are_refused() {
    let fixture = Fixture::new().await;
    let unknown = not_found(Entity::Organization, uuid(9));
    assert_eq!(
        fixture.refusal(fixture.inventory.networks().create(&Caller::system(id(9)), Network::new("n"))).await,
        unknown
    );
    assert_eq!(
        fixture
            .refusal(fixture.inventory.networks().create_with_id(
                &Caller::system(id(9)),
                id(1),
                Network::new("n")
            ))
            .await,
        unknown
    );
    assert_eq!(
        fixture.refusal(fixture.inventory.tags().create(&Caller::system(id(9)), Tag::new("n"))).await,
        unknown
    );
}

#[tokio::test]
async fn unknown_record_is_reported_with_its_entity() {
    let fixture = Fixture::new().await;
    // Ids are unique within a kind only: a network may have the id of an organization.
    let wanted = fixture.organization;
    assert_eq!(
        refusal(fixture.inventory.networks().get(&fixture.system(), wanted.uuid().into()).await),
        not_found(Entity::Network, wanted)
    );
    assert_eq!(
        refusal(fixture.inventory.users().get(&fixture.system(), wanted.uuid().into()).await),
        not_found(Entity::User, wanted)
    );
    assert_eq!(
        refusal(fixture.inventory.hosts().get(&Caller::system(wanted), wanted.uuid().into()).await),
        not_found(Entity::Host, wanted)
    );
    let unknown = refusal(fixture.inventory.organizations().get(fixture.network.uuid().into()).await);
    assert_eq!(unknown, not_found(Entity::Organization, fixture.network));
}

#[tokio::test]
async fn network_gets_the_id_that_is_given_unless_it_is_taken() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let network = fixture
        .inventory
        .networks()
        .create_with_id(&fixture.system(), id(5), Network::new("five"))
        .await
        .unwrap();
    assert_eq!(network.id, id(5));
    let (own, theirs) = (Caller::system(fixture.organization), Caller::system(foreign.organization));
    for (organization, owner, taken) in [
        (fixture.organization, &own, id(5)),
        (foreign.organization, &own, id(5)),
        (fixture.organization, &theirs, foreign.network),
        (fixture.organization, &own, fixture.network),
    ] {
        let before = fixture.inventory.networks().get(owner, taken).await.unwrap();
        let again = fixture
            .inventory
            .networks()
            .create_with_id(&Caller::system(organization), taken, Network::new("again"))
            .await;
        let taken_name = taken.to_string();
        assert_eq!(refusal(again), ErrorKind::AlreadyExists { entity: Entity::Network, name: taken_name });
        assert_eq!(fixture.inventory.networks().get(owner, taken).await.unwrap(), before);
    }
}

#[tokio::test]
async fn names_of_networks_and_tags_are_unique_within_an_organization_regardless_of_case() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let inventory = &fixture.inventory;
    for name in ["\u{c4}rger", "Same"] {
        for organization in [fixture.organization, foreign.organization] {
            inventory.networks().create(&Caller::system(organization), Network::new(name)).await.unwrap();
            inventory.tags().create(&Caller::system(organization), Tag::new(name)).await.unwrap();
            inventory.organizations().create(name).await.unwrap();
        }
        for name in [name.to_owned(), format!(" {} ", name.to_lowercase()), name.to_uppercase()] {
            let taken = |entity| already_exists(entity, name.trim());
            let system = Caller::system(fixture.organization);
            let network = inventory.networks().create(&system, Network::new(&name));
            assert_eq!(fixture.refusal(network).await, taken(Entity::Network));
            let tag = inventory.tags().create(&system, Tag::new(&name));
            assert_eq!(fixture.refusal(tag).await, taken(Entity::Tag));
        }
    }
}

#[tokio::test]
async fn change_of_api_access_changes_nothing_else() {
    let fixture = Fixture::new().await;
    let organization = fixture.inventory.organizations().get(fixture.organization).await.unwrap();
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    for api_access in [false, false, true, true] {
        let expected = Organization { api_access, updated_at: now, ..organization.clone() };
        let changed = if api_access {
            fixture.inventory.organizations().enable_api_access(fixture.organization).await.unwrap()
        } else {
            fixture.inventory.organizations().disable_api_access(fixture.organization).await.unwrap()
        };
        assert_eq!(changed, expected);
        assert_eq!(fixture.inventory.organizations().get(fixture.organization).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn api_access_applies_from_the_next_request_on_to_keys_of_that_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let owner = fixture.owner().await;
    let key = fixture.user_key(&owner, |_| {}).await;
    let session = fixture.log_in(&owner).await;
    for _ in 0..2 {
        fixture.inventory.organizations().disable_api_access(foreign.organization).await.unwrap();
        fixture.by_key(&key).await.unwrap();
        fixture.inventory.organizations().disable_api_access(fixture.organization).await.unwrap();
        assert_eq!(refusal(fixture.by_key(&key).await), ErrorKind::ApiAccessRequired);
        fixture.by_session(&session).await.unwrap();
        fixture.inventory.organizations().enable_api_access(fixture.organization).await.unwrap();
    }
}

#[tokio::test]
async fn organizations_are_listed_by_age() {
    let fixture = Fixture::new().await;
    let mut organizations = vec![fixture.inventory.organizations().get(fixture.organization).await.unwrap()];
    for name in ["z", "a", "m"] {
        fixture.clock.advance(Duration::from_micros(1));
        let mut new = NewOrganization::new(name);
        new.api_access = false;
        organizations.push(fixture.inventory.organizations().create(new).await.unwrap());
    }
    assert_eq!(fixture.inventory.organizations().all().await.unwrap(), organizations);
    organizations[1] =
        fixture.inventory.organizations().enable_api_access(organizations[1].id).await.unwrap();
    assert_eq!(fixture.inventory.organizations().all().await.unwrap(), organizations);
}

#[tokio::test]
async fn api_access_of_an_unknown_organization_cannot_be_changed() {
    let fixture = Fixture::new().await;
    for unknown in [id(9), fixture.network] {
        let attempt = fixture.inventory.organizations().enable_api_access(unknown.uuid().into());
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Organization, unknown));
    }
}

#[tokio::test]
async fn later_of_two_concurrent_changes_of_api_access_is_kept() {
    at_every_call(
        async |fixture: &Fixture| fixture.organization,
        async |inventory, organization| {
            inventory.organizations().enable_api_access(*organization).await.unwrap()
        },
        async |inventory, organization| inventory.organizations().disable_api_access(*organization).await,
        async |fixture, organization, result| {
            assert!(!result.unwrap().api_access);
            assert!(!fixture.inventory.organizations().get(*organization).await.unwrap().api_access);
        },
    )
    .await;
}

#[tokio::test]
async fn networks_and_tags_are_listed_by_name_for_their_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    for (number, name) in [(3, "Zoo"), (2, "annex"), (9, "Offices"), (1, "Zo"), (4, "\u{c4}")] {
        fixture
            .inventory
            .networks()
            .create_with_id(&fixture.system(), id(number), Network::new(name))
            .await
            .unwrap();
    }
    for name in ["Zoo", "annex", "\u{c4}"] {
        fixture.inventory.tags().create(&fixture.system(), Tag::new(name)).await.unwrap();
    }
    let mut by_name = ListQuery::default();
    by_name.order_by = ListOrderField::Name;
    let networks = async |organization| -> Vec<(String, Uuid)> {
        let system = Caller::system(organization);
        let networks = fixture.inventory.networks().list(&system, &by_name).await.unwrap();
        networks.records.into_iter().map(|network| (network.name, network.id.uuid())).collect()
    };
    let tags = async |organization| -> Vec<(String, Uuid)> {
        let system = Caller::system(organization);
        let tags = fixture.inventory.tags().list(&system, &by_name).await.unwrap();
        tags.records.into_iter().map(|tag| (tag.name, tag.id.uuid())).collect()
    };
    for (list, expected) in [
        (
            networks(fixture.organization).await,
            &["Laboratory", "Office", "Offices", "Zo", "Zoo", "annex", "\u{c4}"][..],
        ),
        (tags(fixture.organization).await, &["Zoo", "annex", "first", "second", "\u{c4}"]),
    ] {
        assert!(list.iter().map(|(name, _)| name).eq(expected), "{list:?}");
        assert!(list.is_sorted(), "by code point");
    }
    assert_eq!(networks(foreign.organization).await, [("Theirs".to_owned(), foreign.network.uuid())]);
    assert_eq!(tags(foreign.organization).await, [("theirs".to_owned(), foreign.tag.uuid())]);
    let homeless = Caller::system(id(9));
    let unknown = not_found(Entity::Organization, uuid(9));
    assert_eq!(refusal(fixture.inventory.networks().list(&homeless, &by_name).await), unknown);
    assert_eq!(refusal(fixture.inventory.tags().list(&homeless, &by_name).await), unknown);
}
