use std::ops::Range;

use super::super::codec::Place;
use super::{Base, keys};
use crate::store::Key;

/// When an update is full: sled gives back late what it needs for a large one.
const FULL_SIZE: usize = 64 << 10;
const FULL_OPERATIONS: usize = 128;

/// Changes of the records that are carried out together.
#[derive(Debug, Default)]
pub(in crate::store::sled) struct Update {
    batch: ::sled::Batch,
    keys: Vec<Vec<u8>>,
    size: usize,
}

impl Update {
    pub(in crate::store::sled) const fn is_full(&self) -> bool {
        self.size >= FULL_SIZE || self.keys.len() >= FULL_OPERATIONS
    }

    /// Puts a head in the place of the one before, which had this length.
    pub(in crate::store::sled) fn put_head(&mut self, key: Key, head: &[u8], before: usize) {
        let beginning = keys::head(key);
        let mut parts = 0;
        for (part, content) in keys::cut(head) {
            self.insert(keys::part(&beginning, part), content);
            parts = part + 1;
        }
        self.remove_head_parts(&beginning, parts..keys::parts(before));
    }

    pub(in crate::store::sled) fn remove_head(&mut self, key: Key, before: usize) {
        self.remove_head_parts(&keys::head(key), 0..keys::parts(before));
    }

    pub(in crate::store::sled) fn put_part(&mut self, place: Place, part: u32, content: &[u8]) {
        self.insert(keys::part(&keys::body(place.id), part), content);
    }

    pub(in crate::store::sled) fn remove_part(&mut self, place: Place, part: u32) {
        self.remove(keys::part(&keys::body(place.id), part));
    }

    /// Notes that a body is to be removed later: somebody may still read it, or it is not written to its end.
    pub(in crate::store::sled) fn put_grave(&mut self, place: Place) {
        self.insert(keys::grave(place.id), &place.length.to_le_bytes());
    }

    pub(in crate::store::sled) fn remove_grave(&mut self, place: Place) {
        self.remove(keys::grave(place.id));
    }

    /// With the keys that are changed.
    pub(super) fn finish(mut self, base: &Base) -> (::sled::Batch, Vec<Vec<u8>>) {
        self.insert(keys::BASE.to_vec(), &base.encode());
        (self.batch, self.keys)
    }

    fn remove_head_parts(&mut self, beginning: &[u8], parts: Range<u32>) {
        for part in parts {
            self.remove(keys::part(beginning, part));
        }
    }

    fn insert(&mut self, key: Vec<u8>, value: &[u8]) {
        self.size += value.len();
        self.batch.insert(key.as_slice(), value);
        self.keys.push(key);
    }

    fn remove(&mut self, key: Vec<u8>) {
        self.batch.remove(key.as_slice());
        self.keys.push(key);
    }
}
