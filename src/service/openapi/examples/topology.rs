//! Examples of topologies.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{NETWORK, id, now, uuid};
use crate::model::{
    HostId, HostRole, IfEntryId, LinkEnd, NodePosition, ShareMetadata, TopologyLayout, TopologyLink,
    TopologyView,
};
use crate::service::endpoints::topology::{OpenedShare, SharedTopology, TopologyFile};
use crate::service::openapi::parameters::set;
use crate::service::openapi::schemas::Schemas;
use crate::topology::EdgeDetails;
use crate::topology::graph::{
    BlindSpot, ChangeCounts, FoldedPart, FormerEnd, Graph, GraphChange, GraphComparison, RoleCount,
};
use crate::topology::render::Format;

const SWITCH: HostId = HostId::new(uuid(40));
const UPLINK: IfEntryId = IfEntryId::new(uuid(41));
const SERVER: HostId = HostId::new(uuid(42));

pub(super) fn add_all(schemas: &mut Schemas) {
    schemas.add(&TopologyLink {
        id: id(43),
        network_id: NETWORK,
        source: LinkEnd::at_port(SWITCH, UPLINK),
        target: LinkEnd::at_host(SERVER),
        suppressed: false,
        created_at: now(),
        updated_at: now(),
    });
    add_graph(schemas);
    let positions = vec![NodePosition { id: SWITCH.into(), x: 120.0, y: 80.5 }];
    schemas.add(&TopologyLayout { network_id: NETWORK, view: TopologyView::L2, positions });
}

fn add_graph(schemas: &mut Schemas) {
    let port = |entry, name: &str| json!({"if_entry_id": uuid(entry), "name": name});
    let evidence = json!([{
        "method": "lldp",
        "rule": "one_sided_lldp",
        "reporter_host_id": SWITCH,
        "if_entry_id": UPLINK,
        "first_seen": now(),
        "last_seen": now(),
    }]);
    let edge = json!({
        "id": uuid(44),
        "kind": "Physical",
        "source": SWITCH,
        "target": SERVER,
        "source_port": port(41, "Gi1/0/1"),
        "target_port": port(45, "eth0"),
        "speed_bps": 1_000_000_000,
        "members": [{"source_port": port(41, "Gi1/0/1"), "target_port": port(45, "eth0"), "state": "Up"}],
        "lag": true,
        "confidence": "Reported",
        "evidence": evidence,
        "stale": false,
        "state": "Up",
        "vlans": [{"first": 10, "last": 10}, {"first": 20, "last": 29}],
        "blocked": false,
        "points": [[92, 48], [92, 112]],
    });
    let rejected = json!([{
        "evidence": {"method": "fdb", "rule": "single_sided_fdb", "reporter_host_id": SWITCH, "if_entry_id": UPLINK,
            "first_seen": null, "last_seen": now()},
        "names": "00:00:5e:00:53:07",
        "beaten_by": "one_sided_lldp",
    }]);
    let node = |number, label: &str, role: &str, y| {
        json!({
            "id": uuid(number), "kind": "Host", "entity_id": uuid(number), "parent_id": null, "label": label,
            "detail": "192.0.2.7", "role": role, "role_reason": {"source": "service", "value": "SSH"},
            "x": 0, "y": y, "width": 184, "height": 48, "pinned": false, "collapsed": 0, "stale": false, "state": "Up",
        })
    };
    let group = json!({
        "id": uuid(46), "kind": "Group", "entity_id": null, "parent_id": null, "label": "11 workstations, 1 printer", "role": "unknown",
        "detail": "VLAN 20: 11, VLAN 30: 1", "x": 200, "y": 112, "width": 226, "height": 48, "pinned": false, "collapsed": 12,
        "folded": [{"role": "workstation", "count": 11}, {"role": "printer", "count": 1}],
        "parts": [
            {"vlan": 20, "folded": [{"role": "workstation", "count": 11}]},
            {"vlan": 30, "folded": [{"role": "printer", "count": 1}]},
        ],
        "stale": false, "state": "Up",
    });
    let graph = json!({
        "network_id": NETWORK,
        "view": "l2",
        "detail": "devices",
        "revision": "9f86d081884c7d659a2feaa0c55ad015",
        "observed_at": "2026-08-01T12:00:00Z",
        "bounds": {"x": 0, "y": 0, "width": 184, "height": 160},
        "nodes": [node(40, "switch-1", "switch", 0), node(42, "server-7", "server", 112), group],
        "edges": [edge],
        "hidden": {"leaves": 0, "stale": 0},
        "warnings": [{"code": "truncated_table", "params": {"host_id": SWITCH, "table": "lldp"}}],
        "unplaced": [{"host_id": uuid(47), "label": "printer-1", "detail": "192.0.2.9", "role": "printer", "subnet": "Office"}],
    });
    let spot = json!({
        "reason": "one_sided_links", "node_id": SERVER, "host_id": SERVER, "label": "server-7",
        "port": port(45, "eth0"), "addresses": ["192.0.2.7"], "count": 1, "weight": 6,
    });
    let mut details = edge;
    set(&mut details, "rejected", rejected);
    add_json::<Graph>(schemas, graph.clone());
    add_json::<EdgeDetails>(schemas, details);
    add_json::<BlindSpot>(schemas, spot);
    schemas.add(&RoleCount { role: HostRole::Printer, count: 4 });
    add_json::<FoldedPart>(schemas, json!({"vlan": 30, "folded": [{"role": "printer", "count": 4}]}));
    let counts = json!({"added": 1, "removed": 0, "moved": 2});
    add_json::<ChangeCounts>(schemas, counts.clone());
    let comparison = json!({"with": "2026-08-01T12:00:00Z", "nodes": counts, "edges": counts});
    add_json::<GraphComparison>(schemas, comparison);
    schemas.add(&GraphChange::Moved);
    let former = json!({"end": SERVER, "node": SWITCH, "label": "switch-1", "port": port(41, "Gi1/0/1")});
    add_json::<FormerEnd>(schemas, former);
    let media_type = Format::Svg.media_type().to_owned();
    schemas.add(&TopologyFile {
        file_name: "office-l2.svg".to_owned(),
        media_type,
        content: "<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_owned(),
    });
    if let Ok(graph) = serde_json::value::to_raw_value(&graph) {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_owned();
        schemas.add(&OpenedShare {
            share: ShareMetadata::from(&super::share()),
            topology: Some(SharedTopology { graph, svg }),
        });
    }
}

/// Adds a type whose example is made from JSON, because
/// its fields are private here.
fn add_json<T: DeserializeOwned + JsonSchema + Serialize>(schemas: &mut Schemas, example: Value) {
    if let Ok(example) = serde_json::from_value::<T>(example) {
        schemas.add(&example);
    }
}
