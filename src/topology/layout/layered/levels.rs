//! The layer of each node: its distance from the top.

use super::super::level::Level;
use super::super::network::Network;
use super::super::table::Table;

/// Up to this number of nodes of the highest rank all of them are on top.
const MOST_TOPS: usize = 4;
/// Networks with more layers are long rather than hierarchical.
const DEEPEST: usize = 24;
/// Nodes whose closeness is estimated from the distances to all, or else to this number of nodes.
const SAMPLES: usize = 64;

/// Returns the layer of each node, or `None` if the network is no hierarchy.
///
/// Edges connect nodes of the same or of neighboring layers.
pub(super) fn find(level: &Level) -> Option<Table<usize>> {
    let network = &level.network;
    if !is_hierarchy(level) {
        return None;
    }
    let tops = tops(level);
    let levels: Table<usize> = network.hops(&tops).iter().map(|hops| hops.unwrap_or(0)).collect();
    (levels.iter().max() <= Some(&DEEPEST)).then_some(levels)
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
            level.ranks.at(*one).zip(level.ranks.at(*other)).is_some_and(|(one, other)| one != other)
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

/// Returns the nodes of the top layer: those of the highest rank, or if they are many, the most central of them.
fn tops(level: &Level) -> Vec<usize> {
    let network = &level.network;
    let highest = (0..network.len()).filter_map(|node| level.ranks.at(node)).min();
    let candidates: Vec<usize> =
        (0..network.len()).filter(|node| highest.is_none() || level.ranks.at(*node) == highest).collect();
    if candidates.len() <= MOST_TOPS && highest.is_some() {
        return candidates;
    }
    let inner: Vec<usize> = candidates.iter().copied().filter(|node| network.degree(*node) > 1).collect();
    let candidates = if inner.is_empty() { candidates } else { inner };
    let sums = distance_sums(network);
    let Some(best) = candidates
        .iter()
        .copied()
        .min_by_key(|node| (sums.at(*node), usize::MAX - network.degree(*node), *node))
    else {
        return Vec::new();
    };
    // Redundant devices, such as the two of a core, are as central as each other.
    let near = |node: &usize| sums.at(*node) * 50 <= sums.at(best) * 51;
    let twins = candidates.iter().copied().filter(|node| {
        *node != best && near(node) && network.neighbors(best).contains(node) && network.degree(*node) > 2
    });
    [best].into_iter().chain(twins.take(MOST_TOPS - 1)).collect()
}

/// Returns the sum of the distances of each node from all others, or from a sample of them.
fn distance_sums(network: &Network) -> Table<usize> {
    let count = network.len();
    let mut sums = Table::<usize>::new(count);
    let step = count.div_ceil(SAMPLES.max(if count <= 400 { count } else { 0 })).max(1);
    for source in (0..count).step_by(step) {
        for (node, hops) in network.hops(&[source]).iter().enumerate() {
            sums.change(node, |sum| *sum += hops.unwrap_or(count));
        }
    }
    sums
}
