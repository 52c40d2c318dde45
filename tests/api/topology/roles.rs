//! Roles of the host application, over HTTP.

use serde_json::{Value, json};

use super::{Campus, GRAPH, of_office};
use crate::backend::run_with;
use crate::common::{OFFICE, Row, get, send_json, with_key};

const HOSTS: &str = "/api/v1/hosts";

fn role_of<'g>(graph: &'g Value, label: &str) -> &'g Value {
    let nodes = graph["nodes"].as_array().unwrap();
    &nodes.iter().find(|node| node["label"] == label).unwrap()["role"]
}

#[test]
fn role_of_the_host_application_is_stored_drawn_and_filtered() {
    run_with(Campus::new, async |campus| {
        let path = format!("{HOSTS}/{}", campus.core);
        let set = json!({"role": "x.load_balancer"});
        assert_eq!(campus.by_member("PATCH", &path, &set).await.data()["role"], "x.load_balancer");
        assert_eq!(campus.read(&path).await["role"], "x.load_balancer");

        let graph = campus.graph("").await;
        assert_eq!(role_of(&graph, super::CORE), "x.load_balancer");
        let of_role = campus.graph("role=x.load_balancer,printer").await;
        assert_eq!(role_of(&of_role, super::CORE), "x.load_balancer");
        let of_other = campus.graph("role=x.other").await;
        assert_eq!(of_other["nodes"], json!([]));

        let bulk = json!({"hosts": [{"network_id": OFFICE, "name": "bulk", "role": "x.sensor-hub"}]});
        let bulk = campus.by_member("POST", "/api/v1/hosts/bulk", &bulk).await;
        assert_eq!(bulk.status, 200, "{bulk:?}");
        assert!(campus.list("").await.data().as_array().unwrap().iter().any(|h| h["role"] == "x.sensor-hub"));

        // Another report of the device leaves the role.
        campus
            .import("2026-08-02T12:00:00Z", &[super::switch(1, super::CORE, &[("Gi0/1", 2, super::ACCESS)])])
            .await;
        assert_eq!(campus.read(&path).await["role"], "x.load_balancer");
        let cleared = campus.by_member("PATCH", &path, &json!({"role": null})).await;
        assert_eq!(cleared.data().get("role"), None);
    });
}

#[test]
fn text_that_is_no_role_is_refused_with_its_field() {
    run_with(Campus::new, async |campus| {
        let long = format!("x.{}", "a".repeat(31));
        let texts = ["", "x", "x.", "x.A", "x.a b", "x.é", "y.a", "load_balancer", "Router", &long];
        let params = json!({"field": "role"});
        let mut rows = Vec::new();
        for text in texts {
            let body = json!({"network_id": OFFICE, "name": "n", "role": text});
            let create = with_key(send_json("POST", HOSTS, &body), &campus.member);
            rows.push(Row::refused_with(text, create, "validation_invalid_format", params.clone()));
        }
        for text in ["x.", "x.A", "load_balancer", "x.a,x.", "x.%00"] {
            let graph = with_key(get(&of_office(GRAPH, &format!("role={text}"))), &campus.member);
            rows.push(Row::refused_with(text, graph, "validation_invalid_format", params.clone()));
        }
        campus.check(rows).await;
        let longest = format!("x.{}", "z".repeat(30));
        let body = json!({"network_id": OFFICE, "name": "n", "role": longest});
        assert_eq!(campus.by_member("POST", HOSTS, &body).await.data()["role"], longest);
    });
}
