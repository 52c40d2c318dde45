//! Links that lead from one row of devices to another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::scene::Scene;
use super::super::super::words::sane;
use crate::model::NodeId;
use crate::topology::graph::Edge;
use crate::topology::layout::MAX_STAGGER;
use crate::union_find::UnionFind;

/// The speed of a link, and the number of the link among the edges.
pub(super) struct Speed<'a> {
    pub(super) index: usize,
    pub(super) edge: &'a Edge,
    pub(super) text: Option<String>,
    /// Whether it is a single link of a device that has no other.
    pub(super) is_minor: bool,
}

/// Links between two rows of devices that these links connect with each other, or a single other link.
pub(super) type Block<'a> = Vec<Speed<'a>>;

/// The middles of two rows, the upper one first, in units of 1/64 pixel.
pub(super) type RowPair = (i64, i64);

/// Returns the two rows that an edge connects; `None` within a row, and for lines across: between rows, they leave and enter devices
/// upright.
pub(super) fn rows_of(scene: &Scene<'_>, edge: &Edge) -> Option<RowPair> {
    let is_upright = |pair: &[[f64; 2]]| matches!(pair, [[x, _], [next_x, _]] if x == next_x);
    let pairs = || edge.points.windows(2);
    if ![pairs().next(), pairs().next_back()].into_iter().flatten().all(is_upright) {
        return None;
    }
    let row = |id: NodeId| {
        let node = scene.node(id).filter(|node| !scene.is_container(node));
        node.map(|node| (sane(node.y + node.height / 2.0) * 64.0).round() as i64)
    };
    let (one, other) = row(edge.source).zip(row(edge.target)).filter(|(one, other)| one != other)?;
    Some((one.min(other), one.max(other)))
}

/// Returns whether a line ends at the side of a device. Those of devices in a column do.
pub(super) fn branches_off(edge: &Edge) -> bool {
    let is_level = |pair: &[[f64; 2]]| matches!(pair, [[_, y], [_, next_y]] if y == next_y);
    let mut pairs = edge.points.windows(2);
    pairs.next().is_some_and(is_level) || pairs.next_back().is_some_and(is_level)
}

/// Returns the blocks between each two rows.
pub(super) fn tiers<'a>(
    rows_of: impl Fn(&Edge) -> Option<RowPair>,
    all: impl Iterator<Item = Speed<'a>>,
) -> Vec<Vec<Block<'a>>> {
    let mut between: BTreeMap<Option<RowPair>, Vec<Speed<'a>>> = BTreeMap::new();
    for speed in all {
        crate::fair_threads::yield_turn();
        between.entry(rows_of(speed.edge)).or_default().push(speed);
    }
    let mut tiers = Vec::new();
    for (rows, speeds) in between {
        if rows.is_none() {
            tiers.extend(speeds.into_iter().map(|speed| vec![vec![speed]]));
            continue;
        }
        let mut numbers: BTreeMap<NodeId, usize> = BTreeMap::new();
        for end in speeds.iter().flat_map(|speed| [speed.edge.source, speed.edge.target]) {
            let next = numbers.len();
            numbers.entry(end).or_insert(next);
        }
        let number = |id: NodeId| numbers.get(&id).copied().unwrap_or(0);
        let mut sets = UnionFind::new(numbers.len());
        for speed in &speeds {
            crate::fair_threads::yield_turn();
            sets.join(number(speed.edge.source), number(speed.edge.target));
        }
        let mut connected: BTreeMap<usize, Block<'a>> = BTreeMap::new();
        for speed in speeds {
            connected.entry(sets.find(number(speed.edge.source))).or_default().push(speed);
        }
        tiers.push(connected.into_values().collect());
    }
    tiers
}

/// Returns the pairs of rows whose lower one is staggered below another, each with the pair of that one: their links are between the same
/// devices. No links lead from a row to the one that is staggered below it.
pub(super) fn staggered(known: &BTreeSet<RowPair>) -> BTreeMap<RowPair, RowPair> {
    let mut found = BTreeMap::new();
    let mut last: Option<RowPair> = None;
    for (upper, lower) in known {
        let is_near = |(also_upper, above): &RowPair| {
            upper == also_upper
                && (lower - above) as f64 <= MAX_STAGGER * 64.0
                && !known.contains(&(*above, *lower))
        };
        // Every other shape is lower, so that a row is not staggered below one that is itself.
        last = match last.take().filter(is_near) {
            Some(above) => {
                found.insert((*upper, *lower), above);
                None
            }
            None => Some((*upper, *lower)),
        };
    }
    found
}
