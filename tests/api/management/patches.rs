//! `PATCH` (JSON merge patch), `expected_updated_at`, and what an update may leave out.

use std::time::Duration;

use uuid::Uuid;

use super::*;

const PARTS: [&str; 4] = ["/api/v1/interfaces", "/api/v1/ports", "/api/v1/services", "/api/v1/if-entries"];

fn patch(path: &str, body: &Value) -> Request<String> {
    with_header(send_json("PATCH", path, body), "content-type", "application/merge-patch+json")
}

fn full_host() -> Value {
    let id = |number: u128| Uuid::from_u128(number);
    json!({
        "network_id": OFFICE,
        "name": "core",
        "hostname": "core.example.net",
        "description": "kept",
        "hidden": true,
        "chassis_id": {"subtype": "MacAddress", "value": "00:1B:21:3C:4D:5E"},
        "interfaces": [{"id": id(1), "ip_address": "192.0.2.1", "name": "eth0", "position": 7}],
        "ports": [{"id": id(2), "number": 443, "protocol": "Tcp"}],
        "services": [{
            "id": id(3),
            "name": "web",
            "service_definition": "Nginx",
            "bindings": [{"type": "Port", "port_id": id(2)}],
        }],
        "if_entries": [{"id": id(4), "if_index": 3, "if_descr": "Gi0/3", "if_alias": "uplink"}],
    })
}

/// Returns a record without the fields that every change moves.
fn settled(record: &Value) -> Value {
    without(record, "updated_at")
}

#[test]
fn patch_of_a_host_changes_only_what_it_names() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let path = path_of(HOSTS, &host);
        let changed = fixture.ask(patch(&path, &json!({"sys_location": "Rack 4"}))).await;
        assert_eq!(settled(changed.data()), with(&settled(&host), "sys_location", "Rack 4"));
        let tag = changed.header("etag").to_owned();
        assert_eq!(fixture.ask(get(&path)).await.header("etag"), tag);
        for body in [json!({}), json!({"name": "core", "unknown": 1, "created_at": "never"})] {
            let same = fixture.ask(patch(&path, &body)).await;
            assert_eq!((same.data(), same.header("etag")), (changed.data(), &*tag), "{body}");
        }
        let cleared =
            json!({"hostname": null, "hidden": null, "ports": null, "services": null, "source": null});
        let cleared = fixture.ask(patch(&path, &cleared)).await.data().clone();
        for (field, value) in [
            ("hostname", json!(null)),
            ("hidden", json!(false)),
            ("ports", json!([])),
            ("services", json!([])),
            ("source", json!({"type": "Manual"})),
            ("description", json!("kept")),
        ] {
            assert_eq!(cleared[field], value, "{field}");
        }
        assert_eq!(cleared["if_entries"], host["if_entries"]);
        assert_eq!(fixture.read(&path).await, cleared);
    });
}

#[test]
fn patch_merges_objects_and_replaces_lists() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let path = path_of(HOSTS, &host);
        let merged = fixture.ask(patch(&path, &json!({"chassis_id": {"value": "other"}}))).await;
        assert_eq!(merged.data()["chassis_id"], json!({"subtype": "MacAddress", "value": "other"}));
        let half = fixture.ask(patch(&path, &json!({"chassis_id": {"value": null}}))).await;
        half.refuses(400, "validation_required");
        let interfaces = json!([host["interfaces"][0], {"ip_address": "192.0.2.9"}]);
        let replaced = fixture.ask(patch(&path, &json!({"interfaces": interfaces}))).await.data().clone();
        assert_eq!(replaced["interfaces"].as_array().unwrap().len(), 2);
        assert!(replaced["interfaces"].as_array().unwrap().contains(&host["interfaces"][0]));
        let fewer = json!({"interfaces": [{"ip_address": "192.0.2.7"}]});
        let fewer = fixture.ask(patch(&path, &fewer)).await.data().clone();
        assert_eq!(fewer["interfaces"].as_array().unwrap().len(), 1);

        let share = fixture.post("/api/v1/shares", &json!({"name": "s", "network_id": OFFICE})).await;
        let path = path_of("/api/v1/shares", &share);
        let options = fixture.ask(patch(&path, &json!({"options": {"show_minimap": false}}))).await;
        assert_eq!(options.data()["options"], with(&share["options"], "show_minimap", false));
        let default = fixture.ask(patch(&path, &json!({"options": null, "is_enabled": null}))).await;
        assert_eq!(settled(default.data()), settled(&share));
    });
}

