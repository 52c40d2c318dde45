//! The links of a network with small numbers in place of ids, for answers in milliseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};

use super::cuts::Cuts;
use super::flood::{NO_REMOVAL, Removal, Tree};
use super::pairs::FoundPairs;
use super::route::Obstacle;
use super::routing::{SharedGateway, default_routers, shared_gateways};
use super::top::top;
use crate::discovery::report::Capability;
use crate::fair_threads::yield_turn;
use crate::model::{Cidr, HostId, HostRole, LinkId, NodeId, SubnetId};
use crate::topology::graph::{GraphInput, NetworkNode, NodeKind, is_reachable, network_nodes};
use crate::topology::layout::AddressScope;
use crate::topology::links::{Confidence, Link, LinkState, RoutingTable, VlanRange};

/// The links of a network, prepared for questions.
///
/// Each link takes less than 100 bytes. The index does not follow changes: it is made anew after one.
#[derive(Debug)]
pub struct PathIndex {
    /// By id. The places in this list are the numbers of nodes.
    pub(super) nodes: Vec<PathNode>,
    /// By id. The places in this list are the numbers of links.
    pub(super) links: Vec<PathLink>,
    /// Where the steps of each node begin; one more than there are nodes.
    first: Vec<u32>,
    /// The steps from each node, by neighbor and link.
    steps: Vec<PathStep>,
    /// Whether packets pass on each link, if the spanning tree lets them.
    is_working: Vec<bool>,
    /// The different sets of VLANs that links carry.
    vlan_sets: Vec<Box<[VlanRange]>>,
    /// The names of hosts, sorted. Several hosts may have one.
    pub(super) names: Vec<(Box<str>, u32)>,
    /// The addresses of hosts, by node.
    pub(super) addresses: Vec<PathAddress>,
    /// The places in `addresses`, by address.
    pub(super) by_ip: Vec<u32>,
    /// The subnets and the nodes with an address in them, sorted.
    members: Vec<(u32, u32)>,
    /// The subnets of addresses, sorted, each with its record if it is stored.
    pub(super) nets: Vec<Net>,
    /// The subnets that each of several hosts has for itself, sorted.
    private_nets: Vec<Cidr>,
    /// The routing tables, by node.
    pub(super) routes: BTreeMap<u32, Arc<RoutingTable>>,
    /// The addresses that several routers share, in order.
    pub(super) shared_gateways: Vec<SharedGateway>,
    /// The default routers that hosts name, by subnet.
    pub(super) default_routers: BTreeMap<u32, BTreeSet<IpAddr>>,
    /// The nodes at the top.
    top: OnceLock<Vec<u32>>,
    /// The shortest paths from the top.
    tree: OnceLock<Tree>,
    cuts: OnceLock<Cuts>,
    pairs: OnceLock<FoundPairs>,
}

/// A subnet, with its record if it is stored.
type Net = (Cidr, Option<SubnetId>);

/// A node, an address of it, and the subnet of the address.
type FoundAddress = (u32, IpAddr, Option<Net>);

/// A device or a segment.
#[derive(Debug)]
pub(super) struct PathNode {
    pub(super) id: NodeId,
    pub(super) kind: NodeKind,
    pub(super) role: HostRole,
    pub(super) scope: AddressScope,
    pub(super) name: Box<str>,
    pub(super) location: Option<Box<str>>,
    /// Whether the node may forward frames between its ports.
    pub(super) may_bridge: bool,
}

/// A link between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathLink {
    pub(super) id: LinkId,
    pub(super) source: u32,
    pub(super) target: u32,
    /// The number of the set of VLANs; `None` when unknown.
    vlans: Option<u32>,
    pub(super) untagged_vlan: Option<u16>,
    pub(super) confidence: Confidence,
    pub(super) state: LinkState,
    pub(super) is_stale: bool,
    /// Whether the spanning tree blocks an end; `None` when unknown.
    pub(super) blocked: Option<bool>,
    /// Whether two physical links or more are up, so that the loss of one does not cut it.
    pub(super) is_redundant: bool,
    /// Whether only one end names the other.
    pub(super) is_one_sided: bool,
    /// Whether the link is an aggregation group of which at most one member is up.
    pub(super) is_degraded_lag: bool,
}

