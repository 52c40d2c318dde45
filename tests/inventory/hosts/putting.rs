use toposcope::inventory::{HostQuery, Written};
use toposcope::model::{Host, HostOrderField, OrderDirection};
use uuid::Uuid;

use crate::support::{World, bare_host, documents, id, interface, owner_of, rich_host, service, time};

#[tokio::test]
async fn a_host_comes_back_as_it_was_put() {
    let world = World::new().await;
    for host in [
        bare_host(id(1), world.network),
        rich_host(2, world.other_network, &world.tags),
        bare_host(Uuid::nil(), world.network),
        bare_host(Uuid::max(), world.network),
    ] {
        let written = world.inventory.put_host(world.organization, host.clone()).await.unwrap();
        assert_eq!(written, Written::Created);
        assert_eq!(world.host(host.id).await, host);
    }
}

#[tokio::test]
async fn the_list_serves_the_document_of_the_host() {
    let world = World::new().await;
    let host = rich_host(2, world.network, &world.tags);
    world.put(&host).await;
    let documents = world.documents().await;
    assert_eq!(documents.len(), 1);
    assert_eq!(serde_json::from_slice::<Host>(&documents[0]).unwrap(), host);
    assert_eq!(documents[0], serde_json::to_vec(&host).unwrap());
}

#[tokio::test]
async fn the_times_of_a_host_are_kept_and_are_not_the_clocks() {
    let world = World::new().await;
    let mut host = bare_host(id(1), world.network);
    for (created, updated) in [
        ("0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
        ("2030-01-01T00:00:00.000001Z", "1969-12-31T23:59:59.999999Z"),
    ] {
        (host.created_at, host.updated_at) = (time(created), time(updated));
        world.put(&host).await;
        assert_eq!(world.host(host.id).await, host);
    }
}

#[tokio::test]
async fn replacing_a_host_updates_everything_of_it() {
    let world = World::new().await;
    let rich = rich_host(7, world.network, &world.tags);
    world.put(&rich).await;
    let mut other = bare_host(rich.id, world.other_network);
    other.name = "other".to_owned();
    other.created_at = time("2020-01-01T00:00:00Z");
    let written = world.inventory.put_host(world.organization, other.clone()).await.unwrap();
    assert_eq!(written, Written::Replaced);
    assert_eq!(world.host(rich.id).await, other);
    assert_eq!(world.documents().await, [serde_json::to_vec(&other).unwrap()]);

    let list = async |adapt: fn(&mut HostQuery, &World)| {
        let mut query = HostQuery::default();
        adapt(&mut query, &world);
        world.inventory.list_hosts(&owner_of(world.organization), &query).await.unwrap().total
    };
    assert_eq!(list(|query, world| query.network_id = Some(world.network)).await, 0);
    assert_eq!(list(|query, world| query.network_id = Some(world.other_network)).await, 1);
    assert_eq!(list(|query, world| query.tag_ids = Some(world.tags.to_vec())).await, 0);

    assert_eq!(world.inventory.put_host(world.organization, rich.clone()).await.unwrap(), Written::Replaced);
    assert_eq!(world.host(rich.id).await, rich);
    assert_eq!(list(|query, world| query.network_id = Some(world.network)).await, 1);
    assert_eq!(list(|query, world| query.tag_ids = Some(vec![world.tags[1]])).await, 1);
}

#[tokio::test]
async fn a_host_that_is_replaced_moves_in_every_order() {
    let world = World::new().await;
    let mut moving = bare_host(id(5), world.network);
    let mut staying = bare_host(id(6), world.network);
    let set = |host: &mut Host, text: &str, moment: &str, address: &str| {
        host.name = text.to_owned();
        host.hostname = Some(text.to_owned());
        (host.created_at, host.updated_at) = (time(moment), time(moment));
        host.interfaces = vec![interface(host, Uuid::from_u128(host.id.as_u128() << 8), address, 0)];
    };
    set(&mut staying, "m", "2025-01-01T00:00:00Z", "10.0.0.5");
    world.put(&staying).await;
    for (text, moment, address, is_first) in [
        ("a", "2024-01-01T00:00:00Z", "9.255.255.255", true),
        ("z", "2026-01-01T00:00:00Z", "::", false),
        ("é", "9999-01-01T00:00:00Z", "10.0.0.10", false),
        ("Z", "0001-01-01T00:00:00Z", "1.0.0.0", true),
    ] {
        set(&mut moving, text, moment, address);
        world.put(&moving).await;
        for field in [
            HostOrderField::CreatedAt,
            HostOrderField::UpdatedAt,
            HostOrderField::Name,
            HostOrderField::Hostname,
            HostOrderField::InterfaceIp,
        ] {
            for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
                let mut query = HostQuery::default();
                query.order_by = Some(field);
                query.order_direction = direction;
                let page = world.inventory.list_hosts(&owner_of(world.organization), &query).await.unwrap();
                let first: Host = serde_json::from_slice(&page.documents[0]).unwrap();
                let expected = (direction == OrderDirection::Ascending) == is_first;
                assert_eq!(first.id == moving.id, expected, "{text} {field} {}", direction.as_str());
            }
        }
    }
}

#[tokio::test]
async fn a_host_that_moves_to_another_network_takes_its_parts_with_it() {
    let world = World::new().await;
    let here = rich_host(3, world.network, &world.tags);
    let there = rich_host(3, world.other_network, &world.tags);
    for host in [&here, &there, &here] {
        world.put(host).await;
        assert_eq!(world.host(id(3)).await, *host);
        assert_eq!(documents(&world.inventory, world.organization).await.len(), 1);
    }
}

#[tokio::test]
async fn ports_and_services_given_up_are_free_for_others() {
    let world = World::new().await;
    let rich = rich_host(3, world.network, &world.tags);
    world.put(&rich).await;
    world.put(&bare_host(rich.id, world.network)).await;
    let mut heir = bare_host(id(4), world.network);
    heir.services = vec![service(&heir, rich.services[0].id, "inherited", 0)];
    heir.ports = rich.ports.clone();
    for port in &mut heir.ports {
        port.host_id = heir.id;
    }
    world.put(&heir).await;
    assert_eq!(world.host(heir.id).await, heir);
    world.inventory.delete_host(world.organization, heir.id).await.unwrap();
    world.put(&rich).await;
}
