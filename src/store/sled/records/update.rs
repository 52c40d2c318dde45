use super::super::codec::Place;
use super::{Base, keys};
use crate::store::Key;

/// Changes of the records that are carried out together.
#[derive(Debug, Default)]
pub(in crate::store::sled) struct Update {
    batch: ::sled::Batch,
    size: usize,
}

impl Update {
    /// How many bytes are written, roughly.
    pub(in crate::store::sled) const fn size(&self) -> usize {
        self.size
    }

    /// Puts a head in the place of the one before, which had this length.
    pub(in crate::store::sled) fn put_head(&mut self, key: Key, head: &[u8], before: Option<usize>) {
        let beginning = keys::head(key);
        let parts = self.put_parts(&beginning, head);
        self.remove_parts(&beginning, parts..part_count(before.unwrap_or(0)));
    }

    pub(in crate::store::sled) fn remove_head(&mut self, key: Key, before: usize) {
        self.remove_parts(&keys::head(key), 0..part_count(before));
    }

    pub(in crate::store::sled) fn put_body(&mut self, place: Place, body: &[u8]) {
        self.put_parts(&keys::body(place.id), body);
    }

    pub(in crate::store::sled) fn remove_body(&mut self, place: Place) {
        self.remove_parts(&keys::body(place.id), 0..keys::parts(place.length));
    }

    /// Notes that a body is to be removed later, because somebody still reads it.
    pub(in crate::store::sled) fn put_grave(&mut self, place: Place) {
        self.batch.insert(keys::grave(place.id), &place.length.to_le_bytes());
    }

    pub(in crate::store::sled) fn remove_grave(&mut self, place: Place) {
        self.batch.remove(keys::grave(place.id));
    }

    pub(super) fn finish(mut self, base: &Base) -> ::sled::Batch {
        self.batch.insert(keys::BASE, base.encode());
        self.batch
    }

    fn put_parts(&mut self, beginning: &[u8], value: &[u8]) -> u32 {
        let mut parts = 0;
        for chunk in value.chunks(keys::CHUNK) {
            self.batch.insert(keys::part(beginning, parts), chunk);
            parts += 1;
        }
        self.size += value.len();
        parts
    }

    fn remove_parts(&mut self, beginning: &[u8], parts: std::ops::Range<u32>) {
        for part in parts {
            self.batch.remove(keys::part(beginning, part));
        }
    }
}

fn part_count(length: usize) -> u32 {
    u32::try_from(length).map_or(u32::MAX, keys::parts)
}
