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
    let mut centers = rotate_to_best_aspect(&start(level, &distances), level);
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

/// Number of nodes from which on a drawing has a standard direction.
const MIN_STEADY: usize = 5;
/// How much worse the proportions of a drawing may be that is turned less.
const TURNED_LESS: f64 = 1.08;

/// Rotates a drawing so that it is neither too wide nor too high. Of several angles, the one with the best proportions is
/// taken.
///
/// A network with few cycles, such as a ring of rings, has one good drawing in any direction. It starts in a direction that
/// follows from the order of the nodes and turns as little as possible, so that a node more does not turn it over.
fn rotate_to_best_aspect(points: &[Point], level: &Level) -> Vec<Point> {
    let (count, lines) = (level.network.len(), level.network.edges().len());
    let is_steady = (MIN_STEADY..=MAX_IMPROVED).contains(&count) && lines * 4 <= count * 5;
    let points = if is_steady { in_standard_direction(points) } else { points.to_vec() };
    let tolerance = if is_steady { TURNED_LESS } else { 1.0 };
    let mut turns = Vec::with_capacity(2 * ANGLES);
    for step in 0..ANGLES {
        crate::fair_threads::yield_turn();
        // Steps through a half turn: tan of half the angle, from which sine and cosine follow without series.
        let half = step as f64 / ANGLES as f64;
        let (sine, cosine) = (2.0 * half / (1.0 + half * half), (1.0 - half * half) / (1.0 + half * half));
        for turn in [Point::new(cosine, sine), Point::new(sine, -cosine)] {
            let points = turned(&points, turn);
            let rects = points.iter().zip(&level.sizes).map(|(point, size)| Rect::centered(*point, *size));
            let extent = rects.reduce(Rect::union).unwrap_or_default().size();
            let (shape, area) = (misproportion(extent).max(1.1), extent.width * extent.height);
            let cost = if is_steady { shape * area.sqrt() } else { shape + area * 1e-9 };
            turns.push((cost, turn));
        }
    }
    let least = turns.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
    let good = turns.into_iter().filter(|(cost, _)| *cost <= least * tolerance).rev();
    let smallest = good.max_by(|(_, one), (_, other)| one.x.total_cmp(&other.x));
    smallest.map(|(_, turn)| turned(&points, turn)).asserted_or_default()
}

/// Rotates points by an angle whose cosine and sine are given.
fn turned(points: &[Point], turn: Point) -> Vec<Point> {
    let turn =
        |point: &Point| Point::new(point.x * turn.x - point.y * turn.y, point.x * turn.y + point.y * turn.x);
    points.iter().map(turn).collect()
}

/// Rotates a drawing so that its nodes follow each other rather from the upper left to the lower right, and mirrors it so that
/// the first and the last ones are rather above the others.
fn in_standard_direction(points: &[Point]) -> Vec<Point> {
    let middle = points.len().saturating_sub(1) as f64 / 2.0;
    let mean_square = points.len().saturating_mul(points.len()) as f64 / 12.0;
    let sum = |points: &[Point], weight: &dyn Fn(f64) -> f64| {
        let weighted =
            points.iter().enumerate().map(|(place, point)| point.times(weight(place as f64 - middle)));
        weighted.fold(Point::default(), Point::plus)
    };
    let direction = sum(points, &|offset| offset);
    let length = direction.length();
    if length <= 0.0 || !length.is_finite() {
        return points.to_vec();
    }
    // The direction of the nodes becomes that of the x axis, and at last the diagonal.
    let direction = direction.times(1.0 / length);
    let mut along = turned(points, Point::new(direction.x, -direction.y));
    if sum(&along, &|offset| offset * offset - mean_square).y > 0.0 {
        along.iter_mut().for_each(|point| point.y = -point.y);
    }
    turned(&along, Point::new(0.5_f64.sqrt(), 0.5_f64.sqrt()))
}
