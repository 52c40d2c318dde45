#![allow(
    clippy::indexing_slicing,
    reason = "the number of a bucket is below their count: `HashedRows::place` and `add_bucket` derive it from that"
)]

use crate::store::index::capacity;
use crate::store::index::run::RowId;

/// Number of bits of a hash that the table uses.
///
/// They choose one of the first buckets and fill the 16 bits of an [`Entry`]. In a table with up to a hundred million
/// entries, a lookup reads at most one wrong row on average.
const HASH_BITS: u32 = MIN_BUCKETS.ilog2() + u16::BITS;

/// Number of buckets from the first insertion.
const MIN_BUCKETS: usize = 2_048;

/// Average number of entries in a full bucket.
const ENTRIES_PER_BUCKET: usize = 32;

/// Entries by which the capacity of a bucket grows.
const BUCKET_GROWTH: usize = 4;

/// The rest of a hash (two bytes) and a row number (four bytes), both little-endian.
///
/// All entries of a bucket have the same low bits of their hashes; the rest are the bits above those. A struct of the
/// two would have two bytes of padding.
type Entry = [u8; 6];

/// A multimap from hashes to rows. A row with several values of one hash occurs several times.
///
/// Linear hashing: when the buckets are full on average, one bucket is added and takes its entries from one existing
/// bucket. No insertion waits for a rehash of all, rows are never read, and an entry takes about 8 bytes. The tables of
/// `hashbrown` double: they take 10 to 21 bytes an entry.
#[derive(Debug, Default)]
pub(super) struct HashedRows {
    buckets: Vec<Vec<Entry>>,
    length: usize,
}

impl HashedRows {
    #[cfg(test)]
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// Estimates the memory in bytes. On average, half of the last growth of a bucket is free.
    pub(super) fn bytes(&self) -> usize {
        let free = self.buckets.len() * BUCKET_GROWTH / 2;
        self.buckets.len() * size_of::<Vec<Entry>>() + (self.length + free) * size_of::<Entry>()
    }

    pub(super) fn rows(&self, hash: u32) -> impl Iterator<Item = RowId> + '_ {
        let (bucket, rest) = self.place(hash);
        // No bucket exists before the first insertion.
        let entries = self.buckets.get(bucket).map_or(&[][..], Vec::as_slice);
        entries.iter().map(parts).filter(move |(other, _)| *other == rest).map(|(_, row)| row)
    }

    pub(super) fn insert(&mut self, hash: u32, row: RowId) {
        if self.buckets.is_empty() {
            self.buckets.resize_with(MIN_BUCKETS, Vec::new);
        }
        let (bucket, rest) = self.place(hash);
        let entries = &mut self.buckets[bucket];
        if entries.len() == entries.capacity() {
            capacity::reserve_exact(entries, BUCKET_GROWTH);
        }
        entries.push(entry(rest, row));
        self.length += 1;
        if self.length > self.buckets.len() * ENTRIES_PER_BUCKET {
            self.add_bucket();
        }
    }

    /// Removes one occurrence of a row under a hash. Returns whether there was one.
    pub(super) fn remove(&mut self, hash: u32, row: RowId) -> bool {
        let (bucket, rest) = self.place(hash);
        let Some(entries) = self.buckets.get_mut(bucket) else { return false };
        let Some(place) = entries.iter().position(|other| *other == entry(rest, row)) else { return false };
        entries.swap_remove(place);
        self.length -= 1;
        true
    }

    /// Returns the bucket and the rest of a hash.
    ///
    /// The entries of a bucket that does not exist yet are in the bucket whose number lacks the highest bit.
    fn place(&self, hash: u32) -> (usize, u16) {
        let hash = hash & ((1 << HASH_BITS) - 1);
        let count = self.buckets.len().max(MIN_BUCKETS);
        let bits = count.next_power_of_two().ilog2();
        let bucket = hash as usize & ((1 << bits) - 1);
        // A bucket shares one bit fewer if the one that would take half of its entries does not exist yet.
        let half = 1 << (bits - 1);
        let (bucket, shared) = match bucket.checked_sub(half) {
            Some(other) if bucket >= count => (other, bits - 1),
            None if bucket + half >= count => (bucket, bits - 1),
            _ => (bucket, bits),
        };
        (bucket, (hash >> shared) as u16)
    }

    fn add_bucket(&mut self) {
        let new = self.buckets.len();
        let old = new - (new + 1).next_power_of_two() / 2;
        let entries = std::mem::take(&mut self.buckets[old]);
        let half = |bit: u16| -> Vec<Entry> {
            let chosen = entries.iter().map(parts).filter(|(rest, _)| rest & 1 == bit);
            let mut half = Vec::with_capacity(chosen.clone().count());
            half.extend(chosen.map(|(rest, row)| entry(rest >> 1, row)));
            half
        };
        let (stays, goes) = (half(0), half(1));
        self.buckets[old] = stays;
        self.buckets.push(goes);
    }
}

fn entry(rest: u16, row: RowId) -> Entry {
    let ([low, high], [first, second, third, fourth]) = (rest.to_le_bytes(), row.to_le_bytes());
    [low, high, first, second, third, fourth]
}

/// Returns the rest of the hash and the row of an entry.
fn parts([low, high, row @ ..]: &Entry) -> (u16, RowId) {
    (u16::from_le_bytes([*low, *high]), RowId::from_le_bytes(*row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(table: &HashedRows, hash: u32) -> Vec<RowId> {
        let mut rows: Vec<RowId> = table.rows(hash).collect();
        rows.sort_unstable();
        rows
    }

    const MASK: u32 = (1 << HASH_BITS) - 1;

    /// Hashes that differ in their low bits, in their high bits, or not at all.
    fn hash(number: u32) -> u32 {
        if number.is_multiple_of(2) { number / 8 } else { (number / 8).wrapping_mul(0x9E37_79B9) }
    }

    #[test]
    fn every_row_is_found_by_its_hash_while_the_table_grows_and_shrinks() {
        const COUNT: u32 = 300_000;
        let mut table = HashedRows::default();
        for number in 0..COUNT {
            table.insert(hash(number), number);
            if number.is_power_of_two() || number % 99_991 == 0 {
                (0..=number).for_each(|row| assert!(table.rows(hash(row)).any(|other| other == row)));
            }
        }
        for number in (0..COUNT).filter(|number| number % 3 > 0) {
            assert!(table.remove(hash(number), number));
        }
        for number in 0..COUNT {
            let is_there = table.rows(hash(number)).any(|row| row == number);
            assert_eq!(is_there, number % 3 == 0, "row {number}");
            assert!(table.rows(hash(number)).all(|row| hash(row) & MASK == hash(number) & MASK));
        }
    }

    #[test]
    fn row_inserted_twice_is_found_until_it_is_removed_twice() {
        let mut table = HashedRows::default();
        for row in [1, 2, 1] {
            table.insert(7, row);
        }
        assert!(!table.remove(7, 3));
        assert!(!table.remove(8, 1));
        assert_eq!(rows(&table, 7), [1, 1, 2]);
        table.remove(7, 1);
        assert_eq!(rows(&table, 7), [1, 2]);
        table.remove(7, 1);
        assert_eq!(rows(&table, 7), [2]);
    }
}
