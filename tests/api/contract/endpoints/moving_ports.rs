//! Ports that move to another host, possibly on another network.

use serde_json::{Value, json};
use toposcope::model::{Host, Permission};
use uuid::Uuid;

use crate::common::{LAB, OFFICE, VAULT, at, bare, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{
    BOUND_PORT, HOST, HOSTS, LAB_HOST, NEIGHBOUR, PORT, Scene, VAULT_HOST, VAULT_PORT, port_body, put_port,
    with,
};

fn to(host: Uuid, network: Uuid, number: u16) -> Value {
    let body = with(&with(&port_body(), "host_id", json!(host)), "network_id", json!(network));
    with(&body, "number", number)
}

async fn host(scene: &Scene, id: Uuid) -> Host {
    scene.world.inventory.host(scene.world.home.organization.id, id).await.unwrap()
}

#[tokio::test]
async fn a_port_moves_with_its_id_and_the_time_it_was_made() {
    let scene = Scene::new().await;
    for (second, (target, network, number)) in
        (1..).zip([(NEIGHBOUR, OFFICE, 80), (LAB_HOST, LAB, 443), (HOST, OFFICE, 8443)])
    {
        scene.world.clock.set(at(second));
        let reply = scene.server().send(scene.put_port(PORT, &to(target, network, number))).await;
        let data = reply.data();
        assert_eq!((&data["id"], &data["created_at"]), (&json!(PORT), &json!(at(0))));
        assert_eq!((&data["host_id"], &data["network_id"]), (&json!(target), &json!(network)));
        assert_eq!(data["updated_at"], json!(at(second)));
        for id in [HOST, NEIGHBOUR, LAB_HOST] {
            let ports = host(&scene, id).await.ports;
            let here: Vec<_> = ports.iter().filter(|port| port.id == PORT).collect();
            assert_eq!(here.len(), usize::from(id == target), "it is on one host");
            assert!(here.iter().all(|port| (port.host_id, port.network_id) == (target, network)));
        }
    }
}

#[tokio::test]
async fn the_times_of_both_hosts_move_along_and_no_others() {
    let scene = Scene::new().await;
    scene.world.clock.set(at(3));
    scene.server().send(scene.put_port(PORT, &to(LAB_HOST, LAB, 443))).await.data();
    for (id, updated_at) in [(HOST, at(3)), (LAB_HOST, at(3)), (NEIGHBOUR, at(0)), (VAULT_HOST, at(0))] {
        let host = host(&scene, id).await;
        assert_eq!((host.updated_at, host.created_at), (updated_at, at(0)), "{id}");
    }
    let stays = host(&scene, HOST).await;
    assert!(stays.services.iter().all(|service| service.updated_at == at(0)));
    let request = scene.by_key(bare("GET", &format!("{HOSTS}?order_by=updated_at&order_direction=desc")));
    assert_eq!(scene.server().send(request).await.ids(), [1, 3, 2], "and the list knows");
}

/// Only the moved port is checked for services bound to it.
#[tokio::test]
async fn another_port_of_the_host_may_be_bound() {
    let scene = Scene::new().await;
    scene.server().send(scene.put_port(PORT, &to(LAB_HOST, LAB, 443))).await.data();
    let old = host(&scene, HOST).await;
    assert_eq!(old.ports.iter().map(|port| port.id).collect::<Vec<_>>(), [BOUND_PORT]);
}

#[tokio::test]
async fn both_the_old_and_the_new_network_are_those_that_the_caller_can_access() {
    let scene = Scene::new().await;
    let world = &scene.world;
    let owner = world.user(&world.home, Permission::Owner, &[]).await;
    let owner = world.sign_in(&owner).await;
    let denied = |network: Uuid| json!({"entity": "Network", "id": network});
    let out = || put_port(VAULT_PORT, &to(LAB_HOST, LAB, 443));
    let back = || put_port(VAULT_PORT, &to(VAULT_HOST, VAULT, 443));
    let rows = [
        Row::refused("out of it", scene.by_key(out()), 403, "entity_access_denied", denied(VAULT)),
        Row::succeeds("out of it, by an Owner", with_session(out(), &owner)),
        Row::refused("into it", scene.by_key(back()), 403, "entity_access_denied", denied(VAULT)),
        Row::refused(
            "into it, in person",
            scene.by_session(back()),
            403,
            "entity_access_denied",
            denied(VAULT),
        ),
        Row::succeeds("within what was granted", scene.by_key(put_port(VAULT_PORT, &to(LAB_HOST, LAB, 80)))),
        Row::succeeds("into it, by an Owner", with_session(back(), &owner)),
    ];
    check(scene.server(), rows).await;
}

/// An inaccessible host is not examined: not even for conflicts or bindings.
#[tokio::test]
async fn access_comes_before_everything_that_the_records_say() {
    let scene = Scene::new().await;
    let denied = || json!({"entity": "Network", "id": VAULT});
    let rows = [
        ("taken there", scene.put_port(PORT, &to(VAULT_HOST, VAULT, 443))),
        ("bound here", scene.put_port(BOUND_PORT, &to(VAULT_HOST, VAULT, 80))),
        ("on another network", scene.put_port(PORT, &to(LAB_HOST, VAULT, 443))),
        ("from there to nowhere", scene.put_port(VAULT_PORT, &to(Uuid::nil(), Uuid::nil(), 443))),
    ];
    let rows = rows.map(|(name, request)| Row::refused(name, request, 403, "entity_access_denied", denied()));
    check(scene.server(), rows).await;
}

/// Both hosts are stored as a whole, so the rest of both is unchanged.
#[tokio::test]
async fn nothing_else_of_the_hosts_changes() {
    let scene = Scene::new().await;
    let (from, target) = (host(&scene, HOST).await, host(&scene, NEIGHBOUR).await);
    scene.world.clock.set(at(1));
    scene.server().send(scene.put_port(PORT, &to(NEIGHBOUR, OFFICE, 1))).await.data();
    scene.server().send(scene.put_port(PORT, &to(HOST, OFFICE, 443))).await.data();
    let without_times = |host: Host| {
        let mut host = Host { updated_at: at(0), ..host };
        host.ports.iter_mut().for_each(|port| port.updated_at = at(0));
        host
    };
    assert_eq!(without_times(host(&scene, HOST).await), from);
    assert_eq!(without_times(host(&scene, NEIGHBOUR).await), target);
}
