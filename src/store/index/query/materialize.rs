//! Materializes a list: puts all its rows into order. Other threads read and write the index in the meantime.
//!
//! The rows that pass are determined first: for each filter that finds few rows, or not many more than the smallest,
//! a set of rows is read from its postings, and the sets are intersected. Only the other filters are evaluated on
//! rows.
//!
//! The order of every single sort key exists already, as a run of the organization. A list is *picked* out of the runs
//! of its sort fields, one after the other. If few rows pass, their keys are *gathered* and sorted instead. Several fields
//! are combined by counting sorts on the numbers of equal keys.
//!
//! The index is read in slices of bounded work, each under a lock of its own. The sorting happens without a lock:
//!
//! ```text
//! Index::begin ─ Materialization::read … read ─ sort ─ Sorted::read_prefixes ─ build ─ Index::finish … finish
//!    lock            lock           lock             lock                          lock         lock
//! ```
//!
//! Rows that change in the meantime are noted in [`ChangedRows`]. They are discarded from the rows read, and at the
//! end they are inserted at their present places.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::gather::Gathered;
use super::members::Members;
use super::pick::{PICKED_PER_STEP, Pick, Slice, in_order};
use super::row_set::RowSet;
use crate::invariant::Invariant;
use crate::store::index::Index;
use crate::store::index::list::{ChangedRows, Evicted, ListKey, OrderingCache};
use crate::store::index::rows::{Row, Rows};
use crate::store::index::run::{RowId, Run};
use crate::store::index::table::{KindTable, Runs, length};

/// A list whose rows are being read.
#[derive(Debug)]
pub(crate) struct Materialization {
    key: ListKey,
    changed: Arc<Mutex<ChangedRows>>,
    members: Members,
    /// `None` until all members were found, and when the list was abandoned.
    orders: Option<Orders>,
    /// The rows that changed while they were read.
    discarded: RowSet,
}

/// The rows read so far of a list, in each of its orders.
#[derive(Debug)]
enum Orders {
    /// The members are picked out of the runs of the organization.
    Picked(Vec<Pick>),
    /// The keys of the members are read.
    Gathered(Vec<Gathered>),
}

/// Steps to gather the key of a row, and to sort it.
const GATHER_STEPS: usize = 2;

impl Orders {
    /// Chooses the way that takes fewer steps.
    fn new(members: &Members, count: usize, organization_rows: usize) -> Self {
        let max = organization_rows / PICKED_PER_STEP / GATHER_STEPS;
        if members.set.as_ref().is_some_and(|set| set.len() < max) {
            Self::Gathered(std::iter::repeat_with(Gathered::default).take(count).collect())
        } else {
            Self::Picked(std::iter::repeat_with(Pick::default).take(count).collect())
        }
    }

    fn into_picks(self, is_grouped: bool) -> Vec<Pick> {
        match self {
            Self::Picked(picks) => picks,
            Self::Gathered(orders) => orders.into_iter().map(|order| order.pick(is_grouped)).collect(),
        }
    }
}

/// A list whose rows are in order.
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
#[allow(clippy::large_enum_variant, reason = "it is moved once for each slice of a list")]
pub(crate) enum Finished {
    /// The list is in the cache.
    Cached(Evicted),
    /// More changes than one slice can apply are left.
    Unfinished(Built),
    /// The organization lost its last record meanwhile, so the list no longer exists.
    Abandoned,
}

impl Index {
    /// Begins to materialize a list. Returns `None` when the organization has no records of this kind.
    pub(crate) fn begin(&self, key: ListKey) -> Option<Materialization> {
        let changed = Arc::default();
        self.orderings(&key)?.note_changes(key.clone(), &changed);
        let members = Members::new(self, self.table_of(&key)?, &key.filters);
        Some(Materialization { key, changed, members, orders: None, discarded: RowSet::default() })
    }

    /// Applies the latest changes, at most a slice of them. When none are left, the list is put into the cache.
    pub(crate) fn finish(&self, mut built: Built) -> Finished {
        let Some((_, runs)) = self.pending(&built.key, &built.changed) else { return Finished::Abandoned };
        let Some(orderings) = self.orderings(&built.key).asserted() else { return Finished::Abandoned };
        let mut changed = lock(&built.changed);
        apply_changes(&self.rows, &built.key, &mut built.run, &mut changed);
        let is_complete = changed.is_empty();
        drop(changed);
        if !is_complete {
            return Finished::Unfinished(built);
        }
        Finished::Cached(orderings.insert(built.key, built.run, length(runs)))
    }

    /// Returns the table of a list that is being materialized, and the runs of its organization.
    ///
    /// Returns `None` once the organization has lost its last record. The list is then abandoned even if the
    /// organization has records again, because its changes were not noted in the meantime.
    fn pending(&self, key: &ListKey, changed: &Arc<Mutex<ChangedRows>>) -> Option<(&KindTable, &Runs)> {
        let table = self.table_of(key)?;
        self.orderings(key).filter(|orderings| orderings.notes_changes(changed))?;
        Some((table, table.runs_of_organization(key.filters.organization).asserted()?))
    }

    fn table_of(&self, key: &ListKey) -> Option<&KindTable> {
        self.tables.get(&key.filters.table)
    }

