//! The rules of the contract for every endpoint of topologies.

use serde_json::{Value, json};
use toposcope::model::{HostId, Permission, TopologyLinkId};

use super::layouts::{path, positions};
use super::{Campus, GRAPH, LINKS, items, link, of_office};
use crate::backend::run_with;
use crate::common::{NOBODY, OFFICE, Row, bare, get, send_json, with, with_header, with_key};

const BLIND_SPOTS: &str = "/api/v1/topology/blind-spots";
const EXPORT: &str = "/api/v1/topology/export";

impl Campus {
    /// Returns the targets that can be read about the office. Each has a flag that tells whether its entity tag is
    /// strong.
    async fn readable(&self) -> Vec<(String, bool)> {
        let graph = self.graph("").await;
        let edge = items(&graph, "edges")[0]["id"].as_str().unwrap().to_owned();
        vec![
            (of_office(GRAPH, "view=workloads&layout=false"), false),
            (of_office(EXPORT, "format=mermaid&theme=dark"), false),
            (of_office(&format!("/api/v1/topology/edges/{edge}"), ""), false),
            (of_office(BLIND_SPOTS, ""), false),
            (of_office(LINKS, ""), false),
            (path(OFFICE, "l3"), true),
        ]
    }
}

#[test]
fn viewers_read_everything_with_a_tag_and_get_304_for_it() {
    run_with(Campus::new, async |campus| {
        let viewer = campus.fixture.key(Permission::Viewer, &[OFFICE]).await;
        for (target, is_strong) in campus.readable().await {
            for method in ["GET", "HEAD"] {
                let reply = campus.send_as(&viewer, bare(method, &target)).await;
                let tag = reply.header("etag").to_owned();
                assert_eq!((reply.status.as_u16(), tag.starts_with('"')), (200, is_strong), "{target}");
                assert_eq!(reply.header("cache-control"), "private, no-cache");
                for known in [tag.clone(), format!("\"x\", {tag}"), tag.replace("W/", ""), "*".to_owned()] {
                    let again = with_header(bare(method, &target), "if-none-match", &known);
                    let again = campus.send_as(&viewer, again).await;
                    assert_eq!((again.status.as_u16(), again.header("etag")), (304, &*tag), "{target}");
                }
                let other = with_header(bare(method, &target), "if-none-match", "W/\"x\"");
                assert_eq!(campus.send_as(&viewer, other).await.status, 200);
            }
        }
    });
}

#[test]
fn parameters_that_an_endpoint_does_not_have_are_unknown() {
    run_with(Campus::new, async |campus| {
        let viewer = campus.fixture.key(Permission::Viewer, &[OFFICE]).await;
        let mut rows = Vec::new();
        for (target, _) in campus.readable().await {
            let separator = if target.contains('?') { '&' } else { '?' };
            for name in ["Network_id", "fields", "x"] {
                let request = get(&format!("{target}{separator}{name}=1"));
                let params = json!({"field": name});
                let request = with_key(request, &viewer);
                rows.push(Row::refused_with(&target, request, "validation_unknown_parameter", params));
            }
        }
        for (query, field) in [
            ("view=l2&view=l3", "view"),
            (&*format!("network_id={OFFICE}"), "network_id"),
            ("depth=1&depth=1", "depth"),
            ("depth=-1", "depth"),
            ("depth=1.0", "depth"),
            ("view=L2", "view"),
            ("min_confidence=inferred", "min_confidence"),
            ("tag_ids=x", "tag_ids"),
            ("layout=yes", "layout"),
        ] {
            let request = with_key(get(&of_office(GRAPH, query)), &viewer);
            rows.push(Row::refused_with(
                query,
                request,
                "validation_invalid_format",
                json!({"field": field}),
            ));
        }
        for field in ["tag_ids", "expand"] {
            let ids = vec![NOBODY.to_string(); 1_001].join(",");
            let request = with_key(get(&of_office(GRAPH, &format!("{field}={ids}"))), &viewer);
            let params = json!({"field": field, "max": 1_000});
            rows.push(Row::refused_with(field, request, "validation_max_length", params));
        }
        let empty = of_office(
            GRAPH,
            "view=&focus=&depth=&tag_ids=&role=&vlan=&group_by=&detail=&collapse=&expand=&min_confidence=&layout=",
        );
        let graph = campus.graph("").await;
        rows.push(Row::gives("empty values", with_key(get(&empty), &viewer), graph));
        campus.check(rows).await;
    });
}

