//! The pairs that are examined.

use std::collections::{BTreeMap, BTreeSet};

use super::search::PairSearch;
use super::{MAX_PAIRS, MAX_WORK, Reasons};
use crate::fair_threads::yield_turn;
use crate::topology::paths::flood::FAR;

impl PairSearch<'_> {
    /// Returns the parts that have an end device in common, each two of them in order, and whether there are too many.
    fn adjacent_parts(&self) -> (BTreeSet<[u32; 2]>, bool) {
        let (mut adjacent, mut looked_at) = (BTreeSet::new(), 0);
        for node in (0..).take(self.index.nodes.len()).filter(|node| !self.index.is_transit(*node)) {
            let mut parts: Vec<u32> =
                self.neighbors(node).map(|other| self.part_of[other as usize]).collect();
            parts.retain(|part| *part != FAR);
            parts.sort_unstable();
            parts.dedup();
            for (place, one) in parts.iter().enumerate() {
                // The same two parts may have many end devices in common.
                looked_at += parts.len() - place;
                if adjacent.len() >= MAX_PAIRS || looked_at >= MAX_WORK {
                    return (adjacent, true);
                }
                adjacent.extend(parts.iter().skip(place + 1).map(|other| [*one, *other]));
            }
            yield_turn();
        }
        (adjacent, false)
    }

    /// Returns whether a node may be one of a pair: others are reached through it.
    fn is_candidate(&self, node: u32) -> bool {
        let first = self.neighbors(node).next();
        let has_others = self.neighbors(node).any(|other| Some(other) != first);
        self.index.node(node).is_device()
            && self.index.is_transit(node)
            && self.tree.reaches(node)
            && (has_others || self.is_top(node))
    }

    /// Returns the pairs to examine, and whether there are too many.
    pub(super) fn candidates(&self) -> (BTreeMap<[u32; 2], Reasons>, bool) {
        let nodes = || (0..).take(self.index.nodes.len());
        let is_candidate: Vec<bool> = nodes().map(|node| self.is_candidate(node)).collect();
        let mut groups: Vec<(Vec<u32>, bool)> = Vec::new();
        for node in nodes() {
            let distance = self.tree.distance(node);
            let mut above: Vec<u32> = self
                .neighbors(node)
                .filter(|other| is_candidate[*other as usize] && self.tree.distance(*other) <= distance)
                .collect();
            above.dedup();
            groups.push((above, false));
        }
        let mut located: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for node in nodes().filter(|node| is_candidate[*node as usize]) {
            if let Some(location) = self.index.node(node).location.as_deref() {
                located.entry(location).or_default().push(node);
            }
        }
        groups.extend(located.into_values().map(|nodes| (nodes, true)));
        // Small groups first: few ways around them are left.
        groups.sort_by_key(|(nodes, _)| nodes.len());
        let mut candidates: BTreeMap<[u32; 2], Reasons> = BTreeMap::new();
        let (adjacent, is_cut) = self.adjacent_parts();
        let mut looked_at = 0;
        // The only node at the top of a part is needed by all of it, and has to do with others only by end devices.
        let is_examined = |one: u32, other: u32| {
            let [part, other_part] = [one, other].map(|node| self.part_of[node as usize]);
            let is_only_top = self.is_only_top(one) || self.is_only_top(other);
            !is_only_top || adjacent.contains(&[part.min(other_part), part.max(other_part)])
        };
        for (group, is_location) in groups {
            for (place, one) in group.iter().enumerate() {
                for other in group.iter().skip(place + 1) {
                    if candidates.len() == MAX_PAIRS || looked_at == MAX_WORK {
                        return (candidates, true);
                    }
                    looked_at += 1;
                    if !is_examined(*one, *other) {
                        continue;
                    }
                    let reasons = candidates.entry([*one.min(other), *one.max(other)]).or_default();
                    reasons.location |= is_location;
                    reasons.upstream |= !is_location;
                }
            }
        }
        (candidates, is_cut)
    }
}
