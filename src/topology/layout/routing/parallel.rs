//! Lines side by side, cut at the borders of their shapes, and the directions in which they leave them.

use std::cmp::Ordering;

use super::detour::{CLEARANCE, ObstaclesBetween};
use super::{Bundle, LANE};
use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;
use crate::topology::layout::geometry::{Point, Rect};

/// Returns a line shifted aside by one offset at each end. It runs from border to border.
///
/// Lines with corners have the smaller of both offsets everywhere.
pub(super) fn beside(line: &[Point], offsets: (f64, f64), between: &ObstaclesBetween<'_>) -> Vec<Point> {
    let mut line = without_repetitions(line);
    let limit = |rect: Rect| (rect.width.min(rect.height) / 2.0 - 2.0).max(0.0);
    let start = offsets.0.clamp(-limit(between.source), limit(between.source));
    let end = offsets.1.clamp(-limit(between.target), limit(between.target));
    if let [from, to] = *line.as_slice() {
        let [first, last] = [start, end].map(|offset| shifted(&[from, to], offset));
        line = first.into_iter().take(1).chain(last.into_iter().skip(1)).collect();
    } else if start != 0.0 && end != 0.0 {
        line = shifted(&line, if start.abs() < end.abs() { start } else { end });
    }
    let mut line = cut(line, between.source);
    line.reverse();
    line = cut(line, between.target);
    line.reverse();
    line
}

/// Removes repeated points, and corners on straight lines.
fn without_repetitions(line: &[Point]) -> Vec<Point> {
    let mut result: Vec<Point> = Vec::with_capacity(line.len());
    for point in line {
        if result.last() == Some(point) {
            continue;
        }
        if let [.., before, last] = *result.as_slice()
            && before.orientation(last, *point).abs() < 1e-9
        {
            result.pop();
        }
        result.push(*point);
    }
    result
}

/// Shifts each segment to its left by an offset. Joins neighbors at their new corners.
fn shifted(line: &[Point], offset: f64) -> Vec<Point> {
    let normals: Vec<Point> = line
        .windows(2)
        .map(|pair| match pair {
            [from, to] => {
                let along = to.minus(*from);
                let length = along.length().max(1e-9);
                Point::new(-along.y / length, along.x / length)
            }
            _ => Point::default(),
        })
        .collect();
    line.iter()
        .enumerate()
        .map(|(index, point)| {
            let before = index.checked_sub(1).and_then(|before| normals.get(before)).copied();
            let after = normals.get(index).copied();
            let shift = match (before, after) {
                (Some(before), Some(after)) => {
                    let sum = before.plus(after);
                    // A miter, limited at acute corners.
                    let square = (sum.x * sum.x + sum.y * sum.y).max(0.5);
                    sum.times(2.0 / square)
                }
                // A single point has no direction.
                (one, other) => one.or(other).unwrap_or_default(),
            };
            point.plus(shift.times(offset))
        })
        .collect()
}

/// Replaces the start of a line by the point on a rectangle's border. The start reaches to where the line finally
/// leaves the rectangle.
fn cut(line: Vec<Point>, rect: Rect) -> Vec<Point> {
    let last_inside = line.iter().rposition(|point| rect.contains(*point));
    let Some(inside) = last_inside else { return line };
    let (Some(from), Some(to)) = (line.get(inside).copied(), line.get(inside + 1).copied()) else {
        return line;
    };
    let border = match rect.clip(from, to) {
        Some((_, leave)) => from.plus(to.minus(from).times(leave)),
        None => from,
    };
    [border].into_iter().chain(line.into_iter().skip(inside + 1)).collect()
}

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
    pub(super) fn spread(&self, bundle: &Bundle, between: &ObstaclesBetween<'_>) -> (f64, f64) {
        let wanted = LANE * (bundle.connections.len() - 1) as f64 / 2.0;
        // Nothing is in the clearance; wider bundles might run through other shapes.
        let max = wanted.min(CLEARANCE - 0.5);
        let [source, target] = ends(&bundle.line);
        let at_source = max.min(self.room(bundle.source, source, between.source));
        let at_target = max.min(self.room(bundle.target, target, between.target));
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
