//! Filters, order, pages and cursors of lists.

use std::time::Duration;

use super::*;
use crate::common::{LAB, NOBODY};

const RECORDS: usize = 9;

/// Creates records, two of each at the same time, and changes some of them later.
async fn fill(scene: &Scene) {
    for number in 0..RECORDS {
        let record = scene.create(number * 37 % RECORDS).await;
        if number % 2 == 0 {
            scene.fixture.clock.advance(Duration::from_secs(1));
        }
        if number % 3 == 0 {
            let (field, value) = &scene.kind.changes[scene.kind.changes.len() - 1];
            scene.put(&record, &with(&record, field, value.clone())).await.data();
        }
    }
}

impl Scene {
    async fn list(&self, query: &str) -> Reply {
        self.send(get(&format!("{}?{query}", self.kind.path))).await
    }
}

fn ids(reply: &Reply) -> Vec<String> {
    reply.data().as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

/// Returns the ids of all pages of a list.
async fn by_cursor(scene: &Scene, query: &str) -> Vec<String> {
    let (mut cursor, mut found) = (String::new(), Vec::new());
    loop {
        let reply = scene.list(&format!("limit=2&{query}&cursor={cursor}")).await;
        found.extend(ids(&reply));
        match &reply.json["meta"]["pagination"]["next_cursor"] {
            Value::String(next) => cursor.clone_from(next),
            _ => return found,
        }
    }
}

#[test]
fn every_order_is_total_and_its_pages_are_parts_of_the_whole() {
    for_each(async |scene| {
        fill(scene).await;
        for order in ["created_at", "updated_at", "name"] {
            for direction in ["asc", "desc"] {
                let query = format!("order_by={order}&order_direction={direction}");
                let whole = scene.list(&format!("limit=0&{query}")).await;
                let mut sorted = whole.data().as_array().unwrap().clone();
                sorted.sort_by_key(|record| record["id"].to_string());
                sorted.sort_by(|left, right| {
                    // Users are named by their addresses.
                    let key = |record: &Value| record.get(order).unwrap_or(&record["email"]).to_string();
                    let ordering = key(left).cmp(&key(right));
                    if direction == "asc" { ordering } else { ordering.reverse() }
                });
                assert_eq!(*whole.data(), json!(sorted), "{query} of {}", scene.kind.path);
                let whole = ids(&whole);
                assert_eq!(by_cursor(scene, &query).await, whole);
                for offset in 0..=whole.len() + 1 {
                    let page = scene.list(&format!("{query}&limit=2&offset={offset}")).await;
                    let expected: Vec<String> = whole.iter().skip(offset).take(2).cloned().collect();
                    assert_eq!((ids(&page), page.total()), (expected, whole.len() as u64));
                }
            }
        }
    });
}

#[test]
fn cursor_neither_repeats_nor_misses_what_stays() {
    for_each_that(
        |kind| kind.can_delete,
        async |scene| {
            fill(scene).await;
            // The newest first, so that the records of the caller are not deleted.
            let query = "order_direction=desc";
            let whole = ids(&scene.list(&format!("limit=0&{query}")).await);
            let first = scene.list(&format!("limit=4&{query}&cursor=")).await;
            let next = first.json["meta"]["pagination"]["next_cursor"].as_str().unwrap();
            for gone in &ids(&first)[2..] {
                scene.send(bare("DELETE", &format!("{}/{gone}", scene.kind.path))).await.data();
            }
            scene.fixture.clock.advance(Duration::from_secs(1));
            scene.create(50).await;
            let rest = scene.list(&format!("limit=0&{query}&cursor={next}")).await;
            assert_eq!(ids(&rest), whole[4..], "{}", scene.kind.path);
        },
    );
}

#[test]
fn cursor_of_another_list_is_refused() {
    for_each_that(
        |kind| kind.can_delete,
        async |scene| {
            fill(scene).await;
            let reply = scene.list("limit=1&cursor=").await;
            let cursor = reply.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned();
            assert_eq!(scene.list(&format!("limit=3&cursor={cursor}")).await.status, 200);
            for query in [
                format!("order_by=updated_at&cursor={cursor}"),
                format!("order_direction=desc&cursor={cursor}"),
                format!("ids={NOBODY}&cursor={cursor}"),
                format!("offset=1&cursor={cursor}"),
                format!("cursor={cursor}&cursor={cursor}"),
                format!("cursor={cursor}AAAA"),
                "cursor=!".to_owned(),
                format!("cursor={}", "a".repeat(2_049)),
            ] {
                let reply = scene.list(&query).await;
                assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "cursor"}));
            }
            let other = scene.fixture.owner_key(&scene.fixture.abroad).await;
            let target = get(&format!("{}?cursor={cursor}", scene.kind.path));
            let reply = scene.fixture.send(with_key(target, &other)).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "cursor"}));
        },
    );
}

