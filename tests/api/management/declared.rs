//! Requests that state what should be, without the ids of parts: the same ones again change nothing.

use std::time::Duration;

use super::*;

/// A host as a list of the network's devices has it. It names its only binding by an id of its own.
fn declared() -> Value {
    let mut body = host_body();
    body["interfaces"] = json!([
        {"ip_address": "192.0.2.1", "name": "eth0"},
        {"ip_address": "192.0.2.1", "name": "eth1"},
        {"ip_address": "2001:db8::1"},
    ]);
    body["ports"] = json!([{"number": 443, "protocol": "Tcp"}, {"number": 443, "protocol": "Udp"}]);
    body["services"] = json!([{"name": "web", "service_definition": "Nginx"}]);
    body["if_entries"] = json!([
        {"if_index": 1, "if_descr": "Gi0/1"},
        {"if_index": 0, "if_descr": "mgmt"},
        {"if_index": 0, "if_descr": "console"},
    ]);
    body
}

#[test]
fn parts_without_ids_are_the_stored_ones_with_the_same_key() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &declared()).await;
        let path = path_of(HOSTS, &host);
        fixture.clock.advance(Duration::from_secs(1));
        for method in ["PUT", "PATCH"] {
            let reply = fixture.ask(send_json(method, &path, &declared())).await;
            assert_eq!(*reply.data(), host, "{method}");
        }
        let bulk = with(&declared(), "id", host["id"].clone());
        let results = fixture.post("/api/v1/hosts/bulk", &json!({"hosts": [bulk]})).await;
        assert_eq!(results[0]["outcome"], "unchanged");

        let mut changed = declared();
        changed["if_entries"][0]["if_descr"] = json!("Gi0/1, renamed");
        changed["ports"] = json!([{"number": 443, "protocol": "Tcp"}, {"number": 80, "protocol": "Tcp"}]);
        let after = fixture.ask(send_json("PUT", &path, &changed)).await.data().clone();
        let port = |host: &Value, kind: &str| {
            host["ports"].as_array().unwrap().iter().find(|port| port["type"] == kind).cloned()
        };
        assert_eq!(port(&after, "Https"), port(&host, "Https"));
        assert!(port(&after, "Http").is_some());
        let entry = |host: &Value| {
            host["if_entries"]
                .as_array()
                .unwrap()
                .iter()
                .find(|entry| entry["if_index"] == 1)
                .cloned()
                .unwrap()
        };
        assert_eq!(entry(&after)["id"], entry(&host)["id"]);
        assert_ne!(entry(&after)["updated_at"], entry(&host)["updated_at"]);
    });
}

#[test]
fn port_that_a_service_needs_can_be_declared_again() {
    run_new(async |fixture| {
        let body = with(&host_body(), "ports", json!([{"number": 443, "protocol": "Tcp"}]));
        let host = fixture.post(HOSTS, &body).await;
        let path = path_of(HOSTS, &host);
        let binding = json!({"type": "Port", "port_id": host["ports"][0]["id"]});
        let service = json!({"host_id": host["id"], "network_id": OFFICE, "name": "web", "service_definition": "Nginx", "bindings": [binding]});
        let service = fixture.post("/api/v1/services", &service).await;
        assert_eq!(fixture.ask(send_json("PUT", &path, &body)).await.data()["services"][0], service);
        // A binding without an id is the stored one with the same target.
        let services = json!([{"name": "web", "service_definition": "Nginx", "bindings": [binding]}]);
        let reply = fixture.ask(send_json("PUT", &path, &with(&body, "services", services))).await;
        assert_eq!(reply.data()["services"][0]["bindings"], service["bindings"]);
        let without = with(&body, "ports", json!([{"number": 80, "protocol": "Tcp"}]));
        fixture.ask(send_json("PUT", &path, &without)).await.refuses(409, "entity_in_use");
    });
}

#[test]
fn named_part_is_not_taken_for_another_one() {
    run_new(async |fixture| {
        let body = with(&host_body(), "interfaces", json!([{"ip_address": "192.0.2.1"}]));
        let host = fixture.post(HOSTS, &body).await;
        let id = &host["interfaces"][0]["id"];
        // The stored interface gets another address, so that the one without an id is new.
        let interfaces = json!([{"ip_address": "192.0.2.1"}, {"id": id, "ip_address": "192.0.2.9"}]);
        let put = send_json("PUT", &path_of(HOSTS, &host), &with(&body, "interfaces", interfaces));
        let after = fixture.ask(put).await.data().clone();
        let named = |address: &str| {
            let interfaces = after["interfaces"].as_array().unwrap();
            interfaces.iter().find(|interface| interface["ip_address"] == address).unwrap()["id"].clone()
        };
        assert_eq!(named("192.0.2.9"), *id);
        assert_ne!(named("192.0.2.1"), *id);
    });
}

