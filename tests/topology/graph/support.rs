//! Networks for the tests of graphs and pictures.

use toposcope::discovery::report::{Capability, RouteRow};
use toposcope::inventory::Claim;
use toposcope::model::{
    Host, HostId, Interface, LinkId, NetworkId, NodeId, Service, ServiceDefinition, ServiceId, ServiceRoles,
    Subnet, SubnetId, Timestamp, TopologyView,
};
use toposcope::topology::graph::{Graph, GraphInput, GraphOptions, HostSummary, Node, build};
use toposcope::topology::links::{Link, LinkWarning, Links, RoutingTable, Segment, Stub};

use crate::links::support::Node as Device;

pub(crate) const NETWORK: NetworkId = NetworkId::from_u128(0x4e);

/// A network that a graph is built of.
#[derive(Default)]
pub(crate) struct Fixture {
    pub(crate) hosts: Vec<Host>,
    pub(crate) subnets: Vec<Subnet>,
    pub(crate) links: Vec<Link>,
    pub(crate) stubs: Vec<Stub>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) capabilities: Vec<(HostId, Capability)>,
    pub(crate) bridges: Vec<HostId>,
    pub(crate) routes: Vec<(HostId, Vec<RouteRow>)>,
    /// Whether the routing tables are not stated to be complete.
    pub(crate) has_incomplete_routes: bool,
    pub(crate) claims: Vec<Claim>,
    pub(crate) service_roles: ServiceRoles,
    pub(crate) warnings: Vec<LinkWarning>,
    pub(crate) stale_before: Option<Timestamp>,
}

impl Fixture {
    /// Adds a host with this description and these addresses, each with its subnet.
    pub(crate) fn host(&mut self, name: &str, description: &str, addresses: &[(&str, SubnetId)]) -> HostId {
        let mut host = Host::new(NETWORK, name);
        host.sys_descr = Some(description.to_owned()).filter(|text| !text.is_empty());
        let id = host.id;
        self.hosts.push(host);
        for (address, subnet) in addresses {
            self.interface(id, address, *subnet);
        }
        id
    }

    /// Makes a host a guest that a service runs.
    pub(crate) fn virtualize(&mut self, guest: HostId, service: ServiceId) {
        let host = self.hosts.iter_mut().find(|host| host.id == guest).unwrap();
        let details = serde_json::json!({"type": "Proxmox", "details": {"vm_name": null, "vm_id": null, "service_id": service}});
        host.virtualization = Some(serde_json::from_value(details).unwrap());
    }

    pub(crate) fn interface(&mut self, host: HostId, address: &str, subnet: SubnetId) {
        let host = self.hosts.iter_mut().find(|candidate| candidate.id == host).unwrap();
        let mut interface = Interface::new(host, address.parse().unwrap());
        interface.subnet_id = Some(subnet);
        host.interfaces.push(interface);
    }

    pub(crate) fn service(&mut self, host: HostId, name: &str) -> ServiceId {
        let host = self.hosts.iter_mut().find(|candidate| candidate.id == host).unwrap();
        let service = Service::new(host, name, ServiceDefinition::new(name).unwrap());
        host.services.push(service);
        host.services.last().unwrap().id
    }

    pub(crate) fn subnet(&mut self, name: &str, cidr: &str) -> SubnetId {
        let id = SubnetId::from_u128(0x5000 + self.subnets.len() as u128);
        let subnet = serde_json::json!({
            "id": id, "organization_id": NETWORK, "network_id": NETWORK, "name": name, "description": null, "cidr": cidr,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        });
        self.subnets.push(serde_json::from_value(subnet).unwrap());
        id
    }

    /// Adds a link between two ports of hosts.
    pub(crate) fn link(
        &mut self,
        source: (HostId, &str),
        target: (HostId, &str),
        confidence: &str,
    ) -> LinkId {
        let end = |(host, port): (HostId, &str)| serde_json::json!({"type": "host", "host_id": host, "port": {"if_entry_id": null, "name": port}});
        self.link_of(&end(source), &end(target), confidence)
    }

