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
use crate::topology::paths::{Fragile, Impact, Location, Paths, VlanList};
use crate::topology::render::Format;
use crate::wire::{AddressClaim, AddressDoubt, AddressList, SubnetAddress};

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
        "evidence": evidence.clone(),
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
    add_answers(schemas, &evidence, &port(41, "Gi1/0/1"), &port(45, "eth0"));
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

/// Adds the answers to questions.
fn add_answers(schemas: &mut Schemas, evidence: &Value, near: &Value, far: &Value) {
    let link = uuid(44);
    let hop = |host: HostId, name: &str, link: Value| {
        json!({
            "host_id": host, "name": name, "in_port": null, "out_port": null, "link_id": link, "vlan": 20, "subnet_id": null,
            "layer": "L2", "confidence": null, "evidence": [],
        })
    };
    let mut first = hop(SWITCH, "switch-1", json!(link));
    set(&mut first, "out_port", near.clone());
    set(&mut first, "confidence", json!("Reported"));
    set(&mut first, "evidence", evidence.clone());
    let mut last = hop(SERVER, "server-7", Value::Null);
    set(&mut last, "in_port", far.clone());
    let known = json!({"complete": true, "unknown": []});
    let answer = |members: Value| {
        let mut answer = known.clone();
        for (name, value) in members.as_object().into_iter().flatten() {
            set(&mut answer, name, value.clone());
        }
        answer
    };
    let path = json!({"hops": [first, last], "length": 1});
    let unused = json!({"link_id": uuid(48), "source": SWITCH, "target": SERVER, "reason": "blocked"});
    let paths = json!({
        "complete": false, "unknown": ["routing"], "paths": [path], "more": false, "not_used": [unused],
    });
    add_json::<Paths>(schemas, paths);
    let affected =
        |host: HostId, name: &str, role: &str| json!({"host_id": host, "name": name, "role": role});
    let mut at_risk = affected(SWITCH, "switch-1", "switch");
    set(&mut at_risk, "remaining_links", json!(1));
    add_json::<Impact>(
        schemas,
        answer(json!({
            "cut_off": [affected(SERVER, "server-7", "server")], "cut_off_total": 1, "at_risk": [at_risk], "at_risk_total": 1,
            "by_role": {"server": 1}, "by_subnet": [{"subnet_id": uuid(49), "count": 1}], "carried_by": [link],
            "carried_by_total": 1,
        })),
    );
    let ends = json!({"link_id": link, "source": SWITCH, "target": SERVER});
    let mut bridge = ends.clone();
    set(&mut bridge, "behind", json!(1));
    let pair = json!({
        "nodes": [{"host_id": SWITCH, "name": "switch-1"}, {"host_id": SERVER, "name": "server-7"}],
        "reasons": ["location"], "behind": 1,
    });
    add_json::<Fragile>(
        schemas,
        answer(json!({
            "nodes": [{"host_id": SWITCH, "name": "switch-1", "behind": 1}], "nodes_total": 1, "edges": [bridge],
            "edges_total": 1, "pairs": [pair], "pairs_total": 1, "one_sided": [ends], "one_sided_total": 1, "degraded_lags": [ends], "degraded_lags_total": 1,
        })),
    );
    let candidate = json!({
        "host_id": SWITCH, "name": "switch-1", "if_entry_id": UPLINK, "port": "Gi1/0/1", "vlan": 20, "state": "Up",
        "since": now(), "last_seen": now(), "confidence": "Reported", "evidence": evidence,
    });
    let conflict = json!({
        "ip": "192.0.2.7", "mac_addresses": ["00:00:5E:00:53:07", "00:00:5E:00:53:08"], "host_ids": [SERVER],
    });
    let gateway = json!({
        "ip": "192.0.2.1", "mac_addresses": ["00:00:5E:00:01:0A"], "host_ids": [SWITCH], "active_host_id": SWITCH,
    });
    let found = json!({
        "complete": false, "unknown": ["conflict"], "candidates": [candidate], "candidates_total": 1,
        "mac_addresses": ["00:00:5E:00:53:07", "00:00:5E:00:53:08"], "conflicts": [conflict], "gateways": [gateway],
    });
    add_json::<Location>(schemas, found);
    let vlan = json!({
        "vlan": 20, "name": null, "hosts": [{"host_id": SWITCH, "access": [UPLINK], "trunks": [link]}], "hosts_total": 1,
        "islands": [[SWITCH]], "islands_total": 1, "one_sided": [link], "native_mismatch": [],
    });
    add_json::<VlanList>(schemas, answer(json!({"vlans": [vlan], "vlans_total": 1})));
    add_addresses(schemas);
}

/// Adds the addresses of a subnet: one of a host, one that two devices claim, and a reserved one.
fn add_addresses(schemas: &mut Schemas) {
    let address = |ip: &str, state: &str| {
        json!({
            "ip": ip, "state": state, "host_id": null, "if_entry_id": null, "mac": null, "last_seen": null,
            "reserved_by": null,
        })
    };
    let mac = "00:00:5E:00:53:07";
    let mut used = address("192.0.2.6", "used");
    set(&mut used, "host_id", json!(SERVER));
    set(&mut used, "if_entry_id", json!(UPLINK));
    let mut conflict = address("192.0.2.7", "conflict");
    for address in [&mut used, &mut conflict] {
        set(address, "mac", json!(mac));
        set(address, "last_seen", json!(now()));
    }
    let claim = |mac: &str| json!({"host_id": null, "if_entry_id": null, "mac": mac, "last_seen": now()});
    set(&mut conflict, "claims", json!([claim(mac), claim("00:00:5E:00:53:08")]));
    let mut reserved = address("192.0.2.8", "reserved");
    set(&mut reserved, "reserved_by", json!("printers"));
    add_json::<AddressClaim>(schemas, claim(mac));
    add_json::<SubnetAddress>(schemas, conflict.clone());
    add_json::<AddressDoubt>(schemas, json!("neighbors"));
    let addresses = [used, conflict, reserved];
    add_json::<AddressList>(
        schemas,
        json!({"addresses": addresses, "addresses_total": 3, "complete": true, "unknown": []}),
    );
}

/// Adds a type whose example is made from JSON, because its fields are private here.
fn add_json<T: DeserializeOwned + JsonSchema + Serialize>(schemas: &mut Schemas, example: Value) {
    if let Ok(example) = serde_json::from_value::<T>(example) {
        schemas.add(&example);
    }
}
