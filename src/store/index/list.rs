use std::cmp::Ordering;

use uuid::Uuid;

use super::names::NameId;
use super::rows::Slot;
use super::table::{Table, length};
use super::walk::{Sets, Wanted};
use super::{Index, RowId};
use crate::store::{Cursor, Direction, Query, Start, StoreError};

/// The rows of a page.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) rows: Vec<RowId>,
    pub(crate) total: u64,
    pub(crate) next: Option<Cursor>,
}

/// A term of an order, by slot.
pub(super) type Term = (Slot, Direction);

/// Where the wanted part of a list begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin<'q> {
    Rank(usize),
    Behind(&'q [Vec<u8>], Uuid),
}

impl Index {
    pub(crate) fn list(&self, query: &Query) -> Result<Selection, StoreError> {
        check_order(query)?;
        let Some((table_id, table)) = self.table(query) else { return Ok(Selection::default()) };
        let mut terms: Vec<Term> =
            query.order.iter().map(|order| (table.slot(order.name), order.direction)).collect();
        if terms.is_empty() {
            terms.push((0, Direction::Ascending));
        }
        let begin = match &query.start {
            Start::Offset(offset) => Begin::Rank(usize::try_from(*offset).unwrap_or(usize::MAX)),
            Start::After(cursor) => Begin::Behind(cursor.keys(), cursor.id()),
        };
        // One more than asked for tells whether any follow.
        let wanted = query.limit.map_or(usize::MAX, |limit| limit.saturating_add(1));
        let (mut rows, total) = if query.ids.is_none() && query.links.is_empty() {
            let networks = query.networks.as_deref().map(sorted);
            let fewest = table.runs(query.organization, networks.as_deref());
            let by_network = match terms.as_slice() {
                [_] => Vec::new(),
                _ => table.runs_by_network(query.organization, networks.as_deref()),
            };
            let total = fewest.iter().map(|runs| length(runs)).sum();
            let mut rows = Vec::with_capacity(wanted.min(total));
            let wanted = Wanted { begin, count: wanted };
            self.walk(&Sets { fewest, by_network }, &terms, wanted, &mut rows);
            (rows, total)
        } else {
            let rows = self.candidates(query, table_id);
            let total = rows.len();
            (self.window(rows, &terms, begin, wanted), total)
        };
        let follow = query.limit.is_some_and(|limit| rows.len() > limit);
        rows.truncate(query.limit.unwrap_or(usize::MAX));
        let last = if follow { rows.last() } else { None };
        let next = last.map(|row| self.cursor(*row, table, query));
        Ok(Selection { rows, total: total as u64, next })
    }

    fn table(&self, query: &Query) -> Option<(NameId, &Table)> {
        let id = self.names.find(query.kind)?;
        Some((id, self.tables.get(&id)?))
    }

    fn cursor(&self, row: RowId, table: &Table, query: &Query) -> Cursor {
        let keys = query.order.iter().map(|order| self.rows.sort_key(table.slot(order.name), row).to_vec());
        Cursor::new(keys.collect(), self.rows.id(row))
    }

    /// Puts rows into order and cuts out what is wanted.
    pub(super) fn window(
        &self,
        mut rows: Vec<RowId>,
        terms: &[Term],
        begin: Begin<'_>,
        wanted: usize,
    ) -> Vec<RowId> {
        let compare = |left: &RowId, right: &RowId| self.compare_by(terms, *left, *right);
        let start = match begin {
            Begin::Rank(rank) => rank.min(rows.len()),
            Begin::Behind(keys, id) => {
                rows.retain(|row| self.compare_with_place(terms, *row, keys, id).is_gt());
                0
            }
        };
        let end = start.saturating_add(wanted).min(rows.len());
        if start > 0 && start < rows.len() {
            rows.select_nth_unstable_by(start, compare);
        }
        let mut rows = rows.split_off(start);
        let count = end - start;
        if count > 0 && count < rows.len() {
            rows.select_nth_unstable_by(count, compare);
        }
        rows.truncate(count);
        rows.sort_unstable_by(compare);
        rows
    }

    fn compare_by(&self, terms: &[Term], left: RowId, right: RowId) -> Ordering {
        let by_key = terms.iter().map(|(slot, direction)| {
            directed(self.rows.sort_key(*slot, left).cmp(self.rows.sort_key(*slot, right)), *direction)
        });
        first_difference(by_key).then_with(|| self.rows.id(left).cmp(&self.rows.id(right)))
    }

    fn compare_with_place(&self, terms: &[Term], row: RowId, keys: &[Vec<u8>], id: Uuid) -> Ordering {
        let by_key = terms.iter().zip(keys).map(|((slot, direction), key)| {
            directed(self.rows.sort_key(*slot, row).cmp(key.as_slice()), *direction)
        });
        first_difference(by_key).then_with(|| self.rows.id(row).cmp(&id))
    }
}

fn check_order(query: &Query) -> Result<(), StoreError> {
    let mut names: Vec<_> = query.order.iter().map(|order| order.name).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < query.order.len() {
        return Err(StoreError::invalid("the order names a sort key twice"));
    }
    match &query.start {
        Start::After(cursor) if cursor.keys().len() != query.order.len() => {
            Err(StoreError::invalid("the cursor is of another order"))
        }
        _ => Ok(()),
    }
}

fn directed(ordering: Ordering, direction: Direction) -> Ordering {
    match direction {
        Direction::Ascending => ordering,
        Direction::Descending => ordering.reverse(),
    }
}

fn first_difference(mut orderings: impl Iterator<Item = Ordering>) -> Ordering {
    orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

pub(super) fn sorted(ids: &[Uuid]) -> Vec<Uuid> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}
