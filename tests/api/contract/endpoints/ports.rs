use serde_json::{Value, json};
use toposcope::model::Host;
use uuid::Uuid;

use crate::common::{NOBODY, OFFICE, at, bare};
use crate::contract::row::{Row, check};
use crate::contract::scene::{BOUND_PORT, HOST, HOSTS, PORT, Scene, port_body, with};

async fn update(scene: &Scene, id: Uuid, body: &Value) -> Value {
    scene.server().send(scene.put_port(id, body)).await.data().clone()
}

async fn host(scene: &Scene, id: Uuid) -> Host {
    scene.world.inventory.host(scene.world.home.organization.id, id).await.unwrap()
}

/// [`PORT`] after an update at this second.
fn record(number: u16, protocol: &str, kind: &str, second: i64) -> Value {
    json!({
        "id": PORT,
        "host_id": HOST,
        "network_id": OFFICE,
        "number": number,
        "protocol": protocol,
        "type": kind,
        "created_at": at(0),
        "updated_at": at(second),
    })
}

#[tokio::test]
async fn the_answer_is_the_record_as_it_is_listed_from_then_on() {
    let scene = Scene::new().await;
    for (second, (number, protocol, kind)) in
        (1..).zip([(22, "Tcp", "Ssh"), (161, "Udp", "Snmp"), (22, "Udp", "Custom"), (65535, "Tcp", "Custom")])
    {
        scene.world.clock.set(at(second));
        let body = with(&with(&port_body(), "number", number), "protocol", protocol);
        let expected = record(number, protocol, kind, second);
        assert_eq!(update(&scene, PORT, &body).await, expected);
        let request = scene.by_key(bare("GET", &format!("{HOSTS}?ids={HOST}")));
        let listed = scene.server().send(request).await.data()[0].clone();
        let ports = listed["ports"].as_array().unwrap();
        assert_eq!(ports.iter().find(|port| port["id"] == json!(PORT)), Some(&expected));
        assert_eq!(ports.len(), 2);
        assert_eq!(listed["updated_at"], json!(at(second)));
        assert_eq!(listed["created_at"], json!(at(0)));
    }
}

#[tokio::test]
async fn the_id_of_the_path_wins_and_what_only_the_server_sets_is_kept() {
    let scene = Scene::new().await;
    scene.world.clock.set(at(7));
    let mut body = with(&port_body(), "number", 22);
    for (field, value) in [
        ("id", json!(BOUND_PORT)),
        ("created_at", json!("1970-01-01T00:00:00Z")),
        ("updated_at", json!("2099-01-01T00:00:00Z")),
        ("type", json!("MongoDB")),
    ] {
        body = with(&body, field, value);
    }
    assert_eq!(update(&scene, PORT, &body).await, record(22, "Tcp", "Ssh", 7));
    let mut ports = host(&scene, HOST).await.ports;
    assert_eq!(ports.len(), 2);
    let bound = ports.swap_remove(ports.iter().position(|port| port.id == BOUND_PORT).unwrap());
    assert_eq!((bound.number.get(), bound.updated_at), (80, at(0)), "the port that the body names");
    for id in [json!(NOBODY), json!("no id"), json!(null), json!(5)] {
        assert_eq!(update(&scene, PORT, &with(&body, "id", id)).await["id"], json!(PORT));
    }
}

#[tokio::test]
async fn an_update_that_changes_nothing_is_an_update() {
    let scene = Scene::new().await;
    scene.world.clock.set(at(9));
    assert_eq!(update(&scene, PORT, &port_body()).await, record(443, "Tcp", "Https", 9));
    assert_eq!(host(&scene, HOST).await.updated_at, at(9));
}

/// Listed ports are ordered by number, wherever a port was before.
#[tokio::test]
async fn the_ports_of_a_host_stay_in_order() {
    let scene = Scene::new().await;
    for (number, first) in [(79, PORT), (81, BOUND_PORT)] {
        update(&scene, PORT, &with(&port_body(), "number", number)).await;
        assert_eq!(host(&scene, HOST).await.ports[0].id, first, "{number}");
    }
}

/// A bound port may not move to another host, but other changes are allowed.
#[tokio::test]
async fn a_port_that_a_service_is_bound_to_may_change_where_it_is() {
    let scene = Scene::new().await;
    let body = with(&with(&port_body(), "number", 8080), "protocol", "Udp");
    assert_eq!(update(&scene, BOUND_PORT, &body).await["number"], 8080);
    let host = host(&scene, HOST).await;
    assert_eq!(host.services[0].bindings.len(), 1);
    assert!(host.ports.iter().any(|port| port.id == BOUND_PORT && port.number.get() == 8080));
}

#[tokio::test]
async fn the_id_may_be_written_in_any_form() {
    let scene = Scene::new().await;
    let forms = [PORT.to_string().to_uppercase(), PORT.simple().to_string(), PORT.urn().to_string()];
    let rows = forms
        .map(|form| Row::gives(&form, scene.put_port(&form, &port_body()), record(443, "Tcp", "Https", 0)));
    check(scene.server(), rows).await;
}
