//! Rows of a CSV with the ids of stored hosts.

use super::csv::{csv, import, imported, odd_hosts};
use super::*;

/// A host with a value in every kind of column.
fn full_host() -> Value {
    let id = |number: u128| uuid::Uuid::from_u128(number);
    json!({
        "network_id": OFFICE, "name": "core", "hostname": "core.example.net", "description": "kept", "hidden": true,
        "chassis_id": {"subtype": "MacAddress", "value": "00:1B:21:3C:4D:5E"},
        "custom": {"asset_tag": "A-17", "rack": 7},
        "interfaces": [
            {"id": id(1), "ip_address": "192.0.2.1", "name": "eth0", "position": 7},
            {"id": id(5), "ip_address": "192.0.2.2", "position": 9},
        ],
        "ports": [{"id": id(2), "number": 443, "protocol": "Tcp"}],
        "services": [{
            "id": id(3), "name": "web", "service_definition": "Nginx",
            "bindings": [{"type": "Port", "port_id": id(2), "interface_id": id(1)}],
        }],
        "if_entries": [{"id": id(4), "interface_id": id(1), "if_index": 3, "if_descr": "Gi0/3"}],
    })
}

#[test]
fn column_that_a_row_lacks_stays_and_an_empty_cell_empties() {
    run_new(async |fixture| {
        let before = fixture.post(HOSTS, &full_host()).await;
        let (path, id) = (path_of(HOSTS, &before), before["id"].as_str().unwrap());
        let report = imported(&fixture, OFFICE, format!("id,name,custom.rack\n{id},renamed,8\n")).await;
        assert_eq!((&report["replaced"], &report["removed_parts"]), (&json!(1), &json!(0)), "{report}");
        let after = fixture.read(&path).await;
        assert_eq!(after["custom"], json!({"asset_tag": "A-17", "rack": 8}));
        assert_ne!(after["updated_at"], before["updated_at"]);
        let others = |host: &Value| without(&without(&without(host, "name"), "custom"), "updated_at");
        assert_eq!(others(&after), others(&before));
        let text = format!("id,name,hostname,custom.rack\n{id},renamed,,\n");
        let report = imported(&fixture, OFFICE, text.clone()).await;
        assert_eq!(report["replaced"], 1, "{report}");
        let emptied = fixture.read(&path).await;
        assert_eq!((&emptied["hostname"], &emptied["custom"]), (&Value::Null, &json!({"asset_tag": "A-17"})));
        assert_eq!(emptied["description"], "kept");
        assert_eq!(imported(&fixture, OFFICE, text).await["unchanged"], 1);
        imported(&fixture, OFFICE, format!("id,name,custom\n{id},renamed,\"{{\"\"rack\"\": 9}}\"\n")).await;
        assert_eq!(
            fixture.read(&path).await["custom"],
            json!({"rack": 9}),
            "the column is of all custom fields"
        );
    });
}

#[test]
fn report_counts_the_parts_that_a_row_removes_in_a_dry_run_too() {
    run_new(async |fixture| {
        let body = json!({
            "network_id": OFFICE, "name": "printer",
            "interfaces": [{"ip_address": "192.0.2.1"}, {"ip_address": "192.0.2.2"}],
            "ports": [{"number": 631, "protocol": "Tcp"}],
        });
        let host = fixture.post(HOSTS, &body).await;
        let id = host["id"].as_str().unwrap();
        let text = format!("id,name,interfaces,ports\n{id},printer,192.0.2.2,\n");
        for query in ["&dry_run=true", ""] {
            let request = import(&format!("?network_id={OFFICE}{query}"), text.clone());
            let report = fixture.send(with_key(request, &fixture.key)).await.data().clone();
            assert_eq!((&report["replaced"], &report["removed_parts"]), (&json!(1), &json!(2)), "{report}");
        }
        let after = fixture.read(&path_of(HOSTS, &host)).await;
        assert_eq!((&after["ports"], after["interfaces"].as_array().unwrap().len()), (&json!([]), 1));
    });
}

