//! Parts of a container that are not connected with each other.
//!
//! Parts with lines to shapes outside of the container are in rows, one for each tier of the whole network. Lines reach
//! each of these parts from above and from below.

use std::collections::BTreeMap;

use super::containers::{ContainerPlace, GAP, LAYER_GAP, Level};
use super::geometry::{Point, Size};
use super::packing;

const COMPONENT_GAP: f64 = 64.0;
/// The distance of parts in a row.
const ROW_GAP: f64 = 2.0 * GAP;
/// Maximum number of parts in a row.
const MAX_IN_A_ROW: usize = 32;
/// The width up to which parts are in one row, and its largest ratio to the height of a wider row.
const MAX_WIDTH: f64 = 2_400.0;
const MAX_RATIO: f64 = 6.0;

/// Connected shapes, or some without connections.
#[derive(Debug)]
struct Part {
    nodes: Vec<usize>,
    places: Vec<ContainerPlace>,
    extent: Size,
    /// The tier of its highest shape with lines to others outside of the container.
    tier: Option<usize>,
}

impl Level {
    /// Places the shapes and returns their places and the extent of all.
    pub(super) fn arrange(&self) -> (Vec<ContainerPlace>, Size) {
        let parts = self.parts();
        let (offsets, extent) = offsets(&parts);
        let mut places = vec![ContainerPlace::default(); self.network.len()];
        for (part, offset) in parts.iter().zip(offsets) {
            for (node, place) in part.nodes.iter().zip(&part.places) {
                places[*node] = ContainerPlace { corner: place.corner.plus(offset).rounded(), ..*place };
            }
        }
        (places, extent)
    }

    fn parts(&self) -> Vec<Part> {
        let tier =
            |nodes: &[usize]| nodes.iter().filter_map(|node| self.outward[*node]).min().map(|of| of.tier);
        let (connected, loose): (Vec<_>, Vec<_>) =
            self.network.components().into_iter().partition(|component| component.len() > 1);
        let mut parts: Vec<Part> = Vec::new();
        for nodes in connected {
            let (places, extent) = self.part(&nodes).arrange_connected();
            parts.push(Part { tier: tier(&nodes), nodes, places, extent });
        }
        let loose = loose.into_iter().flatten();
        let is_in_row = |node: &usize| self.outward[*node].is_some_and(|of| !of.is_leaf);
        let (in_rows, mut in_grid): (Vec<usize>, Vec<usize>) = loose.partition(is_in_row);
        if in_rows.len() > MAX_IN_A_ROW {
            in_grid.extend(&in_rows);
            in_grid.sort_unstable();
        } else {
            parts.extend(in_rows.into_iter().map(|node| {
                let size = self.sizes[node];
                let place = ContainerPlace { corner: Point::default(), size, tier: None };
                Part { tier: tier(&[node]), nodes: vec![node], places: vec![place], extent: size }
            }));
        }
        if !in_grid.is_empty() {
            let sizes: Vec<Size> = in_grid.iter().map(|node| self.sizes[*node]).collect();
            let (corners, extent) = packing::grid(&sizes, GAP);
            let places = corners.into_iter().zip(sizes);
            let places = places.map(|(corner, size)| ContainerPlace { corner, size, tier: None }).collect();
            parts.push(Part { tier: tier(&in_grid), nodes: in_grid, places, extent });
        }
        parts
    }
}

/// Returns the corner of each part, and the extent of all.
fn offsets(parts: &[Part]) -> (Vec<Point>, Size) {
    let extents: Vec<Size> = parts.iter().map(|part| part.extent).collect();
    if parts.iter().all(|part| part.tier.is_none()) {
        return packing::pack(&extents, COMPONENT_GAP);
    }
    // Parts without lines to the outside come last.
    let mut by_tier: BTreeMap<(bool, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        by_tier.entry((part.tier.is_none(), part.tier)).or_default().push(index);
    }
    let mut rows: Vec<(Vec<usize>, Vec<Point>, Size)> = Vec::new();
    for members in by_tier.into_values() {
        let sizes: Vec<Size> = members.iter().map(|index| extents[*index]).collect();
        let (corners, extent) = row(&sizes).unwrap_or_else(|| packing::pack(&sizes, COMPONENT_GAP));
        rows.push((members, corners, extent));
    }
    let width = rows.iter().map(|(.., extent)| extent.width).fold(0.0, f64::max);
    let (mut offsets, mut y) = (vec![Point::default(); parts.len()], 0.0);
    for (members, corners, extent) in rows {
        let corner = Point::new((width - extent.width) / 2.0, y);
        for (index, relative) in members.iter().zip(corners) {
            offsets[*index] = corner.plus(relative);
        }
        y += extent.height + LAYER_GAP;
    }
    (offsets, Size::new(width, y - LAYER_GAP))
}

/// Places parts in one row; `None` if it would be too long.
fn row(sizes: &[Size]) -> Option<(Vec<Point>, Size)> {
    let mut right = 0.0;
    let corner = |size: &Size| {
        let corner = Point::new(right, 0.0);
        right += size.width + ROW_GAP;
        corner
    };
    let corners: Vec<Point> = sizes.iter().map(corner).collect();
    let height = sizes.iter().map(|size| size.height).fold(0.0, f64::max);
    let width = right - ROW_GAP;
    let fits = sizes.len() <= MAX_IN_A_ROW && width <= MAX_WIDTH.max(MAX_RATIO * height);
    fits.then_some((corners, Size::new(width, height)))
}
