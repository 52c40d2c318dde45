//! Rows of items below a node.

use super::super::geometry::{Point, Size};
use super::super::level::GAP;
use super::super::level::LAYER_GAP;
use super::super::packing::misproportion;
use super::leaves::MOST_IN_A_ROW;

/// A rectangle in a row, with the place where a line enters it from above.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) size: Size,
    pub(super) anchor: f64,
}

/// The places of the items. The line down from the nodes above is at `x = 0`.
#[derive(Debug, Default)]
pub(super) struct Rows {
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
/// `above` is the height of what is placed above, which counts for the proportions.
pub(super) fn place(items: &[Item], channel: f64, above: f64) -> Rows {
    let total: f64 = items.iter().map(|item| item.size.width + GAP).sum();
    let mut best = one_row(items);
    // One row is easier to read than several, so its proportions may be worse.
    let mut least = cost(&best, above) / if items.len() <= MOST_IN_A_ROW { 2.5 } else { 1.5 };
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

fn cost(rows: &Rows, above: f64) -> f64 {
    let extent = Size::new(rows.right - rows.left, rows.height + above);
    // Because of the root, good proportions are worth some space, but not much.
    misproportion(extent) * (extent.width * extent.height).sqrt()
}

fn one_row(items: &[Item]) -> Rows {
    let mut rows = Rows::default();
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

fn several_rows(items: &[Item], limit: f64, channel: f64) -> Rows {
    let mut rows = Rows { channel: true, ..Rows::default() };
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
fn fitting(items: &[Item], limit: f64) -> usize {
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