#[test]
fn filters_select_records_and_combine_with_and() {
    for_each(async |scene| {
        let [first, second] = [scene.create(1).await, scene.create(2).await];
        let [one, two] = [&first, &second].map(|record| record["id"].as_str().unwrap().to_owned());
        let count = async |query: &str| scene.list(query).await.total();
        let distinct = if one == two { 1 } else { 2 };
        assert_eq!(count(&format!("ids={one},{two}")).await, distinct);
        assert_eq!(count(&format!("ids={one}&ids={NOBODY}")).await, 1);
        assert_eq!(count(&format!("ids={NOBODY}")).await, 0);
        let whole = count("ids=").await;
        if scene.kind.has_network {
            assert_eq!(count(&format!("network_id={OFFICE}")).await, whole);
            for network in [LAB, NOBODY.into(), scene.fixture.abroad.networks[0]] {
                assert_eq!(count(&format!("network_id={network}")).await, 0);
            }
            assert_eq!(count(&format!("network_id={OFFICE}&ids={one}")).await, 1);
        }
        if first.get("tags").is_some() {
            let [red, green, _] = scene.fixture.home.tags;
            scene.put(&second, &with(&second, "tags", json!([green]))).await.data();
            assert_eq!(ids(&scene.list(&format!("tag_ids={red}")).await), [one.as_str()]);
            assert_eq!(ids(&scene.list(&format!("tag_ids={green}")).await), [two.as_str()]);
            assert_eq!(count(&format!("tag_ids={red},{green}")).await, 2);
            assert_eq!(count(&format!("tag_ids={red}&ids={two}")).await, 0);
        }
    });
}

#[test]
fn invalid_parameter_is_refused_with_its_name() {
    let rows = [
        ("unknown=1", "validation_unknown_parameter", "unknown"),
        ("host_id=1", "validation_unknown_parameter", "host_id"),
        ("search=ab", "validation_unknown_parameter", "search"),
        ("group_by=name", "validation_unknown_parameter", "group_by"),
        ("limit=1001", "validation_out_of_range", "limit"),
        ("limit=-1", "validation_invalid_format", "limit"),
        ("limit=1&limit=1", "validation_invalid_format", "limit"),
        ("offset=2147483648", "validation_out_of_range", "offset"),
        ("offset=x", "validation_invalid_format", "offset"),
        ("ids=x", "validation_invalid_format", "ids"),
        ("order_by=id", "validation_invalid_format", "order_by"),
        ("order_direction=up", "validation_invalid_format", "order_direction"),
    ];
    for_each(async |scene| {
        for (query, code, field) in rows {
            assert_eq!(scene.list(query).await.refuses(400, code)["field"], field, "{query}");
        }
        let many = vec![NOBODY.to_string(); 1_001].join(",");
        let reply = scene.list(&format!("ids={many}")).await;
        assert_eq!(*reply.refuses(400, "validation_max_length"), json!({"field": "ids", "max": 1_000}));
        let record = scene.create(1).await;
        for field in ["network_id", "tag_ids", "contains"] {
            let is_known = match field {
                "network_id" => scene.kind.has_network,
                "tag_ids" => record.get("tags").is_some(),
                _ => scene.kind.entity == "Subnet",
            };
            let code = if is_known { "validation_invalid_format" } else { "validation_unknown_parameter" };
            assert_eq!(*scene.list(&format!("{field}=x")).await.refuses(400, code), json!({"field": field}));
        }
        for request in scene.writes(&record).into_iter().chain([get(&scene.item(&record))]) {
            let (mut parts, body) = request.into_parts();
            parts.uri = format!("{}?limit=1", parts.uri).parse().unwrap();
            let reply = scene.send(Request::from_parts(parts, body)).await;
            assert_eq!(*reply.refuses(400, "validation_unknown_parameter"), json!({"field": "limit"}));
        }
    });
}
