//! Turning a drawing to good proportions.

use super::super::geometry::{Point, Rect, Size};
use super::super::packing::misproportion;
use super::super::table::Table;

const STEPS: usize = 16;

/// Turns a drawing so that it is neither too wide nor too high; the less, the better.
pub(super) fn turn(points: &Table<Point>, sizes: &Table<Size>) -> Table<Point> {
    let mut best: Option<(f64, Table<Point>)> = None;
    for step in 0..STEPS {
        // Steps through a half turn: tan of half the angle, from which sine and cosine follow without series.
        let half = step as f64 / STEPS as f64;
        let (sine, cosine) = (2.0 * half / (1.0 + half * half), (1.0 - half * half) / (1.0 + half * half));
        for (sine, cosine) in [(sine, cosine), (-cosine, sine)] {
            let turned: Table<Point> = points
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
    best.map(|(_, turned)| turned).unwrap_or_default()
}
