//! Lists of the parts of all hosts.

use std::collections::BTreeSet;

use super::*;
use crate::common::VAULT;

const PATHS: [(&str, &str); 4] = [
    ("/api/v1/interfaces", "interfaces"),
    ("/api/v1/ports", "ports"),
    ("/api/v1/services", "services"),
    ("/api/v1/if-entries", "if_entries"),
];

/// Stores hosts with parts of every kind, in two networks.
async fn store_hosts(fixture: &Fixture) -> Vec<Value> {
    let mut hosts = Vec::new();
    for number in 0..5_u8 {
        let network = if number % 2 == 0 { OFFICE } else { LAB };
        let tags = if number < 3 { json!([fixture.home.tags[0]]) } else { json!([]) };
        let body = json!({
            "network_id": network,
            "name": format!("host {number}"),
            "interfaces": [{"ip_address": format!("10.0.0.{number}"), "name": format!("eth{}", 9 - number)}],
            "ports": [{"number": 100 - number, "protocol": "tcp"}, {"number": 200 + u16::from(number), "protocol": "UDP"}],
            "services": [{"name": format!("web {number}"), "service_definition": "Nginx", "tags": tags}],
            "if_entries": [{"if_index": 50 - number, "if_descr": "", "if_name": format!("Gi{number}")}],
        });
        hosts.push(fixture.post(HOSTS, &body).await);
    }
    hosts
}

fn parts_of(hosts: &[Value], list: &str) -> Vec<Value> {
    hosts.iter().flat_map(|host| host[list].as_array().unwrap().clone()).collect()
}

fn ids(parts: &[Value]) -> BTreeSet<String> {
    parts.iter().map(|part| part["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn parts_of_all_hosts_are_listed_with_their_total() {
    run_new(async |fixture| {
        let hosts = store_hosts(&fixture).await;
        let (office, lab): (Vec<Value>, Vec<Value>) =
            hosts.iter().cloned().partition(|host| host["network_id"] == json!(OFFICE));
        for (path, list) in PATHS {
            for (query, hosts) in [
                (String::new(), &hosts),
                (format!("?network_id={OFFICE}"), &office),
                (format!("?network_id={LAB}"), &lab),
                (format!("?network_id={VAULT}"), &Vec::new()),
            ] {
                let expected = parts_of(hosts, list);
                for limit in ["", "limit=0", "limit=1"] {
                    let separator = if query.is_empty() { "?" } else { "&" };
                    let reply = fixture.ask(get(&format!("{path}{query}{separator}{limit}"))).await;
                    let found = reply.data().as_array().unwrap();
                    assert_eq!(reply.total(), expected.len() as u64, "{path}{query} {limit}");
                    assert!(found.iter().all(|part| expected.contains(part)), "{path}{query} {limit}");
                    let count = if limit == "limit=1" { expected.len().min(1) } else { expected.len() };
                    assert_eq!(ids(found).len(), count, "{path}{query} {limit}");
                }
            }
            let one = &hosts[3][list][0];
            let unknown = format!("{path}?ids={},{NOBODY}", one["id"].as_str().unwrap());
            assert_eq!(fixture.read(&unknown).await, json!([one]));
        }
        let tagged = format!("/api/v1/services?tag_ids={}", fixture.home.tags[0]);
        assert_eq!(fixture.ask(get(&tagged)).await.total(), 3);
    });
}

#[test]
fn parts_of_all_hosts_are_ordered_and_paged() {
    run_new(async |fixture| {
        let hosts = store_hosts(&fixture).await;
        for (path, list, order, field) in [
            ("/api/v1/interfaces", "interfaces", "name", "name"),
            ("/api/v1/ports", "ports", "number", "number"),
            ("/api/v1/services", "services", "name", "name"),
            ("/api/v1/if-entries", "if_entries", "if_index", "if_index"),
            ("/api/v1/if-entries", "if_entries", "name", "if_name"),
            ("/api/v1/ports", "ports", "created_at", "created_at"),
        ] {
            let mut expected = parts_of(&hosts, list);
            let key = |part: &Value| {
                (part[field].as_i64(), part[field].as_str().map(str::to_owned), part["id"].to_string())
            };
            expected.sort_by_key(key);
            let whole = fixture.read(&format!("{path}?order_by={order}&limit=0")).await;
            assert_eq!(whole, json!(expected), "{path} by {order}");
            let (mut cursor, mut found) = (String::new(), Vec::new());
            while cursor != "end" {
                let page =
                    fixture.ask(get(&format!("{path}?order_by={order}&limit=2&cursor={cursor}"))).await;
                assert_eq!(page.total(), expected.len() as u64);
                found.extend(page.data().as_array().unwrap().clone());
                cursor = page.json["meta"]["pagination"]["next_cursor"].as_str().unwrap_or("end").to_owned();
            }
            assert_eq!(found, expected, "{path} by {order}");
            let last =
                format!("{path}?order_by={order}&order_direction=desc&limit=1&offset={}", expected.len() - 1);
            assert_eq!(fixture.read(&last).await[0][field], expected[0][field], "{path} by {order}");
        }
        for wrong in ["/api/v1/interfaces?order_by=number", "/api/v1/ports?order_by=if_index"] {
            let reply = fixture.ask(get(wrong)).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "order_by"}));
        }
    });
}

