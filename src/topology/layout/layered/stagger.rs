//! Rows in which every other shape is lower, so that many shapes side by side need less width.
//!
//! Shapes that nothing hangs below are staggered themselves; below a switch with a single wide leaf, such as a group of end
//! devices, the leaf is. Lines to lower shapes run down between the upper ones.

use super::super::containers::{GAP, Level};
use super::super::geometry::Point;
use super::super::tiers::Tiers;
use super::blocks::{BlockPart, LowerPart};
use super::rows::ArrangedRows;
use super::tiered::PLACE;

/// Number of shapes in a row of the network from which on they are staggered.
const MIN_STAGGERED: usize = 20;
/// The same for leaves that are alone below their hubs.
const MIN_LONE_LEAVES: usize = 9;
/// The largest width of such a hub. Whether leaves are staggered must not follow from their own widths: these depend on what is
/// known about end devices.
const MAX_HUB: f64 = 140.0;
/// Number of such shapes below the same nodes from which on they are staggered, and of such hubs.
const MIN_SIDE_BY_SIDE: usize = 3;
const MIN_HUBS: usize = 2;
/// Maximum number of lines to a staggered shape: more need as much room between upper shapes as a shape does.
const MAX_LINES: usize = 2;
/// The distance of the outermost line to a lower shape from the middle between it and an upper shape.
const LINE_ROOM: f64 = 10.0;

/// Which shapes of a network are staggered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stagger {
    /// Shapes that nothing hangs below.
    ends: bool,
    /// Leaves that are alone below narrow hubs.
    lone_leaves: bool,
}

impl Stagger {
    /// Returns the shapes that are staggered because one row of them would be too long.
    pub(super) fn of(level: &Level, tiers: &Tiers, is_in_row: &[bool]) -> Self {
        let network = &level.network;
        let below = |node: usize| {
            network
                .neighbors(node)
                .iter()
                .copied()
                .filter(move |other| tiers.levels[*other] > tiers.levels[node])
        };
        let is_end = |node: &usize| {
            is_in_row[*node] && below(*node).next().is_none() && network.degree(*node) <= MAX_LINES
        };
        let lone_leaf = |node: usize| {
            let mut leaves = below(node);
            leaves.next().filter(|leaf| tiers.is_leaf[*leaf] && leaves.next().is_none())
        };
        let have_lone_leaf: Vec<bool> = (0..network.len())
            .map(|node| lone_leaf(node).is_some() && level.sizes[node].width <= MAX_HUB)
            .collect();
        let has_lone_leaf = |node: &usize| have_lone_leaf[*node];
        let count = |is_meant: &dyn Fn(&usize) -> bool| (0..network.len()).filter(is_meant).count();
        Self {
            lone_leaves: count(&has_lone_leaf) >= MIN_LONE_LEAVES,
            ends: count(&|node| is_end(node) && !network.neighbors(*node).iter().any(has_lone_leaf))
                >= MIN_STAGGERED,
        }
    }

    /// Lowers every other shape and returns the places of all; `None` if they are in one line.
    pub(super) fn place(self, level: &Level, hanging: &mut [LowerPart]) -> Option<ArrangedRows> {
        let is_meant = |part: &LowerPart| self.contains(level, part);
        let (ends, hubs): (Vec<&LowerPart>, Vec<&LowerPart>) =
            hanging.iter().filter(|part| is_meant(part)).partition(|part| part.part.nodes.len() == 1);
        if ends.len() < MIN_SIDE_BY_SIDE && hubs.len() < MIN_HUBS {
            return None;
        }
        let mut is_lower = false;
        let mut lanes = Lanes::default();
        let mut rows = ArrangedRows::default();
        for part in hanging {
            let extents = if is_meant(part) {
                let extents = if is_lower { lower(level, part) } else { upper(level, part) };
                is_lower = !is_lower;
                extents
            } else {
                [Some(Extent::of_box(&part.part)); 3]
            };
            let x = lanes.add(extents);
            rows.corners.push(Point::new(x, 0.0));
            rows.left = rows.left.min(x);
            rows.right = rows.right.max(x + part.part.size.width);
            rows.height = rows.height.max(part.part.size.height);
        }
        Some(rows)
    }

    fn contains(self, level: &Level, part: &LowerPart) -> bool {
        match part.part.nodes.as_slice() {
            [_] => self.ends && part.above.len() <= MAX_LINES,
            [(hub, _), (leaf, _)] => {
                self.lone_leaves && level.network.degree(*leaf) == 1 && level.sizes[*hub].width <= MAX_HUB
            }
            _ => false,
        }
    }
}

/// The part of a lane that something takes, with half of the distance to others. It is relative to the corner of a block.
#[derive(Clone, Copy, Debug)]
struct Extent {
    left: f64,
    right: f64,
}

impl Extent {
    fn of_box(part: &BlockPart) -> Self {
        Self { left: -GAP / 2.0, right: part.size.width + GAP / 2.0 }
    }

    fn of_node(level: &Level, (node, corner): (usize, Point)) -> Self {
        Self { left: corner.x - GAP / 2.0, right: corner.x + level.sizes[node].width + GAP / 2.0 }
    }

    /// Returns the extent of lines that run down to the middle of a node.
    fn of_lines(level: &Level, (node, corner): (usize, Point), lines: usize) -> Self {
        let middle = corner.x + level.sizes[node].width / 2.0;
        let half = lines.saturating_sub(1) as f64 * PLACE / 2.0 + LINE_ROOM;
        Self { left: middle - half, right: middle + half }
    }
}

/// Returns what a part takes of the lanes of hubs, of upper and of lower shapes.
fn upper(level: &Level, part: &LowerPart) -> [Option<Extent>; 3] {
    let extent = |place: usize| part.part.nodes.get(place).map(|node| Extent::of_node(level, *node));
    if part.part.nodes.len() == 1 { [None, extent(0), None] } else { [extent(0), extent(1), None] }
}

/// Lowers the last node of a part, and returns what the part takes of the lanes.
fn lower(level: &Level, part: &mut LowerPart) -> [Option<Extent>; 3] {
    let lines = if part.part.nodes.len() == 1 { part.above.len() } else { 1 };
    let hub = part.part.nodes.first().filter(|_| part.part.nodes.len() > 1).copied();
    let Some((node, corner)) = part.part.nodes.last_mut() else { return [None; 3] };
    let by = level.sizes[*node].height + GAP;
    corner.y += by;
    part.part.size.height += by;
    let lowered = (*node, *corner);
    [
        hub.map(|hub| Extent::of_node(level, hub)),
        Some(Extent::of_lines(level, lowered, lines)),
        Some(Extent::of_node(level, lowered)),
    ]
}

/// The right ends of lanes one below the other, from left to right.
#[derive(Clone, Copy, Debug, Default)]
struct Lanes {
    ends: [Option<f64>; 3],
}

impl Lanes {
    /// Returns the leftmost position right of all before, and takes it.
    fn add(&mut self, extents: [Option<Extent>; 3]) -> f64 {
        let needed = extents.iter().zip(self.ends).filter_map(|(extent, end)| Some(end? - (*extent)?.left));
        let x = needed.fold(f64::NEG_INFINITY, f64::max);
        let x = if x.is_finite() { x } else { 0.0 };
        for (extent, end) in extents.iter().zip(&mut self.ends) {
            if let Some(extent) = extent {
                *end = Some(x + extent.right);
            }
        }
        x
    }
}
