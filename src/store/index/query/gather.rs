//! Puts few rows of a large organization into order by their own keys.

#![allow(
    clippy::indexing_slicing,
    reason = "the rows are numbered here, and their keys are where they were appended"
)]

use std::ops::Range;

use uuid::Uuid;

use super::pick::Pick;
use super::row_set::RowSet;
use crate::invariant::Invariant;
use crate::store::index::rows::{Rows, Slot};
use crate::store::index::run::RowId;
use crate::store::index::run::sort::sorted;

/// The keys read so far of a list's rows, in one order.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// All keys, one after the other.
    keys: Vec<u8>,
    rows: Vec<GatheredRow>,
    /// The first row that was not read.
    next: RowId,
}

#[derive(Debug)]
struct GatheredRow {
    id: Uuid,
    row: RowId,
    key: Range<usize>,
}

impl Gathered {
    /// Reads the keys of a slice of the rows. Returns `false` when all keys were read before.
    pub(super) fn read(&mut self, rows: &Rows, slot: Slot, set: Option<&RowSet>, steps: usize) -> bool {
        // Keys are gathered only for lists whose members were found.
        let slice = set.map(|set| set.slice(self.next, steps)).asserted_or_default();
        rows.read_ahead(&slice, slot > 0);
        for number in &slice {
            // A row may be deleted after it was found. It is then one of those that are discarded.
            let Some(row) = rows.get(*number) else { continue };
            let start = self.keys.len();
            self.keys.extend_from_slice(row.sort_key(slot, rows.partitions()));
            self.rows.push(GatheredRow { id: row.id, row: *number, key: start..self.keys.len() });
        }
        self.next = slice.last().map_or(self.next, |last| last + 1);
        !slice.is_empty()
    }

    /// Puts the rows into the order of their keys and ids.
    pub(super) fn pick(mut self, is_grouped: bool) -> Pick {
        // Equal keys stay in the order of their numbers, so that these are assigned in the order of the ids.
        self.rows.sort_unstable_by_key(|row| row.id);
        let key = |number: u32| &self.keys[self.rows[number as usize].key.clone()];
        let order = sorted(0..self.rows.len() as u32, key);
        let rows = order.iter().map(|number| self.rows[*number as usize].row);
        let (mut groups, mut group) = (Vec::new(), 0);
        if is_grouped {
            let mut last_key = None;
            groups.extend(order.iter().map(|number| {
                let key = key(*number);
                group += u32::from(last_key != Some(key));
                last_key = Some(key);
                group
            }));
        }
        Pick::new(rows.collect(), groups)
    }
}
