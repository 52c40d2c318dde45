//! The shapes of one container, or of the outermost level: component by component.

use super::geometry::{Point, Rect, Size};
use super::level::{GAP, Level};
use super::{layered, mesh, packing};

/// Maximum number of shapes of a badly proportioned hierarchy that becomes a mesh. A mesh can be turned.
const MOST_TURNED: usize = 400;
/// Layers of a wide hierarchy may become farther from each other by this factor.
const MOST_STRETCHED: f64 = 2.5;
/// Extra factor for the height of a stretched hierarchy. It is needed because heights of shapes stay the same.
const STRETCH: f64 = 1.2;
const COMPONENT_GAP: f64 = 64.0;

impl Level {
    /// Places the shapes and returns their corners and the extent of all.
    pub(super) fn arrange(&self) -> (Vec<Point>, Size) {
        let (connected, loose): (Vec<_>, Vec<_>) =
            self.network.components().into_iter().partition(|component| component.len() > 1);
        let mut blocks: Vec<(Vec<usize>, Vec<Point>, Size)> = Vec::new();
        for component in connected {
            let (corners, extent) = self.part(&component).arrange_connected();
            blocks.push((component, corners, extent));
        }
        if !loose.is_empty() {
            let loose: Vec<usize> = loose.into_iter().flatten().collect();
            let sizes: Vec<Size> = loose.iter().map(|node| self.sizes[*node]).collect();
            let (corners, extent) = packing::grid(&sizes, GAP);
            blocks.push((loose, corners, extent));
        }
        let extents: Vec<Size> = blocks.iter().map(|(.., extent)| *extent).collect();
        let (offsets, extent) = packing::pack(&extents, COMPONENT_GAP);
        let mut corners = vec![Point::default(); self.network.len()];
        for ((nodes, relative, _), offset) in blocks.iter().zip(offsets) {
            for (node, corner) in nodes.iter().zip(relative) {
                corners[*node] = corner.plus(offset);
            }
        }
        (corners, extent)
    }

    fn arrange_connected(&self) -> (Vec<Point>, Size) {
        let bounds_of = |corners: &[Point]| {
            let rects = corners.iter().zip(self.sizes.iter()).map(|(corner, size)| Rect::new(*corner, *size));
            rects.reduce(Rect::union).unwrap_or_default()
        };
        let corners = layered::arrange(self)
            .map(|mut corners| {
                let extent = bounds_of(&corners).size();
                stretch(&mut corners, extent);
                corners
            })
            .filter(|corners| corners.len() > MOST_TURNED || packing::fits(bounds_of(corners).size()))
            .unwrap_or_else(|| mesh::arrange(self));
        let bounds = bounds_of(&corners);
        let corners = corners.into_iter().map(|corner| corner.minus(bounds.corner()).rounded()).collect();
        (corners, bounds.size())
    }
}

/// Enlarges the distances of layers in a hierarchy that is too wide.
fn stretch(corners: &mut [Point], extent: Size) {
    let factor = extent.width / extent.height.max(1.0) / packing::WIDEST * STRETCH;
    if packing::fits(extent) || !(1.0..=MOST_STRETCHED).contains(&factor) {
        return;
    }
    for corner in corners {
        corner.y *= factor;
    }
}
