use super::codec::{Head, Place};
use super::journal::Change;
use super::records::{Base, Records, Update, read_head};
use crate::store::{Key, StoreError};

/// Above this a body is written in several updates, before the one that its head is in, and removed in others after it.
const LARGE: usize = 32 << 10;

/// Puts changes into the records, update by update, so that the updates stay small: readers of records wait for each, and what
/// sled needs for one it gives back late.
///
/// Every update leaves each record as it was or as it is to be, and the count of all in step.
#[derive(Debug)]
pub(super) struct Writer<'r> {
    records: &'r Records,
    base: Base,
    /// Whether somebody may still read what is replaced.
    is_read: bool,
    update: Update,
}

impl<'r> Writer<'r> {
    pub(super) fn new(records: &'r Records, base: Base, is_read: bool) -> Self {
        Self { records, base, is_read, update: Update::default() }
    }

    /// Returns what the records are in all, with everything that was written so far.
    pub(super) const fn base(&self) -> &Base {
        &self.base
    }

    /// Writes a change, and tells which body it leaves to be removed later.
    pub(super) fn write(&mut self, key: Key, change: &Change) -> Result<Option<Place>, StoreError> {
        let before = self.records.head(key)?;
        let replaced = before.as_ref().map(|bytes| read_head(key, bytes)).transpose()?.map(|head| head.body);
        let is_done = |place: &Place| replaced.is_some_and(|old| old.id == place.id);
        match change {
            // By a try that failed later.
            Change::Put { place, .. } if is_done(place) => return Ok(None),
            Change::Put { head, place, body } => {
                self.put_body(*place, body)?;
                self.update.put_head(key, head, before.as_ref().map_or(0, Vec::len));
                self.base.add(Head::checksum(head));
            }
            Change::Delete => self.update.remove_head(key, before.as_ref().map_or(0, Vec::len)),
        }
        if let Some(bytes) = &before {
            self.base.subtract(Head::checksum(bytes));
        }
        let left = replaced.and_then(|place| self.remove_or_note(place));
        self.apply_if_full()?;
        Ok(left)
    }

    /// Removes a body together with what pointed to it, or gives it back with a note that it is to be removed: what is cut
    /// off leaves nothing behind that nobody knows of.
    fn remove_or_note(&mut self, place: Place) -> Option<Place> {
        if self.is_read || place.length as usize > LARGE {
            self.update.put_grave(place);
            return Some(place);
        }
        place.parts().for_each(|part| self.update.remove_part(place, part));
        None
    }

    /// Takes back the note that a body is to be removed.
    pub(super) fn keep_body(&mut self, place: Place) {
        self.update.remove_grave(place);
    }

    /// Removes a body that nobody can ask for any more.
    pub(super) fn remove_body(&mut self, place: Place) -> Result<(), StoreError> {
        for part in place.parts() {
            self.update.remove_part(place, part);
            self.apply_if_full()?;
        }
        self.update.remove_grave(place);
        Ok(())
    }

    /// Writes the rest, with up to where the records have come by it, and waits until all of it is on the disk.
    pub(super) fn finish(mut self, applied: u64, version: u64, body: u64) -> Result<(), StoreError> {
        (self.base.applied, self.base.version, self.base.body) = (applied, version, body);
        self.apply()?;
        self.records.sync()
    }

    fn put_body(&mut self, place: Place, body: &[u8]) -> Result<(), StoreError> {
        let is_large = body.len() > LARGE;
        if is_large {
            self.update.put_grave(place);
        }
        for (part, content) in Place::cut(body) {
            self.update.put_part(place, part, content);
            if is_large {
                self.apply_if_full()?;
            }
        }
        if is_large {
            self.update.remove_grave(place);
        }
        Ok(())
    }

    fn apply_if_full(&mut self) -> Result<(), StoreError> {
        if self.update.is_full() { self.apply() } else { Ok(()) }
    }

    fn apply(&mut self) -> Result<(), StoreError> {
        self.records.apply(std::mem::take(&mut self.update), &self.base)
    }
}
