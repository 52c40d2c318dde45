//! The ordering cache: lists of one organization that no run holds, materialized in their order.
//!
//! Runs hold the records of an organization and of each network in the order of one sort key. Every other list has to be
//! put together: one of some networks, one that a filter on links or terms selects, one ordered by several sort keys. A list that is
//! expensive, or read often, is materialized once as a run of its own. From then on it follows every write, until it is
//! evicted by lists that were used more recently.
//!
//! Each organization has its own cache, so one organization can neither evict another's lists nor slow down its writes.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use super::filter::ListKey;
use crate::store::index::rows::{Row, Rows, Slot};
use crate::store::index::run::{RowId, Run};

/// The number of lists an organization has in the cache. Every write of the organization looks at each.
const LISTS: usize = 32;

/// All lists of an organization together have at most this many times its rows, at four bytes each.
const ROWS_SHARE: usize = 4;

/// A small organization has room for this many rows all the same.
const SMALL: usize = 16_384;

/// The number of lists that are not materialized whose cost is remembered.
const REMEMBERED: usize = 64;

/// The part of a list's price that must have been spent on pages of it before it is worth materializing. Lists that evict
/// each other then cost at most five times what they would without the cache.
const SPENT_SHARE: usize = 4;

/// A list that costs no more steps than this is materialized when it is read for the second time.
const CHEAP: usize = 16_384;

/// The materialized lists of one organization and one kind of record.
#[derive(Debug, Default)]
pub(in crate::store::index) struct OrderingCache {
    lists: RwLock<Vec<List>>,
    /// Hashes of lists that are not in the cache, with the steps spent on pages of each; the most recent first.
    spent: Mutex<VecDeque<(u64, usize)>>,
    /// Lists that are being materialized.
    pending: Mutex<Vec<Pending>>,
    hasher: RandomState,
    /// Numbers the uses of lists.
    clock: AtomicU64,
}

#[derive(Debug)]
struct List {
    key: ListKey,
    run: Run,
    /// The number of its last use.
    used: AtomicU64,
}

/// Lists that left the cache, to be dropped under no lock.
#[derive(Debug, Default)]
pub(crate) struct Evicted {
    runs: Vec<Run>,
}

/// A list that is being materialized while its records change.
#[derive(Debug)]
struct Pending {
    key: ListKey,
    /// Gone when the materialization was finished or given up.
    changed: Weak<Mutex<ChangedRows>>,
}

/// The rows that changed since a moment, each with what it was then; `None` for a row that had no place in the list.
/// Never more than the organization has rows.
pub(in crate::store::index) type ChangedRows = HashMap<RowId, Option<Row>>;

impl OrderingCache {
    /// Reads a list if it is in the cache.
    pub(in crate::store::index) fn read<T>(&self, key: &ListKey, read: impl FnOnce(&Run) -> T) -> Option<T> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let list = lists.iter().find(|list| list.key == *key)?;
        list.used.store(self.tick(), Ordering::Relaxed);
        Some(read(&list.run))
    }

    /// Notes the steps spent on a page of a list that is not in the cache. Returns whether the list is worth its price.
    pub(in crate::store::index) fn is_worth(&self, key: &ListKey, price: usize, steps: usize) -> bool {
        let hash = self.hasher.hash_one(key);
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let place = spent.iter().position(|(known, _)| *known == hash);
        let before = place.and_then(|place| spent.remove(place)).map(|(_, before)| before);
        let total = before.unwrap_or_default().saturating_add(steps);
        spent.truncate(REMEMBERED - 1);
        spent.push_front((hash, total));
        before.is_some() && (price <= CHEAP || total >= price / SPENT_SHARE)
    }

    /// Notes the rows of a list that change, until the last strong reference to `changed` is dropped.
    pub(in crate::store::index) fn note_changes(&self, key: ListKey, changed: &Arc<Mutex<ChangedRows>>) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.push(Pending { key, changed: Arc::downgrade(changed) });
    }

    /// Whether changes are noted here.
    pub(in crate::store::index) fn notes_changes(&self, changed: &Arc<Mutex<ChangedRows>>) -> bool {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.iter().any(|pending| std::ptr::eq(pending.changed.as_ptr(), Arc::as_ptr(changed)))
    }

    /// Puts a list into the cache of an organization with this many rows, and returns those it evicts.
    pub(in crate::store::index) fn insert(&self, key: ListKey, run: Run, rows: usize) -> Evicted {
        let most = (rows * ROWS_SHARE).max(SMALL);
        let list = List { key, run, used: AtomicU64::new(self.tick()) };
        let mut evicted = Evicted::default();
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = lists.iter().position(|other| other.key == list.key) {
            evicted.runs.push(lists.swap_remove(place).run);
        }
        let length = |lists: &[List]| lists.iter().map(|list| list.run.len()).sum::<usize>();
        while !lists.is_empty() && (lists.len() >= LISTS || length(&lists) + list.run.len() > most) {
            let uses = lists.iter().map(|list| list.used.load(Ordering::Relaxed)).enumerate();
            let Some((oldest, _)) = uses.min_by_key(|(_, used)| *used) else { break };
            evicted.runs.push(lists.swap_remove(oldest).run);
        }
        lists.push(list);
        evicted
    }

    /// Takes a row out of the lists in which it is about to lose or change its place.
    pub(in crate::store::index) fn remove_row(&mut self, rows: &Rows, id: RowId, change: RowChange<'_>) {
        let Some(row) = rows.get(id) else { return };
        self.note_change(change, |changed| {
            changed.entry(id).or_insert_with(|| Some(row.clone()));
        });
        for List { key, run, .. } in self.lists.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if change.touches(key) && key.filters.pass(row, rows) {
                let prefix_of = |row| rows.prefix_by(&key.order, row);
                run.remove(id, prefix_of, |other| rows.compare_by(&key.order, other, id).is_lt());
            }
        }
    }

    /// Puts a row into the lists in which it has a place now.
    pub(in crate::store::index) fn insert_row(&mut self, rows: &Rows, id: RowId, change: RowChange<'_>) {
        let Some(row) = rows.get(id) else { return };
        self.note_change(change, |changed| {
            changed.entry(id).or_insert(None);
        });
        for List { key, run, .. } in self.lists.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if change.touches(key) && key.filters.pass(row, rows) {
                let prefix_of = |row| rows.prefix_by(&key.order, row);
                run.insert(id, prefix_of, |other| rows.compare_by(&key.order, other, id).is_lt());
            }
        }
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
    /// It is added or removed.
    All,
    /// Some of its facets change.
    Some {
        /// The orders in which its key changes; all of them if its organization or network changes.
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
                (*links && !key.filters.links.is_empty())
                    || (*terms && !key.filters.terms.is_empty())
                    || key.order.iter().any(|(slot, _)| slots.contains(slot))
            }
        }
    }
}
