//! The ordering cache: lists of one organization that no run holds, materialized in their order.
//!
//! Runs hold the records of an organization and of each network in the order of one sort key. Every other list has to
//! be put together: a list of some networks, a list that a filter on links or terms selects, or a list ordered by
//! several sort keys. A list that is expensive, or read often, is materialized once as a run of its own. From then on
//! it follows every write, until it is evicted by lists that were used more recently.
//!
//! Each organization has its own cache, so one organization can neither evict another's lists nor slow down its writes.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use super::filter::ListKey;
use crate::invariant::Invariant;
use crate::store::index::rows::{Row, Rows, Slot};
use crate::store::index::run::{RowId, Run};

/// Maximum number of lists that an organization has in the cache. Every write of the organization checks each of them.
const MAX_LISTS: usize = 32;

/// Maximum number of rows in an organization's lists together, as a multiple of its rows. A row in a list takes four
/// bytes.
const ROWS_SHARE: usize = 4;

/// Number of rows for which even a small organization has room.
const MIN_ROOM: usize = 16_384;

/// Maximum number of lists whose cost is remembered although they are not materialized.
const MAX_REMEMBERED_COSTS: usize = 64;

/// Divisor of a list's price. A list is worth materializing once this part of its price has been spent on its pages.
/// Lists that evict each other therefore cost at most five times as much as without the cache.
const SPENT_SHARE: usize = 4;

/// Maximum price, in steps, of a list that is materialized at its second read.
const MAX_CHEAP_PRICE: usize = 16_384;

/// Number of steps that a list may add to writes since it was last read. Beyond it, the list is dropped. Only records
/// with hundreds of terms or links count, so a list in use stays.
const MAX_FOLLOWED_CHANGES: usize = 4_096;

/// The materialized lists of one organization and one kind of record.
#[derive(Debug, Default)]
pub(in crate::store::index) struct OrderingCache {
    lists: RwLock<Vec<List>>,
    /// Hashes of lists outside the cache, with the steps spent on the pages of each. The most recent list comes
    /// first.
    spent: Mutex<VecDeque<(u64, usize)>>,
    /// Lists that are being materialized.
    pending: Mutex<Vec<Pending>>,
    hasher: RandomState,
    /// Counter that numbers the uses of lists.
    clock: AtomicU64,
}

#[derive(Debug)]
struct List {
    key: ListKey,
    run: Run,
    /// The number of its last use.
    used: AtomicU64,
    /// The steps spent since then on evaluating its filters on changed rows.
    followed: AtomicUsize,
}

/// Lists that left the cache, to be dropped without holding a lock.
#[derive(Debug, Default)]
pub(crate) struct Evicted {
    runs: Vec<Run>,
}

/// A list that is being materialized while its records change.
#[derive(Debug)]
struct Pending {
    key: ListKey,
    /// The changes noted so far. They are dropped when the materialization is finished or abandoned.
    changed: Weak<Mutex<ChangedRows>>,
}

/// The rows that changed since a moment, each with its state at that moment. `None` stands for a row that had no
/// place in the list. There are never more of them than the organization has rows.
pub(in crate::store::index) type ChangedRows = HashMap<RowId, Option<Row>>;

