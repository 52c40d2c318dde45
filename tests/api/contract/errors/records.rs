//! Records that do not exist, that are out of reach, or that conflict with a request.

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::inventory::NewShare;
use toposcope::model::Permission;
use uuid::Uuid;

use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, VAULT, at, bare};
use crate::contract::row::{Produced, Row, check};
use crate::contract::scene::{
    BOUND_PORT, FOREIGN_PORT, HOST, LAB_HOST, NEIGHBOUR, PORT, Scene, VAULT_HOST, VAULT_PORT, daemon_body,
    key_path, port_body, share_path, with,
};

fn not_found(entity: &str, id: Uuid) -> Value {
    json!({"entity": entity, "id": id})
}

fn keys_and_ports(scene: &Scene, foreign_key: Uuid) -> Vec<Row> {
    let mut rows = Vec::new();
    for id in [NOBODY, FOREIGN_PORT, Uuid::nil(), HOST, scene.key_id] {
        let request = scene.put_port(id, &port_body());
        rows.push(Row::refused("port", request, 404, "entity_not_found", not_found("Port", id)));
    }
    let others = [NOBODY, scene.other_key_id, foreign_key, scene.daemon_key_id, Uuid::nil(), scene.member.id];
    for id in others {
        for request in [scene.put_key(id, &scene.key_body()), scene.by_session(bare("DELETE", &key_path(id)))]
        {
            rows.push(Row::refused("key", request, 404, "entity_not_found", not_found("User API Key", id)));
        }
    }
    // The error shows the id in canonical form, however the client wrote it.
    let id = Uuid::from_u128(0xabcd_ef01_2345_4678_9abc_def0_1234_5678);
    let request = bare("GET", &share_path(id.simple().to_string().to_uppercase()));
    rows.push(Row::refused("share", request, 404, "entity_not_found", not_found("Share", id)));
    rows
}

async fn shares(scene: &Scene) -> Vec<Row> {
    let inventory = &scene.world.inventory;
    let draft = || NewShare::new(scene.world.home.organization.id, "a share");
    let mut over = draft();
    over.expires_at = Some(at(1));
    let mut disabled = draft();
    disabled.is_enabled = false;
    let mut ids = vec![NOBODY, Uuid::nil(), HOST];
    for share in [over, disabled] {
        ids.push(inventory.create_share(share).await.unwrap().id);
    }
    let deleted = inventory.create_share(draft()).await.unwrap().id;
    inventory.delete_share(deleted).await.unwrap();
    ids.push(deleted);
    scene.world.clock.advance(Duration::from_secs(1));
    let row = |id| {
        let request = bare("GET", &share_path(id));
        Row::refused("share", request, 404, "entity_not_found", not_found("Share", id))
    };
    ids.into_iter().map(row).collect()
}

fn out_of_reach(scene: &Scene) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut denied = |name: &str, request, network| {
        let params = json!({"entity": "Network", "id": network});
        rows.push(Row::refused(name, request, 403, "entity_access_denied", params));
    };
    for network in [VAULT, NOBODY, ELSEWHERE, Uuid::nil()] {
        let request = scene.create_daemon_key(&with(&daemon_body(), "network_id", json!(network)));
        denied("a daemon's key", request, network);
    }
    denied("a port there", scene.put_port(VAULT_PORT, &port_body()), VAULT);
    let to_vault = with(&port_body(), "network_id", json!(VAULT));
    denied("a port's network", scene.put_port(PORT, &to_vault), VAULT);
    denied("a move", scene.put_port(PORT, &with(&to_vault, "host_id", json!(VAULT_HOST))), VAULT);
    denied("a move to nowhere", scene.put_port(PORT, &with(&to_vault, "host_id", json!(NOBODY))), VAULT);
    for networks in [json!([VAULT]), json!([OFFICE, LAB, VAULT])] {
        let body = with(&scene.key_body(), "network_ids", networks);
        denied("a key's networks", scene.put_key(scene.key_id, &body), VAULT);
    }
    rows
}

