//! Arcs: rings that close at a pair of switches of a network with tiers.
//!
//! The switches of an arc are a class of their own. They stand side by side in the order of the ring, below the switches at
//! which it closes.

use std::collections::BTreeMap;

use super::classes::Classes;
use super::world::World;
use crate::topology::layout::containers::Level;
use crate::union_find::UnionFind;

/// Number of switches from which on an arc is one, and up to which. More side by side make no readable row.
const MIN_ARC: usize = 3;
const MAX_ARC: usize = 24;
/// Number of rings and other parts of the network at two adjacent switches from which on these are a pair.
const PARTS_AT_A_PAIR: usize = 3;

/// Returns the classes, those of arcs among them, and the nodes of each arc in their order. `None` for a network without
/// arcs. Rings that close at a single switch are none: rings that meet at switches are no tiers. Neither are there tiers if
/// most switches are in rings, and no devices hang at them: such a network is a backbone.
pub(super) fn of(
    level: &Level,
    is_inner: &[bool],
    world: &World,
    classes: &Classes,
) -> Option<(Classes, Vec<Vec<usize>>)> {
    let paths = paths(classes);
    let mut sets = UnionFind::new(level.network.len());
    for class in 0..classes.len() {
        sets.join_all(classes.members(class).iter().copied());
    }
    let mut of_class: Vec<usize> = (0..classes.len()).collect();
    let mut is_pair: Vec<bool> = (0..classes.len()).map(|class| classes.members(class).len() > 1).collect();
    for (one, other) in pairs(classes, &paths) {
        sets.join_all(classes.members(one).iter().chain(classes.members(other)).copied());
        of_class[other] = one;
        (is_pair[one], is_pair[other]) = (true, true);
    }
    let is_arc = |path: &&Path| {
        let [one, other] = [path.ends.0, path.ends.1].map(|end| of_class[end]);
        (MIN_ARC..=MAX_ARC).contains(&path.classes.len()) && one == other && is_pair[one]
    };
    let mut rows = Vec::new();
    for arc in paths.iter().filter(is_arc) {
        crate::fair_threads::yield_turn();
        let nodes: Vec<usize> =
            arc.classes.iter().flat_map(|class| classes.members(*class)).copied().collect();
        sets.join_all(nodes.iter().copied());
        rows.push(nodes);
    }
    let in_arcs: usize = rows.iter().map(Vec::len).sum();
    let inner = is_inner.iter().filter(|is_inner| **is_inner).count();
    let has_leaf = |node: &&usize| level.network.neighbors(**node).iter().any(|other| !is_inner[*other]);
    let with_leaves = rows.iter().flatten().filter(has_leaf).count();
    let has_tiers = in_arcs * 2 <= inner || with_leaves * 2 > in_arcs;
    (in_arcs > 0 && has_tiers).then(|| (Classes::from_sets(level, is_inner, world, &mut sets), rows))
}

/// Switches one after another, each of which has no other ways into cycles of the network.
#[derive(Debug)]
struct Path {
    /// The classes before the first switch and after the last one. They are the same for a ring that closes there.
    ends: (usize, usize),
    /// The classes of a single switch each, in their order.
    classes: Vec<usize>,
}

/// Returns the paths of the part of the network that has cycles.
fn paths(classes: &Classes) -> Vec<Path> {
    let graph = classes.graph();
    let degrees = degrees_in_cycles(classes);
    let is_link = |class: usize| degrees[class] == 2 && classes.members(class).len() == 1;
    let beside = |class: usize| graph.neighbors(class).iter().copied().filter(|other| degrees[*other] > 0);
    let mut is_seen = vec![false; classes.len()];
    let mut paths = Vec::new();
    for start in (0..classes.len()).filter(|class| degrees[*class] > 0 && !is_link(*class)) {
        for first in beside(start) {
            let (mut before, mut at) = (start, first);
            let mut path = Vec::new();
            while is_link(at) && !is_seen[at] {
                is_seen[at] = true;
                path.push(at);
                let next = beside(at).find(|next| *next != before).unwrap_or(start);
                (before, at) = (at, next);
            }
            if !path.is_empty() {
                paths.push(Path { ends: (start, at), classes: path });
            }
        }
    }
    paths
}

/// Returns the number of neighbors of each class without branches that are trees. It is 0 for classes of these.
fn degrees_in_cycles(classes: &Classes) -> Vec<usize> {
    let graph = classes.graph();
    let mut degrees: Vec<usize> = (0..graph.len()).map(|class| graph.degree(class)).collect();
    let mut ends: Vec<usize> = (0..graph.len()).filter(|class| degrees[*class] == 1).collect();
    while let Some(end) = ends.pop() {
        degrees[end] = 0;
        for other in graph.neighbors(end) {
            degrees[*other] = degrees[*other].saturating_sub(1);
            if degrees[*other] == 1 {
                ends.push(*other);
            }
        }
    }
    degrees
}

/// Returns the pairs of adjacent switches that several rings and other parts of the network have in common. Each switch is in
/// one pair at most.
fn pairs(classes: &Classes, paths: &[Path]) -> Vec<(usize, usize)> {
    let graph = classes.graph();
    let mut rings: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for Path { ends: (one, other), .. } in paths.iter().filter(|path| path.classes.len() >= MIN_ARC) {
        *rings.entry((*one.min(other), *one.max(other))).or_default() += 1;
    }
    let is_single = |class: usize| classes.members(class).len() == 1;
    let beside = |class: usize| graph.neighbors(class);
    let mut is_taken = vec![false; classes.len()];
    let mut pairs = Vec::new();
    for ((one, other), rings) in rings {
        crate::fair_threads::yield_turn();
        let are_adjacent = beside(one).binary_search(&other).is_ok();
        let are_alike = are_adjacent && is_single(one) && is_single(other);
        if !are_alike || is_taken[one] || is_taken[other] {
            continue;
        }
        let (few, many) = if beside(one).len() < beside(other).len() { (one, other) } else { (other, one) };
        let common = beside(few).iter().filter(|class| beside(many).binary_search(class).is_ok());
        if rings + common.count() >= PARTS_AT_A_PAIR {
            (is_taken[one], is_taken[other]) = (true, true);
            pairs.push((one, other));
        }
    }
    pairs
}
