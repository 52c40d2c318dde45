//! The same answers by the definitions: each element is removed, and the rest is flooded. Nothing is flooded through end devices.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use toposcope::discovery::report::Capability;
use toposcope::model::{HostRole, LinkId, NodeId, TopologyView};
use toposcope::topology::links::{End, Link, LinkState};

use crate::graph::support::Fixture;

/// A working link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) id: LinkId,
    pub(super) ends: [NodeId; 2],
    pub(super) has_two_members: bool,
}

/// Nodes and working links.
#[derive(Clone, Debug, Default)]
pub(super) struct Naive {
    pub(super) nodes: BTreeSet<NodeId>,
    /// The nodes that are no devices.
    pub(super) segments: BTreeSet<NodeId>,
    pub(super) wires: Vec<Wire>,
    /// The nodes that forward nothing.
    ends: BTreeSet<NodeId>,
    /// The neighbors of each node, and the links to them.
    adjacency: BTreeMap<NodeId, Vec<(NodeId, LinkId)>>,
}

impl Naive {
    pub(super) fn of(network: &Fixture) -> Self {
        let is_working = |link: &&Link| {
            let is_off = matches!(link.state, LinkState::Down | LinkState::Disabled | LinkState::Testing);
            !is_off && !link.stale && node(&link.source) != node(&link.target)
        };
        let wires = network.links.iter().filter(is_working).map(|link| Wire {
            id: link.id,
            ends: [node(&link.source), node(&link.target)],
            has_two_members: link.members.iter().filter(|member| member.state == LinkState::Up).count() >= 2,
        });
        let segments: BTreeSet<NodeId> = network.segments.iter().map(|segment| segment.id).collect();
        let hosts = network.hosts.iter().map(|host| NodeId::from(host.id));
        let nodes = hosts.chain(network.stubs.iter().map(|stub| stub.id)).chain(segments.iter().copied());
        let ends = end_devices(network);
        Self::new(nodes.collect(), segments, wires.collect(), ends)
    }

    fn new(
        nodes: BTreeSet<NodeId>,
        segments: BTreeSet<NodeId>,
        wires: Vec<Wire>,
        ends: BTreeSet<NodeId>,
    ) -> Self {
        let mut adjacency: BTreeMap<NodeId, Vec<(NodeId, LinkId)>> = BTreeMap::new();
        for wire in &wires {
            let [one, other] = wire.ends;
            adjacency.entry(one).or_default().push((other, wire.id));
            adjacency.entry(other).or_default().push((one, wire.id));
        }
        Self { nodes, segments, wires, ends, adjacency }
    }

    pub(super) fn without(&self, nodes: &BTreeSet<NodeId>, links: &BTreeSet<LinkId>) -> Self {
        let stays =
            |wire: &&Wire| !links.contains(&wire.id) && !wire.ends.iter().any(|end| nodes.contains(end));
        Self::new(
            self.nodes.difference(nodes).copied().collect(),
            self.segments.clone(),
            self.wires.iter().filter(stays).copied().collect(),
            self.ends.clone(),
        )
    }

    pub(super) fn neighbors(&self, node: NodeId) -> impl Iterator<Item = (NodeId, LinkId)> {
        self.adjacency.get(&node).into_iter().flatten().copied()
    }

    /// Returns the devices among nodes.
    pub(super) fn devices(&self, nodes: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        nodes - &self.segments
    }

    pub(super) fn distances(&self, roots: &BTreeSet<NodeId>) -> BTreeMap<NodeId, usize> {
        let mut distances: BTreeMap<NodeId, usize> =
            roots.intersection(&self.nodes).map(|root| (*root, 0)).collect();
        let mut queue: VecDeque<NodeId> = distances.keys().copied().collect();
        while let Some(node) = queue.pop_front() {
            let next = distances[&node] + 1;
            if next > 1 && self.ends.contains(&node) {
                continue;
            }
            for (neighbor, _) in self.neighbors(node) {
                distances.entry(neighbor).or_insert_with(|| {
                    queue.push_back(neighbor);
                    next
                });
            }
        }
        distances
    }

    pub(super) fn reached(&self, roots: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        self.distances(roots).into_keys().collect()
    }

    /// Returns the parts of nodes that forward, each with the end devices at it. Those at none are parts alone.
    pub(super) fn parts(&self) -> Vec<BTreeSet<NodeId>> {
        let mut parts: Vec<BTreeSet<NodeId>> = Vec::new();
        for node in self.nodes.difference(&self.ends) {
            if !parts.iter().any(|part| part.contains(node)) {
                parts.push(self.reached(&BTreeSet::from([*node])));
            }
        }
        for node in self.nodes.intersection(&self.ends) {
            if !parts.iter().any(|part| part.contains(node)) {
                parts.push(BTreeSet::from([*node]));
            }
        }
        parts
    }

