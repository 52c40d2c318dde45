//! The records twice. sled writes over room that became free before what replaces it is safe from a loss of power, and it
//! has no second place for anything. So only one copy is changed at a time, and the other is whole on the disk by then. The
//! one that is changed is marked, so that it is not trusted unread when the change was cut off.

use std::collections::HashMap;
use std::error::Error;
use std::sync::OnceLock;

use bytes::Bytes;

use super::codec::{Head, Place};
use super::folder::Folder;
use super::journal::Change;
use super::records::{Base, Records, read_head};
use super::writer::Writer;
use crate::store::{Key, StoreError};

/// One of the two copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

/// The copy that is read, and the one for when that is damaged.
///
/// A checkpoint is put into the second first, so that the journal has all that the first lacks, and more than the second.
#[derive(Debug)]
pub(super) struct Copies {
    pub(super) first: Records,
    pub(super) second: Records,
    /// Set when the second copy was opened, or could not be.
    was_tried: OnceLock<()>,
}

impl Copies {
    /// The second copy waits for [`prepare_second`](Self::prepare_second): two that are opened at a time are changed at a time.
    pub(super) fn new(first: Records, folder: &Folder) -> Self {
        Self { first, second: Records::closed(&folder.second_records()), was_tried: OnceLock::new() }
    }

    pub(super) const fn of(&self, side: Side) -> &Records {
        match side {
            Side::First => &self.first,
            Side::Second => &self.second,
        }
    }

    /// The body of a record, which must be the very bytes that were written, from wherever it is whole. The second copy is
    /// waited for, if the folder was opened only just now.
    pub(super) fn body(&self, key: Key, place: Place) -> Result<Bytes, StoreError> {
        self.first.body(key, place).or_else(|error| {
            self.was_tried.wait();
            match self.second.body(key, place) {
                Ok(body) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "a record was read from the second copy: the store should be repaired"
                    );
                    Ok(body)
                }
                Err(_) => Err(error),
            }
        })
    }

    /// Returns when nothing holds the folder any more.
    pub(super) fn close(&self) -> Result<(), StoreError> {
        let first = self.first.close();
        self.second.close().and(first)
    }

    /// Opens the second copy, or makes it anew from the first if it is not one. `last` is the last sequence there ever was.
    pub(super) fn prepare_second(&self, folder: &Folder, last: u64) -> Result<(), StoreError> {
        let begun = self.first.sync().map(|()| folder.has_second().then(|| self.second.begin()));
        let _ = self.was_tried.set(());
        if let Some(begun) = begun? {
            match begun.and_then(|()| self.follow(last)) {
                Ok(()) => return Ok(()),
                Err(error) => tracing::warn!(
                    error = &error as &dyn Error,
                    "the second copy of the records is made anew from the first"
                ),
            }
        }
        self.make_second(folder)
    }

    /// Makes sure that the second copy is one of what the first holds, or is about to be.
    fn follow(&self, last: u64) -> Result<(), StoreError> {
        let (first, second) = (self.first.base()?, self.second.verified_base()?);
        let is_ahead = first.applied < second.applied && second.applied <= last;
        let was_in_change = self.second.is_in_change();
        if was_in_change {
            self.second.require_whole()?;
        }
        // What was cut off is about to be carried out again.
        let is_on_the_way = was_in_change && first.applied == second.applied;
        if is_ahead || is_on_the_way || first == second {
            return Ok(());
        }
        if was_in_change && second.applied < first.applied {
            return self.catch_up().inspect_err(|_| self.second.distrust());
        }
        Err(StoreError::corrupt("the second copy of the records is from another time than the first"))
    }

    /// Brings the second copy to where the first is, which has carried out the change to the end that was cut off.
    fn catch_up(&self) -> Result<(), StoreError> {
        let Self { first, second, .. } = self;
        second.begin_change()?;
        let mut writer = Writer::new(second, second.base_to_write()?, false);
        let mut unneeded: HashMap<u64, Place> =
            second.graves()?.into_iter().map(|grave| (grave.id, grave)).collect();
        let gone = self.gone()?;
        first.heads(|key, bytes| {
            let place = read_head(key, bytes)?.body;
            if second.head(key)?.is_none_or(|there| there != bytes) {
                let put = Change::Put { head: bytes.to_vec().into(), place, body: first.body(key, place)? };
                unneeded.extend(writer.write(key, &put)?.map(|left| (left.id, left)));
            }
            if unneeded.remove(&place.id).is_some() {
                writer.keep_body(place);
            }
            Ok(())
        })?;
        for key in gone {
            unneeded.extend(writer.write(key, &Change::Delete)?.map(|left| (left.id, left)));
        }
        unneeded.into_values().try_for_each(|place| writer.remove_body(place))?;
        let base = first.base()?;
        writer.finish(base.applied, base.version, base.body)?;
        base.require(second.base()?)?;
        second.end_change()
    }

    /// The records that only the second copy has.
    fn gone(&self) -> Result<Vec<Key>, StoreError> {
        let mut gone = Vec::new();
        self.second.heads(|key, _| {
            if self.first.head(key)?.is_none() {
                gone.push(key);
            }
            Ok(())
        })?;
        Ok(gone)
    }

    /// What was there takes its leave only when the new one is whole.
    fn make_second(&self, folder: &Folder) -> Result<(), StoreError> {
        folder.clear_new_second()?;
        let new = Records::open(&folder.new_second_records())?;
        let copied = self.copy_into(&new);
        new.close().and(copied)?;
        self.second.close()?;
        folder.put_second_in_place()?;
        self.second.begin()
    }

    fn copy_into(&self, new: &Records) -> Result<(), StoreError> {
        let base = self.first.base()?;
        let mut writer = Writer::new(new, Base { heads: 0, sum: 0, ..base }, false);
        self.first.heads(|key, bytes| {
            let Head { body: place, .. } = read_head(key, bytes)?;
            let body = self.body(key, place)?;
            writer.write(key, &Change::Put { head: bytes.to_vec().into(), place, body }).map(|_| ())
        })?;
        writer.finish(base.applied, base.version, base.body)
    }
}
