//! The addresses of subnets.

use serde_json::{Value, json};
use toposcope::model::Permission;

use super::{Campus, items};
use crate::backend::run_with;
use crate::common::{LAB, NOBODY, OFFICE, Row, get, send_json, with_header, with_key, with_session};

/// Creates a subnet of a network, and returns the path of its addresses.
async fn subnet(campus: &Campus, network: &str, cidr: &str) -> String {
    let body = json!({"network_id": network, "name": cidr, "cidr": cidr});
    let created = campus.send_as(&campus.key, send_json("POST", "/api/v1/subnets", &body)).await;
    format!("/api/v1/subnets/{}/addresses", created.data()["id"].as_str().unwrap())
}

fn reservation(count: u32) -> Value {
    json!({"count": count, "name": "rack 7"})
}

#[test]
fn lowest_free_addresses_are_listed_and_reserved() {
    run_with(Campus::new, async |campus| {
        let path = subnet(&campus, &OFFICE.to_string(), "192.0.2.0/29").await;
        let free = campus.read(&format!("{path}?state=free&limit=2")).await;
        let nothing = json!({
            "ip": "192.0.2.1", "state": "free", "host_id": null, "if_entry_id": null, "mac": null, "last_seen": null,
            "reserved_by": null,
        });
        assert_eq!((&free["addresses"][0], &free["addresses_total"]), (&nothing, &json!(6)));
        assert_eq!(items(&free, "addresses").len(), 2);
        // A device that is no host would not show.
        assert_eq!((&free["complete"], &free["unknown"]), (&json!(false), &json!(["neighbors"])));
        let reserved = campus.by_member("POST", &format!("{path}/reserve"), &reservation(2)).await;
        let mut expected = nothing;
        (expected["state"], expected["reserved_by"]) = (json!("reserved"), json!("rack 7"));
        assert_eq!(reserved.data()["addresses"][0], expected);
        assert_eq!(*reserved.data(), campus.read(&path).await);
        assert_eq!(campus.read(&format!("{path}?state=used")).await["addresses_total"], 0);
        let release = json!({"addresses": ["192.0.2.1"]});
        let released = campus.by_member("POST", &format!("{path}/release"), &release).await;
        assert_eq!(released.data()["addresses"][0]["state"], "free");
        let history = campus.read("/api/v1/changes?entity=AddressReservation").await;
        let actions: Vec<&Value> = history.as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
        assert_eq!(actions, ["created", "created", "deleted"]);
    });
}

#[test]
fn addresses_of_devices_have_their_host_and_port() {
    run_with(Campus::new, async |campus| {
        let path = subnet(&campus, &OFFICE.to_string(), "203.0.113.0/24").await;
        let tables = json!({
            "if_entries": {"complete": true, "rows": [{"if_index": 1, "mac_address": "00:1B:21:00:00:09"}]},
            "addresses": {"complete": true, "rows": [{"ip_address": "203.0.113.1", "if_index": 1}]},
            "arp": {"complete": true, "rows": [{"ip_address": "203.0.113.9", "mac_address": "00:1B:21:00:00:77"}]},
        });
        let router = json!({"sys_name": "router-1", "serial_number": "SN-R1", "tables": tables});
        let hosts = campus.import("2026-08-01T12:00:00Z", &[router]).await;
        let found = campus.read(&path).await;
        let host = campus.read(&format!("/api/v1/hosts/{}", hosts[0])).await;
        let used = &found["addresses"][0];
        assert_eq!((&used["state"], &used["host_id"]), (&json!("used"), &host["id"]));
        assert_eq!(used["if_entry_id"], host["if_entries"][0]["id"]);
        let seen = &found["addresses"][1];
        assert_eq!((&seen["ip"], &seen["state"]), (&json!("203.0.113.9"), &json!("seen")));
        assert_eq!(
            (&seen["mac"], &seen["last_seen"]),
            (&json!("00:1B:21:00:00:77"), &json!("2026-08-01T12:00:00Z"))
        );
        let free = campus.read(&format!("{path}?state=free&limit=1")).await;
        assert_eq!(
            (&free["addresses_total"], &free["complete"], &free["unknown"]),
            (&json!(252), &json!(true), &json!([]))
        );
    });
}

#[test]
fn list_is_not_modified_until_an_address_is_reserved() {
    run_with(Campus::new, async |campus| {
        let path = subnet(&campus, &OFFICE.to_string(), "192.0.2.0/24").await;
        let target = format!("{path}?state=free&limit=1");
        let tag = campus.send_as(&campus.member, get(&target)).await.header("etag").to_owned();
        let again = || with_header(get(&target), "if-none-match", &tag);
        assert_eq!(campus.send_as(&campus.member, again()).await.status, 304);
        campus.by_member("POST", &format!("{path}/reserve"), &reservation(1)).await.data();
        assert_eq!(campus.send_as(&campus.member, again()).await.status, 200);
    });
}

