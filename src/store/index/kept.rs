//! Lists that are asked for again, kept in their order.
//!
//! Runs hold the records of an organization and of each network in the order of one term. Every other list has to be put
//! together when it is asked for: one of some networks, one that a link filter has picked, one that is ordered by several
//! terms. Whoever reads such a list page by page asks for it again and again. So it is made into a run of its own, which
//! follows every write from then on, until others were asked for more lately. That is done when a quarter of what it takes was
//! spent on finding parts of it: so lists that drive each other out never cost more than five times what they would without.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::RowId;
use super::filter::Filters;
use super::order::Term;
use super::rows::{Rows, Slot};
use super::run::Run;

/// How many lists are kept. Every write looks at each.
const LISTS: usize = 32;

/// How many rows all lists together have at most: so many times those of the index, at four bytes each, or as many as a
/// small index needs.
const SHARE: usize = 4;
const SMALL: usize = 100_000;

/// How many lists are remembered that were asked for.
const ASKED: usize = 64;

/// What of the price of a list must have been spent on parts of it.
const SPENT: u32 = 4;

/// A list that costs no more than this is kept from the second time on.
const CHEAP: Duration = Duration::from_millis(1);

/// Which rows a list has, and in which order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ListKey {
    pub(super) filters: Filters,
    pub(super) terms: Vec<Term>,
}

#[derive(Debug, Default)]
pub(super) struct Kept {
    lists: RwLock<Vec<List>>,
    /// The hashes of lists, with the time that was spent on each.
    asked: Mutex<VecDeque<(u64, Duration)>>,
    hasher: RandomState,
    /// How many times a list was asked for that is kept.
    uses: AtomicU64,
}

#[derive(Debug)]
struct List {
    key: ListKey,
    run: Run,
    /// The number of its last use.
    used: AtomicU64,
}

impl Kept {
    /// Reads a list if it is kept.
    pub(super) fn read<T>(&self, key: &ListKey, read: impl FnOnce(&Run) -> T) -> Option<T> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        let list = lists.iter().find(|list| list.key == *key)?;
        list.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(read(&list.run))
    }

    /// Notes what was spent on a part of a list that is not kept. Whether it pays to put it into order at this price.
    pub(super) fn pays(&self, key: &ListKey, price: Duration, spent: Duration) -> bool {
        let hash = self.hasher.hash_one(key);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = asked.iter().position(|(known, _)| *known == hash) else {
            asked.truncate(ASKED - 1);
            asked.push_front((hash, spent));
            return false;
        };
        let before = asked.remove(place).map_or(Duration::ZERO, |(_, before)| before);
        let spent = before.saturating_add(spent);
        if price <= CHEAP || spent >= price / SPENT {
            return true;
        }
        asked.push_front((hash, spent));
        false
    }

    /// Keeps a list, as long as there are not too many of more use beside it, of an index with so many rows.
    pub(super) fn keep(&self, key: ListKey, run: Run, rows: usize) {
        let most = rows.max(SMALL / SHARE) * SHARE;
        if run.len() > most {
            return;
        }
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        lists.retain(|list| list.key != key);
        while lists.len() >= LISTS
            || lists.iter().map(|list| list.run.len()).sum::<usize>() + run.len() > most
        {
            let used = |list: &List| list.used.load(Ordering::Relaxed);
            let Some(oldest) = (0..lists.len()).min_by_key(|place| lists.get(*place).map(used)) else {
                break;
            };
            lists.swap_remove(oldest);
        }
        lists.push(List { key, run, used: AtomicU64::new(self.uses.fetch_add(1, Ordering::Relaxed)) });
    }

    /// Takes a row out of the lists in which it has no place any more, or may get another one.
    pub(super) fn remove(&mut self, rows: &Rows, id: RowId, change: RowChange<'_>) {
        let Some(row) = rows.get(id) else { return };
        for List { key, run, .. } in self.lists.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if change.touches(key) && key.filters.pass(row, rows.partitions()) {
                let prefix_of = |row| rows.prefix_by(&key.terms, row);
                run.remove(id, prefix_of, |other| rows.compare_by(&key.terms, other, id).is_lt());
            }
        }
    }

    /// Puts a row into the lists where it has a place now.
    pub(super) fn insert(&mut self, rows: &Rows, id: RowId, change: RowChange<'_>) {
        let Some(row) = rows.get(id) else { return };
        for List { key, run, .. } in self.lists.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if change.touches(key) && key.filters.pass(row, rows.partitions()) {
                let prefix_of = |row| rows.prefix_by(&key.terms, row);
                run.insert(id, prefix_of, |other| rows.compare_by(&key.terms, other, id).is_lt());
            }
        }
    }
}

/// What is another in a row than it was.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowChange<'c> {
    /// It comes or goes.
    All,
    /// The orders in which it has another key, all of them if it is in another partition, and whether it has other links.
    Some { slots: &'c [Slot], links: bool },
}

impl RowChange<'_> {
    fn touches(&self, key: &ListKey) -> bool {
        match self {
            Self::All => true,
            Self::Some { slots, links } => {
                (*links && !key.filters.links.is_empty())
                    || key.terms.iter().any(|(slot, _)| slots.contains(slot))
            }
        }
    }
}
