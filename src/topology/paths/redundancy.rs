//! The single links that nodes need: without one of them, no way leads to the roots.
//!
//! Each link beside the tree of shortest paths closes a cycle with it. The nodes of cycles that touch are one set, and a link of the tree
//! between two sets is a bridge. So the sets are a tree themselves, and its links on the way to a set are those that its nodes need.
//!
//! A node has its place in the breadth-first search as its number, so that the least of a set is the nearest to the roots. A depth-first
//! search finds the same, but returns to each node when its links are no longer in the caches of the processor.

use super::flood::{CountedSteps, FAR, Removal, Tree};
use super::index::PathIndex;
use crate::fair_threads::yield_turn;
use crate::union_find::UnionFind;

/// The number of nodes between two turns of other work.
const NODES_PER_TURN: usize = 16_384;

/// The rank that stands for all roots, which are connected with each other beside the network.
const ROOTS: usize = 0;

/// No single link is needed.
const NONE: u32 = FAR;

/// Returns the nearest of the single links that each node needs, or [`NONE`]. `removal` is that of the tree.
///
/// A failure never makes a link superfluous. So a node has lost redundancy if its nearest link is another one than before, and nodes
/// that are only behind such a node have not.
pub(super) fn needed_links(index: &PathIndex, tree: &Tree, removal: &Removal) -> Vec<u32> {
    let mut ranks = vec![FAR; index.nodes.len()];
    for (node, rank) in tree.order.iter().zip(1..) {
        // Frames and packets begin at a root, whatever it is.
        if index.is_transit(*node) || tree.distance(*node) == 0 {
            ranks[*node as usize] = rank;
        }
    }
    let sets = UnionFind::new(tree.order.len() + 1);
    let mut cycles = Cycles { index, tree, removal, ranks, sets, steps: CountedSteps::default() };
    cycles.find();
    let bridges = cycles.bridges();
    let mut needed = vec![NONE; index.nodes.len()];
    for node in &tree.order {
        needed[*node as usize] = cycles.needed(*node, &bridges);
    }
    index.count_steps(cycles.steps.0 as u64);
    needed
}

/// The cycles of the nodes that forward, and the roots. End devices connect nothing.
struct Cycles<'i> {
    index: &'i PathIndex,
    tree: &'i Tree,
    removal: &'i Removal,
    /// The place in the search, from 1 on, of each node that is reached and forwards; [`FAR`] for all others.
    ranks: Vec<u32>,
    /// The ranks of nodes that cycles and doubled links join.
    sets: UnionFind,
    steps: CountedSteps,
}

impl<'i> Cycles<'i> {
    /// Returns the rank of a node that is reached and forwards.
    fn rank(&self, node: u32) -> Option<usize> {
        match self.ranks[node as usize] {
            FAR => None,
            rank => Some(rank as usize),
        }
    }

    /// Returns the rank of the node before one of the tree.
    fn rank_above(&self, rank: usize) -> usize {
        let parent = self.tree.parent(self.tree.order[rank - 1]);
        parent.map_or(ROOTS, |parent| self.ranks[parent as usize] as usize)
    }

    /// Joins the nodes of each cycle, and those of each link that does not fail alone.
    fn find(&mut self) {
        let tree = self.tree;
        for node in &tree.order {
            let Some(rank) = self.rank(*node) else { continue };
            if tree.distance(*node) == 0 {
                self.sets.join(rank, ROOTS);
            }
            let above = tree.link(*node);
            if above.is_some_and(|link| self.is_doubled(link)) {
                self.sets.join(rank, self.rank_above(rank));
            }
            for step in self.steps.working(self.index, *node, self.removal) {
                // Each link once, when its farther end is looked at.
                if let Some(nearer) = self.rank(step.node).filter(|other| *other < rank)
                    && above != Some(step.link)
                {
                    self.close(rank, nearer);
                }
            }
        }
    }

