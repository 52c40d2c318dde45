//! `POST`, `GET`, `PUT`, `DELETE` and bulk deletion of hosts, and `fields=`.

use std::time::Duration;

use toposcope::model::NetworkId;

use super::*;

const ONE: &str = "00000000-0000-4000-8000-000000000001";

/// A host whose parts refer to each other.
fn full() -> Value {
    let binding = json!({"type": "Port", "port_id": ONE, "interface_id": ONE});
    let mut body = host_body();
    body["hostname"] = json!("a.example.net");
    body["interfaces"] = json!([{"id": ONE, "ip_address": "192.0.2.1"}, {"ip_address": "192.0.2.2"}]);
    body["ports"] = json!([{"id": ONE, "number": 443, "protocol": "Tcp"}]);
    body["services"] =
        json!([{"id": ONE, "name": "web", "service_definition": "Nginx", "bindings": [binding]}]);
    body["if_entries"] = json!([{"if_index": 1, "if_descr": "Gi0/1", "interface_id": ONE}]);
    body
}

#[test]
fn created_parts_refer_to_each_other() {
    run_new(async |fixture| {
        // The second time, all ids are taken and replaced.
        for round in 0..2 {
            let host = fixture.post(HOSTS, &with(&full(), "id", NOBODY.to_string())).await;
            assert_ne!(host["id"], json!(NOBODY));
            let (interface, service) = (&host["interfaces"][0], &host["services"][0]);
            assert_eq!(interface["id"] == json!(ONE), round == 0);
            let binding = &service["bindings"][0];
            assert_eq!(binding["port_id"], host["ports"][0]["id"]);
            assert_eq!(binding["interface_id"], interface["id"]);
            assert_eq!(binding["service_id"], service["id"]);
            assert_eq!(host["if_entries"][0]["interface_id"], interface["id"]);
            for list in ["interfaces", "ports", "services", "if_entries"] {
                for part in host[list].as_array().unwrap() {
                    assert_eq!((&part["host_id"], &part["network_id"]), (&host["id"], &json!(OFFICE)));
                    assert_eq!(part["updated_at"], host["updated_at"]);
                }
            }
            assert_eq!(fixture.read(&path_of(HOSTS, &host)).await, host);
        }
    });
}

#[test]
fn update_replaces_only_the_given_lists() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full()).await;
        let path = path_of(HOSTS, &host);
        let put = async |body: &Value| fixture.ask(send_json("PUT", &path, body)).await.data().clone();
        assert_eq!(put(&host_body()).await, host, "nothing changes");
        assert_eq!(put(&host).await, host, "nothing changes");
        fixture.clock.advance(Duration::from_secs(1));
        let ports = json!([host["ports"][0], {"number": 22, "protocol": "Tcp"}]);
        let changed = put(&with(&host_body(), "ports", ports)).await;
        assert_eq!(changed["ports"][1], host["ports"][0], "the former one keeps its id and times");
        assert_eq!(changed["ports"][0]["number"], 22);
        assert_ne!(changed["updated_at"], host["updated_at"]);
        for list in ["interfaces", "services", "if_entries", "tags", "hostname", "created_at"] {
            assert_eq!(changed[list], host[list]);
        }
        let cleared = put(&with(&host_body(), "hostname", Value::Null)).await;
        assert_eq!(cleared["hostname"], Value::Null);
        let kept = ["hidden", "tags", "source", "credential_assignments", "interfaces", "ports"];
        let nulls = kept.iter().fold(host_body(), |body, field| with(&body, field, Value::Null));
        assert_eq!(put(&nulls).await, cleared, "a field that null cannot clear stays");
        let lists = ["interfaces", "ports", "services", "if_entries"];
        let emptied = put(&lists.iter().fold(host_body(), |body, list| with(&body, list, json!([])))).await;
        assert_eq!(
            (&emptied["services"], &emptied["ports"], &emptied["name"]),
            (&json!([]), &json!([]), &json!("a host"))
        );
        assert_eq!(fixture.read(&path).await, emptied);
    });
}

