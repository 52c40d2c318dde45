//! The desired distances between nodes, and the stress: the difference of the distances in the drawing from them.

use std::collections::VecDeque;

use crate::invariant::Invariant;
use crate::topology::layout::containers::{GAP, Level};
use crate::topology::layout::geometry::Point;

/// Maximum number of nodes for which all pairs count. In larger networks, neighbors count, and distances to pivots.
const MAX_NODES_OF_ALL_PAIRS: usize = 180;
const PIVOTS: usize = 60;
/// The distance of the labels of a line from its ends and from each other, in sum.
const LABELS: f64 = 20.0;
/// The length of a line between small nodes.
const LINE: f64 = 190.0;

/// One desired distance of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spring {
    pub(super) other: usize,
    pub(super) length: f64,
    pub(super) weight: f64,
}

/// The desired distances of all nodes.
#[derive(Debug)]
pub(super) struct Distances {
    springs: Vec<Vec<Spring>>,
    /// For some nodes, the distances of all nodes from them.
    pub(super) pivots: Vec<Vec<f64>>,
    /// The typical length of a line.
    pub(super) unit: f64,
}

impl Distances {
    pub(super) fn of(level: &Level) -> Self {
        let count = level.network.len();
        let unit = unit(level);
        if count <= MAX_NODES_OF_ALL_PAIRS {
            let pivots: Vec<Vec<f64>> = (0..count).map(|node| lengths(level, node, unit)).collect();
            let mut springs = vec![Vec::new(); count];
            for (node, lengths) in pivots.iter().enumerate() {
                for (other, length) in lengths.iter().enumerate().filter(|(other, _)| *other != node) {
                    springs[node].push(spring(other, *length, 1.0));
                }
            }
            return Self { springs, pivots, unit };
        }
        let (chosen, pivots, regions) = choose_pivots(level, unit);
        let mut springs = vec![Vec::new(); count];
        for node in 0..count {
            crate::fair_threads::yield_turn();
            for neighbor in level.network.neighbors(node) {
                springs[node].push(spring(*neighbor, edge_length(level, node, *neighbor, unit), 1.0));
            }
            for ((pivot, lengths), region) in chosen.iter().zip(&pivots).zip(&regions) {
                if *pivot != node && !level.network.neighbors(node).contains(pivot) {
                    springs[node].push(spring(*pivot, lengths[node], *region));
                }
            }
        }
        Self { springs, pivots, unit }
    }

    /// Returns distances that are larger by a factor.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let spring = |spring: &Spring| Spring {
            length: spring.length * factor,
            weight: spring.weight / (factor * factor),
            ..*spring
        };
        Self {
            springs: self.springs.iter().map(|springs| springs.iter().map(spring).collect()).collect(),
            pivots: Vec::new(),
            unit: self.unit * factor,
        }
    }

    pub(super) fn springs(&self, node: usize) -> &[Spring] {
        &self.springs[node]
    }
}

fn spring(other: usize, length: f64, share: f64) -> Spring {
    let length = length.max(1.0);
    Spring { other, length, weight: share / (length * length) }
}

/// Returns the length of lines: larger nodes need longer ones.
fn unit(level: &Level) -> f64 {
    let mut extents: Vec<f64> = level.sizes.iter().map(|size| (size.width + size.height) / 2.0).collect();
    extents.sort_by(f64::total_cmp);
    let median = extents.get(extents.len() / 2).copied().unwrap_or(0.0);
    LINE.max(median * 1.6 + GAP)
}

fn edge_length(level: &Level, one: usize, other: usize, unit: f64) -> f64 {
    let half = |node: usize| {
        let size = level.sizes[node];
        (size.width + size.height) / 4.0
    };
    // Even a line that runs from side to side has room for the labels at its ends.
    let labels = level.port_width(one, other) + level.port_width(other, one);
    let from_side_to_side = (level.sizes[one].width + level.sizes[other].width) / 2.0 + labels + LABELS;
    let with_labels = if labels > 0.0 { from_side_to_side } else { 0.0 };
    unit.max((half(one) + half(other)) * 1.25 + GAP).max(with_labels)
}

/// Returns the lengths of the ways from a node, with as few lines as possible.
fn lengths(level: &Level, from: usize, unit: f64) -> Vec<f64> {
    let count = level.network.len();
    let mut lengths = vec![None; count];
    lengths[from] = Some((0, 0.0));
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        let (hops, length) = lengths[node].asserted_or_default();
        for neighbor in level.network.neighbors(node) {
            let through = length + edge_length(level, node, *neighbor, unit);
            match lengths[*neighbor] {
                None => {
                    lengths[*neighbor] = Some((hops + 1, through));
                    waiting.push_back(*neighbor);
                }
                Some((known_hops, known)) if known_hops == hops + 1 && through < known => {
                    lengths[*neighbor] = Some((known_hops, through));
                }
                Some(_) => {}
            }
        }
    }
    lengths.iter().map(|length| length.map_or(unit, |(_, length)| length)).collect()
}

/// Chooses pivots far from each other, and returns how many nodes are nearest to each.
fn choose_pivots(level: &Level, unit: f64) -> (Vec<usize>, Vec<Vec<f64>>, Vec<f64>) {
    let count = level.network.len();
    let mut nearest = vec![(f64::INFINITY, 0_usize); count];
    let (mut chosen, mut all) = (Vec::new(), Vec::new());
    let mut pivot = 0;
    for number in 0..PIVOTS.min(count) {
        crate::fair_threads::yield_turn();
        let lengths = lengths(level, pivot, unit);
        for (node, length) in lengths.iter().enumerate() {
            if *length < nearest[node].0 {
                nearest[node] = (*length, number);
            }
        }
        chosen.push(pivot);
        all.push(lengths);
        let farthest = nearest.iter().enumerate().rev().max_by(|one, other| one.1.0.total_cmp(&other.1.0));
        pivot = farthest.asserted().map_or(0, |(node, _)| node);
    }
    let mut regions = vec![0.0; chosen.len()];
    for (_, number) in nearest.iter() {
        regions[*number] += 1.0;
    }
    (chosen, all, regions)
}

/// Moves each node in turn to where its stress is least while the others stay: localized stress
/// majorization (E. R. Gansner, Y. Koren, S. North: Graph Drawing by Stress Majorization, 2004).
pub(super) fn reduce_stress(points: &mut [Point], distances: &Distances, iterations: usize) {
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
pub(super) fn stress_at(node: usize, place: Point, points: &[Point], distances: &Distances) -> f64 {
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
pub(super) fn total_stress(points: &[Point], distances: &Distances) -> f64 {
    (0..points.len()).map(|node| stress_at(node, points[node], points, distances)).sum::<f64>() / 2.0
}
