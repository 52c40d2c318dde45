//! The page of a drawing in tiers, estimated before anything is placed.
//!
//! The estimate decides how rows are drawn. A leaf more, or a role, must not change it.

use super::super::containers::{GAP, LAYER_GAP, Level};
use super::super::packing::SHEET_WIDTH;
use super::super::tiers::Tiers;
use super::leaves::leaves_of_most_hubs;
use super::spread::aside;
use super::tiered::LineEnds;

/// The part of a page that devices cover at least.
pub(super) const COVERED: f64 = 1.0 / 8.0;
/// How much wider a drawing is than its longest row, at most. Blocks stand apart from each other.
const WIDER: f64 = 1.25;
/// The width of a leaf. That of a group follows from what is known about end devices.
const LEAF: f64 = 120.0;

/// An estimate of a drawing with one row for each tier.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageEstimate {
    /// The width of the longest row.
    width: f64,
    height: f64,
    /// The area of the shapes.
    shapes: f64,
}

/// Sums over the shapes in the row of a tier.
#[derive(Clone, Copy, Debug, Default)]
struct RowSum {
    count: usize,
    has_inner: bool,
    width: f64,
    height: f64,
    area: f64,
}

impl PageEstimate {
    /// Estimates the page. A tier of a single leaf does not count, nor do more leaves of a device than most have.
    pub(super) fn of(level: &Level, tiers: &Tiers, is_in_row: &[bool], ends: &[[LineEnds; 2]]) -> Self {
        let mut rows = vec![RowSum::default(); ends.len()];
        let typical = leaves_of_most_hubs(level, tiers);
        let mut counted = vec![0; level.network.len()];
        for node in (0..level.network.len()).filter(|node| is_in_row[*node]) {
            let is_leaf = tiers.is_leaf[node];
            if let Some(hub) = level.network.neighbors(node).first().filter(|_| is_leaf) {
                counted[*hub] += 1;
                if counted[*hub] > typical {
                    continue;
                }
            }
            let size = level.sizes[node];
            let width = if is_leaf { LEAF } else { size.width };
            let row = &mut rows[tiers.levels[node]];
            row.count += 1;
            row.has_inner |= !is_leaf;
            row.width += width + GAP;
            row.height = row.height.max(size.height);
            row.area += width * size.height;
        }
        let is_counted = |row: &RowSum| row.has_inner || row.count > 1;
        let width = rows.iter().filter(|row| is_counted(row)).map(|row| row.width).fold(0.0, f64::max);
        let mut page = Self { width, height: 0.0, shapes: 0.0 };
        for (tier, row) in rows.iter().enumerate().filter(|(_, row)| is_counted(row)) {
            page.height += row.height;
            page.shapes += row.area;
            if let Some(above) = tier.checked_sub(1) {
                // Lines to the outermost shapes of a block run aside about as far as a third of the width.
                let needed = ends[above][0].length() + ends[tier][1].length() + aside(width / 3.0);
                page.height += needed.max(LAYER_GAP);
            }
        }
        page
    }

    /// Returns whether names would have less than 6 points on a sheet.
    pub(super) fn is_wide(&self) -> bool {
        self.width * 6.0 > SHEET_WIDTH * 7.0
    }

    /// Returns whether shapes cover little of it, and would cover more if it were narrower and higher.
    pub(super) fn is_empty(&self) -> bool {
        let width = self.width * WIDER;
        width > self.height && self.shapes < COVERED * width * self.height
    }
}
