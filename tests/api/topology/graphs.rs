//! Graphs, their edges, and blind spots.

use serde_json::{Value, json};

use super::{ACCESS, CORE, Campus, GRAPH, LINKS, UNKNOWN, edge, id_of, items, node, of_office, switch};
use crate::backend::run_with;
use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, Row, get, with_header, with_key};

#[test]
fn neighbors_that_report_each_other_are_confirmed_with_evidence_of_both() {
    run_with(Campus::new, async |campus| {
        let graph = campus.graph("").await;
        assert_eq!((&graph["network_id"], &graph["view"]), (&json!(OFFICE), &json!("l2")));
        let core = node(&graph, CORE);
        assert_eq!((&core["kind"], &core["entity_id"]), (&json!("Host"), &json!(campus.core)));
        let between = edge(&graph, campus.core, campus.access).expect("an edge");
        assert_eq!((&between["kind"], &between["confidence"]), (&json!("Physical"), &json!("Confirmed")));
        assert_eq!(between["source_port"]["name"], "Gi0/1");
        let reporters: Vec<&Value> =
            items(between, "evidence").iter().map(|evidence| &evidence["reporter_host_id"]).collect();
        for host in [campus.core, campus.access] {
            assert!(reporters.contains(&&json!(host)), "{between:#}");
        }
        assert!(items(between, "evidence").iter().all(|evidence| evidence["method"] == "lldp"));
        assert!(items(between, "points").len() >= 2);
        let stub = node(&graph, UNKNOWN);
        assert_eq!((&stub["kind"], &stub["entity_id"]), (&json!("Stub"), &Value::Null));
        let to_stub = edge(&graph, campus.core, id_of(stub)).expect("an edge");
        assert_eq!(to_stub["confidence"], "Reported");
    });
}

#[test]
fn unchanged_graph_is_not_modified_until_a_host_changes() {
    run_with(Campus::new, async |campus| {
        let paths = [
            of_office(GRAPH, "view=l3"),
            of_office("/api/v1/topology/export", "format=dot"),
            of_office("/api/v1/topology/blind-spots", ""),
            of_office(LINKS, ""),
        ];
        let mut tags = Vec::new();
        for path in &paths {
            let tag = campus.send_as(&campus.member, get(path)).await.header("etag").to_owned();
            let again = with_header(get(path), "if-none-match", &tag);
            assert_eq!(campus.send_as(&campus.member, again).await.status, 304, "{path}");
            assert_eq!(campus.send_as(&campus.member, get(path)).await.header("etag"), tag);
            tags.push(tag);
        }
        campus.link(campus.core, campus.access).await;
        for (path, tag) in paths.iter().zip(&tags) {
            let again = with_header(get(path), "if-none-match", tag);
            assert_eq!(campus.send_as(&campus.member, again).await.status, 200, "{path}");
        }
    });
}

/// The endpoints have tags of their own, by which their bodies are cached.
#[test]
fn endpoints_with_the_same_query_have_different_answers() {
    run_with(Campus::new, async |campus| {
        for _ in 0..2 {
            let graph = campus.send_as(&campus.member, get(&of_office(GRAPH, ""))).await;
            let file = campus.send_as(&campus.member, get(&of_office("/api/v1/topology/export", ""))).await;
            assert_ne!(graph.header("etag"), file.header("etag"));
            assert_eq!(file.header("content-type"), "image/svg+xml");
            assert!(graph.data()["nodes"].is_array());
        }
    });
}

#[test]
fn revision_changes_with_the_graph() {
    run_with(Campus::new, async |campus| {
        let before = campus.graph("").await["revision"].clone();
        assert_eq!(campus.graph("").await["revision"], before);
        campus.host("newcomer").await;
        assert_eq!(campus.graph("view=workloads").await["view"], "workloads");
        campus.link(campus.core, campus.host("another").await).await;
        assert_ne!(campus.graph("").await["revision"], before);
    });
}

