//! Routes of lines around shapes.

mod detour;
mod orthogonal;
mod parallel;
mod tier_lines;

use std::collections::BTreeMap;

pub(super) use self::detour::CLEARANCE;
use self::detour::{Obstacles, ObstaclesBetween};
use self::orthogonal::Hubs;
use self::parallel::Fans;
pub(in crate::topology) use self::tier_lines::MAX_STAGGER;
use self::tier_lines::{TierLines, TieredShapes};
use super::geometry::{Point, Rect};
use super::outline::Outline;
use crate::fair_threads::yield_turn;

/// The distance between lines side by side.
pub(super) const LANE: f64 = 10.0;
const LOOP: f64 = 12.0;
/// The work allowed to find detours for each shape, in pairs of points.
const BUDGET_PER_SHAPE: usize = 5_000;
/// The least work allowed to find detours for all shapes.
const MIN_BUDGET: usize = 4_000_000;
/// The most work allowed to find detours for all shapes.
const MAX_BUDGET: usize = 40_000_000;

/// Returns the corners of each connection, in the order of the diagram.
pub(super) fn route(outline: &Outline, rects: &[Rect], tiers: &[Option<usize>]) -> Vec<Vec<Point>> {
    let field = Obstacles::new(outline, rects);
    let hubs = Hubs::new(outline, rects, tiers);
    let mut budget = (BUDGET_PER_SHAPE * rects.len()).clamp(MIN_BUDGET, MAX_BUDGET);
    let bundles = bundles(outline);
    let pairs = bundles.iter().map(|(pair, connections)| (*pair, connections.len()));
    let shapes = TieredShapes::new(outline, rects, tiers);
    let tier_lines = TierLines::new(pairs, &shapes);
    let bundles: Vec<Bundle> = bundles
        .into_iter()
        .map(|((source, target), connections)| {
            yield_turn();
            let between = field.between(source, target);
            let is_tiered = tier_lines.line(&between, 0).is_some();
            let is_routed = source != target && !is_tiered && !between.nested();
            let line = is_routed.then(|| line(&between, &hubs, &mut budget));
            Bundle { source, target, connections, line: line.unwrap_or_default() }
        })
        .collect();
    let fans = Fans::new(&bundles, rects);
    let mut routes = vec![Vec::new(); outline.ends.len()];
    for bundle in &bundles {
        yield_turn();
        let Bundle { source, target, connections, line } = bundle;
        let between = field.between(*source, *target);
        let lines = connections.len();
        let spread = if lines > 1 && !line.is_empty() { fans.spread(bundle, &between) } else { (0.0, 0.0) };
        for (place, connection) in connections.iter().enumerate() {
            yield_turn();
            // From -1 for the first line to 1 for the last one.
            let share = if lines > 1 { 2.0 * place as f64 / (lines - 1) as f64 - 1.0 } else { 0.0 };
            let mut corners = if source == target {
                self_loop(between.source, place)
            } else if let Some(line) = tier_lines.line(&between, place) {
                line
            } else if line.is_empty() {
                nested_line(between.source, between.target, LANE * share)
            } else {
                parallel::beside(line, (share * spread.0, share * spread.1), &between)
            };
            if outline.ends[*connection].is_some_and(|(from, _)| from != *source) {
                corners.reverse();
            }
            routes[*connection] = corners.into_iter().map(Point::rounded).collect();
        }
    }
    routes
}

/// All connections between two shapes.
#[derive(Debug)]
struct Bundle {
    source: usize,
    target: usize,
    connections: Vec<usize>,
    /// Their shared route, from center to center. Empty for loops, and between a shape and its container.
    line: Vec<Point>,
}

fn line(between: &ObstaclesBetween<'_>, hubs: &Hubs<'_>, budget: &mut usize) -> Vec<Point> {
    let direct = vec![between.source.center(), between.target.center()];
    if let Some(line) = hubs.route(between) {
        return line;
    }
    if between.is_line_free(&direct) {
        return direct;
    }
    let line = hubs.channel(between, budget).or_else(|| detour::route(between, budget));
    line.unwrap_or(direct)
}

/// Returns the connections of each pair of shapes, in the order of their ids.
fn bundles(outline: &Outline) -> BTreeMap<(usize, usize), Vec<usize>> {
    let mut bundles: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for connection in &outline.connection_order {
        yield_turn();
        if let Some((source, target)) = outline.ends[*connection] {
            bundles.entry((source.min(target), source.max(target))).or_default().push(*connection);
        }
    }
    bundles
}

/// Returns a loop at the right side of a shape; each further loop is larger, up to the fifth.
fn self_loop(rect: Rect, place: usize) -> Vec<Point> {
    let reach = LOOP + LANE / 4.0 * place.min(4) as f64;
    let half = (rect.height / 4.0).min(reach / 2.0);
    let (x, y) = (rect.right(), rect.center().y);
    vec![
        Point::new(x, y - half),
        Point::new(x + reach, y - half),
        Point::new(x + reach, y + half),
        Point::new(x, y + half),
    ]
}

/// Returns the line between a shape and the border of its container, in either direction.
fn nested_line(source: Rect, target: Rect, offset: f64) -> Vec<Point> {
    let outward = |inner: Rect, outer: Rect| {
        let center = inner.center();
        let x = center.x + offset.clamp(-inner.width / 2.0, inner.width / 2.0);
        let y = center.y + offset.clamp(-inner.height / 2.0, inner.height / 2.0);
        let ways = [
            (Point::new(x, inner.y), Point::new(x, outer.y)),
            (Point::new(x, inner.bottom()), Point::new(x, outer.bottom())),
            (Point::new(inner.x, y), Point::new(outer.x, y)),
            (Point::new(inner.right(), y), Point::new(outer.right(), y)),
        ];
        let length = |way: &(Point, Point)| way.0.distance(way.1);
        ways.into_iter().min_by(|one, other| length(one).total_cmp(&length(other)))
    };
    let source_is_inner = source.width <= target.width && source.height <= target.height;
    let way = if source_is_inner { outward(source, target) } else { outward(target, source) };
    match way {
        Some((from, to)) if source_is_inner => vec![from, to],
        Some((from, to)) => vec![to, from],
        None => Vec::new(),
    }
}
