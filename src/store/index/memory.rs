//! An estimate of the memory that an index takes.

use super::Index;
use super::rows::{Row, Rows};
use super::run::RowId;
use crate::store::StoreFigures;

/// Number of rows whose facets are sampled.
const SAMPLE: usize = 64;

/// The bytes of an allocation beside its content, with the two reference counts of shared ones.
const ALLOCATION: usize = 16;

/// The runs in which a row is, for each order: those of its organization and of its network.
const RUNS: usize = 2;

impl Index {
    /// Returns the number of records and an estimate of the memory of the index, without the ordering cache.
    ///
    /// It takes the time of some look-ups, and some nanoseconds for each organization.
    pub(crate) fn figures(&self) -> StoreFigures {
        let rows = self.rows.count();
        let runs: usize = self.tables.values().map(|table| table.count() * table.slots()).sum();
        let postings: usize = self.tables.values().map(|table| table.postings_bytes()).sum();
        let bytes = self.rows.bytes()
            + runs * RUNS * size_of::<RowId>()
            + postings
            + self.ids.bytes()
            + self.unique_keys.bytes()
            + self.links.bytes();
        StoreFigures { records: Some(rows as u64), index_bytes: Some(bytes as u64) }
    }
}

impl Rows {
    /// Estimates the memory of all rows from some of them.
    fn bytes(&self) -> usize {
        let step = self.numbers().div_ceil(SAMPLE).max(1);
        let sample = (0..self.numbers()).step_by(step).filter_map(|row| self.get(row as RowId));
        let (count, facets) =
            sample.fold((0, 0), |(count, bytes), row| (count + 1, bytes + row.facets.length() + ALLOCATION));
        let of_facets = (facets * self.count()).checked_div(count).unwrap_or(0);
        self.numbers() * size_of::<Option<Row>>() + of_facets
    }
}
