//! The top of a network: the nodes that connect it with the world, or else its center.

use super::flood::{FAR, NO_REMOVAL, Parts};
use super::index::PathIndex;
use crate::model::HostRole;
use crate::topology::layout::AddressScope;

/// A kind of evidence is ignored if more than one in this many nodes have it.
const ONE_IN: usize = 3;
/// Maximum number of nodes at the top of a part of the network.
const MAX_TOP: usize = 24;
/// The number of parts that meet at a provider.
const PROVIDER_PARTS: u32 = 3;
/// Maximum number of nodes without an address that are examined in a part of the network.
const MAX_EXAMINED: usize = 16;

/// The nodes at the top of each connected part of a network.
#[derive(Debug)]
pub(super) struct Top {
    /// All of them, in order.
    pub(super) nodes: Vec<u32>,
    /// Those that are the center of their part, because nothing there leads to the world, in order.
    pub(super) centers: Vec<u32>,
}

/// Returns the nodes at the top of each connected part of a network.
///
/// Pictures have the same evidence for the side of the world: a node that stands for the Internet, a node without an address at
/// which several parts meet, a public address, a router, a firewall. Where there is none, the center is the top; of a
/// fabric, the side without end devices. End devices are never at the top.
pub(super) fn top(index: &PathIndex) -> Top {
    let all = (0..).take(index.nodes.len());
    let parts = Parts::of(index, all, &NO_REMOVAL).parts;
    let mut survey = Survey::new(index);
    let mut top = Top { nodes: Vec::new(), centers: Vec::new() };
    for part in parts.iter().filter(|part| part.len() > 1) {
        if let Some(found) = survey.way_out(part) {
            top.nodes.extend(found);
        } else {
            let center = survey.center(part);
            top.nodes.extend(&center);
            top.centers.extend(center);
        }
    }
    for nodes in [&mut top.nodes, &mut top.centers] {
        nodes.sort_unstable();
        nodes.dedup();
    }
    top
}

/// Returns the nodes that a kind of evidence puts at the top of a part.
type TopOf<'f> = dyn Fn(&mut Survey<'_>) -> Vec<u32> + 'f;

/// Working memory for one part of a network after another.
struct Survey<'i> {
    index: &'i PathIndex,
    /// The number of working links of each node.
    degrees: Vec<u32>,
    /// Distances within a part; [`FAR`] between two walks.
    distances: Vec<u32>,
    /// The last part of each node, from 1 on.
    part_of: Vec<u32>,
    part: u32,
}

impl<'i> Survey<'i> {
    fn new(index: &'i PathIndex) -> Self {
        let degree = |node: u32| u32::try_from(index.working_steps(node, &NO_REMOVAL).count()).unwrap_or(FAR);
        let degrees = (0..).take(index.nodes.len()).map(degree).collect();
        let count = index.nodes.len();
        Self { index, degrees, distances: vec![FAR; count], part_of: vec![0; count], part: 0 }
    }

    /// Returns the nodes that connect a part with the world; `None` if there are none.
    fn way_out(&mut self, part: &[u32]) -> Option<Vec<u32>> {
        let index = self.index;
        self.part += 1;
        part.iter().for_each(|node| self.part_of[*node as usize] = self.part);
        let with = |is_top: &dyn Fn(u32) -> bool| part.iter().copied().filter(|node| is_top(*node)).collect();
        let has_role = |role: HostRole| with(&|node| index.node(node).role == role);
        let is_rare =
            |nodes: &Vec<u32>| (1..=MAX_TOP).contains(&nodes.len()) && nodes.len() * ONE_IN <= part.len();
        let kinds: [&TopOf<'_>; 5] = [
            &|_| has_role(HostRole::Internet),
            &|survey| survey.providers(part),
            &|_| with(&|node| index.node(node).scope == AddressScope::Public && index.is_transit(node)),
            &|_| has_role(HostRole::Router),
            &|_| has_role(HostRole::Firewall),
        ];
        kinds.into_iter().map(|kind| kind(self)).find(is_rare)
    }

