//! The links of a network with small numbers in place of ids, for answers in milliseconds.

mod addresses;
mod adjacency;
#[cfg(feature = "service")]
mod changes;
mod guests;
mod parts;
#[cfg(feature = "service")]
mod renumber;
mod vlan_sets;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub(super) use self::addresses::PathAddresses;
use self::addresses::{FoundAddress, addresses_of_host};
use self::adjacency::Adjacency;
#[cfg(feature = "service")]
pub(in crate::topology) use self::changes::{ChangedNode, IndexChanges, IndexedHost};
use self::parts::Forwarding;
pub(super) use self::parts::{PathLink, PathNode, PathStep};
use self::vlan_sets::VlanSets;
use super::cuts::Cuts;
use super::flood::{NO_REMOVAL, Removal, Tree};
use super::lookup::{NodeName, by_name};
use super::pairs::FoundPairs;
use super::redundancy::needed_links;
use super::route::Obstacle;
use super::routing::{SharedGateway, default_routers, shared_gateways};
use super::top::{Top, top};
use crate::fair_threads::yield_turn;
use crate::model::{Cidr, HostId, LinkId, NodeId, SubnetId};
use crate::topology::graph::{GraphInput, NetworkNodes, network_nodes};
use crate::topology::links::{LinkState, RoutingTable, VirtualRouter, VlanRange};

/// The links of a network, prepared for questions.
///
/// Each link takes less than 100 bytes.
#[derive(Debug)]
pub struct PathIndex {
    /// By id. The places in this list are the numbers of nodes.
    pub(super) nodes: Vec<PathNode>,
    /// Whether packets or frames pass through each node: searches look at nothing else of most nodes.
    is_transit: Vec<bool>,
    /// By id. The places in this list are the numbers of links.
    pub(super) links: Vec<PathLink>,
    adjacency: Adjacency,
    /// Whether packets pass on each link, if the spanning tree lets them.
    is_working: Vec<bool>,
    vlan_sets: VlanSets,
    /// The names of hosts, in the order of [`by_name`]. Several hosts may have one.
    pub(super) names: Vec<NodeName>,
    pub(super) addresses: PathAddresses,
    pub(super) routers: PathRouters,
    /// The hosts that other hosts run, each with the one that runs it.
    guests: Vec<(HostId, HostId)>,
    /// The links that are left out because a device has left them for another port.
    #[cfg(feature = "service")]
    left_behind: BTreeSet<LinkId>,
    derived: Derived,
    /// The number of steps that all questions have looked at.
    steps_taken: AtomicU64,
}

/// The devices that route packets.
#[derive(Debug, Default)]
pub(super) struct PathRouters {
    /// The routing tables, by node.
    pub(super) tables: BTreeMap<u32, Arc<RoutingTable>>,
    /// The virtual routers that the shared addresses follow from.
    virtual_routers: Vec<VirtualRouter>,
    /// The addresses that several routers share, in order.
    pub(super) shared: Vec<SharedGateway>,
    /// The default routers that hosts name, by subnet.
    pub(super) default_routers: BTreeMap<u32, BTreeSet<IpAddr>>,
}

/// The results that are computed once, for the first question that needs them.
#[derive(Debug, Default)]
struct Derived {
    /// The nodes at the top.
    top: OnceLock<Top>,
    /// The shortest paths from the top.
    tree: OnceLock<Tree>,
    cuts: OnceLock<Cuts>,
    /// Whether no single link is needed to reach each node from the top.
    needed_links: OnceLock<Vec<u32>>,
    pairs: OnceLock<FoundPairs>,
    /// The nodes that other nodes run, each with the one that runs it, which comes before if it is run itself.
    guests: OnceLock<Vec<(u32, u32)>>,
}

impl PathIndex {
    /// Prepares the links of a network. The filters of hosts are the only options that count.
    #[must_use]
    pub fn new(input: &GraphInput<'_>) -> Self {
        let NetworkNodes { nodes, guests, left_behind } = network_nodes(input);
        let nodes: Vec<PathNode> = nodes
            .into_iter()
            .map(|node| {
                let host = HostId::from(node.id.uuid());
                let announced = input.capabilities.get(&host).map_or(&[][..], Vec::as_slice);
                PathNode::new(node, Forwarding::of(input.bridges.contains(&host), announced))
            })
            .collect();
        let mut vlan_sets = VlanSets::default();
        let mut links = Vec::with_capacity(input.links.len());
        for link in input.links.iter().filter(|link| !left_behind.contains(&link.id)) {
            yield_turn();
            let number = |id: NodeId| number_of(&nodes, id);
            let ends = number(link.source.node_id()).zip(number(link.target.node_id()));
            if let Some((source, target)) = ends.filter(|(source, target)| source != target) {
                let vlans = link.vlans.as_deref().and_then(|set| vlan_sets.number(set));
                links.push(PathLink::new(link, [source, target], vlans));
            }
        }
        links.sort_unstable_by_key(|link| link.id);
        links.dedup_by_key(|link| link.id);
        let routes = input.routes.iter().filter_map(|(host, table)| {
            number_of(&nodes, (*host).into()).map(|node| (node, Arc::clone(table)))
        });
        let routers = PathRouters {
            tables: routes.collect(),
            virtual_routers: input.virtual_routers.clone(),
            ..PathRouters::default()
        };
        let mut index = Self {
            names: names(input, &nodes),
            addresses: PathAddresses::of(addresses(input, &nodes)),
            routers,
            guests,
            adjacency: Adjacency::of(nodes.len(), &links),
            is_transit: nodes.iter().map(PathNode::is_transit).collect(),
            nodes,
            is_working: links.iter().map(PathLink::is_working).collect(),
            links,
            vlan_sets,
            #[cfg(feature = "service")]
            left_behind,
            derived: Derived::default(),
            steps_taken: AtomicU64::new(0),
        };
        index.find_routers();
        index
    }

