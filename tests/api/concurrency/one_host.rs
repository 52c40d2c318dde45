//! Many clients update ports of one host at once.

use serde_json::json;
use tokio::task::JoinSet;
use toposcope::model::{Host, Port, Protocol};
use uuid::Uuid;

use super::{STORES, join_all};
use crate::common::{OFFICE, Server, World, ample, at, host, send_json, with_key};

const CLIENTS: u16 = 140;

fn port_id(number: u16) -> Uuid {
    Uuid::from_u128(0x1_0000 + u128::from(number))
}

fn with_ports() -> Host {
    let mut host = host(1, OFFICE);
    host.ports = (1..=CLIENTS)
        .map(|number| Port {
            id: port_id(number),
            host_id: host.id,
            network_id: OFFICE,
            number: number.try_into().unwrap(),
            protocol: Protocol::Tcp,
            created_at: at(0),
            updated_at: at(0),
        })
        .collect();
    host
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_updates_of_one_host_all_succeed() {
    for store in STORES {
        let world = World::with([with_ports()]).await;
        let server = Server::new(world.inventory_in(store(world.store.clone())), ample());
        let mut clients = JoinSet::new();
        for number in 1..=CLIENTS {
            let (server, key) = (server.clone(), world.key.clone());
            let target = format!("/api/v1/ports/{}", port_id(number));
            let body = json!({
                "host_id": Uuid::from_u128(1), "network_id": OFFICE, "number": 1000 + number, "protocol": "Tcp",
            });
            clients.spawn(async move {
                let reply = server.send(with_key(send_json("PUT", &target, &body), &key)).await;
                assert_eq!(reply.status, 200, "{}", reply.json);
            });
        }
        join_all(clients).await;
        let host = world.inventory.host(world.home.organization.id, Uuid::from_u128(1)).await.unwrap();
        assert!(host.ports.iter().all(|port| port.number.get() > 1000));
    }
}
