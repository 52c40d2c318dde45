//! Materializing a list: putting all its rows into order while others read and write the index.
//!
//! The order of every single sort key exists already, as a run of the organization. A list is *picked* out of the runs of its
//! terms, one after the other, and the terms are combined by counting sorts on the numbers of equal keys.
//!
//! Every look at the index is a slice of bounded work under a lock of its own; the sorting happens under no lock:
//!
//! ```text
//! Index::begin ─ Materialization::read … read ─ sort ─ Sorted::read_prefixes ─ build ─ Index::finish … finish
//!    lock            lock           lock             lock                          lock         lock
//! ```
//!
//! Rows that change meanwhile are noted in [`ChangedRows`]. What was picked of them is discarded, and at the end they are
//! inserted at their present places.

mod changes;
mod members;
mod pick;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::changes::{apply_changes, row_then};
use self::members::Members;
use self::pick::{Pick, Slice, in_order};
use super::ordering_cache::{ChangedRows, Evicted, ListKey, OrderingCache};
use super::row_set::RowSet;
use super::run::Run;
use super::table::{Table, length};
use super::{Index, RowId};

/// Rows that are passed for one step where they stand one behind the other in memory.
const PASSED_PER_STEP: usize = 16;

/// A list of which the rows are being read.
#[derive(Debug)]
pub(crate) struct Materialization {
    key: ListKey,
    changed: Arc<Mutex<ChangedRows>>,
    members: Members,
    picks: Vec<Pick>,
    /// The rows that changed while they were read.
    discarded: RowSet,
}

/// A list of which the rows are in order.
#[derive(Debug)]
pub(crate) struct Sorted {
    key: ListKey,
    changed: Arc<Mutex<ChangedRows>>,
    rows: Vec<RowId>,
    prefixes: Vec<u128>,
}

/// A list that is complete but for the latest changes.
#[derive(Debug)]
pub(crate) struct Built {
    key: ListKey,
    changed: Arc<Mutex<ChangedRows>>,
    run: Run,
}

/// The outcome of an attempt to finish.
#[derive(Debug)]
pub(crate) enum Finished {
    /// The list is in the cache.
    Cached(Evicted),
    /// More changes than one slice can apply are left.
    Unfinished(Built),
    /// The organization lost its last record meanwhile, so there is no list any more.
    Abandoned,
}

impl Index {
    /// Begins to materialize a list. `None` when the organization has no records of this kind.
    pub(crate) fn begin(&self, key: ListKey) -> Option<Materialization> {
        let changed = Arc::default();
        self.orderings(&key)?.note_changes(key.clone(), &changed);
        let members = Members::new(self, &key.filters);
        let picks = key.terms.iter().map(|_| Pick::default()).collect();
        Some(Materialization { key, changed, members, picks, discarded: RowSet::default() })
    }

    /// Applies the latest changes, at most a slice of them, and when none are left, puts the list into the cache.
    pub(crate) fn finish(&self, mut built: Built) -> Finished {
        let Some((table, orderings)) = self.table_of(&built.key).zip(self.orderings(&built.key)) else {
            return Finished::Abandoned;
        };
        if !orderings.notes_changes(&built.changed) {
            return Finished::Abandoned;
        }
        let mut changed = lock(&built.changed);
        apply_changes(&self.rows, &built.key, &mut built.run, &mut changed);
        let is_complete = changed.is_empty();
        drop(changed);
        if !is_complete {
            return Finished::Unfinished(built);
        }
        let rows = table.runs_of_organization(built.key.filters.organization).map_or(0, length);
        Finished::Cached(orderings.insert(built.key, built.run, rows))
    }

    fn table_of(&self, key: &ListKey) -> Option<&Table> {
        self.tables.get(&key.filters.table)
    }

    /// The ordering cache that may hold a list.
    pub(super) fn orderings(&self, key: &ListKey) -> Option<&OrderingCache> {
        self.table_of(key)?.orderings(key.filters.organization?)
    }
}

impl Materialization {
    /// Reads a slice of at most this many steps. Returns whether another follows.
    pub(crate) fn read(&mut self, index: &Index, steps: usize) -> bool {
        let Some(table) = index.table_of(&self.key) else { return false };
        if self.members.read(index, table, &self.key.filters, steps) {
            return true;
        }
        let Some(runs) = table.runs_of_organization(self.key.filters.organization) else { return false };
        let slice = Slice { steps, is_grouped: !self.key.is_run_order() };
        for (pick, (slot, _)) in self.picks.iter_mut().zip(&self.key.terms) {
            let Some(run) = runs.get(*slot) else { continue };
            if pick.read(&index.rows, run, *slot, &self.members, slice) {
                return true;
            }
        }
        let changed: Vec<RowId> = lock(&self.changed).keys().copied().collect();
        self.discarded = RowSet::new(&changed);
        false
    }

    /// Puts the rows into order.
    pub(crate) fn sort(self) -> Sorted {
        let Self { key, changed, picks, discarded, .. } = self;
        Sorted { rows: in_order(picks, &key.terms, &discarded), key, changed, prefixes: Vec::new() }
    }
}

impl Sorted {
    /// Reads the prefixes by which the list will be searched, one for each of its blocks.
    pub(crate) fn read_prefixes(&mut self, index: &Index) {
        let changed = lock(&self.changed);
        let rows = &index.rows;
        let prefix =
            |row| row_then(rows, &changed, row).map_or(0, |row| rows.prefix_of_row(&self.key.terms, row));
        self.prefixes = Run::ends_of_blocks(&self.rows).map(prefix).collect();
    }

    /// Builds the run.
    pub(crate) fn build(self) -> Built {
        let mut prefixes = self.prefixes.into_iter();
        let run = Run::of_sorted(&self.rows, |_| prefixes.next().unwrap_or_default());
        Built { key: self.key, changed: self.changed, run }
    }
}

/// Holds no row that could be half changed, so a panic elsewhere does not matter.
fn lock(changed: &Mutex<ChangedRows>) -> MutexGuard<'_, ChangedRows> {
    changed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the steps to materialize a list of `rows` rows in an organization of `organization_rows`.
pub(super) fn price(key: &ListKey, rows: usize, organization_rows: usize) -> usize {
    let passed = organization_rows / PASSED_PER_STEP;
    passed.saturating_add(rows).saturating_mul(key.terms.len())
}
