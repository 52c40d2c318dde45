use super::RowId;

/// A set of rows: one bit for each number up to the greatest, small enough to be asked about every row of an index.
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
        if let Some(word) = self.0.get_mut(place) {
            *word |= bit(row);
        }
    }

    pub(super) fn contains(&self, row: RowId) -> bool {
        self.0.get(word(row)).is_some_and(|word| word & bit(row) != 0)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the rows that are in the set, out of at most `most` rows.
    pub(super) fn pick(&self, rows: impl Iterator<Item = RowId>, most: usize, picked: &mut Vec<RowId>) {
        // Branchless, because membership is random and branch prediction would fail half the time: every row is written,
        // and overwritten by the next when it is not in the set. The last needs a place, too.
        let mut count = picked.len();
        picked.resize(count + most + 1, 0);
        rows.for_each(|row| {
            if let Some(place) = picked.get_mut(count) {
                *place = row;
            }
            count += usize::from(self.contains(row));
        });
        picked.truncate(count);
    }
}

const fn word(row: RowId) -> usize {
    row as usize / u64::BITS as usize
}

const fn bit(row: RowId) -> u64 {
    1 << (row % u64::BITS)
}
