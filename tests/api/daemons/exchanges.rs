//! Recorded exchanges of a daemon with the product that it is made for.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

use super::Scene;
use crate::backend::run_with;
use crate::common::{OFFICE, send_json, with_key};

/// Returns the recording, or `None` with a message if it is missing.
fn recording() -> Option<Value> {
    let beside =
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/daemon/exchanges-0.14.7.json");
    let path = env::var_os("TOPOSCOPE_EXCHANGES").map_or_else(beside, PathBuf::from);
    let Ok(text) = fs::read(&path) else {
        let reason = format!(
            "skipped: no recording at {}; TOPOSCOPE_EXCHANGES may name another file\n",
            path.display()
        );
        std::io::stderr().write_all(reason.as_bytes()).unwrap();
        return None;
    };
    Some(serde_json::from_slice(&text).unwrap())
}

#[test]
fn recorded_requests_get_answers_of_the_recorded_shape() {
    run_with(Scene::new, async |scene| {
        let Some(recording) = recording() else { return };
        // The ids that the server chose, each with its recorded counterpart.
        let mut ids: HashMap<String, String> = HashMap::new();
        for exchange in recording["exchanges"].as_array().unwrap() {
            let translate = |text: &str| {
                ids.iter().fold(text.to_owned(), |text, (recorded, own)| text.replace(recorded, own))
            };
            let path = translate(exchange["path"].as_str().unwrap());
            let body: Value =
                serde_json::from_str(&translate(&exchange["request_body"].to_string())).unwrap();
            let method = exchange["method"].as_str().unwrap();
            let reply = scene.fixture.send(with_key(send_json(method, &path, &body), &scene.key)).await;
            let recorded = &exchange["response_body"];
            assert_eq!(reply.status.as_u16(), exchange["response_status"], "{path}: {}", reply.json);
            assert_alike(recorded, &reply.json, &path);
            if reply.status == 404 {
                assert_eq!(reply.json["code"], recorded["code"]);
                assert_eq!(reply.json["params"], recorded["params"]);
            }
            for pointer in ["/data/host_id", "/data/0/session_id"] {
                if let (Some(recorded), Some(own)) = (recorded.pointer(pointer), reply.json.pointer(pointer))
                {
                    ids.insert(recorded.as_str().unwrap().to_owned(), own.as_str().unwrap().to_owned());
                }
            }
        }
        assert_eq!(ids.len(), 2);
        let hosts = scene.get("/api/v1/hosts").await;
        assert_eq!(hosts.as_array().unwrap().len(), 1, "the daemon's host is the host that it reports");
        assert_eq!(hosts[0]["network_id"], OFFICE.to_string());
        assert_eq!(hosts[0]["services"][0]["bindings"][0]["port_id"], hosts[0]["ports"][0]["id"]);
        let subnets = scene.get("/api/v1/subnets").await;
        assert_eq!(hosts[0]["interfaces"][0]["subnet_id"], subnets[0]["id"]);
        let daemons = scene.get("/api/v1/daemons").await;
        assert_eq!(daemons[0]["capabilities"]["interfaced_subnet_ids"][0], subnets[0]["id"]);
    });
}

/// Asserts that a value has all fields of a recorded one, with the same types. A recorded null stands for any type.
fn assert_alike(recorded: &Value, own: &Value, place: &str) {
    match (recorded, own) {
        (Value::Object(fields), Value::Object(_)) => {
            for (name, recorded) in fields {
                let own = own.get(name).unwrap_or_else(|| panic!("{place} has no {name}"));
                assert_alike(recorded, own, &format!("{place}.{name}"));
            }
        }
        (Value::Array(items), Value::Array(own)) => {
            assert_eq!(items.len(), own.len(), "{place}");
            for (index, (recorded, own)) in items.iter().zip(own).enumerate() {
                assert_alike(recorded, own, &format!("{place}.{index}"));
            }
        }
        (Value::Null, _) => {}
        (recorded, own) => {
            let kinds =
                [recorded, own].map(|value| (value.is_string(), value.is_number(), value.is_boolean()));
            assert_eq!(kinds[0], kinds[1], "{place}: {own}");
        }
    }
}