#[test]
fn host_that_was_not_stored_has_only_the_id_of_the_request() {
    run_new(async |fixture| {
        let unknown = with(&host_body(), "network_id", NOBODY.to_string());
        let named = with(&unknown, "id", NOBODY.to_string());
        let body = json!({"atomic": false, "hosts": [host_body(), unknown, named]});
        let results = fixture.post("/api/v1/hosts/bulk", &body).await;
        let outcomes: Vec<&Value> = (0..3).map(|place| &results[place]["outcome"]).collect();
        assert_eq!(outcomes, ["created", "failed", "failed"]);
        assert!(results[0]["id"].is_string());
        assert_eq!((&results[1]["id"], &results[2]["id"]), (&Value::Null, &json!(NOBODY)));
    });
}

#[test]
fn record_that_exists_is_not_replaced_if_the_request_wants_none() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &host_body()).await;
        let path = path_of(HOSTS, &host);
        let tag = fixture.ask(get(&path)).await.header("etag").to_owned();
        let put = send_json("PUT", &path, &with(&host_body(), "name", "other"));
        for none in ["*", &tag] {
            fixture
                .ask(with_header(put.clone(), "if-none-match", none))
                .await
                .refuses(412, "precondition_failed");
        }
        let other = with_header(put, "if-none-match", "\"other\"");
        assert_eq!(fixture.ask(other).await.data()["name"], "other");
    });
}

#[test]
fn plus_sign_of_an_offset_need_not_be_encoded() {
    run_new(async |fixture| {
        fixture.post(HOSTS, &host_body()).await;
        for since in
            ["2020-01-01T00:00:00+00:00", "2020-01-01T02:00:00.5+02:00", "2020-01-01T00:00:00%2B00:00"]
        {
            let list = fixture.read(&format!("{HOSTS}?updated_since={since}")).await;
            assert_eq!(list.as_array().unwrap().len(), 1, "{since}");
            assert_eq!(
                fixture.ask(get(&format!("/api/v1/changes?since={since}"))).await.status,
                200,
                "{since}"
            );
        }
        for since in ["2020-01-01T00:00:00+0000", "2020-01-01+00:00", "a+00:00"] {
            let reply = fixture.ask(get(&format!("{HOSTS}?updated_since={since}"))).await;
            assert_eq!(reply.refuses(400, "validation_invalid_format")["field"], "updated_since");
        }
    });
}

#[test]
fn error_lists_the_possible_values_of_a_field() {
    run_new(async |fixture| {
        let ports = json!([{"number": 80, "protocol": "sctp"}]);
        let entries = json!([{"if_index": 1, "if_descr": "a", "admin_status": "up"}]);
        for (field, value, path, possible) in [
            ("ports", ports, "ports.0.protocol", "Udp"),
            ("if_entries", entries, "if_entries.0.admin_status", "Up, "),
        ] {
            let reply = fixture.ask(send_json("POST", HOSTS, &with(&host_body(), field, value))).await;
            assert_eq!(reply.refuses(400, "validation_invalid_format")["field"], path);
            let sentence = reply.json["error"].as_str().unwrap();
            assert!(
                sentence.contains("must be one of these values: ") && sentence.contains(possible),
                "{sentence}"
            );
        }
        let share = json!({"name": "a", "network_id": OFFICE, "options": {"show_minimap": false}});
        let reply = fixture.ask(send_json("POST", "/api/v1/shares", &share)).await;
        let field = reply.refuses(400, "validation_required")["field"].as_str().unwrap().to_owned();
        assert!(field.starts_with("options."), "{field}");
    });
}

#[test]
fn cursor_goes_on_when_the_default_order_is_written_out_and_says_so_when_it_is_of_another_list() {
    run_new(async |fixture| {
        for _ in 0..3 {
            fixture.post(HOSTS, &host_body()).await;
        }
        let first = fixture.ask(get(&format!("{HOSTS}?limit=1&cursor="))).await;
        let cursor = first.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned();
        let next = format!("{HOSTS}?limit=1&cursor={cursor}");
        assert_eq!(fixture.ask(get(&format!("{next}&order_by=created_at"))).await.status, 200);
        let other = fixture.ask(get(&format!("{next}&order_by=name"))).await;
        assert_eq!(other.refuses(400, "validation_invalid_format")["field"], "cursor");
        assert!(other.json["error"].as_str().unwrap().contains("begin again"), "{}", other.json);
    });
}
