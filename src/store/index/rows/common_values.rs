use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use crate::invariant::Invariant;

/// The number of rows with which a value becomes common.
pub(in crate::store::index) const COMMON_FROM: usize = 32;

/// Maximum number of common values: a number has 15 bits.
const MAX_COMMON_VALUES: usize = 1 << 15;

/// Minimum length of a common value: a number takes two bytes in a row.
const MIN_COMMON_LENGTH: usize = 2;

/// Numbers for the values of terms and the targets of links that many rows have.
///
/// A row stores the two bytes of the number in place of the value. A number never changes its value, so facets that
/// were packed or cloned at any time stay readable. All organizations share the numbers. When all are in use, rows
/// store further values as they are, until the index is built again.
#[derive(Clone, Debug, Default)]
pub(in crate::store::index) struct CommonValues {
    hasher: RandomState,
    /// All values, one after the other.
    bytes: Vec<u8>,
    /// The end of each value.
    ends: Vec<u32>,
    numbers: HashTable<u16>,
}

impl CommonValues {
    /// Returns the value of a number, which must have been assigned here.
    pub(in crate::store::index) fn value(&self, number: u16) -> &[u8] {
        value(&self.bytes, &self.ends, number)
    }

    pub(in crate::store::index) fn number(&self, wanted: &[u8]) -> Option<u16> {
        let hash = self.hasher.hash_one(wanted);
        self.numbers.find(hash, |number| self.value(*number) == wanted).copied()
    }

    /// Returns whether [`insert`](Self::insert) would number a value.
    pub(in crate::store::index) fn takes(&self, value: &[u8]) -> bool {
        value.len() >= MIN_COMMON_LENGTH
            && self.ends.len() < MAX_COMMON_VALUES
            && self.number(value).is_none()
    }

    /// Numbers a value.
    pub(in crate::store::index) fn insert(&mut self, new: &[u8]) {
        if !self.takes(new) {
            return;
        }
        let number = self.ends.len() as u16;
        self.bytes.extend_from_slice(new);
        self.ends.push(self.bytes.len() as u32);
        let Self { hasher, bytes, ends, numbers } = self;
        let hash_of = |number: &u16| hasher.hash_one(value(bytes, ends, *number));
        numbers.insert_unique(hash_of(&number), number, hash_of);
    }
}

fn value<'b>(bytes: &'b [u8], ends: &[u32], number: u16) -> &'b [u8] {
    let end = |place: usize| ends.get(place).copied().asserted_or_default() as usize;
    let start = usize::from(number).checked_sub(1).map_or(0, end);
    bytes.get(start..end(usize::from(number))).asserted_or_default()
}
