//! Parts of a network, by its structure alone.
//!
//! A part is connected without the center of the network, such as the distribution and the access switches of one building. A network without such a center, such as a ring, is divided around devices that are far from
//! each other.

#![allow(
    clippy::indexing_slicing,
    reason = "lists about nodes are as long as the network, and nodes are numbers below its length"
)]

use std::collections::BTreeMap;

use crate::topology::layout::SimpleGraph;
use crate::union_find::UnionFind;

/// Number of nodes that are one part, however they are linked.
const MIN_DIVIDED: usize = 4;
/// Least number of parts around a center.
const MIN_AROUND: usize = 3;
/// Number of nodes for each part of a network without a center, and the greatest number of these parts.
const NODES_OF_PART: usize = 8;
const MAX_FROM_SEEDS: usize = 12;

/// Nodes that belong together.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cluster {
    pub(super) nodes: Vec<usize>,
    /// Whether the other parts are around this one.
    pub(super) is_center: bool,
}

/// Divides a network. Each node is in one of the parts; `weights` has the number of devices that it stands for.
pub(super) fn split(network: &SimpleGraph, weights: &[usize]) -> Vec<Cluster> {
    let all: usize = weights.iter().sum();
    let mut parts = Vec::new();
    for component in network.components() {
        crate::fair_threads::yield_turn();
        let weight: usize = component.iter().map(|node| weights[*node]).sum();
        if component.len() < MIN_DIVIDED || weight * 2 <= all {
            parts.push(Cluster { nodes: component, is_center: false });
            continue;
        }
        let inner = network.part(&component);
        let of_inner: Vec<usize> = component.iter().map(|node| weights[*node]).collect();
        let divided = around_center(&inner, &of_inner).unwrap_or_else(|| around_seeds(&inner));
        parts.extend(divided.into_iter().map(|mut part| {
            part.nodes.iter_mut().for_each(|node| *node = component[*node]);
            part
        }));
    }
    parts
}

/// Divides a connected network into its center and what hangs together without it; `None` if that leaves one large part.
fn around_center(network: &SimpleGraph, weights: &[usize]) -> Option<Vec<Cluster>> {
    let depths: Vec<usize> =
        network.hops(&center(network)?).into_iter().map(Option::unwrap_or_default).collect();
    let deepest = depths.iter().copied().max().unwrap_or_default();
    let mut levels = vec![Vec::new(); deepest + 1];
    for (node, depth) in depths.iter().enumerate() {
        levels[*depth].push(node);
    }
    let all: usize = weights.iter().sum();
    let mut sets = UnionFind::new(network.len());
    let mut of_set = weights.to_vec();
    let (mut count, mut largest, mut chosen) = (0_usize, 0, None);
    for (depth, level) in levels.iter().enumerate().skip(1).rev() {
        for node in level {
            crate::fair_threads::yield_turn();
            count += 1;
            largest = of_set[*node].max(largest);
            for neighbor in network.neighbors(*node).iter().filter(|neighbor| depths[**neighbor] >= depth) {
                let (one, other) = (sets.find(*node), sets.find(*neighbor));
                // Of two neighbors on one level, the later one joins both.
                let is_later = depths[*neighbor] > depth || neighbor < node;
                if one != other && is_later {
                    let joined = of_set[one] + of_set[other];
                    sets.join(one, other);
                    of_set[one.min(other)] = joined;
                    largest = largest.max(joined);
                    count -= 1;
                }
            }
        }
        // The smallest center that is enough.
        if count >= MIN_AROUND && largest * 2 <= all {
            chosen = Some(depth);
        }
    }
    let chosen = chosen?;
    let mut parts: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut sets = UnionFind::new(network.len());
    for (one, other) in
        network.edges().iter().filter(|(one, other)| depths[*one].min(depths[*other]) >= chosen)
    {
        sets.join(*one, *other);
    }
    for (node, depth) in depths.iter().enumerate() {
        let part = (*depth >= chosen).then(|| sets.find(node));
        parts.entry(part).or_default().push(node);
    }
    Some(parts.into_iter().map(|(set, nodes)| Cluster { nodes, is_center: set.is_none() }).collect())
}

