//! Chains: a row of switches, or several rows that run to and fro.

use super::Peeled;
use crate::topology::layout::containers::{GAP, LAYER_GAP, Level};
use crate::topology::layout::geometry::{Point, Size};
use crate::topology::layout::packing::misproportion;

/// Number of nodes from which on a path is a chain.
const MIN_CHAIN: usize = 5;
/// How much worse the proportions of a single row may be than those of several.
const ONE_ROW: f64 = 2.5;
/// Maximum number of nodes without leaves that are not wrapped.
const MAX_IN_ONE_ROW: usize = 8;
/// Largest number of rows.
const MAX_ROWS: usize = 40;
/// The distance of labels from the ends of a line.
const LABEL_MARGIN: f64 = 12.0;

/// Places the nodes of a chain and their leaves; `None` for other networks.
pub(super) fn arrange(level: &Level, peeled: &Peeled) -> Option<Vec<Point>> {
    let graph = &peeled.graph;
    let count = graph.len();
    let is_path = count >= MIN_CHAIN
        && graph.edges().len() + 1 == count
        && (0..count).all(|node| graph.degree(node) <= 2);
    if !is_path {
        return None;
    }
    let ends: Vec<usize> = (0..count).filter(|node| graph.degree(*node) == 1).collect();
    let start = ends.iter().copied().min_by_key(|end| (!peeled.is_outward(level, *end), *end))?;
    let second = graph.neighbors(start).first().copied()?;
    let links = links(level, peeled, peeled.follow(start, second));
    let label = level.label_widths.iter().copied().fold(0.0, f64::max);
    let gap = LAYER_GAP.max(2.0 * (label + LABEL_MARGIN));
    let mut best: Option<(f64, Vec<Point>)> = None;
    let is_plain = links.len() <= MAX_IN_ONE_ROW && links.iter().all(|link| link.leaves.is_empty());
    let max_rows = if is_plain { 1 } else { MAX_ROWS.min(links.len()) };
    for rows in 1..=max_rows {
        crate::fair_threads::yield_turn();
        let columns = links.len().div_ceil(rows);
        let (corners, size) = serpentine(level, &links, columns, gap);
        let cost = misproportion(size) * (size.width * size.height).sqrt();
        let cost = if rows == 1 { cost / ONE_ROW } else { cost };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, corners));
        }
    }
    best.map(|(_, corners)| corners)
}

/// A node of a chain and its leaves.
#[derive(Debug)]
struct ChainLink {
    node: usize,
    leaves: Vec<usize>,
    size: Size,
}

/// Returns the nodes in order. A leaf at an end that leads out of the network, or the last leaf without others beside
/// it, continues the chain.
fn links(level: &Level, peeled: &Peeled, order: Vec<usize>) -> Vec<ChainLink> {
    let mut links: Vec<ChainLink> = Vec::new();
    let last = order.len() - 1;
    for (turn, place) in order.into_iter().enumerate() {
        let node = peeled.inner[place];
        let leaves = &peeled.leaves[place];
        let is_end = turn == 0 || turn == last;
        let next = leaves.iter().copied().find(|leaf| {
            let outward = level.ranks[*leaf].is_some_and(|rank| rank <= 2);
            is_end && (leaves.len() == 1 || outward)
        });
        let others: Vec<usize> = leaves.iter().copied().filter(|leaf| Some(*leaf) != next).collect();
        let own = ChainLink::of(level, node, others);
        let end = next.map(|next| ChainLink::of(level, next, Vec::new()));
        if turn == 0 {
            links.extend(end.into_iter().chain([own]));
        } else {
            links.extend([own].into_iter().chain(end));
        }
    }
    links
}

impl ChainLink {
    fn of(level: &Level, node: usize, leaves: Vec<usize>) -> Self {
        let own = level.sizes[node];
        let width = leaves.iter().map(|leaf| level.sizes[*leaf].width + GAP).sum::<f64>() - GAP;
        let height = leaves.iter().map(|leaf| level.sizes[*leaf].height + LAYER_GAP).fold(0.0, f64::max);
        Self { node, leaves, size: Size::new(own.width.max(width), own.height + height) }
    }
}

/// Places links in rows of this many, to and fro, and returns the corners and the extent of all.
fn serpentine(level: &Level, links: &[ChainLink], columns: usize, gap: f64) -> (Vec<Point>, Size) {
    let mut widths = vec![0.0_f64; columns];
    let column_of = |index: usize| {
        let place = index % columns;
        if (index / columns).is_multiple_of(2) { place } else { columns - 1 - place }
    };
    for (index, link) in links.iter().enumerate() {
        let column = column_of(index);
        widths[column] = widths[column].max(link.size.width);
    }
    // Lines from switch to switch have room for labels.
    let node_width = links.iter().map(|link| level.sizes[link.node].width).fold(0.0, f64::max);
    let widths: Vec<f64> = widths.iter().map(|width| (width + GAP).max(node_width + gap)).collect();
    let mut right = 0.0;
    let middles = widths.iter().map(|width| {
        right += width;
        right - width / 2.0
    });
    let middles: Vec<f64> = middles.collect();
    let mut corners = vec![Point::default(); level.network.len()];
    let mut extent = Size::new(right, 0.0);
    let mut y = 0.0;
    for (row, row_links) in links.chunks(columns).enumerate() {
        let node_height = row_links.iter().map(|link| level.sizes[link.node].height).fold(0.0, f64::max);
        let height = row_links.iter().map(|link| link.size.height).fold(0.0, f64::max);
        for (place, link) in row_links.iter().enumerate() {
            let middle = middles[column_of(row * columns + place)];
            let size = level.sizes[link.node];
            corners[link.node] = Point::new(middle - size.width / 2.0, y + (node_height - size.height) / 2.0);
            let total = link.leaves.iter().map(|leaf| level.sizes[*leaf].width + GAP).sum::<f64>() - GAP;
            let mut x = middle - total / 2.0;
            for leaf in &link.leaves {
                corners[*leaf] = Point::new(x, y + node_height + LAYER_GAP);
                x += level.sizes[*leaf].width + GAP;
            }
        }
        extent.height = y + height;
        y += height + LAYER_GAP;
    }
    (corners, extent)
}
