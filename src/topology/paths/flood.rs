//! Nodes that are reached from others, and the links over which they are reached.
//!
//! An end device is reached, and nothing is reached through it: a server with two links is no way between two switches. Only where
//! a walk begins at an end device does it leave it.

use super::index::{PathIndex, PathStep};
use crate::fair_threads::yield_turn;

/// The distance of nodes that are not reached.
pub(super) const FAR: u32 = u32::MAX;

/// The number of steps between two turns of other work.
const STEPS_PER_TURN: usize = 4_096;

/// Nodes and links that are assumed to fail.
#[derive(Debug)]
pub(super) struct Removal {
    /// Whether each node is removed; empty if none is.
    nodes: Vec<bool>,
    /// Whether each link is removed; empty if none is.
    links: Vec<bool>,
}

/// Nothing fails.
pub(super) static NO_REMOVAL: Removal = Removal { nodes: Vec::new(), links: Vec::new() };

impl Removal {
    pub(super) fn of(index: &PathIndex, nodes: &[u32], links: &[u32]) -> Self {
        Self { nodes: marked(index.nodes.len(), nodes), links: marked(index.links.len(), links) }
    }

    pub(super) fn has_node(&self, node: u32) -> bool {
        self.nodes.get(node as usize).copied().unwrap_or(false)
    }

    pub(super) fn has_link(&self, link: u32) -> bool {
        self.links.get(link as usize).copied().unwrap_or(false)
    }
}

fn marked(count: usize, places: &[u32]) -> Vec<bool> {
    if places.is_empty() {
        return Vec::new();
    }
    let mut marked = vec![false; count];
    for place in places {
        marked[*place as usize] = true;
    }
    marked
}

/// Steps that a search has looked at.
#[derive(Debug, Default)]
pub(super) struct CountedSteps(pub(super) usize);

impl CountedSteps {
    /// Counts the steps from a node, and returns those over links that work, to nodes that are not removed. Yields to other work from
    /// time to time.
    pub(super) fn working<'i>(
        &mut self,
        index: &'i PathIndex,
        node: u32,
        removal: &'i Removal,
    ) -> impl Iterator<Item = PathStep> + use<'i> {
        let turns = self.0 / STEPS_PER_TURN;
        self.0 += index.steps(node).len();
        if self.0 / STEPS_PER_TURN > turns {
            yield_turn();
        }
        index.working_steps(node, removal)
    }
}

/// The shortest paths from some nodes to all others, as a tree. Of equally short ones, that with the smallest numbers counts.
#[derive(Debug)]
pub(super) struct Tree {
    /// How each node is reached, in one place of memory: searches look at nodes in no order.
    pub(super) reached: Vec<Reached>,
    /// The nodes that are reached, the nearest first.
    pub(super) order: Vec<u32>,
}

/// The end of the path to a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// The number of links to the nearest root, or [`FAR`].
    pub(super) distance: u32,
    /// The last node before; [`FAR`] for roots and for nodes that are not reached.
    pub(super) parent: u32,
    /// The last link; [`FAR`] as above.
    pub(super) link: u32,
}

impl Reached {
    pub(super) const NEVER: Self = Self { distance: FAR, parent: FAR, link: FAR };
}

impl Tree {
    pub(super) fn of(index: &PathIndex, roots: &[u32], removal: &Removal) -> Self {
        let mut tree = Self { reached: vec![Reached::NEVER; index.nodes.len()], order: Vec::new() };
        for root in roots.iter().filter(|root| !removal.has_node(**root)) {
            if std::mem::replace(&mut tree.reached[*root as usize].distance, 0) == FAR {
                tree.order.push(*root);
            }
        }
        let mut next = 0;
        let mut steps = CountedSteps::default();
        while let Some(node) = tree.order.get(next).copied() {
            next += 1;
            let distance = tree.distance(node) + 1;
            if distance > 1 && !index.is_transit(node) {
                continue;
            }
            for step in steps.working(index, node, removal) {
                tree.reach(step, node, distance);
            }
        }
        index.count_steps(steps.0 as u64);
        tree
    }

    /// Reaches a node by a step from another one.
    fn reach(&mut self, step: PathStep, from: u32, distance: u32) {
        let reached = &mut self.reached[step.node as usize];
        if reached.distance == FAR {
            self.order.push(step.node);
        } else if reached.distance != distance || reached.parent <= from {
            return;
        }
        *reached = Reached { distance, parent: from, link: step.link };
    }

    pub(super) fn reaches(&self, node: u32) -> bool {
        self.distance(node) != FAR
    }

    /// Returns the number of links to the nearest root, or [`FAR`].
    pub(super) fn distance(&self, node: u32) -> u32 {
        self.reached[node as usize].distance
    }

    /// Returns the last node before a node; `None` for roots and for nodes that are not reached.
    pub(super) fn parent(&self, node: u32) -> Option<u32> {
        Some(self.reached[node as usize].parent).filter(|parent| *parent != FAR)
    }

    /// Returns the last link on the path to a node; `None` as above.
    pub(super) fn link(&self, node: u32) -> Option<u32> {
        Some(self.reached[node as usize].link).filter(|link| *link != FAR)
    }

    /// Returns the links of the tree, in no order.
    pub(super) fn links(&self) -> impl Iterator<Item = u32> {
        self.order.iter().filter_map(|node| self.link(*node))
    }
}

/// The parts into which working links divide nodes.
///
/// A part has transit nodes that reach each other, and the end devices at them: one with links to several parts is in each. An end
/// device without a link to a transit node is a part alone.
#[derive(Debug)]
pub(super) struct Parts {
    /// The nodes of each part.
    pub(super) parts: Vec<Vec<u32>>,
}

impl Parts {
    /// Finds the parts that have one of these nodes.
    pub(super) fn of(index: &PathIndex, nodes: impl Iterator<Item = u32> + Clone, removal: &Removal) -> Self {
        // The last part in which each node was found, from 1 on.
        let mut found_in = vec![0_u32; index.nodes.len()];
        let mut parts: Vec<Vec<u32>> = Vec::new();
        let mut steps = 0;
        let nodes = nodes.filter(|node| !removal.has_node(*node));
        for node in nodes.clone().filter(|node| index.is_transit(*node)) {
            if found_in[node as usize] != 0 {
                continue;
            }
            let number = u32::try_from(parts.len() + 1).unwrap_or(FAR);
            found_in[node as usize] = number;
            let mut part = vec![node];
            let mut next = 0;
            while let Some(node) = part.get(next).copied() {
                next += 1;
                if next.is_multiple_of(STEPS_PER_TURN) {
                    yield_turn();
                }
                if !index.is_transit(node) {
                    continue;
                }
                steps += index.steps(node).len();
                for step in index.working_steps(node, removal) {
                    if std::mem::replace(&mut found_in[step.node as usize], number) != number {
                        part.push(step.node);
                    }
                }
            }
            parts.push(part);
        }
        let is_alone = |node: &u32| {
            let is_end = found_in[*node as usize] == 0 && !index.is_transit(*node);
            is_end && !index.working_steps(*node, removal).any(|step| index.is_transit(step.node))
        };
        let alone = nodes.filter(is_alone);
        parts.extend(alone.map(|node| vec![node]));
        index.count_steps(steps as u64);
        Self { parts }
    }
}
