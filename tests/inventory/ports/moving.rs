//! Updates that move a port to another host.

use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{Host, Port, Protocol};
use uuid::Uuid;

use super::{BOUND, FREE, Hosts, on};
use crate::support::{World, owner_of, port, time};

const LATER: &str = "2026-08-15T00:00:00.000001Z";

fn without(host: Host, port: Uuid) -> Host {
    let ports = host.ports.iter().filter(|other| other.id != port).cloned().collect();
    Host { ports, updated_at: time(LATER), ..host }
}

fn with(host: Host, port: Port) -> Host {
    let mut host = Host { updated_at: time(LATER), ..host };
    let place = host.ports.partition_point(|other| other.number < port.number);
    host.ports.insert(place, port);
    host
}

#[tokio::test]
async fn a_port_moves_to_another_host_of_the_same_or_another_network() {
    for is_far in [false, true] {
        let world = World::new().await;
        let hosts = Hosts::put(&world).await;
        let port = hosts.port(FREE);
        let (to, untouched) =
            if is_far { (hosts.elsewhere, hosts.neighbour) } else { (hosts.neighbour, hosts.elsewhere) };
        world.clock.set(time(LATER));
        let update = on(&to, 8443, Protocol::Udp);
        let moved = world.inventory.update_port(&owner_of(world.organization), FREE, update).await.unwrap();
        let expected = Port {
            host_id: to.id,
            network_id: to.network_id,
            number: 8443.try_into().unwrap(),
            protocol: Protocol::Udp,
            updated_at: time(LATER),
            ..port
        };
        assert_eq!(moved, expected);
        assert_eq!(world.host(hosts.first.id).await, without(hosts.first, FREE));
        assert_eq!(world.host(to.id).await, with(to, expected));
        assert_eq!(world.host(untouched.id).await, untouched);
    }
}

#[tokio::test]
async fn a_port_that_has_moved_is_found_where_it_is() {
    let world = World::new().await;
    let hosts = Hosts::put(&world).await;
    let caller = owner_of(world.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere, &hosts.first, &hosts.elsewhere] {
        let moved = world.inventory.update_port(&caller, FREE, on(to, 443, Protocol::Tcp)).await.unwrap();
        assert_eq!((moved.host_id, moved.network_id), (to.id, to.network_id));
    }
    // The source host no longer refers to it; its id is taken on the target host.
    world.inventory.delete_host(world.organization, hosts.first.id).await.unwrap();
    let update = on(&hosts.elsewhere, 444, Protocol::Tcp);
    world.inventory.update_port(&caller, FREE, update).await.unwrap();
    let mut claimant = hosts.neighbour.clone();
    claimant.ports.push(port(&claimant, FREE, 443, Protocol::Tcp));
    let claim = world.inventory.put_host(world.organization, claimant);
    let taken = ErrorKind::AlreadyExists { entity: Entity::Port, name: FREE.to_string() };
    assert_eq!(world.refusal(claim).await, taken);
    world.inventory.delete_host(world.organization, hosts.elsewhere.id).await.unwrap();
    let gone = world.inventory.update_port(&caller, FREE, update);
    let unknown = ErrorKind::NotFound { entity: Entity::Port, id: FREE };
    assert_eq!(world.refusal(gone).await, unknown);
}

#[tokio::test]
async fn a_number_and_protocol_that_the_other_host_has_are_taken() {
    let world = World::new().await;
    let hosts = Hosts::put(&world).await;
    let caller = owner_of(world.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere] {
        let attempt = world.inventory.update_port(&caller, FREE, on(to, 65_535, Protocol::Tcp));
        let taken = ErrorKind::AlreadyExists { entity: Entity::Port, name: "65535/Tcp".to_owned() };
        assert_eq!(world.refusal(attempt).await, taken);
    }
}

#[tokio::test]
async fn a_port_that_a_service_is_bound_to_does_not_leave_its_host() {
    let world = World::new().await;
    let hosts = Hosts::put(&world).await;
    let caller = owner_of(world.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere] {
        for (number, protocol) in [(22, Protocol::Tcp), (2222, Protocol::Udp), (65_535, Protocol::Tcp)] {
            let attempt = world.inventory.update_port(&caller, BOUND, on(to, number, protocol));
            let (entity, used_by) = (Entity::Port, Entity::Service);
            // The current name, not the new one.
            let in_use = ErrorKind::InUse { entity, name: "22/Tcp".to_owned(), used_by };
            assert_eq!(world.refusal(attempt).await, in_use);
        }
    }
    let mut first = world.host(hosts.first.id).await;
    first.services.retain(|service| service.name != "ssh");
    world.put(&first).await;
    let update = on(&hosts.elsewhere, 22, Protocol::Tcp);
    world.inventory.update_port(&caller, BOUND, update).await.unwrap();
}