#[test]
fn networks_are_checked_like_those_in_a_path() {
    run_with(Campus::new, async |campus| {
        let paths = ["graph", "export", "blind-spots", "links", &format!("edges/{NOBODY}")];
        let denied = json!({"entity": "Network", "id": LAB});
        let mut rows = Vec::new();
        for path in paths {
            let request = |network: &str| {
                let target = format!("/api/v1/topology/{path}?network_id={network}");
                with_key(get(&target), &campus.member)
            };
            for network in [NOBODY.into(), ELSEWHERE] {
                let params = json!({"entity": "Network", "id": network});
                let network = network.to_string();
                rows.push(Row::refused_with(path, request(&network), "entity_not_found", params));
            }
            let lab = request(&LAB.to_string());
            rows.push(Row::refused_with(path, lab, "entity_access_denied", denied.clone()));
            let field = json!({"field": "network_id"});
            rows.push(Row::refused_with(path, request(""), "validation_required", field.clone()));
            rows.push(Row::refused_with(path, request("x"), "validation_invalid_format", field));
        }
        campus.check(rows).await;
    });
}

#[test]
fn invalid_parameter_is_refused_with_its_name() {
    run_with(Campus::new, async |campus| {
        let format = "validation_invalid_format";
        let cases = [
            ("graph", "view=l4", format, json!({"field": "view"})),
            ("graph", "focus=x", format, json!({"field": "focus"})),
            ("graph", "expand=x", format, json!({"field": "expand"})),
            ("graph", "collapse=1", format, json!({"field": "collapse"})),
            ("graph", "layout=no", format, json!({"field": "layout"})),
            ("graph", "show_stale=1", format, json!({"field": "show_stale"})),
            ("graph", "min_confidence=Conflicting", format, json!({"field": "min_confidence"})),
            (
                "graph",
                "depth=101",
                "validation_out_of_range",
                json!({"field": "depth", "min": 0, "max": 100}),
            ),
            ("graph", "role=swich", format, json!({"field": "role"})),
            ("export", "role=switch,x", format, json!({"field": "role"})),
            ("graph", "detail=all", format, json!({"field": "detail"})),
            ("export", "detail=Overview", format, json!({"field": "detail"})),
            ("graph", "group_by=site", format, json!({"field": "group_by"})),
            ("graph", "vlan=x", format, json!({"field": "vlan"})),
            ("export", "vlan=0", "validation_out_of_range", json!({"field": "vlan", "min": 1, "max": 4_094})),
            (
                "graph",
                "vlan=4095",
                "validation_out_of_range",
                json!({"field": "vlan", "min": 1, "max": 4_094}),
            ),
            ("graph", "format=svg", "validation_unknown_parameter", json!({"field": "format"})),
            ("export", "format=png", format, json!({"field": "format"})),
            ("export", "theme=blue", format, json!({"field": "theme"})),
            ("export", "layout=false", "validation_unknown_parameter", json!({"field": "layout"})),
            ("blind-spots", "view=l2", "validation_unknown_parameter", json!({"field": "view"})),
        ];
        let rows = cases.map(|(path, query, code, params)| {
            let target = of_office(&format!("/api/v1/topology/{path}"), query);
            Row::refused_with(query, with_key(get(&target), &campus.member), code, params)
        });
        campus.check(rows).await;
    });
}

#[test]
fn options_choose_what_the_graph_shows() {
    run_with(Campus::new, async |campus| {
        let confirmed = campus.graph("min_confidence=Confirmed").await;
        assert!(items(&confirmed, "edges").iter().all(|edge| edge["confidence"] == "Confirmed"));
        assert!(edge(&confirmed, campus.core, campus.access).is_some());

        let routers = campus.graph("role=router,firewall").await;
        assert!(items(&routers, "nodes").iter().all(|node| node["kind"] != "Host"), "{routers:#}");
        assert_eq!(items(&campus.graph("vlan=20").await, "edges").len(), 0);

        let without = campus.graph("layout=false").await;
        assert_eq!(without["bounds"], json!({"x": 0.0, "y": 0.0, "width": 0.0, "height": 0.0}));
        assert!(items(&without, "edges").iter().all(|edge| edge["points"] == json!([])));
        assert_eq!(without["revision"], campus.graph("").await["revision"]);

        let alone = campus.graph(&format!("focus={}&depth=0", campus.access)).await;
        let labels: Vec<&Value> = items(&alone, "nodes").iter().map(|node| &node["label"]).collect();
        assert_eq!(labels, [ACCESS]);
        assert_eq!(campus.graph("depth=0").await, campus.graph("").await);

        let subnets = campus.graph("view=l3").await;
        assert_eq!(node(&subnets, "campus-backbone-subnet")["kind"], "Subnet");
    });
}