fn forbidden(scene: &Scene) -> Vec<Row> {
    let mut rows = Vec::new();
    let body = scene.key_body();
    for (field, id) in [
        ("organization_id", scene.world.abroad.organization.id),
        ("organization_id", NOBODY),
        ("organization_id", Uuid::nil()),
        ("user_id", NOBODY),
        ("user_id", Uuid::nil()),
    ] {
        let request = scene.put_key(scene.key_id, &with(&body, field, json!(id)));
        let params = json!({"entity": "User API Key"});
        rows.push(Row::refused(field, request, 403, "entity_update_forbidden", params));
    }
    for level in [Permission::Admin, Permission::Owner] {
        let request = scene.put_key(scene.key_id, &with(&body, "permissions", level.to_string()));
        rows.push(Row::refused("level", request, 403, "auth_permission_denied", json!({})));
    }
    rows
}

fn taken(scene: &Scene) -> Vec<Row> {
    let at = |host, network, number: u16| json!({"host_id": host, "network_id": network, "number": number, "protocol": "Tcp"});
    let exists = |name: &str| json!({"entity": "Port", "name": name});
    let in_use = json!({"entity": "Port", "name": "80/Tcp", "used_by": "Service"});
    vec![
        Row::refused(
            "on the same host",
            scene.put_port(PORT, &at(HOST, OFFICE, 80)),
            409,
            "entity_already_exists",
            exists("80/Tcp"),
        ),
        Row::refused(
            "on the host it moves to",
            scene.put_port(PORT, &at(NEIGHBOUR, OFFICE, 443)),
            409,
            "entity_already_exists",
            exists("443/Tcp"),
        ),
        Row::refused(
            "on the host it moves to, with another number",
            scene.put_port(PORT, &at(NEIGHBOUR, OFFICE, 22)),
            409,
            "entity_already_exists",
            exists("22/Tcp"),
        ),
        Row::refused(
            "a service is bound to it",
            scene.put_port(BOUND_PORT, &at(LAB_HOST, LAB, 8080)),
            409,
            "entity_in_use",
            in_use.clone(),
        ),
        Row::refused(
            "bound and taken",
            scene.put_port(BOUND_PORT, &at(NEIGHBOUR, OFFICE, 443)),
            409,
            "entity_in_use",
            in_use,
        ),
    ]
}

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let abroad = scene.world.user(&scene.world.abroad, Permission::Owner, &[]).await;
    let foreign_key = crate::common::key_for(&abroad, Permission::Owner, &[ELSEWHERE]);
    let foreign_key = scene.world.inventory.create_user_api_key(foreign_key).await.unwrap().record().id;
    let shares = shares(&scene).await;
    let before = scene.stored().await;
    let rows =
        [keys_and_ports(&scene, foreign_key), shares, out_of_reach(&scene), forbidden(&scene), taken(&scene)];
    let produced = check(scene.server(), rows.into_iter().flatten()).await;
    assert_eq!(scene.stored().await, before, "nothing of what is refused is stored");
    produced
}

#[tokio::test]
async fn what_the_records_do_not_allow_is_refused_by_the_record() {
    rows().await;
}

/// A number is taken only within its protocol, and a port does not conflict with itself.
#[tokio::test]
async fn a_number_is_free_for_the_other_protocol_and_for_the_port_that_has_it() {
    let scene = Scene::new().await;
    let udp = with(&with(&port_body(), "number", 80), "protocol", "Udp");
    check(
        scene.server(),
        [
            Row::succeeds("its own", scene.put_port(PORT, &port_body())),
            Row::succeeds("80/Udp beside 80/Tcp", scene.put_port(PORT, &udp)),
            Row::succeeds("443/Tcp is free now", scene.put_port(BOUND_PORT, &port_body())),
        ],
    )
    .await;
}