    /// Returns the last link of the shortest path to each node: that of the smallest ids.
    pub(super) fn tree(&self, roots: &BTreeSet<NodeId>) -> BTreeSet<LinkId> {
        let distances = self.distances(roots);
        let last = |(node, distance): (&NodeId, &usize)| {
            let is_nearer = |other: &NodeId| {
                let forwards = *distance == 1 || !self.ends.contains(other);
                forwards && distances.get(other).is_some_and(|other| other + 1 == *distance)
            };
            let nearer = self.neighbors(*node).filter(|(other, _)| is_nearer(other));
            nearer.min().map(|(_, link)| link)
        };
        distances.iter().filter_map(last).collect()
    }

    /// Returns the link without which each device is not reached. Of several, it is the one that cuts off the fewest nodes.
    pub(super) fn needed_links(&self, roots: &BTreeSet<NodeId>) -> BTreeMap<NodeId, Option<LinkId>> {
        let reached = self.reached(roots);
        let mut needed: BTreeMap<NodeId, (usize, Option<LinkId>)> =
            self.devices(&reached).into_iter().map(|node| (node, (usize::MAX, None))).collect();
        for wire in self.wires.iter().filter(|wire| !wire.has_two_members) {
            let rest = self.without(&BTreeSet::new(), &BTreeSet::from([wire.id])).reached(roots);
            let lost = reached.len() - rest.len();
            for (_, nearest) in needed.iter_mut().filter(|(node, _)| !rest.contains(node)) {
                *nearest = (*nearest).min((lost, Some(wire.id)));
            }
        }
        needed.into_iter().map(|(node, (_, link))| (node, link)).collect()
    }

    /// Returns the top that remains. Where none does and all of it was among these, the largest part counts as connected, unless it is
    /// a device without links.
    pub(super) fn remaining_top(
        &self,
        top: &BTreeSet<NodeId>,
        replaced: &BTreeSet<NodeId>,
        removed: &Self,
    ) -> BTreeSet<NodeId> {
        let kept: BTreeSet<NodeId> = top.intersection(&removed.nodes).copied().collect();
        let mut remaining = kept.clone();
        for part in self.parts().into_iter().filter(|part| part.iter().any(|node| replaced.contains(node))) {
            if part.intersection(&kept).next().is_none() {
                let parts = removed.parts().into_iter().filter(|inner| inner.is_subset(&part));
                let first =
                    |inner: &BTreeSet<NodeId>| inner.difference(&self.ends).next().or(inner.first()).copied();
                let has_others = |inner: &BTreeSet<NodeId>| {
                    first(inner).is_some_and(|first| {
                        removed.devices(&removed.reached(&BTreeSet::from([first]))).len() > 1
                    })
                };
                let largest = parts
                    .filter(has_others)
                    .max_by_key(|inner| (self.devices(inner).len(), std::cmp::Reverse(first(inner))));
                remaining.extend(largest.and_then(|inner| first(&inner)));
            }
        }
        remaining
    }
}

/// Returns the nodes that forward nothing, by their roles and by evidence.
pub(super) fn end_devices(network: &Fixture) -> BTreeSet<NodeId> {
    let graph = network.graph(TopologyView::L2);
    let ends = graph.nodes.iter().filter(|node| {
        let is_router = matches!(node.role, HostRole::Router | HostRole::Firewall | HostRole::Internet);
        !may_bridge(network, node.id, node.role)
            && !is_router
            && !announces(network, node.id, Capability::Router)
    });
    ends.map(|node| node.id).collect()
}

/// Returns whether a node may forward frames, by its role or by evidence.
pub(super) fn may_bridge(network: &Fixture, node: NodeId, role: HostRole) -> bool {
    let is_bridge = matches!(
        role,
        HostRole::Switch
            | HostRole::AccessPoint
            | HostRole::WirelessController
            | HostRole::Hypervisor
            | HostRole::Unknown
    );
    let has_tables = network.bridges.iter().any(|host| NodeId::from(*host) == node);
    is_bridge || has_tables || announces(network, node, Capability::Bridge)
}

fn announces(network: &Fixture, node: NodeId, capability: Capability) -> bool {
    network.capabilities.iter().any(|(host, known)| NodeId::from(*host) == node && *known == capability)
}

fn node(end: &End) -> NodeId {
    match end {
        End::Host { host_id, .. } => (*host_id).into(),
        End::Stub { id, .. } | End::Segment { id } => *id,
    }
}