/// A neighbor of a node, and the link to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathStep {
    pub(super) node: u32,
    pub(super) link: u32,
}

/// An address of a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathAddress {
    pub(super) node: u32,
    pub(super) ip: IpAddr,
    /// The number of the subnet; `None` when unknown.
    pub(super) net: Option<u32>,
}

impl PathNode {
    fn of(node: NetworkNode, input: &GraphInput<'_>) -> Self {
        Self {
            may_bridge: may_bridge(&node, input),
            id: node.id,
            kind: node.kind,
            role: node.role,
            scope: node.scope,
            name: node.name.into(),
            location: node.location.map(Into::into),
        }
    }

    /// Returns whether the node is a device, known or only named by neighbors.
    pub(super) fn is_device(&self) -> bool {
        self.kind != NodeKind::Segment
    }

    pub(super) fn host_id(&self) -> Option<HostId> {
        (self.kind == NodeKind::Host).then(|| HostId::from(self.id.uuid()))
    }

    /// Returns whether the node passes on frames or packets of others. Devices of unknown role may.
    pub(super) fn is_transit(&self) -> bool {
        self.may_bridge || is_router(self.role)
    }
}

fn is_router(role: HostRole) -> bool {
    matches!(role, HostRole::Router | HostRole::Firewall | HostRole::Internet)
}

/// Returns whether a node may forward frames. A router does not, unless it has the tables of a bridge or announces to be one.
fn may_bridge(node: &NetworkNode, input: &GraphInput<'_>) -> bool {
    let host = HostId::from(node.id.uuid());
    let is_bridge = || {
        let capabilities = input.capabilities.get(&host);
        input.bridges.contains(&host)
            || capabilities.is_some_and(|announced| announced.contains(&Capability::Bridge))
    };
    match node.role {
        HostRole::Switch
        | HostRole::AccessPoint
        | HostRole::WirelessController
        | HostRole::Hypervisor
        | HostRole::Unknown => true,
        role => is_router(role) && is_bridge(),
    }
}

impl PathLink {
    /// Returns whether packets pass: the link is shown by the latest reports, and neither down nor in test mode.
    pub(super) fn is_working(&self) -> bool {
        !self.is_stale && !self.state.is_out() && self.state != LinkState::Testing
    }

    /// Returns whether the VLANs that the link carries are known.
    pub(super) const fn has_known_vlans(&self) -> bool {
        self.vlans.is_some()
    }

    fn of(link: &Link, [source, target]: [u32; 2]) -> Self {
        let up = link.members.iter().filter(|member| !member.state.is_out()).count();
        let is_lag = !link.members.is_empty();
        Self {
            id: link.id,
            source,
            target,
            vlans: None,
            untagged_vlan: link.untagged_vlan,
            confidence: link.confidence,
            state: link.state,
            is_stale: link.stale,
            blocked: link.blocked,
            is_redundant: up >= 2,
            is_one_sided: link.confidence == Confidence::Reported,
            is_degraded_lag: is_lag && up < 2,
        }
    }
}

