#![allow(
    clippy::indexing_slicing,
    reason = "a set grows before a bit is set, and a buffer is as long as a chunk"
)]

use crate::store::index::run::RowId;

/// Number of rows that are picked into a buffer. The buffer is on the stack and fits into the cache of the processor.
const PICK_BUFFER: usize = 512;

/// A set of rows, as one bit for each number up to the greatest. It is small enough to be queried for every row of an
/// index.
#[derive(Debug, Default)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub(super) fn new(rows: &[RowId]) -> Self {
        let mut set = Self(vec![0; rows.iter().max().map_or(0, |greatest| word(*greatest) + 1)]);
        rows.iter().for_each(|row| set.insert(*row));
        set
    }

    pub(super) fn insert(&mut self, row: RowId) {
        let place = word(row);
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        self.0[place] |= bit(row);
    }

    pub(super) fn remove(&mut self, row: RowId) {
        if let Some(word) = self.0.get_mut(word(row)) {
            *word &= !bit(row);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns at most `max` rows of the set, in ascending order, beginning at a row.
    pub(super) fn slice(&self, from: RowId, max: usize) -> Vec<RowId> {
        let words = self.0.iter().enumerate().skip(word(from));
        let rows = words.flat_map(|(place, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros());
                rest &= rest.wrapping_sub(1);
                bit
            })
            .map(move |bit| place as RowId * u64::BITS + bit)
        });
        rows.skip_while(|row| *row < from).take(max).collect()
    }

    /// Removes the rows that the other set lacks.
    pub(super) fn retain(&mut self, other: &Self) {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    /// Removes the rows that the other set has.
    pub(super) fn remove_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= !other);
    }

    pub(super) fn contains(&self, row: RowId) -> bool {
        // The set ends with its greatest row.
        let bits = self.0.get(word(row)).map_or(0, |bits| *bits);
        bits >> (row % u64::BITS) & 1 == 1
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends those of the rows that are in the set.
    pub(super) fn pick(&self, rows: &[RowId], picked: &mut Vec<RowId>) {
        // Branchless, because membership is random and branch prediction would fail half the time: every row is
        // written, and overwritten by the next when it is not in the set.
        let mut buffer = [0; PICK_BUFFER];
        for rows in rows.chunks(PICK_BUFFER) {
            let mut count = 0;
            for row in rows {
                buffer[count] = *row;
                count += usize::from(self.contains(*row));
            }
            picked.extend_from_slice(&buffer[..count]);
        }
    }
}

const fn word(row: RowId) -> usize {
    row as usize / u64::BITS as usize
}

const fn bit(row: RowId) -> u64 {
    1 << (row % u64::BITS)
}
