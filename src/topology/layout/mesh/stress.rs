//! Stress: by how much distances in the drawing differ from the desired ones.

use super::super::geometry::Point;
use super::distances::Distances;

/// Moves each node in turn to where its stress is least (majorization). The other nodes stay where they are.
pub(super) fn reduce(points: &mut [Point], distances: &Distances, iterations: usize) {
    for _ in 0..iterations {
        let mut moved = 0.0_f64;
        for node in 0..points.len() {
            crate::fair_threads::yield_turn();
            let better = better_place(node, points, distances);
            moved = moved.max(better.distance(points[node]));
            points[node] = better;
        }
        if moved < distances.unit * 0.002 {
            return;
        }
    }
}

/// Returns a place of less stress for a node; its own if there is none.
pub(super) fn better_place(node: usize, points: &[Point], distances: &Distances) -> Point {
    let point = points[node];
    let (mut sum, mut weights) = (Point::default(), 0.0);
    for spring in distances.springs(node) {
        let other = points[spring.other];
        let between = point.minus(other);
        let distance = between.length();
        let factor = if distance > 1e-6 { spring.length / distance } else { 0.0 };
        sum = sum.plus(other.plus(between.times(factor)).times(spring.weight));
        weights += spring.weight;
    }
    if weights > 0.0 { sum.times(1.0 / weights) } else { point }
}

/// Returns the stress of one node at a place.
pub(super) fn at(node: usize, place: Point, points: &[Point], distances: &Distances) -> f64 {
    distances
        .springs(node)
        .iter()
        .map(|spring| {
            let difference = place.distance(points[spring.other]) - spring.length;
            spring.weight * difference * difference
        })
        .sum()
}

/// Returns the stress of all pairs.
pub(super) fn total(points: &[Point], distances: &Distances) -> f64 {
    (0..points.len()).map(|node| at(node, points[node], points, distances)).sum::<f64>() / 2.0
}
