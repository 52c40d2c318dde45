//! Nodes that are still reached whichever single link fails: no bridge leads to them.
//!
//! Each link beside the tree of shortest paths closes a cycle with it. The nodes of cycles that touch are one set, and a link of the tree
//! between two sets is a bridge. A node has its place in the breadth-first search as its number, so that the least of a set is the nearest
//! to the roots. A depth-first search finds the same, but returns to each node when its links are no longer in the caches of the processor.

use super::flood::{FAR, Removal, Tree};
use super::index::{PathIndex, PathStep};
use crate::fair_threads::yield_turn;
use crate::union_find::UnionFind;

/// The number of steps between two turns of other work.
const STEPS_PER_TURN: usize = 16_384;

/// No link is needed to reach a node.
const NONE: u32 = FAR;

/// The rank that stands for all roots, which are connected with each other beside the network.
const ROOTS: usize = 0;

/// Returns whether the tree reaches each node, and no single link is needed for that. `removal` is that of the tree.
pub(super) fn redundant_nodes(index: &PathIndex, tree: &Tree, removal: &Removal) -> Vec<bool> {
    let mut ranks = vec![FAR; index.nodes.len()];
    for (node, rank) in tree.order.iter().zip(1..) {
        // Frames and packets begin at a root, whatever it is.
        if index.is_transit(*node) || tree.distance(*node) == 0 {
            ranks[*node as usize] = rank;
        }
    }
    let mut cycles = Cycles {
        index,
        tree,
        removal,
        ranks,
        sets: UnionFind::new(tree.order.len() + 1),
        bridges: vec![NONE; tree.order.len() + 1],
        steps: 0,
    };
    cycles.find();
    cycles.find_bridges();
    let mut redundant = vec![false; index.nodes.len()];
    for node in &tree.order {
        redundant[*node as usize] = cycles.is_redundant(*node);
    }
    index.count_steps(cycles.steps as u64);
    redundant
}

/// The cycles of the nodes that forward, and the roots. End devices connect nothing.
struct Cycles<'i> {
    index: &'i PathIndex,
    tree: &'i Tree,
    removal: &'i Removal,
    /// The place in the search, from 1 on, of each node that is reached and forwards; [`FAR`] for all others.
    ranks: Vec<u32>,
    /// The ranks of nodes that cycles join.
    sets: UnionFind,
    /// The bridge nearest to the roots on the path to each rank, or [`NONE`].
    bridges: Vec<u32>,
    steps: usize,
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

    fn working_steps(&mut self, node: u32) -> impl Iterator<Item = PathStep> + use<'i> {
        let turns = self.steps / STEPS_PER_TURN;
        self.steps += self.index.steps(node).len();
        if self.steps / STEPS_PER_TURN > turns {
            yield_turn();
        }
        self.index.working_steps(node, self.removal)
    }

    /// Joins the nodes of each cycle.
    fn find(&mut self) {
        let tree = self.tree;
        for node in &tree.order {
            let Some(rank) = self.rank(*node) else { continue };
            if tree.distance(*node) == 0 {
                self.sets.join(rank, ROOTS);
            }
            let above = tree.link(*node);
            for step in self.working_steps(*node) {
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

    /// Finds the links that are needed to reach each node that forwards.
    fn find_bridges(&mut self) {
        for (place, node) in self.tree.order.iter().enumerate() {
            if place.is_multiple_of(STEPS_PER_TURN) {
                yield_turn();
            }
            let Some(rank) = self.rank(*node) else { continue };
            let nearest = self.sets.find(rank);
            self.bridges[rank] = if nearest < rank {
                self.bridges[nearest]
            } else {
                match self.bridges[self.rank_above(rank)] {
                    NONE => self.tree.link(*node).filter(|link| !self.is_doubled(*link)).unwrap_or(NONE),
                    bridge => bridge,
                }
            };
        }
    }

    /// Returns whether two physical links or more are up.
    fn is_doubled(&self, link: u32) -> bool {
        self.index.link(link).is_redundant
    }

    fn is_redundant(&mut self, node: u32) -> bool {
        match self.rank(node) {
            Some(rank) => self.bridges[rank] == NONE,
            None => self.is_end_redundant(node),
        }
    }

    /// Returns whether an end device is redundant: one link of several is enough, if not all of them need the same one above.
    fn is_end_redundant(&mut self, device: u32) -> bool {
        let steps = self.working_steps(device);
        let mut reached = steps.filter_map(|step| Some((step.link, self.bridges[self.rank(step.node)?])));
        let Some((link, needed)) = reached.next() else { return false };
        let mut others = reached.map(|(_, bridge)| bridge).peekable();
        if others.peek().is_none() {
            return needed == NONE && self.is_doubled(link);
        }
        needed == NONE || others.any(|other| other != needed)
    }
}
