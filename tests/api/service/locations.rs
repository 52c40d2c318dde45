//! The `Location` of new records.

use serde_json::{Value, json};

use crate::backend::run;
use crate::common::{Fixture, HOSTS, OFFICE, get, send_json, with, with_key};

/// Creates a record, and returns it once it was found at its location.
async fn create(fixture: &Fixture, path: &str, body: &Value) -> Value {
    let reply = fixture.send(with_key(send_json("POST", path, body), &fixture.key)).await;
    let created = reply.data();
    let found = fixture.send(with_key(get(reply.header("location")), &fixture.key)).await;
    assert_eq!(found.data()["id"], created["id"], "{path}");
    created.clone()
}

#[test]
fn new_hosts_and_their_parts_are_found_at_their_locations() {
    run(async || {
        let fixture = Fixture::new().await;
        let body = json!({"network_id": OFFICE, "name": "a host"});
        let host = create(&fixture, HOSTS, &body).await;
        // The collection has two paths, and records only one.
        create(&fixture, "/api/hosts", &body).await;
        let part = json!({"network_id": OFFICE, "host_id": host["id"]});
        for (path, fields) in [
            ("/api/v1/interfaces", json!({"ip_address": "192.0.2.1"})),
            ("/api/v1/ports", json!({"number": 443, "protocol": "Tcp"})),
            ("/api/v1/services", json!({"name": "a service", "service_definition": "Web Server"})),
            ("/api/v1/if-entries", json!({"if_index": 1, "if_descr": "eth0"})),
        ] {
            let fields = fields.as_object().unwrap().clone();
            let body = fields.into_iter().fold(part.clone(), |body, (name, value)| with(&body, &name, value));
            create(&fixture, path, &body).await;
        }
    });
}

#[cfg(feature = "discovery")]
#[test]
fn queued_discovery_and_split_host_are_found_at_their_locations() {
    run(async || {
        let fixture = Fixture::new().await;
        create(&fixture, "/api/v1/discoveries", &json!({"network_id": OFFICE})).await;
        let entries = [1, 2].map(|index| json!({"if_index": index, "if_descr": "eth0"}));
        let body = json!({"network_id": OFFICE, "name": "a host", "if_entries": entries});
        let host = create(&fixture, HOSTS, &body).await;
        let split = json!({"name": "another", "if_entries": [host["if_entries"][0]["id"]]});
        let path = format!("{HOSTS}/{}/split", host["id"].as_str().unwrap());
        let other = create(&fixture, &path, &split).await;
        assert_ne!(other["id"], host["id"]);
    });
}
