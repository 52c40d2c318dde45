//! Where records are once they are out of the journal: the one place that speaks with sled.
//!
//! sled is asked for little: keys and values in order, and batches that are there whole or not at all. It panics on most
//! damage, so every call is one that may. No call is made on an async thread.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;

use super::super::codec::{BodyRef, damaged};
use super::super::files::{self, sync_directory};
use super::database::{Database, catch_panic, damaged_file, unavailable};
use super::layout::{self as keys, Manifest};
use crate::store::{Key, StoreError};

/// The records in their folder.
#[derive(Debug)]
pub(in crate::store::sled) struct TreeCopy {
    pub(super) folder: PathBuf,
    database: RwLock<Option<Database>>,
    is_poisoned: AtomicBool,
}

impl TreeCopy {
    pub(in crate::store::sled) fn open(folder: &Path) -> Result<Self, StoreError> {
        let copy = Self::closed(folder);
        copy.ensure_open()?;
        Ok(copy)
    }

    /// Not to be read or written before [`begin`](Self::begin).
    pub(in crate::store::sled) fn closed(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), database: RwLock::new(None), is_poisoned: AtomicBool::new(false) }
    }

    /// Opens what is closed.
    pub(in crate::store::sled) fn ensure_open(&self) -> Result<(), StoreError> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        if database.is_none() {
            *database = Some(Database::open(&self.folder)?);
        }
        Ok(())
    }

    /// After writing has failed: what sled does not write once, it does not write any more, and what failed may be there in
    /// part.
    pub(in crate::store::sled) fn poison(&self) {
        self.is_poisoned.store(true, Ordering::Relaxed);
    }

    /// The manifest that writing goes on from.
    pub(in crate::store::sled) fn manifest_for_writing(&self) -> Result<Manifest, StoreError> {
        if !self.is_poisoned.load(Ordering::Relaxed) {
            return self.manifest();
        }
        self.reopen()?;
        let manifest = self.counted_manifest()?;
        self.is_poisoned.store(false, Ordering::Relaxed);
        Ok(manifest)
    }

    /// Readers wait meanwhile.
    fn reopen(&self) -> Result<(), StoreError> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        database.take().map_or(Ok(()), Database::close)?;
        // Also where the disk still fails: who only reads may have more luck.
        let rewritten = Database::rewrite_files(&self.folder);
        *database = Some(Database::open(&self.folder)?);
        rewritten
    }

    /// Returns when nothing of sled's holds the folder any more.
    pub(in crate::store::sled) fn close(&self) -> Result<(), StoreError> {
        match self.database.write().unwrap_or_else(PoisonError::into_inner).take() {
            Some(database) => database.close(),
            None => Ok(()),
        }
    }

    /// Up to where the records have come. The default where there are none yet.
    pub(in crate::store::sled) fn manifest(&self) -> Result<Manifest, StoreError> {
        self.with(|database| match database.get(keys::MANIFEST)? {
            None => Ok(Manifest::default()),
            Some(bytes) => Manifest::decode(&bytes)
                .ok_or_else(|| damaged_file("the record of what there is", &self.folder)),
        })
    }

    /// The bytes of a header, `None` where there is no such record.
    pub(in crate::store::sled) fn header(&self, key: Key) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|database| {
            let mut found: Option<Vec<u8>> = None;
            let prefix = keys::header_key(key);
            for part in 0.. {
                let Some(value) = database.get(&keys::part_key(&prefix, part))? else { break };
                found.get_or_insert_default().extend_from_slice(&value);
            }
            Ok(found)
        })
    }

    /// The body of a record, which must be the very bytes that were written.
    pub(in crate::store::sled) fn body(&self, key: Key, body_ref: BodyRef) -> Result<Bytes, StoreError> {
        self.with(|database| {
            let mut body = Vec::with_capacity(body_ref.length as usize);
            let prefix = keys::body_key(body_ref.id);
            for part in body_ref.parts() {
                match database.get(&keys::part_key(&prefix, part))? {
                    Some(value) => body.extend_from_slice(&value),
                    None => return Err(damaged(key)),
                }
            }
            let is_whole =
                body.len() == body_ref.length as usize && crc32fast::hash(&body) == body_ref.checksum;
            if is_whole { Ok(body.into()) } else { Err(damaged(key)) }
        })
    }

    /// Carries out an update wholly or not at all.
    pub(in crate::store::sled) fn apply(
        &self,
        batch: TreeBatch,
        manifest: &Manifest,
    ) -> Result<(), StoreError> {
        let (batch, keys) = batch.finish(manifest);
        self.with(|database| {
            database.apply(batch)?;
            database.rebalance(&keys)
        })
    }

    /// Returns when everything that was applied is on the disk.
    pub(in crate::store::sled) fn sync(&self) -> Result<(), StoreError> {
        self.with(|database| database.sync(&self.folder))
    }

    pub(super) fn with<T>(
        &self,
        call: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let database: RwLockReadGuard<'_, Option<Database>> =
            self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or_else(|| unavailable("are not open", &self.folder))?;
        catch_panic(&self.folder, || call(database))
    }
}