    /// Adds a link between two ends in their JSON form.
    pub(crate) fn link_of(
        &mut self,
        source: &serde_json::Value,
        target: &serde_json::Value,
        confidence: &str,
    ) -> LinkId {
        let id = LinkId::from_u128(0x1000 + self.links.len() as u128);
        let link = serde_json::json!({
            "id": id, "source": source, "target": target, "speed_bps": 1_000_000_000, "members": [],
            "confidence": confidence, "evidence": [], "rejected": [],
        });
        self.links.push(serde_json::from_value(link).unwrap());
        id
    }

    pub(crate) fn stub(&mut self, label: &str) -> NodeId {
        let id = NodeId::from_u128(0x7000 + self.stubs.len() as u128);
        let stub = serde_json::json!({
            "id": id, "label": label, "chassis_id": null, "capabilities": [], "addresses": [],
            "is_unmanaged_switch": false,
        });
        self.stubs.push(serde_json::from_value(stub).unwrap());
        id
    }

    pub(crate) fn summaries(&self) -> Vec<HostSummary> {
        let summary =
            |host: &Host| HostSummary::of(host, &self.claims).with_service_roles(host, &self.service_roles);
        self.hosts.iter().map(summary).collect()
    }

    pub(crate) fn graph(&self, view: TopologyView) -> Graph {
        self.graph_with(&GraphOptions::new(view))
    }

    pub(crate) fn graph_with(&self, options: &GraphOptions) -> Graph {
        self.with_input(options, build)
    }

    pub(crate) fn with_input<T>(&self, options: &GraphOptions, call: impl FnOnce(&GraphInput<'_>) -> T) -> T {
        let summaries = self.summaries();
        let mut input = GraphInput::new(NETWORK, options);
        input.hosts = summaries.iter().collect();
        input.subnets = self.subnets.iter().collect();
        input.links = self.links.iter().collect();
        input.stubs = self.stubs.iter().collect();
        input.segments = self.segments.iter().collect();
        input.warnings.clone_from(&self.warnings);
        input.stale_before = self.stale_before;
        for (host, capability) in &self.capabilities {
            input.capabilities.entry(*host).or_default().push(*capability);
        }
        input.bridges = self.bridges.iter().copied().collect();
        let is_complete = !self.has_incomplete_routes;
        let table =
            |(host, rows): &(HostId, Vec<RouteRow>)| (*host, RoutingTable::of(rows, is_complete).into());
        input.routes = self.routes.iter().map(table).collect();
        call(&input)
    }
}

/// Calls a function with the input of a graph that follows from the claims of devices.
pub(crate) fn with_devices<T>(
    devices: &[Device],
    options: &GraphOptions,
    call: impl FnOnce(&GraphInput<'_>) -> T,
) -> T {
    let links = Links::new(devices.iter().map(Device::device), &[]);
    let summaries: Vec<HostSummary> =
        devices.iter().map(|device| HostSummary::of(&device.host, &device.claims)).collect();
    let mut input = GraphInput::new(NETWORK, options);
    input.hosts = summaries.iter().collect();
    input.links = links.links().collect();
    input.stubs = links.stubs().collect();
    input.segments = links.segments().collect();
    input.warnings = links.warnings();
    input.crowded_ports = links.crowded_ports().collect();
    input.capabilities = links.capabilities();
    input.bridges = links.bridges().collect();
    input.routes = links.routes();
    input.virtual_routers = links.virtual_routers();
    call(&input)
}

/// Returns the labels of all nodes, sorted.
pub(crate) fn labels(graph: &Graph) -> Vec<&str> {
    let mut labels: Vec<&str> = graph.nodes.iter().map(|node| node.label.as_str()).collect();
    labels.sort_unstable();
    labels
}

pub(crate) fn node<'a>(graph: &'a Graph, label: &str) -> &'a Node {
    graph.nodes.iter().find(|node| node.label == label).unwrap_or_else(|| panic!("no node {label}"))
}