/// Returns the nodes in the middle between two nodes at the edge of the network that are far from each other.
fn center(network: &SimpleGraph) -> Option<Vec<usize>> {
    let start = (0..network.len()).min_by_key(|node| (network.degree(*node), *node))?;
    let one = farthest(&network.hops(&[start]))?;
    let from_one = network.hops(&[one]);
    let other = farthest(&from_one)?;
    let from_other = network.hops(&[other]);
    let length = from_one[other]?;
    let is_central = |node: &usize| {
        from_one[*node]
            .zip(from_other[*node])
            .is_some_and(|(one, other)| one + other == length && one.abs_diff(other) <= length % 2)
    };
    let center: Vec<usize> = (0..network.len()).filter(is_central).collect();
    (length > 1 && !center.is_empty()).then_some(center)
}

fn farthest(hops: &[Option<usize>]) -> Option<usize> {
    let numbered = hops.iter().enumerate();
    numbered.max_by_key(|(node, hops)| (**hops, std::cmp::Reverse(*node))).map(|(node, _)| node)
}

/// Divides a connected network among nodes that are far from each other. Each other node is with the nearest of them.
fn around_seeds(network: &SimpleGraph) -> Vec<Cluster> {
    let count = network.len().div_ceil(NODES_OF_PART).min(MAX_FROM_SEEDS);
    let mut nearest = vec![(usize::MAX, 0); network.len()];
    let mut next = farthest(&network.hops(&[0])).unwrap_or(0);
    for seed in 0..count {
        crate::fair_threads::yield_turn();
        for (node, hops) in network.hops(&[next]).into_iter().enumerate() {
            nearest[node] = nearest[node].min((hops.unwrap_or(usize::MAX), seed));
        }
        let numbered = nearest.iter().enumerate();
        next = numbered
            .max_by_key(|(node, (hops, _))| (*hops, std::cmp::Reverse(*node)))
            .map_or(0, |(node, _)| node);
    }
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, (_, seed)) in nearest.iter().enumerate() {
        parts.entry(*seed).or_default().push(node);
    }
    parts.into_values().map(|nodes| Cluster { nodes, is_center: false }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(count: usize, links: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let network = SimpleGraph::new(count, links.iter().copied());
        let parts = split(&network, &vec![1; count]).into_iter();
        let mut parts: Vec<Vec<usize>> = parts.map(|part| part.nodes).collect();
        parts.sort_unstable();
        parts
    }

    #[test]
    fn buildings_are_what_hangs_together_without_the_core() {
        // Two core switches, and four buildings of two distribution and two access switches.
        let mut links = vec![(0, 1)];
        for building in 0..4 {
            let [one, other, left, right] = [0, 1, 2, 3].map(|place| 2 + 4 * building + place);
            links.extend([(0, one), (0, other), (1, one), (1, other), (one, other)]);
            links.extend([(one, left), (other, left), (one, right), (other, right)]);
        }
        let mut expected = vec![vec![0, 1]];
        expected.extend((0..4).map(|building| (0..4).map(|place| 2 + 4 * building + place).collect()));
        assert_eq!(parts(18, &links), expected);
    }

    #[test]
    fn racks_of_a_fabric_are_parts() {
        let links: Vec<(usize, usize)> =
            (0..4).flat_map(|spine| (4..20).map(move |leaf| (spine, leaf))).collect();
        let parts = parts(20, &links);
        assert_eq!((parts.len(), &parts[0]), (17, &vec![0, 1, 2, 3]));
    }

    #[test]
    fn ring_and_chain_are_divided_evenly() {
        for is_ring in [false, true] {
            let mut links: Vec<(usize, usize)> = (1..40).map(|node| (node - 1, node)).collect();
            links.extend(is_ring.then_some((39, 0)));
            let parts = parts(40, &links);
            assert_eq!(parts.len(), 5);
            assert!(parts.iter().all(|part| (3..=14).contains(&part.len())), "{parts:?}");
        }
    }

    #[test]
    fn separate_networks_are_parts() {
        assert_eq!(parts(6, &[(0, 1), (2, 3), (4, 5)]), [vec![0, 1], vec![2, 3], vec![4, 5]]);
        assert_eq!(parts(0, &[]), Vec::<Vec<usize>>::new());
        assert_eq!(parts(1, &[]), [vec![0]]);
    }
}
