//! The same answers by the definitions: each element is removed, and the rest is flooded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use toposcope::model::{LinkId, NodeId};
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
        Self::new(nodes.collect(), segments, wires.collect())
    }

    fn new(nodes: BTreeSet<NodeId>, segments: BTreeSet<NodeId>, wires: Vec<Wire>) -> Self {
        let mut adjacency: BTreeMap<NodeId, Vec<(NodeId, LinkId)>> = BTreeMap::new();
        for wire in &wires {
            let [one, other] = wire.ends;
            adjacency.entry(one).or_default().push((other, wire.id));
            adjacency.entry(other).or_default().push((one, wire.id));
        }
        Self { nodes, segments, wires, adjacency }
    }

    pub(super) fn without(&self, nodes: &BTreeSet<NodeId>, links: &BTreeSet<LinkId>) -> Self {
        let stays =
            |wire: &&Wire| !links.contains(&wire.id) && !wire.ends.iter().any(|end| nodes.contains(end));
        Self::new(
            self.nodes.difference(nodes).copied().collect(),
            self.segments.clone(),
            self.wires.iter().filter(stays).copied().collect(),
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

    pub(super) fn parts(&self) -> Vec<BTreeSet<NodeId>> {
        let mut parts: Vec<BTreeSet<NodeId>> = Vec::new();
        for node in &self.nodes {
            if !parts.iter().any(|part| part.contains(node)) {
                parts.push(self.reached(&BTreeSet::from([*node])));
            }
        }
        parts
    }

    /// Returns the last link of the shortest path to each node: that of the smallest ids.
    pub(super) fn tree(&self, roots: &BTreeSet<NodeId>) -> BTreeSet<LinkId> {
        let distances = self.distances(roots);
        let last = |(node, distance): (&NodeId, &usize)| {
            let nearer = self.neighbors(*node).filter(|(other, _)| distances[other] + 1 == *distance);
            nearer.min().map(|(_, link)| link)
        };
        distances.iter().filter_map(last).collect()
    }

    /// Returns the nodes that are reached whatever single link fails.
    pub(super) fn redundant(&self, roots: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let mut redundant = self.reached(roots);
        for wire in self.wires.iter().filter(|wire| !wire.has_two_members) {
            let rest = self.without(&BTreeSet::new(), &BTreeSet::from([wire.id]));
            redundant = redundant.intersection(&rest.reached(roots)).copied().collect();
        }
        self.devices(&redundant)
    }

    /// Returns the top that remains. Where none does, the largest part counts as connected.
    pub(super) fn remaining_top(&self, top: &BTreeSet<NodeId>, removed: &Self) -> BTreeSet<NodeId> {
        let mut remaining: BTreeSet<NodeId> = top.intersection(&removed.nodes).copied().collect();
        for part in self.parts().into_iter().filter(|part| part.iter().any(|node| top.contains(node))) {
            if part.intersection(&remaining).next().is_none() {
                let parts = removed.parts().into_iter().filter(|inner| inner.is_subset(&part));
                let largest = parts.max_by_key(|inner| {
                    (self.devices(inner).len(), std::cmp::Reverse(inner.first().copied()))
                });
                remaining.extend(largest.and_then(|inner| inner.first().copied()));
            }
        }
        remaining
    }
}

fn node(end: &End) -> NodeId {
    match end {
        End::Host { host_id, .. } => (*host_id).into(),
        End::Stub { id, .. } | End::Segment { id } => *id,
    }
}
