//! Hierarchies. The top of the network is above everything that depends on it.
//!
//! The layer of a node is its distance from the top.

mod blocks;
mod grids;
mod lanes;
mod leaves;
mod ordering;
mod page;
mod rows;
mod spread;
mod stack;
mod stagger;
mod tiered;

use std::collections::BTreeMap;

pub(super) use self::blocks::MAX_SHARING;
pub(super) use self::rows::{MAX_IN_A_ROW, trunk_gap};
pub(super) use self::tiered::{LineEnds, PLACE, PlacedTiers, arrange_tiers, widen};
use super::containers::Level;
use super::geometry::Point;
use super::network::SimpleGraph;
use crate::invariant::Invariant;

/// Places the shapes of a connected level in layers; `None` if it is not a hierarchy.
pub(super) fn arrange(level: &Level) -> Option<Vec<Point>> {
    let levels = layers(level)?;
    let keys = ordering::order(&level.network, &levels, &[]);
    blocks::arrange(level, &levels, &keys, None)
}

/// Maximum number of nodes of the highest rank that are all on top.
const MAX_TOPS: usize = 4;
/// Maximum number of leaves that are placed around the nodes that they are connected to.
const MAX_AROUND: usize = 12;
/// Largest number of a layer in a hierarchy. Networks with more layers are long rather than hierarchical.
const MAX_LAYER: usize = 24;
/// Number of nodes from which distances are measured in a large network. They estimate the closeness of nodes. In a
/// network of up to 400 nodes, distances from all of them are measured.
const MAX_SAMPLES: usize = 64;

/// Returns the layer of each node, or `None` if the network is not a hierarchy.
///
/// Edges connect nodes of the same or of neighboring layers.
fn layers(level: &Level) -> Option<Vec<usize>> {
    let network = &level.network;
    let tops = if is_hierarchy(level) { tops(level) } else { hubs(network)? };
    let mut levels: Vec<usize> =
        network.hops(&tops).into_iter().map(Invariant::asserted_or_default).collect();
    raise(level, &mut levels);
    (levels.iter().max() <= Some(&MAX_LAYER)).then_some(levels)
}

/// Returns the nodes that share most others as their leaves. `None` unless these are a few nodes.
fn hubs(network: &SimpleGraph) -> Option<Vec<usize>> {
    let mut groups: BTreeMap<&[usize], usize> = BTreeMap::new();
    for node in (0..network.len()).filter(|node| network.degree(*node) <= MAX_SHARING) {
        *groups.entry(network.neighbors(node)).or_default() += 1;
    }
    groups.retain(|_, leaves| *leaves > MAX_AROUND);
    let is_leaf = |node: &usize| groups.contains_key(network.neighbors(*node));
    let hubs: Vec<usize> = (0..network.len()).filter(|node| !is_leaf(node)).take(MAX_TOPS + 1).collect();
    (hubs.len() <= MAX_TOPS && !hubs.is_empty()).then_some(hubs)
}

/// Moves nodes above their neighbors if these have lower ranks. Such a node has nothing below it, for example a router
/// at one switch.
fn raise(level: &Level, levels: &mut [usize]) {
    let network = &level.network;
    for node in 0..network.len() {
        let Some(rank) = level.ranks[node] else { continue };
        let mut neighbors = network.neighbors(node).iter();
        let is_above = |other: &usize| {
            levels[*other] + 1 == levels[node] && level.ranks[*other].is_some_and(|other| other > rank)
        };
        if neighbors.all(is_above) && levels[node] > 1 {
            levels[node] -= 2;
        }
    }
}

/// Returns whether most edges connect different ranks, or the network is a large tree.
fn is_hierarchy(level: &Level) -> bool {
    let network = &level.network;
    let (nodes, edges) = (network.len(), network.edges().len());
    if nodes > 150 && edges <= nodes + nodes / 20 {
        return true;
    }
    let across = network
        .edges()
        .iter()
        .filter(|(one, other)| {
            level.ranks[*one].zip(level.ranks[*other]).is_some_and(|(one, other)| one != other)
        })
        .count();
    across * 2 > edges && core_edges(network) <= 3 * core_size(network)
}

fn core_size(network: &SimpleGraph) -> usize {
    (0..network.len()).filter(|node| network.degree(*node) > 1).count()
}

fn core_edges(network: &SimpleGraph) -> usize {
    let inner = |node: usize| network.degree(node) > 1;
    network.edges().iter().filter(|(one, other)| inner(*one) && inner(*other)).count()
}

/// Returns the nodes of the top layer. They are the nodes of the highest rank or, if these are many, the most central
/// of them.
fn tops(level: &Level) -> Vec<usize> {
    let network = &level.network;
    let highest = (0..network.len()).filter_map(|node| level.ranks[node]).min();
    let candidates: Vec<usize> =
        (0..network.len()).filter(|node| highest.is_none() || level.ranks[*node] == highest).collect();
    if candidates.len() <= MAX_TOPS && highest.is_some() {
        return candidates;
    }
    let inner: Vec<usize> = candidates.iter().copied().filter(|node| network.degree(*node) > 1).collect();
    let candidates = if inner.is_empty() { candidates } else { inner };
    let sums = distance_sums(network);
    let Some(best) = candidates
        .iter()
        .copied()
        .min_by_key(|node| (sums[*node], usize::MAX - network.degree(*node), *node))
    else {
        return Vec::new();
    };
    // Redundant devices, such as the two of a core, are as central as each other.
    let near = |node: &usize| sums[*node] * 50 <= sums[best] * 51;
    let twins = candidates.iter().copied().filter(|node| {
        *node != best && near(node) && network.neighbors(best).contains(node) && network.degree(*node) > 2
    });
    [best].into_iter().chain(twins.take(MAX_TOPS - 1)).collect()
}

/// Returns the sum of each node's distances from all others. In a large network, distances from a sample are summed.
fn distance_sums(network: &SimpleGraph) -> Vec<usize> {
    let count = network.len();
    let mut sums = vec![0; count];
    let step = count.div_ceil(MAX_SAMPLES.max(if count <= 400 { count } else { 0 })).max(1);
    for source in (0..count).step_by(step) {
        for (node, hops) in network.hops(&[source]).iter().enumerate() {
            sums[node] += hops.asserted().unwrap_or(count);
        }
    }
    sums
}
