//! Rows of items and grids of leaves below a node, and the horizontal positions of nodes side by side.

use crate::invariant::Invariant;
use crate::topology::layout::containers::{GAP, LAYER_GAP};
use crate::topology::layout::geometry::{Point, Size};
use crate::topology::layout::packing::misproportion;

/// A rectangle in a row, with the place where a line enters it from above.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowItem {
    pub(super) size: Size,
    pub(super) anchor: f64,
}

/// The places of the items. The line down from the nodes above is at `x = 0`.
#[derive(Debug, Default)]
pub(super) struct ArrangedRows {
    /// The corners of the items, in their order.
    pub(super) corners: Vec<Point>,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
    /// Whether there are several rows, with a free channel in the middle.
    pub(super) channel: bool,
}

/// Places items in one row or in several. Several rows have a channel of this width in the middle.
///
/// `above` is the height of the shapes above, which counts for the proportions.
pub(super) fn place(items: &[RowItem], channel: f64, above: f64) -> ArrangedRows {
    let total: f64 = items.iter().map(|item| item.size.width + GAP).sum();
    let mut best = one_row(items);
    // One row is easier to read than several, so its proportions may be worse.
    let mut least = cost(&best, above) / if items.len() <= MAX_IN_A_ROW { 2.5 } else { 1.5 };
    let widest = items.iter().map(|item| item.size.width + GAP).fold(0.0, f64::max);
    let mut limit = total * 0.9;
    while limit > widest && limit > total / items.len() as f64 {
        let attempt = several_rows(items, limit, channel);
        let cost = cost(&attempt, above);
        if cost < least {
            (best, least) = (attempt, cost);
        }
        limit *= 0.9;
    }
    best
}

fn cost(rows: &ArrangedRows, above: f64) -> f64 {
    let extent = Size::new(rows.right - rows.left, rows.height + above);
    // Because of the root, good proportions are worth some space, but not much.
    misproportion(extent) * (extent.width * extent.height).sqrt()
}

/// Places items in one row.
pub(super) fn one_row(items: &[RowItem]) -> ArrangedRows {
    let mut rows = ArrangedRows::default();
    let mut x = 0.0;
    for item in items {
        rows.corners.push(Point::new(x, 0.0));
        rows.height = rows.height.max(item.size.height);
        x += item.size.width + GAP;
    }
    let anchors: Vec<f64> =
        items.iter().zip(&rows.corners).map(|(item, corner)| corner.x + item.anchor).collect();
    let middle = match (anchors.first(), anchors.last()) {
        (Some(first), Some(last)) => (first + last) / 2.0,
        _ => 0.0,
    };
    for corner in &mut rows.corners {
        corner.x -= middle;
    }
    rows.left = -middle;
    rows.right = (x - GAP).max(0.0) - middle;
    rows
}

fn several_rows(items: &[RowItem], limit: f64, channel: f64) -> ArrangedRows {
    let mut rows = ArrangedRows { channel: true, ..ArrangedRows::default() };
    let mut rest = items;
    while !rest.is_empty() {
        let (row, others) = rest.split_at_checked(fitting(rest, limit)).unwrap_or((rest, &[]));
        let height = row.iter().map(|item| item.size.height).fold(0.0, f64::max);
        let y = if rows.height > 0.0 { rows.height + LAYER_GAP } else { 0.0 };
        let width: f64 = row.iter().map(|item| item.size.width + GAP).sum();
        let mut taken = 0.0;
        let mut left = Vec::new();
        let mut x = channel / 2.0;
        for item in row {
            if taken + item.size.width / 2.0 <= width / 2.0 && x <= channel / 2.0 {
                left.push(item.size.width);
            } else {
                x += item.size.width + GAP;
            }
            taken += item.size.width + GAP;
        }
        rows.right = rows.right.max(x - GAP);
        x = -channel / 2.0 - left.iter().map(|width| width + GAP).sum::<f64>() + GAP;
        rows.left = rows.left.min(x);
        for (place, item) in row.iter().enumerate() {
            if place == left.len() {
                x = channel / 2.0;
            }
            rows.corners.push(Point::new(x, y));
            x += item.size.width + GAP;
        }
        rows.height = y + height;
        rest = others;
    }
    rows
}

/// Returns how many of the first items fit into a row; at least one.
fn fitting(items: &[RowItem], limit: f64) -> usize {
    let mut width = 0.0;
    let count = items
        .iter()
        .take_while(|item| {
            width += item.size.width + GAP;
            width <= limit
        })
        .count();
    count.max(1)
}

/// A node with the position where its center would be best.
#[derive(Clone, Copy, Debug)]
pub(super) struct DesiredCenter {
    pub(super) center: f64,
    pub(super) width: f64,
}

