//! Updates of ports that stay on their host, and that move to another.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, HostQuery};
use toposcope::model::{Host, HostOrderField, Permission, Port, Protocol};
use uuid::Uuid;

use super::{BOUND, FREE, Hosts, on};
use crate::support::{already_exists, id, in_person, not_found, owner_of, port, through_a_key, time};

const LATER: &str = "2026-08-15T00:00:00.000001Z";

#[tokio::test]
async fn update_changes_number_and_protocol_and_keeps_id_and_creation_time() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = owner_of(fixture.organization);
    fixture.clock.set(time(LATER));
    for (number, protocol) in [
        (8443, Protocol::Tcp),
        (8443, Protocol::Udp),
        (1, Protocol::Tcp),
        (65_535, Protocol::Udp),
        (443, Protocol::Tcp),
    ] {
        let update = on(&hosts.first, number, protocol);
        let changed = fixture.inventory.update_port(&caller, FREE, update).await.unwrap();
        let number = number.try_into().unwrap();
        let expected = Port { number, protocol, updated_at: time(LATER), ..hosts.port(FREE) };
        assert_eq!(changed, expected);
        let found = fixture.host(hosts.first.id).await;
        assert!(found.ports.contains(&expected));
        assert!(found.ports.is_sorted_by_key(|port| (port.number, port.protocol, port.id)));
    }
}

#[tokio::test]
async fn port_update_moves_host_timestamp_and_changes_nothing_else() {
    let (fixture, hosts) = Hosts::new().await;
    fixture.clock.set(time(LATER));
    let update = on(&hosts.first, 8443, Protocol::Tcp);
    let changed = fixture.inventory.update_port(&owner_of(fixture.organization), FREE, update).await.unwrap();
    let mut expected = Host { updated_at: time(LATER), ..hosts.first };
    expected.ports.retain(|port| port.id != FREE);
    let place = expected.ports.partition_point(|port| port.number < changed.number);
    expected.ports.insert(place, changed);
    assert_eq!(fixture.host(expected.id).await, expected);
    assert_eq!(fixture.host(hosts.neighbour.id).await, hosts.neighbour);
    assert_eq!(fixture.host(hosts.elsewhere.id).await, hosts.elsewhere);
}

#[tokio::test]
async fn update_to_the_current_values_moves_the_timestamps() {
    let (fixture, hosts) = Hosts::new().await;
    fixture.clock.set(time(LATER));
    for port in [FREE, BOUND] {
        let before = hosts.port(port);
        let update = on(&hosts.first, before.number.get(), before.protocol);
        let changed = fixture.inventory.update_port(&owner_of(fixture.organization), port, update).await;
        assert_eq!(changed.unwrap(), Port { updated_at: time(LATER), ..before });
    }
    assert_eq!(fixture.host(hosts.first.id).await.updated_at, time(LATER));
}

#[tokio::test]
async fn bound_port_is_renumbered_and_stays_bound() {
    let (fixture, hosts) = Hosts::new().await;
    let update = on(&hosts.first, 2222, Protocol::Tcp);
    fixture.inventory.update_port(&owner_of(fixture.organization), BOUND, update).await.unwrap();
    assert_eq!(fixture.host(hosts.first.id).await.services, hosts.first.services);
}

#[tokio::test]
async fn port_update_moves_the_host_in_the_order_by_update_time() {
    let (fixture, hosts) = Hosts::new().await;
    fixture.clock.set(time(LATER));
    let update = on(&hosts.first, 8443, Protocol::Tcp);
    let caller = owner_of(fixture.organization);
    fixture.inventory.update_port(&caller, FREE, update).await.unwrap();
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::UpdatedAt);
    let page = fixture.inventory.list_hosts(&caller, &query).await.unwrap();
    let ids: Vec<_> =
        page.documents.iter().map(|document| serde_json::from_slice::<Host>(document).unwrap().id).collect();
    assert_eq!(ids, [id(2), id(3), id(1)]);
}

#[tokio::test]
async fn members_and_above_may_update_ports_by_session_and_by_key() {
    let (fixture, hosts) = Hosts::new().await;
    let mut number = 1000;
    for level in [Permission::Member, Permission::Admin, Permission::Owner] {
        let user = fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await;
        let by_host = Caller::new(fixture.organization, id(1), level, Scope::only([fixture.network]));
        for caller in [in_person(&user), through_a_key(&user), by_host] {
            number += 1;
            let update = on(&hosts.first, number, Protocol::Tcp);
            let changed = fixture.inventory.update_port(&caller, FREE, update).await.unwrap();
            assert_eq!(changed.number.get(), number);
        }
    }
}

#[tokio::test]
async fn number_and_protocol_of_another_port_of_the_host_are_taken() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = owner_of(fixture.organization);
    for (number, protocol, name) in
        [(53, Protocol::Tcp, "53/Tcp"), (53, Protocol::Udp, "53/Udp"), (22, Protocol::Tcp, "22/Tcp")]
    {
        let attempt = fixture.inventory.update_port(&caller, FREE, on(&hosts.first, number, protocol));
        let taken = ErrorKind::AlreadyExists { entity: Entity::Port, name: name.to_owned() };
        assert_eq!(fixture.refusal(attempt).await, taken);
    }
    // On another host, or for another protocol, it is free.
    let update = on(&hosts.first, 22, Protocol::Udp);
    fixture.inventory.update_port(&caller, FREE, update).await.unwrap();
}

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
async fn port_moves_to_another_host_of_the_same_or_another_network() {
    for is_far in [false, true] {
        let (fixture, hosts) = Hosts::new().await;
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
async fn moved_port_is_found_on_its_new_host() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = owner_of(fixture.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere, &hosts.first, &hosts.elsewhere] {
        let moved = fixture.inventory.update_port(&caller, FREE, on(to, 443, Protocol::Tcp)).await.unwrap();
        assert_eq!((moved.host_id, moved.network_id), (to.id, to.network_id));
    }
    // The source host no longer refers to it; its id is taken on the target host.
    fixture.delete(hosts.first.id).await.unwrap();
    let update = on(&hosts.elsewhere, 444, Protocol::Tcp);
    fixture.inventory.update_port(&caller, FREE, update).await.unwrap();
    let mut claimant = hosts.neighbour.clone();
    claimant.ports.push(port(&claimant, FREE, 443, Protocol::Tcp));
    let claim = fixture.try_put(claimant);
    assert_eq!(fixture.refusal(claim).await, already_exists(Entity::Port, FREE));
    fixture.delete(hosts.elsewhere.id).await.unwrap();
    let gone = fixture.inventory.update_port(&caller, FREE, update);
    assert_eq!(fixture.refusal(gone).await, not_found(Entity::Port, FREE));
}

#[tokio::test]
async fn number_and_protocol_of_a_port_of_the_target_host_are_taken() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = owner_of(fixture.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere] {
        let attempt = fixture.inventory.update_port(&caller, FREE, on(to, 65_535, Protocol::Tcp));
        assert_eq!(fixture.refusal(attempt).await, already_exists(Entity::Port, "65535/Tcp"));
    }
}

#[tokio::test]
async fn bound_port_does_not_move_to_another_host() {
    let (fixture, hosts) = Hosts::new().await;
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
