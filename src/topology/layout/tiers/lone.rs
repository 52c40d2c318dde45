//! Ways out of a network by its structure alone.
//!
//! They are unknown devices without devices of their own beside others that all have some.

use std::collections::BTreeMap;

use crate::topology::layout::containers::Level;

/// Number of switches with leaves beside which one without is a way out.
const MIN_OTHERS: usize = 3;
/// Minimum number of leaves of a switch at which a tail leads out.
const MIN_LEAVES: usize = 3;

/// Maximum number of switches that are examined.
const MAX_EXAMINED: usize = 16;

/// Returns the unknown devices that may lead out of the network, for networks without evidence by roles or addresses.
///
/// 1. The only one without leaves of the nodes that have the same neighbors: the router beside the access switches of a core.
/// 2. The only leaf of a switch whose other neighbors all have leaves.
/// 3. The only leaf of the switch at which all large parts of the network meet.
/// 4. The end of a tail at a switch with leaves: a modem behind a firewall.
pub(super) fn lone_devices(level: &Level) -> Vec<bool> {
    let network = &level.network;
    let leaves = (0..network.len())
        .map(|node| network.neighbors(node).iter().filter(|other| network.degree(**other) == 1).count());
    let hubs = Hubs { level, leaves: leaves.collect() };
    let mut found: Vec<usize> = hubs.without_leaves();
    found.extend((0..network.len()).filter(|leaf| hubs.is_only_leaf(*leaf) || hubs.is_end_of_tail(*leaf)));
    found.extend(hubs.leaf_of_center().filter(|leaf| !found.contains(leaf)));
    let only = if let [only] = *found.as_slice() { Some(only) } else { None };
    (0..network.len()).map(|node| Some(node) == only).collect()
}

/// A network, with the number of leaves of each node.
#[derive(Debug)]
struct Hubs<'a> {
    level: &'a Level,
    leaves: Vec<usize>,
}

impl Hubs<'_> {
    fn without_leaves(&self) -> Vec<usize> {
        let network = &self.level.network;
        let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for node in (0..network.len()).filter(|node| network.degree(*node) > 1) {
            crate::fair_threads::yield_turn();
            let inner = network.neighbors(node).iter().copied().filter(|other| network.degree(*other) > 1);
            alike.entry(inner.collect()).or_default().push(node);
        }
        let mut found = Vec::new();
        for group in alike.into_values().filter(|group| group.len() > MIN_OTHERS) {
            let mut bare = group.iter().copied().filter(|node| self.leaves[*node] == 0);
            if let (Some(node), None) = (bare.next(), bare.next()) {
                found.extend(Some(node).filter(|node| self.level.ranks[*node].is_none()));
            }
        }
        found
    }

    fn is_only_leaf(&self, leaf: usize) -> bool {
        let network = &self.level.network;
        let [hub] = *network.neighbors(leaf) else { return false };
        self.leaves[hub] == 1
            && self.level.ranks[leaf].is_none()
            && network.degree(hub) > MIN_OTHERS
            && network.neighbors(hub).iter().all(|other| *other == leaf || self.leaves[*other] > 0)
    }

    /// Returns the only leaf of a hub without which no part of the network has more than half of its devices.
    fn leaf_of_center(&self) -> Option<usize> {
        let network = &self.level.network;
        let has_one = |node: &usize| self.leaves[*node] == 1 && network.degree(*node) > MIN_OTHERS;
        let mut hubs: Vec<usize> = (0..network.len()).filter(has_one).collect();
        hubs.sort_by_key(|node| (usize::MAX - network.degree(*node), *node));
        let is_center = |hub: &usize| {
            crate::fair_threads::yield_turn();
            let others: Vec<usize> = (0..network.len()).filter(|node| node != hub).collect();
            let parts = network.part(&others).components();
            parts.iter().all(|part| part.len() * 2 <= network.len())
        };
        let center = hubs.into_iter().take(MAX_EXAMINED).find(is_center)?;
        let leaf = network.neighbors(center).iter().copied().find(|other| network.degree(*other) == 1)?;
        self.level.ranks[leaf].is_none().then_some(leaf)
    }

    fn is_end_of_tail(&self, leaf: usize) -> bool {
        let [inner] = *self.level.network.neighbors(leaf) else { return false };
        let [one, other] = *self.level.network.neighbors(inner) else { return false };
        let hub = if one == leaf { other } else { one };
        let are_unknown = [leaf, inner].iter().all(|node| self.level.ranks[*node].is_none());
        are_unknown && self.leaves[hub] >= MIN_LEAVES
    }
}
