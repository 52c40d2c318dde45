use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::body::BodyRef;
use crate::store::index::RowId;

/// The bodies in memory, by row of the index.
///
/// Bodies that exist only in memory and in a log file are *pinned*. Others are cached up to the capacity; the CLOCK
/// algorithm evicts those that were not read since its hand last passed them. Reading a cached page costs no more than
/// in a `MemoryStore`.
#[derive(Debug)]
pub(crate) struct BodyCache {
    slots: Vec<Slot>,
    capacity: usize,
    /// Size of the bodies that are not pinned, in bytes.
    evictable_bytes: usize,
    hand: usize,
}

#[derive(Debug, Default)]
struct Slot {
    body_ref: BodyRef,
    body: Option<Bytes>,
    /// Whether the database lacks this body, so that it must stay in memory.
    is_pinned: bool,
    /// Set by readers that find the body in memory. A body that is read only once is therefore evicted first.
    is_referenced: AtomicBool,
}

/// A body in memory, or where to read it.
#[cfg(feature = "sled")]
#[derive(Clone, Debug)]
pub(crate) enum BodyLocation {
    InMemory(Bytes),
    OnDisk(BodyRef),
}

impl BodyCache {
    pub(crate) const fn new(capacity: usize) -> Self {
        Self { slots: Vec::new(), capacity, evictable_bytes: 0, hand: 0 }
    }

    #[cfg(feature = "sled")]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the size of the bodies that are not pinned, in bytes.
    #[cfg(feature = "postgres")]
    pub(crate) const fn cached_bytes(&self) -> usize {
        self.evictable_bytes
    }

    /// Returns a body in memory and marks it as referenced.
    pub(crate) fn read(&self, row: RowId) -> Option<&Bytes> {
        let slot = self.slots.get(row as usize)?;
        let body = slot.body.as_ref()?;
        // Most are marked already; without a write the CPU cache line stays shared.
        if !slot.is_referenced.load(Ordering::Relaxed) {
            slot.is_referenced.store(true, Ordering::Relaxed);
        }
        Some(body)
    }

    /// Returns where a body is, and marks one in memory as referenced.
    #[cfg(feature = "sled")]
    pub(crate) fn find(&self, row: RowId) -> Option<BodyLocation> {
        let found = self.read(row).cloned().map(BodyLocation::InMemory);
        found.or_else(|| self.body_ref(row).map(BodyLocation::OnDisk))
    }

    /// Like [`find`](Self::find) for one-time scans: marks nothing, and returns only pinned bodies from memory.
    #[cfg(feature = "sled")]
    pub(crate) fn peek(&self, row: RowId) -> Option<BodyLocation> {
        let slot = self.slots.get(row as usize)?;
        let body = slot.body.as_ref().filter(|_| slot.is_pinned);
        Some(body.map_or(BodyLocation::OnDisk(slot.body_ref), |body| BodyLocation::InMemory(body.clone())))
    }

    /// Returns the reference to the body of a row. The body is readable from the database once it is not pinned.
    pub(crate) fn body_ref(&self, row: RowId) -> Option<BodyRef> {
        self.slots.get(row as usize).map(|slot| slot.body_ref)
    }

    /// Returns whether the body of a row is not in the database yet.
    #[cfg(feature = "sled")]
    pub(crate) fn is_pinned(&self, row: RowId) -> bool {
        self.slots.get(row as usize).is_some_and(|slot| slot.is_pinned)
    }

    /// Sets the body of a row to one that is in the database.
    pub(crate) fn set_body_ref(&mut self, row: RowId, body_ref: BodyRef) {
        if let Some(slot) = self.slot(row) {
            *slot = Slot { body_ref, ..Slot::default() };
        }
    }

    /// Sets a body that is not in the database yet. Returns the previous one if it was in memory.
    #[cfg(feature = "sled")]
    pub(crate) fn pin(&mut self, row: RowId, body_ref: BodyRef, body: Bytes) -> Option<Bytes> {
        let before = self.remove(row);
        if let Some(slot) = self.slot(row) {
            *slot = Slot { body_ref, body: Some(body), is_pinned: true, ..Slot::default() };
        }
        before
    }

