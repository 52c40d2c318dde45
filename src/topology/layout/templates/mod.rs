//! Pairs, rings and chains. Leaves are outside of a ring, and below the switches of a chain.
//!
//! Where a switch has many leaves, they are the larger part of the picture, and other layouts place them better.

mod chain;
mod pair;
mod ring;

use super::containers::Level;
use super::diagram::AddressScope;
use super::geometry::Point;
use super::network::SimpleGraph;

/// Maximum number of leaves of a switch.
const MAX_LEAVES: usize = 12;

/// Places the shapes of a connected level that is a pair, a ring or a chain; `None` for other networks.
pub(super) fn arrange(level: &Level) -> Option<Vec<Point>> {
    if level.has_opaque {
        return None;
    }
    if let Some(corners) = pair::arrange(level) {
        return Some(corners);
    }
    let peeled = Peeled::of(level);
    if peeled.leaves.iter().any(|leaves| leaves.len() > MAX_LEAVES) {
        return None;
    }
    ring::arrange(level, &peeled).or_else(|| chain::arrange(level, &peeled))
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
}

impl Peeled {
    fn of(level: &Level) -> Self {
        let network = &level.network;
        let inner: Vec<usize> = (0..network.len()).filter(|node| network.degree(*node) > 1).collect();
        let leaves = |node: &usize| -> Vec<usize> {
            network.neighbors(*node).iter().copied().filter(|other| network.degree(*other) == 1).collect()
        };
        Self { graph: network.part(&inner), leaves: inner.iter().map(leaves).collect(), inner }
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
