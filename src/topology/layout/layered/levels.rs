//! The layer of each node: its distance from the top.

use std::collections::BTreeMap;

use super::super::level::Level;
use super::super::network::Network;
use super::blocks::MOST_SHARING;
use crate::invariant::Invariant;

/// Maximum number of nodes of the highest rank that are all on top.
const MOST_TOPS: usize = 4;
/// Maximum number of leaves that are placed around the nodes that they are connected to.
const MOST_AROUND: usize = 12;
/// Largest number of a layer in a hierarchy. Networks with more layers are long rather than hierarchical.
const DEEPEST: usize = 24;
/// Number of nodes from which distances are measured in a large network. They estimate the closeness of nodes. In a
/// network of up to 400 nodes, distances from all of them are measured.
const SAMPLES: usize = 64;

/// Returns the layer of each node, or `None` if the network is not a hierarchy.
///
/// Edges connect nodes of the same or of neighboring layers.
pub(super) fn find(level: &Level) -> Option<Vec<usize>> {
    let network = &level.network;
    let tops = if is_hierarchy(level) { tops(level) } else { hubs(network)? };
    let mut levels: Vec<usize> =
        network.hops(&tops).into_iter().map(Invariant::asserted_or_default).collect();
    raise(level, &mut levels);
    (levels.iter().max() <= Some(&DEEPEST)).then_some(levels)
}

/// Returns the nodes that share most others as their leaves. `None` unless these are a few nodes.
fn hubs(network: &Network) -> Option<Vec<usize>> {
    let mut groups: BTreeMap<&[usize], usize> = BTreeMap::new();
    for node in (0..network.len()).filter(|node| network.degree(*node) <= MOST_SHARING) {
        *groups.entry(network.neighbors(node)).or_default() += 1;
    }
    groups.retain(|_, leaves| *leaves > MOST_AROUND);
    let is_leaf = |node: &usize| groups.contains_key(network.neighbors(*node));
    let hubs: Vec<usize> = (0..network.len()).filter(|node| !is_leaf(node)).take(MOST_TOPS + 1).collect();
    (hubs.len() <= MOST_TOPS && !hubs.is_empty()).then_some(hubs)
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

fn core_size(network: &Network) -> usize {
    (0..network.len()).filter(|node| network.degree(*node) > 1).count()
}

fn core_edges(network: &Network) -> usize {
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
    if candidates.len() <= MOST_TOPS && highest.is_some() {
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
    [best].into_iter().chain(twins.take(MOST_TOPS - 1)).collect()
}

/// Returns the sum of each node's distances from all others. In a large network, distances from a sample are summed.
fn distance_sums(network: &Network) -> Vec<usize> {
    let count = network.len();
    let mut sums = vec![0; count];
    let step = count.div_ceil(SAMPLES.max(if count <= 400 { count } else { 0 })).max(1);
    for source in (0..count).step_by(step) {
        for (node, hops) in network.hops(&[source]).iter().enumerate() {
            sums[node] += hops.asserted().unwrap_or(count);
        }
    }
    sums
}
