//! `expected_updated_at` in bulk requests and imports.

use std::time::Duration;

use super::*;

const BULK: &str = "/api/v1/hosts/bulk";
const MISSING: &str = "00000000-0000-4000-8000-000000000099";

/// Stores a host, and changes it after it was read. Returns it as it was read and as it is stored.
async fn outdated(fixture: &Fixture) -> (Value, Value) {
    let read = fixture.post(HOSTS, &host_body()).await;
    fixture.clock.advance(Duration::from_secs(1));
    let change = send_json("PUT", &path_of(HOSTS, &read), &json!({"name": "changed"}));
    (read, fixture.ask(change).await.data().clone())
}

/// Returns a change of a host that a client has read.
fn locked(host: &Value, name: &str) -> Value {
    json!({
        "id": host["id"], "network_id": OFFICE, "name": name, "expected_updated_at": host["updated_at"],
    })
}

#[test]
fn bulk_item_with_an_outdated_time_is_refused_alone() {
    run_new(async |fixture| {
        let (read, stored) = outdated(&fixture).await;
        let path = path_of(HOSTS, &read);
        let body = json!({"hosts": [host_body(), locked(&read, "lost")]});
        let reply = fixture.ask(send_json("POST", BULK, &body)).await;
        let params = json!({"entity": "Host", "id": read["id"], "field": "hosts.1"});
        assert_eq!(*reply.refuses(409, "entity_conflict"), params);
        assert_eq!(fixture.list("").await.total(), 1);
        let results = fixture.post(BULK, &with(&body, "atomic", false)).await;
        assert_eq!((&results[0]["outcome"], &results[1]["outcome"]), (&json!("created"), &json!("failed")));
        assert_eq!(results[1]["error"]["code"], "entity_conflict");
        // It is refused although it would change nothing.
        let same = with(&stored, "expected_updated_at", read["updated_at"].clone());
        let reply = fixture.ask(send_json("POST", BULK, &json!({"hosts": [same]}))).await;
        reply.refuses(409, "entity_conflict");
        assert_eq!(fixture.read(&path).await, stored);
        let results = fixture.post(BULK, &json!({"hosts": [locked(&stored, "next")]})).await;
        assert_eq!(results[0]["outcome"], "updated");
        assert!(fixture.read(&path).await.get("expected_updated_at").is_none());
    });
}

#[test]
fn bulk_item_that_expects_a_time_needs_a_stored_host() {
    run_new(async |fixture| {
        let time = "2026-01-01T00:00:00Z";
        let host = with(&host_body(), "expected_updated_at", time);
        let ask = async |host: Value| fixture.ask(send_json("POST", BULK, &json!({"hosts": [host]}))).await;
        let params = json!({"field": "hosts.0.id"});
        assert_eq!(*ask(host.clone()).await.refuses(400, "validation_required"), params);
        ask(with(&host, "id", MISSING)).await.refuses(404, "entity_not_found");
        let params = json!({"field": "hosts.0.expected_updated_at"});
        let wrong = ask(with(&host, "expected_updated_at", "yesterday")).await;
        assert_eq!(*wrong.refuses(400, "validation_invalid_format"), params);
        let null = ask(with(&host, "expected_updated_at", Value::Null)).await;
        assert_eq!(null.data()[0]["outcome"], "created", "null is absent");
    });
}

#[test]
fn imported_line_with_an_outdated_time_is_refused_alone() {
    run_new(async |fixture| {
        let (read, stored) = outdated(&fixture).await;
        let expecting = |id: &str| {
            let host = with(&with(&host_body(), "id", id), "name", "lost");
            with(&host, "expected_updated_at", read["updated_at"].clone())
        };
        let whole = with(&read, "expected_updated_at", read["updated_at"].clone());
        let without_id = without(&expecting(MISSING), "id");
        let lines = [
            host_body(),
            locked(&read, "lost"),
            whole,
            expecting(MISSING),
            without_id,
            locked(&stored, "next"),
        ];
        let text = lines.map(|line| line.to_string() + "\n").concat();
        let request =
            with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
        let report = fixture.ask(request.map(|_| text)).await.data().clone();
        let refused: Vec<_> = report["refusals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|refusal| (&refusal["line"], &refusal["field"], &refusal["code"]))
            .collect();
        let (conflict, lock) = (json!("entity_conflict"), json!("expected_updated_at"));
        assert_eq!(refused[..2], [(&json!(2), &lock, &conflict), (&json!(3), &lock, &conflict)], "{report}");
        assert_eq!(
            (refused.len(), &report["imported"], &report["replaced"]),
            (4, &json!(2), &json!(1)),
            "{report}"
        );
        assert_eq!(fixture.read(&path_of(HOSTS, &read)).await["name"], "next");
    });
}