#[test]
fn patch_of_a_part_changes_only_what_it_names() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        for (path, list, field, value, other) in [
            (PARTS[0], "interfaces", "mac_address", json!("02:00:00:00:00:01"), json!(null)),
            (PARTS[1], "ports", "number", json!(8443), json!(443)),
            (PARTS[2], "services", "name", json!("proxy"), json!("web")),
            (PARTS[3], "if_entries", "if_alias", json!("core"), json!(null)),
        ] {
            let part = host[list][0].clone();
            let path = path_of(path, &part);
            let changed = fixture.ask(patch(&path, &json!({field: value}))).await.data().clone();
            assert_eq!(changed[field], value);
            let kept = |part: &Value| without(&without(&settled(part), field), "type");
            assert_eq!(kept(&changed), kept(&part), "{path}");
            let back =
                fixture.ask(patch(&path, &json!({field: other, "position": null}))).await.data().clone();
            assert_eq!(back[field], other);
        }
        let port = path_of(PARTS[1], &host["ports"][0]);
        assert_eq!(fixture.ask(patch(&port, &json!({"number": 80}))).await.data()["type"], "Http");
    });
}

#[test]
fn null_of_a_required_field_is_refused() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let mut cases = vec![(path_of(HOSTS, &host), vec!["name", "network_id"])];
        let required: [(&str, Vec<&str>); 4] = [
            ("interfaces", vec!["host_id", "network_id", "ip_address"]),
            ("ports", vec!["host_id", "network_id", "number", "protocol"]),
            ("services", vec!["host_id", "network_id", "name", "service_definition"]),
            ("if_entries", vec!["host_id", "network_id", "if_index", "if_descr"]),
        ];
        for (path, (list, fields)) in PARTS.iter().zip(required) {
            cases.push((path_of(path, &host[list][0]), fields));
        }
        let tag = fixture.post("/api/v1/tags", &json!({"name": "t"})).await;
        cases.push((path_of("/api/v1/tags", &tag), vec!["name"]));
        for (path, fields) in cases {
            for field in fields {
                for path in [&path, &format!("{}/{NOBODY}", path.rsplit_once('/').unwrap().0)] {
                    let reply = fixture.ask(patch(path, &json!({field: null}))).await;
                    assert_eq!(*reply.refuses(400, "validation_required"), json!({"field": field}), "{path}");
                }
            }
        }
    });
}

#[test]
fn patch_has_the_checks_of_an_update() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let path = path_of(HOSTS, &host);
        let stale = with_header(patch(&path, &json!({"name": "x"})), "if-match", "\"stale\"");
        fixture.ask(stale).await.refuses(412, "precondition_failed");
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let reply = fixture.send(with_key(patch(&path, &json!({"name": "x"})), &viewer)).await;
        reply.refuses(403, "auth_permission_denied");
        let elsewhere = fixture.key(Permission::Member, &[LAB]).await;
        let reply = fixture.send(with_key(patch(&path, &json!({"name": "x"})), &elsewhere)).await;
        reply.refuses(403, "entity_access_denied");
        fixture.ask_abroad(patch(&path, &json!({"name": "x"}))).await.refuses(404, "entity_not_found");
        for (body, code) in [
            (json!({"network_id": LAB}), "entity_network_mismatch"),
            (json!({"tags": [NOBODY]}), "entity_reference_invalid"),
            (json!({"hidden": "yes"}), "validation_invalid_format"),
            (json!({"ports": [{"number": 0, "protocol": "Tcp"}]}), "validation_out_of_range"),
        ] {
            fixture.ask(patch(&path, &body)).await.refuses(400, code);
        }
        let text = with_header(patch(&path, &json!({})), "content-type", "text/plain");
        fixture.ask(text).await.refuses(415, "request_unsupported_media_type");
        let json = with_header(patch(&path, &json!({"name": "y"})), "content-type", "application/json");
        assert_eq!(fixture.ask(json).await.data()["name"], "y");
    });
}

