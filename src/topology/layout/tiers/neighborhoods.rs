//! Nodes that have the same neighbors, or almost.
//!
//! A missing link must not tear a spine from the others of its fabric, so neighborhoods need not be equal: four fifths
//! of the neighbors in common suffice, and two thirds for two nodes that are connected with each other. Leaves do not
//! count, and neither do branches that hang at one of the nodes alone, such as a site with one link to one of two hubs.

mod similarity;

use std::collections::{BTreeMap, BTreeSet};

use self::similarity::SharedPart;
use super::world::World;
use super::{LOWEST_ACCESS_POINT, LOWEST_SWITCH};
use crate::topology::layout::containers::Level;
use crate::topology::layout::network::SimpleGraph;
use crate::union_find::UnionFind;

/// The work allowed to compare neighborhoods, in steps through lists of neighbors.
const BUDGET: usize = 4_000_000;

/// The part of their neighbors that nodes of a class share.
const CLASS: (usize, usize) = (4, 5);
/// The part of their neighbors that two nodes share which are connected with each other.
const PAIR: (usize, usize) = (2, 3);

/// The part of their neighbors that two nodes share whose other neighbors are of the same classes.
const OF_CLASSES: (usize, usize) = (1, 2);

/// The number of other neighbors from which on branches do not count.
const MIN_COMPARED: usize = 3;

/// Maximum number of neighbors of each of two nodes that are compared with those of the other.
const MAX_OPPOSITE: usize = 8;

/// Maximum number of pairs one after another that are joined because they are beside a known one.
const MAX_RUNGS: usize = 24;

/// Whether a node is a container, and whether it is apart from others with its neighbors. Similar nodes are equal in both.
type Apartness = (bool, bool);

/// Joins the inner nodes with similar neighbors.
pub(super) fn similar_nodes(level: &Level, is_inner: &[bool], world: &World) -> UnionFind {
    let neighborhoods = Neighborhoods::new(&level.network, is_inner);
    let is_below = neighborhoods.devices_beside_switches(level);
    // Of switches that hang at the same one, that with the way out is apart.
    let leads_out = |node: usize| {
        let mut around = level.network.neighbors(node).iter();
        neighborhoods.inner[node].len() == 1 && around.any(|leaf| !is_inner[*leaf] && world.contains(*leaf))
    };
    let is_apart =
        |node: usize| (world.is_certain && world.contains(node)) || is_below[node] || leads_out(node);
    let kind = |node: usize| (level.is_container[node], is_apart(node));
    let mut sets = UnionFind::new(level.network.len());
    neighborhoods.join_equal(&mut sets, kind);
    let mut budget = BUDGET;
    neighborhoods.join_pairs(level, &mut sets, kind, &mut budget);
    neighborhoods.join_similar(&mut sets, kind, &mut budget);
    neighborhoods.join_beside_classes(&mut sets, kind, &mut budget);
    neighborhoods.join_beside_pairs(&mut sets, kind);
    sets
}

/// Keeps the items for which something holds, if there are any, and else all.
fn keep_some<T>(items: &mut Vec<T>, holds: impl Fn(&T) -> bool) {
    if items.iter().any(&holds) {
        items.retain(holds);
    }
}

/// The inner neighbors of each inner node, sorted.
#[derive(Debug)]
struct Neighborhoods<'a> {
    network: &'a SimpleGraph,
    inner: Vec<Vec<usize>>,
    /// The inner neighbors that count when nodes are compared.
    compared: Vec<Vec<usize>>,
}

impl<'a> Neighborhoods<'a> {
    fn new(network: &'a SimpleGraph, is_inner: &[bool]) -> Self {
        let inner_neighbors = |node: usize| -> Vec<usize> {
            let neighbors = network.neighbors(node).iter().copied();
            neighbors.filter(|neighbor| is_inner[node] && is_inner[*neighbor]).collect()
        };
        let inner: Vec<Vec<usize>> = (0..network.len()).map(inner_neighbors).collect();
        let degrees = network.degrees_in_cycles();
        let compared = |neighbors: &Vec<usize>| -> Vec<usize> {
            let others = neighbors.iter().copied().filter(|other| degrees[*other] > 0);
            if others.clone().count() < MIN_COMPARED { neighbors.clone() } else { others.collect() }
        };
        Self { network, compared: inner.iter().map(compared).collect(), inner }
    }

