//! Networks without a hierarchy. Distances in the picture follow the distances in the network.

mod distances;
mod improving;
mod scaling;
mod spreading;
mod stress;
mod surroundings;
mod turning;

use self::distances::Distances;
use self::improving::Improver;
use super::geometry::{Point, Rect};
use super::level::{GAP, Level};
use super::overlap;
use crate::invariant::Invariant;

const ENLARGEMENTS: usize = 3;
const ENLARGEMENT: f64 = 1.3;
/// Up to this number of nodes a drawing is improved node by node.
const SMALL: usize = 400;
/// Up to this number of nodes several drawings are tried.
const MOST_STARTING_AGAIN: usize = 100;

/// Places the shapes of a connected level and returns their corners.
pub(super) fn arrange(level: &Level) -> Vec<Point> {
    let distances = Distances::of(level);
    let mut centers = turning::turn(&start(level, &distances), &level.sizes);
    let factor = turning::resize(&mut centers, &level.sizes);
    if spreading::is_crowded(&centers, &level.sizes) {
        spreading::spread(&mut centers, &level.sizes);
    } else {
        centers = improve(level, distances.scaled(factor), centers);
        turning::resize(&mut centers, &level.sizes);
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
    let axes = scaling::axes(distances, count);
    let small = count <= SMALL;
    let pairs: &[(usize, usize)] = if count <= MOST_STARTING_AGAIN && level.is_small_part() {
        &[(0, 1), (0, 2), (1, 2)]
    } else {
        &[(0, 1)]
    };
    let iterations = if small { 100 } else { 40 };
    pairs
        .iter()
        .map(|(first, second)| {
            let mut points = scaling::drawing(&axes, *first, *second, distances);
            stress::reduce(&mut points, distances, iterations);
            points
        })
        .collect()
}
