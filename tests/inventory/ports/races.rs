//! Updates of ports concurrent with changes of their hosts.

use std::collections::BTreeSet;
use toposcope::access::Caller;

use tokio::task::JoinSet;
use toposcope::inventory::{Entity, ErrorKind, Inventory, PortUpdate};
use toposcope::model::{Host, HostId, PortId, Protocol};

use super::{BOUND, FREE, Hosts, on};
use crate::support::{
    Fixture, already_exists, at_every_call, bare_host, concurrently, id, not_found, owner_of, port,
    reference_invalid,
};

/// Moves the free port to the other network.
async fn move_port(inventory: &Inventory, hosts: &Hosts) -> Result<(), ErrorKind> {
    let update = on(&hosts.elsewhere, 443, Protocol::Tcp);
    let moved = inventory.parts().replace(&owner_of(hosts.organization), FREE, update).await;
    moved.map(drop).map_err(|error| error.kind().clone())
}

/// Returns the hosts that have a port with this id.
async fn holders(fixture: &Fixture, port: PortId) -> Vec<HostId> {
    let documents = fixture.documents().await;
    let hosts = documents.iter().map(|document| serde_json::from_slice::<Host>(document).unwrap());
    hosts.filter(|host| host.ports.iter().any(|other| other.id == port)).map(|host| host.id).collect()
}

/// Moves the free port while a concurrent task changes a host. The change comes right before a call of the store, once
/// for each call.
async fn move_while<I>(
    interfere: impl AsyncFn(&Inventory, &Hosts) -> I,
    check: impl AsyncFn(&Fixture, &Hosts, Result<(), ErrorKind>),
) {
    at_every_call(
        async |fixture: &Fixture| Hosts::put(fixture).await,
        interfere,
        async |inventory, hosts| move_port(inventory, hosts).await,
        check,
    )
    .await;
}

#[tokio::test]
async fn port_whose_host_is_deleted_meanwhile_is_not_found() {
    move_while(
        async |inventory, hosts| {
            let (organization, host) = (hosts.organization, hosts.first.id);
            inventory.hosts().delete(&Caller::system(organization), host).await.unwrap();
        },
        async |fixture, hosts, result| {
            assert_eq!(result, Err(not_found(Entity::Port, FREE)));
            assert_eq!(fixture.host(hosts.elsewhere.id).await, hosts.elsewhere);
            assert_eq!(fixture.documents().await.len(), 2);
        },
    )
    .await;
}

#[tokio::test]
async fn port_does_not_move_to_a_host_that_is_deleted_meanwhile() {
    move_while(
        async |inventory, hosts| {
            let (organization, host) = (hosts.organization, hosts.elsewhere.id);
            inventory.hosts().delete(&Caller::system(organization), host).await.unwrap();
        },
        async |fixture, hosts, result| {
            assert_eq!(result, Err(reference_invalid(Entity::Host, "host_id")));
            assert_eq!(fixture.host(hosts.first.id).await, hosts.first);
        },
    )
    .await;
}

