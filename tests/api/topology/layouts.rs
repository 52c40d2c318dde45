//! The positions that users give to nodes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toposcope::model::{HostId, NetworkId, Permission};

use super::{CORE, Campus, GRAPH, node, of_office};
use crate::backend::run_with;
use crate::common::{ELSEWHERE, LAB, NOBODY, OFFICE, Row, get, send_json, with_header, with_key};

pub(super) fn path(network: NetworkId, view: &str) -> String {
    format!("/api/v1/topology/layouts/{network}/{view}")
}

pub(super) fn positions(positions: &[(HostId, f64, f64)]) -> Value {
    let position = |&(id, x, y): &(HostId, f64, f64)| json!({"id": id, "x": x, "y": y});
    json!({"positions": positions.iter().map(position).collect::<Vec<_>>()})
}

#[test]
fn layout_is_an_empty_list_with_a_tag_until_one_is_stored() {
    run_with(Campus::new, async |campus| {
        let empty = campus.send_as(&campus.member, get(&path(OFFICE, "l2"))).await;
        assert_eq!(empty.data(), &json!({"network_id": OFFICE, "view": "l2", "positions": []}));
        let tag = empty.header("etag").to_owned();
        let again = with_header(get(&path(OFFICE, "l2")), "if-none-match", &tag);
        assert_eq!(campus.send_as(&campus.member, again).await.status, 304);

        let body = positions(&[(campus.core, 10.5, -20.0)]);
        let put = || with_header(send_json("PUT", &path(OFFICE, "l2"), &body), "if-match", &tag);
        let stored = campus.send_as(&campus.member, put()).await;
        assert_eq!(stored.data()["positions"], body["positions"]);
        let read = campus.send_as(&campus.member, get(&path(OFFICE, "l2"))).await;
        assert_eq!((read.data(), read.header("etag")), (stored.data(), stored.header("etag")));
        assert_eq!(campus.read(&path(OFFICE, "l3")).await["positions"], json!([]));

        let params = json!({"entity": "Topology Layout", "id": OFFICE});
        let refused = campus.send_as(&campus.member, put()).await;
        assert_eq!(refused.refuses(412, "precondition_failed"), &params);
        assert_eq!(campus.read(&path(OFFICE, "l2")).await, *stored.data());
    });
}

#[test]
fn patch_of_a_layout_changes_only_what_it_has() {
    run_with(Campus::new, async |campus| {
        let path = path(OFFICE, "l2");
        let patch = async |body: &Value| campus.by_member("PATCH", &path, body).await;
        let moved = positions(&[(campus.core, 10.5, -20.0)]);
        let stored = patch(&moved).await;
        assert_eq!(stored.data()["positions"], moved["positions"]);
        for unchanged in [json!({}), json!({"unknown": 1, "view": "l3"})] {
            let same = patch(&unchanged).await;
            assert_eq!((same.data(), same.header("etag")), (stored.data(), stored.header("etag")));
        }
        let null = json!({"positions": null});
        assert_eq!(*patch(&null).await.refuses(400, "validation_required"), json!({"field": "positions"}));
        assert_eq!(patch(&positions(&[])).await.data()["positions"], json!([]));
        let outdated = with_header(send_json("PATCH", &path, &json!({})), "if-match", stored.header("etag"));
        let params = json!({"entity": "Topology Layout", "id": OFFICE});
        let refused = campus.send_as(&campus.member, outdated).await;
        assert_eq!(refused.refuses(412, "precondition_failed"), &params);
        let viewer = campus.fixture.key(Permission::Viewer, &[OFFICE]).await;
        let by_viewer = with_key(send_json("PATCH", &path, &json!({})), &viewer);
        campus.fixture.send(by_viewer).await.refuses(403, "auth_permission_denied");
    });
}

