//! A record of another organization costs the same as an unknown one: the store gets the same calls, and
//! returns nothing of the other organization.

use serde_json::json;
use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::{Host, Permission, Port, Protocol};
use uuid::Uuid;

use crate::common::{
    ELSEWHERE, Logged, NOBODY, OFFICE, Reply, Server, World, ample, at, host, key_for, send_json, with_key,
};

const OWN_PORT: Uuid = Uuid::from_u128(0x51);
const FOREIGN_PORT: Uuid = Uuid::from_u128(0x52);
const OWN_HOST: Uuid = Uuid::from_u128(1);
const FOREIGN_HOST: Uuid = Uuid::from_u128(2);

/// A host with one port, 443/Tcp.
pub(crate) fn with_port(id: Uuid, network: Uuid, port: Uuid) -> Host {
    let mut host = host(id.as_u128(), network);
    host.ports.push(Port {
        id: port,
        host_id: host.id,
        network_id: network,
        number: 443.try_into().unwrap(),
        protocol: Protocol::Tcp,
        created_at: at(0),
        updated_at: at(0),
    });
    host
}

async fn world() -> World {
    let world = World::with([with_port(OWN_HOST, OFFICE, OWN_PORT)]).await;
    let theirs = with_port(FOREIGN_HOST, ELSEWHERE, FOREIGN_PORT);
    world.inventory.put_host(world.abroad.organization.id, theirs).await.unwrap();
    world
}

#[tokio::test]
async fn foreign_port_or_host_is_refused_with_the_store_calls_of_an_unknown_one() {
    let world = world().await;
    let member = world.user(&world.home, Permission::Member, &[OFFICE]).await;
    let key = world.issue(key_for(&member, Permission::Member, &[OFFICE])).await;
    let store = Logged::new(world.store.clone());
    let server = Server::new(world.inventory_in(store.clone()), ample());
    let update = async |port: Uuid, host: Uuid, network: Uuid| {
        let body = json!({"host_id": host, "network_id": network, "number": 80, "protocol": "Tcp"});
        let request = send_json("PUT", &format!("/api/v1/ports/{port}"), &body);
        let reply: Reply = server.send(with_key(request, &key)).await;
        let calls = store.take();
        assert!(calls.iter().all(|call| call.records.iter().all(|record| record.id != FOREIGN_HOST)));
        (reply.status, calls)
    };
    // The first request records the use of the key.
    update(NOBODY, OWN_HOST, OFFICE).await;
    world.store.settle().await;
    store.take();
    for (host, network) in [(OWN_HOST, OFFICE), (FOREIGN_HOST, ELSEWHERE)] {
        let unknown = update(NOBODY, host, network).await;
        let foreign = update(FOREIGN_PORT, host, network).await;
        assert_eq!(foreign, unknown);
        assert_eq!(foreign.0, 404);
    }
    let unknown = update(OWN_PORT, NOBODY, OFFICE).await;
    let foreign = update(OWN_PORT, FOREIGN_HOST, OFFICE).await;
    assert_eq!(foreign, unknown);
    assert_eq!(foreign.0, 400);
}

#[tokio::test]
async fn foreign_host_is_read_and_deleted_with_the_store_calls_of_an_unknown_one() {
    let world = world().await;
    let store = Logged::new(world.store.clone());
    let (inventory, organization) = (world.inventory_in(store.clone()), world.home.organization.id);
    let mut calls = Vec::new();
    for id in [NOBODY, FOREIGN_HOST] {
        let not_found = ErrorKind::NotFound { entity: Entity::Host, id };
        let read = inventory.host(organization, id).await;
        assert_eq!(*read.unwrap_err().kind(), not_found);
        let deleted = inventory.delete_host(organization, id).await;
        assert_eq!(*deleted.unwrap_err().kind(), not_found);
        calls.push(store.take());
    }
    assert_eq!(calls[0], calls[1]);
    assert!(calls.iter().flatten().all(|call| call.records.is_empty()), "{calls:?}");
}
