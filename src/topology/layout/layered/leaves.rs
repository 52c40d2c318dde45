//! The leaves of a network with tiers: end devices, or a tier of switches of which no end devices are known.

use std::cmp::Ordering;

use super::super::containers::{GAP, Level};
use super::super::packing::SHEET_WIDTH;
use super::super::tiers::Tiers;
use super::lanes::LABEL_ROOM;

/// Number of sheets on which known switches may be side by side.
const SHEETS_OF_SWITCHES: f64 = 2.0;

/// The numbers of leaves of a network by kind, and their width.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leaves {
    pub(super) count: usize,
    /// The number of those whose hubs have a higher rank: end devices.
    pub(super) devices: usize,
    /// The number of those whose hubs have the same rank: switches.
    pub(super) switches: usize,
    /// The width that all of them take side by side if every other one is lower.
    pub(super) width: f64,
}

impl Leaves {
    pub(super) fn of(level: &Level, tiers: &Tiers) -> Self {
        let network = &level.network;
        let mut leaves = Self::default();
        for leaf in (0..network.len()).filter(|node| tiers.is_leaf[*node]) {
            let mut orders =
                network.neighbors(leaf).iter().map(|hub| Some(level.ranks[leaf]?.cmp(&level.ranks[*hub]?)));
            match orders.next().flatten() {
                Some(Ordering::Greater) => leaves.devices += 1,
                Some(Ordering::Equal) => leaves.switches += 1,
                _ => {}
            }
            leaves.count += 1;
            leaves.width += (level.sizes[leaf].width + GAP) / 2.0 + LABEL_ROOM;
        }
        leaves
    }

    /// Returns whether most leaves are known to be switches that have room side by side.
    pub(super) fn are_rows_of_switches(self) -> bool {
        self.switches > self.devices && self.width <= SHEETS_OF_SWITCHES * SHEET_WIDTH
    }

    /// Returns whether the leaves may be a tier to the reader: most are not known to be end devices.
    pub(super) fn are_tier(self) -> bool {
        self.devices * 2 <= self.count
    }
}

/// Returns a number of leaves that at most one in eight hubs exceeds. One leaf more then changes no other part of a drawing.
pub(super) fn leaves_of_most_hubs(level: &Level, tiers: &Tiers) -> usize {
    let leaves_of =
        |hub: usize| level.network.neighbors(hub).iter().filter(|other| tiers.is_leaf[**other]).count();
    let mut counts: Vec<usize> = (0..level.network.len()).map(leaves_of).filter(|count| *count > 0).collect();
    counts.sort_unstable();
    let place = (counts.len().saturating_sub(1)) - counts.len() / 8;
    counts.get(place).copied().unwrap_or(0)
}