    /// Finds the addresses that routers share, and the default routers of subnets.
    fn find_routers(&mut self) {
        self.routers.shared = shared_gateways(self, &self.routers.virtual_routers);
        self.routers.default_routers = default_routers(self);
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

    /// Returns the nodes at the top of parts of the network in which nothing leads to the world, by id. They are the center of their part.
    pub fn center_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.centers().iter().map(|node| self.node(*node).id)
    }

    /// Returns the number of bytes that the links take.
    #[must_use]
    pub fn link_bytes(&self) -> usize {
        self.links.capacity() * size_of::<PathLink>() + self.adjacency.bytes() + self.vlan_sets.bytes()
    }

    /// Returns the number of links that all questions have looked at so far. A link counts each time, and from each end.
    ///
    /// It shows the cost of a question, regardless of the machine.
    #[must_use]
    pub fn steps_taken(&self) -> u64 {
        self.steps_taken.load(Ordering::Relaxed)
    }

    /// Counts the steps of a search.
    pub(super) fn count_steps(&self, steps: u64) {
        self.steps_taken.fetch_add(steps, Ordering::Relaxed);
    }

    /// Returns the neighbors of a node, by node and link.
    pub(super) fn steps(&self, node: u32) -> &[PathStep] {
        self.adjacency.steps(node)
    }

    pub(super) fn node(&self, node: u32) -> &PathNode {
        &self.nodes[node as usize]
    }

    /// Returns whether packets or frames pass through a node.
    pub(super) fn is_transit(&self, node: u32) -> bool {
        self.is_transit[node as usize]
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
        if found.is_stale {
            Some(Obstacle::Stale)
        } else if found.state.is_out() {
            Some(Obstacle::Down)
        } else if found.state == LinkState::Testing {
            Some(Obstacle::Testing)
        } else if found.blocked == Some(true) {
            Some(Obstacle::Blocked)
        } else {
            vlan.is_some_and(|vlan| !self.carries(link, vlan)).then_some(Obstacle::Vlan)
        }
    }

    /// Returns whether a link carries a VLAN, or may carry it.
    pub(super) fn carries(&self, link: u32, vlan: u16) -> bool {
        self.link(link).vlans.is_none_or(|set| self.vlan_sets.contains(set, vlan))
    }

    /// Returns the VLANs of a set, in ascending order.
    pub(super) fn vlans_of(&self, set: u32) -> &[VlanRange] {
        self.vlan_sets.get(set)
    }

    /// Returns whether a link carries several VLANs.
    pub(super) fn is_trunk(&self, link: u32) -> bool {
        let set = self.link(link).vlans.map(|set| self.vlan_sets.get(set));
        set.is_some_and(|set| !matches!(set, [VlanRange { first, last }] if first == last))
    }

    /// Returns the numbers of the subnets of a node, each once.
    pub(super) fn nets_of(&self, node: u32) -> Vec<u32> {
        let mut nets: Vec<u32> =
            self.addresses.of_node(node).iter().filter_map(|address| address.net).collect();
        nets.sort_unstable();
        nets.dedup();
        nets
    }

    /// Returns the nodes at the top that are only the center of their part of the network.
    pub(super) fn centers(&self) -> &[u32] {
        &self.derived.top.get_or_init(|| top(self)).centers
    }

    /// Returns the nodes at the top of the network, in order.
    pub(super) fn top(&self) -> &[u32] {
        &self.derived.top.get_or_init(|| top(self)).nodes
    }

    /// Returns the shortest paths from the top.
    pub(super) fn tree(&self) -> &Tree {
        self.derived.tree.get_or_init(|| Tree::of(self, self.top(), &NO_REMOVAL))
    }

    pub(super) fn pairs(&self) -> &FoundPairs {
        self.derived.pairs.get_or_init(|| self.find_pairs())
    }

    pub(super) fn cuts(&self) -> &Cuts {
        self.derived.cuts.get_or_init(|| Cuts::of(self, self.top()))
    }

    /// Returns the nearest of the single links that each node needs to reach the top.
    pub(super) fn needed_links(&self) -> &[u32] {
        self.derived.needed_links.get_or_init(|| needed_links(self, self.tree(), &NO_REMOVAL))
    }
}

fn number_of(nodes: &[PathNode], id: NodeId) -> Option<u32> {
    let place = nodes.binary_search_by_key(&id, |node| node.id).ok()?;
    u32::try_from(place).ok()
}

fn names(input: &GraphInput<'_>, nodes: &[PathNode]) -> Vec<NodeName> {
    let mut names: Vec<NodeName> = Vec::new();
    for host in &input.hosts {
        if let Some(node) = number_of(nodes, host.id.into()) {
            names.extend(host.names.iter().map(|name| (name.as_str().into(), node)));
        }
    }
    names.sort_unstable_by(by_name);
    names.dedup();
    names
}

fn addresses(input: &GraphInput<'_>, nodes: &[PathNode]) -> Vec<FoundAddress> {
    let subnets: BTreeMap<SubnetId, Cidr> =
        input.subnets.iter().map(|subnet| (subnet.id, subnet.cidr)).collect();
    let hosts = input.hosts.iter().filter_map(|host| Some((number_of(nodes, host.id.into())?, host)));
    hosts.flat_map(|(node, host)| addresses_of_host(node, host, &subnets)).collect()
}
