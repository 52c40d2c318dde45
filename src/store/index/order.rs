//! Orders of several terms.

use std::cmp::Ordering;

use uuid::Uuid;

use super::RowId;
use super::rows::{Rows, Slot};
use super::sort::{prefix, sorted};
use crate::store::Direction;

/// A term of an order, by slot.
pub(super) type Term = (Slot, Direction);

impl Rows {
    pub(super) fn compare_by(&self, terms: &[Term], left: RowId, right: RowId) -> Ordering {
        let by_key = terms.iter().map(|(slot, direction)| {
            directed(self.sort_key(*slot, left).cmp(self.sort_key(*slot, right)), *direction)
        });
        first_difference(by_key).then_with(|| self.id(left).cmp(&self.id(right)))
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

    /// What a list in the order of these terms is searched by before any row is looked at.
    pub(super) fn prefix_by(&self, terms: &[Term], row: RowId) -> u128 {
        match terms {
            [] => 0,
            // As the runs that are in the order of one term.
            [(slot, Direction::Ascending)] => self.prefix(*slot, row),
            [(slot, direction), ..] => prefix_of_key(*direction, self.sort_key(*slot, row)),
        }
    }

    /// Puts rows into order, the last term first: what is equal in a term stays as it was before.
    pub(super) fn in_order(&self, rows: &[RowId], terms: &[Term]) -> Vec<RowId> {
        let row_of = |rows: &[RowId], place: u32| rows.get(place as usize).copied().unwrap_or(RowId::MAX);
        let places = || 0..rows.len() as u32;
        let id_of = |place| self.get(row_of(rows, place)).map_or(&[][..], |row| row.id.as_bytes());
        let mut ordered: Vec<RowId> =
            sorted(places(), id_of).into_iter().map(|place| row_of(rows, place)).collect();
        for (slot, direction) in terms.iter().rev() {
            let is_descending = *direction == Direction::Descending;
            // From behind and turned round, what is equal keeps its order while the keys descend.
            if is_descending {
                ordered.reverse();
            }
            let places = sorted(places(), |place| self.sort_key(*slot, row_of(&ordered, place)));
            ordered = places.into_iter().map(|place| row_of(&ordered, place)).collect();
            if is_descending {
                ordered.reverse();
            }
        }
        ordered
    }
}

/// That of the key of the first term.
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
