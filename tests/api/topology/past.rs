//! Graphs as they were, and what has changed since.

use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use toposcope::inventory::{ChangeQuery, GraphMoments, Moment};
use toposcope::model::{Host, HostId, HostRole, Permission, TopologyLinkId, TopologyView};
use toposcope::topology::Topologies;
use toposcope::topology::graph::{GraphChange, GraphOptions};

use super::{CORE, Campus, GRAPH, LINKS, edge, id_of, items, node, of_office};
use crate::backend::{run, run_with};
use crate::common::{Fixture, LAB, NOBODY, OFFICE, Reply, at, get, host, send_json, with_key};

const EXPORT: &str = "/api/v1/topology/export";

impl Campus {
    /// Returns the newest position of the history.
    async fn position(&self) -> String {
        let reply = self.send_as(&self.key, get("/api/v1/changes?limit=0")).await;
        reply.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned()
    }

    async fn rename(&self, id: HostId, name: &str) {
        self.by_member("PATCH", &format!("/api/v1/hosts/{id}"), &json!({"name": name})).await.data();
    }

    async fn delete(&self, id: HostId) {
        self.by_member("DELETE", &format!("/api/v1/hosts/{id}"), &Value::Null).await.data();
    }

    /// Creates a switch without links.
    async fn switch(&self, name: &str) -> HostId {
        let body = json!({"network_id": OFFICE, "name": name, "role": "switch"});
        id_of(self.by_member("POST", "/api/v1/hosts", &body).await.data())
    }
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).unwrap()
}

/// Returns what a graph says of nodes and edges, without the times of reports: these are not in the history.
fn content(graph: &Value) -> Value {
    let mut edges = graph["edges"].clone();
    for edge in edges.as_array_mut().unwrap() {
        edge["evidence"].take();
    }
    json!([graph["nodes"], edges, graph["bounds"], graph["hidden"], graph["unplaced"]])
}

#[test]
fn graph_of_now_is_the_present_one() {
    run_with(Campus::new, async |campus| {
        let now = campus.position().await;
        let later = at(1_000_000).to_string();
        for query in ["view=l2", "view=l3", "view=workloads", "view=l2&layout=false", "view=l2&tidy=true"] {
            // The picture of the past is drawn first: it must not depend on a layout that is kept.
            for moment in [&now, &later] {
                let past = campus.graph(&format!("{query}&at={moment}")).await;
                assert_eq!(content(&past), content(&campus.graph(query).await), "{query} {moment}");
                assert!(past["at"].is_string());
            }
            let compared = campus.graph(&format!("{query}&compare={now}")).await;
            assert_eq!(content(&compared), content(&campus.graph(query).await), "{query}");
            let none = json!({"added": 0, "removed": 0, "moved": 0});
            assert_eq!((&compared["comparison"]["nodes"], &compared["comparison"]["edges"]), (&none, &none));
        }
    });
}

#[test]
fn past_graph_has_the_names_and_links_of_then() {
    run_with(Campus::new, async |campus| {
        let attic = campus.switch("attic").await;
        let link = campus.link(campus.core, attic).await;
        let before = campus.position().await;
        let present = campus.graph("").await;
        campus.clock.advance(Duration::from_secs(60));
        campus.rename(campus.core, "renamed").await;
        campus.by_member("DELETE", &format!("{LINKS}/{link}"), &Value::Null).await.data();
        campus.delete(attic).await;
        for moment in [before.clone(), at(59).to_string()] {
            let past = campus.graph(&format!("at={moment}")).await;
            node(&past, CORE);
            assert!(edge(&past, campus.core, attic).is_some());
            assert_eq!(past["nodes"].as_array().unwrap().len(), present["nodes"].as_array().unwrap().len());
        }
        assert_eq!(campus.graph(&format!("at={}", at(59))).await["at"], json!(at(59)));
        node(&campus.graph("").await, "renamed");

        let compared = campus.graph(&format!("compare={before}")).await;
        let removed = node(&compared, "attic");
        assert_eq!(
            (&removed["change"], &node(&compared, "renamed")["change"]),
            (&json!("removed"), &Value::Null)
        );
        assert_eq!(edge(&compared, campus.core, attic).unwrap()["change"], "removed");
        assert!(removed["width"].as_f64().unwrap() > 0.0 && removed["x"].is_number());
        assert_eq!(compared["comparison"]["nodes"]["removed"], 1);
        // Between two past states.
        let until = campus.graph(&format!("at={before}&compare={}", at(0))).await;
        assert_eq!(until["comparison"]["with"], json!(at(0)));
    });
}