#[test]
fn defaults_are_those_of_the_contract() {
    run_with(Campus::new, async |campus| {
        let usual = campus.graph("").await;
        let explicit = "view=l2&detail=devices&collapse=true&min_confidence=Inferred&layout=true";
        assert_eq!(campus.graph(explicit).await, usual);
        let focus = format!("focus={}", campus.access);
        assert_eq!(campus.graph(&focus).await, campus.graph(&format!("{focus}&depth=1")).await);
        let file = campus.send_as(&campus.member, get(&of_office(EXPORT, ""))).await;
        let same = campus.send_as(&campus.member, get(&of_office(EXPORT, "format=svg&theme=auto"))).await;
        assert_eq!(file.body, same.body);
    });
}

#[test]
fn unknown_tags_and_nodes_show_nothing_rather_than_an_error() {
    run_with(Campus::new, async |campus| {
        let foreign = campus.abroad.tags[0];
        for tags in [format!("tag_ids={NOBODY}"), format!("tag_ids={foreign}&tag_ids={NOBODY}")] {
            let graph = campus.graph(&tags).await;
            let is_host = |node: &&Value| node["kind"] == "Host";
            assert_eq!(items(&graph, "nodes").iter().filter(is_host).count(), 0, "{graph:#}");
        }
        let graph = campus.graph(&format!("focus={NOBODY}")).await;
        assert_eq!((&graph["nodes"], &graph["edges"]), (&json!([]), &json!([])));
        let warning = json!([{"code": "focus_not_found", "params": {"id": NOBODY}}]);
        assert_eq!(graph["warnings"], warning);
        assert_eq!(campus.graph(&format!("expand={NOBODY}")).await, campus.graph("").await);
    });
}

#[test]
fn layout_is_stored_only_if_its_tag_matches() {
    run_with(Campus::new, async |campus| {
        let target = path(OFFICE, "l2");
        let put = |tag: &str| {
            let body = positions(&[(campus.core, 1.0, 2.0)]);
            with_header(send_json("PUT", &target, &body), "if-match", tag)
        };
        let tag = campus.send_as(&campus.member, get(&target)).await.header("etag").to_owned();
        for refused in ["\"x\"", "W/\"x\"", "", "\"x\", \"y\"", "x"] {
            let reply = campus.send_as(&campus.member, put(refused)).await;
            let params = json!({"entity": "Topology Layout", "id": OFFICE});
            assert_eq!(reply.refuses(412, "precondition_failed"), &params, "{refused:?}");
        }
        let list = format!("\"x\", {tag}");
        let stored = campus.send_as(&campus.member, put(&list)).await;
        assert_eq!(stored.status, 200);
        assert_eq!(campus.send_as(&campus.member, put("*")).await.header("etag"), stored.header("etag"));
    });
}

