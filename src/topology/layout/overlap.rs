//! Removal of overlaps.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::geometry::{Point, Rect};
use super::space::Space;

const MAX_CANDIDATES: usize = 160;
/// Tolerance for distances. It keeps rounding from making a neighbor at the right distance an obstacle.
const TOLERANCE: f64 = 1.0 / 32.0;
const MAX_PUSHES: usize = 40;
/// One shape in this many may still be too near another when pushing stops.
const SHAPES_PER_OVERLAP: usize = 200;

/// Moves rectangles that overlap, or that are nearer to each other than the gap. Each moves as little as possible.
///
/// Rectangles keep their place in the order of `order`: later ones give way to earlier ones. The first `fixed` of them
/// never move.
pub(super) fn separate(rects: &mut [Rect], order: &[usize], fixed: usize, gap: f64) {
    let mut space = Space::for_rects(rects.iter());
    let mut edge = f64::NEG_INFINITY;
    for (turn, index) in order.iter().enumerate() {
        crate::fair_threads::yield_turn();
        let rect = &mut rects[*index];
        if turn >= fixed {
            *rect = nearest_free(&space, *rect, gap, edge);
        }
        edge = edge.max(rect.right());
        space.insert(*rect);
    }
}

/// Returns the rectangle at the free place nearest to its own. Right of `edge`, everything is free.
pub(super) fn nearest_free(space: &Space, rect: Rect, gap: f64, edge: f64) -> Rect {
    let origin = rect.corner();
    let mut candidates = BinaryHeap::from([Candidate { cost: 0.0, corner: origin }]);
    for _ in 0..MAX_CANDIDATES {
        let Some(Candidate { corner, .. }) = candidates.pop() else { break };
        let candidate = Rect::new(corner, rect.size()).rounded();
        let Some(obstacle) = first_obstacle(space, candidate, gap) else { return candidate };
        // Slides beside the obstacle; a candidate farther from the origin is tried later.
        for corner in [
            Point::new(obstacle.x - gap - rect.width, corner.y),
            Point::new(obstacle.right() + gap, corner.y),
            Point::new(corner.x, obstacle.y - gap - rect.height),
            Point::new(corner.x, obstacle.bottom() + gap),
        ] {
            candidates.push(Candidate { cost: corner.distance(origin), corner });
        }
    }
    nearest_on_rings(space, rect, gap)
        .unwrap_or_else(|| Rect::new(Point::new(rect.x.max(edge + gap), rect.y), rect.size()).rounded())
}

/// Returns whether nothing is nearer to a rectangle than the gap.
pub(super) fn is_free(space: &Space, rect: Rect, gap: f64) -> bool {
    let mut free = true;
    space.overlapping(rect.grown(gap - TOLERANCE), |_, _| {
        free = false;
        false
    });
    free
}

fn first_obstacle(space: &Space, rect: Rect, gap: f64) -> Option<Rect> {
    let mut first: Option<(usize, Rect)> = None;
    space.overlapping(rect.grown(gap - TOLERANCE), |index, other| {
        if first.is_none_or(|(known, _)| index < known) {
            first = Some((index, other));
        }
        true
    });
    first.map(|(_, rect)| rect)
}

/// Tries places on squares around the rectangle's own, ever farther away.
fn nearest_on_rings(space: &Space, rect: Rect, gap: f64) -> Option<Rect> {
    let step = Point::new(rect.width + gap, rect.height + gap);
    let mut radius = 1.0;
    for _ in 0..24 {
        for place in 0..16 {
            let along = f64::from(place % 4) / 2.0 - 1.0;
            let (x, y) = match place / 4 {
                0 => (along, -1.0),
                1 => (1.0, along),
                2 => (-along, 1.0),
                _ => (-1.0, -along),
            };
            let by = Point::new(x * radius * step.x, y * radius * step.y);
            let candidate = rect.moved(by).rounded();
            if is_free(space, candidate, gap) {
                return Some(candidate);
            }
        }
        radius *= 1.25;
    }
    None
}

/// Pushes overlapping rectangles apart in small steps, which preserves their relative positions.
///
/// It does not remove every overlap; [`separate`] removes the rest.
pub(super) fn push_apart(rects: &mut [Rect], gap: f64) {
    let mut seen = vec![0; rects.len()];
    for turn in 0..MAX_PUSHES {
        crate::fair_threads::yield_turn();
        let space = Space::holding(rects);
        let mut moves = vec![Point::default(); rects.len()];
        let mut crowded = 0;
        for (index, rect) in rects.iter().enumerate() {
            crate::fair_threads::yield_turn();
            let question = turn * rects.len() + index + 1;
            let mut by = Point::default();
            let mut is_free = true;
            space.overlapping(rect.grown(gap), |other_index, other| {
                if other_index != index && seen[other_index] != question {
                    seen[other_index] = question;
                    by = by.plus(push(*rect, other, index < other_index, gap));
                    is_free = false;
                }
                true
            });
            crowded += usize::from(!is_free);
            moves[index] = by;
        }
        // A few shapes in the way of others need not move all of them once more.
        if crowded * SHAPES_PER_OVERLAP <= rects.len() {
            return;
        }
        for (rect, by) in rects.iter_mut().zip(moves.iter()) {
            *rect = rect.moved(*by);
        }
    }
}

/// Returns by how much the first of two rectangles moves. It moves along the axis where less distance is missing.
fn push(rect: Rect, other: Rect, first: bool, gap: f64) -> Point {
    let between = rect.center().minus(other.center());
    let missing_x = (rect.width + other.width) / 2.0 + gap - between.x.abs();
    let missing_y = (rect.height + other.height) / 2.0 + gap - between.y.abs();
    let sign = |value: f64| if value > 0.0 || (value == 0.0 && first) { 0.52 } else { -0.52 };
    if missing_x < missing_y {
        Point::new(missing_x * sign(between.x), 0.0)
    } else {
        Point::new(0.0, missing_y * sign(between.y))
    }
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    cost: f64,
    corner: Point,
}

impl Ord for Candidate {
    // Reversed, because the heap returns the greatest element.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |candidate: &Self| (candidate.cost, candidate.corner.y, candidate.corner.x);
        let (one, two) = (key(self), key(other));
        two.0.total_cmp(&one.0).then(two.1.total_cmp(&one.1)).then(two.2.total_cmp(&one.2))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