    pub(crate) fn remove(&mut self, row: RowId) -> Option<Bytes> {
        let slot = std::mem::take(self.slots.get_mut(row as usize)?);
        if !slot.is_pinned {
            self.evictable_bytes -= slot.body.as_ref().map_or(0, Bytes::len);
        }
        slot.body
    }

    /// Unpins a body that is in the database now, so that it may be evicted.
    #[cfg(feature = "sled")]
    pub(crate) fn unpin(&mut self, row: RowId, body_ref: BodyRef) {
        let Some(slot) = self.slots.get_mut(row as usize) else { return };
        if slot.is_pinned && slot.body_ref.id == body_ref.id {
            slot.is_pinned = false;
            self.evictable_bytes += slot.body.as_ref().map_or(0, Bytes::len);
        }
    }

    /// Caches a body that was read from the database. Does nothing if the row has another body by now.
    pub(crate) fn insert(&mut self, row: RowId, body_ref: BodyRef, body: Bytes) {
        let Some(slot) = self.slots.get_mut(row as usize) else { return };
        if slot.body_ref.id == body_ref.id && slot.body.is_none() && body.len() <= self.capacity {
            self.evictable_bytes += body.len();
            slot.body = Some(body);
        }
    }

    /// Evicts bodies down to the capacity, and returns them. The caller drops them after releasing the lock.
    pub(crate) fn evict(&mut self) -> Vec<Bytes> {
        let mut evicted = Vec::new();
        while self.evictable_bytes > self.capacity {
            self.hand = if self.hand + 1 < self.slots.len() { self.hand + 1 } else { 0 };
            let Some(slot) = self.slots.get_mut(self.hand) else { break };
            if slot.is_pinned || std::mem::take(slot.is_referenced.get_mut()) {
                continue;
            }
            if let Some(body) = slot.body.take() {
                self.evictable_bytes -= body.len();
                evicted.push(body);
            }
        }
        evicted
    }

    fn slot(&mut self, row: RowId) -> Option<&mut Slot> {
        let row = row as usize;
        if self.slots.len() <= row {
            self.slots.resize_with(row + 1, Slot::default);
        }
        self.slots.get_mut(row)
    }
}

#[cfg(feature = "sled")]
#[cfg(test)]
mod tests {
    use super::*;

    fn body_ref(id: u64) -> BodyRef {
        BodyRef::plain(id, &Bytes::from_static(&[0; 10])).0
    }

    fn body() -> Bytes {
        Bytes::from_static(b"ten bytes.")
    }

    #[test]
    fn cache_stays_within_capacity_and_keeps_referenced_bodies() {
        let mut cache = BodyCache::new(30);
        for row in 0..10 {
            cache.set_body_ref(row, body_ref(u64::from(row)));
        }
        cache.insert(0, body_ref(0), body());
        for round in 0..20 {
            let row = 1 + round % 9;
            assert!(matches!(cache.find(0), Some(BodyLocation::InMemory(_))), "round {round}");
            cache.insert(row, body_ref(u64::from(row)), body());
            cache.evict();
            assert!(cache.evictable_bytes <= 30);
        }
    }

    #[test]
    fn pinned_body_stays_until_the_same_body_is_unpinned() {
        let mut cache = BodyCache::new(0);
        cache.pin(0, body_ref(1), body());
        cache.unpin(0, body_ref(0));
        assert!(cache.evict().is_empty());
        assert!(matches!(cache.find(0), Some(BodyLocation::InMemory(_))));
        cache.unpin(0, body_ref(1));
        assert_eq!(cache.evict().len(), 1);
        assert!(matches!(cache.find(0), Some(BodyLocation::OnDisk(at)) if at == body_ref(1)));
    }

    #[test]
    fn outdated_body_is_not_inserted() {
        let mut cache = BodyCache::new(100);
        cache.set_body_ref(0, body_ref(1));
        cache.set_body_ref(0, body_ref(2));
        cache.insert(0, body_ref(1), body());
        assert!(matches!(cache.find(0), Some(BodyLocation::OnDisk(_))));
    }
}
