//! Shortest ways around corners of obstacles.

use std::collections::BTreeSet;

use super::super::geometry::Point;
use super::field::Between;

const ROUNDS: usize = 120;
const MOST_POINTS: usize = 160;
/// The cost of finding an obstacle, compared with looking at a pair of points.
const OBSTACLE: usize = 50;
/// The distance at which lines pass the corners of obstacles and their clearance.
const CORNER: f64 = 2.0;
const CORNER_COST: f64 = 4.0;

/// Returns a line around all obstacles, from center to center; `None` if none is found.
///
/// The search assumes that points see each other, and looks at obstacles only where its shortest way meets them.
pub(super) fn route(between: &Between<'_>, budget: &mut usize) -> Option<Vec<Point>> {
    if *budget == 0 {
        return None;
    }
    let mut sights = Sights::new(between.source.center(), between.target.center());
    let mut known = BTreeSet::new();
    for _ in 0..ROUNDS {
        crate::fair_threads::yield_turn();
        let way = sights.shortest(budget);
        if *budget == 0 || way.is_empty() {
            break;
        }
        let mut is_free = true;
        for pair in way.windows(2) {
            let [one, other] = *pair else { continue };
            if sights.between(one, other) == Some(true) {
                continue;
            }
            let obstacles = between.obstacles(sights.points[one], sights.points[other]);
            *budget = budget.saturating_sub(OBSTACLE * (1 + obstacles.len()));
            sights.set(one, other, obstacles.is_empty());
            is_free &= obstacles.is_empty();
            for (shape, rect) in obstacles {
                if known.insert(shape) {
                    sights.add(rect.grown(CORNER).corners());
                }
            }
        }
        if is_free {
            return Some(way.into_iter().map(|index| sights.points[index]).collect());
        }
    }
    None
}

/// Points, with cached results for the lines between them.
#[derive(Debug)]
struct Sights {
    points: Vec<Point>,
    /// The distance of each point from the end.
    rest: Vec<f64>,
    /// For pairs of points, whether they see each other.
    known: Vec<Option<bool>>,
}

impl Sights {
    fn new(start: Point, end: Point) -> Self {
        Self {
            points: [start, end].into_iter().collect(),
            rest: vec![start.distance(end), 0.0],
            known: vec![None; MOST_POINTS * MOST_POINTS],
        }
    }

    fn add(&mut self, points: [Point; 4]) {
        if self.points.len() + points.len() <= MOST_POINTS {
            let end = self.points[1];
            self.rest.extend(points.iter().map(|point| point.distance(end)));
            self.points = self.points.iter().copied().chain(points).collect();
        }
    }

    fn between(&self, one: usize, other: usize) -> Option<bool> {
        self.known[one.min(other) * MOST_POINTS + one.max(other)]
    }

    fn set(&mut self, one: usize, other: usize, is_free: bool) {
        self.known[one.min(other) * MOST_POINTS + one.max(other)] = Some(is_free);
    }

    /// Returns the shortest way from the first point to the second, as indexes. Empty without a way.
    fn shortest(&self, budget: &mut usize) -> Vec<usize> {
        let count = self.points.len();
        let mut lengths = vec![f64::INFINITY; count];
        let mut before = vec![0; count];
        let mut done = vec![false; count];
        lengths[0] = 0.0;
        loop {
            *budget = budget.saturating_sub(count);
            // A way is at least as long as its present part and a straight line for the rest.
            let open = lengths
                .iter()
                .zip(&self.rest)
                .enumerate()
                .filter(|(point, (length, _))| !done[*point] && length.is_finite())
                .map(|(point, (length, rest))| (point, length + rest));
            let Some((nearest, _)) = open.min_by(|one, other| one.1.total_cmp(&other.1)) else {
                return Vec::new();
            };
            if nearest == 1 {
                break;
            }
            done[nearest] = true;
            let (from, length) = (self.points[nearest], lengths[nearest]);
            for (other, to) in self.points.iter().enumerate() {
                if done[other] || self.between(nearest, other) == Some(false) {
                    continue;
                }
                // A corner costs a little, so that few corners are preferred to a slightly shorter way.
                let through = length + from.distance(*to) + CORNER_COST;
                if through < lengths[other] {
                    lengths[other] = through;
                    before[other] = nearest;
                }
            }
        }
        let (mut way, mut last) = (vec![1], 1);
        while last != 0 && way.len() <= count {
            last = before[last];
            way.push(last);
        }
        way.reverse();
        way
    }
}