#[test]
fn faults_name_their_field() {
    run_with(Campus::new, async |campus| {
        let path = subnet(&campus, &OFFICE.to_string(), "192.0.2.0/30").await;
        let post = |what: &str, body: Value| {
            with_key(send_json("POST", &format!("{path}/{what}"), &body), &campus.member)
        };
        let count = json!({"field": "count", "min": 1, "max": 256});
        let out_of_range = "validation_out_of_range";
        let mut rows = vec![
            Row::refused_with("257", post("reserve", reservation(257)), out_of_range, count.clone()),
            Row::refused_with("0", post("reserve", reservation(0)), out_of_range, count),
            Row::refused_with(
                "3 of 2",
                post("reserve", reservation(3)),
                "addresses_exhausted",
                json!({"free": 2}),
            ),
        ];
        let format = "validation_invalid_format";
        for (what, body, code, params) in [
            ("reserve", json!({"name": "x"}), "validation_required", json!({"field": "count"})),
            ("reserve", json!({"count": 1}), "validation_required", json!({"field": "name"})),
            ("reserve", json!({"count": 1, "name": ""}), "validation_empty", json!({"field": "name"})),
            ("reserve", json!({"count": "1", "name": "x"}), format, json!({"field": "count"})),
            ("release", json!({}), "validation_required", json!({"field": "addresses"})),
            ("release", json!({"addresses": []}), "validation_empty", json!({"field": "addresses"})),
            ("release", json!({"addresses": ["192.0.2.1", "x"]}), format, json!({"field": "addresses.1"})),
            (
                "release",
                json!({"addresses": vec!["192.0.2.1"; 1_001]}),
                "validation_max_length",
                json!({"field": "addresses", "max": 1_000}),
            ),
        ] {
            rows.push(Row::refused_with(body.to_string(), post(what, body), code, params));
        }
        for (query, code, params) in [
            ("state=x", format, json!({"field": "state"})),
            ("limit=0", out_of_range, json!({"field": "limit", "min": 1, "max": 10_000})),
            ("limit=10001", out_of_range, json!({"field": "limit", "min": 1, "max": 10_000})),
            ("page=1", "validation_unknown_parameter", json!({"field": "page"})),
        ] {
            let request = with_key(get(&format!("{path}?{query}")), &campus.member);
            rows.push(Row::refused_with(query, request, code, params));
        }
        campus.check(rows).await;
    });
}

#[test]
fn addresses_are_for_callers_of_the_network() {
    run_with(Campus::new, async |campus| {
        let hidden = subnet(&campus, &LAB.to_string(), "192.0.2.0/24").await;
        let visible = subnet(&campus, &OFFICE.to_string(), "192.0.2.0/24").await;
        let id = |path: &str| path.split('/').nth(4).unwrap().to_owned();
        let viewer = campus.key(Permission::Viewer, &[OFFICE]).await;
        let stranger = campus.sign_in(&campus.user(&campus.abroad, Permission::Owner, &[]).await).await;
        let denied = json!({"entity": "Network", "id": LAB});
        let unknown = |id: &str| json!({"entity": "Subnet", "id": id});
        let reserve = |path: &str| send_json("POST", &format!("{path}/reserve"), &reservation(1));
        let release =
            |path: &str| send_json("POST", &format!("{path}/release"), &json!({"addresses": ["192.0.2.1"]}));
        let nobody = format!("/api/v1/subnets/{NOBODY}/addresses");
        let mut rows = Vec::new();
        for (name, request) in
            [("list", get(&hidden)), ("reserve", reserve(&hidden)), ("release", release(&hidden))]
        {
            let request = with_key(request, &campus.member);
            rows.push(Row::refused_with(name, request, "entity_access_denied", denied.clone()));
        }
        for (name, request) in
            [("list", get(&visible)), ("reserve", reserve(&visible)), ("release", release(&visible))]
        {
            let request = with_session(request, &stranger);
            rows.push(Row::refused_with(name, request, "entity_not_found", unknown(&id(&visible))));
        }
        let missing = with_key(get(&nobody), &viewer);
        rows.push(Row::refused_with("unknown", missing, "entity_not_found", unknown(&NOBODY.to_string())));
        rows.push(Row::succeeds("viewer", with_key(get(&visible), &viewer)));
        for (name, request) in [("reserve", reserve(&visible)), ("release", release(&visible))] {
            rows.push(Row::refused(name, with_key(request, &viewer), "auth_permission_denied"));
        }
        campus.check(rows).await;
    });
}
