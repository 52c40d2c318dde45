//! Sheets and screens, and whether the names of a picture can be read on them.

use super::size::LABEL_SIZE;
use crate::topology::graph::shape::{Graph, NodeKind};

/// The size of a sheet or a screen, and the least size of names on it, in one unit.
pub(in crate::topology) struct Surface {
    width: f64,
    height: f64,
    name: f64,
}

/// A landscape sheet of A3 with margins of 10 mm, in millimeters. Names have at least 7 points.
pub(in crate::topology::graph) const A3: Surface =
    Surface { width: 400.0, height: 277.0, name: 7.0 * 25.4 / 72.0 };

#[cfg(feature = "service")]
/// The part of a page of 1440 × 900 pixels that shows the picture. Names have at least 9 pixels.
pub(in crate::topology) const SCREEN: Surface = Surface { width: 1416.0, height: 772.0, name: 9.0 };

/// The size of margins, title and legend, in pixels of the picture.
const BESIDE: (f64, f64) = (48.0, 200.0);

impl Surface {
    /// Returns the largest content of a picture whose names are large enough, in pixels of the picture.
    pub(in crate::topology::graph) fn content(&self) -> (f64, f64) {
        let scale = f64::from(LABEL_SIZE) / self.name;
        (self.width * scale - BESIDE.0, self.height * scale - BESIDE.1)
    }

    /// Returns whether the names of a graph that is laid out are large enough.
    pub(in crate::topology) fn holds(&self, graph: &Graph) -> bool {
        let (width, height) = self.content();
        graph.bounds.width <= width && graph.bounds.height <= height
    }

    #[cfg(feature = "service")]
    /// Returns whether the nodes of a graph have room beside each other. If not, it needs no layout to know that the names
    /// are too small.
    pub(in crate::topology) fn may_hold(&self, graph: &Graph) -> bool {
        if graph.edges.len() >= MAX_LINES {
            return false;
        }
        let is_frame = |kind| matches!(kind, NodeKind::Subnet | NodeKind::Area);
        let cards = graph.nodes.iter().filter(|node| !is_frame(node.kind));
        cards.map(|node| area((node.width, node.height))).sum::<f64>() <= area(self.content())
    }
}

/// Number of lines from which a picture is not laid out to find out whether its names are large enough.
pub(in crate::topology::graph) const MAX_LINES: usize = 4_000;

/// The least distance between nodes, in pixels.
const GAP: f64 = 14.0;

/// Returns the area that something of this extent takes, with a gap on two sides.
pub(in crate::topology::graph) fn area((width, height): (f64, f64)) -> f64 {
    (width + GAP) * (height + GAP)
}
