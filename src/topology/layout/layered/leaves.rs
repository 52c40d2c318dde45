//! Grids of leaves below their hub.

use super::super::geometry::{Point, Size};
use super::super::level::GAP;
use super::super::packing::misproportion;
use crate::invariant::Invariant;

/// Maximum number of leaves that are placed side by side.
pub(in super::super) const MOST_IN_A_ROW: usize = 4;

/// The distance between pairs of columns. It is larger than the distance within a pair.
const PAIR_GAP: f64 = GAP * 1.5;
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

/// Places leaves in pairs of columns. The line to the hub runs down between the two columns of a pair.
pub(super) fn grid(sizes: &[Size], label_width: f64) -> Grid {
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
            let top = if size.height > 0.0 { size.height + GAP } else { 0.0 };
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
    let anchor = (trunks[0] + trunks[trunks.len() - 1]) / 2.0;
    Grid { corners: corners.collect(), size, anchor }
}
