use serde_json::{Value, json};
use toposcope::model::Permission;
use uuid::Uuid;

use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, VAULT, at, send_json, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{DAEMON_KEYS, Scene, daemon_body, with};

/// Creates a key with this body and returns its data.
async fn create(scene: &Scene, body: &Value) -> Value {
    scene.server().send(scene.create_daemon_key(body)).await.data().clone()
}

/// Returns the parts of an answer that the request does not determine.
fn id_and_key(data: &Value) -> (Uuid, String) {
    (data["api_key"]["id"].as_str().unwrap().parse().unwrap(), data["key"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn the_answer_is_the_record_and_the_key() {
    let scene = Scene::new().await;
    let [red, green, _] = scene.world.home.tags;
    scene.world.clock.set(at(5));
    let full = json!({
        "name": " scanner ",
        "network_id": LAB,
        "tags": [green, red],
        "expires_at": "2026-08-14T14:00:05.000001+02:00",
        "is_enabled": false,
    });
    for (body, expected) in [
        (
            daemon_body(),
            json!({"name": "scanner", "network_id": OFFICE, "tags": [], "expires_at": null, "is_enabled": true}),
        ),
        (
            with(&with(&daemon_body(), "expires_at", Value::Null), "is_enabled", Value::Null),
            json!({"name": "scanner", "network_id": OFFICE, "tags": [], "expires_at": null, "is_enabled": true}),
        ),
        (
            full,
            json!({
                "name": "scanner",
                "network_id": LAB,
                "tags": [green, red],
                "expires_at": "2026-08-14T12:00:05.000001Z",
                "is_enabled": false,
            }),
        ),
        (
            with(&daemon_body(), "tags", json!([red, green, red, red])),
            json!({
                "name": "scanner",
                "network_id": OFFICE,
                "tags": [red, green],
                "expires_at": null,
                "is_enabled": true,
            }),
        ),
    ] {
        let data = create(&scene, &body).await;
        let (id, key) = id_and_key(&data);
        let mut record = expected;
        for (field, value) in [
            ("id", json!(id)),
            ("key", json!(key)),
            ("last_used", Value::Null),
            ("created_at", json!("2026-08-14T12:00:05Z")),
            ("updated_at", json!("2026-08-14T12:00:05Z")),
        ] {
            record = with(&record, field, value);
        }
        assert_eq!(data, json!({"api_key": record, "key": key}));
    }
}

#[tokio::test]
async fn the_key_is_one_of_a_daemon_and_is_shown_this_once() {
    let scene = Scene::new().await;
    let (id, key) = id_and_key(&create(&scene, &daemon_body()).await);
    assert_eq!(key.len(), "topo_d_".len() + 32 + 6);
    assert!(key.starts_with("topo_d_"));
    let stored = scene.world.inventory.daemon_api_key(id).await.unwrap();
    assert_eq!(stored.key, format!("topo_d_…{}", &key[key.len() - 4..]));
    let daemon = scene.world.inventory.authenticate_daemon_key(&key).await.unwrap();
    assert_eq!((daemon.key_id, daemon.network_id), (id, OFFICE));
    let other = id_and_key(&create(&scene, &daemon_body()).await);
    assert_ne!((id, key), other);
}

#[tokio::test]
async fn what_only_the_server_sets_is_ignored() {
    let scene = Scene::new().await;
    let mut body = daemon_body();
    for (field, value) in [
        ("id", json!(NOBODY)),
        ("key", json!("topo_d_mine")),
        ("created_at", json!("1970-01-01T00:00:00Z")),
        ("updated_at", json!("no time at all")),
        ("last_used", json!(5)),
        ("organization_id", json!(scene.world.abroad.organization.id)),
        ("user_id", json!(NOBODY)),
        ("permissions", json!("Owner")),
    ] {
        body = with(&body, field, value);
    }
    let data = create(&scene, &body).await;
    let (id, key) = id_and_key(&data);
    assert!(id != NOBODY && key != "topo_d_mine");
    let record = &data["api_key"];
    assert_eq!(record["created_at"], json!(at(0)));
    assert_eq!((&record["updated_at"], &record["last_used"]), (&json!(at(0)), &Value::Null));
    for field in ["organization_id", "user_id", "permissions"] {
        assert!(record.get(field).is_none(), "{field}");
    }
    let keys = scene.world.inventory.daemon_api_keys(scene.world.home.organization.id).await.unwrap();
    assert!(keys.iter().any(|key| key.id == id));
}

/// A caller with access to all networks of the organization can create a daemon key for any of them.
#[tokio::test]
async fn the_network_is_one_that_the_caller_can_access() {
    let scene = Scene::new().await;
    let world = &scene.world;
    let admin = world.user(&world.home, Permission::Admin, &[]).await;
    let admin = world.sign_in(&admin).await;
    let request = |network: Uuid| {
        let body = with(&daemon_body(), "network_id", json!(network));
        send_json("POST", DAEMON_KEYS, &body)
    };
    let mut rows = Vec::new();
    for network in [OFFICE, LAB, VAULT] {
        rows.push(Row::succeeds("an Admin's", with_session(request(network), &admin)));
    }
    for network in [OFFICE, LAB] {
        rows.push(Row::succeeds("a Member's", scene.by_key(request(network))));
        rows.push(Row::succeeds("a Member's", scene.by_session(request(network))));
    }
    for network in [ELSEWHERE, NOBODY] {
        let params = json!({"entity": "Network", "id": network});
        let request = with_session(request(network), &admin);
        rows.push(Row::refused("an Admin's", request, 403, "entity_access_denied", params));
    }
    check(scene.server(), rows).await;
}