    /// Returns the nodes without an address at which several parts of the network meet, and only there.
    fn providers(&mut self, part: &[u32]) -> Vec<u32> {
        let mut candidates: Vec<u32> = part
            .iter()
            .copied()
            .filter(|node| self.index.node(*node).scope == AddressScope::Missing)
            .filter(|node| self.index.is_transit(*node))
            .filter(|node| self.degrees[*node as usize] >= PROVIDER_PARTS)
            .collect();
        candidates.sort_unstable_by_key(|node| (std::cmp::Reverse(self.degrees[*node as usize]), *node));
        candidates.truncate(MAX_EXAMINED);
        candidates.retain(|node| self.is_provider(*node, part));
        candidates
    }

    fn is_provider(&mut self, candidate: u32, part: &[u32]) -> bool {
        self.distances[candidate as usize] = 0;
        let mut parts = 0;
        for step in self.index.working_steps(candidate, &NO_REMOVAL) {
            if self.distances[step.node as usize] != FAR || !self.index.is_transit(step.node) {
                continue;
            }
            self.distances[step.node as usize] = 1;
            // A device that hangs there alone is no part of the network.
            parts += u32::from(self.walk(step.node).len() > 1);
        }
        self.forget(part);
        parts >= PROVIDER_PARTS
    }

    /// Walks from a node with a distance to all nodes of the part without one. Returns the nodes that were reached, the farthest last.
    fn walk(&mut self, start: u32) -> Vec<u32> {
        let mut reached = vec![start];
        let mut next = 0;
        while let Some(node) = reached.get(next).copied() {
            next += 1;
            if node != start && !self.index.is_transit(node) {
                continue;
            }
            let distance = self.distances[node as usize] + 1;
            for step in self.index.working_steps(node, &NO_REMOVAL) {
                let is_inside = self.part_of[step.node as usize] == self.part;
                if is_inside && self.distances[step.node as usize] == FAR {
                    self.distances[step.node as usize] = distance;
                    reached.push(step.node);
                }
            }
        }
        crate::fair_threads::yield_turn();
        reached
    }

    fn forget(&mut self, part: &[u32]) {
        part.iter().for_each(|node| self.distances[*node as usize] = FAR);
    }

    /// Returns the distances of the nodes of a part from one of them, in their order, and one of the farthest.
    fn distances_from(&mut self, node: u32, part: &[u32]) -> (Vec<u32>, u32) {
        self.distances[node as usize] = 0;
        let farthest = self.walk(node).last().copied().unwrap_or(node);
        let distances = part.iter().map(|node| self.distances[*node as usize]).collect();
        self.forget(part);
        (distances, farthest)
    }

    /// Returns the nodes in the middle of a part of the network. Nodes with the same neighbors are there together.
    fn center(&mut self, part: &[u32]) -> Vec<u32> {
        let (_, one_end) = self.distances_from(part.iter().copied().min().unwrap_or_default(), part);
        let (from_one_end, other_end) = self.distances_from(one_end, part);
        let (from_other_end, _) = self.distances_from(other_end, part);
        let neighbors = |node: u32| self.index.working_steps(node, &NO_REMOVAL).map(|step| step.node);
        let degree = |node: u32| self.degrees[node as usize];
        let is_inner = |node: u32| degree(node) > 1 && self.index.is_transit(node);
        let is_bare = |node: u32| is_inner(node) && neighbors(node).all(is_inner);
        let kinds: [&dyn Fn(u32) -> bool; 3] = [&is_bare, &is_inner, &|_| true];
        let far = from_one_end.iter().zip(&from_other_end).map(|(one, other)| *one.max(other));
        let scored = far.zip(part.iter().copied()).filter(|(_, node)| self.index.is_transit(*node));
        let scored: Vec<(u32, u32)> = scored.collect();
        for is_possible in kinds {
            let possible = scored.iter().copied().filter(|(_, node)| is_possible(*node));
            let best =
                possible.clone().min_by_key(|(far, node)| (*far, std::cmp::Reverse(degree(*node)), *node));
            if let Some((least, best)) = best {
                let is_twin = |node: &u32| neighbors(*node).eq(neighbors(best));
                let nearest = possible.filter(|(far, _)| *far == least).map(|(_, node)| node);
                return nearest.filter(is_twin).take(MAX_TOP).collect();
            }
        }
        Vec::new()
    }
}