    /// Returns whether each node is an end device with the neighbors of a switch, and this has leaves and the device has none. A server
    /// with links to both switches of a pair has those of the switch above them.
    fn devices_beside_switches(&self, level: &Level) -> Vec<bool> {
        let has_leaves = |node: usize| self.network.degree(node) > self.inner[node].len();
        let rank = |node: usize| level.ranks[node].filter(|_| !self.compared[node].is_empty());
        let nodes = || 0..self.network.len();
        let switches: BTreeSet<&[usize]> = nodes()
            .filter(|node| has_leaves(*node) && rank(*node).is_some_and(|rank| rank <= LOWEST_SWITCH))
            .map(|node| self.compared[node].as_slice())
            .collect();
        let is_device =
            |node: usize| !has_leaves(node) && rank(node).is_some_and(|rank| rank > LOWEST_ACCESS_POINT);
        nodes().map(|node| is_device(node) && switches.contains(self.compared[node].as_slice())).collect()
    }

    /// Joins nodes with equal neighbors.
    fn join_equal(&self, sets: &mut UnionFind, kind: impl Fn(usize) -> Apartness) {
        let mut equal: BTreeMap<(Apartness, &[usize]), usize> = BTreeMap::new();
        for (node, neighbors) in self.compared.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            crate::fair_threads::yield_turn();
            let first = *equal.entry((kind(node), neighbors)).or_insert(node);
            sets.join(first, node);
        }
    }

    /// Joins two adjacent nodes that share their other neighbors, such as the two switches of a core.
    ///
    /// Three nodes that are all adjacent and alike make no pair, unless two of them alone have leaves or the same role, or share more
    /// neighbors than others do.
    fn join_pairs(
        &self,
        level: &Level,
        sets: &mut UnionFind,
        kind: impl Fn(usize) -> Apartness,
        budget: &mut usize,
    ) {
        let mut partners: BTreeMap<usize, Vec<(usize, SharedPart)>> = BTreeMap::new();
        for (node, neighbors) in self.inner.iter().enumerate() {
            crate::fair_threads::yield_turn();
            for other in neighbors.iter().copied().filter(|other| *other > node && kind(node) == kind(*other))
            {
                if let Some(shared) = self.shared(node, other, PAIR, budget) {
                    partners.entry(node).or_default().push((other, shared));
                    partners.entry(other).or_default().push((node, shared));
                }
            }
        }
        let has_leaves = |node: usize| self.network.degree(node) > self.inner[node].len();
        let partner = |node: usize| {
            let mut left = partners.get(&node)?.clone();
            let best = left.iter().map(|(_, shared)| *shared).max()?;
            keep_some(&mut left, |(other, _)| has_leaves(*other) == has_leaves(node));
            if left.iter().all(|(other, _)| level.ranks[*other].is_some()) {
                keep_some(&mut left, |(other, _)| level.ranks[*other] == level.ranks[node]);
            }
            keep_some(&mut left, |(_, shared)| *shared == best);
            if let [(only, _)] = *left { Some(only) } else { None }
        };
        for node in partners.keys().copied() {
            if let Some(other) = partner(node).filter(|other| partner(*other) == Some(node)) {
                sets.join(node, other);
            }
        }
    }

    /// Joins nodes that are not adjacent and share most neighbors. Of the neighbors of each node, those with similar
    /// numbers of neighbors are compared.
    fn join_similar(&self, sets: &mut UnionFind, kind: impl Fn(usize) -> Apartness, budget: &mut usize) {
        let mut compared = BTreeSet::new();
        for neighbors in &self.inner {
            crate::fair_threads::yield_turn();
            let mut classes: Vec<(usize, usize)> = neighbors
                .iter()
                .map(|node| (usize::MAX - self.inner[*node].len(), sets.find(*node)))
                .collect();
            classes.sort_unstable();
            classes.dedup();
            for pair in classes.windows(2) {
                let [(_, one), (_, other)] = *pair else { continue };
                let is_new = one != other && compared.insert((one, other));
                if is_new
                    && kind(one) == kind(other)
                    && self.inner[one].binary_search(&other).is_err()
                    && self.are_similar(one, other, CLASS, budget)
                {
                    sets.join(one, other);
                }
            }
            if *budget == 0 {
                return;
            }
        }
    }

    /// Joins nodes with neighbors of the same classes, of which they share half: each router of a pair has a link to another one of a
    /// further pair.
    fn join_beside_classes(
        &self,
        sets: &mut UnionFind,
        kind: impl Fn(usize) -> Apartness,
        budget: &mut usize,
    ) {
        let mut first_of: BTreeMap<(Apartness, Vec<usize>), usize> = BTreeMap::new();
        let mut joined = Vec::new();
        for (node, neighbors) in
            self.compared.iter().enumerate().filter(|(_, list)| list.len() >= MIN_COMPARED)
        {
            crate::fair_threads::yield_turn();
            let mut classes: Vec<usize> = neighbors.iter().map(|other| sets.find(*other)).collect();
            classes.sort_unstable();
            classes.dedup();
            let first = *first_of.entry((kind(node), classes)).or_insert(node);
            let is_new = first != node && self.inner[first].binary_search(&node).is_err();
            if is_new && self.are_similar(first, node, OF_CLASSES, budget) {
                joined.push((first, node));
            }
        }
        joined.into_iter().for_each(|(first, node)| sets.join(first, node));
    }

    /// Joins two adjacent nodes each of which has a link to another member of the same class, as the switches of a data center below two
    /// hubs do, and the firewalls above two switches. These are a pair for the nodes beyond them in turn.
    fn join_beside_pairs(&self, sets: &mut UnionFind, kind: impl Fn(usize) -> Apartness) {
        let is_small = |node: usize| self.compared[node].len() <= MAX_OPPOSITE;
        for _ in 0..MAX_RUNGS {
            crate::fair_threads::yield_turn();
            let mut is_joined = false;
            for (node, neighbors) in self.compared.iter().enumerate().filter(|(node, _)| is_small(*node)) {
                for other in neighbors.iter().copied().filter(|other| *other > node && is_small(*other)) {
                    let is_new = sets.find(node) != sets.find(other) && kind(node) == kind(other);
                    if is_new
                        && (self.are_below_a_pair(sets, node, other) || self.are_a_rung(sets, node, other))
                    {
                        sets.join(node, other);
                        is_joined = true;
                    }
                }
            }
            if !is_joined {
                return;
            }
        }
    }

    /// Returns whether all other neighbors of two nodes are of one class.
    fn are_below_a_pair(&self, sets: &mut UnionFind, node: usize, other: usize) -> bool {
        let mut above = |node: usize, beside: usize| -> BTreeSet<usize> {
            let others = self.compared[node].iter().filter(|other| **other != beside);
            others.map(|other| sets.find(*other)).collect()
        };
        let classes = above(node, other);
        let is_one = classes.len() == 1 && classes == above(other, node);
        is_one && !classes.contains(&sets.find(node))
    }

    /// Returns whether the other neighbors of two adjacent nodes are pairs: of one class, or adjacent to each other. Some are of one
    /// class, without which any square of a mesh would be meant.
    fn are_a_rung(&self, sets: &mut UnionFind, node: usize, other: usize) -> bool {
        let beside =
            |node: usize, other: usize| self.compared[node].iter().copied().filter(move |at| *at != other);
        let mut opposite: Vec<usize> = beside(other, node).collect();
        let mut has_pair = false;
        for one in beside(node, other) {
            let of_class = opposite.iter().position(|at| *at != one && sets.find(*at) == sets.find(one));
            has_pair |= of_class.is_some();
            let are_adjacent = |at: &usize| self.inner[one].binary_search(at).is_ok();
            let Some(place) = of_class.or_else(|| opposite.iter().position(are_adjacent)) else {
                return false;
            };
            opposite.swap_remove(place);
        }
        has_pair && opposite.is_empty()
    }
}
