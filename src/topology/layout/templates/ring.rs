//! Rings: a circle that starts at twelve o'clock and runs clockwise.

use super::Peeled;
use super::places::CirclePlaces;
use crate::topology::layout::containers::{GAP, Level};
use crate::topology::layout::geometry::{Point, Rect, Size};
use crate::topology::layout::routing::CLEARANCE;
use crate::topology::layout::space::Space;

/// Number of nodes from which on a ring is drawn as one, and up to which.
const MIN_RING: usize = 5;
/// Number of nodes of a ring that is drawn as one only if each has leaves, and none leads out of the network: two switches below a
/// router are a hierarchy.
const TRIANGLE: usize = 3;
const MIN_LEAVES: usize = 2;
/// Largest number of nodes of a circle. Larger ones are mostly empty.
const MAX_RING: usize = 60;
/// The distance between a node and its leaves.
pub(super) const LEAF_GAP: f64 = 64.0;
/// The distance of labels from the ends of a line.
const LABEL_MARGIN: f64 = 12.0;
const ENLARGEMENTS: usize = 80;
const ENLARGEMENT: f64 = 1.06;
/// How much larger a drawing may be so that lines are straight.
const MAX_FOR_LINES: f64 = 2.0;

/// Places the nodes of a ring and their leaves; `None` for other networks.
pub(super) fn arrange(level: &Level, peeled: &Peeled) -> Option<Vec<Point>> {
    let graph = &peeled.graph;
    let count = graph.len();
    let is_triangle = count == TRIANGLE
        && peeled.leaves.iter().all(|leaves| leaves.len() >= MIN_LEAVES)
        && (0..count).all(|place| !peeled.is_outward(level, place));
    let is_ring = ((MIN_RING..=MAX_RING).contains(&count) || is_triangle)
        && graph.edges().len() == count
        && (0..count).all(|node| graph.degree(node) == 2);
    if !is_ring || graph.components().len() > 1 {
        return None;
    }
    let start = (0..count).find(|place| peeled.is_outward(level, *place)).unwrap_or(0);
    let second = graph.neighbors(start).first().copied()?;
    let order = peeled.follow(start, second);
    on_circle(level, peeled, &order)
}

/// Places nodes on a circle, clockwise from twelve o'clock in this order, and what hangs at them outside.
pub(super) fn on_circle(level: &Level, peeled: &Peeled, order: &[usize]) -> Option<Vec<Point>> {
    let radius = spacing(level, &peeled.inner) * order.len() as f64 / 6.0;
    let lines = peeled.graph.edges().iter().map(|(one, other)| (peeled.inner[*one], peeled.inner[*other]));
    let lines: Vec<(usize, usize)> = lines.collect();
    enlarged(level, &lines, |factor| {
        let mut places = CirclePlaces::new(level, peeled);
        for (turn, place) in order.iter().enumerate() {
            let direction = direction(turn as f64 / order.len() as f64);
            places.put(*place, direction.times(radius * factor), direction);
        }
        places.corners
    })
}

/// Returns the smallest of larger and larger drawings whose shapes are apart, and in which these lines are straight if that takes not
/// much more room.
pub(super) fn enlarged(
    level: &Level,
    lines: &[(usize, usize)],
    place: impl Fn(f64) -> Vec<Point>,
) -> Option<Vec<Point>> {
    let mut factor = 1.0;
    let mut smallest = None;
    for _ in 0..ENLARGEMENTS {
        crate::fair_threads::yield_turn();
        let corners = place(factor);
        if are_apart(level, &corners) {
            if are_lines_free(level, &corners, lines) {
                return Some(corners);
            }
            smallest.get_or_insert((factor, corners));
        }
        factor *= ENLARGEMENT;
        if smallest.as_ref().is_some_and(|(smallest, _)| factor > smallest * MAX_FOR_LINES) {
            break;
        }
    }
    smallest.map(|(_, corners)| corners)
}