#[test]
fn pinned_node_stays_where_it_was_put() {
    run_with(Campus::new, async |campus| {
        let before = campus.graph("").await;
        assert_eq!(node(&before, CORE)["pinned"], false);
        let body = positions(&[(campus.core, 4_000.0, -3_000.0), (NOBODY.into(), 1.0, 1.0)]);
        campus.by_member("PUT", &path(OFFICE, "l2"), &body).await.data();
        for _ in 0..2 {
            let graph = campus.graph("").await;
            let core = node(&graph, CORE);
            assert_eq!(
                (&core["x"], &core["y"], &core["pinned"]),
                (&json!(4000.0), &json!(-3000.0), &json!(true))
            );
            let leaf = campus.host("newcomer").await;
            campus.link(campus.core, leaf).await;
        }
        assert_eq!(node(&campus.graph("view=l3").await, CORE)["pinned"], false);
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[])).await.data();
        assert_eq!(node(&campus.graph("").await, CORE)["pinned"], false);
    });
}

#[test]
fn bad_layouts_are_refused() {
    run_with(Campus::new, async |campus| {
        let put = |path: String, body: &Value| with_key(send_json("PUT", &path, body), &campus.member);
        let office = |body: &Value| put(path(OFFICE, "l2"), body);
        let (core, edge) = (campus.core, 1_000_000.0);
        let range = |field: &str| json!({"field": field, "min": -1_000_000, "max": 1_000_000});
        let field = |field: &str| json!({"field": field});
        let too_many: Vec<_> = (0..10_001).map(|number| (HostId::from_u128(number), 0.0, 0.0)).collect();
        let viewer = campus.fixture.key(Permission::Viewer, &[OFFICE]).await;
        let by_viewer = with_key(send_json("PUT", &path(OFFICE, "l2"), &positions(&[])), &viewer);
        let not_found = |network: NetworkId| json!({"entity": "Network", "id": network});
        let format = "validation_invalid_format";
        let rows = [
            Row::succeeds("at the bounds", office(&positions(&[(core, edge, -edge)]))),
            Row::refused_with(
                "x",
                office(&positions(&[(core, edge + 0.5, 0.0)])),
                "validation_out_of_range",
                range("positions.0.x"),
            ),
            Row::refused_with(
                "y",
                office(&positions(&[(NOBODY.into(), 0.0, 0.0), (core, 0.0, -edge - 1.0)])),
                "validation_out_of_range",
                range("positions.1.y"),
            ),
            Row::refused_with(
                "twice",
                office(&positions(&[(core, 0.0, 0.0), (core, 1.0, 1.0)])),
                format,
                field("positions.1.id"),
            ),
            Row::refused_with(
                "too many",
                office(&positions(&too_many)),
                "validation_max_length",
                json!({"field": "positions", "max": 10_000}),
            ),
            Row::refused_with("none", office(&json!({})), "validation_required", field("positions")),
            Row::refused_with("text", office(&json!({"positions": "x"})), format, field("positions")),
            Row::refused_with("view", put(path(OFFICE, "l4"), &positions(&[])), format, field("view")),
            Row::refused_with(
                "network",
                put("/api/v1/topology/layouts/x/l2".to_owned(), &positions(&[])),
                format,
                field("network_id"),
            ),
            Row::refused_with(
                "unknown",
                put(path(NOBODY.into(), "l2"), &positions(&[])),
                "entity_not_found",
                not_found(NOBODY.into()),
            ),
            Row::refused_with(
                "foreign",
                put(path(ELSEWHERE, "l2"), &positions(&[])),
                "entity_not_found",
                not_found(ELSEWHERE),
            ),
            Row::refused_with(
                "not granted",
                put(path(LAB, "l2"), &positions(&[])),
                "entity_access_denied",
                not_found(LAB),
            ),
            Row::refused("viewer", by_viewer, "auth_permission_denied"),
            Row::refused_with(
                "read unknown",
                with_key(get(&path(NOBODY.into(), "l2")), &viewer),
                "entity_not_found",
                not_found(NOBODY.into()),
            ),
            Row::refused_with(
                "read not granted",
                with_key(get(&path(LAB, "l2")), &viewer),
                "entity_access_denied",
                not_found(LAB),
            ),
        ];
        campus.check(rows).await;
        let stored = campus.read(&path(OFFICE, "l2")).await;
        assert_eq!(stored["positions"], positions(&[(core, edge, -edge)])["positions"]);
    });
}

