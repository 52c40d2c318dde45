//! Shapes as obstacles, and the shortest ways around their corners: A* in a visibility graph whose edges are checked only
//! where the shortest way needs them.

use std::collections::BTreeSet;

use crate::topology::layout::geometry::{Point, Rect};
use crate::topology::layout::outline::Outline;
use crate::topology::layout::space::Space;

const MAX_ROUNDS: usize = 120;
const MAX_POINTS: usize = 160;
/// The cost of finding an obstacle, as a multiple of the cost of checking a pair of points.
const OBSTACLE_COST: usize = 50;
/// The distance at which lines pass the corners of obstacles and their clearance.
const CORNER: f64 = 2.0;
const CORNER_COST: f64 = 4.0;

/// Returns a line around all obstacles, from center to center; `None` if none is found.
///
/// Like lazy A*, the search assumes that points see each other, and searches for obstacles only where its shortest way
/// meets them.
pub(super) fn route(between: &ObstaclesBetween<'_>, budget: &mut usize) -> Option<Vec<Point>> {
    if *budget == 0 {
        return None;
    }
    let mut graph = VisibilityGraph::new(between.source.center(), between.target.center());
    let mut known = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        crate::fair_threads::yield_turn();
        let way = graph.shortest(budget);
        if *budget == 0 || way.is_empty() {
            break;
        }
        let mut is_free = true;
        for pair in way.windows(2) {
            let [one, other] = *pair else { continue };
            if graph.between(one, other) == Some(true) {
                continue;
            }
            let obstacles = between.obstacles(graph.points[one], graph.points[other]);
            *budget = budget.saturating_sub(OBSTACLE_COST * (1 + obstacles.len()));
            graph.set(one, other, obstacles.is_empty());
            is_free &= obstacles.is_empty();
            for (shape, rect) in obstacles {
                if known.insert(shape) {
                    graph.add(rect.grown(CORNER).corners());
                }
            }
        }
        if is_free {
            return Some(way.into_iter().map(|index| graph.points[index]).collect());
        }
    }
    None
}

/// Points, with cached results for the lines between them.
#[derive(Debug)]
struct VisibilityGraph {
    points: Vec<Point>,
    /// The distance of each point from the end.
    rest: Vec<f64>,
    /// For pairs of points, whether they see each other.
    known: Vec<Option<bool>>,
}

impl VisibilityGraph {
    fn new(start: Point, end: Point) -> Self {
        Self {
            points: [start, end].into_iter().collect(),
            rest: vec![start.distance(end), 0.0],
            known: vec![None; MAX_POINTS * MAX_POINTS],
        }
    }

    fn add(&mut self, points: [Point; 4]) {
        if self.points.len() + points.len() <= MAX_POINTS {
            let end = self.points[1];
            self.rest.extend(points.iter().map(|point| point.distance(end)));
            self.points = self.points.iter().copied().chain(points).collect();
        }
    }

    fn between(&self, one: usize, other: usize) -> Option<bool> {
        self.known[one.min(other) * MAX_POINTS + one.max(other)]
    }

    fn set(&mut self, one: usize, other: usize, is_free: bool) {
        self.known[one.min(other) * MAX_POINTS + one.max(other)] = Some(is_free);
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
            // The lower bound of A*: the way so far, and a straight line for the rest.
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

/// The distance that lines keep from foreign shapes.
pub(in crate::topology::layout) const CLEARANCE: f64 = 7.0;

/// Obstacles of a line that are considered at once.
const MAX_OBSTACLES: usize = 12;

/// All shapes.
#[derive(Debug)]
pub(super) struct Obstacles<'a> {
    outline: &'a Outline,
    rects: &'a [Rect],
    space: Space,
}

impl<'a> Obstacles<'a> {
    pub(super) fn new(outline: &'a Outline, rects: &'a [Rect]) -> Self {
        let grown: Vec<Rect> = rects.iter().map(|rect| rect.grown(CLEARANCE)).collect();
        Self { outline, rects, space: Space::holding(&grown) }
    }

    pub(super) fn between(&self, source_index: usize, target_index: usize) -> ObstaclesBetween<'_> {
        ObstaclesBetween {
            field: self,
            source: self.rects[source_index],
            target: self.rects[target_index],
            source_index,
            target_index,
        }
    }
}

/// The shapes as obstacles for the lines between two of them.
#[derive(Debug)]
pub(super) struct ObstaclesBetween<'a> {
    field: &'a Obstacles<'a>,
    pub(super) source: Rect,
    pub(super) target: Rect,
    pub(super) source_index: usize,
    pub(super) target_index: usize,
}

impl ObstaclesBetween<'_> {
    pub(super) fn rect_of(&self, shape: usize) -> Rect {
        self.field.rects[shape]
    }

    /// Returns whether one of the two shapes contains the other.
    pub(super) fn nested(&self) -> bool {
        let outline = self.field.outline;
        outline.encloses(self.source_index, self.target_index)
            || outline.encloses(self.target_index, self.source_index)
    }

    /// Returns whether a shape is in the way. The two shapes, shapes in them and shapes around them are not.
    fn is_obstacle(&self, shape: usize) -> bool {
        let outline = self.field.outline;
        ![self.source_index, self.target_index]
            .into_iter()
            .any(|end| shape == end || outline.encloses(shape, end) || outline.encloses(end, shape))
    }

    /// Returns whether a segment keeps clear of all obstacles.
    pub(super) fn is_free(&self, from: Point, to: Point) -> bool {
        let mut free = true;
        self.field.space.along(from, to, |shape, _| {
            free = !self.is_obstacle(shape);
            free
        });
        free
    }

    /// Returns whether all segments of a line keep clear of all obstacles.
    pub(super) fn is_line_free(&self, line: &[Point]) -> bool {
        line.windows(2).all(|pair| match pair {
            [from, to] => self.is_free(*from, *to),
            _ => true,
        })
    }

    /// Returns some of the obstacles of a segment, each with its clearance. Obstacles within other obstacles are left
    /// out.
    pub(super) fn obstacles(&self, from: Point, to: Point) -> Vec<(usize, Rect)> {
        let mut found: Vec<(usize, Rect)> = Vec::new();
        self.field.space.along(from, to, |shape, rect| {
            if self.is_obstacle(shape) && found.iter().all(|(known, _)| *known != shape) {
                found.push((shape, rect));
            }
            found.len() < MAX_OBSTACLES
        });
        let outline = self.field.outline;
        let inner = |shape: usize| outline.parents[shape].is_some_and(|parent| self.is_obstacle(parent));
        found.retain(|(shape, _)| !inner(*shape));
        found.sort_by_key(|(shape, _)| *shape);
        found
    }

    /// Returns the obstacles within a rectangle, each with its clearance.
    pub(super) fn obstacles_within(&self, within: Rect) -> Vec<Rect> {
        let mut found: Vec<(usize, Rect)> = Vec::new();
        self.field.space.overlapping(within, |shape, rect| {
            if self.is_obstacle(shape) {
                found.push((shape, rect));
            }
            true
        });
        found.sort_by_key(|(shape, _)| *shape);
        found.dedup_by_key(|(shape, _)| *shape);
        found.into_iter().map(|(_, rect)| rect).collect()
    }
}