impl OrderingCache {
    /// Reads a list if it is in the cache.
    pub(in crate::store::index) fn read<T>(&self, key: &ListKey, read: impl FnOnce(&Run) -> T) -> Option<T> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let list = lists.iter().find(|list| list.key == *key)?;
        list.used.store(self.tick(), Ordering::Relaxed);
        list.followed.store(0, Ordering::Relaxed);
        Some(read(&list.run))
    }

    /// Notes the steps spent on a page of a list outside the cache. Returns whether the list is worth its price.
    pub(in crate::store::index) fn is_worth(&self, key: &ListKey, price: usize, steps: usize) -> bool {
        let hash = self.hasher.hash_one(key);
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let place = spent.iter().position(|(known, _)| *known == hash);
        let before = place.and_then(|place| spent.remove(place)).map(|(_, before)| before);
        let total = before.unwrap_or(0).saturating_add(steps);
        spent.truncate(MAX_REMEMBERED_COSTS - 1);
        spent.push_front((hash, total));
        before.is_some() && (price <= MAX_CHEAP_PRICE || total >= price / SPENT_SHARE)
    }

    /// Starts noting the rows of a list that change. This ends when the last strong reference to `changed` is
    /// dropped.
    pub(in crate::store::index) fn note_changes(&self, key: ListKey, changed: &Arc<Mutex<ChangedRows>>) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain(|pending| pending.changed.strong_count() > 0);
        pending.push(Pending { key, changed: Arc::downgrade(changed) });
    }

    /// Returns whether changes are noted in `changed`.
    pub(in crate::store::index) fn notes_changes(&self, changed: &Arc<Mutex<ChangedRows>>) -> bool {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.iter().any(|pending| std::ptr::eq(pending.changed.as_ptr(), Arc::as_ptr(changed)))
    }

    /// Puts a list into the cache, and returns the lists that it evicts. `rows` is the number of rows of the
    /// organization.
    pub(in crate::store::index) fn insert(&self, key: ListKey, run: Run, rows: usize) -> Evicted {
        let max = (rows * ROWS_SHARE).max(MIN_ROOM);
        let list = List { key, run, used: AtomicU64::new(self.tick()), followed: AtomicUsize::new(0) };
        let mut evicted = Evicted::default();
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = lists.iter().position(|other| other.key == list.key) {
            evicted.runs.push(lists.swap_remove(place).run);
        }
        let length = |lists: &[List]| lists.iter().map(|list| list.run.len()).sum::<usize>();
        while !lists.is_empty() && (lists.len() >= MAX_LISTS || length(&lists) + list.run.len() > max) {
            let uses = lists.iter().map(|list| list.used.load(Ordering::Relaxed)).enumerate();
            let Some((oldest, _)) = uses.min_by_key(|(_, used)| *used).asserted() else { break };
            evicted.runs.push(lists.swap_remove(oldest).run);
        }
        lists.push(list);
        evicted
    }

    /// Removes a row from the lists in which its place is about to change. This includes lists in which it loses its
    /// place.
    pub(in crate::store::index) fn remove_row(&mut self, rows: &Rows, id: RowId, change: RowChange<'_>) {
        let Some(row) = rows.get(id).asserted() else { return };
        self.note_change(change, |changed| {
            changed.entry(id).or_insert_with(|| Some(row.clone()));
        });
        self.follow(rows, row, change, |key, run| {
            let prefix_of = |row| rows.prefix_by(&key.order, row);
            let is_before = |other| rows.compare_by(&key.order, other, id).is_lt();
            let was_there = run.remove(id, prefix_of, is_before);
            debug_assert!(was_there, "a row that passes the filters of a list is in it");
        });
    }

    /// Puts a row into the lists in which it has a place now.
    pub(in crate::store::index) fn insert_row(&mut self, rows: &Rows, id: RowId, change: RowChange<'_>) {
        let Some(row) = rows.get(id).asserted() else { return };
        self.note_change(change, |changed| {
            changed.entry(id).or_insert(None);
        });
        self.follow(rows, row, change, |key, run| {
            let prefix_of = |row| rows.prefix_by(&key.order, row);
            run.insert(id, prefix_of, |other| rows.compare_by(&key.order, other, id).is_lt());
        });
    }

    /// Changes the lists that a change of a row touches and whose filters the row passes. Drops lists that have added
    /// too much to writes.
    fn follow(&mut self, rows: &Rows, row: &Row, change: RowChange<'_>, apply: impl Fn(&ListKey, &mut Run)) {
        self.lists.get_mut().unwrap_or_else(PoisonError::into_inner).retain_mut(|list| {
            if !change.touches(&list.key) {
                return true;
            }
            let followed = list.followed.get_mut();
            *followed += list.key.filters.further_steps(&[], row);
            if *followed > MAX_FOLLOWED_CHANGES {
                return false;
            }
            if list.key.filters.pass(row, rows) {
                apply(&list.key, &mut list.run);
            }
            true
        });
    }

    fn note_change(&mut self, change: RowChange<'_>, note: impl Fn(&mut ChangedRows)) {
        self.pending.get_mut().unwrap_or_else(PoisonError::into_inner).retain(|pending| {
            let changed = pending.changed.upgrade();
            if change.touches(&pending.key)
                && let Some(changed) = &changed
            {
                note(&mut changed.lock().unwrap_or_else(PoisonError::into_inner));
            }
            changed.is_some()
        });
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }
}

/// The change of a row, as far as it matters to its place in lists.
#[derive(Clone, Copy, Debug)]
pub(in crate::store::index) enum RowChange<'c> {
    /// The row is added or removed.
    All,
    /// Some of its facets change.
    Some {
        /// The orders in which its key changes. These are all orders if its organization or network changes.
        slots: &'c [Slot],
        /// Whether its links change.
        links: bool,
        /// Whether its terms change.
        terms: bool,
    },
}

impl RowChange<'_> {
    fn touches(&self, key: &ListKey) -> bool {
        match self {
            Self::All => true,
            Self::Some { slots, links, terms } => {
                (*links && !(key.filters.links.is_empty() && key.filters.absent.is_empty()))
                    || key.filters.keys.iter().any(|(slot, _)| slots.contains(slot))
                    || (*terms && !key.filters.terms.is_empty())
                    || key.order.iter().any(|(slot, _)| slots.contains(slot))
            }
        }
    }
}
