//! Containers, from the innermost to the outermost.

use super::geometry::{Point, Size, rounded_up};
use super::level::{BUDGET_A_SHAPE, Level};
use super::network::Network;
use super::outline::Outline;

/// The distance from the border of a container to its content.
pub(super) const PADDING: f64 = 24.0;

/// The work allowed to improve drawings, in comparisons of two lines. It takes less than 0.1 s.
const BUDGET: usize = 4_000_000;
/// The work allowed for a shape even if there are many shapes.
const LEAST_A_SHAPE: usize = 4_000;
/// The most work allowed for all shapes if there are many.
const LARGEST_BUDGET: usize = 60_000_000;

/// Sizes and corners of all shapes, containers included. Corners are relative to the content of their containers.
#[derive(Debug)]
pub(super) struct Nested {
    pub(super) sizes: Vec<Size>,
    pub(super) corners: Vec<Point>,
}

/// Places the shapes of each container without regard to pins and earlier arrangements.
pub(super) fn arrange(outline: &Outline) -> Nested {
    let count = outline.len();
    let links = links_by_parent(outline);
    let mut nested = Nested { sizes: outline.sizes.clone(), corners: vec![Point::default(); count] };
    let mut numbers = vec![0; count];
    for container in outline.containers_upward() {
        crate::fair_threads::yield_turn();
        let children = outline.children(container);
        for (number, child) in children.iter().enumerate() {
            numbers[*child] = number;
        }
        let links = &links[container.unwrap_or(count)];
        let level = Level {
            budget: budget_a_shape(count) * children.len(),
            sizes: children.iter().map(|child| nested.sizes[*child]).collect(),
            label_widths: children.iter().map(|child| outline.label_widths[*child]).collect(),
            ranks: children.iter().map(|child| outline.ranks[*child]).collect(),
            network: Network::new(
                children.len(),
                links.iter().map(|(one, other)| (numbers[*one], numbers[*other])),
            ),
        };
        let (corners, extent) = level.arrange();
        for (child, corner) in children.iter().zip(corners.iter()) {
            nested.corners[*child] = *corner;
        }
        if let Some(container) = container {
            let least = outline.sizes[container];
            let height = extent.height + 2.0 * PADDING + outline.headers[container];
            let width = extent.width + 2.0 * PADDING;
            let size = Size::new(rounded_up(width.max(least.width)), rounded_up(height.max(least.height)));
            nested.sizes[container] = size;
        }
    }
    nested
}

/// Returns the work allowed for a shape in a diagram of this many shapes.
fn budget_a_shape(count: usize) -> usize {
    let count = count.max(1);
    (BUDGET / count).min(BUDGET_A_SHAPE).max(LEAST_A_SHAPE.min(LARGEST_BUDGET / count))
}

/// Returns the connections between children of each container. The last list is for the outermost level.
fn links_by_parent(outline: &Outline) -> Vec<Vec<(usize, usize)>> {
    let mut links = vec![Vec::new(); outline.len() + 1];
    for (source, target) in outline.ends.iter().flatten() {
        if let Some((one, other)) = outline.siblings(*source, *target) {
            let parent = outline.parents[one].unwrap_or(outline.len());
            links[parent].push((one, other));
        }
    }
    links
}

impl Nested {
    /// Returns the corners of all shapes in the coordinates of the diagram.
    pub(super) fn absolute(&self, outline: &Outline) -> Vec<Point> {
        let mut corners = self.corners.clone();
        for container in outline.containers_upward().into_iter().rev().flatten() {
            let inside = content_offset(outline, container);
            for child in outline.children(Some(container)) {
                let corner = corners[container].plus(inside).plus(self.corners[*child]);
                corners[*child] = corner;
            }
        }
        corners
    }
}

/// Returns where the content of a container begins, relative to its corner.
pub(super) fn content_offset(outline: &Outline, container: usize) -> Point {
    Point::new(PADDING, PADDING + outline.headers[container])
}
