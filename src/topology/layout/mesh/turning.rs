//! Turning a drawing to good proportions.

use super::super::geometry::{Point, Rect, Size};
use super::super::level::GAP;
use super::super::packing::misproportion;
use crate::invariant::Invariant;

const STEPS: usize = 16;

/// The largest extent of a drawing, so that coordinates stay within their bounds.
const LARGEST: f64 = 900_000.0;
/// The part of a drawing that its nodes may cover, with the gaps between them.
const COVERAGE: f64 = 0.5;

/// Scales a drawing and returns the factor. A drawing without room for all nodes becomes larger, and one that is too
/// large becomes smaller.
pub(super) fn resize(points: &mut [Point], sizes: &[Size]) -> f64 {
    let extent = Rect::around(points.iter().copied()).unwrap_or_default();
    let needed: f64 = sizes.iter().map(|size| (size.width + GAP) * (size.height + GAP)).sum();
    // Networks that are almost lines have little area, but nodes do not overlap in them.
    let (width, height) = (extent.width.max(extent.height / 4.0), extent.height.max(extent.width / 4.0));
    let room = (width * height).max(1.0) * COVERAGE;
    let factor = (needed / room).sqrt().max(1.0).min(LARGEST / extent.width.max(extent.height).max(1.0));
    if factor == 1.0 || points.len() <= 2 {
        return 1.0;
    }
    for point in points {
        *point = point.times(factor);
    }
    factor
}

/// Turns a drawing so that it is neither too wide nor too high. Of several angles, the one with the best proportions is
/// taken.
pub(super) fn turn(points: &[Point], sizes: &[Size]) -> Vec<Point> {
    let mut best: Option<(f64, Vec<Point>)> = None;
    for step in 0..STEPS {
        crate::fair_threads::yield_turn();
        // Steps through a half turn: tan of half the angle, from which sine and cosine follow without series.
        let half = step as f64 / STEPS as f64;
        let (sine, cosine) = (2.0 * half / (1.0 + half * half), (1.0 - half * half) / (1.0 + half * half));
        for (sine, cosine) in [(sine, cosine), (-cosine, sine)] {
            let turned: Vec<Point> = points
                .iter()
                .map(|point| Point::new(point.x * cosine - point.y * sine, point.x * sine + point.y * cosine))
                .collect();
            let rects = turned.iter().zip(sizes.iter()).map(|(point, size)| Rect::centered(*point, *size));
            let extent = rects.reduce(Rect::union).unwrap_or_default().size();
            let cost = misproportion(extent).max(1.1) + extent.width * extent.height * 1e-9;
            if best.as_ref().is_none_or(|(known, _)| cost < *known) {
                best = Some((cost, turned));
            }
        }
    }
    best.map(|(_, turned)| turned).asserted_or_default()
}
