//! A compressed list of rows. It holds the greatest row, then the differences from each row to the next smaller one.
//!
//! Rows of a frequent term are close to each other, so that most differences take one byte. A row that is greater than
//! all others, as most new rows are, is inserted without reading the list.

use crate::store::index::run::RowId;
use crate::store::index::varint::{CONTINUATION_BIT, read, write};

/// A place in a list.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// The row before, which is greater.
    before: Option<RowId>,
    /// Offset in bytes of the difference between `before` and `row`.
    start: usize,
    end: usize,
    /// The row at the place; `None` at the end of the list.
    row: Option<RowId>,
}

impl Spot {
    const START: Self = Self { before: None, start: 0, end: 0, row: None };

    /// Returns the place after this one.
    fn next(self, rows: &[u8]) -> Self {
        let number = read(&rows[self.end..]);
        let (number, length) = number.map_or((None, 0), |(number, length)| (Some(number), length));
        let row = number.map(|number| self.row.map_or(number, |before| before - number));
        Self { before: self.row, start: self.end, end: self.end + length, row }
    }

    /// Returns the place of the greatest row that is not greater than this one.
    fn of(rows: &[u8], wanted: RowId) -> Self {
        let mut spot = Self::START.next(rows);
        while spot.row.is_some_and(|row| row > wanted) {
            spot = spot.next(rows);
        }
        spot
    }
}

/// Returns the number of rows.
pub(super) fn count(rows: &[u8]) -> usize {
    rows.iter().filter(|byte| **byte < CONTINUATION_BIT).count()
}

/// Appends all rows in ascending order.
pub(super) fn unpack(rows: &[u8], unpacked: &mut Vec<RowId>) {
    let from = unpacked.len();
    let mut spot = Spot::START.next(rows);
    while let Some(row) = spot.row {
        unpacked.push(row);
        spot = spot.next(rows);
    }
    unpacked[from..].reverse();
}

/// Packs rows in ascending order.
pub(super) fn pack(rows: &[RowId]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(rows.len() + size_of::<RowId>());
    pack_into(rows, &mut packed);
    packed
}

/// Appends packed rows, which must be in ascending order.
pub(super) fn pack_into(rows: &[RowId], packed: &mut Vec<u8>) {
    let mut before = None;
    for row in rows.iter().rev() {
        write(difference(before, *row), packed);
        before = Some(*row);
    }
}

/// Returns a list with one more row. Returns `None` when it has the row.
pub(super) fn with(rows: &[u8], row: RowId) -> Option<Vec<u8>> {
    let spot = Spot::of(rows, row);
    let greater = difference(spot.before, row);
    match spot.row {
        Some(smaller) if smaller == row => None,
        Some(smaller) => Some(replaced(rows, spot.start, &[greater, row - smaller], spot.end)),
        None => Some(replaced(rows, spot.start, &[greater], spot.end)),
    }
}

/// Returns a list without a row. Returns `None` when it lacks the row.
pub(super) fn without(rows: &[u8], row: RowId) -> Option<Vec<u8>> {
    let spot = Spot::of(rows, row);
    if spot.row != Some(row) {
        return None;
    }
    let next = spot.next(rows);
    let number = next.row.map(|next| difference(spot.before, next));
    Some(replaced(rows, spot.start, number.as_slice(), next.end))
}

fn difference(before: Option<RowId>, row: RowId) -> u32 {
    before.map_or(row, |before| before - row)
}

/// Replaces the bytes from a start to an end by numbers.
fn replaced(rows: &[u8], start: usize, numbers: &[u32], end: usize) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(rows.len() + 2 * size_of::<u64>());
    replaced.extend_from_slice(&rows[..start]);
    numbers.iter().for_each(|number| write(*number, &mut replaced));
    replaced.extend_from_slice(&rows[end..]);
    replaced
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn packed_rows_agree_with_a_set_through_random_insertions_and_removals() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut rows, mut model) = (Vec::new(), BTreeSet::new());
        for step in 0..20_000 {
            let row = [0, RowId::MAX, random.u32(..400), random.u32(..)][random.usize(..4)];
            let changed = if random.bool() {
                with(&rows, row).filter(|_| model.insert(row))
            } else {
                without(&rows, row).filter(|_| model.remove(&row))
            };
            rows = changed.unwrap_or(rows);
            if step % 61 == 0 {
                let mut unpacked = Vec::new();
                unpack(&rows, &mut unpacked);
                assert!(unpacked.iter().eq(&model));
                assert_eq!((pack(&unpacked), count(&rows)), (rows.clone(), model.len()));
            }
        }
    }
}
