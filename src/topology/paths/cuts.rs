//! Articulation points and bridges (R. E. Tarjan: A note on finding the bridges of a graph, 1974), without recursion.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::flood::{FAR, NO_REMOVAL};
use super::index::{PathIndex, PathStep};
use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;

/// The number of nodes between two turns of other work.
const NODES_PER_TURN: usize = 2_048;

/// The nodes and links whose loss divides the network. Those with more devices behind them come first.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// The articulation points, and the number of devices that lose the top by each.
    pub(super) nodes: Vec<(u32, u32)>,
    pub(super) bridges: Vec<BridgeLink>,
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
    pub(super) fn of(index: &PathIndex, roots: &[u32]) -> Self {
        let count = index.nodes.len();
        let mut search = Search {
            index,
            visits: vec![Visit::default(); count],
            is_root: vec![false; count],
            steps: 0,
            order: Vec::with_capacity(count),
            shared: Vec::new(),
            beside: BTreeMap::new(),
            cuts: Self::default(),
        };
        roots.iter().for_each(|root| search.is_root[*root as usize] = true);
        let mut parts: Vec<Range<usize>> = Vec::new();
        for root in roots.iter().copied() {
            if search.visits[root as usize].number == 0 {
                let start = search.order.len();
                search.part(root);
                parts.push(start..search.order.len());
            }
        }
        search.attach_shared();
        parts.into_iter().for_each(|part| search.sum_up(part));
        search.collect();
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
    /// The least number of a node here and below that forwards, or of the only node.
    first: u32,
    /// The link and the node by which the search came. Of an end device in no tree, the node is the one to which it is attached.
    parent: PathStep,
    /// The number of steps from the root of the part, and a node above to which a search can jump.
    depth: u32,
    jump: u32,
    /// Whether the node is an articulation point.
    is_cut: bool,
    /// Whether the node is an end device with several neighbors, which is in no tree of the search.
    is_shared: bool,
}

impl Default for Visit {
    fn default() -> Self {
        Self {
            number: 0,
            low: 0,
            low_with_top: 0,
            devices: 0,
            behind: 0,
            first: FAR,
            parent: PathStep { node: FAR, link: FAR },
            depth: 0,
            jump: FAR,
            is_cut: false,
            is_shared: false,
        }
    }
}

/// The end devices that are next to a child of a root, or to nodes below it, and next to others.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    /// The number of devices with all neighbors in the tree of the root.
    devices: u32,
    /// The number of devices that are also next to other trees.
    foreign: u32,
}

/// The search of Tarjan over the nodes that forward, and over end devices with a single neighbor among these.
///
/// End devices with several neighbors connect nothing, and are lost only with all of their neighbors. They are attached to the trees
/// of the search when these are known, at the lowest node above all of their neighbors: all of their ways to the top lead over the
/// same single nodes and links as those of this node.
struct Search<'i> {
    index: &'i PathIndex,
    visits: Vec<Visit>,
    is_root: Vec<bool>,
    /// The number of steps from the nodes that were visited.
    steps: usize,
    /// The nodes in the order of visits, part by part.
    order: Vec<u32>,
    /// The end devices with several neighbors.
    shared: Vec<u32>,
    /// The end devices next to a child of a root, or to nodes below it, and next to others.
    beside: BTreeMap<u32, Beside>,
    cuts: Cuts,
}

impl<'i> Search<'i> {
    fn visit(&mut self, node: u32, parent: PathStep) {
        self.steps += self.index.steps(node).len();
        self.order.push(node);
        let number = u32::try_from(self.order.len()).unwrap_or(FAR);
        let above = self.visits.get(parent.node as usize).copied();
        let is_first = self.forwards(node) || above.is_some_and(|above| above.depth == 0);
        let (depth, jump) =
            above.map_or((0, node), |above| (above.depth + 1, self.jump_below(parent.node, above)));
        self.visits[node as usize] = Visit {
            number,
            low: number,
            low_with_top: if self.is_root[node as usize] { 0 } else { number },
            devices: u32::from(self.index.node(node).is_device()),
            first: if is_first { node } else { FAR },
            parent,
            depth,
            jump,
            ..Visit::default()
        };
        if self.order.len().is_multiple_of(NODES_PER_TURN) {
            yield_turn();
        }
    }

    /// Returns where a child of a node jumps to: such that each node above is found in a logarithmic number of jumps (E. Myers, 1983).
    fn jump_below(&self, node: u32, visit: Visit) -> u32 {
        let next = self.visits[visit.jump as usize];
        if visit.depth - next.depth == next.depth - self.visits[next.jump as usize].depth {
            next.jump
        } else {
            node
        }
    }

