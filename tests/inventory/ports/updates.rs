//! Updates of ports, within their host and to another one, and their refusals.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, HostQuery, PortUpdate};
use toposcope::model::{Host, HostId, HostOrderField, NetworkId, Permission, Port, PortId, Protocol};

use super::{BOUND, FREE, Hosts, on};
use crate::support::{
    Fixture, access_denied, already_exists, bare_host, id, in_person, not_found, owner_of, port,
    reference_invalid, through_a_key, time, uuid,
};

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
        let changed = fixture.inventory.parts().replace(&caller, FREE, update).await.unwrap();
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
    let changed =
        fixture.inventory.parts().replace(&owner_of(fixture.organization), FREE, update).await.unwrap();
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
        let changed = fixture.inventory.parts().replace(&owner_of(fixture.organization), port, update).await;
        assert_eq!(changed.unwrap(), Port { updated_at: time(LATER), ..before });
    }
    assert_eq!(fixture.host(hosts.first.id).await.updated_at, time(LATER));
}

#[tokio::test]
async fn bound_port_is_renumbered_and_stays_bound() {
    let (fixture, hosts) = Hosts::new().await;
    let update = on(&hosts.first, 2222, Protocol::Tcp);
    fixture.inventory.parts().replace(&owner_of(fixture.organization), BOUND, update).await.unwrap();
    assert_eq!(fixture.host(hosts.first.id).await.services, hosts.first.services);
}

#[tokio::test]
async fn port_update_moves_the_host_in_the_order_by_update_time() {
    let (fixture, hosts) = Hosts::new().await;
    fixture.clock.set(time(LATER));
    let update = on(&hosts.first, 8443, Protocol::Tcp);
    let caller = owner_of(fixture.organization);
    fixture.inventory.parts().replace(&caller, FREE, update).await.unwrap();
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::UpdatedAt);
    let page = fixture.inventory.hosts().list(&caller, &query).await.unwrap();
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
            let changed = fixture.inventory.parts().replace(&caller, FREE, update).await.unwrap();
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
        let attempt = fixture.inventory.parts().replace(&caller, FREE, on(&hosts.first, number, protocol));
        let taken = ErrorKind::AlreadyExists { entity: Entity::Port, name: name.to_owned() };
        assert_eq!(fixture.refusal(attempt).await, taken);
    }
    // The number is free on another host, and for another protocol.
    let update = on(&hosts.first, 22, Protocol::Udp);
    fixture.inventory.parts().replace(&caller, FREE, update).await.unwrap();
}

fn without(host: Host, port: PortId) -> Host {
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
            fixture.inventory.parts().replace(&owner_of(fixture.organization), FREE, update).await.unwrap();
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
        let moved =
            fixture.inventory.parts().replace(&caller, FREE, on(to, 443, Protocol::Tcp)).await.unwrap();
        assert_eq!((moved.host_id, moved.network_id), (to.id, to.network_id));
    }
    // The source host no longer refers to the port, and the target host has its id.
    fixture.delete(hosts.first.id).await.unwrap();
    let update = on(&hosts.elsewhere, 444, Protocol::Tcp);
    fixture.inventory.parts().replace(&caller, FREE, update).await.unwrap();
    let mut claimant = hosts.neighbour.clone();
    claimant.ports.push(port(&claimant, FREE, 443, Protocol::Tcp));
    let claim = fixture.try_put(claimant);
    assert_eq!(fixture.refusal(claim).await, already_exists(Entity::Port, &FREE));
    fixture.delete(hosts.elsewhere.id).await.unwrap();
    let gone = fixture.inventory.parts().replace(&caller, FREE, update);
    assert_eq!(fixture.refusal(gone).await, not_found(Entity::Port, FREE));
}

#[tokio::test]
async fn number_and_protocol_of_a_port_of_the_target_host_are_taken() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = owner_of(fixture.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere] {
        let attempt = fixture.inventory.parts().replace(&caller, FREE, on(to, 65_535, Protocol::Tcp));
        assert_eq!(fixture.refusal(attempt).await, already_exists(Entity::Port, "65535/Tcp"));
    }
}

