//! Rings: a circle that starts at twelve o'clock and runs clockwise.

use super::Peeled;
use crate::topology::layout::containers::{GAP, Level};
use crate::topology::layout::geometry::{Point, Rect, Size};
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
const LEAF_GAP: f64 = 64.0;
/// The distance of labels from the ends of a line.
const LABEL_MARGIN: f64 = 12.0;
const ENLARGEMENTS: usize = 60;
const ENLARGEMENT: f64 = 1.08;

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
    let widest = peeled.inner.iter().map(|node| level.sizes[*node].width).fold(0.0, f64::max);
    let label = level.port_widths.iter().flatten().map(|(_, width)| *width).fold(0.0, f64::max);
    // The circumference has room for the nodes side by side, and for the labels of the lines between them.
    let mut radius = (widest + GAP.max(2.0 * (label + LABEL_MARGIN))) * count as f64 / 6.0;
    for _ in 0..ENLARGEMENTS {
        crate::fair_threads::yield_turn();
        let corners = place(level, peeled, &order, radius, label);
        if are_apart(level, &corners) {
            return Some(corners);
        }
        radius *= ENLARGEMENT;
    }
    None
}

fn place(level: &Level, peeled: &Peeled, order: &[usize], radius: f64, label: f64) -> Vec<Point> {
    let mut corners = vec![Point::default(); level.network.len()];
    for (turn, place) in order.iter().enumerate() {
        let direction = direction(turn as f64 / order.len() as f64);
        let size = level.sizes[peeled.inner[*place]];
        let node = Rect::centered(direction.times(radius), size);
        corners[peeled.inner[*place]] = node.corner();
        let leaves = &peeled.leaves[*place];
        let sizes: Vec<Size> = leaves.iter().map(|leaf| level.sizes[*leaf]).collect();
        for (leaf, corner) in
            leaves.iter().zip(outside(node, direction, &sizes, LEAF_GAP.max(2.0 * (label + LABEL_MARGIN))))
        {
            corners[*leaf] = corner;
        }
    }
    corners
}

/// Returns the corners of leaves. They are in a row above or below a node at the top or the bottom of the circle,
/// and in a column beside other nodes.
fn outside(node: Rect, direction: Point, sizes: &[Size], gap: f64) -> Vec<Point> {
    /// The horizontal direction of a node up to which leaves are above or below it.
    const STEEP: f64 = 0.3;
    let center = node.center();
    if direction.x.abs() > STEEP {
        let height: f64 = sizes.iter().map(|size| size.height + GAP / 2.0).sum::<f64>() - GAP / 2.0;
        // A column is centered beside its node, and outside of the circle for nodes near its top and bottom.
        let mut y = center.y - height / 2.0 + direction.y * height / 2.0;
        let place = |size: &Size| {
            let x = if direction.x > 0.0 { node.right() + gap } else { node.x - gap - size.width };
            let corner = Point::new(x, y);
            y += size.height + GAP / 2.0;
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

/// Returns the direction after a part of a full turn, clockwise from twelve o'clock.
fn direction(turn: f64) -> Point {
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