#[test]
fn faulty_value_of_a_host_is_named_by_its_path() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full()).await;
        let tag = fixture.abroad.tags[0];
        let rows = [
            ("/name", json!(null), "validation_required", "name"),
            ("/network_id", json!(NOBODY), "entity_reference_invalid", "network_id"),
            ("/interfaces/1/ip_address", json!("x"), "validation_invalid_format", "interfaces.1.ip_address"),
            ("/ports/0/number", json!(0), "validation_out_of_range", "ports.0.number"),
            ("/services/0/name", json!(null), "validation_required", "services.0.name"),
            (
                "/services/0/bindings/0/port_id",
                json!(NOBODY),
                "entity_reference_invalid",
                "services.0.bindings.0.port_id",
            ),
            ("/if_entries/0/if_index", json!("1"), "validation_invalid_format", "if_entries.0.if_index"),
            ("/hostname", json!("x".repeat(65_537)), "validation_max_length", "hostname"),
            (
                "/services/0/service_definition",
                json!("x".repeat(65_537)),
                "validation_max_length",
                "services.0.service_definition",
            ),
            (
                "/if_entries/0/if_descr",
                json!("x".repeat(65_537)),
                "validation_max_length",
                "if_entries.0.if_descr",
            ),
        ];
        let mut bodies: Vec<(Value, &str, &str)> =
            vec![(with(&full(), "tags", json!([tag])), "entity_reference_invalid", "tags.0")];
        for (pointer, value, code, field) in rows {
            let mut body = full();
            *body.pointer_mut(pointer).unwrap_or(&mut Value::Null) = value;
            bodies.push((body, code, field));
        }
        for (body, code, field) in bodies {
            for (method, path) in [("POST", HOSTS), ("PUT", &path_of(HOSTS, &host))] {
                let reply = fixture.ask(send_json(method, path, &body)).await;
                let is_move = method == "PUT" && field == "network_id";
                assert!(
                    is_move || reply.refuses(400, code)["field"] == field,
                    "{method} {field}: {}",
                    reply.json
                );
            }
        }
        let taken = json!([{"number": 80, "protocol": "Tcp"}, {"number": 80, "protocol": "Tcp"}]);
        let reply = fixture.ask(send_json("POST", HOSTS, &with(&host_body(), "ports", taken))).await;
        assert_eq!(*reply.refuses(409, "entity_already_exists"), json!({"entity": "Port", "name": "80/Tcp"}));
    });
}

#[test]
fn fault_of_a_host_is_reported_before_what_the_records_say() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full()).await;
        let long = json!("x".repeat(65_537));
        let details = json!({"vm_name": long, "vm_id": null, "service_id": NOBODY});
        let deep = (0..70).fold(json!(1), |value, _| json!([value]));
        let rows = [
            ("description", long.clone(), "validation_max_length", "description"),
            (
                "chassis_id",
                json!({"subtype": "MacAddress", "value": long}),
                "validation_max_length",
                "chassis_id.value",
            ),
            (
                "virtualization",
                json!({"type": "Proxmox", "details": details}),
                "validation_max_length",
                "virtualization.details.vm_name",
            ),
            (
                "source",
                json!({"type": "Discovery", "metadata": [{"a": deep}]}),
                "validation_invalid_format",
                "source.metadata",
            ),
            ("tags", json!(vec![NOBODY; 1_001]), "validation_max_length", "tags"),
        ];
        let viewer = fixture.key(Permission::Member, &[LAB]).await;
        for (field, value, code, path) in rows {
            let body = with(&host_body(), field, value);
            let stale = send_json("PUT", &path_of(HOSTS, &host), &body);
            for request in [
                send_json("POST", HOSTS, &with(&body, "network_id", NOBODY.to_string())),
                send_json("PUT", &format!("{HOSTS}/{NOBODY}"), &body),
                with_header(stale.clone(), "if-match", "\"other\""),
            ] {
                assert_eq!(fixture.ask(request).await.refuses(400, code)["field"], path);
            }
            let denied = fixture.send(with_key(stale, &viewer)).await;
            assert_eq!(denied.refuses(400, code)["field"], path);
        }
    });
}

#[test]
fn host_cannot_move_to_another_network() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full()).await;
        let put = |network: NetworkId| {
            send_json("PUT", &path_of(HOSTS, &host), &with(&host_body(), "network_id", network.to_string()))
        };
        let mismatch = fixture.ask(put(LAB)).await;
        assert_eq!(*mismatch.refuses(400, "entity_network_mismatch"), json!({"entity": "Host"}));
        for network in [NOBODY.into(), ELSEWHERE] {
            let reply = fixture.ask(put(network)).await;
            let params = json!({"entity": "Network", "field": "network_id"});
            assert_eq!(*reply.refuses(400, "entity_reference_invalid"), params);
        }
        let near = fixture.key(Permission::Member, &[OFFICE]).await;
        let denied = fixture.send(with_key(put(LAB), &near)).await;
        assert_eq!(*denied.refuses(403, "entity_access_denied"), json!({"entity": "Network", "id": LAB}));
        assert_eq!(fixture.read(&path_of(HOSTS, &host)).await, host);
    });
}

