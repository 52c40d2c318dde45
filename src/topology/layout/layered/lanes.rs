//! The room that blocks take in each row of a network, so that they stand as near to each other as the shapes of every row allow.
//!
//! A tier has two lanes, one below the other: one for its shapes, and one for those of them that are lower than the others.

use std::ops::Range;

use super::super::containers::GAP;
use super::tiered::PLACE;

/// The room for a label beside the outermost line to a lower shape, beyond the distance of shapes.
pub(super) const LABEL_ROOM: f64 = 4.0;

/// The distance of the two lanes of a tier.
pub(super) const LANE_GAP: f64 = 20.0;

/// The part of a lane that something takes, with half of the distance to others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub(super) left: f64,
    pub(super) right: f64,
}

impl Extent {
    /// Returns the extent of a shape, or of several that are side by side.
    pub(super) fn of_shape(left: f64, right: f64) -> Self {
        Self { left: left - GAP / 2.0, right: right + GAP / 2.0 }
    }

    /// Returns the extent of lines that run down side by side.
    pub(super) fn of_lines(middle: f64, lines: usize) -> Self {
        let half = lines.saturating_sub(1) as f64 * PLACE / 2.0 + LABEL_ROOM;
        Self { left: middle - half, right: middle + half }
    }

    /// Returns the extent of a line that has no labels.
    pub(super) fn of_bare_line(middle: f64) -> Self {
        Self { left: middle, right: middle }
    }

    pub(super) fn joined(self, other: Self) -> Self {
        Self { left: self.left.min(other.left), right: self.right.max(other.right) }
    }

    pub(super) fn moved(self, by: f64) -> Self {
        Self { left: self.left + by, right: self.right + by }
    }
}

/// The lane of the shapes of a tier. The next one is for those that are lower.
pub(super) const fn lane_of(tier: usize) -> usize {
    2 * tier
}

/// The part of each lane that a block takes, relative to its left edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    /// The first lane of which it takes something.
    first: usize,
    extents: Vec<Option<Extent>>,
}

impl Lanes {
    /// Returns the lanes of a block that takes the same of all lanes of a range.
    pub(super) fn of_box(lanes: Range<usize>, extent: Extent) -> Self {
        Self { first: lanes.start, extents: vec![Some(extent); lanes.len()] }
    }

    /// Returns the first lane of which the block takes something, and the one behind the last.
    pub(super) const fn range(&self) -> Range<usize> {
        self.first..self.first + self.extents.len()
    }

    fn get(&self, lane: usize) -> Option<Extent> {
        lane.checked_sub(self.first).and_then(|place| self.extents.get(place).copied().flatten())
    }

    /// Takes more of a lane.
    pub(super) fn add(&mut self, lane: usize, extent: Extent) {
        let taken = self.at(lane);
        *taken = Some(taken.map_or(extent, |taken| taken.joined(extent)));
    }

    /// Takes this of a lane, and nothing else.
    pub(super) fn replace(&mut self, lane: usize, extent: Extent) {
        *self.at(lane) = Some(extent);
    }

    fn at(&mut self, lane: usize) -> &mut Option<Extent> {
        if self.extents.is_empty() {
            self.first = lane;
        }
        if let Some(before) = self.first.checked_sub(lane).filter(|before| *before > 0) {
            self.extents.splice(0..0, std::iter::repeat_n(None, before));
            self.first = lane;
        }
        let place = lane - self.first;
        if place >= self.extents.len() {
            self.extents.resize(place + 1, None);
        }
        &mut self.extents[place]
    }

    /// Takes all that another block takes whose left edge is at a position.
    pub(super) fn join(&mut self, other: &Self, position: f64) {
        for lane in other.range() {
            if let Some(extent) = other.get(lane) {
                self.add(lane, extent.moved(position));
            }
        }
    }

    /// Takes of the lanes from one on what the block takes of its first one, so that nothing stands above it.
    pub(super) fn reach_up(&mut self, lane: usize) {
        if let Some(extent) = self.get(self.first) {
            (lane..self.first).rev().for_each(|lane| self.add(lane, extent));
        }
    }
}

/// Returns the positions of blocks side by side, in their order.
pub(super) fn side_by_side<'a>(blocks: impl Iterator<Item = &'a Lanes> + Clone) -> Vec<f64> {
    let count = blocks.clone().map(|block| block.range().end).max().unwrap_or(0);
    // The right end of what is taken of each lane.
    let mut ends: Vec<f64> = vec![f64::NEG_INFINITY; count];
    let place = |block: &Lanes| {
        let taken =
            || block.range().zip(&block.extents).filter_map(|(lane, extent)| Some((lane, (*extent)?)));
        let needed = taken().map(|(lane, extent)| ends[lane] - extent.left).fold(f64::NEG_INFINITY, f64::max);
        let x = if needed.is_finite() { needed } else { 0.0 };
        for (lane, extent) in taken() {
            ends[lane] = ends[lane].max(x + extent.right);
        }
        x
    };
    blocks.map(place).collect()
}
