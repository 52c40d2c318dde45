//! Finding rows by key, unique key and link.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use uuid::Uuid;

use super::capacity;
use super::interner::NameId;
use super::rows::{Row, Rows};
use super::run::RowId;

/// Finds the row with a key. An entry is a row number; the key is compared in the row.
#[derive(Debug, Default)]
pub(super) struct Ids {
    hasher: RandomState,
    table: HashTable<RowId>,
}

impl Ids {
    pub(super) fn find(&self, rows: &Rows, table: NameId, id: Uuid) -> Option<RowId> {
        let hash = self.hasher.hash_one((table, id));
        self.table.find(hash, |row| key(rows, *row) == Some((table, id))).copied()
    }

    /// Reserves capacity for more rows. All rows of the index must be present.
    ///
    /// Rebuilds the table in row order. A table that grows by itself reads the rows in the order of their hashes,
    /// which takes several times as long.
    pub(super) fn reserve(&mut self, rows: &Rows, more: usize) {
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

    pub(super) fn insert(&mut self, rows: &Rows, row: RowId) {
        let hash_of = |row: &RowId| self.hasher.hash_one(key(rows, *row).unwrap_or_default());
        self.table.insert_unique(hash_of(&row), row, hash_of);
    }

    pub(super) fn remove(&mut self, table: NameId, id: Uuid, row: RowId) {
        let hash = self.hasher.hash_one((table, id));
        if let Ok(entry) = self.table.find_entry(hash, |other| *other == row) {
            entry.remove();
        }
    }
}

fn key(rows: &Rows, row: RowId) -> Option<(NameId, Uuid)> {
    rows.get(row).map(|row| (row.table, row.id))
}

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

/// Average number of entries in a full bucket.
const FULL: usize = 32;

/// Entries by which the capacity of a bucket grows.
const GROWTH: usize = 4;

/// A hash, and a row with a value of that hash.
type Entry = (u32, RowId);

/// A multimap from hashes to rows. A row with several values of one hash occurs several times.
///
/// Linear hashing: when the buckets are full on average, one bucket is added and takes its entries from one existing
/// bucket. No insertion waits for a rehash of all, rows are never read, and an entry takes about 10 bytes. The tables of
/// `hashbrown` double: they take 10 to 21 bytes an entry, 70 MB more for a million hosts with 8 unique keys each.
#[derive(Debug)]
pub(super) struct HashedRows {
    buckets: Vec<Vec<Entry>>,
    length: usize,
}

impl Default for HashedRows {
    fn default() -> Self {
        Self { buckets: vec![Vec::new()], length: 0 }
    }
}

impl HashedRows {
    pub(super) fn rows(&self, hash: u32) -> impl Iterator<Item = RowId> + '_ {
        self.entries(hash).copied()
    }

    fn entries(&self, hash: u32) -> impl Iterator<Item = &RowId> {
        let entries = self.buckets.get(self.bucket(hash)).map(Vec::as_slice).unwrap_or_default();
        entries.iter().filter(move |(other, _)| *other == hash).map(|(_, row)| row)
    }

    pub(super) fn insert(&mut self, hash: u32, row: RowId) {
        let bucket = self.bucket(hash);
        let Some(entries) = self.buckets.get_mut(bucket) else { return };
        if entries.len() == entries.capacity() {
            capacity::reserve_exact(entries, GROWTH);
        }
        entries.push((hash, row));
        self.length += 1;
        if self.length > self.buckets.len() * FULL {
            self.add_bucket();
        }
    }

    /// Removes one occurrence of a row under a hash.
    pub(super) fn remove(&mut self, hash: u32, row: RowId) {
        let bucket = self.bucket(hash);
        let Some(entries) = self.buckets.get_mut(bucket) else { return };
        if let Some(place) = entries.iter().position(|entry| *entry == (hash, row)) {
            entries.swap_remove(place);
            self.length -= 1;
        }
    }

