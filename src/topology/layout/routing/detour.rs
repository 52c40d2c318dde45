//! Shortest ways around corners of obstacles.

use std::collections::BTreeSet;

use super::super::geometry::Point;
use super::super::table::Table;
use super::field::Between;

const ROUNDS: usize = 120;
const MOST_POINTS: usize = 160;
/// What it costs to find an obstacle, compared with looking at a pair of points.
const OBSTACLE: usize = 50;
/// How far lines pass from the corners of obstacles and their clearance.
const CORNER: f64 = 2.0;

/// Returns a line around all obstacles, from center to center; `None` if none is found.
///
/// The search assumes that points see each other, and looks at obstacles only where its shortest way meets them.
pub(super) fn route(between: &Between<'_>, budget: &mut usize) -> Option<Vec<Point>> {
    if *budget == 0 {
        return None;
    }
    let (start, end) = (between.source.center(), between.target.center());
    let mut points = vec![start, end];
    let mut known = BTreeSet::new();
    let mut free: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut blocked: BTreeSet<(usize, usize)> = BTreeSet::new();
    for _ in 0..ROUNDS {
        *budget = budget.saturating_sub(points.len() * points.len());
        let way = shortest(&points, &blocked);
        if *budget == 0 || way.is_empty() {
            break;
        }
        let mut is_free = true;
        for pair in way.windows(2) {
            let [one, other] = *pair else { continue };
            let key = (one.min(other), one.max(other));
            if free.contains(&key) {
                continue;
            }
            let (Some(from), Some(to)) = (points.get(one).copied(), points.get(other).copied()) else {
                continue;
            };
            let obstacles = between.obstacles(from, to);
            *budget = budget.saturating_sub(OBSTACLE * (1 + obstacles.len()));
            if obstacles.is_empty() {
                free.insert(key);
                continue;
            }
            is_free = false;
            blocked.insert(key);
            for (shape, rect) in obstacles {
                if points.len() < MOST_POINTS && known.insert(shape) {
                    points.extend(rect.grown(CORNER).corners());
                }
            }
        }
        if is_free {
            return Some(way.into_iter().filter_map(|index| points.get(index).copied()).collect());
        }
    }
    None
}

/// Returns the shortest way from the first point to the second, as indexes; empty without a way.
fn shortest(points: &[Point], blocked: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let count = points.len();
    let mut lengths = Table::of(count, f64::INFINITY);
    let mut before = Table::<usize>::new(count);
    let mut done = Table::<bool>::new(count);
    lengths.set(0, 0.0);
    loop {
        let open =
            lengths.iter().enumerate().filter(|(point, length)| !done.at(*point) && length.is_finite());
        let Some((nearest, length)) =
            open.min_by(|one, other| one.1.total_cmp(other.1)).map(|(point, length)| (point, *length))
        else {
            return Vec::new();
        };
        if nearest == 1 {
            break;
        }
        done.set(nearest, true);
        let Some(from) = points.get(nearest).copied() else { return Vec::new() };
        for (other, to) in points.iter().enumerate() {
            if done.at(other) || blocked.contains(&(nearest.min(other), nearest.max(other))) {
                continue;
            }
            // A corner costs a little, so that few corners are preferred to a slightly shorter way.
            let through = length + from.distance(*to) + 4.0;
            if through < lengths.at(other) {
                lengths.set(other, through);
                before.set(other, nearest);
            }
        }
    }
    let mut way = vec![1];
    while way.last().is_some_and(|last| *last != 0) && way.len() <= count {
        way.push(way.last().map_or(0, |last| before.at(*last)));
    }
    way.reverse();
    way
}