/// A file that is there while the records are changed. Of what sled writes, a loss of power can leave any part, and what is
/// left may open and lack a body: the records themselves do not tell.
const MARK: &str = "changing";

impl TreeCopy {
    /// Notes on the disk that the records are changed from now on.
    pub(in crate::store::sled) fn mark_dirty(&self) -> Result<(), StoreError> {
        self.update_mark(|mark| files::create_private(mark).map(|_| ()))
    }

    /// Notes that all of it is on the disk. Returns when the note is too: of two copies, only one is marked at any moment.
    pub(in crate::store::sled) fn mark_clean(&self) -> Result<(), StoreError> {
        self.update_mark(|mark| fs::remove_file(mark))
    }

    fn update_mark(&self, change: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), StoreError> {
        change(&self.mark())
            .and_then(|()| sync_directory(&self.folder))
            .map_err(|error| unavailable("cannot be written", &self.folder).with_source(error))
    }

    /// Whether the records were being changed when they were used last.
    pub(in crate::store::sled) fn is_dirty(&self) -> bool {
        self.mark().exists()
    }

    fn mark(&self) -> PathBuf {
        self.folder.join(MARK)
    }
}

/// When an update is full: sled gives back late what it needs for a large one.
const MAX_BYTES: usize = 64 << 10;
const MAX_OPERATIONS: usize = 128;

/// Changes of the records that are carried out together.
#[derive(Debug, Default)]
pub(in crate::store::sled) struct TreeBatch {
    batch: ::sled::Batch,
    keys: Vec<Vec<u8>>,
    size: usize,
}

impl TreeBatch {
    pub(in crate::store::sled) const fn is_full(&self) -> bool {
        self.size >= MAX_BYTES || self.keys.len() >= MAX_OPERATIONS
    }

    /// Puts a header in the place of the one before, which had this length.
    pub(in crate::store::sled) fn put_header(&mut self, key: Key, header: &[u8], before: usize) {
        let prefix = keys::header_key(key);
        let mut parts = 0;
        for (part, content) in keys::split(header) {
            self.insert(keys::part_key(&prefix, part), content);
            parts = part + 1;
        }
        self.remove_header_parts(&prefix, parts..keys::part_count(before));
    }

    pub(in crate::store::sled) fn remove_header(&mut self, key: Key, before: usize) {
        self.remove_header_parts(&keys::header_key(key), 0..keys::part_count(before));
    }

    pub(in crate::store::sled) fn put_body_part(&mut self, body_ref: BodyRef, part: u32, content: &[u8]) {
        self.insert(keys::part_key(&keys::body_key(body_ref.id), part), content);
    }

    pub(in crate::store::sled) fn remove_body_part(&mut self, body_ref: BodyRef, part: u32) {
        self.remove(keys::part_key(&keys::body_key(body_ref.id), part));
    }

    /// Notes that a body is to be removed later: somebody may still read it, or it is not written to its end.
    pub(in crate::store::sled) fn put_pending_delete(&mut self, body_ref: BodyRef) {
        self.insert(keys::pending_delete_key(body_ref.id), &body_ref.length.to_le_bytes());
    }

    pub(in crate::store::sled) fn remove_pending_delete(&mut self, body_ref: BodyRef) {
        self.remove(keys::pending_delete_key(body_ref.id));
    }

    /// With the keys that are changed.
    pub(in crate::store::sled) fn finish(mut self, manifest: &Manifest) -> (::sled::Batch, Vec<Vec<u8>>) {
        self.insert(keys::MANIFEST.to_vec(), &manifest.encode());
        (self.batch, self.keys)
    }

    fn remove_header_parts(&mut self, prefix: &[u8], parts: Range<u32>) {
        for part in parts {
            self.remove(keys::part_key(prefix, part));
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
