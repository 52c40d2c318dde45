//! When reports last showed hosts: over HTTP, with entity tags, filters and the deletion of stale parts.

use toposcope::model::Permission;

use super::*;
use crate::backend::run_with;
use crate::common::{LAB, NOBODY, send_json};

const HOUR_LATER: &str = "2026-08-01T13:30:00Z";

fn delete_stale(body: &Value, key: &str) -> Request<String> {
    with_key(send_json("POST", "/api/v1/hosts/delete-stale", body), key)
}

/// Returns a report of a device that shows these ports, with a complete table.
fn scan(ports: &[u16], at: &str) -> Value {
    let rows: Vec<Value> = ports.iter().map(|port| json!({"number": port, "protocol": "Tcp"})).collect();
    let mut device = switch(1, &["192.0.2.1"]);
    device["tables"]["ports"] = json!({"complete": true, "rows": rows});
    report_of(device, at)
}

#[test]
fn age_moves_neither_the_entity_tag_nor_updated_at() {
    run_with(Fixture::new, async |fixture| {
        let imported = import_report(&fixture, &scan(&[22], FIRST)).await;
        let path = format!("/api/v1/hosts/{}", imported["hosts"][0]["id"].as_str().unwrap());
        let first = fixture.server.get_with(&fixture.key, &path).await;
        assert_eq!(first.data()["last_seen_at"], FIRST);
        let port = format!("/api/v1/ports/{}", first.data()["ports"][0]["id"].as_str().unwrap());
        let first_port = fixture.server.get_with(&fixture.key, &port).await;
        import_report(&fixture, &scan(&[22], HOUR_LATER)).await;
        let second = fixture.server.get_with(&fixture.key, &path).await;
        assert_eq!(second.data()["last_seen_at"], "2026-08-01T13:00:00Z");
        assert_eq!(second.data()["updated_at"], first.data()["updated_at"]);
        assert_eq!(second.header("etag"), first.header("etag"));
        let second_port = fixture.server.get_with(&fixture.key, &port).await;
        assert_eq!(second_port.data()["last_seen_at"], "2026-08-01T13:00:00Z");
        assert_eq!(second_port.header("etag"), first_port.header("etag"));
        // Staleness is part of the tag.
        for day in 2..5 {
            import_report(&fixture, &scan(&[], &format!("2026-08-0{day}T12:00:00Z"))).await;
        }
        let third = fixture.server.get_with(&fixture.key, &path).await;
        assert_eq!(third.data()["ports"][0]["is_stale"], true);
        assert!(third.data().get("is_stale").is_none());
        assert_ne!(third.header("etag"), first.header("etag"));
    });
}

#[test]
fn hosts_are_found_by_age() {
    run_with(Fixture::with_one_host, async |fixture| {
        import_report(&fixture, &report_of(switch(1, &["192.0.2.1"]), FIRST)).await;
        import_report(&fixture, &report_of(switch(2, &["192.0.2.2"]), "2026-08-12T12:00:00Z")).await;
        for (query, expected) in [
            ("seen_since=2026-08-01T12:59:59Z", vec!["switch-1", "switch-2"]),
            ("seen_since=2026-08-01T13:00:00Z", vec!["switch-2"]),
            ("seen_since=2026-08-12T13:00:00Z", vec![]),
            ("stale=true", vec!["switch-1"]),
            ("stale=false&seen_since=2026-08-01T00:00:00Z", vec!["switch-2"]),
            ("stale=true&fields=name,is_stale", vec!["switch-1"]),
        ] {
            let reply = fixture.list(&format!("{query}&order_by=name")).await;
            let names: Vec<_> =
                reply.data().as_array().unwrap().iter().map(|host| host["name"].as_str().unwrap()).collect();
            assert_eq!(names, expected, "{query}");
        }
        for query in ["seen_since=yesterday", "stale=1", "stale=true&stale=true"] {
            fixture.list(query).await.refuses(400, "validation_invalid_format");
        }
    });
}

#[test]
fn clients_cannot_set_the_age() {
    run_with(Fixture::new, async |fixture| {
        let body = json!({"network_id": OFFICE, "name": "a", "last_seen_at": FIRST, "is_stale": true});
        let created = fixture.send(with_key(send_json("POST", "/api/v1/hosts", &body), &fixture.key)).await;
        let host = created.data();
        assert!(host.get("last_seen_at").is_none() && host.get("is_stale").is_none());
        let path = format!("/api/v1/hosts/{}", host["id"].as_str().unwrap());
        let updated = fixture.send(with_key(send_json("PUT", &path, &body), &fixture.key)).await;
        assert_eq!(updated.data(), host);
    });
}

#[test]
fn stale_parts_are_deleted_on_request() {
    run_with(Fixture::new, async |fixture| {
        import_report(&fixture, &scan(&[22, 443], FIRST)).await;
        for day in 2..5 {
            import_report(&fixture, &scan(&[22], &format!("2026-08-0{day}T12:00:00Z"))).await;
        }
        let body = json!({"network_id": OFFICE});
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        fixture.send(delete_stale(&body, &viewer)).await.refuses(403, "auth_permission_denied");
        let stranger = fixture.key(Permission::Member, &[LAB]).await;
        fixture.send(delete_stale(&body, &stranger)).await.refuses(403, "entity_access_denied");
        let unknown = delete_stale(&json!({"network_id": NOBODY}), &fixture.key);
        fixture.send(unknown).await.refuses(404, "entity_not_found");
        let missing = fixture.send(delete_stale(&json!({}), &fixture.key)).await;
        assert_eq!(missing.refuses(400, "validation_required")["field"], "network_id");

        let member = fixture.key(Permission::Member, &[OFFICE]).await;
        let reply = fixture.send(delete_stale(&body, &member)).await;
        let counts = json!({"hosts": 1, "interfaces": 0, "ports": 1, "services": 0, "if_entries": 0});
        assert_eq!(*reply.data(), counts);
        assert_eq!(hosts(&fixture).await[0]["ports"].as_array().unwrap().len(), 1);
        let again = fixture.send(delete_stale(&body, &member)).await;
        assert_eq!(again.data()["hosts"], 0);
    });
}
