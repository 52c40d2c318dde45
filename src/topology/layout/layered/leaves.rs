//! Grids of leaves below their hub.

use super::super::components::GAP;
use super::super::geometry::{Point, Size};
use super::super::packing::misproportion;
use super::super::table::Table;

/// Leaves up to this number are placed side by side.
pub(in super::super) const MOST_IN_A_ROW: usize = 4;

/// The distance between pairs of columns, which is larger than that within a pair.
const PAIR_GAP: f64 = GAP * 1.5;
/// The distance of labels from the ends of a line.
const LABEL_MARGIN: f64 = 6.0;

/// Returns the distance between the columns of a pair, which has room for labels of leaves on both sides.
pub(in super::super) fn trunk_gap(label_width: f64) -> f64 {
    if label_width > 0.0 { 2.0 * (label_width + 2.0 * LABEL_MARGIN) } else { GAP }
}

/// Places leaves in pairs of columns; the line to the hub runs down between the two columns of a pair.
pub(super) fn grid(sizes: &[Size], label_width: f64) -> (Vec<Point>, Size) {
    let mut best: Option<(f64, Vec<Point>, Size)> = None;
    let mut pairs = 1;
    while pairs * 2 <= sizes.len() + 1 {
        let (points, extent) = columns(sizes, pairs * 2, trunk_gap(label_width));
        let cost = misproportion(extent);
        if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
            best = Some((cost, points, extent));
        }
        pairs += 1 + pairs / 8;
    }
    best.map(|(_, points, extent)| (points, extent)).unwrap_or_default()
}

fn columns(sizes: &[Size], columns: usize, trunk_gap: f64) -> (Vec<Point>, Size) {
    let rows = sizes.len().div_ceil(columns);
    let mut widths = Table::<f64>::new(columns);
    let mut heights = Table::<f64>::new(rows);
    for (index, size) in sizes.iter().enumerate() {
        widths.change(index % columns, |width| *width = width.max(size.width));
        heights.change(index / columns, |height| *height = height.max(size.height));
    }
    let (mut points, mut extent, mut y) = (Vec::with_capacity(sizes.len()), Size::default(), 0.0);
    let mut remaining = sizes.iter();
    for row in 0..rows {
        let mut x = 0.0;
        for column in 0..columns {
            let Some(size) = remaining.next() else { break };
            // Both columns of a pair are flush with the line between them.
            let inset = if column % 2 == 0 { widths.at(column) - size.width } else { 0.0 };
            points.push(Point::new(x + inset, y + (heights.at(row) - size.height) / 2.0));
            extent.width = extent.width.max(x + widths.at(column));
            x += widths.at(column) + if column % 2 == 0 { trunk_gap } else { PAIR_GAP.max(trunk_gap / 2.0) };
        }
        extent.height = y + heights.at(row);
        y += heights.at(row) + GAP;
    }
    (points, extent)
}
