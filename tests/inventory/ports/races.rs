//! Updates of ports concurrent with changes of their hosts.

use std::collections::BTreeSet;

use tokio::task::JoinSet;
use toposcope::inventory::{Entity, ErrorKind, Inventory, PortUpdate};
use toposcope::model::{Host, Protocol};
use uuid::Uuid;

use super::{BOUND, FREE, Hosts, on};
use crate::support::{
    Fixture, already_exists, at_every_call, bare_host, id, not_found, owner_of, port, reference_invalid,
};

struct Scene {
    organization: Uuid,
    hosts: Hosts,
}

impl Scene {
    async fn new(fixture: &Fixture) -> Self {
        Self { organization: fixture.organization, hosts: Hosts::put(fixture).await }
    }

    /// Moves the free port to the other network.
    async fn move_port(&self, inventory: &Inventory) -> Result<(), ErrorKind> {
        let update = on(&self.hosts.elsewhere, 443, Protocol::Tcp);
        let moved = inventory.update_port(&owner_of(self.organization), FREE, update).await;
        moved.map(drop).map_err(|error| error.kind().clone())
    }
}

/// Returns the hosts that have a port with this id.
async fn holders(fixture: &Fixture, port: Uuid) -> Vec<Uuid> {
    let documents = fixture.documents().await;
    let hosts = documents.iter().map(|document| serde_json::from_slice::<Host>(document).unwrap());
    hosts.filter(|host| host.ports.iter().any(|other| other.id == port)).map(|host| host.id).collect()
}

/// Moves the free port while a concurrent task changes a host right before a call of the store, once for each
/// call.
async fn move_while<I>(
    interfere: impl AsyncFn(&Inventory, &Scene) -> I,
    check: impl AsyncFn(&Fixture, &Scene, Result<(), ErrorKind>),
) {
    at_every_call(
        async |fixture: &Fixture| Scene::new(fixture).await,
        interfere,
        async |inventory, scene: &Scene| scene.move_port(&inventory).await,
        check,
    )
    .await;
}

#[tokio::test]
async fn a_port_whose_host_is_deleted_meanwhile_is_gone() {
    move_while(
        async |inventory, scene| {
            let (organization, host) = (scene.organization, scene.hosts.first.id);
            inventory.delete_host(organization, host).await.unwrap()
        },
        async |fixture, scene, result| {
            assert_eq!(result, Err(not_found(Entity::Port, FREE)));
            assert_eq!(fixture.host(scene.hosts.elsewhere.id).await, scene.hosts.elsewhere);
            assert_eq!(fixture.documents().await.len(), 2);
        },
    )
    .await;
}

#[tokio::test]
async fn a_port_does_not_move_to_a_host_that_is_deleted_meanwhile() {
    move_while(
        async |inventory, scene| {
            let (organization, host) = (scene.organization, scene.hosts.elsewhere.id);
            inventory.delete_host(organization, host).await.unwrap()
        },
        async |fixture, scene, result| {
            assert_eq!(result, Err(reference_invalid(Entity::Host, "host_id")));
            assert_eq!(fixture.host(scene.hosts.first.id).await, scene.hosts.first);
        },
    )
    .await;
}

