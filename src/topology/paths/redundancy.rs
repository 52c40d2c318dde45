//! Nodes that are still reached whichever single link fails: no bridge leads to them (R. E. Tarjan: A note on finding the bridges of a
//! graph, 1974). Without recursion.

use super::flood::{FAR, Removal};
use super::index::{PathIndex, PathStep};
use crate::fair_threads::yield_turn;

/// The number of nodes between two turns of other work.
const NODES_PER_TURN: usize = 4_096;

/// No link is needed to reach a node.
const NONE: u32 = FAR;

/// Returns whether each node is reached from the roots, and no single link is needed for that. The roots are connected with each other
/// beside the network.
pub(super) fn redundant_nodes(index: &PathIndex, roots: &[u32], removal: &Removal) -> Vec<bool> {
    let count = index.nodes.len();
    let mut search = Search {
        index,
        removal,
        is_root: vec![false; count],
        visits: vec![NOT_VISITED; count],
        order: Vec::new(),
        steps: 0,
    };
    let roots = roots.iter().copied().filter(|root| !removal.has_node(*root));
    roots.clone().for_each(|root| search.is_root[root as usize] = true);
    for root in roots {
        if search.visits[root as usize].number == 0 {
            search.part(root);
        }
    }
    search.find_bridges();
    let redundant = (0..).take(count).map(|node| search.is_redundant(node)).collect();
    index.count_steps(search.steps as u64);
    redundant
}

/// The state of a node in the search.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// The place in the order of visits, from 1 on; 0 for a node that was not visited.
    number: u32,
    /// The first visit that is reached from here and below, but for the link by which the search came; 0 stands for all roots.
    low: u32,
    /// The node and the link by which the search came.
    parent: PathStep,
    /// Of the links that are needed to reach the node, the one next to the root, or [`NONE`].
    bridge: u32,
}

const NOT_VISITED: Visit =
    Visit { number: 0, low: 0, parent: PathStep { node: FAR, link: FAR }, bridge: NONE };

/// A search in depth over the nodes that forward, and the roots. End devices connect nothing.
struct Search<'i> {
    index: &'i PathIndex,
    removal: &'i Removal,
    is_root: Vec<bool>,
    visits: Vec<Visit>,
    /// The nodes in the order of visits.
    order: Vec<u32>,
    steps: usize,
}

impl<'i> Search<'i> {
    /// Returns whether frames and packets pass through a node, or begin there.
    fn forwards(&self, node: u32) -> bool {
        self.index.is_transit(node) || self.is_root[node as usize]
    }

    /// Visits a node, and returns the steps from there.
    fn visit(&mut self, node: u32, parent: PathStep) -> impl Iterator<Item = PathStep> + use<'i> {
        self.order.push(node);
        let number = u32::try_from(self.order.len()).unwrap_or(FAR);
        let low = if self.is_root[node as usize] { 0 } else { number };
        self.visits[node as usize] = Visit { number, low, parent, bridge: NONE };
        self.steps += self.index.steps(node).len();
        if self.order.len().is_multiple_of(NODES_PER_TURN) {
            yield_turn();
        }
        self.index.working_steps(node, self.removal)
    }

    /// Visits all nodes that are connected with a root.
    fn part(&mut self, root: u32) {
        let steps = self.visit(root, NOT_VISITED.parent);
        let mut stack = vec![(root, NOT_VISITED.parent, steps)];
        while let Some((node, parent, steps)) = stack.last_mut() {
            let Some(step) = steps.next() else {
                let low = self.visits[*node as usize].low;
                if parent.node != FAR {
                    let above = &mut self.visits[parent.node as usize].low;
                    *above = low.min(*above);
                }
                stack.pop();
                continue;
            };
            let reached = self.visits[step.node as usize].number;
            if reached == 0 {
                if self.forwards(step.node) {
                    let parent = PathStep { node: *node, link: step.link };
                    let steps = self.visit(step.node, parent);
                    stack.push((step.node, parent, steps));
                }
            } else if step.link != parent.link {
                let low = &mut self.visits[*node as usize].low;
                *low = reached.min(*low);
            }
        }
    }

    /// Finds the links that are needed to reach each node.
    fn find_bridges(&mut self) {
        for node in &self.order {
            let Visit { low, parent, .. } = self.visits[*node as usize];
            if parent.node == FAR {
                continue;
            }
            let above = self.visits[parent.node as usize];
            let is_bridge = low > above.number && !self.index.link(parent.link).is_redundant;
            self.visits[*node as usize].bridge =
                if above.bridge == NONE && is_bridge { parent.link } else { above.bridge };
        }
    }

    fn is_redundant(&mut self, node: u32) -> bool {
        let visit = self.visits[node as usize];
        if visit.number != 0 || self.forwards(node) {
            return visit.number != 0 && visit.bridge == NONE;
        }
        self.is_end_redundant(node)
    }

    /// Returns whether an end device is redundant: one link of several is enough, if not all of them need the same one above.
    fn is_end_redundant(&mut self, device: u32) -> bool {
        if self.removal.has_node(device) {
            return false;
        }
        self.steps += self.index.steps(device).len();
        let steps = self.index.working_steps(device, self.removal);
        let mut reached = steps.filter(|step| self.visits[step.node as usize].number != 0);
        let Some(first) = reached.next() else { return false };
        let bridge = |step: &PathStep| self.visits[step.node as usize].bridge;
        let needed = bridge(&first);
        let mut others = reached.map(|step| bridge(&step)).peekable();
        if others.peek().is_none() {
            return needed == NONE && self.index.link(first.link).is_redundant;
        }
        needed == NONE || others.any(|other| other != needed)
    }
}
