//! Moving single nodes where that removes crossings.

use super::super::geometry::{Point, Rect, segments_cross};
use super::super::level::{GAP, Level};
use super::super::table::Table;
use super::distances::Distances;
use super::stress;

/// What a crossing costs, compared with the stress of a pair whose distance is off by the desired one.
const CROSSING: f64 = 0.5;
/// What a line through a foreign node costs.
const PASSAGE: f64 = 0.8;
/// What two overlapping nodes cost.
const OVERLAP: f64 = 1.0;
/// The distance that lines should keep from foreign nodes.
const CLEARANCE: f64 = 8.0;
const PASSES: usize = 12;

const DIAGONAL: f64 = 0.707_106_781_186_547_5;
const DIRECTIONS: [(f64, f64); 8] = [
    (1.0, 0.0),
    (DIAGONAL, DIAGONAL),
    (0.0, 1.0),
    (-DIAGONAL, DIAGONAL),
    (-1.0, 0.0),
    (-DIAGONAL, -DIAGONAL),
    (0.0, -1.0),
    (DIAGONAL, -DIAGONAL),
];

/// Improves drawings of one network.
#[derive(Debug)]
pub(super) struct Improver<'a> {
    level: &'a Level,
    distances: &'a Distances,
    budget: usize,
}

impl<'a> Improver<'a> {
    pub(super) const fn new(level: &'a Level, distances: &'a Distances, budget: usize) -> Self {
        Self { level, distances, budget }
    }

    /// Returns the cost of a drawing: its stress and its crossings.
    pub(super) fn cost(&self, points: &Table<Point>) -> f64 {
        if self.level.network.len() > super::SMALL {
            return stress::total(points, self.distances);
        }
        stress::total(points, self.distances) + CROSSING * self.crossings(points) as f64
    }

    /// Returns the number of crossings, and of lines through nodes.
    pub(super) fn count(&self, points: &Table<Point>) -> usize {
        let network = &self.level.network;
        let mut passages = 0;
        for node in 0..network.len() {
            let rect = Rect::centered(points.at(node), self.level.sizes.at(node)).grown(CLEARANCE);
            let foreign = network.edges().iter().filter(|(one, other)| *one != node && *other != node);
            passages += foreign
                .filter(|(one, other)| rect.clip(points.at(*one), points.at(*other)).is_some())
                .count();
        }
        self.crossings(points) + passages
    }

    fn crossings(&self, points: &Table<Point>) -> usize {
        let edges = self.level.network.edges();
        let mut crossings = 0;
        for (index, (a, b)) in edges.iter().enumerate() {
            let first = (points.at(*a), points.at(*b));
            for (c, d) in edges.iter().skip(index + 1) {
                crossings += usize::from(segments_cross(first, (points.at(*c), points.at(*d))));
            }
        }
        crossings
    }

    /// Moves nodes, one at a time, as long as the cost falls and the budget lasts; returns the rest of it.
    pub(super) fn improve(mut self, points: &mut Table<Point>) -> usize {
        for _ in 0..PASSES {
            let mut improved = false;
            for node in 0..points.len() {
                improved |= self.improve_node(node, points);
                if self.budget == 0 {
                    return 0;
                }
            }
            if !improved {
                break;
            }
        }
        self.budget
    }

    fn improve_node(&mut self, node: usize, points: &mut Table<Point>) -> bool {
        let place = points.at(node);
        let conflicts = self.conflicts(node, place, points);
        let mut least = conflicts + stress::at(node, place, points, self.distances);
        let mut best = place;
        let mut candidates = vec![stress::better_place(node, points, self.distances)];
        if conflicts > 0.0 {
            candidates.extend(self.candidates(node, points));
        }
        for candidate in candidates {
            let stress = stress::at(node, candidate, points, self.distances);
            if stress < least {
                let cost = stress + self.conflicts(node, candidate, points);
                if cost < least - 1e-4 {
                    (best, least) = (candidate, cost);
                }
            }
        }
        points.set(node, best);
        best != place
    }

    fn candidates(&self, node: usize, points: &Table<Point>) -> Vec<Point> {
        let place = points.at(node);
        let unit = self.distances.unit;
        let around = |center: Point, radius: f64| {
            DIRECTIONS.iter().map(move |(x, y)| center.plus(Point::new(x * radius, y * radius)))
        };
        let neighbors = self.level.network.neighbors(node);
        let mut candidates: Vec<Point> = around(place, unit * 0.3)
            .chain(around(place, unit * 0.7))
            .chain(around(place, unit * 1.4))
            .collect();
        for neighbor in neighbors.iter().take(4) {
            candidates.extend(around(points.at(*neighbor), unit));
        }
        let sum = neighbors.iter().fold(Point::default(), |sum, neighbor| sum.plus(points.at(*neighbor)));
        candidates.push(sum.times(1.0 / neighbors.len().max(1) as f64));
        candidates
    }

    /// Returns the cost of crossings, passages and overlaps of a node at a place.
    fn conflicts(&mut self, node: usize, place: Point, points: &Table<Point>) -> f64 {
        let network = &self.level.network;
        let own = Rect::centered(place, self.level.sizes.at(node));
        let clear = own.grown(CLEARANCE);
        let mut cost = 0.0;
        let work = (network.degree(node) + 1) * (network.edges().len() + network.len());
        self.budget = self.budget.saturating_sub(work);
        for other in (0..network.len()).filter(|other| *other != node) {
            let rect = Rect::centered(points.at(other), self.level.sizes.at(other));
            if rect.overlaps(own.grown(GAP)) {
                cost += OVERLAP;
            }
            let rect = rect.grown(CLEARANCE);
            for neighbor in network.neighbors(node) {
                if *neighbor != other && rect.clip(place, points.at(*neighbor)).is_some() {
                    cost += PASSAGE;
                }
            }
        }
        for (one, other) in network.edges() {
            if *one == node || *other == node {
                continue;
            }
            let edge = (points.at(*one), points.at(*other));
            if clear.clip(edge.0, edge.1).is_some() {
                cost += PASSAGE;
            }
            for neighbor in network.neighbors(node) {
                if segments_cross((place, points.at(*neighbor)), edge) {
                    cost += CROSSING;
                }
            }
        }
        cost
    }
}