#[test]
fn nodes_stay_where_they_are_in_the_present_picture() {
    run_with(Campus::new, async |campus| {
        let present = campus.graph("").await;
        let before = campus.position().await;
        let added = campus.switch("newcomer").await;
        campus.link(campus.access, added).await;
        let now = campus.graph("").await;
        let compared = campus.graph(&format!("compare={before}")).await;
        let past = campus.graph(&format!("at={before}")).await;
        let place =
            |graph: &Value, label: &str| [node(graph, label)["x"].clone(), node(graph, label)["y"].clone()];
        for node in items(&present, "nodes") {
            let label = node["label"].as_str().unwrap();
            assert_eq!(place(&now, label), place(&compared, label), "{label}");
            assert_eq!(place(&now, label), place(&past, label), "{label}");
        }
        assert_eq!(campus.graph("").await, now);
    });
}

#[test]
fn files_of_all_formats_show_the_past_and_what_has_changed() {
    run_with(Campus::new, async |campus| {
        let before = campus.position().await;
        let added = campus.switch("newcomer").await;
        campus.link(campus.core, added).await;
        for format in ["svg", "dot", "mermaid", "graphml", "drawio", "json"] {
            let file = |query: String| {
                let target = of_office(EXPORT, &format!("format={format}&{query}"));
                campus.send_as(&campus.member, get(&target))
            };
            let past = file(format!("at={before}")).await;
            assert_eq!(past.status, 200, "{format}");
            assert!(!text(&past).contains("newcomer") && text(&past).contains(CORE), "{format}");
            let compared = file(format!("compare={before}")).await;
            assert!(text(&compared).contains("newcomer") && text(&compared).contains("added"), "{format}");
        }
    });
}

#[test]
fn faults_of_moments_name_their_parameter() {
    run_with(Campus::new, async |campus| {
        let (first, now) = (at(0).to_string(), campus.position().await);
        campus.switch("newcomer").await;
        let latest = campus.position().await;
        let abroad = campus.owner_key(&campus.abroad).await;
        let theirs = campus.send_as(&abroad, get("/api/v1/changes?limit=0")).await;
        let theirs = theirs.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned();
        let send = async |path: &str, query: &str| {
            campus.send_as(&campus.member, get(&of_office(path, query))).await
        };
        for path in [GRAPH, EXPORT] {
            for field in ["at", "compare"] {
                for value in ["x", "2026-08-14", &now[1..], "%2B"] {
                    let reply = send(path, &format!("{field}={value}")).await;
                    assert_eq!(
                        reply.refuses(400, "validation_invalid_format"),
                        &json!({"field": field}),
                        "{value}"
                    );
                }
                for value in ["1970-01-01T00:00:00Z", &theirs] {
                    send(path, &format!("{field}={value}")).await.refuses(410, "position_gone");
                }
            }
            let turned = send(path, &format!("at={now}&compare={latest}")).await;
            assert_eq!(turned.refuses(400, "validation_invalid_format"), &json!({"field": "at"}));
            assert!(turned.json["error"].as_str().unwrap().contains("must not be before `compare`"));
            let overview = send(path, &format!("compare={first}&detail=overview")).await;
            assert_eq!(overview.status, 400);
            assert_eq!(overview.json["params"]["field"], "detail");
            assert_eq!(send(path, &format!("at={first}&detail=overview")).await.status, 200);
        }
    });
}

#[test]
fn shares_and_other_endpoints_have_no_moments() {
    run_with(Campus::new, async |campus| {
        let now = campus.position().await;
        let body = json!({"name": "a share", "network_id": OFFICE});
        let share = campus.by_member("POST", "/api/v1/shares", &body).await;
        let share = share.data()["id"].as_str().unwrap().to_owned();
        for field in ["at", "compare"] {
            let shared = format!("/api/v1/shares/public/{share}/topology.svg?{field}={now}");
            let reply = campus.send(get(&shared)).await;
            assert_eq!(reply.refuses(400, "validation_unknown_parameter"), &json!({"field": field}));
            let spots = of_office("/api/v1/topology/blind-spots", &format!("{field}={now}"));
            campus.send_as(&campus.member, get(&spots)).await.refuses(400, "validation_unknown_parameter");
        }
    });
}