#[test]
fn update_may_leave_out_the_host_and_the_network() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let put = send_json("PUT", &path_of(HOSTS, &host), &json!({"name": "renamed"}));
        let renamed = fixture.ask(put).await.data().clone();
        assert_eq!(settled(&renamed), with(&settled(&host), "name", "renamed"));
        for (path, list) in PARTS.iter().zip(["interfaces", "ports", "services", "if_entries"]) {
            let part = without(&without(&host[list][0], "host_id"), "network_id");
            let reply = fixture.ask(send_json("PUT", &path_of(path, &part), &part)).await;
            if list == "ports" {
                assert_eq!(*reply.refuses(400, "validation_required"), json!({"field": "host_id"}));
            } else {
                assert_eq!(reply.data()["host_id"], host["id"]);
            }
            let created = fixture.ask(send_json("POST", path, &part)).await;
            created.refuses(400, "validation_required");
        }
    });
}

#[test]
fn expected_time_of_the_last_change_locks_the_record() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let tag = fixture.post("/api/v1/tags", &json!({"name": "t"})).await;
        let share = fixture.post("/api/v1/shares", &json!({"name": "s", "network_id": OFFICE})).await;
        let records = [(HOSTS, &host), ("/api/v1/tags", &tag), ("/api/v1/shares", &share)];
        let parts = PARTS.iter().zip(["interfaces", "ports", "services", "if_entries"]);
        let parts = parts.map(|(path, list)| (*path, &host[list][0]));
        for (path, record) in records.into_iter().chain(parts) {
            let path = path_of(path, record);
            for method in ["PUT", "PATCH"] {
                let send = |time: Value| send_json(method, &path, &with(record, "expected_updated_at", time));
                let reply = fixture.ask(send(json!("2020-01-01T00:00:00Z"))).await;
                reply.refuses(409, "entity_conflict");
                fixture.ask(send(json!("yesterday"))).await.refuses(400, "validation_invalid_format");
                let present = fixture.read(&path).await["updated_at"].clone();
                let later = present.as_str().unwrap().parse::<toposcope::model::Timestamp>().unwrap();
                fixture.ask(send(json!(later.plus_micros(1)))).await.refuses(409, "entity_conflict");
                for time in [json!(null), present] {
                    let changed = fixture.ask(send(time)).await;
                    assert!(changed.data().get("expected_updated_at").is_none());
                }
                assert!(fixture.read(&path).await.get("expected_updated_at").is_none());
            }
        }
    });
}

#[test]
fn lost_update_is_refused_by_the_expected_time() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let path = path_of(HOSTS, &host);
        let rename = |name: &str| json!({"name": name, "expected_updated_at": host["updated_at"]});
        fixture.clock.advance(Duration::from_micros(1));
        assert_eq!(fixture.ask(send_json("PUT", &path, &rename("first"))).await.data()["name"], "first");
        fixture.ask(send_json("PUT", &path, &rename("lost"))).await.refuses(409, "entity_conflict");
        fixture.ask(patch(&path, &rename("lost"))).await.refuses(409, "entity_conflict");
        assert_eq!(fixture.read(&path).await["name"], "first");
    });
}