/// Returns the distance of nodes on a circle. It has room for the nodes side by side, and for the labels of the lines between them.
pub(super) fn spacing(level: &Level, nodes: &[usize]) -> f64 {
    let widest = nodes.iter().map(|node| level.sizes[*node].width).fold(0.0, f64::max);
    let labels = nodes.iter().flat_map(|node| &level.port_widths[*node]);
    let label = labels.map(|(_, width)| *width).fold(0.0, f64::max);
    widest + GAP.max(room_of_labels(label))
}

/// Returns the length that two labels of this width need.
pub(super) fn room_of_labels(label: f64) -> f64 {
    2.0 * (label + LABEL_MARGIN)
}

/// Returns the corners of leaves. They are in a row above or below a node at the top or the bottom of the circle,
/// and in a column beside other nodes.
pub(super) fn outside(node: Rect, direction: Point, sizes: &[Size], gap: f64) -> Vec<Point> {
    /// The horizontal direction of a node up to which leaves are above or below it.
    const STEEP: f64 = 0.3;
    let center = node.center();
    if direction.x.abs() > STEEP {
        // Names of ports at lines that fan out need room between these.
        let between = if sizes.len() > 2 && gap > LEAF_GAP { GAP } else { GAP / 2.0 };
        let height: f64 = sizes.iter().map(|size| size.height + between).sum::<f64>() - between;
        // A column is centered beside its node, and outside of the circle for nodes near its top and bottom.
        let mut y = center.y - height / 2.0 + direction.y * height / 2.0;
        let place = |size: &Size| {
            let x = if direction.x > 0.0 { node.right() + gap } else { node.x - gap - size.width };
            let corner = Point::new(x, y);
            y += size.height + between;
            corner
        };
        sizes.iter().map(place).collect()
    } else {
        let width: f64 = sizes.iter().map(|size| size.width + GAP).sum::<f64>() - GAP;
        let mut x = center.x - width / 2.0;
        let place = |size: &Size| {
            let y = if direction.y > 0.0 { node.bottom() + gap } else { node.y - gap - size.height };
            let corner = Point::new(x, y);
            x += size.width + GAP;
            corner
        };
        sizes.iter().map(place).collect()
    }
}

/// Returns whether no two shapes are nearer to each other than half of the usual gap.
fn are_apart(level: &Level, corners: &[Point]) -> bool {
    let rects: Vec<Rect> =
        corners.iter().zip(&level.sizes).map(|(corner, size)| Rect::new(*corner, *size)).collect();
    let space = Space::holding(&rects);
    rects.iter().enumerate().all(|(index, rect)| {
        let mut is_free = true;
        space.overlapping(rect.grown(GAP / 2.0 - 1.0), |other, _| {
            is_free = other == index;
            is_free
        });
        is_free
    })
}

/// Returns whether no shape is in the way of straight lines between others.
fn are_lines_free(level: &Level, corners: &[Point], lines: &[(usize, usize)]) -> bool {
    let rect = |node: usize| Rect::new(corners[node], level.sizes[node]);
    let grown: Vec<Rect> = (0..corners.len()).map(|node| rect(node).grown(CLEARANCE)).collect();
    let space = Space::holding(&grown);
    lines.iter().all(|(one, other)| {
        let mut is_free = true;
        space.along(rect(*one).center(), rect(*other).center(), |shape, _| {
            is_free = [*one, *other].contains(&shape);
            is_free
        });
        is_free
    })
}

/// Returns the direction after a part of a full turn, clockwise from twelve o'clock.
pub(super) fn direction(turn: f64) -> Point {
    // Series that converge within an eighth of a turn give the same bits everywhere.
    let quarter = (turn * 4.0).round();
    let angle = (turn - quarter / 4.0) * std::f64::consts::TAU;
    let square = angle * angle;
    let sine =
        angle * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))));
    let cosine = 1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)));
    match quarter as i64 % 4 {
        0 => Point::new(sine, -cosine),
        1 => Point::new(cosine, sine),
        2 => Point::new(-sine, cosine),
        _ => Point::new(-cosine, -sine),
    }
}