#[test]
fn end_devices_that_do_not_fit_on_a_sheet_are_one_node_unless_expanded() {
    run_with(Campus::new, async |campus| {
        let leaves = 700;
        campus.leaves(leaves).await;
        let folded = campus.graph("").await;
        let groups: Vec<&Value> =
            items(&folded, "nodes").iter().filter(|node| node["kind"] == "Group").collect();
        let [group] = groups.as_slice() else { panic!("{folded:#}") };
        assert_eq!(group["label"], format!("{leaves} unknown devices"));
        assert_eq!(folded["hidden"]["leaves"], group["collapsed"]);
        let to_group = items(&folded, "edges").iter().find(|edge| edge["target"] == group["id"]).unwrap();
        let path = format!("/api/v1/topology/edges/{}", to_group["id"].as_str().unwrap());
        let mut details = campus.read(&of_office(&path, "")).await;
        details.as_object_mut().unwrap().remove("rejected").unwrap();
        details["points"] = to_group["points"].clone();
        assert_eq!(&details, to_group);
        let unfolded = campus.graph("collapse=false").await;
        assert_eq!(unfolded["hidden"]["leaves"], 0);
        assert_eq!(items(&unfolded, "nodes").len(), 3 + leaves);
        let expanded = campus.graph(&format!("expand={}", group["id"].as_str().unwrap())).await;
        assert_eq!(expanded["nodes"], unfolded["nodes"]);
        let without = campus.graph("layout=false").await;
        assert_eq!(without["revision"], folded["revision"]);
    });
}

#[test]
fn overview_has_boxes_that_open() {
    run_with(Campus::new, async |campus| {
        campus.leaves(20).await;
        let overview = campus.graph("detail=overview").await;
        assert_eq!(overview["detail"], "overview");
        let [only] = items(&overview, "nodes") else { panic!("{overview:#}") };
        assert_eq!((&only["kind"], &only["collapsed"]), (&json!("Area"), &json!(23)));
        let opened = campus.graph(&format!("detail=overview&expand={}", only["id"].as_str().unwrap())).await;
        assert_eq!(items(&opened, "nodes").len(), 24);
        assert!(items(&opened, "nodes").iter().skip(1).all(|node| node["parent_id"] == only["id"]));
        let file = campus
            .send_as(&campus.member, get(&of_office("/api/v1/topology/export", "detail=overview")))
            .await;
        assert!(String::from_utf8(file.body).unwrap().contains("1 area"));
        assert_eq!(campus.graph("").await["detail"], "devices");
    });
}

#[test]
fn edge_has_its_evidence_and_the_claims_it_won_over() {
    run_with(Campus::new, async |campus| {
        let graph = campus.graph("layout=false").await;
        let listed = edge(&graph, campus.core, campus.access).unwrap();
        let path = |id: &Value| of_office(&format!("/api/v1/topology/edges/{}", id.as_str().unwrap()), "");
        let mut details = campus.read(&path(&listed["id"])).await;
        assert_eq!(details.as_object_mut().unwrap().remove("rejected"), Some(json!([])));
        assert_eq!(&details, listed);

        let unknown = with_header(get(&path(&json!(NOBODY))), "if-none-match", "*");
        let params = json!({"entity": "Topology Link", "id": NOBODY});
        assert_eq!(campus.send_as(&campus.member, unknown).await.refuses(404, "entity_not_found"), &params);
        let other_view = format!("{}&view=l3", path(&listed["id"]));
        campus.send_as(&campus.member, get(&other_view)).await.refuses(404, "entity_not_found");

        let reply = campus.send_as(&campus.member, get(&path(&listed["id"]))).await;
        let again = with_header(get(&path(&listed["id"])), "if-none-match", reply.header("etag"));
        assert_eq!(campus.send_as(&campus.member, again).await.status, 304);
    });
}