#[test]
fn hosts_made_over_the_api_are_manual() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        assert_eq!(
            (&host["source"], &host["services"][0]["source"]),
            (&json!({"type": "Manual"}), &json!({"type": "Manual"}))
        );
        let body = json!({"hosts": [host_body(), with(&host_body(), "source", json!({"type": "System"}))]});
        let results = fixture.post("/api/v1/hosts/bulk", &body).await;
        for (result, source) in results.as_array().unwrap().iter().zip(["Manual", "System"]) {
            assert_eq!(fixture.read(&path_of(HOSTS, result)).await["source"]["type"], source);
        }
        let put = fixture.ask(send_json("PUT", &path_of(HOSTS, &results[1]), &host_body())).await;
        assert_eq!(put.data()["source"]["type"], "System", "an update keeps what it leaves out");
    });
}

#[test]
fn bulk_request_is_listed_in_its_order() {
    run_new(async |fixture| {
        for atomic in [true, false] {
            let names: Vec<String> = (0..300).map(|number| format!("{atomic} {number}")).collect();
            let hosts = names.iter().enumerate().map(|(place, name)| {
                let host = with(&host_body(), "name", name.as_str());
                let id = Uuid::from_u128(u128::from(atomic) << 64 | (1_000 - place as u128));
                if place % 2 == 0 { with(&host, "id", id.to_string()) } else { host }
            });
            let hosts: Vec<Value> = hosts.collect();
            fixture.post("/api/v1/hosts/bulk", &json!({"hosts": hosts, "atomic": atomic})).await;
            let list = fixture.list(&format!("limit=0&search={atomic}")).await;
            let listed: Vec<&str> =
                list.data().as_array().unwrap().iter().map(|host| host["name"].as_str().unwrap()).collect();
            assert_eq!(listed, names);
        }
    });
}

#[test]
fn list_of_an_update_may_not_lack_what_another_list_refers_to() {
    run_new(async |fixture| {
        let mut body = full_host();
        let [one, two] = [1, 5].map(Uuid::from_u128);
        body["interfaces"] = json!([
            {"id": one, "ip_address": "192.0.2.1"},
            {"id": two, "ip_address": "192.0.2.2"},
            {"ip_address": "192.0.2.3"},
        ]);
        body["if_entries"][0]["interface_id"] = json!(one);
        body["credential_assignments"] = json!([{"credential_id": one, "interface_ids": [two]}]);
        let host = fixture.post(HOSTS, &body).await;
        let path = path_of(HOSTS, &host);
        let without = |list: &str, place: usize| {
            let mut parts = host[list].clone();
            parts.as_array_mut().unwrap().remove(place);
            json!({"network_id": OFFICE, "name": "core", list: parts})
        };
        for (list, place, entity, name, used_by) in [
            ("ports", 0, "Port", "443/Tcp", "Service"),
            ("interfaces", 0, "Interface", "192.0.2.1", "If Entry"),
            ("interfaces", 1, "Interface", "192.0.2.2", "Host"),
        ] {
            let in_use = json!({"entity": entity, "name": name, "used_by": used_by, "field": list});
            for method in ["PUT", "PATCH"] {
                let reply = fixture.ask(send_json(method, &path, &without(list, place))).await;
                assert_eq!(*reply.refuses(409, "entity_in_use"), in_use, "{method}");
            }
        }
        assert_eq!(fixture.read(&path).await, host);
        // A list that the request has is named itself.
        let service = with(&host["services"][0], "name", "proxy");
        let both = with(&without("ports", 0), "services", json!([service]));
        let reply = fixture.ask(patch(&path, &both)).await;
        assert_eq!(
            *reply.refuses(400, "entity_reference_invalid"),
            json!({"entity": "Port", "field": "services.0.bindings.0.port_id"})
        );
        fixture.ask(patch(&path, &without("interfaces", 2))).await.data();
        fixture.ask(patch(&path, &with(&without("ports", 0), "services", json!([])))).await.data();
    });
}
