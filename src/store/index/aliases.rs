use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::names::NameId;
use super::packed::AliasOffset;
use super::rows::{Row, Rows};
use super::run::RowId;

/// So many aliases are hashed before the table is asked for the first of them. Its answers come from all over the memory,
/// and only to questions that follow each other closely do they come at the same time.
const HASHED: usize = 256;

/// The row that has an alias, and where in its packed facets the alias stands.
type Entry = (RowId, AliasOffset);

/// The hash of an alias, and its entry.
type Hashed = (u64, Entry);

/// Which row has an alias. The alias itself stands in the packed facets of the row; an entry here is where.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    hasher: RandomState,
    table: HashTable<Entry>,
}

impl Aliases {
    pub(super) fn find(&self, rows: &Rows, name: NameId, value: &[u8]) -> Option<RowId> {
        let hash = self.hasher.hash_one((name, value));
        self.table.find(hash, |entry| at(rows, *entry) == Some((name, value))).map(|(row, _)| *row)
    }

    /// Makes room for so many more. Every alias of every row must be there.
    ///
    /// A table that grows by itself asks the rows in the order of their hashes, which takes several times as long.
    pub(super) fn reserve(&mut self, rows: &Rows, more: usize) {
        let needed = self.table.len() + more;
        if needed <= self.table.capacity() {
            return;
        }
        // Let go before the next is there: both would be much memory.
        self.table = HashTable::new();
        self.table = HashTable::with_capacity(needed + needed / 2);
        let mut hashed = Vec::with_capacity(HASHED);
        for (id, _) in rows.iter() {
            hashed.extend(self.hashed(rows, id));
            if hashed.len() >= HASHED {
                self.insert_hashed(rows, hashed.drain(..));
            }
        }
        self.insert_hashed(rows, hashed.into_iter());
    }

    pub(super) fn insert_all(&mut self, rows: &Rows, id: RowId) {
        let hashed: Vec<Hashed> = self.hashed(rows, id).collect();
        self.insert_hashed(rows, hashed.into_iter());
    }

    /// Inserts the aliases of a row if no row has one of them. Tells whether it did.
    pub(super) fn insert_all_if_new(&mut self, rows: &Rows, id: RowId) -> bool {
        let hashed: Vec<Hashed> = self.hashed(rows, id).collect();
        let is_there = |(hash, entry): &Hashed| {
            let alias = at(rows, *entry);
            self.table.find(*hash, |other| at(rows, *other) == alias).is_some()
        };
        if hashed.iter().any(is_there) {
            return false;
        }
        self.insert_hashed(rows, hashed.into_iter());
        true
    }

    pub(super) fn remove_all(&mut self, row: &Row, id: RowId) {
        for (offset, name, value) in row.facets.aliases() {
            let hash = self.hasher.hash_one((name, value));
            if let Ok(entry) = self.table.find_entry(hash, |entry| *entry == (id, offset)) {
                entry.remove();
            }
        }
    }

    fn hashed(&self, rows: &Rows, id: RowId) -> impl Iterator<Item = Hashed> {
        let aliases = rows.get(id).into_iter().flat_map(|row| row.facets.aliases());
        aliases.map(move |(offset, name, value)| (self.hasher.hash_one((name, value)), (id, offset)))
    }

    fn insert_hashed(&mut self, rows: &Rows, hashed: impl Iterator<Item = Hashed>) {
        for (hash, entry) in hashed {
            let hash_of = |entry: &Entry| self.hasher.hash_one(at(rows, *entry).unwrap_or_default());
            self.table.insert_unique(hash, entry, hash_of);
        }
    }
}

fn at(rows: &Rows, (row, offset): Entry) -> Option<(NameId, &[u8])> {
    rows.get(row)?.facets.alias(offset)
}
