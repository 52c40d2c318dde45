//! Questions about the links of a network.

use serde_json::{Value, json};
use toposcope::model::Permission;

use super::{ACCESS, CORE, Campus, UNKNOWN, items, node, of_office};
use crate::backend::run_with;
use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, Row, get, with_header, with_key};

/// The endpoints, each with parameters that make it answer.
fn questions() -> [(&'static str, String); 5] {
    [
        ("locate", format!("name={ACCESS}")),
        ("path", format!("from={CORE}&to={ACCESS}")),
        ("impact", format!("node={CORE}")),
        ("fragile", String::new()),
        ("vlans", String::new()),
    ]
}

fn path(endpoint: &str, query: &str) -> String {
    of_office(&format!("/api/v1/topology/{endpoint}"), query)
}

#[test]
fn switch_is_located_at_the_port_of_its_neighbor() {
    run_with(Campus::new, async |campus| {
        let found = campus.read(&path("locate", &format!("name={ACCESS}"))).await;
        let candidate = &items(&found, "candidates")[0];
        assert_eq!((&candidate["host_id"], &candidate["name"]), (&json!(campus.core), &json!(CORE)));
        assert_eq!((&candidate["port"], &candidate["confidence"]), (&json!("Gi0/1"), &json!("Confirmed")));
        assert_eq!(found["complete"], true);
        let upper = campus.read(&path("locate", &format!("name={}", ACCESS.to_uppercase()))).await;
        assert_eq!(upper, found, "names are those of DNS, which has no case");
    });
}

#[test]
fn path_has_the_ports_and_the_link_between_two_switches() {
    run_with(Campus::new, async |campus| {
        let query = format!("from={}&to={ACCESS}&k=1", campus.core);
        let found = campus.read(&path("path", &query)).await;
        assert_eq!((&found["more"], &found["paths"][0]["length"]), (&json!(false), &json!(1)));
        let hops = items(&found["paths"][0], "hops");
        assert_eq!((&hops[0]["host_id"], &hops[1]["host_id"]), (&json!(campus.core), &json!(campus.access)));
        assert_eq!((&hops[0]["in_port"], &hops[0]["out_port"]["name"]), (&Value::Null, &json!("Gi0/1")));
        let graph = campus.graph("").await;
        assert!(items(&graph, "edges").iter().any(|edge| edge["id"] == hops[0]["link_id"]));
        assert_eq!(hops[1]["link_id"], Value::Null);
    });
}

#[test]
fn impact_of_a_switch_is_the_loss_of_what_is_behind_it() {
    run_with(Campus::new, async |campus| {
        campus.leaves(3).await;
        let query = format!("node={ACCESS}&from={CORE}&limit=2");
        let found = campus.read(&path("impact", &query)).await;
        assert_eq!((&found["cut_off_total"], items(&found, "cut_off").len()), (&json!(3), 2));
        assert_eq!(found["by_role"], json!({"unknown": 3}));
        let stub = node(&campus.graph("").await, UNKNOWN)["id"].clone();
        let found = campus.read(&path("impact", &format!("node={CORE}&from={ACCESS}"))).await;
        assert_eq!(found["cut_off"][0]["node_id"], stub);
        let edge = campus.graph("").await["edges"][0]["id"].clone();
        let query = format!("edge={}", edge.as_str().unwrap());
        assert!(campus.read(&path("impact", &query)).await["cut_off_total"].is_u64());
    });
}

#[test]
fn fragile_switch_has_the_number_of_devices_behind_it() {
    run_with(Campus::new, async |campus| {
        campus.leaves(3).await;
        let found = campus.read(&path("fragile", "leaves=true")).await;
        let names: Vec<&Value> = items(&found, "nodes").iter().map(|node| &node["name"]).collect();
        assert!(names.contains(&&json!(ACCESS)) && names.contains(&&json!(CORE)), "{found:#}");
        assert_eq!(found["edges_total"], 5);
        assert_eq!(found["one_sided_total"], 1);
    });
}

#[test]
fn unchanged_answer_is_not_modified_until_a_host_changes() {
    run_with(Campus::new, async |campus| {
        let mut tags = Vec::new();
        for (endpoint, query) in questions() {
            let target = path(endpoint, &query);
            let tag = campus.send_as(&campus.member, get(&target)).await.header("etag").to_owned();
            let again = with_header(get(&target), "if-none-match", &tag);
            assert_eq!(campus.send_as(&campus.member, again).await.status, 304, "{endpoint}");
            tags.push((target, tag));
        }
        campus.host("newcomer").await;
        for (target, tag) in tags {
            let again = with_header(get(&target), "if-none-match", &tag);
            assert_eq!(campus.send_as(&campus.member, again).await.status, 200, "{target}");
        }
    });
}

#[test]
fn questions_are_for_viewers_of_the_network() {
    run_with(Campus::new, async |campus| {
        let viewer = campus.key(Permission::Viewer, &[OFFICE]).await;
        let mut rows = Vec::new();
        for (endpoint, query) in questions() {
            assert_eq!(campus.send_as(&viewer, get(&path(endpoint, &query))).await.status, 200, "{endpoint}");
            let request = |network: &str| {
                let target = format!("/api/v1/topology/{endpoint}?network_id={network}&{query}");
                with_key(get(&target), &viewer)
            };
            for network in [NOBODY.into(), ELSEWHERE] {
                let params = json!({"entity": "Network", "id": network});
                rows.push(Row::refused_with(
                    endpoint,
                    request(&network.to_string()),
                    "entity_not_found",
                    params,
                ));
            }
            let denied = json!({"entity": "Network", "id": LAB});
            rows.push(Row::refused_with(endpoint, request(&LAB.to_string()), "entity_access_denied", denied));
            let field = json!({"field": "network_id"});
            rows.push(Row::refused_with(endpoint, request(""), "validation_required", field));
        }
        campus.check(rows).await;
    });
}

#[test]
fn value_that_names_nothing_or_several_hosts_is_refused() {
    run_with(Campus::new, async |campus| {
        let twins = [campus.host("twin, the first").await, campus.host("twin, the first").await];
        campus.host("Twin, the first").await;
        for endpoint in ["locate?name", "impact?node"] {
            let target = format!("/api/v1/topology/{endpoint}=Twin,%20the%20first&network_id={OFFICE}");
            campus.read(&target).await;
        }
        let mut candidates = twins;
        candidates.sort();
        let ambiguous = |field: &str| json!({"field": field, "candidates": candidates});
        let missing = |name: &str| json!({"entity": "Host", "id": name});
        let link = json!({"entity": "Topology Link", "id": NOBODY});
        let out_of_range = json!({"field": "k", "min": 1, "max": 16});
        let cases = [
            ("locate", "name=absent", "entity_not_found", missing("absent")),
            ("locate", "ip=203.0.113.9", "entity_not_found", missing("203.0.113.9")),
            ("locate", "mac=x", "validation_invalid_format", json!({"field": "mac"})),
            ("locate", "", "validation_required", json!({"field": "mac"})),
            ("locate", "ip=203.0.113.9&name=x", "validation_invalid_format", json!({"field": "name"})),
            ("locate", "name=twin, the first", "validation_ambiguous", ambiguous("name")),
            ("path", "from=absent&to=twin", "entity_not_found", missing("absent")),
            ("path", &format!("from={CORE}&to=twin, the first"), "validation_ambiguous", ambiguous("to")),
            ("path", &format!("from={CORE}"), "validation_required", json!({"field": "to"})),
            ("path", &format!("from={CORE}&to={ACCESS}&k=17"), "validation_out_of_range", out_of_range),
            ("impact", "", "validation_required", json!({"field": "node"})),
            ("impact", "node=twin, the first", "validation_ambiguous", ambiguous("node")),
            ("impact", &format!("edge={NOBODY}"), "entity_not_found", link),
            ("fragile", "leaves=1", "validation_invalid_format", json!({"field": "leaves"})),
            ("vlans", "vlan=x", "validation_invalid_format", json!({"field": "vlan"})),
        ];
        let row = |(endpoint, query, code, params): (&'static str, &str, &'static str, Value)| {
            let target = path(endpoint, &query.replace(' ', "%20"));
            Row::refused_with(endpoint, with_key(get(&target), &campus.member), code, params)
        };
        campus.check(cases.into_iter().map(row)).await;
        for (question, sentence) in [
            (path("locate", ""), "unless `ip` or `name` is given"),
            (path("locate", "ip=203.0.113.9&name=x"), "cannot be combined with `ip`"),
            (path("impact", ""), "unless `edge` or `location` is given"),
        ] {
            let refused = campus.send_as(&campus.member, get(&question)).await;
            assert!(refused.json["error"].as_str().unwrap().contains(sentence), "{}", refused.json);
        }
    });
}
