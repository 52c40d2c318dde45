//! Directions in which lines leave their shapes.

use std::cmp::Ordering;

use super::super::geometry::{Point, Rect};
use super::field::{Between, CLEARANCE};
use super::{Bundle, LANE};
use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;

/// Parallel lines keep this distance from lines of other bundles where they leave a shape.
const APART: f64 = 1.0;

/// For each shape, the directions of its bundles of lines in circular order.
#[derive(Debug)]
pub(super) struct Fans {
    directions: Vec<Vec<Point>>,
}

impl Fans {
    pub(super) fn new(bundles: &[Bundle], rects: &[Rect]) -> Self {
        let mut directions = vec![Vec::new(); rects.len()];
        for bundle in bundles {
            let [source, target] = ends(&bundle.line);
            directions[bundle.source].push(source);
            directions[bundle.target].push(target);
        }
        for list in &mut directions {
            yield_turn();
            list.sort_by(|one, other| circular_order(*one, *other));
        }
        Self { directions }
    }

    /// Returns the maximum distance of the outermost lines of a bundle from its middle. The first value is for its
    /// source, the second for its target.
    pub(super) fn spread(&self, bundle: &Bundle, between: &Between<'_>) -> (f64, f64) {
        let wanted = LANE * (bundle.connections.len() - 1) as f64 / 2.0;
        // Nothing is in the clearance; wider bundles might run through other shapes.
        let most = wanted.min(CLEARANCE - 0.5);
        let [source, target] = ends(&bundle.line);
        let at_source = most.min(self.room(bundle.source, source, between.source));
        let at_target = most.min(self.room(bundle.target, target, between.target));
        (at_source, at_target)
    }

    /// Returns half of the distance of a bundle from the next one. It is measured where the bundle crosses the border
    /// of its shape.
    fn room(&self, shape: usize, direction: Point, rect: Rect) -> f64 {
        let list = &self.directions[shape];
        let count = list.len();
        let first = list.partition_point(|other| circular_order(*other, direction).is_lt());
        let place = (first..count).find(|place| list[*place] == direction);
        let Some(place) = place.asserted() else { return 0.0 };
        let beside = [list[(place + count - 1) % count], list[(place + 1) % count]];
        let distances = beside.iter().map(|other| other.distance(direction));
        let chord = distances.filter(|_| count > 1).fold(2.0, f64::min);
        let reach = rect.width.max(rect.height);
        let center = rect.center();
        let radius =
            rect.clip(center, center.plus(direction.times(reach))).map_or(0.0, |(_, leave)| leave * reach);
        (radius * chord / 2.0 - APART).max(0.0)
    }
}

/// Returns the directions in which a line leaves its first and its last point. They are vectors of length 1.
fn ends(line: &[Point]) -> [Point; 2] {
    let direction = |from: Option<&Point>, to: Option<&Point>| match (from, to) {
        (Some(from), Some(to)) => {
            let between = to.minus(*from);
            between.times(1.0 / between.length().max(1e-9))
        }
        _ => Point::default(),
    };
    [direction(line.first(), line.get(1)), direction(line.last(), line.iter().rev().nth(1))]
}

/// Compares the angles of two directions.
fn circular_order(one: Point, other: Point) -> Ordering {
    angle(one).total_cmp(&angle(other)).then(one.x.total_cmp(&other.x))
}

/// Returns a number that grows with the angle of a direction.
fn angle(direction: Point) -> f64 {
    let size = direction.x.abs() + direction.y.abs();
    if size == 0.0 {
        return -1.0;
    }
    let along = direction.x / size;
    if direction.y >= 0.0 { 1.0 - along } else { 3.0 + along }
}
