//! Chains: a row of switches, or several rows that run to and fro.

use super::{Peeled, is_outward};
use crate::topology::layout::containers::{GAP, LAYER_GAP, Level};
use crate::topology::layout::geometry::{Point, Size};
use crate::topology::layout::packing::misproportion;

/// Number of nodes from which on a path is a chain. Leaves at its ends count only if it has no others.
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
    let is_path =
        count > 1 && graph.edges().len() + 1 == count && (0..count).all(|node| graph.degree(node) <= 2);
    if !is_path {
        return None;
    }
    let ends: Vec<usize> = (0..count).filter(|node| graph.degree(*node) == 1).collect();
    let start = ends.iter().copied().min_by_key(|end| (!peeled.is_outward(level, *end), *end))?;
    let second = graph.neighbors(start).first().copied()?;
    let chain = Chain::of(level, peeled, &peeled.follow(start, second));
    let has_leaves = chain.links.iter().any(|link| !link.leaves.is_empty()) || chain.above.is_some();
    // A short path with leaves is a small hierarchy.
    let length = if has_leaves { count } else { chain.links.len() };
    if length < MIN_CHAIN {
        return None;
    }
    let is_plain = chain.links.len() <= MAX_IN_ONE_ROW && !has_leaves;
    let columns = if is_plain { chain.links.len() } else { chain.best_columns(level) };
    Some(chain.serpentine(level, columns))
}

/// The nodes of a chain in their order.
#[derive(Debug)]
struct Chain {
    links: Vec<ChainLink>,
    /// A leaf of the first node that leads out of the network and hangs above it.
    above: Option<usize>,
}

/// A node of a chain and its leaves.
#[derive(Debug)]
struct ChainLink {
    node: usize,
    leaves: Vec<usize>,
    size: Size,
    /// The room for labels at a line to the next or the last node.
    gap: f64,
}

impl Chain {
    /// Returns the nodes in this order. A leaf at an end without others beside it continues the chain.
    fn of(level: &Level, peeled: &Peeled, order: &[usize]) -> Self {
        let mut chain: Vec<(usize, Vec<usize>)> =
            order.iter().map(|place| (peeled.inner[*place], peeled.leaves[*place].clone())).collect();
        // Between switches with leaves, a leaf at an end is one as well.
        let between = chain.get(1..chain.len().saturating_sub(1)).unwrap_or_default();
        let is_plain = between.iter().all(|(_, leaves)| leaves.is_empty());
        let next = |link: Option<&mut (usize, Vec<usize>)>| {
            let leaves = &mut link?.1;
            if is_plain && leaves.len() == 1 { leaves.pop() } else { None }
        };
        let (before, after) = (next(chain.first_mut()), next(chain.last_mut()));
        let is_outward = |leaf: &usize| is_outward(level, *leaf);
        let above = chain.first_mut().and_then(|(_, leaves)| {
            let place = leaves.iter().position(is_outward)?;
            Some(leaves.remove(place))
        });
        let lone = |node: usize| (node, Vec::new());
        let all: Vec<(usize, Vec<usize>)> =
            before.map(lone).into_iter().chain(chain).chain(after.map(lone)).collect();
        let link = |(place, (node, leaves)): (usize, &(usize, Vec<usize>))| {
            crate::fair_threads::yield_turn();
            let beside = [place.checked_sub(1), place.checked_add(1)].into_iter().flatten();
            let beside = beside.filter_map(|place| Some(all.get(place)?.0));
            let labels =
                beside.map(|other| level.port_width(*node, other).max(level.port_width(other, *node)));
            let label = labels.fold(0.0, f64::max);
            ChainLink::of(level, *node, leaves.clone(), LAYER_GAP.max(2.0 * (label + LABEL_MARGIN)))
        };
        Self { links: all.iter().enumerate().map(link).collect(), above }
    }

    /// Returns the number of columns with the best proportions. It follows from typical links, so that a leaf more at one
    /// of them does not change it.
    fn best_columns(&self, level: &Level) -> usize {
        let typical = |of: &dyn Fn(&ChainLink) -> f64| {
            let mut values: Vec<f64> = self.links.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        };
        let width = typical(&|link| link.width(level));
        let height = typical(&|link| link.size.height) + LAYER_GAP;
        let cost = |rows: usize| {
            let columns = self.links.len().div_ceil(rows);
            let rows_used = self.links.len().div_ceil(columns);
            let size = Size::new(width * columns as f64, height * rows_used as f64);
            let cost = misproportion(size) * (size.width * size.height).sqrt();
            if rows == 1 { cost / ONE_ROW } else { cost }
        };
        let rows =
            (1..=MAX_ROWS.min(self.links.len())).min_by(|one, other| cost(*one).total_cmp(&cost(*other)));
        self.links.len().div_ceil(rows.unwrap_or(1))
    }

    /// Places links in rows of this many, to and fro.
    fn serpentine(&self, level: &Level, columns: usize) -> Vec<Point> {
        let mut widths = vec![0.0_f64; columns];
        let column_of = |index: usize| {
            let place = index % columns;
            if (index / columns).is_multiple_of(2) { place } else { columns - 1 - place }
        };
        for (index, link) in self.links.iter().enumerate() {
            widths[column_of(index)] = widths[column_of(index)].max(link.width(level));
        }
        let mut right = 0.0;
        let middles = widths.iter().map(|width| {
            right += width;
            right - width / 2.0
        });
        let middles: Vec<f64> = middles.collect();
        let mut corners = vec![Point::default(); level.network.len()];
        let mut y = 0.0;
        if let Some(above) = self.above {
            let size = level.sizes[above];
            corners[above] = Point::new(middles.first().map_or(0.0, |middle| middle - size.width / 2.0), y);
            y = size.height + LAYER_GAP;
        }
        for (row, links) in self.links.chunks(columns).enumerate() {
            let node_height = links.iter().map(|link| level.sizes[link.node].height).fold(0.0, f64::max);
            let height = links.iter().map(|link| link.size.height).fold(0.0, f64::max);
            for (place, link) in links.iter().enumerate() {
                let middle = middles[column_of(row * columns + place)];
                let size = level.sizes[link.node];
                corners[link.node] =
                    Point::new(middle - size.width / 2.0, y + (node_height - size.height) / 2.0);
                let total = link.leaves.iter().map(|leaf| level.sizes[*leaf].width + GAP).sum::<f64>() - GAP;
                let mut x = middle - total / 2.0;
                for leaf in &link.leaves {
                    corners[*leaf] = Point::new(x, y + node_height + LAYER_GAP);
                    x += level.sizes[*leaf].width + GAP;
                }
            }
            y += height + LAYER_GAP;
        }
        corners
    }
}

impl ChainLink {
    /// Returns the width that the link needs. Lines from switch to switch have room for labels.
    fn width(&self, level: &Level) -> f64 {
        (self.size.width + GAP).max(level.sizes[self.node].width + self.gap)
    }

    fn of(level: &Level, node: usize, leaves: Vec<usize>, gap: f64) -> Self {
        let own = level.sizes[node];
        let width = leaves.iter().map(|leaf| level.sizes[*leaf].width + GAP).sum::<f64>() - GAP;
        let height = leaves.iter().map(|leaf| level.sizes[*leaf].height + LAYER_GAP).fold(0.0, f64::max);
        Self { node, leaves, size: Size::new(own.width.max(width), own.height + height), gap }
    }
}
