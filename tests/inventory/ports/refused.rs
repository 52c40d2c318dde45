//! Updates of a port that are refused.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, PortUpdate};
use toposcope::model::{Permission, Protocol};
use uuid::Uuid;

use super::{BOUND, FREE, Hosts, on};
use crate::support::{
    Fixture, access_denied, already_exists, bare_host, id, in_person, not_found, owner_of, port,
    reference_invalid, through_a_key,
};

/// Returns why a caller may not change a port like this.
async fn refused(fixture: &Fixture, caller: &Caller, port: Uuid, update: PortUpdate) -> ErrorKind {
    fixture.refusal(fixture.inventory.update_port(caller, port, update)).await
}

/// A caller with access to this network only.
fn member_of(fixture: &Fixture, network: Uuid) -> Caller {
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
    fixture.inventory.put_host(foreign.organization, theirs.clone()).await.unwrap();
    let caller = owner_of(fixture.organization);
    // A scope that contains a foreign network does not grant access to it.
    let reaching = member_of(&fixture, foreign.network);
    for unknown in [id(0x99), id(3), hosts.first.id, hosts.first.services[0].id] {
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
    let to = |host: Uuid, network: Uuid| PortUpdate::new(host, network, 1.try_into().unwrap(), Protocol::Tcp);
    let unknown = reference_invalid(Entity::Network, "network_id");
    for (update, expected) in [
        (to(hosts.elsewhere.id, fixture.other_network), access_denied(fixture.other_network)),
        (to(hosts.first.id, fixture.other_network), access_denied(fixture.other_network)),
        (to(id(77), fixture.other_network), access_denied(fixture.other_network)),
        (to(hosts.first.id, foreign.network), unknown.clone()),
        (to(hosts.first.id, id(7)), unknown.clone()),
        (to(id(77), fixture.organization), unknown),
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
    fixture.inventory.put_host(foreign.organization, theirs.clone()).await.unwrap();
    let expected = reference_invalid(Entity::Host, "host_id");
    for host in [theirs.id, id(77), FREE, fixture.network] {
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

/// Everything is invalid at first, and is corrected in the order in which errors are reported.
#[tokio::test]
async fn first_error_of_an_update_is_reported() {
    let (fixture, hosts) = Hosts::new().await;
    let owner = owner_of(fixture.organization);
    let viewer = Caller::new(fixture.organization, id(1), Permission::Viewer, Scope::only([]));
    let (near, far) = (member_of(&fixture, fixture.network), member_of(&fixture, fixture.other_network));
    let to = |host: Uuid, network: Uuid, number: u16| {
        PortUpdate::new(host, network, number.try_into().unwrap(), Protocol::Tcp)
    };
    let in_use =
        ErrorKind::InUse { entity: Entity::Port, name: "22/Tcp".to_owned(), used_by: Entity::Service };
    let taken = already_exists(Entity::Port, "65535/Tcp");
    let (elsewhere, network) = (hosts.elsewhere.id, fixture.network);
    for (caller, port, update, expected) in [
        (&viewer, id(3), to(id(77), id(7), 65_535), ErrorKind::PermissionDenied),
        (&far, id(3), to(id(77), id(7), 65_535), not_found(Entity::Port, id(3))),
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
    fixture.inventory.update_port(&owner, FREE, update).await.unwrap();
}
