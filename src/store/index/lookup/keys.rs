use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use uuid::Uuid;

use super::hashed_rows::HashedRows;
use crate::invariant::Invariant;
use crate::store::index::interner::NameId;
use crate::store::index::rows::Rows;
use crate::store::index::run::RowId;

/// Finds the row with a key. An entry is a row number; the key is compared in the row.
#[derive(Debug, Default)]
pub(in crate::store::index) struct Ids {
    hasher: RandomState,
    table: HashTable<RowId>,
}

impl Ids {
    /// Returns the memory in bytes.
    pub(in crate::store::index) fn bytes(&self) -> usize {
        self.table.allocation_size()
    }

    pub(in crate::store::index) fn find(&self, rows: &Rows, table: NameId, id: Uuid) -> Option<RowId> {
        let hash = self.hasher.hash_one((table, id));
        self.table.find(hash, |row| key(rows, *row) == Some((table, id))).copied()
    }

    /// Reserves capacity for more rows. All rows of the index must be present.
    ///
    /// Rebuilds the table in row order. A table that grows by itself reads the rows in the order of their hashes,
    /// which takes several times as long.
    pub(in crate::store::index) fn reserve(&mut self, rows: &Rows, more: usize) {
        let needed = self.table.len() + more;
        if needed <= self.table.capacity() {
            return;
        }
        // Freed first: both tables together would take too much memory.
        self.table = HashTable::new();
        self.table = HashTable::with_capacity(needed + needed / 2);
        for (id, _) in rows.iter() {
            self.insert(rows, id);
        }
    }

    pub(in crate::store::index) fn insert(&mut self, rows: &Rows, row: RowId) {
        let hash_of = |row: &RowId| self.hasher.hash_one(key(rows, *row).asserted_or_default());
        self.table.insert_unique(hash_of(&row), row, hash_of);
    }

    pub(in crate::store::index) fn remove(&mut self, table: NameId, id: Uuid, row: RowId) {
        let hash = self.hasher.hash_one((table, id));
        if let Some(entry) = self.table.find_entry(hash, |other| *other == row).ok().asserted() {
            entry.remove();
        }
    }
}

fn key(rows: &Rows, row: RowId) -> Option<(NameId, Uuid)> {
    rows.get(row).asserted().map(|row| (row.table, row.id))
}

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