#[test]
fn hosts_are_created_and_listed_at_their_older_path() {
    run_new(async |fixture| {
        let created = fixture.ask(send_json("POST", "/api/hosts", &full())).await;
        let host = created.data();
        assert_eq!(fixture.read(&path_of(HOSTS, host)).await, *host);
        assert_eq!(fixture.read("/api/hosts").await, json!([host]));
        let reply = fixture.ask(send_json("POST", "/api/hosts", &json!({"name": "a host"}))).await;
        assert_eq!(*reply.refuses(400, "validation_required"), json!({"field": "network_id"}));
    });
}

#[test]
fn host_has_a_strong_tag_and_is_deleted_once() {
    run_new(async |fixture| {
        let created = fixture.ask(send_json("POST", HOSTS, &full())).await;
        let (host, tag) = (created.data(), created.header("etag").to_owned());
        let path = path_of(HOSTS, host);
        assert_eq!(fixture.ask(get(&path)).await.header("etag"), tag);
        assert_eq!(fixture.ask(with_header(get(&path), "if-none-match", &tag)).await.status, 304);
        let put = |name: &str| send_json("PUT", &path, &with(&host_body(), "name", name));
        let changed = fixture.ask(with_header(put("b"), "if-match", &tag)).await;
        let failed = json!({"entity": "Host", "id": host["id"]});
        for request in [put("c"), bare("DELETE", &path)] {
            let reply = fixture.ask(with_header(request, "if-match", &tag)).await;
            assert_eq!(*reply.refuses(412, "precondition_failed"), failed);
        }
        // A shell has lost the quotes.
        let unquoted = changed.header("etag").trim_matches('"').to_owned();
        let changed = fixture.ask(with_header(put("d"), "if-match", &unquoted)).await;
        let delete = with_header(bare("DELETE", &path), "if-match", changed.header("etag"));
        assert_eq!(*fixture.ask(delete).await.data(), json!({}));
        for request in [bare("DELETE", &path), get(&path), put("d")] {
            assert_eq!(*fixture.ask(request).await.refuses(404, "entity_not_found"), failed);
        }
    });
}

#[test]
fn hosts_are_only_changed_by_members_with_access() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full()).await;
        let path = path_of(HOSTS, &host);
        let bulk = send_json("POST", "/api/v1/hosts/bulk-delete", &json!([host["id"]]));
        let writes =
            [send_json("POST", HOSTS, &full()), send_json("PUT", &path, &full()), bare("DELETE", &path)];
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        for request in writes.iter().chain([&bulk]) {
            let reply = fixture.send(with_key(request.clone(), &viewer)).await;
            reply.refuses(403, "auth_permission_denied");
        }
        for request in writes.iter().cloned().chain([get(&path)]) {
            let reply = fixture.send(with_key(request, &stranger)).await;
            assert_eq!(
                *reply.refuses(403, "entity_access_denied"),
                json!({"entity": "Network", "id": OFFICE})
            );
        }
        assert_eq!(fixture.send(with_key(bulk.clone(), &stranger)).await.data()["deleted_count"], 0);
        for request in [get(&path), send_json("PUT", &path, &full()), bare("DELETE", &path)] {
            fixture.ask_abroad(request).await.refuses(404, "entity_not_found");
        }
        assert_eq!(fixture.ask_abroad(bulk.clone()).await.data()["deleted_count"], 0);
        let moved = fixture.ask(send_json("PUT", &path, &with(&host, "network_id", LAB.to_string()))).await;
        assert_eq!(*moved.refuses(400, "entity_network_mismatch"), json!({"entity": "Host"}));
        let counts = json!({"deleted_count": 1, "requested_count": 1});
        assert_eq!(*fixture.ask(bulk).await.data(), counts);
        assert_eq!(fixture.list("").await.total(), 0);
    });
}

#[test]
fn fields_select_top_level_fields_in_the_order_of_the_host() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full()).await;
        for query in ["fields=name,id", "fields=id&fields=name&limit=0", "fields=name,id&cursor="] {
            let reply = fixture.list(query).await;
            assert_eq!(*reply.data(), json!([{"id": host["id"], "name": host["name"]}]));
        }
        assert_eq!(*fixture.list("fields=").await.data(), json!([host]));
        let reply = fixture.list("fields=id,secret").await;
        assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "fields"}));
        let reply = fixture.ask(get("/api/hosts?fields=hidden")).await;
        assert_eq!(*reply.data(), json!([{"hidden": false}]), "the other path is an alias");
    });
}