#[test]
fn malformed_positions_are_named_by_their_path() {
    run_with(Campus::new, async |campus| {
        let id = campus.core;
        let (missing, malformed) = ("validation_required", "validation_invalid_format");
        let cases = [
            (format!(r#"[{{"id":"{id}","x":1}}]"#), missing, "positions.0.y"),
            (format!(r#"[{{"id":"{id}","x":1,"y":null}}]"#), missing, "positions.0.y"),
            (format!(r#"[{{"id":"{id}","x":"1","y":1}}]"#), malformed, "positions.0.x"),
            (format!(r#"[{{"id":"{id}","x":1e400,"y":1}}]"#), malformed, "positions.0.x"),
            (
                format!(r#"[{{"id":"{id}","x":1,"y":1}},{{"id":"x","x":1,"y":1}}]"#),
                malformed,
                "positions.1.id",
            ),
            ("[1]".to_owned(), malformed, "positions.0"),
            ("{}".to_owned(), malformed, "positions"),
        ];
        for (text, code, field) in cases {
            let mut request = send_json("PUT", &path(OFFICE, "l2"), &json!({}));
            *request.body_mut() = format!(r#"{{"positions":{text}}}"#);
            let reply = campus.send_as(&campus.member, request).await;
            assert_eq!(reply.refuses(400, code), &json!({"field": field}), "{text}");
        }
        assert_eq!(campus.read(&path(OFFICE, "l2")).await["positions"], json!([]));
    });
}

#[test]
fn link_is_created_with_what_the_server_chooses_and_deleted_by_its_tag() {
    run_with(Campus::new, async |campus| {
        let server = campus.host("server").await;
        let body = link(campus.core, server);
        let given = with(&with(&body, "id", json!(NOBODY)), "created_at", json!("2000-01-01T00:00:00Z"));
        let created = campus.by_member("POST", LINKS, &given).await;
        let record = created.data();
        assert_ne!(record["id"], json!(NOBODY));
        assert_eq!(record["created_at"], record["updated_at"]);
        assert_ne!(record["created_at"], given["created_at"]);
        let no_port = |host: HostId| json!({"host_id": host, "if_entry_id": null});
        assert_eq!((&record["source"], &record["target"]), (&no_port(campus.core), &no_port(server)));
        assert_eq!((&record["network_id"], &record["suppressed"]), (&json!(OFFICE), &json!(false)));

        let target = format!("{LINKS}/{}", record["id"].as_str().unwrap());
        let delete = |tag: &str| with_header(bare("DELETE", &target), "if-match", tag);
        let refused = campus.send_as(&campus.member, delete("\"x\"")).await;
        let params = json!({"entity": "Topology Link", "id": record["id"]});
        assert_eq!(refused.refuses(412, "precondition_failed"), &params);
        let viewer = campus.fixture.key(Permission::Viewer, &[OFFICE]).await;
        campus.send_as(&viewer, bare("DELETE", &target)).await.refuses(403, "auth_permission_denied");
        let deleted = campus.send_as(&campus.member, delete(created.header("etag"))).await;
        assert_eq!(deleted.data(), &json!({}));
    });
}

#[test]
fn links_are_a_list_like_all_others() {
    run_with(Campus::new, async |campus| {
        for number in 0..3 {
            let server = campus.host(&format!("server {number}")).await;
            campus.link(campus.core, server).await;
        }
        let refused = |query: &str, code: &str, params: Value| {
            Row::refused_with(query, with_key(get(&of_office(LINKS, query)), &campus.member), code, params)
        };
        let format = "validation_invalid_format";
        campus
            .check([
                refused("order_by=name", format, json!({"field": "order_by"})),
                refused("order_direction=up", format, json!({"field": "order_direction"})),
                refused("ids=x", format, json!({"field": "ids"})),
                refused("cursor=&offset=0", format, json!({"field": "cursor"})),
                refused("cursor=x", format, json!({"field": "cursor"})),
                refused(
                    "limit=1001",
                    "validation_out_of_range",
                    json!({"field": "limit", "min": 0, "max": 1000}),
                ),
                refused("tag_ids=x", "validation_unknown_parameter", json!({"field": "tag_ids"})),
            ])
            .await;
        let mut cursor = String::new();
        let mut ids: Vec<TopologyLinkId> = Vec::new();
        loop {
            let query = format!("limit=2&order_by=updated_at&cursor={cursor}");
            let page = campus.send_as(&campus.member, get(&of_office(LINKS, &query))).await;
            assert_eq!(page.total(), 3);
            ids.extend(page.data().as_array().unwrap().iter().map(super::id_of::<TopologyLinkId>));
            match page.json["meta"]["pagination"]["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        let all = campus.read(&of_office(LINKS, "limit=0")).await;
        let mut all: Vec<TopologyLinkId> = all.as_array().unwrap().iter().map(super::id_of).collect();
        all.sort_unstable();
        ids.sort_unstable();
        assert_eq!(ids, all);
    });
}

#[test]
fn daemons_are_no_viewers() {
    run_with(Campus::new, async |campus| {
        let body = json!({"name": "daemon", "network_id": OFFICE, "tags": []});
        let issued = campus.by_member("POST", "/api/v1/auth/daemon", &body).await;
        let key = issued.data()["key"].as_str().unwrap().to_owned();
        for (target, _) in campus.readable().await {
            campus.send_as(&key, get(&target)).await.refuses(403, "auth_user_context_required");
        }
        let put = send_json("PUT", &path(OFFICE, "l2"), &positions(&[]));
        campus.send_as(&key, put).await.refuses(403, "auth_user_context_required");
    });
}

#[test]
fn link_at_a_port_that_is_deleted_stays_between_the_hosts() {
    run_with(Campus::new, async |campus| {
        let server = campus.host("server").await;
        let entry = json!({"host_id": server, "network_id": OFFICE, "if_index": 1, "if_descr": "eth0"});
        let entry = campus.by_member("POST", "/api/v1/if-entries", &entry).await.data()["id"].clone();
        let mut body = link(server, campus.core);
        body["source"]["if_entry_id"] = entry.clone();
        campus.by_member("POST", LINKS, &body).await.data();
        let target = format!("/api/v1/if-entries/{}", entry.as_str().unwrap());
        campus.by_member("DELETE", &target, &json!({})).await.data();
        let graph = campus.graph("").await;
        let shown = super::edge(&graph, server, campus.core).expect("the manual link");
        assert!([&shown["source_port"], &shown["target_port"]].iter().all(|port| port.is_null()));
    });
}
