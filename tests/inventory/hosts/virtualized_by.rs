//! Hosts are ordered by the name of the service that runs them, which belongs to another host.

use toposcope::inventory::{HostQuery, Import};
use toposcope::model::{Host, HostOrderField, OrderDirection};
use uuid::Uuid;

use crate::support::{
    World, assert_virtualized_by, bare_host, guest_of, id, jsonl, owner_of, rich_host, service_named,
};

const NODE: Uuid = id_of(10);
const SERVICE: Uuid = id_of(11);
const GUEST: Uuid = id_of(20);

const fn id_of(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn node(network: Uuid, name: &str) -> Host {
    let mut node = bare_host(NODE, network);
    node.services.push(service_named(&node, SERVICE, name));
    node
}

fn guest(network: Uuid) -> Host {
    let mut guest = bare_host(GUEST, network);
    guest_of(&mut guest, SERVICE);
    guest
}

async fn assert_name(world: &World, name: &str) {
    assert_virtualized_by(&world.inventory, world.organization, GUEST, name).await;
}

#[tokio::test]
async fn the_order_knows_the_service_whichever_host_was_put_first() {
    for is_guest_first in [false, true] {
        let world = World::new().await;
        // Also across networks of the organization.
        let mut hosts = [node(world.network, "proxmox"), guest(world.other_network)];
        if is_guest_first {
            hosts.reverse();
        }
        for host in &hosts {
            world.put(host).await;
        }
        assert_name(&world, "proxmox").await;
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_counts_as_none() {
    let world = World::new().await;
    world.put(&guest(world.network)).await;
    assert_name(&world, "").await;
}

#[tokio::test]
async fn the_order_follows_a_service_that_is_renamed_removed_and_brought_back() {
    let world = World::new().await;
    world.put(&node(world.network, "b")).await;
    world.put(&guest(world.network)).await;
    for name in ["b", "a", "", "ü\u{0}", "zz", "a"] {
        world.put(&node(world.network, name)).await;
        assert_name(&world, name).await;
    }
    world.put(&bare_host(NODE, world.network)).await;
    assert_name(&world, "").await;
    world.put(&node(world.network, "back")).await;
    assert_name(&world, "back").await;
    world.inventory.delete_host(world.organization, NODE).await.unwrap();
    assert_name(&world, "").await;
    assert_eq!(world.host(GUEST).await, guest(world.network), "the document of the guest is none of this");
}

#[tokio::test]
async fn the_order_follows_a_service_to_another_host_and_network() {
    let world = World::new().await;
    world.put(&node(world.network, "first")).await;
    world.put(&guest(world.network)).await;
    world.put(&node(world.other_network, "moved")).await;
    assert_name(&world, "moved").await;
    world.inventory.delete_host(world.organization, NODE).await.unwrap();
    let mut heir = bare_host(id(12), world.network);
    heir.services.push(service_named(&heir, SERVICE, "inherited"));
    world.put(&heir).await;
    assert_name(&world, "inherited").await;
}

#[tokio::test]
async fn the_order_follows_a_guest_that_changes_its_service() {
    let world = World::new().await;
    let mut both = node(world.network, "first");
    both.services.push(service_named(&both, id(12), "second"));
    world.put(&both).await;
    for (service, name) in [(SERVICE, "first"), (id(12), "second"), (id(13), ""), (SERVICE, "first")] {
        let mut guest = bare_host(GUEST, world.network);
        guest_of(&mut guest, service);
        world.put(&guest).await;
        assert_name(&world, name).await;
    }
    world.put(&bare_host(GUEST, world.network)).await;
    assert_name(&world, "").await;
}

#[tokio::test]
async fn a_service_of_another_organization_is_none_and_its_name_does_not_leak() {
    let world = World::new().await;
    let foreign = world.foreign().await;
    for is_guest_first in [false, true] {
        if is_guest_first {
            world.put(&guest(world.network)).await;
        }
        for name in ["secret", "renamed"] {
            world.inventory.put_host(foreign.organization, node(foreign.network, name)).await.unwrap();
            world.put(&guest(world.network)).await;
            assert_name(&world, "").await;
            world.inventory.put_host(foreign.organization, node(foreign.network, "again")).await.unwrap();
            assert_name(&world, "").await;
        }
        world.inventory.delete_host(foreign.organization, NODE).await.unwrap();
        assert_name(&world, "").await;
        world.put(&node(world.network, "ours")).await;
        assert_name(&world, "ours").await;
        world.inventory.delete_host(world.organization, NODE).await.unwrap();
        world.inventory.delete_host(world.organization, GUEST).await.unwrap();
    }
}

#[tokio::test]
async fn each_link_of_a_chain_follows_its_own_service() {
    let world = World::new().await;
    let link = |number: u128, name: &str| {
        let mut host = bare_host(id(number), world.network);
        host.services.push(service_named(&host, id(number + 1), name));
        if number > 10 {
            guest_of(&mut host, id(number - 9));
        }
        host
    };
    let check = async |expected: [&str; 3]| {
        for (number, name) in [20, 30, 40].into_iter().zip(expected) {
            assert_virtualized_by(&world.inventory, world.organization, id(number), name).await;
        }
    };
    for number in [40, 10, 30, 20] {
        world.put(&link(number, &format!("n{number}"))).await;
    }
    check(["n10", "n20", "n30"]).await;
    world.put(&link(20, "other")).await;
    check(["n10", "other", "n30"]).await;
    world.put(&link(10, "base")).await;
    check(["base", "other", "n30"]).await;
    world.inventory.delete_host(world.organization, id(10)).await.unwrap();
    check(["", "other", "n30"]).await;
}

#[tokio::test]
async fn a_host_may_be_run_by_a_service_of_its_own_and_two_by_each_other() {
    let world = World::new().await;
    for name in ["own", "renamed"] {
        let mut host = bare_host(GUEST, world.network);
        guest_of(&mut host, id(21));
        host.services.push(service_named(&host, id(21), name));
        world.put(&host).await;
        assert_name(&world, name).await;
    }
    for name in ["a", "b"] {
        let mut left = node(world.network, name);
        guest_of(&mut left, id(21));
        let mut right = guest(world.network);
        right.services.push(service_named(&right, id(21), &format!("right {name}")));
        world.put(&left).await;
        world.put(&right).await;
        assert_name(&world, name).await;
        let expected = format!("right {name}");
        assert_virtualized_by(&world.inventory, world.organization, NODE, &expected).await;
    }
}

#[tokio::test]
async fn an_import_knows_services_in_the_same_lines_and_in_earlier_and_later_ones() {
    for is_guest_first in [false, true] {
        for between in [0, 300] {
            let world = World::new().await;
            let mut hosts = vec![node(world.network, "imported")];
            hosts.extend((0..between).map(|number| bare_host(id(1000 + number), world.network)));
            hosts.push(guest(world.network));
            if is_guest_first {
                hosts.reverse();
            }
            // The second time all records exist, and the name is another.
            for name in ["imported", "renamed"] {
                let place = if is_guest_first { hosts.len() - 1 } else { 0 };
                hosts[place].services[0].name = name.to_owned();
                let lines = jsonl(&hosts);
                let report = world
                    .inventory
                    .import_hosts(world.organization, &lines[..], Import::new())
                    .await
                    .unwrap();
                assert_eq!(report.imported, hosts.len() as u64, "{report}");
                assert_name(&world, name).await;
            }
        }
    }
}

#[tokio::test]
async fn an_import_of_the_node_alone_moves_the_guests_that_are_there() {
    let world = World::new().await;
    world.put(&guest(world.network)).await;
    for name in ["one", "two"] {
        let lines = jsonl(&[node(world.network, name), bare_host(id(1), world.network)]);
        world.inventory.import_hosts(world.organization, &lines[..], Import::new()).await.unwrap();
        assert_name(&world, name).await;
    }
}

#[tokio::test]
async fn a_guest_keeps_its_tags_network_ports_and_places_when_its_service_is_renamed() {
    let world = World::new().await;
    let mut guest = rich_host(20, world.other_network, &world.tags);
    guest_of(&mut guest, SERVICE);
    world.put(&guest).await;
    world.put(&node(world.network, "named")).await;
    let mut query = HostQuery::default();
    query.network_id = Some(world.other_network);
    query.tag_ids = Some(vec![world.tags[0]]);
    query.group_by = Some(HostOrderField::VirtualizedBy);
    query.order_by = Some(HostOrderField::InterfaceIp);
    query.order_direction = OrderDirection::Descending;
    let page = world.inventory.list_hosts(&owner_of(world.organization), &query).await.unwrap();
    assert_eq!(page.documents, [serde_json::to_vec(&guest).unwrap()]);
    let mut thief = bare_host(id(99), world.network);
    thief.ports = vec![guest.ports[0].clone()];
    thief.ports[0].host_id = thief.id;
    assert!(
        world.inventory.put_host(world.organization, thief).await.is_err(),
        "its ports are its own still"
    );
    assert_name(&world, "named").await;
}
