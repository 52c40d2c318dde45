//! Where records are once they are out of the journal: the one place that speaks with sled.
//!
//! sled is asked for little: keys and values in order, and batches that are there whole or not at all. It panics on most
//! damage, so every call is one that may. No call is made on an async thread.

mod ahead;
mod base;
mod change;
mod guard;
mod keys;
mod medium;
mod salvage;
mod scan;
mod update;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;

pub(super) use self::base::Base;
use self::guard::{guarded, unavailable};
use self::medium::Medium;
pub(super) use self::scan::{Cursor, Heads};
pub(super) use self::update::Update;
use super::codec::{Head, Place};
use crate::store::{Key, StoreError};

/// The records in their folder.
#[derive(Debug)]
pub(super) struct Records {
    folder: PathBuf,
    medium: RwLock<Option<Medium>>,
    is_distrusted: AtomicBool,
}

impl Records {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let records = Self::closed(folder);
        records.begin()?;
        Ok(records)
    }

    /// Not to be read or written before [`begin`](Self::begin).
    pub(super) fn closed(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), medium: RwLock::new(None), is_distrusted: AtomicBool::new(false) }
    }

    /// Opens what is closed.
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        let mut medium = self.medium.write().unwrap_or_else(PoisonError::into_inner);
        if medium.is_none() {
            *medium = Some(Medium::open(&self.folder)?);
        }
        Ok(())
    }

    /// After writing has failed: what sled does not write once, it does not write any more, and what failed may be there in
    /// part.
    pub(super) fn distrust(&self) {
        self.is_distrusted.store(true, Ordering::Relaxed);
    }

    /// The base that writing goes on from.
    pub(super) fn base_to_write(&self) -> Result<Base, StoreError> {
        if !self.is_distrusted.load(Ordering::Relaxed) {
            return self.base();
        }
        self.reopen()?;
        let base = self.counted_base()?;
        self.is_distrusted.store(false, Ordering::Relaxed);
        Ok(base)
    }

    /// Readers wait meanwhile.
    fn reopen(&self) -> Result<(), StoreError> {
        let mut medium = self.medium.write().unwrap_or_else(PoisonError::into_inner);
        medium.take().map_or(Ok(()), Medium::close)?;
        // Also where the disk still fails: who only reads may have more luck.
        let renewed = Medium::renew(&self.folder);
        *medium = Some(Medium::open(&self.folder)?);
        renewed
    }

    /// Returns when nothing of sled's holds the folder any more.
    pub(super) fn close(&self) -> Result<(), StoreError> {
        match self.medium.write().unwrap_or_else(PoisonError::into_inner).take() {
            Some(medium) => medium.close(),
            None => Ok(()),
        }
    }

    /// Up to where the records have come. The default where there are none yet.
    pub(super) fn base(&self) -> Result<Base, StoreError> {
        self.with(|medium| match medium.get(keys::BASE)? {
            None => Ok(Base::default()),
            Some(bytes) => Base::decode(&bytes)
                .ok_or_else(|| guard::damaged("the record of what there is", &self.folder)),
        })
    }

    /// The same, where every head is as it was written and none is missing.
    pub(super) fn verified_base(&self) -> Result<Base, StoreError> {
        self.base()?.require(self.counted_base()?)
    }

    /// The same, with the heads counted that are there.
    fn counted_base(&self) -> Result<Base, StoreError> {
        let mut base = Base { heads: 0, sum: 0, ..self.base()? };
        self.heads(|key, bytes| {
            read_head(key, bytes)?;
            base.add(Head::checksum(bytes));
            Ok(())
        })?;
        Ok(base)
    }

    /// The bytes of a head, `None` where there is no such record.
    pub(super) fn head(&self, key: Key) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|medium| {
            let mut found: Option<Vec<u8>> = None;
            let beginning = keys::head(key);
            for part in 0.. {
                let Some(value) = medium.get(&keys::part(&beginning, part))? else { break };
                found.get_or_insert_default().extend_from_slice(&value);
            }
            Ok(found)
        })
    }

    /// The body of a record, which must be the very bytes that were written.
    pub(super) fn body(&self, key: Key, place: Place) -> Result<Bytes, StoreError> {
        self.with(|medium| {
            let mut body = Vec::with_capacity(place.length as usize);
            let beginning = keys::body(place.id);
            for part in place.parts() {
                match medium.get(&keys::part(&beginning, part))? {
                    Some(value) => body.extend_from_slice(&value),
                    None => return Err(damaged(key)),
                }
            }
            let is_whole = body.len() == place.length as usize && crc32fast::hash(&body) == place.checksum;
            if is_whole { Ok(body.into()) } else { Err(damaged(key)) }
        })
    }

    /// Carries out an update wholly or not at all.
    pub(super) fn apply(&self, update: Update, base: &Base) -> Result<(), StoreError> {
        let (batch, keys) = update.finish(base);
        self.with(|medium| {
            medium.apply(batch)?;
            medium.settle(&keys)
        })
    }

    /// Returns when everything that was applied is on the disk.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.with(|medium| medium.sync(&self.folder))
    }

    fn with<T>(&self, call: impl FnOnce(&Medium) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let medium: RwLockReadGuard<'_, Option<Medium>> =
            self.medium.read().unwrap_or_else(PoisonError::into_inner);
        let medium = medium.as_ref().ok_or_else(|| unavailable("are not open", &self.folder))?;
        guarded(&self.folder, || call(medium))
    }
}

/// What is said of a record that is not as it was written.
pub(super) fn damaged(key: Key) -> StoreError {
    StoreError::corrupt(format!("{key} is damaged"))
}

/// Decodes a head, or names the record.
pub(super) fn read_head(key: Key, bytes: &[u8]) -> Result<Head, StoreError> {
    Head::decode(key, bytes).ok_or_else(|| damaged(key))
}
