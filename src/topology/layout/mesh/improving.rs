//! Moving single nodes where that removes crossings.

use super::super::containers::Level;
use super::super::geometry::Point;
use super::conflicts::{ConflictIndex, Conflicts, Costs};
use super::distances::{Distances, better_place, stress_at, total_stress};

/// The costs of conflicts, compared with stress. A cost of 1 is the stress of a pair whose distance is off by the
/// desired one.
const COSTS: Costs = Costs { crossing: 2.0, passage: 0.8, overlap: 0.8 };
/// Number of nodes above which conflicts cost more. Their costs then grow with the number of nodes, as the stress of a
/// node does.
const NODES: f64 = 120.0;
/// The largest factor of costs in large networks.
const MAX_COST_FACTOR: f64 = 2.0;
const MAX_PASSES: usize = 12;
/// Maximum number of nodes by which the work of a pass is estimated.
const MAX_SAMPLES: usize = 50;
/// Minimum number of places that the estimate assumes to be tried for a node.
const MIN_PLACES: usize = 4;
/// The side of the cells by which nodes and lines are found. Its unit is the typical length of a line.
const CELL: f64 = 0.75;
/// Maximum number of neighbors around which places are tried.
const MAX_NEIGHBORS: usize = 4;

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

/// Improves one drawing.
#[derive(Debug)]
pub(super) struct Improver<'a> {
    level: &'a Level,
    distances: &'a Distances,
    drawing: ConflictIndex<'a>,
    costs: Costs,
    /// Nodes whose place is the best of those tried. Nothing has changed around them since.
    settled: Vec<bool>,
    budget: usize,
}

impl<'a> Improver<'a> {
    pub(super) fn new(level: &'a Level, distances: &'a Distances, points: Vec<Point>, budget: usize) -> Self {
        let settled = vec![false; points.len()];
        let drawing = ConflictIndex::new(level, points, distances.unit * CELL);
        let factor = (level.network.len() as f64 / NODES).clamp(1.0, MAX_COST_FACTOR);
        let costs = Costs {
            crossing: COSTS.crossing * factor,
            passage: COSTS.passage * factor,
            overlap: COSTS.overlap * factor,
        };
        Self { level, distances, drawing, costs, settled, budget }
    }

    /// Returns the cost of the drawing: its stress and its crossings.
    pub(super) fn cost(&mut self) -> f64 {
        let stress = total_stress(self.drawing.points(), self.distances);
        stress + self.costs.crossing * self.drawing.total().crossings as f64
    }

    /// Moves nodes, one at a time, while the cost falls and the budget lasts.
    ///
    /// Returns the drawing, and the rest of the budget with the number of crossings and of lines through nodes, unless
    /// the budget is spent.
    pub(super) fn improve(mut self) -> (Vec<Point>, Option<(usize, usize)>) {
        if self.pass() > self.budget {
            return (self.drawing.into_points(), None);
        }
        for _ in 0..MAX_PASSES {
            let mut improved = false;
            for node in 0..self.level.network.len() {
                crate::fair_threads::yield_turn();
                if self.budget == 0 {
                    break;
                }
                if !self.settled[node] {
                    improved |= self.improve_node(node);
                }
            }
            if !improved {
                break;
            }
        }
        let rest = (self.budget > 0).then(|| {
            let Conflicts { crossings, passages } = self.drawing.total();
            (self.budget, crossings + passages)
        });
        (self.drawing.into_points(), rest)
    }

    /// Returns an estimate of the least work of a pass over all nodes.
    fn pass(&mut self) -> usize {
        let count = self.level.network.len();
        let step = count.div_ceil(MAX_SAMPLES).max(1);
        for node in (0..count).step_by(step) {
            crate::fair_threads::yield_turn();
            let place = self.drawing.points()[node];
            self.drawing.cost(node, place, self.costs, f64::INFINITY);
        }
        self.drawing.take_work() * step * MIN_PLACES
    }

    fn improve_node(&mut self, node: usize) -> bool {
        let place = self.drawing.points()[node];
        let conflicts = self.drawing.cost(node, place, self.costs, f64::INFINITY);
        let mut least = conflicts + self.stress(node, place);
        let mut best = place;
        let mut candidates = vec![better_place(node, self.drawing.points(), self.distances)];
        if conflicts > 0.0 {
            candidates.extend(self.candidates(node));
        }
        for candidate in candidates {
            let stress = self.stress(node, candidate);
            if stress < least {
                let cost = stress + self.drawing.cost(node, candidate, self.costs, least - stress);
                if cost < least - 1e-4 {
                    (best, least) = (candidate, cost);
                }
            }
        }
        if best == place {
            self.settled[node] = true;
        } else {
            self.unsettle(node);
            self.drawing.place(node, best);
            self.unsettle(node);
        }
        self.budget = self.budget.saturating_sub(self.drawing.take_work());
        best != place
    }

    /// Marks the nodes that the place of this one affects as not settled.
    fn unsettle(&mut self, node: usize) {
        let settled = &mut self.settled;
        self.drawing.opponents(node, |other| settled[other] = false);
        for neighbor in self.level.network.neighbors(node) {
            settled[*neighbor] = false;
        }
    }

    fn candidates(&self, node: usize) -> Vec<Point> {
        let points = self.drawing.points();
        let place = points[node];
        let unit = self.distances.unit;
        let around = |center: Point, radius: f64| {
            DIRECTIONS.iter().map(move |(x, y)| center.plus(Point::new(x * radius, y * radius)))
        };
        let neighbors = self.level.network.neighbors(node);
        let mut candidates: Vec<Point> = around(place, unit * 0.3)
            .chain(around(place, unit * 0.7))
            .chain(around(place, unit * 1.4))
            .collect();
        for neighbor in neighbors.iter().take(MAX_NEIGHBORS) {
            candidates.extend(around(points[*neighbor], unit));
        }
        let sum = neighbors.iter().fold(Point::default(), |sum, neighbor| sum.plus(points[*neighbor]));
        candidates.push(sum.times(1.0 / neighbors.len().max(1) as f64));
        candidates
    }

    fn stress(&mut self, node: usize, place: Point) -> f64 {
        // A spring costs half as much work as a check of a line.
        self.budget = self.budget.saturating_sub(self.distances.springs(node).len() / 2);
        stress_at(node, place, self.drawing.points(), self.distances)
    }
}
