//! Full meshes: devices on a circle, of which almost all are linked with each other.

use std::collections::BTreeMap;

use super::Peeled;
use super::ring::on_circle;
use crate::topology::layout::containers::Level;
use crate::topology::layout::geometry::Point;

/// Number of devices of a full mesh. Four are a pair below a pair, and the lines of many cannot be told apart.
const DEVICES: std::ops::RangeInclusive<usize> = 5..=12;
/// How many links in ten are missing at most. Tiers of few devices have almost as many links: a pair above three lacks three in ten, and three
/// pairs do.
const MISSING_IN_TEN: usize = 3;
const MISSING_OF_FEW: usize = 2;
/// The largest number of devices that are few.
const MAX_FEW: usize = 6;

/// Places the nodes of a full mesh, clockwise in the order of their names, and what hangs at them outside; `None` for other networks.
pub(super) fn arrange(level: &Level, peeled: &Peeled) -> Option<Vec<Point>> {
    let graph = &peeled.graph;
    let count = graph.len();
    let all = count * count.saturating_sub(1) / 2;
    let missing = all.checked_sub(graph.edges().len())?;
    let missing_in_ten = if count > MAX_FEW { MISSING_IN_TEN } else { MISSING_OF_FEW };
    if !DEVICES.contains(&count) || missing * 10 > all * missing_in_ten || !are_alike(level, peeled) {
        return None;
    }
    let order: Vec<usize> = (0..count).collect();
    on_circle(level, peeled, &order)
}

/// Returns whether all devices but one have the same rank, as far as it is known: one role may be wrong. Routers above switches are tiers.
fn are_alike(level: &Level, peeled: &Peeled) -> bool {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for rank in peeled.inner.iter().filter_map(|node| level.ranks[*node]) {
        *counts.entry(rank).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or(0);
    counts.into_values().sum::<usize>() <= most + 1
}
