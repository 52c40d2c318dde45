//! The parameters of the history and their errors.

use serde_json::json;
use toposcope::store::{Batch, LinkFilter, Name, Precondition, Query, Store};
use uuid::Uuid;

use super::CHANGES;
use crate::backend::run;
use crate::common::{Fixture, HOSTS, NOBODY, OFFICE, Row, get, host, with_header, with_key};

#[test]
fn wrong_values_are_refused_by_the_name_of_their_parameter() {
    run(async || {
        let fixture = Fixture::with_one_host().await;
        let malformed = "A".repeat(53);
        let own = fixture.newest(&fixture.key).await;
        let mut rows = Vec::new();
        let history = format!("{HOSTS}/{}/history", Uuid::from_u128(1));
        for path in [CHANGES, &history] {
            for field in ["after", "before", "since", "until"] {
                for value in ["x", &malformed, "2026-08-14", "2026-08-14T12:00:00", "%2B%2F", &own[1..]] {
                    rows.push(refused(&fixture, path, field, value));
                }
                rows.push(too_long(&fixture, path, field));
            }
            for (field, value) in [
                ("action", "moved"),
                ("action", "Created"),
                ("order_direction", "up"),
                ("limit", "x"),
                ("limit", "-1"),
            ] {
                rows.push(refused(&fixture, path, field, value));
            }
            rows.push(too_long(&fixture, path, "actor"));
            let request = with_key(get(&format!("{path}?limit=1001")), &fixture.key);
            let range = json!({"field": "limit", "min": 0, "max": 1000});
            rows.push(Row::refused_with("limit", request, "validation_out_of_range", range));
            for field in ["offset", "cursor", "at", "order_by", "network"] {
                let request = with_key(get(&format!("{path}?{field}=1")), &fixture.key);
                let params = json!({"field": field});
                rows.push(Row::refused_with(field, request, "validation_unknown_parameter", params));
            }
            let twice = with_key(get(&format!("{path}?after={own}&after={own}")), &fixture.key);
            rows.push(Row::refused_with(
                "twice",
                twice,
                "validation_invalid_format",
                json!({"field": "after"}),
            ));
        }
        for (field, value) in [("entity", "host"), ("entity", "session"), ("id", "1"), ("network_id", "x")] {
            rows.push(refused(&fixture, CHANGES, field, value));
        }
        for field in ["entity", "id", "network_id"] {
            let request = with_key(get(&format!("{history}?{field}={NOBODY}")), &fixture.key);
            let params = json!({"field": field});
            rows.push(Row::refused_with(field, request, "validation_unknown_parameter", params));
        }
        rows.push(refused(&fixture, &format!("{HOSTS}/{}", Uuid::from_u128(1)), "at", &malformed));
        rows.push(refused(&fixture, &format!("{CHANGES}/stream"), "after", &malformed));
        let stream = || with_key(get(&format!("{CHANGES}/stream?after={own}")), &fixture.key);
        for value in ["x", &malformed, "é"] {
            let request = with_header(stream(), "last-event-id", value);
            let params = json!({"field": "Last-Event-ID"});
            rows.push(Row::refused_with(value, request, "validation_invalid_format", params));
        }
        fixture.check(rows).await;
    });
}

fn refused(fixture: &Fixture, path: &str, field: &str, value: &str) -> Row {
    let request = with_key(get(&format!("{path}?{field}={value}")), &fixture.key);
    let name = format!("{path} {field} {value}");
    Row::refused_with(name, request, "validation_invalid_format", json!({"field": field}))
}

fn too_long(fixture: &Fixture, path: &str, field: &str) -> Row {
    let request = with_key(get(&format!("{path}?{field}={}", "x".repeat(101))), &fixture.key);
    Row::refused_with(field, request, "validation_max_length", json!({"field": field, "max": 100}))
}

#[test]
fn position_whose_entry_is_gone_gets_410_with_the_ends_of_the_history() {
    run(async || {
        let fixture = Fixture::new().await;
        let oldest = fixture.changes("limit=1").await.next();
        fixture.put([host(1, OFFICE)]).await;
        let gone = fixture.newest(&fixture.key).await;
        fixture.put([host(2, OFFICE)]).await;
        let newest = fixture.newest(&fixture.key).await;
        let mut query = Query::new(Name::new("change"));
        query.links = vec![LinkFilter::new(Name::new("changed"), [Uuid::from_u128(1)])];
        let mut batch = Batch::new();
        for record in fixture.store.list(&query).await.unwrap().records {
            batch.delete(record.key, Precondition::Version(record.version));
        }
        fixture.store.commit(batch).await.unwrap();
        let ends = json!({"oldest": oldest, "newest": newest});
        let item = format!("{HOSTS}/{}", Uuid::from_u128(2));
        let mut targets: Vec<String> = ["after", "before", "since", "until"]
            .iter()
            .flat_map(|field| {
                [CHANGES, &format!("{item}/history")].map(|path| format!("{path}?{field}={gone}"))
            })
            .collect();
        targets.extend([format!("{item}?at={gone}"), format!("{CHANGES}/stream?after={gone}")]);
        let rows = targets.iter().map(|target| {
            Row::refused_with(target, with_key(get(target), &fixture.key), "position_gone", ends.clone())
        });
        fixture.check(rows).await;
        let stream = with_key(get(&format!("{CHANGES}/stream?after={newest}")), &fixture.key);
        let resumed = with_header(stream, "last-event-id", &gone);
        fixture.check([Row::refused_with("resumed", resumed, "position_gone", ends)]).await;
    });
}
