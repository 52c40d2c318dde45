use std::hash::{BuildHasher, RandomState};

use super::hashed::HashedRows;
use super::interner::NameId;
use super::rows::{Row, Rows};
use super::run::RowId;

/// Finds the row with a unique key. Entries are row numbers under hashes; the key is compared in the row.
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

    /// Returns whether any row has one of the unique keys of this one.
    pub(super) fn has_any_of(&self, rows: &Rows, row: &Row) -> bool {
        row.facets.unique_keys().any(|(name, value)| self.find(rows, name, value).is_some())
    }

    pub(super) fn remove_all<'k>(&mut self, keys: impl Iterator<Item = (NameId, &'k [u8])>, id: RowId) {
        for (name, value) in keys {
            self.table.remove(self.hash(name, value), id);
        }
    }

    /// The high half of the hash suffices: few rows share one.
    fn hash(&self, name: NameId, value: &[u8]) -> u32 {
        (self.hasher.hash_one((name, value)) >> 32) as u32
    }
}
