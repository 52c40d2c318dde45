//! Networks without a hierarchy: distances in the picture are those in the network.

mod distances;
mod improving;
mod scaling;
mod stress;
mod turning;

use self::distances::Distances;
use self::improving::Improver;
use super::geometry::{Point, Rect};
use super::level::{GAP, Level};
use super::overlap;
use super::table::Table;

const ENLARGEMENTS: usize = 3;
const ENLARGEMENT: f64 = 1.3;
/// Up to this number of nodes a drawing is improved node by node.
const SMALL: usize = 400;
/// Up to this number of nodes several drawings are tried.
const MOST_STARTING_AGAIN: usize = 100;

/// Places the shapes of a connected level and returns their corners.
pub(super) fn arrange(level: &Level) -> Vec<Point> {
    let mut distances = Distances::of(level);
    let improver = Improver::new(level, &distances, 0);
    let centers = starts(level, &distances)
        .into_iter()
        .map(|points| (improver.cost(&points), points))
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, points)| points)
        .unwrap_or_default();
    let mut centers = turning::turn(&centers, &level.sizes);
    if level.network.len() <= SMALL {
        improve(level, &mut distances, &mut centers);
    }
    turning::resize(&mut centers, &level.sizes);
    let mut rects: Vec<Rect> =
        centers.iter().zip(level.sizes.iter()).map(|(center, size)| Rect::centered(*center, *size)).collect();
    overlap::push_apart(&mut rects, GAP);
    let order: Vec<usize> = (0..rects.len()).collect();
    overlap::separate(&mut rects, &order, 0, GAP);
    rects.into_iter().map(Rect::corner).collect()
}

/// Moves nodes to remove crossings, and enlarges the drawing as long as that frees lines of nodes in their way.
fn improve(level: &Level, distances: &mut Distances, centers: &mut Table<Point>) {
    let mut budget = Improver::new(level, distances, level.budget).improve(centers);
    let mut conflicts = Improver::new(level, distances, 0).count(centers);
    for _ in 0..ENLARGEMENTS {
        if conflicts == 0 || budget == 0 {
            return;
        }
        let larger = distances.scaled(ENLARGEMENT);
        let mut attempt: Table<Point> = centers.iter().map(|center| center.times(ENLARGEMENT)).collect();
        budget = Improver::new(level, &larger, budget).improve(&mut attempt);
        let count = Improver::new(level, &larger, 0).count(&attempt);
        if count * 8 > conflicts * 7 {
            return;
        }
        (*centers, conflicts) = (attempt, count);
        *distances = larger;
    }
}

fn starts(level: &Level, distances: &Distances) -> Vec<Table<Point>> {
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
