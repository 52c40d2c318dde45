//! Behaviour of existing clients.

use http::Request;
use serde_json::{Value, json};
use uuid::Uuid;

use super::row::{Row, check};
use super::scene::{
    BOUND_PORT, DAEMON_KEYS, HOST, HOSTS, LAB_HOST, NEIGHBOUR, PORT, Scene, daemon_body, port_body, put_port,
    with, without,
};
use crate::common::{LAB, OFFICE, at, get, send_json};

const EPOCH: &str = "1970-01-01T00:00:00Z";

fn list(scene: &Scene, query: &str) -> Request<String> {
    scene.by_key(get(&format!("{HOSTS}?{query}")))
}

/// Clients repeat the key, and send unset parameters as empty values.
#[tokio::test]
async fn lists_are_repeated_keys_and_what_is_not_set_is_empty() {
    let scene = Scene::new().await;
    for (query, expected) in [
        (format!("ids={HOST}&ids={LAB_HOST}"), &[1, 3][..]),
        (format!("ids={HOST}&ids={HOST}&ids={NEIGHBOUR}"), &[1, 2]),
        (format!("ids={HOST},{LAB_HOST}"), &[1, 3]),
        (format!("ids={HOST}%2C{LAB_HOST}"), &[1, 3]),
        (format!("network_id={LAB}&ids=&tag_ids="), &[3]),
        (
            "network_id=&ids=&tag_ids=&group_by=&order_by=&order_direction=&limit=&offset=".to_owned(),
            &[1, 2, 3],
        ),
        ("limit=0&offset=0".to_owned(), &[1, 2, 3]),
        (String::new(), &[1, 2, 3]),
        ("&".to_owned(), &[1, 2, 3]),
    ] {
        assert_eq!(scene.server().send(list(&scene, &query)).await.ids(), expected, "{query}");
    }
}

/// Clients send a listed port back whole, with some fields changed.
#[tokio::test]
async fn a_full_record_is_the_body_of_an_update() {
    let scene = Scene::new().await;
    let listed = scene.server().send(list(&scene, &format!("ids={HOST}"))).await;
    let ports = listed.data()[0]["ports"].as_array().unwrap().clone();
    let record = ports.iter().find(|port| port["id"] == json!(PORT)).unwrap().clone();
    let fields = ["created_at", "host_id", "id", "network_id", "number", "protocol", "type", "updated_at"];
    let mut given: Vec<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    given.sort_unstable();
    assert_eq!(given, fields);
    scene.world.clock.set(at(3));
    let changed = |number: u16, kind: &str| {
        let record = with(&with(&record, "number", number), "type", kind);
        with(&record, "updated_at", json!(at(3)))
    };
    let sent = with(&record, "number", 8443);
    let rows = [
        ("as it was listed", record.clone(), changed(443, "Https")),
        ("with another number and the old type", sent.clone(), changed(8443, "Https8443")),
        ("without a type", without(&sent, "type"), changed(8443, "Https8443")),
        ("with a type that is wrong", with(&sent, "type", "Ssh"), changed(8443, "Https8443")),
        ("with no type at all", with(&sent, "type", Value::Null), changed(8443, "Https8443")),
        ("with the id of another", with(&sent, "id", json!(BOUND_PORT)), changed(8443, "Https8443")),
        ("with the time of another", with(&sent, "created_at", EPOCH), changed(8443, "Https8443")),
        (
            "with the times of nobody",
            with(&with(&sent, "created_at", ""), "updated_at", Value::Null),
            changed(8443, "Https8443"),
        ),
        ("with nil as its id", with(&sent, "id", json!(Uuid::nil())), changed(8443, "Https8443")),
        ("with the least", with(&port_body(), "number", 8443), changed(8443, "Https8443")),
    ];
    let rows = rows.map(|(name, sent, data)| Row::gives(name, scene.put_port(PORT, &sent), data));
    check(scene.server(), rows).await;
}

/// Clients send every field of a new record. Fields that only the server sets are nil ids and the beginning
/// of 1970.
#[tokio::test]
async fn a_record_of_nothing_is_the_body_of_a_creation() {
    let scene = Scene::new().await;
    scene.world.clock.set(at(4));
    let sent = json!({
        "id": Uuid::nil(),
        "created_at": EPOCH,
        "updated_at": EPOCH,
        "key": "",
        "name": "daemon",
        "last_used": null,
        "expires_at": null,
        "network_id": OFFICE,
        "is_enabled": true,
        "tags": [],
    });
    for body in [
        sent.clone(),
        with(&sent, "last_used", EPOCH),
        with(&sent, "key", Value::Null),
        without(&sent, "expires_at"),
    ] {
        let reply = scene.server().send(scene.create_daemon_key(&body)).await;
        let record = &reply.data()["api_key"];
        assert_ne!(record["id"], json!(Uuid::nil()));
        assert_eq!((&record["created_at"], &record["updated_at"]), (&json!(at(4)), &json!(at(4))));
        assert_eq!((&record["last_used"], &record["expires_at"]), (&Value::Null, &Value::Null));
        assert_eq!((&record["name"], &record["is_enabled"]), (&json!("daemon"), &json!(true)));
        assert_eq!(record["key"], reply.data()["key"]);
    }
    let stored = scene.world.inventory.daemon_api_keys(scene.world.home.organization.id).await.unwrap();
    assert!(stored.iter().all(|key| !key.id.is_nil()));
}

/// Clients send a user key back as it was shown: its masked key and its times change nothing.
#[tokio::test]
async fn a_user_key_comes_back_as_it_was_shown() {
    let scene = Scene::new().await;
    let shown = scene.server().send(scene.put_key(scene.key_id, &scene.key_body())).await.data().clone();
    scene.world.clock.set(at(2));
    let sent = with(&with(&shown, "name", "renamed"), "id", json!(Uuid::nil()));
    let expected = with(&with(&shown, "name", "renamed"), "updated_at", json!(at(2)));
    check(scene.server(), [Row::gives("renamed", scene.put_key(scene.key_id, &sent), expected)]).await;
    assert_eq!(scene.server().get_with(&scene.key, HOSTS).await.ids(), [1, 2, 3], "and it is the same key");
}

#[tokio::test]
async fn a_media_type_may_name_the_charset_and_headers_may_say_what_they_like() {
    let scene = Scene::new().await;
    let request = || scene.by_key(put_port(PORT, &port_body()));
    for (name, value) in [
        ("content-type", "application/json; charset=utf-8"),
        ("content-type", "application/json;charset=UTF-8"),
        ("content-type", "Application/JSON"),
        ("accept", "text/html"),
        ("accept", "application/json, text/plain, */*"),
        ("accept-encoding", "gzip, deflate, br"),
        ("user-agent", "Mozilla/5.0"),
        ("x-http-method-override", "DELETE"),
        ("if-match", "\"x\""),
        ("idempotency-key", "x"),
        ("content-length", "1"),
        ("x-requested-with", "XMLHttpRequest"),
    ] {
        let mut request = request();
        request.headers_mut().insert(name, value.parse().unwrap());
        assert_eq!(scene.server().send(request).await.status, 200, "{name}: {value}");
    }
    let spaced = serde_json::to_string_pretty(&daemon_body()).unwrap();
    let request = send_json("POST", DAEMON_KEYS, &Value::Null).map(|_| format!("\r\n\t {spaced} \n"));
    assert_eq!(scene.server().send(scene.by_key(request)).await.status, 200);
}
