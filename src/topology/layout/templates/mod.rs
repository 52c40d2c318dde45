//! Pairs, rings, rings of rings, full meshes, chains, and two hubs with shared neighbors. Leaves are outside of a circle, and below the switches
//! of a chain.
//!
//! Where a switch has many leaves, they are the larger part of the picture, and other layouts place them better.

mod chain;
mod cycle;
mod full_mesh;
mod pair;
mod places;
mod ring;
mod rings;
mod two_hubs;

use std::collections::BTreeMap;

use super::containers::Level;
use super::diagram::AddressScope;
use super::geometry::Point;
use super::network::SimpleGraph;

/// Maximum number of leaves of a switch.
const MAX_LEAVES: usize = 12;
/// Maximum number of leaves of a device that hangs at a ring.
const MAX_BEYOND: usize = 3;

/// Places the shapes of a connected level that has one of these forms; `None` for other networks.
pub(super) fn arrange(level: &Level) -> Option<Vec<Point>> {
    if level.has_opaque {
        return None;
    }
    if let Some(corners) = pair::arrange(level) {
        return Some(corners);
    }
    let peeled = Peeled::of(level);
    let has_room = |peeled: &Peeled| peeled.leaves.iter().all(|leaves| leaves.len() <= MAX_LEAVES);
    if !has_room(&peeled) {
        return None;
    }
    let around = Peeled::around_cycles(level).filter(has_room);
    let on_circles = around.and_then(|peeled| {
        ring::arrange(level, &peeled)
            .or_else(|| rings::arrange(level, &peeled))
            .or_else(|| full_mesh::arrange(level, &peeled))
    });
    on_circles.or_else(|| chain::arrange(level, &peeled)).or_else(|| two_hubs::arrange(level))
}

/// Returns whether a node leads to the world outside.
fn is_outward(level: &Level, node: usize) -> bool {
    level.scopes[node] == AddressScope::Public || level.ranks[node].is_some_and(|rank| rank <= 2)
}

/// A network without its leaves: the nodes with a single neighbor.
#[derive(Debug)]
struct Peeled {
    /// The other nodes.
    inner: Vec<usize>,
    /// Their graph, numbered by their position in the list.
    graph: SimpleGraph,
    /// The leaves of each of them.
    leaves: Vec<Vec<usize>>,
    /// The leaves of these leaves, if they are no leaves themselves.
    beyond: BTreeMap<usize, Vec<usize>>,
}

impl Peeled {
    fn of(level: &Level) -> Self {
        let network = &level.network;
        let inner: Vec<usize> = (0..network.len()).filter(|node| network.degree(*node) > 1).collect();
        let leaves = |node: &usize| -> Vec<usize> {
            network.neighbors(*node).iter().copied().filter(|other| network.degree(*other) == 1).collect()
        };
        let leaves = inner.iter().map(leaves).collect();
        Self { graph: network.part(&inner), leaves, inner, beyond: BTreeMap::new() }
    }

    /// Returns the cycles of a network, and what hangs at them; `None` for networks without cycles, and if more hangs there than leaves
    /// and few leaves of these.
    fn around_cycles(level: &Level) -> Option<Self> {
        let network = &level.network;
        let is_leaf: Vec<bool> = (0..network.len()).map(|node| network.degree(node) == 1).collect();
        let degrees = network.degrees_in_cycles();
        let inner: Vec<usize> = (0..network.len()).filter(|node| degrees[*node] > 1).collect();
        let at = |node: &usize| network.neighbors(*node).iter().copied().filter(|other| degrees[*other] == 0);
        let leaves: Vec<Vec<usize>> = inner.iter().map(|node| at(node).collect()).collect();
        let mut beyond = BTreeMap::new();
        for node in leaves.iter().flatten().filter(|node| !is_leaf[**node]) {
            let own: Vec<usize> = at(node).collect();
            if own.len() > MAX_BEYOND || own.iter().any(|leaf| !is_leaf[*leaf]) {
                return None;
            }
            beyond.insert(*node, own);
        }
        (!inner.is_empty()).then(|| Self { graph: network.part(&inner), leaves, inner, beyond })
    }

    /// Returns whether an inner node, or a leaf at it, leads out of the network.
    fn is_outward(&self, level: &Level, place: usize) -> bool {
        is_outward(level, self.inner[place]) || self.leaves[place].iter().any(|leaf| is_outward(level, *leaf))
    }

    /// Returns the inner nodes in the order in which they follow each other, from one of them and a neighbor of it.
    fn follow(&self, start: usize, second: usize) -> Vec<usize> {
        let mut order = vec![start, second];
        let (mut before, mut at) = (start, second);
        while let Some(next) =
            self.graph.neighbors(at).iter().copied().find(|next| *next != before && *next != start)
        {
            (before, at) = (at, next);
            order.push(next);
        }
        order
    }
}
