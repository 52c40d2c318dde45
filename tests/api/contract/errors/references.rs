//! References to records that do not exist or belong to another organization.

use serde_json::json;
use uuid::Uuid;

use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, VAULT};
use crate::contract::row::{Produced, Row, check};
use crate::contract::scene::{
    BOUND_PORT, FOREIGN_HOST, FOREIGN_PORT, HOST, LAB_HOST, PORT, Scene, VAULT_HOST, daemon_body, port_body,
    with,
};

fn tags(scene: &Scene) -> Vec<Row> {
    let [red, green, blue] = scene.world.home.tags;
    let foreign = scene.world.abroad.tags[0];
    let mut rows = Vec::new();
    for (tags, field) in [
        (vec![NOBODY], "tags.0"),
        (vec![foreign], "tags.0"),
        (vec![Uuid::nil()], "tags.0"),
        (vec![OFFICE], "tags.0"),
        (vec![red, foreign], "tags.1"),
        (vec![red, green, blue, NOBODY], "tags.3"),
        (vec![red, green, NOBODY, foreign], "tags.2"),
    ] {
        let params = json!({"entity": "Tag", "field": field});
        for request in [
            scene.create_daemon_key(&with(&daemon_body(), "tags", json!(tags))),
            scene.put_key(scene.key_id, &with(&scene.key_body(), "tags", json!(tags))),
        ] {
            rows.push(Row::refused(field, request, 400, "entity_reference_invalid", params.clone()));
        }
    }
    rows
}

fn networks(scene: &Scene) -> Vec<Row> {
    let mut rows = Vec::new();
    for (networks, field) in [
        (vec![NOBODY], "network_ids.0"),
        (vec![ELSEWHERE], "network_ids.0"),
        (vec![HOST], "network_ids.0"),
        (vec![OFFICE, NOBODY], "network_ids.1"),
        (vec![OFFICE, LAB, OFFICE, ELSEWHERE], "network_ids.3"),
        // An own network without a grant is a different error, which is checked later.
        (vec![VAULT, NOBODY], "network_ids.1"),
    ] {
        let body = with(&scene.key_body(), "network_ids", json!(networks));
        let params = json!({"entity": "Network", "field": field});
        let request = scene.put_key(scene.key_id, &body);
        rows.push(Row::refused(field, request, 400, "entity_reference_invalid", params));
    }
    for network in [NOBODY, ELSEWHERE, Uuid::nil(), HOST] {
        let params = json!({"entity": "Network", "field": "network_id"});
        let request = scene.put_port(PORT, &with(&port_body(), "network_id", json!(network)));
        rows.push(Row::refused("the network", request, 400, "entity_reference_invalid", params));
    }
    rows
}

fn hosts(scene: &Scene) -> Vec<Row> {
    let mut rows = Vec::new();
    for host in [NOBODY, FOREIGN_HOST, Uuid::nil(), OFFICE, PORT] {
        let params = json!({"entity": "Host", "field": "host_id"});
        let request = scene.put_port(PORT, &with(&port_body(), "host_id", json!(host)));
        rows.push(Row::refused("the host", request, 400, "entity_reference_invalid", params));
    }
    for (name, host, network) in [
        ("the same host, another network", HOST, LAB),
        ("another host, the same network", LAB_HOST, OFFICE),
        ("a host of a network that was not granted", VAULT_HOST, OFFICE),
    ] {
        let body = with(&with(&port_body(), "host_id", json!(host)), "network_id", json!(network));
        let params = json!({"entity": "Host"});
        let request = scene.put_port(PORT, &body);
        rows.push(Row::refused(name, request, 400, "entity_network_mismatch", params));
    }
    rows
}

/// Of several invalid references, the one checked first is reported.
fn order(scene: &Scene) -> Vec<Row> {
    let wrong = json!({"host_id": NOBODY, "network_id": NOBODY, "number": 80, "protocol": "Tcp"});
    let params = json!({"entity": "Network", "field": "network_id"});
    let network = scene.put_port(BOUND_PORT, &wrong);
    let missing = scene.put_port(FOREIGN_PORT, &wrong);
    vec![
        Row::refused("network before host", network, 400, "entity_reference_invalid", params),
        Row::refused(
            "the port before all of it",
            missing,
            404,
            "entity_not_found",
            json!({"entity": "Port", "id": FOREIGN_PORT}),
        ),
    ]
}

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let before = scene.stored().await;
    let rows = [tags(&scene), networks(&scene), hosts(&scene), order(&scene)];
    let produced = check(scene.server(), rows.into_iter().flatten()).await;
    assert_eq!(scene.stored().await, before, "nothing of what is refused is stored");
    produced
}

#[tokio::test]
async fn a_reference_to_what_is_not_there_is_refused_by_its_path() {
    rows().await;
}
