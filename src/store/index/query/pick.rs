//! Picks the rows of a list out of the runs of its sort fields. The picked rows pass the filters of the list, and
//! come in the order of all fields.

#![allow(
    clippy::indexing_slicing,
    reason = "groups are numbered up to the greatest, and tables have an element for each number"
)]

use uuid::Uuid;

use super::members::Members;
use super::row_set::RowSet;
use crate::invariant::Invariant;
use crate::store::Direction;
use crate::store::index::rows::{Rows, Slot, SortField};
use crate::store::index::run::merge::MergedRuns;
use crate::store::index::run::{RowId, Run, RunPosition};

/// Number of rows of a run that are read in one step, to pick those that pass.
pub(super) const PICKED_PER_STEP: usize = 64;

/// The rows of a list read so far, in the ascending order of one sort field.
#[derive(Debug, Default)]
pub(super) struct Pick {
    rows: Vec<RowId>,
    /// The number of the key of each row; equal keys have equal numbers. It is empty when the list needs no numbers.
    groups: Vec<u32>,
    last_key: Vec<u8>,
    /// Key and id of the last row of the run that was passed.
    after: Option<(Vec<u8>, Uuid)>,
    is_over: bool,
}

/// How far to read at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) steps: usize,
    /// Whether the keys of the rows are to be numbered.
    pub(super) is_grouped: bool,
}

impl Pick {
    /// Creates a pick of rows in order. The groups are the numbers of their keys, if needed.
    pub(super) fn new(rows: Vec<RowId>, groups: Vec<u32>) -> Self {
        Self { rows, groups, ..Self::default() }
    }

    /// Reads a slice of the run of a slot. Returns `false` when the whole run was read before.
    pub(super) fn read(
        &mut self,
        rows: &Rows,
        run: &Run,
        slot: Slot,
        members: &Members,
        Slice { steps, is_grouped }: Slice,
    ) -> bool {
        if self.is_over {
            return false;
        }
        let from = match &self.after {
            None => RunPosition::default(),
            Some((key, id)) => {
                let merged = MergedRuns { rows, slot, runs: vec![run] };
                merged.partition(key, Some(*id), |other| other <= (key, *id))[0]
            }
        };
        // Where keys are compared, every row costs a step.
        let max = if is_grouped { steps } else { steps * PICKED_PER_STEP };
        let picked = self.rows.len();
        let end = run.place(run.rank(from).saturating_add(max));
        for slice in run.slices_between(from, end) {
            match &members.set {
                None => self.rows.extend_from_slice(slice),
                Some(set) => set.pick(slice, &mut self.rows),
            }
        }
        if is_grouped {
            self.number_groups(rows, slot, picked);
        }
        let last = run.before(end).filter(|last| *last >= from).and_then(|last| run.at(last));
        if let Some(last) = last {
            let (key, id) = rows.rank_key(slot, last);
            self.after = Some((key.to_vec(), id));
        }
        self.is_over = end == run.end();
        true
    }

    /// Numbers the keys of the rows from a place on. A key that continues from the slice before keeps its number,
    /// even when the rows that had it then have another key by now.
    fn number_groups(&mut self, rows: &Rows, slot: Slot, from: usize) {
        let mut group = self.groups.last().map_or(0, |group| *group);
        let mut last_key = self.last_key.as_slice();
        for row in &self.rows[from..] {
            let key = rows.sort_key(slot, *row);
            if key != last_key {
                group += 1;
                last_key = key;
            }
            self.groups.push(group);
        }
        self.last_key = last_key.to_vec();
    }

    fn discard(&mut self, discarded: &RowSet) {
        if discarded.is_empty() {
            return;
        }
        let mut kept = self.rows.iter().map(|row| !discarded.contains(*row));
        self.groups.retain(|_| kept.next().asserted_or_default());
        self.rows.retain(|row| !discarded.contains(*row));
    }

    /// Sorts rows by the numbers of their keys. Rows with equal keys keep their order.
    fn sort(&self, rows: &[RowId], direction: Direction) -> Vec<RowId> {
        debug_assert_eq!(rows.len(), self.rows.len(), "all orders of a list have the same rows");
        let greatest = self.groups.last().map_or(0, |group| *group);
        let directed = |group: u32| match direction {
            Direction::Ascending => group,
            Direction::Descending => greatest - group,
        };
        let mut group_of: Vec<u32> = vec![0; self.rows.iter().max().map_or(0, |max| *max as usize + 1)];
        // The number of rows before each group: counted one group later, then added up.
        let mut next_places: Vec<usize> = vec![0; greatest as usize + 2];
        for (row, group) in self.rows.iter().zip(&self.groups) {
            let group = directed(*group);
            group_of[*row as usize] = group;
            next_places[group as usize + 1] += 1;
        }
        let mut passed = 0;
        for count in &mut next_places {
            passed += *count;
            *count = passed;
        }
        let mut sorted = vec![0; rows.len()];
        for row in rows {
            let group = group_of.get(*row as usize).copied().asserted_or_default();
            let next = &mut next_places[group as usize];
            if let Some(place) = sorted.get_mut(*next).asserted() {
                *place = *row;
            }
            *next += 1;
        }
        sorted
    }
}

/// Returns the rows of a list in its order, without discarded rows.
pub(super) fn in_order(mut picks: Vec<Pick>, order: &[SortField], discarded: &RowSet) -> Vec<RowId> {
    picks.iter_mut().for_each(|pick| pick.discard(discarded));
    let mut order = picks.iter().zip(order).rev();
    let Some((last, (_, direction))) = order.next() else { return Vec::new() };
    let rows = match direction {
        Direction::Ascending => last.rows.clone(),
        Direction::Descending => last.sort(&last.rows, *direction),
    };
    order.fold(rows, |rows, (pick, (_, direction))| pick.sort(&rows, *direction))
}
