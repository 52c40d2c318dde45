//! Blocks: nodes of a layer, with everything that is connected below them.
//!
//! Removing the nodes of a layer and of all above it separates a network into parts: the buildings of a campus below
//! its core, the switches of a building below their distribution. Each part is a block. Blocks below the same nodes are
//! placed in one row, or in several if one would be too wide.

use std::collections::BTreeMap;

use super::super::containers::{GAP, LAYER_GAP, Level};
use super::super::geometry::{Point, Size};
use super::lanes::Lanes;
use super::rows::{self, ArrangedRows, RowItem};
use super::stack::{TierRow, TierStyle, stack};
use crate::invariant::Invariant;
use crate::union_find::UnionFind;

/// Maximum number of nodes that share the rows below them. More nodes have rows of their own.
pub(in super::super) const MAX_SHARING: usize = 4;
pub(super) const LANE: f64 = 12.0;
/// One line in this number may run across blocks.
const LINES_PER_CROSSING: usize = 6;

/// A block, or a part of one, with everything in it.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockPart {
    pub(super) size: Size,
    /// The horizontal position where lines enter from above.
    pub(super) anchor: f64,
    pub(super) nodes: Vec<(usize, Point)>,
    pub(super) is_grid: bool,
    /// The room that it takes in each row, if it is a part of tiers.
    pub(super) lanes: Lanes,
}

impl BlockPart {
    pub(super) fn item(&self) -> RowItem {
        RowItem { size: self.size, anchor: self.anchor }
    }
}

/// A part and the nodes above that it is connected to. The nodes are given by their positions in their row.
#[derive(Clone, Debug)]
pub(super) struct LowerPart {
    pub(super) key: f64,
    pub(super) above: Vec<usize>,
    pub(super) part: BlockPart,
}

/// Places the nodes of a hierarchy and returns their corners.
///
/// `None` if many lines would have to run across blocks. Tiers, which have a style, are placed nevertheless.
pub(super) fn arrange(
    level: &Level,
    levels: &[usize],
    keys: &[usize],
    style: Option<&TierStyle<'_>>,
) -> Option<Vec<Point>> {
    let count = level.network.len();
    let mut layers = vec![Vec::new(); levels.iter().max().map_or(0, |deepest| deepest + 1)];
    for node in 0..count {
        layers[levels[node]].push(node);
    }
    let mut groups = UnionFind::new(count);
    let mut across = 0;
    // The blocks of the layer below, by the name of their group.
    let mut blocks: BTreeMap<usize, (Vec<usize>, BlockPart)> = BTreeMap::new();
    for depth in (0..layers.len()).rev() {
        let layer = &layers[depth];
        for node in layer {
            for neighbor in level.network.neighbors(*node) {
                if levels[*neighbor] >= depth {
                    groups.join(*node, *neighbor);
                }
            }
        }
        let mut tops: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in layer {
            tops.entry(groups.find(*node)).or_default().push(*node);
        }
        let mut below: BTreeMap<usize, Vec<(Vec<usize>, BlockPart)>> = BTreeMap::new();
        for (group, block) in std::mem::take(&mut blocks) {
            below.entry(groups.find(group)).or_default().push(block);
        }
        for (group, mut tops) in tops {
            tops.sort_by_key(|node| (keys[*node], *node));
            // Leaves have nothing below them.
            let below = below.remove(&group).unwrap_or_default();
            across += lines_across(level, levels, &tops);
            let row = style.and_then(|style| style.rows.get(depth)).copied();
            let part = block(level, keys, &tops, below, style.zip(row));
            blocks.insert(group, (tops, part));
        }
        // Blocks that only higher layers are connected to wait for these.
        for (group, waiting) in below {
            blocks.extend(
                waiting
                    .into_iter()
                    .map(|(tops, part)| (tops.first().copied().unwrap_or(group), (tops, part))),
            );
        }
    }
    let inner = level
        .network
        .edges()
        .iter()
        .filter(|(one, other)| level.network.degree(*one) > 1 && level.network.degree(*other) > 1);
    if style.is_none() && across * LINES_PER_CROSSING > inner.count() {
        return None;
    }
    let mut corners = vec![Point::default(); count];
    for (node, corner) in blocks.into_values().flat_map(|(_, part)| part.nodes) {
        corners[node] = corner;
    }
    Some(corners)
}

/// Counts the lines of a block that run past others. They connect nodes on top that are not side by side, or many nodes
/// on top with shared nodes below.
fn lines_across(level: &Level, levels: &[usize], tops: &[usize]) -> usize {
    let places: BTreeMap<usize, usize> = tops.iter().enumerate().map(|(place, top)| (*top, place)).collect();
    let mut across = 0;
    for (place, top) in tops.iter().enumerate() {
        let beside = level.network.neighbors(*top).iter().filter_map(|neighbor| places.get(neighbor));
        across += beside.filter(|other| **other > place + 1).count();
        if tops.len() > MAX_SHARING {
            let below = level.network.neighbors(*top).iter().filter(|neighbor| {
                let above =
                    level.network.neighbors(**neighbor).iter().filter(|other| places.contains_key(other));
                levels[**neighbor] > levels[*top] && above.count() > 1
            });
            across += below.count();
        }
    }
    across
}