    /// Returns whether frames and packets pass through a node, or begin there.
    fn forwards(&self, node: u32) -> bool {
        self.is_root[node as usize] || self.index.is_transit(node)
    }

    /// Returns the steps from a node to nodes of the tree. An end device has one neighbor there.
    fn steps_of(&self, node: u32) -> impl Iterator<Item = PathStep> + use<'i> {
        let only = if self.forwards(node) { FAR } else { self.visits[node as usize].parent.node };
        let steps = self.index.working_steps(node, &NO_REMOVAL);
        steps.filter(move |step| only == FAR || step.node == only)
    }

    /// Returns whether an end device has several neighbors that forward, and notes it.
    fn is_shared(&mut self, node: u32, neighbor: u32) -> bool {
        if self.visits[node as usize].is_shared {
            return true;
        }
        if self.forwards(node) {
            return false;
        }
        self.steps += self.index.steps(node).len();
        let mut others = self.index.working_steps(node, &NO_REMOVAL).filter(|step| step.node != neighbor);
        let is_shared = others.any(|step| self.forwards(step.node));
        if is_shared {
            self.visits[node as usize].is_shared = true;
            self.shared.push(node);
        }
        is_shared
    }

    /// Searches the part of a root.
    fn part(&mut self, root: u32) {
        self.visit(root, PathStep { node: FAR, link: FAR });
        let mut stack = vec![(root, self.steps_of(root))];
        while let Some((node, steps)) = stack.last_mut() {
            let node = *node;
            let Some(step) = steps.next() else {
                stack.pop();
                let Visit { parent, low, low_with_top, .. } = self.visits[node as usize];
                if parent.node != FAR {
                    let above = &mut self.visits[parent.node as usize];
                    above.low = above.low.min(low);
                    above.low_with_top = above.low_with_top.min(low_with_top);
                }
                continue;
            };
            let reached = self.visits[step.node as usize].number;
            if reached != 0 {
                if step.link != self.visits[node as usize].parent.link {
                    let visit = &mut self.visits[node as usize];
                    visit.low = visit.low.min(reached);
                    visit.low_with_top = visit.low_with_top.min(reached);
                }
            } else if !self.is_shared(step.node, node) {
                self.visit(step.node, PathStep { node, link: step.link });
                stack.push((step.node, self.steps_of(step.node)));
            }
        }
    }

    /// Returns the lowest node above a node, or the node itself, whose depth is at most this one.
    fn at_depth(&self, mut node: u32, depth: u32) -> u32 {
        while self.visits[node as usize].depth > depth {
            let visit = &self.visits[node as usize];
            node =
                if self.visits[visit.jump as usize].depth >= depth { visit.jump } else { visit.parent.node };
        }
        node
    }

    /// Returns the lowest node above two nodes of a tree, of which each is above itself.
    fn lowest_above(&self, one: u32, other: u32) -> u32 {
        let depth = self.visits[one as usize].depth.min(self.visits[other as usize].depth);
        let (mut one, mut other) = (self.at_depth(one, depth), self.at_depth(other, depth));
        while one != other {
            let (above, above_other) = (&self.visits[one as usize], &self.visits[other as usize]);
            (one, other) = if above.jump == above_other.jump {
                (above.parent.node, above_other.parent.node)
            } else {
                (above.jump, above_other.jump)
            };
        }
        one
    }

    /// Attaches the end devices with several neighbors to the trees.
    fn attach_shared(&mut self) {
        for device in std::mem::take(&mut self.shared) {
            self.attach(device);
        }
    }

    fn attach(&mut self, device: u32) {
        let is_reached =
            |step: &PathStep| self.visits[step.node as usize].number != 0 && self.forwards(step.node);
        let steps: Vec<PathStep> = self.index.working_steps(device, &NO_REMOVAL).filter(is_reached).collect();
        let number = |step: &&PathStep| self.visits[step.node as usize].number;
        let ends = steps.iter().min_by_key(number).zip(steps.iter().max_by_key(number));
        let Some((first, last)) = ends.map(|(first, last)| (first.node, last.node)) else { return };
        let is_foreign = self.at_depth(first, 0) != self.at_depth(last, 0);
        let place = (!is_foreign).then(|| self.lowest_above(first, last));
        let depth = place.map_or(0, |place| self.visits[place as usize].depth);
        let is_below = |step: &&PathStep| self.visits[step.node as usize].depth > depth;
        let mut children: Vec<u32> =
            steps.iter().filter(is_below).map(|step| self.at_depth(step.node, depth + 1)).collect();
        children.sort_unstable();
        children.dedup();
        let devices = u32::from(self.index.node(device).is_device());
        if depth == 0 {
            for child in &children {
                let beside = self.beside.entry(*child).or_default();
                *(if is_foreign { &mut beside.foreign } else { &mut beside.devices }) += devices;
            }
        }
        // Next to several trees, nothing in one of them is needed to reach it.
        let Some(place) = place else { return };
        self.visits[device as usize].parent.node = place;
        let number = self.visits[place as usize].number;
        let is_lost = children.iter().all(|child| self.visits[*child as usize].low_with_top >= number);
        let visit = &mut self.visits[place as usize];
        visit.devices += devices;
        visit.behind += if is_lost { devices } else { 0 };
    }

    /// Adds up the devices of a part from below, and finds its articulation points and bridges.
    fn sum_up(&mut self, part: Range<usize>) {
        let Some(root) = self.order.get(part.start).copied() else { return };
        let is_only_root =
            self.order[part.clone()].iter().filter(|node| self.is_root[**node as usize]).nth(1).is_none();
        let (mut children, mut largest) = (0_u32, (0_u32, Reverse(FAR), 0_u32));
        for place in part.rev() {
            let node = self.order[place];
            let visit = self.visits[node as usize];
            if visit.parent.node == FAR {
                continue;
            }
            if visit.parent.node == root {
                children += 1;
                let beside = self.beside.get(&node).copied().unwrap_or_default();
                let below = visit.devices + beside.devices;
                let connected = below + beside.foreign;
                // A device without links is connected with nothing.
                let is_end = visit.first != FAR && !self.forwards(visit.first);
                if connected > 1 || (is_end && self.is_linked_without(visit.first, root)) {
                    largest = largest.max((connected, Reverse(visit.first), below));
                }
            }
            self.leave(node, visit.parent);
        }
        let own = u32::from(self.index.node(root).is_device());
        let visit = &mut self.visits[root as usize];
        visit.is_cut = children > 1;
        if is_only_root {
            // Without the only root, the largest remaining part counts as the network, unless it is a device without links.
            visit.behind = visit.devices - own;
            let (_, Reverse(first), below) = largest;
            let end = Some(first).filter(|first| *first != FAR && !self.forwards(*first));
            let linked = end.map_or(0, |end| self.linked_ends(end, root));
            self.visits[root as usize].behind -= below + linked;
        }
    }

    fn is_linked_without(&self, end: u32, root: u32) -> bool {
        self.index.working_steps(end, &NO_REMOVAL).any(|step| step.node != root)
    }

    /// Returns the number of the other end devices in the tree of a root that an end device is directly linked with.
    fn linked_ends(&self, end: u32, root: u32) -> u32 {
        let steps = self.index.working_steps(end, &NO_REMOVAL).map(|step| step.node);
        let is_below = |node: &u32| {
            let above = self.visits[*node as usize].parent.node;
            !self.forwards(*node) && above != FAR && self.at_depth(above, 0) == root
        };
        let linked: BTreeSet<u32> = steps.filter(is_below).collect();
        u32::try_from(linked.len()).ok().asserted_or_default()
    }

    /// Adds the results below a node to its parent.
    fn leave(&mut self, node: u32, parent: PathStep) {
        let child = self.visits[node as usize];
        let link = self.index.link(parent.link);
        let above = &mut self.visits[parent.node as usize];
        above.devices += child.devices;
        above.first = above.first.min(child.first);
        // A root of the search is decided when the part is known.
        above.is_cut |= above.parent.node != FAR && child.low >= above.number;
        if child.low_with_top >= above.number {
            above.behind += child.devices;
        }
        let number = above.number;
        if link.is_redundant {
            return;
        }
        if child.low > number {
            let is_single = self.index.working_steps(node, &NO_REMOVAL).nth(1).is_none();
            let is_of_leaf = is_single && !self.is_root[node as usize];
            let behind = if child.low_with_top > number { child.devices } else { 0 };
            self.cuts.bridges.push(BridgeLink { link: parent.link, behind, is_of_leaf });
        }
    }

    /// Adds the articulation points to the cuts, and sorts these.
    fn collect(&mut self) {
        for node in &self.order {
            let visit = &self.visits[*node as usize];
            if visit.is_cut {
                self.cuts.nodes.push((*node, visit.behind));
            }
        }
        self.cuts.nodes.sort_unstable_by_key(|(node, behind)| (Reverse(*behind), *node));
        self.cuts.bridges.sort_unstable_by_key(|bridge| (Reverse(bridge.behind), bridge.link));
    }
}