#[test]
fn blind_spots_name_the_unknown_neighbor() {
    run_with(Campus::new, async |campus| {
        let spots = campus.read(&of_office("/api/v1/topology/blind-spots", "")).await;
        let spot = &spots[0];
        assert_eq!((&spot["reason"], &spot["label"]), (&json!("unknown_neighbor"), &json!(UNKNOWN)));
        assert_eq!(spot["host_id"], Value::Null);
        assert_eq!(spot["node_id"], node(&campus.graph("").await, UNKNOWN)["id"]);
    });
}

#[test]
fn deleted_host_leaves_the_graph() {
    run_with(Campus::new, async |campus| {
        campus.graph("").await;
        let path = format!("/api/v1/hosts/{}", campus.access);
        campus.by_member("DELETE", &path, &json!({})).await.data();
        let graph = campus.graph("").await;
        // The other switch still reports it, so that it is known by name.
        assert_eq!(node(&graph, ACCESS)["kind"], "Stub");
        assert_ne!(node(&graph, ACCESS)["id"], json!(campus.access));
    });
}

#[test]
fn hosts_that_reports_of_the_last_week_lack_are_stale() {
    run_with(Campus::new, async |campus| {
        let stale = |graph: &Value| node(graph, CORE)["stale"] == json!(true);
        campus.import("2026-08-08T12:00:00Z", &[switch(4, "newcomer", &[])]).await;
        assert!(!stale(&campus.graph("").await));
        campus.import("2026-08-08T12:00:01Z", &[switch(4, "newcomer", &[])]).await;
        let graph = campus.graph("").await;
        assert!(stale(&graph));
        assert_eq!(graph["hidden"]["stale"], 0);
        let without = campus.graph("show_stale=false").await;
        assert_eq!(without["hidden"]["stale"], 2);
        let labels: Vec<&Value> = items(&without, "nodes").iter().map(|node| &node["label"]).collect();
        assert!(!labels.contains(&&json!(CORE)) && !labels.contains(&&json!(ACCESS)), "{labels:?}");
        campus.import("2026-08-08T13:00:00Z", &[switch(1, CORE, &[])]).await;
        assert!(!stale(&campus.graph("").await));
    });
}

#[test]
fn ports_of_an_aggregate_are_members_of_one_edge() {
    run_with(Campus::new, async |campus| {
        let aggregated = |number, name, other, other_name| {
            let ports =
                [("Gi0/1", other, other_name), ("Gi0/2", other, other_name), ("Po1", other, other_name)];
            let mut device = switch(number, name, &ports);
            device["tables"]["lldp"]["rows"].as_array_mut().unwrap().truncate(2);
            device["tables"]["lldp"]["rows"][1]["port_id"]["value"] = json!("Gi0/2");
            let rows = json!([{"if_index": 1, "lag_id": 3}, {"if_index": 2, "lag_id": 3}]);
            device["tables"]["lag"] = json!({"complete": true, "rows": rows});
            device
        };
        let devices = [aggregated(6, "spine", 7, "leaf"), aggregated(7, "leaf", 6, "spine")];
        let hosts = campus.import("2026-08-01T12:00:00Z", &devices).await;
        let graph = campus.graph("").await;
        let bundle = edge(&graph, hosts[0], hosts[1]).expect("an edge");
        assert_eq!(bundle["source_port"]["name"], "Po1");
        assert_eq!(bundle["target_port"]["name"], "Po1");
        assert_eq!(bundle["speed_bps"], 2_000_000_000_u64);
        let names = |member: &Value| {
            [&member["source_port"]["name"], &member["target_port"]["name"]].map(Value::clone)
        };
        let mut members: Vec<_> = items(bundle, "members").iter().map(names).collect();
        members.sort_by_key(|[port, _]| port.to_string());
        assert_eq!(members, [["Gi0/1", "Gi0/1"], ["Gi0/2", "Gi0/2"]].map(|pair| pair.map(Value::from)));
    });
}
