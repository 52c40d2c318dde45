use std::hash::{BuildHasher, RandomState};

use super::hashed_rows::HashedRows;
use crate::invariant::Invariant;
use crate::store::index::interner::NameId;
use crate::store::index::rows::Rows;
use crate::store::index::run::RowId;

/// Finds the row with a unique key. Entries are row numbers under hashes; the key is compared in the row.
#[derive(Debug, Default)]
pub(in crate::store::index) struct UniqueKeys {
    hasher: RandomState,
    table: HashedRows,
}

impl UniqueKeys {
    /// Estimates the memory in bytes.
    pub(in crate::store::index) fn bytes(&self) -> usize {
        self.table.bytes()
    }

    pub(in crate::store::index) fn find(&self, rows: &Rows, name: NameId, value: &[u8]) -> Option<RowId> {
        let has_it =
            |row: &RowId| rows.get(*row).asserted().is_some_and(|row| row.facets.has_unique_key(name, value));
        self.table.rows(self.hash(name, value)).find(has_it)
    }

    pub(in crate::store::index) fn insert_all<'k>(
        &mut self,
        keys: impl Iterator<Item = (NameId, &'k [u8])>,
        id: RowId,
    ) {
        for (name, value) in keys {
            self.table.insert(self.hash(name, value), id);
        }
    }

    pub(in crate::store::index) fn remove_all<'k>(
        &mut self,
        keys: impl Iterator<Item = (NameId, &'k [u8])>,
        id: RowId,
    ) {
        for (name, value) in keys {
            let was_there = self.table.remove(self.hash(name, value), id);
            debug_assert!(was_there, "a unique key of row {id} is not in the lookup");
        }
    }

    /// Hashes a unique key to 32 bits, of which the table uses fewer.
    fn hash(&self, name: NameId, value: &[u8]) -> u32 {
        (self.hasher.hash_one((name, value)) >> 32) as u32
    }
}
