//! Kinds of classes: those with neighbors of the same kinds.
//!
//! The switches of a pod share neighbors with each other, but not with those of other pods. In a fabric of pods, and in
//! networks like it, all aggregation switches are of one kind because core and edge switches are next to them.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::Classes;
use super::world::World;
use crate::topology::layout::containers::Level;
use crate::union_find::UnionFind;

/// Maximum number of rounds in which kinds become finer: more tiers than any network has.
const MAX_ROUNDS: usize = 12;
/// The number of classes for each kind, at least: fewer show no structure.
const CLASSES_PER_KIND: usize = 2;

/// Returns the kinds as classes, or `None` if the network has no clear ones.
pub(super) fn of(level: &Level, is_inner: &[bool], world: &World, classes: &Classes) -> Option<Classes> {
    let graph = classes.graph();
    let mut kinds: Vec<usize> = (0..classes.len())
        .map(|class| usize::from(classes.leaves(class) > 0) + 2 * usize::from(classes.is_outward(class)))
        .collect();
    let mut count = 0;
    for _ in 0..MAX_ROUNDS {
        crate::fair_threads::yield_turn();
        let mut numbers: BTreeMap<(usize, BTreeSet<usize>), usize> = BTreeMap::new();
        let finer: Vec<usize> = (0..classes.len())
            .map(|class| {
                let around = graph.neighbors(class).iter().map(|other| kinds[*other]).collect();
                let next = numbers.len();
                *numbers.entry((kinds[class], around)).or_insert(next)
            })
            .collect();
        kinds = finer;
        if numbers.len() == count {
            break;
        }
        count = numbers.len();
    }
    let are_apart = graph.edges().iter().all(|(one, other)| kinds[*one] != kinds[*other]);
    if !are_apart || count < 2 || count * CLASSES_PER_KIND > classes.len() {
        return None;
    }
    let mut sets = UnionFind::new(level.network.len());
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (class, kind) in kinds.into_iter().enumerate() {
        for node in classes.members(class) {
            sets.join(*first.entry(kind).or_insert(*node), *node);
        }
    }
    Some(Classes::from_sets(level, is_inner, world, &mut sets))
}
