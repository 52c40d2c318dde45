//! Updates that move a port to another host.

use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{Host, Port, Protocol};
use uuid::Uuid;

use super::{BOUND, FREE, Hosts, on};
use crate::support::{Fixture, already_exists, not_found, owner_of, port, time};

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
        let fixture = Fixture::new().await;
        let hosts = Hosts::put(&fixture).await;
        let port = hosts.port(FREE);
        let (to, untouched) =
            if is_far { (hosts.elsewhere, hosts.neighbour) } else { (hosts.neighbour, hosts.elsewhere) };
        fixture.clock.set(time(LATER));
        let update = on(&to, 8443, Protocol::Udp);
        let moved =
            fixture.inventory.update_port(&owner_of(fixture.organization), FREE, update).await.unwrap();
        let expected = Port {
            host_id: to.id,
            network_id: to.network_id,
            number: 8443.try_into().unwrap(),
            protocol: Protocol::Udp,
            updated_at: time(LATER),
            ..port
        };
        assert_eq!(moved, expected);
        assert_eq!(fixture.host(hosts.first.id).await, without(hosts.first, FREE));
        assert_eq!(fixture.host(to.id).await, with(to, expected));
        assert_eq!(fixture.host(untouched.id).await, untouched);
    }
}

#[tokio::test]
async fn a_port_that_has_moved_is_found_where_it_is() {
    let fixture = Fixture::new().await;
    let hosts = Hosts::put(&fixture).await;
    let caller = owner_of(fixture.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere, &hosts.first, &hosts.elsewhere] {
        let moved = fixture.inventory.update_port(&caller, FREE, on(to, 443, Protocol::Tcp)).await.unwrap();
        assert_eq!((moved.host_id, moved.network_id), (to.id, to.network_id));
    }
    // The source host no longer refers to it; its id is taken on the target host.
    fixture.inventory.delete_host(fixture.organization, hosts.first.id).await.unwrap();
    let update = on(&hosts.elsewhere, 444, Protocol::Tcp);
    fixture.inventory.update_port(&caller, FREE, update).await.unwrap();
    let mut claimant = hosts.neighbour.clone();
    claimant.ports.push(port(&claimant, FREE, 443, Protocol::Tcp));
    let claim = fixture.inventory.put_host(fixture.organization, claimant);
    let taken = already_exists(Entity::Port, FREE);
    assert_eq!(fixture.refusal(claim).await, taken);
    fixture.inventory.delete_host(fixture.organization, hosts.elsewhere.id).await.unwrap();
    let gone = fixture.inventory.update_port(&caller, FREE, update);
    let unknown = not_found(Entity::Port, FREE);
    assert_eq!(fixture.refusal(gone).await, unknown);
}

#[tokio::test]
async fn a_number_and_protocol_that_the_other_host_has_are_taken() {
    let fixture = Fixture::new().await;
    let hosts = Hosts::put(&fixture).await;
    let caller = owner_of(fixture.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere] {
        let attempt = fixture.inventory.update_port(&caller, FREE, on(to, 65_535, Protocol::Tcp));
        let taken = already_exists(Entity::Port, "65535/Tcp");
        assert_eq!(fixture.refusal(attempt).await, taken);
    }
}

#[tokio::test]
async fn a_port_that_a_service_is_bound_to_does_not_leave_its_host() {
    let fixture = Fixture::new().await;
    let hosts = Hosts::put(&fixture).await;
    let caller = owner_of(fixture.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere] {
        for (number, protocol) in [(22, Protocol::Tcp), (2222, Protocol::Udp), (65_535, Protocol::Tcp)] {
            let attempt = fixture.inventory.update_port(&caller, BOUND, on(to, number, protocol));
            let (entity, used_by) = (Entity::Port, Entity::Service);
            // The current name, not the new one.
            let in_use = ErrorKind::InUse { entity, name: "22/Tcp".to_owned(), used_by };
            assert_eq!(fixture.refusal(attempt).await, in_use);
        }
    }
    let mut first = fixture.host(hosts.first.id).await;
    first.services.retain(|service| service.name != "ssh");
    fixture.put(&first).await;
    let update = on(&hosts.elsewhere, 22, Protocol::Tcp);
    fixture.inventory.update_port(&caller, BOUND, update).await.unwrap();
}