#[tokio::test]
async fn host_that_is_put_meanwhile_keeps_its_change() {
    for is_source in [true, false] {
        move_while(
            async |inventory, hosts| {
                let host = if is_source { &hosts.first } else { &hosts.elsewhere };
                let renamed = Host { name: "renamed".to_owned(), ..host.clone() };
                inventory.hosts().put(&Caller::system(hosts.organization), renamed).await.unwrap();
            },
            async |fixture, hosts, result| {
                assert_eq!(result, Ok(()));
                let host = if is_source { &hosts.first } else { &hosts.elsewhere };
                assert_eq!(fixture.host(host.id).await.name, "renamed");
                assert_eq!(holders(fixture, FREE).await, [hosts.elsewhere.id]);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn port_that_is_bound_meanwhile_does_not_move() {
    move_while(
        async |inventory, hosts| {
            let text = serde_json::to_string(&hosts.first).unwrap();
            let text = text.replace(&BOUND.to_string(), &FREE.to_string());
            let mut host: Host = serde_json::from_str(&text).unwrap();
            host.ports.retain(|port| port.number.get() != 22);
            inventory.hosts().put(&Caller::system(hosts.organization), host).await.unwrap();
        },
        async |fixture, hosts, result| {
            let (name, used_by) = ("443/Tcp".to_owned(), Entity::Service);
            assert_eq!(result, Err(ErrorKind::InUse { entity: Entity::Port, name, used_by }));
            assert_eq!(holders(fixture, FREE).await, [hosts.first.id]);
        },
    )
    .await;
}

#[tokio::test]
async fn port_that_moves_elsewhere_meanwhile_ends_where_the_last_update_sends_it() {
    move_while(
        async |inventory, hosts| {
            let update = on(&hosts.neighbour, 443, Protocol::Tcp);
            let caller = owner_of(hosts.organization);
            inventory.parts().replace(&caller, FREE, update).await.unwrap();
        },
        async |fixture, hosts, result| {
            assert_eq!(result, Ok(()));
            assert_eq!(holders(fixture, FREE).await, [hosts.elsewhere.id]);
        },
    )
    .await;
}

#[tokio::test]
async fn number_that_is_taken_meanwhile_is_refused() {
    move_while(
        async |inventory, hosts| {
            let mut host = hosts.elsewhere.clone();
            host.ports.push(port(&host, id(0x77), 443, Protocol::Tcp));
            inventory.hosts().put(&Caller::system(hosts.organization), host).await.unwrap();
        },
        async |fixture, hosts, result| {
            assert_eq!(result, Err(already_exists(Entity::Port, "443/Tcp")));
            assert_eq!(fixture.host(hosts.first.id).await, hosts.first);
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_of_many_concurrent_ports_gets_the_number_that_all_want() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.ports =
        (0..16).map(|place| port(&host, id(100 + place), 1000 + place as u16, Protocol::Tcp)).collect();
    fixture.put(&host).await;
    let updates = concurrently(&fixture, 16, |fixture, place| async move {
        let update = PortUpdate::new(id(1), fixture.network, 443.try_into().unwrap(), Protocol::Tcp);
        let caller = owner_of(fixture.organization);
        fixture.inventory.parts().replace(&caller, id(100 + u128::from(place)), update).await
    });
    let mut winners = Vec::new();
    for update in updates.await {
        match update {
            Ok(port) => winners.push(port.id),
            Err(error) => assert_eq!(*error.kind(), already_exists(Entity::Port, "443/Tcp")),
        }
    }
    let found = fixture.host(host.id).await;
    let holders = found.ports.iter().filter(|port| port.number.get() == 443).map(|port| port.id);
    assert_eq!(holders.collect::<Vec<_>>(), winners);
    assert_eq!((winners.len(), found.ports.len()), (1, 16));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn ports_that_are_moved_concurrently_are_each_on_one_host() {
    let fixture = Fixture::new().await;
    let (mut left, mut right) = (bare_host(id(1), fixture.network), bare_host(id(2), fixture.other_network));
    for place in 0..8_u16 {
        let (port_id, number) = (id(100 + u128::from(place)), 1000 + place);
        let host = if place % 2 == 0 { &mut left } else { &mut right };
        let port = port(host, port_id, number, Protocol::Tcp);
        host.ports.push(port);
    }
    for host in [&left, &right] {
        fixture.put(host).await;
    }
    let mut tasks = JoinSet::new();
    for task in 0..8_u16 {
        let (inventory, caller) = (fixture.inventory.clone(), owner_of(fixture.organization));
        let (left, right) = (left.clone(), right.clone());
        tasks.spawn(async move {
            for round in 0..20_u16 {
                let place = (task + round) % 8;
                let to = if round % 2 == 0 { &right } else { &left };
                let update = on(to, 1000 + place, Protocol::Tcp);
                match inventory.parts().replace(&caller, id(100 + u128::from(place)), update).await {
                    Ok(port) => assert_eq!(port.host_id, to.id),
                    Err(error) => assert!(matches!(error.kind(), ErrorKind::Conflict { .. }), "{error}"),
                }
            }
        });
    }
    tasks.join_all().await;
    let (left, right) = (fixture.host(left.id).await, fixture.host(right.id).await);
    assert!(left.ports.iter().all(|port| (port.host_id, port.network_id) == (left.id, left.network_id)));
    assert!(right.ports.iter().all(|port| (port.host_id, port.network_id) == (right.id, right.network_id)));
    let ids: BTreeSet<PortId> = left.ports.iter().chain(&right.ports).map(|port| port.id).collect();
    assert_eq!((ids.len(), left.ports.len() + right.ports.len()), (8, 8));
}