/// Returns the places of all nodes, by id.
fn places(graph: &Value) -> BTreeMap<String, [f64; 2]> {
    let place = |node: &Value| [node["x"].as_f64().unwrap(), node["y"].as_f64().unwrap()];
    let nodes = graph["nodes"].as_array().unwrap().iter();
    nodes.map(|node| (node["id"].to_string(), place(node))).collect()
}

#[test]
fn picture_remembers_its_layout_until_it_is_tidied() {
    run_with(Campus::new, async |campus| {
        let first = places(&campus.graph("").await);
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[(campus.core, 900.0, 700.0)])).await.data();
        let pinned = places(&campus.graph("").await);
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[])).await.data();
        // A node that is no longer pinned stays at its place.
        let remembered = campus.send_as(&campus.member, get(&of_office(GRAPH, ""))).await;
        assert_eq!(places(remembered.data()), pinned);
        assert_ne!(pinned, first);

        // Placed anew, and not stored.
        assert_eq!(places(&campus.graph("tidy=true").await), first);
        assert_eq!(places(&campus.graph("").await), pinned);

        let tidy = format!("{}/tidy", path(OFFICE, "l2"));
        assert_eq!(*campus.by_member("POST", &tidy, &Value::Null).await.data(), json!({}));
        let again = with_header(get(&of_office(GRAPH, "")), "if-none-match", remembered.header("etag"));
        let tidied = campus.send_as(&campus.member, again).await;
        assert_eq!(places(tidied.data()), first);
    });
}

#[test]
fn other_pictures_of_a_view_take_their_places_from_the_kept_layout() {
    run_with(Campus::new, async |campus| {
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[(campus.core, 900.0, 700.0)])).await.data();
        campus.graph("").await;
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[])).await.data();
        let whole = places(&campus.graph("").await);
        let part = places(&campus.graph("min_confidence=Confirmed").await);
        assert!(part.len() < whole.len() && part.iter().all(|(id, place)| whole[id] == *place));
        // A picture with a focus has a layout of its own.
        let focus = places(&campus.graph(&format!("focus={}", campus.core)).await);
        assert!(focus.iter().any(|(id, place)| whole[id] != *place));
    });
}

#[test]
fn overview_is_placed_without_pins_and_leaves_the_kept_layout() {
    run_with(Campus::new, async |campus| {
        let plain = campus.graph("detail=overview").await;
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[(campus.core, 900.0, 700.0)])).await.data();
        campus.graph("").await;
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[])).await.data();
        let whole = places(&campus.graph("").await);
        let overview = campus.graph("detail=overview").await;
        assert_eq!(overview, plain);
        let area = overview["nodes"][0]["id"].as_str().unwrap();
        let opened = format!("detail=overview&expand={area}");
        let before = campus.graph(&opened).await;
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[(campus.core, 900.0, 700.0)])).await.data();
        assert_eq!(campus.graph(&opened).await["nodes"], before["nodes"]);
        campus.by_member("PUT", &path(OFFICE, "l2"), &positions(&[])).await.data();
        assert_eq!(places(&campus.graph("detail=devices").await), whole);
    });
}

#[test]
fn layout_is_tidied_by_members_of_the_network() {
    run_with(Campus::new, async |campus| {
        let viewer = campus.key(Permission::Viewer, &[OFFICE]).await;
        let tidy = |network, query: &str| format!("{}/tidy{query}", path(network, "l2"));
        let post = |target: &str| send_json("POST", target, &Value::Null);
        campus.send_as(&viewer, post(&tidy(OFFICE, ""))).await.refuses(403, "auth_permission_denied");
        campus.by_member("POST", &tidy(LAB, ""), &Value::Null).await.refuses(403, "entity_access_denied");
        campus.by_member("POST", &tidy(ELSEWHERE, ""), &Value::Null).await.refuses(404, "entity_not_found");
        let params = json!({"field": "group_by"});
        let refused = campus.by_member("POST", &tidy(OFFICE, "?group_by=color"), &Value::Null).await;
        assert_eq!(*refused.refuses(400, "validation_invalid_format"), params);
        campus.by_member("POST", &tidy(OFFICE, "?group_by=location"), &Value::Null).await.data();
    });
}