#[tokio::test]
async fn bound_port_does_not_move_to_another_host() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = owner_of(fixture.organization);
    for to in [&hosts.neighbour, &hosts.elsewhere] {
        for (number, protocol) in [(22, Protocol::Tcp), (2222, Protocol::Udp), (65_535, Protocol::Tcp)] {
            let attempt = fixture.inventory.parts().replace(&caller, BOUND, on(to, number, protocol));
            let (entity, used_by) = (Entity::Port, Entity::Service);
            // The error has the current name, not the new one.
            let in_use = ErrorKind::InUse { entity, name: "22/Tcp".to_owned(), used_by };
            assert_eq!(fixture.refusal(attempt).await, in_use);
        }
    }
    let mut first = fixture.host(hosts.first.id).await;
    first.services.retain(|service| service.name != "ssh");
    fixture.put(&first).await;
    let update = on(&hosts.elsewhere, 22, Protocol::Tcp);
    fixture.inventory.parts().replace(&caller, BOUND, update).await.unwrap();
}

/// Returns why a caller may not change a port like this.
async fn refused(fixture: &Fixture, caller: &Caller, port: PortId, update: PortUpdate) -> ErrorKind {
    fixture.refusal(fixture.inventory.parts().replace(caller, port, update)).await
}

/// A caller with access to this network only.
fn member_of(fixture: &Fixture, network: NetworkId) -> Caller {
    Caller::new(fixture.organization, id(1), Permission::Member, Scope::only([network]))
}

#[tokio::test]
async fn viewer_may_not_update_ports() {
    let (fixture, hosts) = Hosts::new().await;
    let networks = [fixture.network, fixture.other_network];
    let viewer = fixture.user("v@example.net", Permission::Viewer, &networks).await;
    let admin = fixture.user("a@example.net", Permission::Admin, &networks).await;
    let by_key = in_person(&admin).through_key(id(1), Permission::Viewer, networks);
    for caller in [in_person(&viewer), through_a_key(&viewer), by_key] {
        for port in [FREE, id(3)] {
            let update = on(&hosts.first, 8443, Protocol::Tcp);
            assert_eq!(refused(&fixture, &caller, port, update).await, ErrorKind::PermissionDenied);
        }
    }
}

#[tokio::test]
async fn unknown_or_foreign_port_is_not_found() {
    let (fixture, hosts) = Hosts::new().await;
    let foreign = fixture.foreign().await;
    let mut theirs = bare_host(id(9), foreign.network);
    theirs.ports = vec![port(&theirs, id(0x99), 443, Protocol::Tcp)];
    fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();
    let caller = owner_of(fixture.organization);
    // A scope that contains a foreign network does not grant access to it.
    let reaching = member_of(&fixture, foreign.network);
    for unknown in [id(0x99), id(3), hosts.first.id.uuid().into(), hosts.first.services[0].id.uuid().into()] {
        for update in [on(&hosts.first, 8443, Protocol::Tcp), on(&theirs, 8443, Protocol::Tcp)] {
            for caller in [&caller, &reaching] {
                let expected = not_found(Entity::Port, unknown);
                assert_eq!(refused(&fixture, caller, unknown, update).await, expected);
            }
        }
    }
}

#[tokio::test]
async fn port_on_an_inaccessible_network_is_denied() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = member_of(&fixture, fixture.other_network);
    for update in [
        on(&hosts.first, 8443, Protocol::Tcp),
        on(&hosts.elsewhere, 8443, Protocol::Tcp),
        PortUpdate::new(id(3), id(7), 1.try_into().unwrap(), Protocol::Tcp),
    ] {
        assert_eq!(refused(&fixture, &caller, FREE, update).await, access_denied(fixture.network));
    }
    let nowhere = Caller::new(fixture.organization, id(1), Permission::Owner, Scope::only([]));
    let update = on(&hosts.first, 8443, Protocol::Tcp);
    assert_eq!(refused(&fixture, &nowhere, FREE, update).await, access_denied(fixture.network));
}

#[tokio::test]
async fn port_does_not_move_to_an_inaccessible_or_foreign_network() {
    let (fixture, hosts) = Hosts::new().await;
    let foreign = fixture.foreign().await;
    let caller = member_of(&fixture, fixture.network);
    let reaching = Scope::only([fixture.network, foreign.network]);
    let reaching = Caller::new(fixture.organization, id(1), Permission::Member, reaching);
    let to = |host: HostId, network: NetworkId| {
        PortUpdate::new(host, network, 1.try_into().unwrap(), Protocol::Tcp)
    };
    let unknown = reference_invalid(Entity::Network, "network_id");
    for (update, expected) in [
        (to(hosts.elsewhere.id, fixture.other_network), access_denied(fixture.other_network)),
        (to(hosts.first.id, fixture.other_network), access_denied(fixture.other_network)),
        (to(id(77), fixture.other_network), access_denied(fixture.other_network)),
        (to(hosts.first.id, foreign.network), unknown.clone()),
        (to(hosts.first.id, id(7)), unknown.clone()),
        (to(id(77), fixture.organization.uuid().into()), unknown),
    ] {
        for caller in [&caller, &reaching] {
            assert_eq!(refused(&fixture, caller, FREE, update).await, expected);
        }
    }
}

