use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::names::NameId;
use super::packed::AliasOffset;
use super::rows::{Row, Rows};
use super::run::RowId;

/// Which row has an alias. The alias itself stands in the packed facets of the row; an entry here is where.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    hasher: RandomState,
    table: HashTable<(RowId, AliasOffset)>,
}

impl Aliases {
    pub(super) fn find(&self, rows: &Rows, name: NameId, value: &[u8]) -> Option<RowId> {
        let hash = self.hasher.hash_one((name, value));
        self.table.find(hash, |entry| at(rows, *entry) == Some((name, value))).map(|(row, _)| *row)
    }

    pub(super) fn insert_all(&mut self, rows: &Rows, id: RowId) {
        for (offset, name, value) in rows.get(id).into_iter().flat_map(|row| row.facets.aliases()) {
            let hash = self.hasher.hash_one((name, value));
            let hash_of =
                |entry: &(RowId, AliasOffset)| self.hasher.hash_one(at(rows, *entry).unwrap_or_default());
            self.table.insert_unique(hash, (id, offset), hash_of);
        }
    }

    pub(super) fn remove_all(&mut self, row: &Row, id: RowId) {
        for (offset, name, value) in row.facets.aliases() {
            let hash = self.hasher.hash_one((name, value));
            if let Ok(entry) = self.table.find_entry(hash, |entry| *entry == (id, offset)) {
                entry.remove();
            }
        }
    }
}

fn at(rows: &Rows, (row, offset): (RowId, AliasOffset)) -> Option<(NameId, &[u8])> {
    rows.get(row)?.facets.alias(offset)
}
