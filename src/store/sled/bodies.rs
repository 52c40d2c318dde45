use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::codec::Place;
use crate::store::index::RowId;

/// The bodies in memory, by row: those that are not in the records yet, and as many of the others as there is room for.
///
/// A page that is in memory costs no more here than in a store that has everything there. What was not asked for since
/// the hand last came by goes first.
#[derive(Debug)]
pub(super) struct Bodies {
    slots: Vec<Slot>,
    capacity: usize,
    /// The bytes of the bodies that may go.
    kept: usize,
    hand: usize,
}

#[derive(Debug, Default)]
struct Slot {
    place: Place,
    body: Option<Bytes>,
    /// The only copy in memory of what the records do not have yet.
    is_pinned: bool,
    /// Set by readers, who share the slots: by those who find the body here, so that what is read once goes first.
    was_read: AtomicBool,
}

/// What is known of a body without asking the records.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Here(Bytes),
    InRecords(Place),
}

impl Bodies {
    pub(super) const fn new(capacity: usize) -> Self {
        Self { slots: Vec::new(), capacity, kept: 0, hand: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// A body that is in memory, which is marked as read.
    pub(super) fn read(&self, row: RowId) -> Option<&Bytes> {
        let slot = self.slots.get(row as usize)?;
        let body = slot.body.as_ref()?;
        // Most are marked already, and a line of the cache that is not written to can be shared.
        if !slot.was_read.load(Ordering::Relaxed) {
            slot.was_read.store(true, Ordering::Relaxed);
        }
        Some(body)
    }

    /// Where a body is found. One that is in memory is marked as read.
    pub(super) fn find(&self, row: RowId) -> Option<Found> {
        let found = self.read(row).cloned().map(Found::Here);
        found.or_else(|| self.place(row).map(Found::InRecords))
    }

    /// The same for one who reads everything once. Gives no body that may be read from the records.
    pub(super) fn peek(&self, row: RowId) -> Option<Found> {
        let slot = self.slots.get(row as usize)?;
        let body = slot.body.as_ref().filter(|_| slot.is_pinned);
        Some(body.map_or(Found::InRecords(slot.place), |body| Found::Here(body.clone())))
    }

    /// Where the body of a row is, once it is in the records.
    pub(super) fn place(&self, row: RowId) -> Option<Place> {
        self.slots.get(row as usize).map(|slot| slot.place)
    }

    /// Whether the records do not have the body of a row yet.
    pub(super) fn is_pinned(&self, row: RowId) -> bool {
        self.slots.get(row as usize).is_some_and(|slot| slot.is_pinned)
    }

    /// Sets where the body of a row is that the records have.
    pub(super) fn set_place(&mut self, row: RowId, place: Place) {
        if let Some(slot) = self.slot(row) {
            *slot = Slot { place, ..Slot::default() };
        }
    }

    /// Sets a body that the records do not have yet, and gives back the one before, if it was in memory.
    pub(super) fn pin(&mut self, row: RowId, place: Place, body: Bytes) -> Option<Bytes> {
        let before = self.remove(row);
        if let Some(slot) = self.slot(row) {
            *slot = Slot { place, body: Some(body), is_pinned: true, ..Slot::default() };
        }
        before
    }

    pub(super) fn remove(&mut self, row: RowId) -> Option<Bytes> {
        let slot = std::mem::take(self.slots.get_mut(row as usize)?);
        if !slot.is_pinned {
            self.kept -= slot.body.as_ref().map_or(0, Bytes::len);
        }
        slot.body
    }

    /// The records have this body now: it may go.
    pub(super) fn unpin(&mut self, row: RowId, place: Place) {
        let Some(slot) = self.slots.get_mut(row as usize) else { return };
        if slot.is_pinned && slot.place.id == place.id {
            slot.is_pinned = false;
            self.kept += slot.body.as_ref().map_or(0, Bytes::len);
        }
    }

    /// Keeps a body that was read from the records, if the row still has it.
    pub(super) fn keep(&mut self, row: RowId, place: Place, body: Bytes) {
        let Some(slot) = self.slots.get_mut(row as usize) else { return };
        if slot.place.id == place.id && slot.body.is_none() && body.len() <= self.capacity {
            self.kept += body.len();
            slot.body = Some(body);
        }
    }

    /// Lets go of as much as there is no room for, for the caller to drop where nobody waits.
    pub(super) fn evict(&mut self) -> Vec<Bytes> {
        let mut evicted = Vec::new();
        while self.kept > self.capacity {
            self.hand = if self.hand + 1 < self.slots.len() { self.hand + 1 } else { 0 };
            let Some(slot) = self.slots.get_mut(self.hand) else { break };
            if slot.is_pinned || std::mem::take(slot.was_read.get_mut()) {
                continue;
            }
            if let Some(body) = slot.body.take() {
                self.kept -= body.len();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: u64) -> Place {
        Place { id, length: 10, checksum: 0 }
    }

    fn body() -> Bytes {
        Bytes::from_static(b"ten bytes.")
    }

    #[test]
    fn what_is_kept_stays_within_the_capacity_and_what_is_read_stays_longest() {
        let mut bodies = Bodies::new(30);
        for row in 0..10 {
            bodies.set_place(row, place(u64::from(row)));
        }
        bodies.keep(0, place(0), body());
        for round in 0..20 {
            let row = 1 + round % 9;
            assert!(matches!(bodies.find(0), Some(Found::Here(_))), "round {round}");
            bodies.keep(row, place(u64::from(row)), body());
            bodies.evict();
            assert!(bodies.kept <= 30);
        }
    }

    #[test]
    fn a_pinned_body_stays_whatever_the_capacity_until_the_records_have_this_very_body() {
        let mut bodies = Bodies::new(0);
        bodies.pin(0, place(1), body());
        bodies.unpin(0, place(0));
        assert!(bodies.evict().is_empty());
        assert!(matches!(bodies.find(0), Some(Found::Here(_))));
        bodies.unpin(0, place(1));
        assert_eq!(bodies.evict().len(), 1);
        assert!(matches!(bodies.find(0), Some(Found::InRecords(at)) if at == place(1)));
    }

    #[test]
    fn a_body_that_was_read_is_not_kept_for_a_row_that_has_another_by_then() {
        let mut bodies = Bodies::new(100);
        bodies.set_place(0, place(1));
        bodies.set_place(0, place(2));
        bodies.keep(0, place(1), body());
        assert!(matches!(bodies.find(0), Some(Found::InRecords(_))));
    }
}
