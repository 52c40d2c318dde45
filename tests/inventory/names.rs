//! Organizations, networks and tags: records that are little more than a name.

use toposcope::inventory::{Entity, ErrorKind, Problem};
use uuid::Uuid;

use crate::support::{World, id, refusal, time};

const BLANKS: [&str; 4] = ["", " ", "\t\r\n", "\u{a0}\u{2003}"];

fn invalid(problem: Problem) -> ErrorKind {
    ErrorKind::Invalid { field: "name".to_owned(), problem }
}

#[tokio::test]
async fn what_is_created_has_a_trimmed_name_and_the_time_of_the_clock() {
    let world = World::new().await;
    let inventory = &world.inventory;
    let now = time("2026-09-01T00:00:00.000001Z");
    world.clock.set(now);
    let organization = inventory.create_organization("  Näme\u{0}\n").await.unwrap();
    let network = inventory.create_network(organization.id, "\tOffice ").await.unwrap();
    let tag = inventory.create_tag(organization.id, " tag\u{2003}").await.unwrap();
    assert_eq!((organization.name.as_str(), organization.api_access), ("Näme\u{0}", true));
    assert_eq!((network.name.as_str(), network.organization_id), ("Office", organization.id));
    assert_eq!((tag.name.as_str(), tag.organization_id), ("tag", organization.id));
    let times = [organization.created_at, organization.updated_at, network.created_at, network.updated_at];
    assert_eq!(times, [now; 4]);
    assert_eq!([tag.created_at, tag.updated_at], [now; 2]);
    assert_eq!(inventory.organization(organization.id).await.unwrap(), organization);
    assert_eq!(inventory.network(network.id).await.unwrap(), network);
}

#[tokio::test]
async fn a_blank_name_is_refused_and_nothing_is_stored() {
    let world = World::new().await;
    let commits = world.store.commits();
    for name in BLANKS {
        let empty = invalid(Problem::Empty);
        assert_eq!(refusal(world.inventory.create_organization(name).await), empty);
        assert_eq!(refusal(world.inventory.create_network(world.organization, name).await), empty);
        let with_id = world.inventory.create_network_with_id(world.organization, id(1), name).await;
        assert_eq!(refusal(with_id), empty);
        assert_eq!(refusal(world.inventory.create_tag(world.organization, name).await), empty);
    }
    assert_eq!(world.store.commits(), commits);
}

#[tokio::test]
async fn a_name_has_a_hundred_characters_at_most_not_bytes() {
    let world = World::new().await;
    let longest = "🦀".repeat(100);
    let padded = format!("  {longest}  ");
    assert_eq!(world.inventory.create_organization(padded.as_str()).await.unwrap().name, longest);
    assert_eq!(world.inventory.create_network(world.organization, &padded).await.unwrap().name, longest);
    assert_eq!(world.inventory.create_tag(world.organization, &padded).await.unwrap().name, longest);
    let commits = world.store.commits();
    let (name, too_long) = ("n".repeat(101), invalid(Problem::MaxLength { max: 100 }));
    assert_eq!(refusal(world.inventory.create_organization(name.as_str()).await), too_long);
    assert_eq!(refusal(world.inventory.create_network(world.organization, &name).await), too_long);
    assert_eq!(refusal(world.inventory.create_tag(world.organization, &name).await), too_long);
    assert_eq!(world.store.commits(), commits);
}

#[tokio::test]
async fn networks_and_tags_of_an_unknown_organization_are_not_found_a_home() {
    let world = World::new().await;
    let commits = world.store.commits();
    let unknown = ErrorKind::NotFound { entity: Entity::Organization, id: id(9) };
    assert_eq!(refusal(world.inventory.create_network(id(9), "n").await), unknown);
    assert_eq!(refusal(world.inventory.create_network_with_id(id(9), id(1), "n").await), unknown);
    assert_eq!(refusal(world.inventory.create_tag(id(9), "n").await), unknown);
    assert_eq!(world.store.commits(), commits);
}

#[tokio::test]
async fn what_is_unknown_is_not_found_under_its_entity() {
    let world = World::new().await;
    // Ids are unique within a kind only: a network may have the id of an organization.
    let wanted = world.organization;
    let not_found = |entity| ErrorKind::NotFound { entity, id: wanted };
    assert_eq!(refusal(world.inventory.network(wanted).await), not_found(Entity::Network));
    assert_eq!(refusal(world.inventory.user(wanted).await), not_found(Entity::User));
    assert_eq!(refusal(world.inventory.host(wanted, wanted).await), not_found(Entity::Host));
    let unknown = refusal(world.inventory.organization(world.network).await);
    assert_eq!(unknown, ErrorKind::NotFound { entity: Entity::Organization, id: world.network });
}

#[tokio::test]
async fn a_network_takes_the_id_it_is_given_unless_anybody_has_it() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    let network = world.inventory.create_network_with_id(world.organization, id(5), "five").await.unwrap();
    assert_eq!(network.id, id(5));
    for (organization, taken) in [
        (world.organization, id(5)),
        (foreign.organization, id(5)),
        (world.organization, foreign.network),
        (world.organization, world.network),
    ] {
        let before = world.inventory.network(taken).await.unwrap();
        let again = world.inventory.create_network_with_id(organization, taken, "again").await;
        let taken_name = taken.to_string();
        assert_eq!(refusal(again), ErrorKind::AlreadyExists { entity: Entity::Network, name: taken_name });
        assert_eq!(world.inventory.network(taken).await.unwrap(), before);
    }
}

#[tokio::test]
async fn names_need_not_be_unique() {
    let world = World::new().await;
    let mut ids: Vec<Uuid> = Vec::new();
    for _ in 0..2 {
        ids.push(world.inventory.create_organization("same").await.unwrap().id);
        ids.push(world.inventory.create_network(world.organization, "same").await.unwrap().id);
        ids.push(world.inventory.create_tag(world.organization, "same").await.unwrap().id);
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn networks_are_listed_by_name_for_their_organization_alone() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    for (number, name) in [(3, "Zoo"), (2, "annex"), (9, "Office"), (1, "Zoo"), (4, "\u{c4}")] {
        world.inventory.create_network_with_id(world.organization, id(number), name).await.unwrap();
    }
    let list = async |organization| -> Vec<(String, Uuid)> {
        let networks = world.inventory.networks(organization).await.unwrap();
        networks.into_iter().map(|network| (network.name, network.id)).collect()
    };
    let names: Vec<String> = list(world.organization).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Laboratory", "Office", "Office", "Zoo", "Zoo", "annex", "\u{c4}"]);
    assert!(list(world.organization).await.is_sorted(), "by code point, and by id where names are the same");
    assert_eq!(list(foreign.organization).await, [("Theirs".to_owned(), foreign.network)]);
    assert!(list(id(9)).await.is_empty());
}