    /// Returns the ordering cache that may hold a list.
    pub(super) fn orderings(&self, key: &ListKey) -> Option<&OrderingCache> {
        self.table_of(key)?.orderings(key.filters.organization?)
    }
}

impl Materialization {
    /// Reads a slice of at most this many steps. Returns whether another follows.
    pub(crate) fn read(&mut self, index: &Index, steps: usize) -> bool {
        let Some((table, runs)) = index.pending(&self.key, &self.changed) else {
            self.orders = None;
            return false;
        };
        if self.members.read(index, table, &self.key.filters, steps) {
            return true;
        }
        let slice = Slice { steps, is_grouped: !self.key.is_run_order() };
        let (members, order) = (&self.members, &self.key.order);
        match self.orders.get_or_insert_with(|| Orders::new(members, order.len(), length(runs))) {
            Orders::Picked(picks) => {
                for (pick, (slot, _)) in picks.iter_mut().zip(order) {
                    let Some(run) = runs.get(*slot).asserted() else { continue };
                    if pick.read(&index.rows, run, *slot, members, slice) {
                        return true;
                    }
                }
            }
            Orders::Gathered(orders) => {
                for (gathered, (slot, _)) in orders.iter_mut().zip(order) {
                    if gathered.read(&index.rows, *slot, members.set.as_ref(), steps) {
                        return true;
                    }
                }
            }
        }
        let changed: Vec<RowId> = lock(&self.changed).keys().copied().collect();
        self.discarded = RowSet::new(&changed);
        false
    }

    /// Puts the rows into order.
    pub(crate) fn sort(self) -> Sorted {
        let Self { key, changed, orders, discarded, .. } = self;
        // An abandoned list has no orders.
        let picks = orders.map_or_else(Vec::new, |orders| orders.into_picks(!key.is_run_order()));
        Sorted { rows: in_order(picks, &key.order, &discarded), key, changed, prefixes: Vec::new() }
    }
}

impl Sorted {
    /// Reads the prefixes by which the list will be searched, one per block.
    pub(crate) fn read_prefixes(&mut self, index: &Index) {
        if index.pending(&self.key, &self.changed).is_none() {
            self.rows.clear();
            return;
        }
        let changed = lock(&self.changed);
        let rows = &index.rows;
        let prefix = |row| prefix_then(rows, &self.key, &changed, row);
        self.prefixes = Run::ends_of_blocks(&self.rows).map(prefix).collect();
    }

    /// Builds the run.
    pub(crate) fn build(self) -> Built {
        let mut prefixes = self.prefixes.into_iter();
        let run = Run::of_sorted(&self.rows, |_| prefixes.next().asserted_or_default());
        Built { key: self.key, changed: self.changed, run }
    }
}

/// Locks changed rows. None of them can be half changed, so a panic of another thread does not matter.
fn lock(changed: &Mutex<ChangedRows>) -> MutexGuard<'_, ChangedRows> {
    changed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the steps to materialize a list of `rows` rows in an organization of `organization_rows`.
pub(super) fn price(key: &ListKey, rows: usize, organization_rows: usize) -> usize {
    let passed = organization_rows / PICKED_PER_STEP;
    passed.saturating_add(rows).saturating_mul(key.order.len())
}

/// Maximum number of changes that are applied in one slice. Each change reads about 40 rows.
const CHANGES_PER_SLICE: usize = 16;

/// Moves changed rows to their present places in the run, and forgets their changes. It moves at most [`CHANGES_PER_SLICE`]
/// rows.
fn apply_changes(rows: &Rows, key: &ListKey, run: &mut Run, changed: &mut ChangedRows) {
    let batch: Vec<RowId> = changed.keys().copied().take(CHANGES_PER_SLICE).collect();
    for id in &batch {
        if let Some(Some(old)) = changed.get(id).filter(|old| passes(rows, key, old.as_ref())) {
            let is_before = |other| is_before(rows, key, changed, other, old);
            run.remove(*id, |row| prefix_then(rows, key, changed, row), is_before);
        }
    }
    for id in &batch {
        changed.remove(id);
    }
    for id in batch {
        if let Some(row) = rows.get(id).filter(|row| passes(rows, key, Some(row))) {
            let is_before = |other| is_before(rows, key, changed, other, row);
            run.insert(id, |row| prefix_then(rows, key, changed, row), is_before);
        }
    }
}

fn passes(rows: &Rows, key: &ListKey, row: Option<&Row>) -> bool {
    row.is_some_and(|row| key.filters.pass(row, rows))
}

/// Returns a row as it was when it got its place in the run.
fn row_then<'r>(rows: &'r Rows, changed: &'r ChangedRows, id: RowId) -> Option<&'r Row> {
    let row = match changed.get(&id) {
        Some(old) => old.as_ref(),
        None => rows.get(id),
    };
    row.asserted()
}

fn is_before(rows: &Rows, key: &ListKey, changed: &ChangedRows, other: RowId, row: &Row) -> bool {
    let other = row_then(rows, changed, other);
    other.is_some_and(|other| rows.compare_rows_by(&key.order, other, row).is_lt())
}

fn prefix_then(rows: &Rows, key: &ListKey, changed: &ChangedRows, id: RowId) -> u128 {
    row_then(rows, changed, id).map_or(0, |row| rows.prefix_of_row(&key.order, row))
}