    /// Joins the nodes of the cycle that a link between two of them closes with the tree.
    fn close(&mut self, one: usize, other: usize) {
        let (mut one, mut other) = (self.sets.find(one), self.sets.find(other));
        while one != other {
            // The set of the higher rank cannot contain an ancestor of the other one, so the search goes up from it.
            let far = one.max(other);
            self.sets.join(far, self.rank_above(far));
            (one, other) = (self.sets.find(far), one.min(other));
        }
    }

    /// Returns the tree of the sets.
    fn bridges(&mut self) -> BridgeTree {
        let mut bridges = BridgeTree::new(self.tree.order.len() + 1);
        for (place, node) in self.tree.order.iter().enumerate() {
            if place.is_multiple_of(NODES_PER_TURN) {
                yield_turn();
            }
            if let Some(rank) = self.rank(*node).filter(|rank| self.sets.find(*rank) == *rank) {
                let above = self.sets.find(self.rank_above(rank));
                bridges.add(rank, above, self.tree.link(*node).unwrap_or(NONE));
            }
        }
        bridges
    }

    /// Returns whether two physical links or more are up.
    fn is_doubled(&self, link: u32) -> bool {
        self.index.link(link).is_redundant
    }

    fn needed(&mut self, node: u32, bridges: &BridgeTree) -> u32 {
        match self.rank(node) {
            Some(rank) => bridges.links[self.sets.find(rank)],
            None => self.needed_by_end(node, bridges),
        }
    }

    /// Returns the nearest link that an end device needs. One of several of its own is enough, and what it needs is above all of them.
    fn needed_by_end(&mut self, device: u32, bridges: &BridgeTree) -> u32 {
        let (mut own, mut common) = (None, None);
        for step in self.steps.working(self.index, device, self.removal) {
            let Some(set) = self.rank(step.node).map(|rank| self.sets.find(rank)) else { continue };
            own = if common.is_none() { Some(step.link) } else { None };
            common = Some(common.map_or(set, |common| bridges.common(common, set)));
        }
        let single = own.filter(|link| !self.is_doubled(*link));
        single.or_else(|| Some(bridges.links[common?])).unwrap_or(NONE)
    }
}

/// The sets of nodes that no single link separates, each below the one that its bridge leads to.
struct BridgeTree {
    /// The bridge of each set.
    links: Vec<u32>,
    depths: Vec<u32>,
    parents: Vec<u32>,
    /// A set farther above each one, so that searches take logarithmic time (E. W. Myers: An Applicative Random-Access Stack, 1983).
    jumps: Vec<u32>,
}

impl BridgeTree {
    /// Creates a tree of the set of all roots.
    fn new(ranks: usize) -> Self {
        Self {
            links: vec![NONE; ranks],
            depths: vec![0; ranks],
            parents: vec![0; ranks],
            jumps: vec![0; ranks],
        }
    }

    /// Adds a set below another one that has been added before.
    fn add(&mut self, set: usize, parent: usize, link: u32) {
        let jump = self.jumps[parent] as usize;
        let next = self.jumps[jump] as usize;
        let is_even = self.depths[parent] - self.depths[jump] == self.depths[jump] - self.depths[next];
        self.jumps[set] = if is_even { next } else { parent } as u32;
        (self.links[set], self.parents[set]) = (link, parent as u32);
        self.depths[set] = self.depths[parent] + 1;
    }

    /// Returns the lowest set that is above both sets, or one of them.
    fn common(&self, mut one: usize, mut other: usize) -> usize {
        if self.depths[one] < self.depths[other] {
            (one, other) = (other, one);
        }
        while self.depths[one] > self.depths[other] {
            let jump = self.jumps[one] as usize;
            one = if self.depths[jump] >= self.depths[other] { jump } else { self.parents[one] as usize };
        }
        while one != other {
            let jumps = [self.jumps[one] as usize, self.jumps[other] as usize];
            [one, other] = if jumps[0] == jumps[1] {
                [self.parents[one] as usize, self.parents[other] as usize]
            } else {
                jumps
            };
        }
        one
    }
}
