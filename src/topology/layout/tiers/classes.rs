//! Classes of nodes, such as those that have similar neighbors, and their graph.

use std::collections::BTreeMap;

use super::neighborhoods::similar_nodes;
use super::odd_links;
use super::world::World;
use crate::topology::layout::containers::Level;
use crate::topology::layout::network::SimpleGraph;
use crate::union_find::UnionFind;

/// The classes of the inner nodes of a network.
#[derive(Debug)]
pub(super) struct Classes {
    class_of: Vec<Option<usize>>,
    members: Vec<Vec<usize>>,
    /// The number of devices that leaves at members stand for, and of those in members that are boxes. Leaves that lead
    /// out of the network do not count.
    leaves: Vec<usize>,
    /// The number of devices that members stand for, and that leaves do.
    weights: Vec<usize>,
    /// Whether a member, or a leaf at one, leads out of the network.
    is_outward: Vec<bool>,
    are_adjacent: Vec<bool>,
    /// The highest rank of a member.
    ranks: Vec<Option<u8>>,
    /// The number of links between the members of two classes, the smaller number first.
    links: BTreeMap<(usize, usize), usize>,
    /// The pairs of classes that have an odd link. They are not adjacent in the graph.
    odd: Vec<(usize, usize)>,
    graph: SimpleGraph,
}

impl Classes {
    /// Creates the classes of nodes with similar neighbors.
    pub(super) fn of(level: &Level, is_inner: &[bool], world: &World) -> Self {
        Self::from_sets(level, is_inner, world, &mut similar_nodes(level, is_inner, world))
    }

    /// Creates the classes that these sets of nodes are.
    pub(super) fn from_sets(level: &Level, is_inner: &[bool], world: &World, sets: &mut UnionFind) -> Self {
        let network = &level.network;
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut class_of = vec![None; network.len()];
        let mut members: Vec<Vec<usize>> = Vec::new();
        for node in (0..network.len()).filter(|node| is_inner[*node]) {
            let class = *numbers.entry(sets.find(node)).or_insert(members.len());
            if class == members.len() {
                members.push(Vec::new());
            }
            members[class].push(node);
            class_of[node] = Some(class);
        }
        let mut are_adjacent = vec![false; members.len()];
        let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let links = network.edges().iter().filter_map(|(one, other)| class_of[*one].zip(class_of[*other]));
        for (one, other) in links.clone() {
            are_adjacent[one] |= one == other;
            *counts.entry((one.min(other), one.max(other))).or_default() += 1;
        }
        let (mut leaves, mut weights) = (vec![0; members.len()], vec![0; members.len()]);
        let mut is_outward = vec![false; members.len()];
        for (node, is_inner) in is_inner.iter().enumerate() {
            let hub = if *is_inner { Some(node) } else { network.neighbors(node).first().copied() };
            let Some(class) = hub.and_then(|hub| class_of[hub]) else { continue };
            is_outward[class] |= world.contains(node);
            let weight = level.weights[node];
            // A container has devices within, so that it is no device without leaves.
            let is_member = usize::from(*is_inner && !level.is_container[node]);
            if *is_inner || !world.contains(node) {
                // Devices in a box of an overview count as its leaves.
                leaves[class] += weight.saturating_sub(is_member);
                weights[class] += weight;
            }
        }
        let odd = odd_links::between(members.len(), &counts);
        let is_odd = |one: usize, other: usize| odd.binary_search(&(one.min(other), one.max(other))).is_ok();
        let regular = links.filter(|(one, other)| !is_odd(*one, *other));
        Self {
            graph: SimpleGraph::new(members.len(), regular),
            ranks: members.iter().map(|nodes| highest_rank(level, nodes)).collect(),
            leaves,
            weights,
            is_outward,
            are_adjacent,
            links: counts,
            odd,
            members,
            class_of,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns the class of an inner node.
    pub(super) fn class_of(&self, node: usize) -> Option<usize> {
        self.class_of[node]
    }

    pub(super) fn members(&self, class: usize) -> &[usize] {
        &self.members[class]
    }

    /// Returns the number of devices that members and their leaves stand for.
    pub(super) fn weight(&self, class: usize) -> usize {
        self.weights[class]
    }

    /// Returns the number of devices at the members, and in members that are boxes. Leaves that lead out of the network
    /// do not count.
    pub(super) fn leaves(&self, class: usize) -> usize {
        self.leaves[class]
    }

    /// Returns whether a member, or a leaf at one, leads out of the network.
    pub(super) fn is_outward(&self, class: usize) -> bool {
        self.is_outward[class]
    }

    /// Returns whether members are connected with each other.
    pub(super) fn are_adjacent(&self, class: usize) -> bool {
        self.are_adjacent[class]
    }

    /// Returns whether each member of a class has one link to the other class, as between the cores of two data centers.
    /// Members of different tiers are all linked with each other.
    pub(super) fn are_side_by_side(&self, one: usize, other: usize) -> bool {
        let links = self.links.get(&(one.min(other), one.max(other))).copied();
        let members = self.members(one).len();
        members > 1 && members == self.members(other).len() && links == Some(members)
    }

    /// Returns the highest rank of a member; `None` if none is known.
    pub(super) fn rank(&self, class: usize) -> Option<u8> {
        self.ranks[class]
    }

    /// Returns the odd links of a network.
    pub(super) fn odd_links(&self, network: &SimpleGraph) -> Vec<(usize, usize)> {
        let is_odd = |ends: &&(usize, usize)| {
            self.class_of[ends.0]
                .zip(self.class_of[ends.1])
                .is_some_and(|(one, other)| self.odd.binary_search(&(one.min(other), one.max(other))).is_ok())
        };
        network.edges().iter().filter(is_odd).copied().collect()
    }

    /// Returns the graph whose nodes are the classes. Odd links are no edges of it.
    pub(super) const fn graph(&self) -> &SimpleGraph {
        &self.graph
    }
}

fn highest_rank(level: &Level, nodes: &[usize]) -> Option<u8> {
    nodes.iter().filter_map(|node| level.ranks[*node]).min()
}
