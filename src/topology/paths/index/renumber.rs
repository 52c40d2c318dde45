//! New numbers for the items of a sorted list that some leave and others join.

use std::cmp::Ordering;

use crate::fair_threads::yield_turn;

/// Stands for no number.
pub(super) const NONE: u32 = u32::MAX;

/// The numbers of items before and after a change. Items that stay keep their order.
#[derive(Debug)]
pub(super) struct Renumbering {
    /// The new number of each former item; [`NONE`] for those that left.
    pub(super) to_new: Vec<u32>,
    /// The former number of each item; [`NONE`] for those that joined.
    pub(super) to_old: Vec<u32>,
}

impl Renumbering {
    /// Changes nothing.
    pub(super) fn identity(count: usize) -> Self {
        let all: Vec<u32> = (0..).take(count).collect();
        Self { to_new: all.clone(), to_old: all }
    }

    /// Removes the items with these numbers from a list, and adds others. Numbers and added items are sorted.
    pub(super) fn splice<T, K: Ord>(
        items: &mut Vec<T>,
        removed: &[u32],
        added: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> Self {
        if removed.is_empty() && added.is_empty() {
            return Self::identity(items.len());
        }
        yield_turn();
        let mut to_new = Vec::with_capacity(items.len());
        let mut to_old = Vec::with_capacity(items.len() + added.len());
        let mut spliced: Vec<T> = Vec::with_capacity(items.len() + added.len());
        let (mut removed, mut added) = (removed.iter().copied().peekable(), added.into_iter().peekable());
        for (old, item) in (0_u32..).zip(std::mem::take(items)) {
            if removed.next_if_eq(&old).is_some() {
                to_new.push(NONE);
                continue;
            }
            while let Some(new) = added.next_if(|new| key(new) < key(&item)) {
                to_old.push(NONE);
                spliced.push(new);
            }
            to_new.push(u32::try_from(spliced.len()).unwrap_or(NONE));
            to_old.push(old);
            spliced.push(item);
        }
        for new in added {
            to_old.push(NONE);
            spliced.push(new);
        }
        *items = spliced;
        Self { to_new, to_old }
    }
}

/// Inserts sorted items into a sorted list. It finds each place by binary search: comparing names takes longer than moving them.
pub(super) fn insert_sorted<T>(list: &mut Vec<T>, items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let place = |item: &T| list.partition_point(|known| compare(known, item).is_lt());
    let places: Vec<usize> = items.iter().map(place).collect();
    let mut former = std::mem::take(list).into_iter();
    list.reserve(former.len() + items.len());
    let mut moved = 0;
    for (item, place) in items.into_iter().zip(places) {
        list.extend(former.by_ref().take(place - moved));
        moved = place;
        list.push(item);
    }
    list.extend(former);
}
