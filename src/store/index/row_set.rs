use super::RowId;

/// A set of rows, a bit for each number up to the greatest of them: small enough to be asked about every row of an index.
#[derive(Debug)]
pub(super) struct RowSet {
    words: Vec<u64>,
    /// How many rows it was made of.
    length: usize,
}

impl RowSet {
    /// The set of rows of which none is named twice.
    pub(super) fn new(rows: &[RowId]) -> Self {
        let count = rows.iter().max().map_or(0, |greatest| word(*greatest) + 1);
        let mut words = vec![0; count];
        for row in rows {
            if let Some(word) = words.get_mut(word(*row)) {
                *word |= bit(*row);
            }
        }
        Self { words, length: rows.len() }
    }

    /// Those of some rows that are in the set, as they come.
    pub(super) fn pick(&self, rows: impl Iterator<Item = RowId>) -> Vec<RowId> {
        // There is a place for one row more, so that every row can be written, and be written over when it is not one of
        // these: where chance decides which are, a branch would be foreseen wrongly for each other row.
        let mut picked = vec![0; self.length + 1];
        let mut count = 0;
        rows.for_each(|row| {
            if let Some(place) = picked.get_mut(count) {
                *place = row;
            }
            count += usize::from(self.contains(row));
        });
        picked.truncate(count);
        picked
    }

    fn contains(&self, row: RowId) -> bool {
        self.words.get(word(row)).is_some_and(|word| word & bit(row) != 0)
    }
}

const fn word(row: RowId) -> usize {
    row as usize / u64::BITS as usize
}

const fn bit(row: RowId) -> u64 {
    1 << (row % u64::BITS)
}
