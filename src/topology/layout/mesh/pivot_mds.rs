//! Pivot MDS: a first drawing by multidimensional scaling of the distances to pivots.
//!
//! U. Brandes, C. Pich: Eigensolver Methods for Progressive Multidimensional Scaling of Large Data, 2006. The
//! eigenvectors are found by power iteration.

use super::super::geometry::Point;
use super::distances::Distances;

const ITERATIONS: usize = 60;
const DIMENSIONS: usize = 3;

/// Returns coordinates along up to three axes of largest extent, the largest first.
pub(super) fn axes(distances: &Distances, count: usize) -> Vec<Vec<f64>> {
    let columns = centered(distances, count);
    let gram: Vec<Vec<f64>> =
        columns.iter().map(|one| columns.iter().map(|other| dot(one, other)).collect()).collect();
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut axes = Vec::new();
    for dimension in 0..DIMENSIONS.min(columns.len()) {
        // Any start will do if it is the same on every machine and has no symmetry.
        let mut vector: Vec<f64> =
            (0..columns.len()).map(|index| 1.0 + ((index * 7 + dimension * 3) % 11) as f64 / 11.0).collect();
        for _ in 0..ITERATIONS {
            crate::fair_threads::yield_turn();
            for known in &found {
                let share = dot(&vector, known);
                for (value, known) in vector.iter_mut().zip(known) {
                    *value -= share * known;
                }
            }
            vector = gram.iter().map(|row| dot(row, &vector)).collect();
            let length = dot(&vector, &vector).sqrt();
            if length < 1e-9 {
                break;
            }
            for value in &mut vector {
                *value /= length;
            }
        }
        let axis = (0..count)
            .map(|node| columns.iter().zip(&vector).map(|(column, share)| column[node] * share).sum())
            .collect();
        axes.push(axis);
        found.push(vector);
    }
    axes
}

/// Returns a drawing in two of the axes, scaled to the desired distances.
pub(super) fn drawing(axes: &[Vec<f64>], first: usize, second: usize, distances: &Distances) -> Vec<Point> {
    let count = axes.first().map_or(0, Vec::len);
    // A small network has fewer axes.
    let along = |axis: usize, node: usize| axes.get(axis).map_or(0.0, |axis| axis[node]);
    let mut points: Vec<Point> = (0..count)
        .map(|node| {
            // A little disorder separates nodes with the same distances to all pivots.
            let offset = |salt: usize| ((node * 7 + salt) % 17) as f64 / 17.0 - 0.5;
            Point::new(along(first, node), along(second, node))
                .plus(Point::new(offset(3), offset(11)).times(1e-3))
        })
        .collect();
    let (mut desired, mut actual) = (0.0, 0.0);
    for node in 0..count {
        for spring in distances.springs(node) {
            let distance = points[node].distance(points[spring.other]);
            desired += spring.weight * spring.length * distance;
            actual += spring.weight * distance * distance;
        }
    }
    let factor = if actual > 0.0 { desired / actual } else { 1.0 };
    let jitter = distances.unit * 0.05;
    for (node, point) in points.iter_mut().enumerate() {
        let offset = |salt: usize| ((node * 7 + salt) % 17) as f64 / 17.0 - 0.5;
        *point = point.times(factor).plus(Point::new(offset(3), offset(11)).times(jitter));
    }
    points
}

/// Returns the squared distances to each pivot, centered both ways.
fn centered(distances: &Distances, count: usize) -> Vec<Vec<f64>> {
    let pivots = distances.pivots.len().max(1) as f64;
    let mut columns: Vec<Vec<f64>> = distances
        .pivots
        .iter()
        .map(|lengths| {
            let squares: Vec<f64> =
                lengths.iter().map(|length| length * length / (distances.unit * distances.unit)).collect();
            let mean = squares.iter().sum::<f64>() / count.max(1) as f64;
            squares.into_iter().map(|square| square - mean).collect()
        })
        .collect();
    for node in 0..count {
        let mean = columns.iter().map(|column| column[node]).sum::<f64>() / pivots;
        for column in &mut columns {
            column[node] = (column[node] - mean) * -0.5;
        }
    }
    columns
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other.iter()).map(|(one, other)| one * other).sum()
}
