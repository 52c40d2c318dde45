//! Packing of rectangles that are not connected.

use super::geometry::{Point, Size};
use crate::invariant::Invariant;

/// The ratio of width to height that arrangements aim at.
pub(super) const ASPECT: f64 = 1.5;

/// The width of a drawing whose names have 7 points on a sheet of A3 in landscape: 400 mm, on which names are 2.47 mm high instead of
/// 13 pixels, without margins.
pub(super) const SHEET_WIDTH: f64 = 2_058.0;

/// Returns whether proportions are between 1 : 2 and 5 : 2.
pub(super) fn fits(size: Size) -> bool {
    (MIN_RATIO..=MAX_RATIO).contains(&(size.width.max(1.0) / size.height.max(1.0)))
}

/// The smallest ratio of width to height.
const MIN_RATIO: f64 = 0.5;
/// The largest ratio of width to height.
pub(super) const MAX_RATIO: f64 = 2.5;

/// Returns the deviation of a ratio of width to height from the desired one. It is 1 without deviation,
/// otherwise greater.
pub(super) fn misproportion(size: Size) -> f64 {
    let ratio = size.width.max(1.0) / size.height.max(1.0) / ASPECT;
    ratio.max(1.0 / ratio)
}

/// Places rectangles in rows, the highest first. Returns their corners and the extent of all.
pub(super) fn pack(sizes: &[Size], gap: f64) -> (Vec<Point>, Size) {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    let height = |index: &usize| sizes[*index].height;
    order.sort_by(|one, other| height(other).total_cmp(&height(one)).then(one.cmp(other)));
    let area: f64 = sizes.iter().map(|size| (size.width + gap) * (size.height + gap)).sum();
    let widest = sizes.iter().map(|size| size.width).fold(0.0, f64::max);
    let mut best: Option<(f64, Vec<Point>, Size)> = None;
    for step in 0..12 {
        crate::fair_threads::yield_turn();
        let limit = (area.sqrt() * (0.7 + 0.15 * f64::from(step))).max(widest);
        let (points, extent) = rows(sizes, &order, gap, limit);
        let cost = extent.width.max(1.0) * extent.height.max(1.0) * (misproportion(extent) + 2.0);
        let cost = if fits(extent) { cost } else { 3.0 * cost };
        if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
            best = Some((cost, points, extent));
        }
    }
    best.map(|(_, points, extent)| (points, extent)).asserted_or_default()
}

fn rows(sizes: &[Size], order: &[usize], gap: f64, limit: f64) -> (Vec<Point>, Size) {
    let mut points = vec![Point::default(); sizes.len()];
    let mut extent = Size::default();
    let (mut x, mut y, mut row_height) = (0.0, 0.0, 0.0_f64);
    for index in order {
        let size = sizes[*index];
        if x > 0.0 && x + size.width > limit {
            y += row_height + gap;
            (x, row_height) = (0.0, 0.0);
        }
        points[*index] = Point::new(x, y);
        row_height = row_height.max(size.height);
        extent = Size::new(extent.width.max(x + size.width), extent.height.max(y + row_height));
        x += size.width + gap;
    }
    (points, extent)
}

/// Places rectangles, at least one, in the cells of a grid, row by row in the order given.
pub(super) fn grid(sizes: &[Size], gap: f64) -> (Vec<Point>, Size) {
    let mut best: Option<(f64, Vec<Point>, Size)> = None;
    let mut columns = 1;
    while columns <= sizes.len() {
        let (points, extent) = grid_of(sizes, gap, columns);
        let cost = if fits(extent) { misproportion(extent) } else { 3.0 * misproportion(extent) };
        if best.as_ref().is_none_or(|(known, ..)| cost < *known) {
            best = Some((cost, points, extent));
        }
        // About 40 attempts for 10,000 rectangles.
        columns += 1 + columns / 8;
    }
    best.map(|(_, points, extent)| (points, extent)).asserted_or_default()
}

fn grid_of(sizes: &[Size], gap: f64, columns: usize) -> (Vec<Point>, Size) {
    let mut widths = vec![0.0_f64; columns];
    let mut heights = vec![0.0_f64; sizes.len().div_ceil(columns)];
    for (index, size) in sizes.iter().enumerate() {
        widths[index % columns] = widths[index % columns].max(size.width);
        heights[index / columns] = heights[index / columns].max(size.height);
    }
    let lefts = starts(&widths, gap);
    let tops = starts(&heights, gap);
    let points = (0..sizes.len()).map(|i| Point::new(lefts[i % columns], tops[i / columns])).collect();
    let extent = |lengths: &[f64]| lengths.iter().sum::<f64>() + gap * (lengths.len().max(1) - 1) as f64;
    (points, Size::new(extent(&widths), extent(&heights)))
}

fn starts(lengths: &[f64], gap: f64) -> Vec<f64> {
    lengths
        .iter()
        .scan(0.0, |next, length| {
            let start = *next;
            *next += length + gap;
            Some(start)
        })
        .collect()
}