#[test]
fn export_of_all_columns_changes_nothing_when_it_is_imported_again() {
    run_new(async |fixture| {
        odd_hosts(&fixture).await;
        let host = fixture.post(HOSTS, &full_host()).await;
        let fields: Vec<&str> = host.as_object().unwrap().keys().map(String::as_str).collect();
        let (_, text) = csv(&fixture, &format!("{HOSTS}?limit=0&fields={}", fields.join(","))).await;
        let before = fixture.list("limit=0").await.data().clone();
        fixture.clock.advance(std::time::Duration::from_secs(1));
        let report = imported(&fixture, OFFICE, text.clone()).await;
        assert_eq!((&report["unchanged"], &report["refused"]), (&json!(11), &json!(0)), "{report}");
        assert_eq!(*fixture.list("limit=0").await.data(), before);
        let report = imported(&fixture, OFFICE, text.replace("core.example.net", "a.example.net")).await;
        assert_eq!((&report["unchanged"], &report["replaced"]), (&json!(10), &json!(1)), "{report}");
        let edited = fixture.read(&path_of(HOSTS, &host)).await;
        assert_ne!(edited["updated_at"], host["updated_at"], "an edited row is a change of now");
        assert_eq!((&edited["created_at"], &edited["services"]), (&host["created_at"], &host["services"]));
    });
}

#[test]
fn row_with_an_outdated_time_is_refused() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let (id, time) = (host["id"].as_str().unwrap(), host["updated_at"].as_str().unwrap());
        let row = |name: &str| format!("id,name,expected_updated_at\n{id},{name},{time}\n");
        fixture.clock.advance(std::time::Duration::from_secs(1));
        assert_eq!(imported(&fixture, OFFICE, row("first")).await["replaced"], 1);
        let request = with_key(import(&format!("?network_id={OFFICE}"), row("lost")), &fixture.key);
        let report = fixture.send(request).await.refuses(400, "import_refused")["report"].clone();
        let refusal = &report["refusals"][0];
        assert_eq!(
            (&refusal["field"], &refusal["code"]),
            (&json!("expected_updated_at"), &json!("entity_conflict"))
        );
        assert_eq!(fixture.read(&path_of(HOSTS, &host)).await["name"], "first");
    });
}

#[test]
fn row_that_changes_a_host_changes_its_time() {
    run_new(async |fixture| {
        for (column, value) in [
            ("is_stale", "true"),
            ("last_seen_at", "2026-01-01T00:00:00Z"),
            ("created_at", "2020-01-01T00:00:00Z"),
        ] {
            let before = fixture.post(HOSTS, &host_body()).await;
            fixture.clock.advance(std::time::Duration::from_secs(1));
            let (path, id) = (path_of(HOSTS, &before), before["id"].as_str().unwrap());
            let text = format!("id,name,{column}\n{id},renamed,{value}\n");
            assert_eq!(imported(&fixture, OFFICE, text).await["replaced"], 1, "{column}");
            let lock = json!({"name": "lost", "expected_updated_at": before["updated_at"]});
            fixture.ask(send_json("PATCH", &path, &lock)).await.refuses(409, "entity_conflict");
            assert_eq!(fixture.read(&path).await["name"], "renamed", "{column}");
        }
    });
}

#[test]
fn custom_fields_whose_column_was_deleted_from_an_export_stay() {
    run_new(async |fixture| {
        let before = fixture.post(HOSTS, &full_host()).await;
        let id = before["id"].as_str().unwrap();
        let text = format!("id,name,custom,custom.rack\n{id},core,,8\n");
        assert_eq!(imported(&fixture, OFFICE, text).await["replaced"], 1);
        let custom = fixture.read(&path_of(HOSTS, &before)).await["custom"].clone();
        assert_eq!(custom, json!({"asset_tag": "A-17", "rack": 8}));
    });
}

#[test]
fn further_rows_of_a_host_are_refused_after_three() {
    run_new(async |fixture| {
        let before = fixture.post(HOSTS, &full_host()).await;
        let id = before["id"].as_str().unwrap();
        let rows: String = (0..6).map(|row| format!("{id},row {row}\n")).collect();
        let report = imported(&fixture, OFFICE, format!("id,name\n{rows}")).await;
        assert_eq!((&report["imported"], &report["refused"]), (&json!(3), &json!(3)), "{report}");
        assert_eq!(fixture.read(&path_of(HOSTS, &before)).await["name"], "row 2");
    });
}

