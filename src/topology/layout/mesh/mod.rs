//! Networks without a hierarchy. Distances in the picture follow the distances in the network.

mod conflicts;
mod distances;
mod improving;
mod pivot_mds;
mod spreading;

use self::distances::{Distances, reduce_stress};
use self::improving::Improver;
use super::containers::{GAP, Level};
use super::geometry::{Point, Rect, Size};
use super::overlap;
use super::packing::misproportion;
use crate::invariant::Invariant;

const ENLARGEMENTS: usize = 3;
const ENLARGEMENT: f64 = 1.3;
/// Up to this number of nodes a drawing is improved node by node.
const MAX_IMPROVED: usize = 400;
/// Up to this number of nodes several drawings are tried.
const MAX_RESTARTED: usize = 100;

/// Places the shapes of a connected level and returns their corners.
pub(super) fn arrange(level: &Level) -> Vec<Point> {
    let distances = Distances::of(level);
    let mut centers = rotate_to_best_aspect(&start(level, &distances), &level.sizes);
    let factor = resize(&mut centers, &level.sizes);
    if spreading::is_crowded(&centers, &level.sizes) {
        spreading::spread(&mut centers, &level.sizes);
    } else {
        centers = improve(level, distances.scaled(factor), centers);
        resize(&mut centers, &level.sizes);
    }
    let mut rects: Vec<Rect> =
        centers.iter().zip(level.sizes.iter()).map(|(center, size)| Rect::centered(*center, *size)).collect();
    overlap::push_apart(&mut rects, GAP);
    let order: Vec<usize> = (0..rects.len()).collect();
    overlap::separate(&mut rects, &order, 0, GAP);
    rects.into_iter().map(Rect::corner).collect()
}

/// Moves nodes to remove crossings. Enlarges the drawing as long as that frees lines of nodes in their way.
fn improve(level: &Level, mut distances: Distances, centers: Vec<Point>) -> Vec<Point> {
    let (mut centers, mut rest) = Improver::new(level, &distances, centers, level.budget).improve();
    for _ in 0..ENLARGEMENTS {
        let Some((budget, conflicts)) = rest.filter(|(_, conflicts)| *conflicts > 0) else { break };
        let larger = distances.scaled(ENLARGEMENT);
        let attempt = centers.iter().map(|center| center.times(ENLARGEMENT)).collect();
        let (attempt, attempt_rest) = Improver::new(level, &larger, attempt, budget).improve();
        let is_worth_it = |count: usize| count * 8 <= conflicts * 7;
        if !attempt_rest.is_some_and(|(_, count)| is_worth_it(count)) {
            break;
        }
        (centers, rest, distances) = (attempt, attempt_rest, larger);
    }
    centers
}

/// Returns the best of some drawings of little stress.
fn start(level: &Level, distances: &Distances) -> Vec<Point> {
    let mut drawings = starts(level, distances);
    if drawings.len() > 1 {
        drawings.sort_by_cached_key(|points| {
            let cost = Improver::new(level, distances, points.clone(), 0).cost();
            (cost * 1e6) as i64
        });
    }
    drawings.into_iter().next().asserted_or_default()
}

fn starts(level: &Level, distances: &Distances) -> Vec<Vec<Point>> {
    let count = level.network.len();
    let axes = pivot_mds::axes(distances, count);
    let small = count <= MAX_IMPROVED;
    let pairs: &[(usize, usize)] =
        if count <= MAX_RESTARTED && level.is_small_part() { &[(0, 1), (0, 2), (1, 2)] } else { &[(0, 1)] };
    let iterations = if small { 100 } else { 40 };
    pairs
        .iter()
        .map(|(first, second)| {
            let mut points = pivot_mds::drawing(&axes, *first, *second, distances);
            reduce_stress(&mut points, distances, iterations);
            points
        })
        .collect()
}

/// Number of angles in a quarter turn that are tried.
const ANGLES: usize = 16;

/// The largest extent of a drawing, so that coordinates stay within their bounds.
const MAX_EXTENT: f64 = 900_000.0;
/// The part of a drawing that its nodes may cover, with the gaps between them.
const COVERAGE: f64 = 0.5;

/// Scales a drawing and returns the factor. A drawing without room for all nodes becomes larger, and one that is too
/// large becomes smaller.
fn resize(points: &mut [Point], sizes: &[Size]) -> f64 {
    let extent = Rect::around(points.iter().copied()).unwrap_or_default();
    let needed: f64 = sizes.iter().map(|size| (size.width + GAP) * (size.height + GAP)).sum();
    // Networks that are almost lines have little area, but nodes do not overlap in them.
    let (width, height) = (extent.width.max(extent.height / 4.0), extent.height.max(extent.width / 4.0));
    let room = (width * height).max(1.0) * COVERAGE;
    let factor = (needed / room).sqrt().max(1.0).min(MAX_EXTENT / extent.width.max(extent.height).max(1.0));
    if factor == 1.0 || points.len() <= 2 {
        return 1.0;
    }
    for point in points {
        *point = point.times(factor);
    }
    factor
}

/// Rotates a drawing so that it is neither too wide nor too high. Of several angles, the one with the best proportions is
/// taken.
fn rotate_to_best_aspect(points: &[Point], sizes: &[Size]) -> Vec<Point> {
    let mut best: Option<(f64, Vec<Point>)> = None;
    for step in 0..ANGLES {
        crate::fair_threads::yield_turn();
        // Steps through a half turn: tan of half the angle, from which sine and cosine follow without series.
        let half = step as f64 / ANGLES as f64;
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
