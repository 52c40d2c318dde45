//! Orders of several terms.

use std::cmp::Ordering;

use uuid::Uuid;

use super::RowId;
use super::rows::{Row, Rows, Slot};
use super::sort::prefix;
use crate::store::Direction;

/// One term of an order, by slot.
pub(super) type Term = (Slot, Direction);

impl Rows {
    pub(super) fn compare_by(&self, terms: &[Term], left: RowId, right: RowId) -> Ordering {
        match (self.get(left), self.get(right)) {
            (Some(left), Some(right)) => self.compare_rows_by(terms, left, right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        }
    }

    /// Compares two rows, in their present or an earlier state.
    pub(super) fn compare_rows_by(&self, terms: &[Term], left: &Row, right: &Row) -> Ordering {
        let by_key = terms.iter().map(|(slot, direction)| {
            let key = left.sort_key(*slot, self.partitions());
            directed(key.cmp(right.sort_key(*slot, self.partitions())), *direction)
        });
        first_difference(by_key).then_with(|| left.id.cmp(&right.id))
    }

    pub(super) fn compare_with_place(
        &self,
        terms: &[Term],
        row: RowId,
        keys: &[Vec<u8>],
        id: Uuid,
    ) -> Ordering {
        let by_key = terms.iter().zip(keys).map(|((slot, direction), key)| {
            directed(self.sort_key(*slot, row).cmp(key.as_slice()), *direction)
        });
        first_difference(by_key).then_with(|| self.id(row).cmp(&id))
    }

    /// Returns the prefix of a row: the number by which a run in this order is searched before rows are read.
    pub(super) fn prefix_by(&self, terms: &[Term], row: RowId) -> u128 {
        self.get(row).map_or(0, |row| self.prefix_of_row(terms, row))
    }

    /// Returns the prefix of a row in its present or an earlier state.
    pub(super) fn prefix_of_row(&self, terms: &[Term], row: &Row) -> u128 {
        match terms {
            [] => 0,
            // The order by id alone uses the id as prefix, like the runs of that order.
            [(0, Direction::Ascending)] => row.id.as_u128(),
            [(slot, direction), ..] => prefix_of_key(*direction, row.sort_key(*slot, self.partitions())),
        }
    }
}

/// Returns the prefix of a key of the first term.
pub(super) fn prefix_of_key(direction: Direction, key: &[u8]) -> u128 {
    match direction {
        Direction::Ascending => prefix(key),
        Direction::Descending => !prefix(key),
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