#[tokio::test]
async fn what_is_put_meanwhile_is_not_lost() {
    for is_source in [true, false] {
        move_while(
            async |inventory, scene| {
                let host = if is_source { &scene.hosts.first } else { &scene.hosts.elsewhere };
                let renamed = Host { name: "renamed".to_owned(), ..host.clone() };
                inventory.put_host(scene.organization, renamed).await.unwrap();
            },
            async |fixture, scene, result| {
                assert_eq!(result, Ok(()));
                let host = if is_source { &scene.hosts.first } else { &scene.hosts.elsewhere };
                assert_eq!(fixture.host(host.id).await.name, "renamed");
                assert_eq!(holders(fixture, FREE).await, [scene.hosts.elsewhere.id]);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn a_port_that_a_service_is_bound_to_meanwhile_stays() {
    move_while(
        async |inventory, scene| {
            let text = serde_json::to_string(&scene.hosts.first).unwrap();
            let text = text.replace(&BOUND.to_string(), &FREE.to_string());
            let mut host: Host = serde_json::from_str(&text).unwrap();
            host.ports.retain(|port| port.number.get() != 22);
            inventory.put_host(scene.organization, host).await.unwrap();
        },
        async |fixture, scene, result| {
            let (name, used_by) = ("443/Tcp".to_owned(), Entity::Service);
            assert_eq!(result, Err(ErrorKind::InUse { entity: Entity::Port, name, used_by }));
            assert_eq!(holders(fixture, FREE).await, [scene.hosts.first.id]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_port_that_moves_elsewhere_meanwhile_goes_where_it_was_sent_last() {
    move_while(
        async |inventory, scene| {
            let update = on(&scene.hosts.neighbour, 443, Protocol::Tcp);
            let caller = owner_of(scene.organization);
            inventory.update_port(&caller, FREE, update).await.unwrap();
        },
        async |fixture, scene, result| {
            assert_eq!(result, Ok(()));
            assert_eq!(holders(fixture, FREE).await, [scene.hosts.elsewhere.id]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_number_that_is_taken_meanwhile_is_taken() {
    move_while(
        async |inventory, scene| {
            let mut host = scene.hosts.elsewhere.clone();
            host.ports.push(port(&host, id(0x77), 443, Protocol::Tcp));
            inventory.put_host(scene.organization, host).await.unwrap();
        },
        async |fixture, scene, result| {
            let name = "443/Tcp".to_owned();
            assert_eq!(result, Err(already_exists(Entity::Port, name)));
            assert_eq!(fixture.host(scene.hosts.first.id).await, scene.hosts.first);
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn of_many_ports_that_want_one_number_at_once_one_gets_it() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.ports =
        (0..16).map(|place| port(&host, id(100 + place), 1000 + place as u16, Protocol::Tcp)).collect();
    fixture.put(&host).await;
    let mut tasks = JoinSet::new();
    for place in 0..16 {
        let (inventory, caller) = (fixture.inventory.clone(), owner_of(fixture.organization));
        let update = PortUpdate::new(host.id, fixture.network, 443.try_into().unwrap(), Protocol::Tcp);
        tasks.spawn(async move { inventory.update_port(&caller, id(100 + place), update).await });
    }
    let mut winners = Vec::new();
    while let Some(result) = tasks.join_next().await {
        match result.unwrap() {
            Ok(port) => winners.push(port.id),
            Err(error) => {
                let taken = already_exists(Entity::Port, "443/Tcp");
                assert_eq!(*error.kind(), taken);
            }
        }
    }
    let found = fixture.host(host.id).await;
    let holders = found.ports.iter().filter(|port| port.number.get() == 443).map(|port| port.id);
    assert_eq!(holders.collect::<Vec<_>>(), winners);
    assert_eq!((winners.len(), found.ports.len()), (1, 16));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn ports_that_are_moved_to_and_fro_at_once_are_each_on_one_host() {
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
                match inventory.update_port(&caller, id(100 + u128::from(place)), update).await {
                    Ok(port) => assert_eq!(port.host_id, to.id),
                    Err(error) => assert!(matches!(error.kind(), ErrorKind::Conflict { .. }), "{error}"),
                }
            }
        });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap();
    }
    let (left, right) = (fixture.host(left.id).await, fixture.host(right.id).await);
    assert!(left.ports.iter().all(|port| (port.host_id, port.network_id) == (left.id, left.network_id)));
    assert!(right.ports.iter().all(|port| (port.host_id, port.network_id) == (right.id, right.network_id)));
    let ids: BTreeSet<Uuid> = left.ports.iter().chain(&right.ports).map(|port| port.id).collect();
    assert_eq!((ids.len(), left.ports.len() + right.ports.len()), (8, 8));
}