    /// Returns the bucket of a hash. The entries of a bucket that does not exist yet are in the one that is half its
    /// power of two before it.
    fn bucket(&self, hash: u32) -> usize {
        let count = self.buckets.len().next_power_of_two();
        let bucket = hash as usize & (count - 1);
        if bucket < self.buckets.len() { bucket } else { bucket - count / 2 }
    }

    fn add_bucket(&mut self) {
        let new = self.buckets.len();
        let old = new - (new + 1).next_power_of_two() / 2;
        self.buckets.push(Vec::new());
        let Some(mut entries) = self.buckets.get_mut(old).map(std::mem::take) else { return };
        entries.sort_unstable_by_key(|(hash, _)| self.bucket(*hash));
        let (stays, goes) = entries.split_at(entries.partition_point(|(hash, _)| self.bucket(*hash) == old));
        for (bucket, entries) in [(old, stays), (new, goes)] {
            if let Some(place) = self.buckets.get_mut(bucket) {
                *place = entries.to_vec();
            }
        }
    }
}

/// A link: a relation and its target.
type LinkKey = (NameId, Uuid);

/// Finds the rows with a link, sorted.
///
/// Most links have a single row, such as the subnet of one host. Such a link takes an entry of about 10 bytes and is
/// compared in the row; a posting list of its own would take 130.
#[derive(Debug, Default)]
pub(super) struct Links {
    hasher: RandomState,
    /// The row of each link that has only one.
    single: HashedRows,
    /// The rows of each link that has several.
    lists: HashTable<(LinkKey, Vec<RowId>)>,
}

impl Links {
    pub(super) fn rows(&self, rows: &Rows, relation: NameId, target: Uuid) -> &[RowId] {
        let (link, hash) = ((relation, target), self.hash((relation, target)));
        match self.lists.find(hash, |(key, _)| *key == link) {
            Some((_, list)) => list,
            None => self.find_single(rows, link, hash).map(std::slice::from_ref).unwrap_or_default(),
        }
    }

    /// Inserts the links of a row, which `rows` must contain in its new state.
    pub(super) fn insert_all(&mut self, rows: &Rows, id: RowId) {
        let Some(row) = rows.get(id) else { return };
        for link in row.facets.links() {
            let hash = self.hash(link);
            if let Some((_, list)) = self.lists.find_mut(hash, |(key, _)| *key == link) {
                insert_sorted(list, id);
                continue;
            }
            let others = self.single.rows(short(hash)).filter(|other| *other != id);
            let Some(other) = others.into_iter().find(|other| has_link(rows, *other, link)) else {
                self.single.insert(short(hash), id);
                continue;
            };
            self.single.remove(short(hash), other);
            let list = vec![other.min(id), other.max(id)];
            let hasher = &self.hasher;
            self.lists.insert_unique(hash, (link, list), |(key, _)| hasher.hash_one(key));
        }
    }

    /// Removes the links of a row, which `rows` must still contain in its old state.
    pub(super) fn remove_all(&mut self, row: &Row, id: RowId) {
        for link in row.facets.links() {
            let hash = self.hash(link);
            let Ok(mut entry) = self.lists.find_entry(hash, |(key, _)| *key == link) else {
                self.single.remove(short(hash), id);
                continue;
            };
            let (_, list) = entry.get_mut();
            if let Ok(place) = list.binary_search(&id) {
                list.remove(place);
            }
            if let [last] = list[..] {
                entry.remove();
                self.single.insert(short(hash), last);
            }
        }
    }

    fn find_single(&self, rows: &Rows, link: LinkKey, hash: u64) -> Option<&RowId> {
        self.single.entries(short(hash)).find(|row| has_link(rows, **row, link))
    }

    fn hash(&self, link: LinkKey) -> u64 {
        self.hasher.hash_one(link)
    }
}

/// The half of a hash that `hashbrown` uses least.
const fn short(hash: u64) -> u32 {
    hash as u32
}

fn has_link(rows: &Rows, row: RowId, link: LinkKey) -> bool {
    rows.get(row).is_some_and(|row| row.facets.links().any(|other| other == link))
}

