//! The endpoints of topologies.

mod addresses;
mod contract;
mod files;
mod graphs;
mod layouts;
mod links;
mod load;
mod pages;
mod past;
mod port_names;
mod questions;
mod roles;
mod shares;

use std::ops::Deref;

use http::Request;
use serde_json::{Value, json};
use toposcope::model::{Host, HostId, LinkEnd, Permission, TopologyLink, TopologyLinkId};
use uuid::Uuid;

use crate::common::{Fixture, OFFICE, Reply, get, send_json, with_key};

const GRAPH: &str = "/api/v1/topology/graph";
const LINKS: &str = "/api/v1/topology/links";

/// Name of the first device of a [`Campus`]. The second one follows.
const CORE: &str = "core-switch-headquarters";
const ACCESS: &str = "access-switch-basement";
/// The name of a device that is known only from its neighbor.
const UNKNOWN: &str = "forgotten-switch-attic";

/// An office with two switches that report each other. One of them also reports an unknown device.
struct Campus {
    fixture: Fixture,
    core: HostId,
    access: HostId,
    member: String,
}

impl Deref for Campus {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.fixture
    }
}

impl Campus {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let member = fixture.key(Permission::Member, &[OFFICE]).await;
        let mut campus = Self { fixture, core: HostId::nil(), access: HostId::nil(), member };
        let subnet =
            json!({"network_id": OFFICE, "name": "campus-backbone-subnet", "cidr": "198.51.100.0/24"});
        campus.send_as(&campus.key, send_json("POST", "/api/v1/subnets", &subnet)).await.data();
        let devices = [
            switch(1, CORE, &[("Gi0/1", 2, ACCESS), ("Gi0/2", 3, UNKNOWN)]),
            switch(2, ACCESS, &[("Gi0/1", 1, CORE)]),
        ];
        let hosts = campus.import("2026-08-01T12:00:00Z", &devices).await;
        [campus.core, campus.access] = hosts.try_into().unwrap();
        campus
    }

    /// Imports a report about devices of the office, and returns the ids of their hosts.
    async fn import(&self, observed_at: &str, devices: &[Value]) -> Vec<HostId> {
        let reporter = json!({"name": "collector", "version": "1"});
        let report = json!({"reporter": reporter, "observed_at": observed_at, "devices": devices});
        let target = format!("/api/v1/discovery/import?network_id={OFFICE}&format=report");
        let imported = self.send_as(&self.key, send_json("POST", &target, &report)).await;
        imported.data()["hosts"].as_array().unwrap().iter().map(id_of).collect()
    }

    async fn send_as(&self, key: &str, request: Request<String>) -> Reply {
        self.send(with_key(request, key)).await
    }

    /// Sends a request with the key of a Member of the office.
    async fn by_member(&self, method: &str, target: &str, body: &Value) -> Reply {
        self.send_as(&self.member, send_json(method, target, body)).await
    }

    async fn read(&self, target: &str) -> Value {
        self.send_as(&self.member, get(target)).await.data().clone()
    }

    /// Returns the graph of the office.
    async fn graph(&self, query: &str) -> Value {
        self.read(&of_office(GRAPH, query)).await
    }

    /// Creates a host in the office.
    async fn host(&self, name: &str) -> HostId {
        let body = json!({"network_id": OFFICE, "name": name});
        id_of(self.by_member("POST", "/api/v1/hosts", &body).await.data())
    }

    /// Creates hosts that are linked to the access switch.
    async fn leaves(&self, count: usize) {
        let owner = self.owner(&self.home);
        for number in 0..count {
            let leaf = Host::new(OFFICE, format!("leaf {number}"));
            let ends = [self.access, leaf.id].map(LinkEnd::at_host);
            self.put([leaf]).await;
            let [source, target] = ends;
            self.inventory.records().create(&owner, TopologyLink::new(OFFICE, source, target)).await.unwrap();
        }
    }

    /// Creates a manual link between two hosts of the office.
    async fn link(&self, source: HostId, target: HostId) -> TopologyLinkId {
        let body = link(source, target);
        id_of(self.by_member("POST", LINKS, &body).await.data())
    }
}

/// Returns the report of a switch with these ports. Each port has the number and the name of its neighbor.
fn switch(number: u8, name: &str, ports: &[(&str, u8, &str)]) -> Value {
    let chassis =
        |number: u8| json!({"subtype": "MacAddress", "value": format!("00:1B:21:AA:BB:{number:02X}")});
    let entries: Vec<Value> = ports
        .iter()
        .zip(1..)
        .map(|((port, ..), index)| {
            json!({"if_index": index, "if_name": port, "speed_bps": 1_000_000_000, "if_alias": "cable in duct seventeen"})
        })
        .collect();
    let neighbors: Vec<Value> = ports
        .iter()
        .zip(1..)
        .map(|((_, neighbor, name), index)| {
            json!({
                "if_index": index, "chassis_id": chassis(*neighbor), "sys_name": name,
                "port_id": {"subtype": "InterfaceName", "value": "Gi0/1"}, "sys_desc": "Example OS in the engine room",
            })
        })
        .collect();
    json!({
        "sys_name": name,
        "sys_descr": "Example OS, property of the engine room",
        "sys_location": "Basement corridor, third door",
        "serial_number": format!("SERIALNUMBER{number:04}"),
        "chassis_id": chassis(number),
        "tables": {
            "if_entries": {"complete": true, "rows": entries},
            "addresses": {"complete": true, "rows": [{"ip_address": format!("198.51.100.{}", 100 + number)}]},
            "lldp": {"complete": true, "rows": neighbors},
        },
    })
}

/// Returns the target of a request about the office.
fn of_office(path: &str, query: &str) -> String {
    format!("{path}?network_id={OFFICE}&{query}").trim_end_matches('&').to_owned()
}

/// Returns the body of a manual link in the office.
fn link(source: HostId, target: HostId) -> Value {
    json!({"network_id": OFFICE, "source": {"host_id": source}, "target": {"host_id": target}})
}

#[track_caller]
fn id_of<I: From<Uuid>>(record: &Value) -> I {
    let id: Uuid = record["id"].as_str().unwrap_or_else(|| panic!("no id: {record}")).parse().unwrap();
    id.into()
}

/// Returns the node with a label.
fn node<'g>(graph: &'g Value, label: &str) -> &'g Value {
    let found = items(graph, "nodes").iter().find(|node| node["label"] == label);
    found.unwrap_or_else(|| panic!("no {label}: {graph:#}"))
}

/// Returns the edge between two nodes, in any direction.
fn edge(graph: &Value, one: HostId, other: HostId) -> Option<&Value> {
    let ends = [json!(one), json!(other)];
    let joins = |edge: &&Value| ends.contains(&edge["source"]) && ends.contains(&edge["target"]);
    items(graph, "edges").iter().find(joins)
}

fn items<'g>(graph: &'g Value, name: &str) -> &'g [Value] {
    graph[name].as_array().unwrap()
}