#[test]
fn viewer_of_one_network_sees_nothing_of_another() {
    run(async || {
        let fixture = Fixture::with([host(1, LAB), host(2, OFFICE)]).await;
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let send = async |query: String| -> Reply {
            fixture.send(with_key(get(&format!("{GRAPH}?{query}")), &viewer)).await
        };
        let moment = at(0);
        send(format!("network_id={LAB}&at={moment}")).await.refuses(403, "entity_access_denied");
        send(format!("network_id={LAB}&compare={moment}")).await.refuses(403, "entity_access_denied");
        send(format!("network_id={NOBODY}&at={moment}")).await.refuses(404, "entity_not_found");
        // A host that has come from another network was not there.
        let from = fixture.newest_of(&fixture.key).await;
        let moved = json!({"network_id": OFFICE, "name": "moved"});
        let target = format!("/api/v1/hosts/{}", uuid::Uuid::from_u128(1));
        let reply = fixture.send(with_key(send_json("PUT", &target, &moved), &fixture.key)).await;
        if reply.status == 200 {
            let past = send(format!("network_id={OFFICE}&view=l3&at={from}")).await;
            assert!(!past.data().to_string().contains(&uuid::Uuid::from_u128(1).to_string()));
        }
    });
}

impl Fixture {
    async fn newest_of(&self, key: &str) -> String {
        let reply = self.send(with_key(get("/api/v1/changes?limit=0"), key)).await;
        reply.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned()
    }
}

/// More than the commits that record the links of a small campus.
const MAX_FOLLOW_UPS: usize = 100;

#[test]
fn tag_of_a_past_graph_holds_until_something_changes() {
    run_with(Campus::new, async |campus| {
        let target = of_office(GRAPH, &format!("compare={}", at(0)));
        let with_tag = |tag: &str| crate::common::with_header(get(&target), "if-none-match", tag);
        let mut tag = campus.send_as(&campus.member, get(&target)).await.header("etag").to_owned();
        // Entries of the links of the campus may follow, each of which changes the present.
        for _ in 0..MAX_FOLLOW_UPS {
            let again = campus.send_as(&campus.member, with_tag(&tag)).await;
            if again.status == 304 {
                break;
            }
            tag = again.header("etag").to_owned();
        }
        assert_eq!(campus.send_as(&campus.member, with_tag(&tag)).await.status, 304);
        campus.switch("newcomer").await;
        assert_eq!(campus.send_as(&campus.member, with_tag(&tag)).await.status, 200);
    });
}

#[test]
fn handles_draw_the_past_without_http() {
    run(async || {
        let fixture = Fixture::new().await;
        let system = fixture.system();
        let before = fixture.inventory.changes(&system, &ChangeQuery::default()).await.unwrap().next;
        fixture.put([Host { role: Some(HostRole::Switch), ..host(1, OFFICE) }]).await;
        let topologies = Topologies::new(fixture.inventory.clone());
        let options = || GraphOptions::new(TopologyView::L2);
        let draw = async |moments: GraphMoments| {
            topologies.graph_at(&system, OFFICE, options(), &moments).await.unwrap()
        };
        let moment = Moment::Position(before);
        assert!(draw(GraphMoments::at(moment.clone())).await.nodes.is_empty());
        let compared = draw(GraphMoments::changes_since(moment)).await;
        assert_eq!(compared.nodes[0].change, Some(GraphChange::Added));
        assert_eq!(draw(GraphMoments::default()).await.nodes[0].change, None);
    });
}

/// Random changes, and what the graphs were after each of them.
struct Steps {
    campus: Campus,
    random: Rng,
    hosts: Vec<HostId>,
    links: Vec<TopologyLinkId>,
}

impl Steps {
    async fn step(&mut self, number: usize) {
        let campus = &self.campus;
        let random = &mut self.random;
        let pick = |random: &mut Rng, hosts: &[HostId]| random.choice(hosts).copied();
        match random.u8(0..8) {
            0..=1 => {
                let role = if random.bool() { "switch" } else { "workstation" };
                let body = json!({
                    "network_id": OFFICE, "name": format!("host {number}"), "role": role,
                    "interfaces": [{"ip_address": format!("198.51.100.{}", number + 1)}],
                });
                self.hosts.push(id_of(campus.by_member("POST", "/api/v1/hosts", &body).await.data()));
            }
            2 => {
                if let Some(id) = pick(random, &self.hosts) {
                    campus.rename(id, &format!("renamed {number}")).await;
                }
            }
            3 if self.hosts.len() > 3 => {
                let id = self.hosts.swap_remove(random.usize(..self.hosts.len()));
                campus.delete(id).await;
                let left = campus.read(&of_office(LINKS, "limit=0")).await;
                let left: Vec<TopologyLinkId> = left.as_array().unwrap().iter().map(id_of).collect();
                self.links.retain(|link| left.contains(link));
            }
            4 => {
                let body = json!({"network_id": OFFICE, "name": format!("net {number}"), "cidr": format!("10.{number}.0.0/16")});
                campus.send_as(&campus.key, send_json("POST", "/api/v1/subnets", &body)).await.data();
            }
            5 if !self.links.is_empty() => {
                let id = self.links.swap_remove(random.usize(..self.links.len()));
                campus.by_member("DELETE", &format!("{LINKS}/{id}"), &Value::Null).await.data();
            }
            _ => {
                let (Some(one), Some(other)) = (pick(random, &self.hosts), pick(random, &self.hosts)) else {
                    return;
                };
                if one != other {
                    self.links.push(campus.link(one, other).await);
                }
            }
        }
    }
}