/// Inserts a row into a sorted list unless the list has it. Most rows are newer than all rows in the list.
fn insert_sorted(list: &mut Vec<RowId>, row: RowId) {
    if list.last().is_none_or(|last| *last < row) {
        list.push(row);
    } else if let Err(place) = list.binary_search(&row) {
        list.insert(place, row);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::index::packed::PackedFacets;
    use crate::store::index::terms::CommonValues;

    fn row(links: &[LinkKey]) -> Row {
        let facets = PackedFacets::pack(None, &[], links, &[], &[], &CommonValues::default());
        Row { id: Uuid::nil(), version: 1, table: 0, partition: 0, network_slot: 0, facets }
    }

    #[test]
    fn links_agree_with_sets_while_they_gain_and_lose_their_second_rows() {
        let keys: Vec<LinkKey> =
            (0..12).map(|number| (number % 3, Uuid::from_u128(u128::from(number / 3)))).collect();
        let mut random = fastrand::Rng::with_seed(7);
        let (mut rows, mut links) = (Rows::default(), Links::default());
        let mut model: Vec<BTreeSet<LinkKey>> = vec![BTreeSet::new(); 5];
        model.iter().for_each(|_| _ = rows.insert(row(&[])));
        for step in 0..4_000 {
            let id = random.usize(..model.len());
            let most = if step % 100 < 50 { 4 } else { 2 };
            model[id] = (0..random.usize(..most)).map(|_| *random.choice(&keys).unwrap()).collect();
            links.remove_all(rows.get(id as RowId).unwrap(), id as RowId);
            *rows.get_mut(id as RowId).unwrap() = row(&model[id].iter().copied().collect::<Vec<_>>());
            links.insert_all(&rows, id as RowId);
            for (relation, target) in &keys {
                let expected = (0..).zip(&model).filter(|(_, links)| links.contains(&(*relation, *target)));
                let expected: Vec<RowId> = expected.map(|(id, _)| id).collect();
                assert_eq!(links.rows(&rows, *relation, *target), expected);
            }
        }
        let singles = keys.iter().filter(|key| model.iter().filter(|links| links.contains(key)).count() == 1);
        assert_eq!(links.single.length, singles.count());
    }

    fn rows(table: &HashedRows, hash: u32) -> Vec<RowId> {
        let mut rows: Vec<RowId> = table.rows(hash).collect();
        rows.sort_unstable();
        rows
    }

    /// Hashes that differ in their low bits, in their high bits, or not at all.
    fn hash(number: u32) -> u32 {
        if number.is_multiple_of(2) { number / 8 } else { (number / 8).wrapping_mul(0x9E37_79B9) }
    }

    #[test]
    fn every_row_is_under_its_hashes_however_many_there_are() {
        const COUNT: u32 = 20_000;
        let mut table = HashedRows::default();
        for number in 0..COUNT {
            table.insert(hash(number), number);
            if number.is_power_of_two() || number % 1_999 == 0 {
                (0..=number).for_each(|row| assert!(table.rows(hash(row)).any(|other| other == row)));
            }
        }
        for number in (0..COUNT).filter(|number| number % 3 > 0) {
            table.remove(hash(number), number);
        }
        for number in 0..COUNT {
            let is_there = table.rows(hash(number)).any(|row| row == number);
            assert_eq!(is_there, number % 3 == 0, "row {number}");
        }
    }

    #[test]
    fn a_row_under_one_hash_twice_is_there_until_it_is_removed_twice() {
        let mut table = HashedRows::default();
        for row in [1, 2, 1] {
            table.insert(7, row);
        }
        table.remove(7, 3);
        table.remove(8, 1);
        assert_eq!(rows(&table, 7), [1, 1, 2]);
        table.remove(7, 1);
        assert_eq!(rows(&table, 7), [1, 2]);
        table.remove(7, 1);
        assert_eq!(rows(&table, 7), [2]);
    }
}