/// Returns the centers nearest to the desired ones, in the order given and without overlaps. Nearness is the sum of the
/// squared distances.
///
/// Neighbors that are too close merge into a group that moves to the mean of its wishes (pool adjacent violators).
pub(super) fn side_by_side(wishes: &[DesiredCenter], gap: f64) -> Vec<f64> {
    // This is isotonic regression: measured from the width used so far, nodes do not overlap if their positions do not decrease.
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for wish in wishes {
        offset += wish.width / 2.0;
        offsets.push(offset);
        let mut group = (wish.center - offset, 1_usize);
        while let Some((mean, count)) = groups.pop() {
            if mean <= group.0 {
                groups.push((mean, count));
                break;
            }
            let total = count + group.1;
            group = ((mean * count as f64 + group.0 * group.1 as f64) / total as f64, total);
        }
        groups.push(group);
        offset += wish.width / 2.0 + gap;
    }
    let shifts = groups.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
    shifts.zip(offsets).map(|(shift, offset)| shift + offset).collect()
}

/// Maximum number of leaves that are placed side by side.
pub(in super::super) const MAX_IN_A_ROW: usize = 4;

/// The distance between pairs of columns. It is larger than the distance within a pair.
const PAIR_GAP: f64 = GAP * 1.5;
/// The distance between leaves below each other. Labels of their lines are beside them.
const LEAF_GAP: f64 = GAP / 2.0;
/// The distance of labels from the ends of a line.
const LABEL_MARGIN: f64 = 6.0;

/// Returns the distance between the columns of a pair. It has room for labels of leaves on both sides.
pub(in super::super) fn trunk_gap(label_width: f64) -> f64 {
    if label_width > 0.0 { 2.0 * (label_width + 2.0 * LABEL_MARGIN) } else { GAP }
}

/// Leaves in pairs of columns.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub(super) corners: Vec<Point>,
    pub(super) size: Size,
    /// The middle between the first and the last line that runs down.
    pub(super) anchor: f64,
}

/// Places leaves in pairs of columns, or in the number of columns wanted. The line to the hub runs down between the two
/// columns of a pair, or beside a single column.
pub(super) fn grid(sizes: &[Size], label_width: f64, wanted: Option<usize>) -> Grid {
    if let Some(wanted) = wanted {
        return columns(sizes, wanted, trunk_gap(label_width));
    }
    let mut best: Option<(f64, Grid)> = None;
    let mut pairs = 1;
    while pairs * 2 <= sizes.len() + 1 {
        let grid = columns(sizes, pairs * 2, trunk_gap(label_width));
        let cost = misproportion(grid.size);
        if best.as_ref().is_none_or(|(known, _)| cost < *known) {
            best = Some((cost, grid));
        }
        pairs += 1 + pairs / 8;
    }
    best.map(|(_, grid)| grid).asserted_or_default()
}

fn columns(sizes: &[Size], columns: usize, trunk_gap: f64) -> Grid {
    let mut widths = vec![0.0_f64; columns];
    let mut heights = vec![0.0_f64; sizes.len().div_ceil(columns)];
    for (index, size) in sizes.iter().enumerate() {
        widths[index % columns] = widths[index % columns].max(size.width);
        heights[index / columns] = heights[index / columns].max(size.height);
    }
    let (mut lefts, mut trunks, mut x) = (vec![0.0; columns], Vec::new(), 0.0);
    let mut size = Size::default();
    for (column, width) in widths.iter().enumerate() {
        lefts[column] = x;
        size.width = x + width;
        if column % 2 == 0 {
            trunks.push(size.width + trunk_gap / 2.0);
            x = size.width + trunk_gap;
        } else {
            x = size.width + PAIR_GAP.max(trunk_gap / 2.0);
        }
    }
    let tops: Vec<f64> = heights
        .iter()
        .map(|height| {
            let top = if size.height > 0.0 { size.height + LEAF_GAP } else { 0.0 };
            size.height = top + height;
            top
        })
        .collect();
    let corners = sizes.iter().enumerate().map(|(index, size)| {
        let (row, column) = (index / columns, index % columns);
        // Both columns of a pair are flush with the line between them.
        let inset = if column % 2 == 0 { widths[column] - size.width } else { 0.0 };
        Point::new(lefts[column] + inset, tops[row] + (heights[row] - size.height) / 2.0)
    });
    if columns == 1 {
        // The line beside the column and the labels along it are within the grid, but need less distance from others
        // than shapes do.
        size.width += trunk_gap / 2.0 - GAP / 2.0;
        trunks = vec![size.width / 2.0];
    }
    let anchor = (trunks[0] + trunks[trunks.len() - 1]) / 2.0;
    Grid { corners: corners.collect(), size, anchor }
}