fn ids(graph: &Value, name: &str, change: &[&str]) -> std::collections::BTreeSet<String> {
    let has =
        |item: &&Value| change.is_empty() || change.contains(&item["change"].as_str().unwrap_or("same"));
    items(graph, name).iter().filter(has).map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_past_graph_is_the_one_that_was_drawn_then() {
    run_with(Campus::new, async |campus| {
        let hosts = vec![campus.core, campus.access];
        let mut steps = Steps { campus, random: Rng::with_seed(17), hosts, links: Vec::new() };
        let views = ["view=l2&layout=false&collapse=false", "view=l3&layout=false&collapse=false"];
        let mut drawn = Vec::new();
        for number in 0..30 {
            steps.campus.clock.advance(Duration::from_secs(1));
            steps.step(number).await;
            let mut graphs = Vec::new();
            for view in views {
                graphs.push(steps.campus.graph(view).await);
            }
            drawn.push((steps.campus.position().await, graphs));
        }
        for (number, (position, graphs)) in drawn.iter().enumerate() {
            for (view, then) in views.iter().zip(graphs) {
                let past = steps.campus.graph(&format!("{view}&at={position}")).await;
                assert_eq!(content(&past), content(then), "{number} {view}");
                let now = &drawn.last().unwrap().1[usize::from(view.contains("l3"))];
                let compared = steps.campus.graph(&format!("{view}&compare={position}")).await;
                let (nodes_then, nodes_now) = (ids(then, "nodes", &[]), ids(now, "nodes", &[]));
                assert!(ids(&compared, "nodes", &["added"]).is_disjoint(&nodes_then), "{number} {view}");
                assert!(ids(&compared, "nodes", &["removed"]).is_disjoint(&nodes_now), "{number} {view}");
                let kept = ids(&compared, "nodes", &["same", "added", "moved"]);
                assert!(nodes_now.is_subset(&kept), "{number} {view}");
                let there = ids(&compared, "edges", &["same", "added", "moved"]);
                assert_eq!(there, ids(now, "edges", &[]), "{number} {view}");
                let gone = ids(&compared, "edges", &["removed"]);
                assert!(gone.is_subset(&ids(then, "edges", &[])), "{number} {view}");
            }
        }
    });
}

#[test]
fn cable_that_is_moved_to_another_switch_is_one_moved_edge() {
    run_with(Campus::new, async |campus| {
        let computer = campus.host("computer").await;
        let link = campus.link(campus.core, computer).await;
        let before = campus.position().await;
        campus.by_member("DELETE", &format!("{LINKS}/{link}"), &Value::Null).await.data();
        campus.link(campus.access, computer).await;
        let compared = campus.graph(&format!("compare={before}")).await;
        let moved = edge(&compared, campus.access, computer).unwrap();
        assert_eq!((&moved["change"], &moved["moved_from"]["label"]), (&json!("moved"), &json!(CORE)));
        assert!(edge(&compared, campus.core, computer).is_none());
        assert_eq!(compared["comparison"]["edges"], json!({"added": 0, "removed": 0, "moved": 1}));
        assert_eq!(node(&compared, "computer")["change"], Value::Null);
    });
}

#[test]
fn page_of_a_network_shows_the_past_and_what_has_changed() {
    run_with(Campus::new, async |campus| {
        let before = campus.position().await;
        let added = campus.switch("newcomer").await;
        campus.link(campus.core, added).await;
        let page = async |query: &str| {
            let target = format!("/topology/{OFFICE}?{query}");
            campus.send_as(&campus.member, get(&target)).await
        };
        let compared = page(&format!("compare={before}")).await;
        assert_eq!(compared.status, 200);
        assert!(text(&compared).contains("change-added") && text(&compared).contains("newcomer"));
        let past = page(&format!("at={before}")).await;
        assert!(!text(&past).contains("newcomer") && text(&past).contains(CORE));
        assert_eq!(page("at=x").await.status, 400);
        assert_eq!(page("compare=1970-01-01T00:00:00Z").await.status, 410);
    });
}