#[test]
fn row_of_a_stored_host_needs_neither_name_nor_network() {
    run_new(async |fixture| {
        let before = fixture.post(HOSTS, &full_host()).await;
        let (path, id) = (path_of(HOSTS, &before), before["id"].as_str().unwrap());
        fixture.put_abroad(crate::common::host(7, ELSEWHERE)).await;
        let foreign = uuid::Uuid::from_u128(7);
        for (query, missing) in [(String::new(), "network_id"), (format!("?network_id={OFFICE}"), "name")] {
            let text = format!("id,description\n{id},{missing}\n{NOBODY},x\n{foreign},x\n");
            let report = by_owner(&fixture, import(&query, text)).await.data().clone();
            assert_eq!((&report["replaced"], &report["refused"]), (&json!(1), &json!(2)), "{report}");
            for refusal in report["refusals"].as_array().unwrap() {
                assert_eq!(refusal["field"], missing, "{report}");
                assert!(refusal["reason"].as_str().unwrap().contains("no stored host"), "{report}");
            }
            let after = fixture.read(&path).await;
            assert_eq!(after["description"], missing);
            let others = |host: &Value| without(&without(host, "description"), "updated_at");
            assert_eq!(others(&after), others(&before));
        }
        let reply = by_owner(&fixture, import("", "id,description\n,x\n")).await;
        let report = &reply.refuses(400, "import_refused")["report"];
        assert_eq!(report["refusals"][0]["field"], "network_id", "a row without an id is a new host");
    });
}

#[test]
fn row_without_a_network_is_refused_if_the_host_is_on_one_that_the_caller_cannot_access() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let member = fixture.key(Permission::Member, &[LAB]).await;
        let row = format!("id,description\n{},changed\n", host["id"].as_str().unwrap());
        let reply = fixture.send(with_key(import("", row), &member)).await;
        let refusal = &reply.refuses(400, "import_refused")["report"]["refusals"][0];
        assert_eq!(refusal["field"], "network_id");
        assert!(refusal["reason"].as_str().unwrap().contains("do not have access"), "{refusal}");
        assert_eq!(fixture.read(&path_of(HOSTS, &host)).await, host);
    });
}

#[test]
fn row_that_equals_the_export_is_unchanged_even_if_texts_are_empty() {
    run_new(async |fixture| {
        let body = with(&full_host(), "description", "");
        let host = fixture.post(HOSTS, &with(&body, "hostname", "")).await;
        let (path, id) = (path_of(HOSTS, &host), host["id"].as_str().unwrap());
        let fields = "id,network_id,name,hostname,description,sys_name,custom";
        let (_, text) = csv(&fixture, &format!("{HOSTS}?ids={id}&fields={fields}")).await;
        let report = by_owner(&fixture, import("", text.clone())).await.data().clone();
        assert_eq!((&report["unchanged"], &report["imported"]), (&json!(1), &json!(0)), "{report}");
        let edited = text.replace(",core,", ",edge,");
        assert_eq!(by_owner(&fixture, import("", edited)).await.data()["replaced"], 1);
        let after = fixture.read(&path).await;
        assert_eq!(
            (&after["name"], &after["description"], &after["hostname"]),
            (&json!("edge"), &json!(""), &json!(""))
        );
    });
}

#[test]
fn row_that_removes_a_part_in_use_is_refused_with_the_column_of_its_list() {
    run_new(async |fixture| {
        let host = fixture.post(HOSTS, &full_host()).await;
        let id = host["id"].as_str().unwrap();
        for (column, part, path) in
            [("ports", "Port", "services.0.bindings.0.port_id"), ("interfaces", "Interface", "interface_id")]
        {
            let text = format!("id,name,{column}\n{id},core,\n");
            let reply = by_owner(&fixture, import("", text)).await;
            let refusal = &reply.refuses(400, "import_refused")["report"]["refusals"][0];
            assert_eq!(refusal["field"], column);
            let reason = refusal["reason"].as_str().unwrap();
            assert!(
                reason.starts_with(&format!("lacks the {part} to which ")) && reason.contains(path),
                "{reason}"
            );
        }
        assert_eq!(fixture.read(&path_of(HOSTS, &host)).await, host);
    });
}

/// Sends an import of an Owner.
async fn by_owner(fixture: &Fixture, import: Request<http_body_util::Full<bytes::Bytes>>) -> Reply {
    fixture.send(with_key(import, &fixture.key)).await
}

#[test]
fn rows_without_a_network_find_those_of_many_large_hosts() {
    run_new(async |fixture| {
        let mut text = "id,custom.rack\n".to_owned();
        for number in 0..6 {
            // About a quarter of a megabyte, so that they are read in two parts.
            let body = json!({"network_id": OFFICE, "name": format!("host {number}"), "description": "🦀".repeat(65_536)});
            let host = fixture.post(HOSTS, &body).await;
            text += &format!("{},{number}\n", host["id"].as_str().unwrap());
        }
        let request = import("", text);
        let report = fixture.send(with_key(request, &fixture.key)).await.data().clone();
        assert_eq!((&report["replaced"], &report["refused"]), (&json!(6), &json!(0)), "{report}");
    });
}
