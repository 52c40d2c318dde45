use std::hash::{BuildHasher, RandomState};

use super::hashed::HashedRows;
use super::names::NameId;
use super::rows::{Row, Rows};
use super::run::RowId;

/// Which row has a unique key. The unique key itself stands in the packed facets of the row; here is the row under its hash.
#[derive(Debug, Default)]
pub(super) struct UniqueKeys {
    hasher: RandomState,
    table: HashedRows,
}

impl UniqueKeys {
    pub(super) fn find(&self, rows: &Rows, name: NameId, value: &[u8]) -> Option<RowId> {
        let has_it = |row: &RowId| rows.get(*row).is_some_and(|row| row.facets.has_unique_key(name, value));
        self.table.rows(self.hash(name, value)).find(has_it)
    }

    pub(super) fn insert_all<'k>(&mut self, keys: impl Iterator<Item = (NameId, &'k [u8])>, id: RowId) {
        for (name, value) in keys {
            self.table.insert(self.hash(name, value), id);
        }
    }

    /// Whether any row has one of the unique keys of this one.
    pub(super) fn has_any_of(&self, rows: &Rows, row: &Row) -> bool {
        row.facets.unique_keys().any(|(name, value)| self.find(rows, name, value).is_some())
    }

    pub(super) fn remove_all<'k>(&mut self, keys: impl Iterator<Item = (NameId, &'k [u8])>, id: RowId) {
        for (name, value) in keys {
            self.table.remove(self.hash(name, value), id);
        }
    }

    /// The high half, as good as the whole where no more than a few rows are to share one.
    fn hash(&self, name: NameId, value: &[u8]) -> u32 {
        (self.hasher.hash_one((name, value)) >> 32) as u32
    }
}
