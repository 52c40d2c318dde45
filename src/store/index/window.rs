use std::cmp::Ordering;

use uuid::Uuid;

use super::walk::{Begin, Term};
use super::{Index, RowId};
use crate::store::Direction;

impl Index {
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

fn directed(ordering: Ordering, direction: Direction) -> Ordering {
    match direction {
        Direction::Ascending => ordering,
        Direction::Descending => ordering.reverse(),
    }
}

fn first_difference(mut orderings: impl Iterator<Item = Ordering>) -> Ordering {
    orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}
