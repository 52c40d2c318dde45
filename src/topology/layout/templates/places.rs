//! Nodes on circles, with their leaves outside.

use super::Peeled;
use super::ring::{LEAF_GAP, outside, room_of_labels};
use crate::topology::layout::containers::Level;
use crate::topology::layout::geometry::{Point, Rect, Size};

/// The corners of nodes and their leaves.
pub(super) struct CirclePlaces<'a> {
    level: &'a Level,
    peeled: &'a Peeled,
    pub(super) corners: Vec<Point>,
    /// The width of the widest label at lines to leaves.
    label: f64,
}

impl<'a> CirclePlaces<'a> {
    pub(super) fn new(level: &'a Level, peeled: &'a Peeled) -> Self {
        let corners = vec![Point::default(); level.network.len()];
        let hubs = peeled.inner.iter().zip(&peeled.leaves);
        let widths = hubs.map(|(hub, leaves)| widest_label(level, *hub, leaves));
        let label = widths.fold(0.0, f64::max);
        Self { level, peeled, corners, label }
    }

    /// Puts an inner node at a point, and what hangs at it beside it in a direction.
    pub(super) fn put(&mut self, place: usize, center: Point, towards: Point) {
        let node = self.peeled.inner[place];
        let rect = Rect::centered(center, self.level.sizes[node]);
        self.corners[node] = rect.corner();
        let leaves = &self.peeled.leaves[place];
        for (leaf, rect) in leaves.iter().zip(self.put_outside(rect, leaves, towards, self.label)) {
            if let Some(beyond) = self.peeled.beyond.get(leaf) {
                self.put_outside(rect, beyond, towards, widest_label(self.level, *leaf, beyond));
            }
        }
    }

    /// Puts leaves beside their hub, with room for labels of this width.
    fn put_outside(&mut self, hub: Rect, leaves: &[usize], towards: Point, label: f64) -> Vec<Rect> {
        let sizes: Vec<Size> = leaves.iter().map(|leaf| self.level.sizes[*leaf]).collect();
        let corners = outside(hub, towards, &sizes, LEAF_GAP.max(room_of_labels(label)));
        for (leaf, corner) in leaves.iter().zip(&corners) {
            self.corners[*leaf] = *corner;
        }
        corners.into_iter().zip(sizes).map(|(corner, size)| Rect::new(corner, size)).collect()
    }
}

/// Returns the width of the widest label at lines between a hub and its leaves.
fn widest_label(level: &Level, hub: usize, leaves: &[usize]) -> f64 {
    let label = |leaf: &usize| level.port_width(hub, *leaf).max(level.port_width(*leaf, hub));
    leaves.iter().map(label).fold(0.0, f64::max)
}