/// Builds a block from the nodes on top and the blocks below. Each block below comes with its own top nodes.
fn block(
    level: &Level,
    keys: &[usize],
    tops: &[usize],
    below: Vec<(Vec<usize>, BlockPart)>,
    style: Option<(&TierStyle<'_>, TierRow)>,
) -> BlockPart {
    let places: BTreeMap<usize, usize> = tops.iter().enumerate().map(|(place, top)| (*top, place)).collect();
    let mut hanging: Vec<LowerPart> = below
        .into_iter()
        .map(|(block_tops, part)| {
            let mut above: Vec<usize> = block_tops
                .iter()
                .flat_map(|top| level.network.neighbors(*top))
                .filter_map(|neighbor| places.get(neighbor).copied())
                .collect();
            above.sort_unstable();
            above.dedup();
            let sum: usize = block_tops.iter().map(|top| keys[*top]).sum();
            LowerPart { key: sum as f64 / block_tops.len().max(1) as f64, above, part }
        })
        .collect();
    hanging.sort_by(|one, other| {
        let first = |hanging: &LowerPart| hanging.part.nodes.first().asserted().map_or(0, |(node, _)| *node);
        one.key.total_cmp(&other.key).then_with(|| first(one).cmp(&first(other)))
    });
    let sizes: Vec<(usize, Size)> = tops.iter().map(|top| (*top, level.sizes[*top])).collect();
    if tops.len() <= MAX_SHARING || style.is_some() {
        return stack(level, &sizes, hanging, style);
    }
    let mut own = tops.iter().map(|_| Vec::new()).collect::<Vec<_>>();
    let mut shared = Vec::new();
    for mut hanging in hanging {
        match *hanging.above.as_slice() {
            [only] => {
                hanging.above = vec![0];
                own[only].push(hanging);
            }
            _ => shared.push(hanging),
        }
    }
    let units: Vec<BlockPart> =
        sizes.iter().zip(own).map(|(top, own)| stack(level, &[*top], own, None)).collect();
    let items: Vec<RowItem> = units.iter().map(BlockPart::item).collect();
    let upper = rows::place(&items, GAP + 2.0 * LANE, 0.0);
    let shared: Vec<BlockPart> = shared.into_iter().map(|hanging| hanging.part).collect();
    let items: Vec<RowItem> = shared.iter().map(BlockPart::item).collect();
    let lower = rows::place(&items, GAP + 2.0 * LANE, upper.height);
    join(&units, &upper, &[], &shared, &lower, upper.height)
}

/// Joins upper parts or nodes with the parts in the rows below.
pub(super) fn join(
    units: &[BlockPart],
    upper: &ArrangedRows,
    tops: &[(usize, Point, Size)],
    parts: &[BlockPart],
    lower: &ArrangedRows,
    above: f64,
) -> BlockPart {
    let top_right = tops.iter().map(|(_, corner, size)| corner.x + size.width);
    let left = tops.iter().map(|(_, corner, _)| corner.x).fold(upper.left.min(lower.left), f64::min);
    let right = top_right.fold(upper.right.max(lower.right), f64::max);
    let down = Point::new(-left, above + LAYER_GAP);
    let aside = Point::new(-left, 0.0);
    let mut nodes: Vec<(usize, Point)> =
        tops.iter().map(|(node, corner, _)| (*node, corner.plus(aside))).collect();
    let mut add = |part: &BlockPart, offset: Point| {
        nodes.extend(part.nodes.iter().map(|(node, corner)| (*node, corner.plus(offset))));
    };
    for (unit, corner) in units.iter().zip(&upper.corners) {
        add(unit, corner.plus(aside));
    }
    for (part, corner) in parts.iter().zip(&lower.corners) {
        add(part, corner.plus(down));
    }
    let centers: Vec<f64> = if tops.is_empty() {
        let first_row = units.iter().zip(&upper.corners).filter(|(_, corner)| corner.y == 0.0);
        first_row.map(|(unit, corner)| corner.x + unit.anchor).collect()
    } else {
        tops.iter().map(|(_, corner, size)| corner.x + size.width / 2.0).collect()
    };
    let anchor = centers.iter().sum::<f64>() / centers.len().max(1) as f64 - left;
    let height = if parts.is_empty() { above } else { above + LAYER_GAP + lower.height };
    let size = Size::new(right - left, height);
    BlockPart { size, anchor, nodes, is_grid: false, lanes: Lanes::default() }
}
