//! Articulation points and bridges (R. E. Tarjan: A note on finding the bridges of a graph, 1974), without recursion.

use super::flood::{FAR, Removal};
use super::index::{PathIndex, PathStep};
use crate::fair_threads::yield_turn;

/// The number of nodes between two turns of other work.
const NODES_PER_TURN: usize = 2_048;

/// The nodes and links whose loss divides the network.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// The articulation points, and the number of devices that lose the top by each.
    pub(super) nodes: Vec<(u32, u32)>,
    pub(super) bridges: Vec<BridgeLink>,
    /// Whether no single link is needed to reach each node from the top.
    pub(super) is_redundant: Vec<bool>,
}

/// A link whose loss divides the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct BridgeLink {
    pub(super) link: u32,
    /// The number of devices that lose the top.
    pub(super) behind: u32,
    /// Whether it is the only link of a node that is not at the top.
    pub(super) is_of_leaf: bool,
}

impl Cuts {
    /// Finds the cuts of all parts that have one of these roots. The roots are the top.
    pub(super) fn of(index: &PathIndex, roots: &[u32], removal: &Removal) -> Self {
        let count = index.nodes.len();
        let mut search = Search {
            index,
            removal,
            visits: vec![Visit::default(); count],
            is_root: vec![false; count],
            visited: 0,
            steps: 0,
            order: Vec::with_capacity(count),
            cuts: Self { is_redundant: vec![false; count], ..Self::default() },
        };
        let roots = roots.iter().copied().filter(|root| !removal.has_node(*root));
        roots.clone().for_each(|root| search.is_root[root as usize] = true);
        for root in roots {
            if search.visits[root as usize].number == 0 {
                search.part(root);
            }
        }
        index.count_steps(search.steps as u64);
        search.cuts
    }
}

/// The state of a node in the search.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// The place in the order of visits, from 1 on; 0 for a node that was not visited.
    number: u32,
    /// The first visit that is reached from here and below, but for the link by which the search came.
    low: u32,
    /// The same, where all roots are connected with each other beside the network: 0 stands for them.
    low_with_top: u32,
    /// The number of devices here and below.
    devices: u32,
    /// The number of devices that are cut off from the top if the node is removed.
    behind: u32,
    /// The link and the node by which the search came.
    parent: PathStep,
    /// Whether the node is an articulation point.
    is_cut: bool,
    /// Whether the link by which the search came is needed to reach the top.
    is_needed: bool,
}

impl Default for Visit {
    fn default() -> Self {
        Self {
            number: 0,
            low: 0,
            low_with_top: 0,
            devices: 0,
            behind: 0,
            parent: PathStep { node: FAR, link: FAR },
            is_cut: false,
            is_needed: false,
        }
    }
}

struct Search<'i> {
    index: &'i PathIndex,
    removal: &'i Removal,
    visits: Vec<Visit>,
    is_root: Vec<bool>,
    visited: u32,
    /// The number of steps from the nodes that were visited.
    steps: usize,
    /// The nodes of a part in the order of visits.
    order: Vec<u32>,
    cuts: Cuts,
}

impl Search<'_> {
    fn visit(&mut self, node: u32, parent: PathStep) {
        self.visited += 1;
        self.steps += self.index.steps(node).len();
        self.order.push(node);
        let number = self.visited;
        self.visits[node as usize] = Visit {
            number,
            low: number,
            low_with_top: if self.is_root[node as usize] { 0 } else { number },
            devices: u32::from(self.index.node(node).is_device()),
            parent,
            ..Visit::default()
        };
        if self.order.len().is_multiple_of(NODES_PER_TURN) {
            yield_turn();
        }
    }

    /// Searches the part of a root.
    fn part(&mut self, root: u32) {
        self.order.clear();
        self.visit(root, PathStep { node: FAR, link: FAR });
        let mut stack = vec![(root, self.index.working_steps(root, self.removal))];
        // Devices below the root: of all of its children, and of the largest one.
        let (mut children, mut all_below, mut largest_below) = (0_u32, 0_u32, 0_u32);
        while let Some((node, steps)) = stack.last_mut() {
            let node = *node;
            let Some(step) = steps.next() else {
                stack.pop();
                let parent = self.visits[node as usize].parent;
                if parent.node != FAR {
                    self.leave(node, parent);
                }
                if parent.node == root {
                    let below = self.visits[node as usize].devices;
                    (children, all_below) = (children + 1, all_below + below);
                    largest_below = largest_below.max(below);
                }
                continue;
            };
            let reached = self.visits[step.node as usize].number;
            if reached == 0 {
                self.visit(step.node, PathStep { node, link: step.link });
                stack.push((step.node, self.index.working_steps(step.node, self.removal)));
            } else if step.link != self.visits[node as usize].parent.link {
                let visit = &mut self.visits[node as usize];
                visit.low = visit.low.min(reached);
                visit.low_with_top = visit.low_with_top.min(reached);
            }
        }
        let is_only_root = self.order.iter().filter(|node| self.is_root[**node as usize]).nth(1).is_none();
        let visit = &mut self.visits[root as usize];
        visit.is_cut = children > 1;
        if is_only_root {
            // Without the only root, the largest remaining part counts as the network.
            visit.behind = all_below - largest_below;
        }
        self.collect();
    }

    /// Adds the results below a node to its parent.
    fn leave(&mut self, node: u32, parent: PathStep) {
        let child = self.visits[node as usize];
        let link = self.index.link(parent.link);
        let above = &mut self.visits[parent.node as usize];
        above.low = above.low.min(child.low);
        above.low_with_top = above.low_with_top.min(child.low_with_top);
        above.devices += child.devices;
        // A root of the search is decided when the part is known.
        above.is_cut |= above.parent.node != FAR && child.low >= above.number;
        if child.low_with_top >= above.number {
            above.behind += child.devices;
        }
        let number = above.number;
        if link.is_redundant {
            return;
        }
        let is_needed = child.low_with_top > number;
        self.visits[node as usize].is_needed = is_needed;
        if child.low > number {
            let is_single = self.index.working_steps(node, self.removal).nth(1).is_none();
            let is_of_leaf = is_single && !self.is_root[node as usize];
            let behind = if is_needed { child.devices } else { 0 };
            self.cuts.bridges.push(BridgeLink { link: parent.link, behind, is_of_leaf });
        }
    }

    /// Adds the results of a part to the cuts.
    fn collect(&mut self) {
        for node in &self.order {
            let visit = &self.visits[*node as usize];
            if visit.is_cut {
                self.cuts.nodes.push((*node, visit.behind));
            }
            let is_redundant = match visit.parent.node {
                FAR => true,
                parent => self.cuts.is_redundant[parent as usize] && !visit.is_needed,
            };
            self.cuts.is_redundant[*node as usize] = is_redundant;
        }
    }
}
