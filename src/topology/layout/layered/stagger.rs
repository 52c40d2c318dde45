//! Rows in which every other shape is lower, so that many shapes side by side need less width.
//!
//! Shapes that nothing hangs below are staggered themselves; of a switch with a single leaf, such as a group of end devices, the leaf
//! is, and where that is not enough, the switch is, too. Lines to lower shapes run down between the upper ones.

use super::super::containers::Level;
use super::super::tiers::Tiers;
use super::blocks::LowerPart;
use super::lanes::{Extent, LANE_GAP, Lanes, lane_of};
use super::page::PageEstimate;
use super::stack::TierStyle;

/// The largest width of a switch with a lone leaf. Whether leaves are staggered must not follow from their own widths: these depend on
/// what is known about end devices.
const MAX_HUB: f64 = 140.0;
/// Number of such shapes below the same nodes from which on they are staggered.
const MIN_SIDE_BY_SIDE: usize = 2;
/// Number of such shapes in the network from which on they are staggered. Fewer are no row that could be too long.
const MIN_STAGGERED: usize = 6;
/// Maximum number of lines to a staggered shape: more need as much room between upper shapes as a shape does.
const MAX_LINES: usize = 2;

/// Which shapes of a network are staggered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stagger {
    /// Shapes that nothing hangs below.
    ends: bool,
    /// Leaves that are alone below narrow hubs.
    lone_leaves: bool,
    /// These hubs themselves.
    hubs: bool,
}

impl Stagger {
    /// Returns the shapes that are staggered: as few as possible so that the drawing is neither too wide nor too empty.
    pub(super) fn of(level: &Level, tiers: &Tiers, is_in_row: &[bool], page: &PageEstimate) -> Self {
        let network = &level.network;
        let below = |node: usize| {
            network
                .neighbors(node)
                .iter()
                .copied()
                .filter(move |other| tiers.levels[*other] > tiers.levels[node])
        };
        let is_end = |node: &usize| {
            is_in_row[*node]
                && !level.is_container[*node]
                && below(*node).next().is_none()
                && network.degree(*node) <= MAX_LINES
        };
        let lone_leaf = |node: usize| {
            let mut leaves = below(node);
            leaves.next().filter(|leaf| tiers.is_leaf[*leaf] && leaves.next().is_none())
        };
        let have_lone_leaf: Vec<bool> = (0..network.len())
            .map(|node| {
                lone_leaf(node).is_some_and(|leaf| !level.is_container[leaf])
                    && level.sizes[node].width <= MAX_HUB
            })
            .collect();
        let has_lone_leaf = |node: &usize| have_lone_leaf[*node];
        let are_many =
            |is_meant: &dyn Fn(&usize) -> bool| (0..network.len()).filter(is_meant).count() >= MIN_STAGGERED;
        let ends = are_many(&|node| is_end(node) && !network.neighbors(*node).iter().any(has_lone_leaf));
        let lone_leaves = are_many(&has_lone_leaf);
        let is_tight = page.is_wide() || page.is_empty();
        Self {
            ends: ends && is_tight,
            lone_leaves: lone_leaves && is_tight,
            hubs: lone_leaves && page.is_empty(),
        }
    }

    /// Lowers every other shape of those whose first lane is this one, and makes room for the lines between the others.
    pub(super) fn lower(self, level: &Level, style: &TierStyle<'_>, first: usize, hanging: &mut [LowerPart]) {
        let is_meant =
            |part: &&mut LowerPart| part.part.lanes.range().start == first && self.contains(level, part);
        let meant: Vec<&mut LowerPart> = hanging.iter_mut().filter(is_meant).collect();
        if meant.len() < MIN_SIDE_BY_SIDE {
            return;
        }
        for (place, part) in meant.into_iter().enumerate() {
            let is_lower = place % 2 == 1;
            let last = part.part.nodes.len() - 1;
            for node in 0..last {
                if is_lower && self.hubs {
                    let lines = if node == 0 { part.above.len() } else { 1 };
                    lower(level, style, part, (node, lines));
                } else if self.hubs {
                    // The line to the next node runs down between lower ones.
                    let middle = middle(level, part, node);
                    part.part.lanes.add(first + lane_of(node) + 1, Extent::of_lines(middle, 1));
                }
            }
            if is_lower {
                let lines = if last == 0 { part.above.len() } else { 1 };
                lower(level, style, part, (last, lines));
            }
        }
    }

    fn contains(self, level: &Level, part: &LowerPart) -> bool {
        let has_container = part.part.nodes.iter().any(|(node, _)| level.is_container[*node]);
        !has_container && self.is_meant(level, part)
    }

    fn is_meant(self, level: &Level, part: &LowerPart) -> bool {
        match part.part.nodes.as_slice() {
            [_] => self.ends && part.above.len() <= MAX_LINES,
            [(hub, _), between @ .., (leaf, _)] => {
                self.lone_leaves
                    && level.network.degree(*leaf) == 1
                    && between.iter().all(|(node, _)| level.network.degree(*node) == 2)
                    && level.sizes[*hub].width <= MAX_HUB
                    && part.part.lanes.range().len() == lane_of(between.len() + 1) + 1
            }
            [] => false,
        }
    }
}

/// Lowers a node of a part, to which this many lines run down.
fn lower(level: &Level, style: &TierStyle<'_>, part: &mut LowerPart, (place, lines): (usize, usize)) {
    let lane = part.part.lanes.range().start + lane_of(place);
    let middle = middle(level, part, place);
    let Some((node, corner)) = part.part.nodes.get_mut(place) else { return };
    let by = style.rows.get(lane / 2).map_or(level.sizes[*node].height, |row| row.height) + LANE_GAP;
    corner.y += by;
    let shape = Extent::of_shape(corner.x, corner.x + level.sizes[*node].width);
    let bottom = corner.y + level.sizes[*node].height;
    part.part.size.height = part.part.size.height.max(bottom);
    let lanes: &mut Lanes = &mut part.part.lanes;
    let is_bare = lines == 1 && level.port_widths[*node].iter().all(|(_, width)| *width == 0.0);
    let extent = if is_bare { Extent::of_bare_line(middle) } else { Extent::of_lines(middle, lines) };
    lanes.replace(lane, extent);
    lanes.add(lane + 1, shape);
}

/// Returns the middle of a node of a part.
fn middle(level: &Level, part: &LowerPart, place: usize) -> f64 {
    let node = part.part.nodes.get(place);
    node.map_or(0.0, |(node, corner)| corner.x + level.sizes[*node].width / 2.0)
}