impl PathIndex {
    /// Prepares the links of a network. Of the options, the filters of hosts count.
    #[must_use]
    pub fn new(input: &GraphInput<'_>) -> Self {
        let (nodes, left_behind) = network_nodes(input);
        let nodes: Vec<PathNode> = nodes.into_iter().map(|node| PathNode::of(node, input)).collect();
        let number = |id: NodeId| number_of(&nodes, id);
        let mut sets: Vec<(&[VlanRange], LinkId)> = Vec::new();
        let mut links = Vec::with_capacity(input.links.len());
        for link in &input.links {
            yield_turn();
            let ends = number(link.source.node_id()).zip(number(link.target.node_id()));
            let Some((source, target)) = ends.filter(|(source, target)| source != target) else { continue };
            if !left_behind.contains(&link.id) {
                links.push(PathLink::of(link, [source, target]));
                sets.extend(link.vlans.as_deref().map(|vlans| (vlans, link.id)));
            }
        }
        links.sort_unstable_by_key(|link| link.id);
        links.dedup_by_key(|link| link.id);
        let vlan_sets = number_vlan_sets(&mut links, sets);
        let (first, steps) = adjacency(nodes.len(), &links);
        let (addresses, nets, private_nets) = addresses(input, &nodes);
        let mut members: Vec<(u32, u32)> =
            addresses.iter().filter_map(|address| Some((address.net?, address.node))).collect();
        members.sort_unstable();
        members.dedup();
        let mut by_ip: Vec<u32> = (0..).take(addresses.len()).collect();
        by_ip.sort_by_key(|place| addresses[*place as usize].ip);
        let routes = input.routes.iter().filter_map(|(host, table)| {
            number_of(&nodes, (*host).into()).map(|node| (node, Arc::clone(table)))
        });
        let mut index = Self {
            routes: routes.collect(),
            shared_gateways: Vec::new(),
            default_routers: BTreeMap::new(),
            names: names(input, &nodes),
            nodes,
            is_working: links.iter().map(PathLink::is_working).collect(),
            links,
            first,
            steps,
            vlan_sets,
            addresses,
            members,
            by_ip,
            nets,
            private_nets,
            top: OnceLock::new(),
            tree: OnceLock::new(),
            cuts: OnceLock::new(),
            pairs: OnceLock::new(),
        };
        index.shared_gateways = shared_gateways(&index, input);
        index.default_routers = default_routers(&index);
        index
    }

    /// Returns the number of links.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Returns the number of devices and segments.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the nodes at the top of the network, by id: each connected part has some.
    ///
    /// They connect the network with the world, by the same evidence as in pictures: a node that stands for the
    /// Internet or a provider, public addresses, routers, firewalls. Where there is none, the center is the top.
    pub fn top_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.top().iter().map(|node| self.node(*node).id)
    }

    /// Returns the number of bytes that the links take.
    #[must_use]
    pub fn link_bytes(&self) -> usize {
        self.links.capacity() * size_of::<PathLink>()
            + self.steps.capacity() * size_of::<PathStep>()
            + self
                .vlan_sets
                .iter()
                .map(|set| size_of_val(&**set) + size_of::<Box<[VlanRange]>>())
                .sum::<usize>()
    }

    /// Returns the neighbors of a node, by node and link.
    pub(super) fn steps(&self, node: u32) -> &[PathStep] {
        let node = node as usize;
        &self.steps[self.first[node] as usize..self.first[node + 1] as usize]
    }

    pub(super) fn node(&self, node: u32) -> &PathNode {
        &self.nodes[node as usize]
    }

    pub(super) fn link(&self, link: u32) -> &PathLink {
        &self.links[link as usize]
    }

    /// Returns the steps from a node over links that work and are not removed, to nodes that are not removed.
    pub(super) fn working_steps<'i>(
        &'i self,
        node: u32,
        removal: &'i Removal,
    ) -> impl Iterator<Item = PathStep> + use<'i> {
        let is_possible = |step: &&PathStep| {
            self.is_working[step.link as usize]
                && !removal.has_node(step.node)
                && !removal.has_link(step.link)
        };
        self.steps(node).iter().filter(is_possible).copied()
    }

    pub(super) fn number(&self, id: NodeId) -> Option<u32> {
        number_of(&self.nodes, id)
    }

    pub(super) fn link_number(&self, id: LinkId) -> Option<u32> {
        let place = self.links.binary_search_by_key(&id, |link| link.id).ok()?;
        u32::try_from(place).ok()
    }

    /// Returns why a link carries nothing, or nothing of a VLAN.
    pub(super) fn obstacle(&self, link: u32, vlan: Option<u16>) -> Option<Obstacle> {
        let found = self.link(link);
        let lacks = |vlan: u16| {
            let set = found.vlans.map(|set| &self.vlan_sets[set as usize]);
            set.is_some_and(|set| !set.iter().any(|range| range.contains(vlan)))
        };
        if found.is_stale {
            Some(Obstacle::Stale)
        } else if found.state.is_out() {
            Some(Obstacle::Down)
        } else if found.state == LinkState::Testing {
            Some(Obstacle::Testing)
        } else if found.blocked == Some(true) {
            Some(Obstacle::Blocked)
        } else {
            vlan.is_some_and(lacks).then_some(Obstacle::Vlan)
        }
    }

    /// Returns whether a link carries several VLANs.
    pub(super) fn is_trunk(&self, link: u32) -> bool {
        let set = self.link(link).vlans.map(|set| &self.vlan_sets[set as usize]);
        set.is_some_and(|set| !matches!(&**set, [VlanRange { first, last }] if first == last))
    }

    /// Returns the numbers of the subnets of a node, each once.
    pub(super) fn nets_of(&self, node: u32) -> Vec<u32> {
        let mut nets: Vec<u32> = self.addresses_of(node).iter().filter_map(|address| address.net).collect();
        nets.sort_unstable();
        nets.dedup();
        nets
    }

    /// Returns the nodes with an address in a subnet.
    pub(super) fn members_of(&self, net: u32) -> impl Iterator<Item = u32> {
        let start = self.members.partition_point(|(known, _)| *known < net);
        self.members[start..].iter().take_while(move |(known, _)| *known == net).map(|(_, node)| *node)
    }

    /// Returns the addresses of a node.
    pub(super) fn addresses_of(&self, node: u32) -> &[PathAddress] {
        let start = self.addresses.partition_point(|address| address.node < node);
        let end = self.addresses.partition_point(|address| address.node <= node);
        &self.addresses[start..end]
    }

    /// Returns whether many hosts may have an address without a conflict, such as `127.0.0.1`.
    pub(super) fn is_local(&self, ip: IpAddr) -> bool {
        !is_reachable(ip)
            || USUAL_ADDRESSES.contains(&ip)
            || self.private_nets.iter().any(|net| net.contains(ip))
    }

    /// Returns the nodes at the top of the network, in order.
    pub(super) fn top(&self) -> &[u32] {
        self.top.get_or_init(|| top(self))
    }

    /// Returns the shortest paths from the top.
    pub(super) fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| Tree::of(self, self.top(), &NO_REMOVAL))
    }

    pub(super) fn pairs(&self) -> &FoundPairs {
        self.pairs.get_or_init(|| self.find_pairs())
    }

    pub(super) fn cuts(&self) -> &Cuts {
        self.cuts.get_or_init(|| Cuts::of(self, self.top(), &NO_REMOVAL))
    }
}