#[tokio::test]
async fn port_does_not_move_to_an_unknown_or_foreign_host() {
    let (fixture, hosts) = Hosts::new().await;
    let foreign = fixture.foreign().await;
    let theirs = bare_host(id(9), foreign.network);
    fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();
    let expected = reference_invalid(Entity::Host, "host_id");
    for host in [theirs.id, id(77), FREE.uuid().into(), fixture.network.uuid().into()] {
        let update = PortUpdate::new(host, fixture.network, 1.try_into().unwrap(), Protocol::Tcp);
        let caller = owner_of(fixture.organization);
        assert_eq!(refused(&fixture, &caller, FREE, update).await, expected);
        assert_eq!(refused(&fixture, &caller, hosts.first.ports[0].id, update).await, expected);
    }
}

#[tokio::test]
async fn host_of_an_update_must_be_on_the_network_of_the_update() {
    let (fixture, hosts) = Hosts::new().await;
    let caller = owner_of(fixture.organization);
    let mismatch = ErrorKind::NetworkMismatch { entity: Entity::Host };
    for (host, network) in [
        (&hosts.first, fixture.other_network),
        (&hosts.neighbour, fixture.other_network),
        (&hosts.elsewhere, fixture.network),
    ] {
        let update = PortUpdate::new(host.id, network, 1.try_into().unwrap(), Protocol::Tcp);
        for port in [FREE, BOUND] {
            assert_eq!(refused(&fixture, &caller, port, update).await, mismatch);
        }
    }
    // For an inaccessible host only the mismatch is reported, and nothing about its contents.
    let update =
        PortUpdate::new(hosts.elsewhere.id, fixture.network, 65_535.try_into().unwrap(), Protocol::Tcp);
    assert_eq!(refused(&fixture, &member_of(&fixture, fixture.network), FREE, update).await, mismatch);
}

/// All fields are invalid at first. They are corrected in the order in which errors are
/// reported.
#[tokio::test]
async fn first_error_of_an_update_is_reported() {
    let (fixture, hosts) = Hosts::new().await;
    let owner = owner_of(fixture.organization);
    let viewer = Caller::new(fixture.organization, id(1), Permission::Viewer, Scope::only([]));
    let (near, far) = (member_of(&fixture, fixture.network), member_of(&fixture, fixture.other_network));
    let to = |host: HostId, network: NetworkId, number: u16| {
        PortUpdate::new(host, network, number.try_into().unwrap(), Protocol::Tcp)
    };
    let in_use =
        ErrorKind::InUse { entity: Entity::Port, name: "22/Tcp".to_owned(), used_by: Entity::Service };
    let taken = already_exists(Entity::Port, "65535/Tcp");
    let (elsewhere, network) = (hosts.elsewhere.id, fixture.network);
    for (caller, port, update, expected) in [
        (&viewer, id(3), to(id(77), id(7), 65_535), ErrorKind::PermissionDenied),
        (&far, id(3), to(id(77), id(7), 65_535), not_found(Entity::Port, uuid(3))),
        (&far, BOUND, to(id(77), id(7), 65_535), access_denied(network)),
        (&near, BOUND, to(id(77), id(7), 65_535), reference_invalid(Entity::Network, "network_id")),
        (&near, BOUND, to(id(77), fixture.other_network, 65_535), access_denied(fixture.other_network)),
        (&owner, BOUND, to(id(77), network, 65_535), reference_invalid(Entity::Host, "host_id")),
        (&owner, BOUND, to(elsewhere, network, 65_535), ErrorKind::NetworkMismatch { entity: Entity::Host }),
        (&owner, BOUND, to(elsewhere, fixture.other_network, 65_535), in_use),
        (&owner, FREE, to(elsewhere, fixture.other_network, 65_535), taken),
    ] {
        assert_eq!(refused(&fixture, caller, port, update).await, expected);
    }
    let update = to(elsewhere, fixture.other_network, 443);
    fixture.inventory.parts().replace(&owner, FREE, update).await.unwrap();
}