#[test]
fn list_of_all_parts_follows_changes_of_hosts() {
    run_new(async |fixture| {
        let hosts = store_hosts(&fixture).await;
        let ports = "/api/v1/ports?order_by=number";
        let first = fixture.ask(get(ports)).await;
        let known = with_header(get(ports), "if-none-match", first.header("etag"));
        assert_eq!(fixture.ask(known.clone()).await.status, 304);
        let new = json!({"host_id": hosts[0]["id"], "network_id": OFFICE, "number": 1, "protocol": "Tcp"});
        let new = fixture.post("/api/v1/ports", &new).await;
        let changed = fixture.ask(known).await;
        assert_eq!((changed.status.as_u16(), changed.total()), (200, first.total() + 1));
        assert_eq!(changed.data()[0], new);
        fixture.ask(bare("DELETE", &path_of(HOSTS, &hosts[0]))).await;
        let left = fixture.ask(get(ports)).await;
        assert_eq!(left.total(), first.total() - 2);
        assert!(!left.data().as_array().unwrap().iter().any(|port| port["host_id"] == hosts[0]["id"]));
    });
}

#[test]
fn list_of_all_parts_has_only_those_that_the_caller_may_see() {
    run_new(async |fixture| {
        let hosts = store_hosts(&fixture).await;
        let member = fixture.key(Permission::Viewer, &[LAB]).await;
        for (path, list) in PATHS {
            // The owner's list is read first, so that a list that is kept could leak.
            assert_eq!(fixture.ask(get(path)).await.total(), parts_of(&hosts, list).len() as u64);
            let reply = fixture.send(with_key(get(path), &member)).await;
            let lab = parts_of(&hosts, list).into_iter().filter(|part| part["network_id"] == json!(LAB));
            let lab: Vec<Value> = lab.collect();
            assert_eq!(ids(reply.data().as_array().unwrap()), ids(&lab), "{path}");
            assert_eq!(reply.total(), lab.len() as u64);
            let foreign = parts_of(&hosts[..1], list)[0]["id"].as_str().unwrap().to_owned();
            for query in [format!("network_id={OFFICE}"), format!("ids={foreign}")] {
                let reply = fixture.send(with_key(get(&format!("{path}?{query}")), &member)).await;
                assert_eq!((reply.data(), reply.total()), (&json!([]), 0), "{path}?{query}");
            }
            assert_eq!(fixture.ask_abroad(get(path)).await.total(), 0, "{path}");
        }
    });
}

#[test]
fn parts_of_one_request_are_listed_by_time_in_the_order_of_their_ids() {
    run_new(async |fixture| {
        let interfaces: Vec<Value> =
            (1..=20).map(|number| json!({"ip_address": format!("192.0.2.{number}")})).collect();
        let host = fixture.post(HOSTS, &with(&host_body(), "interfaces", interfaces)).await;
        let mut expected: Vec<&Value> =
            host["interfaces"].as_array().unwrap().iter().map(|part| &part["id"]).collect();
        expected.sort_unstable_by_key(|id| id.as_str());
        let of_host = format!("host_id={}&", host["id"].as_str().unwrap());
        for host in ["", &of_host] {
            for direction in ["asc", "desc"] {
                let list = format!("/api/v1/interfaces?{host}order_direction={direction}&limit=3");
                let (mut found, mut cursor) = (Vec::new(), "&cursor=".to_owned());
                loop {
                    let page = fixture.ask(get(&format!("{list}{cursor}"))).await;
                    found.extend(page.data().as_array().unwrap().iter().map(|part| part["id"].clone()));
                    let next = &page.json["meta"]["pagination"]["next_cursor"];
                    let Some(next) = next.as_str() else { break };
                    cursor = format!("&cursor={next}");
                }
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{list}");
            }
        }
    });
}