fn number_of(nodes: &[PathNode], id: NodeId) -> Option<u32> {
    let place = nodes.binary_search_by_key(&id, |node| node.id).ok()?;
    u32::try_from(place).ok()
}

/// Gives each different set of VLANs a number: most links carry one of a few sets.
fn number_vlan_sets(links: &mut [PathLink], mut sets: Vec<(&[VlanRange], LinkId)>) -> Vec<Box<[VlanRange]>> {
    sets.sort_unstable();
    let mut numbered: Vec<Box<[VlanRange]>> = Vec::new();
    for (set, id) in sets {
        if numbered.last().is_none_or(|last| **last != *set) {
            numbered.push(set.into());
        }
        let number = u32::try_from(numbered.len().saturating_sub(1)).ok();
        if let Ok(place) = links.binary_search_by_key(&id, |link| link.id) {
            links[place].vlans = number;
        }
    }
    numbered
}

/// Lists the steps of all nodes, one list after the other.
fn adjacency(nodes: usize, links: &[PathLink]) -> (Vec<u32>, Vec<PathStep>) {
    let mut first = vec![0_u32; nodes + 1];
    for link in links {
        first[link.source as usize + 1] += 1;
        first[link.target as usize + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut next = first.clone();
    let mut steps = vec![PathStep { node: 0, link: 0 }; links.len() * 2];
    for (link, number) in links.iter().zip(0..) {
        for (from, node) in [(link.source, link.target), (link.target, link.source)] {
            let place = &mut next[from as usize];
            steps[*place as usize] = PathStep { node, link: number };
            *place += 1;
        }
    }
    for node in 0..nodes {
        steps[first[node] as usize..first[node + 1] as usize].sort_unstable();
    }
    (first, steps)
}

fn names(input: &GraphInput<'_>, nodes: &[PathNode]) -> Vec<(Box<str>, u32)> {
    let mut names: Vec<(Box<str>, u32)> = Vec::new();
    for host in &input.hosts {
        if let Some(node) = number_of(nodes, host.id.into()) {
            names.extend(host.names.iter().map(|name| (name.as_str().into(), node)));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the addresses of hosts, by node, and their subnets. An address that no stored subnet covers is in the subnet of its mask.
fn addresses(input: &GraphInput<'_>, nodes: &[PathNode]) -> (Vec<PathAddress>, Vec<Net>, Vec<Cidr>) {
    let subnets: BTreeMap<SubnetId, Cidr> =
        input.subnets.iter().map(|subnet| (subnet.id, subnet.cidr)).collect();
    let mut found: Vec<FoundAddress> = Vec::new();
    for host in &input.hosts {
        let Some(node) = number_of(nodes, host.id.into()) else { continue };
        for interface in &host.interfaces {
            let stored = interface.subnet_id.and_then(|id| Some((*subnets.get(&id)?, Some(id))));
            let implied = || {
                let net = Cidr::containing(interface.ip_address, interface.prefix_length?).ok()?;
                Some((net, None))
            };
            // Each host has loopback and link-local addresses of its own.
            let is_common = is_reachable(interface.ip_address);
            found.push((node, interface.ip_address, stored.or_else(implied).filter(|_| is_common)));
        }
    }
    found.sort_unstable();
    found.dedup();
    let private = private_nets(&found);
    let is_shared = |net: &Net| !private.contains(&net.0);
    found.iter_mut().for_each(|(_, _, net)| *net = net.filter(|net| is_shared(net)));
    let mut nets: Vec<Net> = found.iter().filter_map(|(_, _, net)| *net).collect();
    // Of one prefix, the stored subnet counts.
    nets.sort_unstable_by_key(|(net, id)| (*net, std::cmp::Reverse(*id)));
    nets.dedup_by_key(|(net, _)| *net);
    let number = |net: Cidr| {
        let place = nets.binary_search_by_key(&net, |(net, _)| *net).ok()?;
        u32::try_from(place).ok()
    };
    let addresses = found
        .iter()
        .map(|(node, ip, net)| PathAddress {
            node: *node,
            ip: *ip,
            net: net.and_then(|(net, _)| number(net)),
        })
        .collect();
    (addresses, nets, private.into_iter().collect())
}

/// The address that each host has in the network of its containers (Docker) or of its guests (libvirt), unless a user changes it.
const USUAL_ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(172, 17, 0, 1)), IpAddr::V4(Ipv4Addr::new(192, 168, 122, 1))];

/// Returns the subnets in which several hosts have the same address, and no host has another one, or the address is a usual one:
/// each of these hosts has a subnet of its own, such as that of its containers.
fn private_nets(found: &[FoundAddress]) -> BTreeSet<Cidr> {
    let mut members: BTreeMap<Cidr, (IpAddr, u32, bool, bool)> = BTreeMap::new();
    for (node, ip, net) in found {
        let Some((net, _)) = net else { continue };
        let (first_ip, first_node, has_others, is_repeated) =
            members.entry(*net).or_insert((*ip, *node, false, false));
        // The usual address counts as the first: it decides whether others matter.
        if USUAL_ADDRESSES.contains(ip) && first_ip != ip {
            (*first_ip, *first_node, *has_others, *is_repeated) = (*ip, *node, true, false);
            continue;
        }
        *has_others |= first_ip != ip;
        *is_repeated |= first_ip == ip && first_node != node;
    }
    let is_private = |(first, _, has_others, is_repeated): (IpAddr, u32, bool, bool)| {
        is_repeated && (!has_others || USUAL_ADDRESSES.contains(&first))
    };
    members.into_iter().filter(|(_, known)| is_private(*known)).map(|(net, _)| net).collect()
}
