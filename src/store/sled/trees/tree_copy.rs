//! One copy of the records, and the writer that applies changes to it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::{fs, io};

use bytes::Bytes;

use super::super::files::{self, sync_directory};
use super::database::{Database, catch_panic, damaged_file, unavailable};
use super::layout::{self as keys, Manifest};
use crate::store::log::body::BodyRef;
use crate::store::log::codec::{RecordChange, RecordHeader, damaged, decode_header};
use crate::store::{Key, StoreError};

/// One copy of all records: a sled database in its folder, open or closed.
#[derive(Debug)]
pub(crate) struct TreeCopy {
    pub(super) folder: PathBuf,
    database: RwLock<Option<Database>>,
    is_poisoned: AtomicBool,
}

impl TreeCopy {
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let copy = Self::closed(folder);
        copy.ensure_open()?;
        Ok(copy)
    }

    /// Returns a closed copy; [`ensure_open`](Self::ensure_open) opens it.
    pub(crate) fn closed(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), database: RwLock::new(None), is_poisoned: AtomicBool::new(false) }
    }

    /// Opens the copy if it is closed.
    pub(crate) fn ensure_open(&self) -> Result<(), StoreError> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        if database.is_none() {
            *database = Some(Database::open(&self.folder)?);
        }
        Ok(())
    }

    /// Marks the copy after a failed write; the next write reopens it.
    ///
    /// sled does not retry a write that failed once, and the failed batch may be present in part.
    pub(crate) fn poison(&self) {
        self.is_poisoned.store(true, Ordering::Relaxed);
    }

    /// Returns the manifest to continue writing from; reopens and recounts a poisoned copy.
    pub(crate) fn manifest_for_writing(&self) -> Result<Manifest, StoreError> {
        if !self.is_poisoned.load(Ordering::Relaxed) {
            return self.manifest();
        }
        self.reopen()?;
        let manifest = self.counted_manifest()?;
        self.is_poisoned.store(false, Ordering::Relaxed);
        Ok(manifest)
    }

    /// Closes the database, rewrites its files, and opens it again. Readers wait meanwhile.
    fn reopen(&self) -> Result<(), StoreError> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        database.take().map_or(Ok(()), Database::close)?;
        // The database is opened even if the disk still fails, because reads may succeed.
        let rewritten = Database::rewrite_files(&self.folder);
        *database = Some(Database::open(&self.folder)?);
        rewritten
    }

    /// Closes the copy; returns when sled has released the folder.
    pub(crate) fn close(&self) -> Result<(), StoreError> {
        match self.database.write().unwrap_or_else(PoisonError::into_inner).take() {
            Some(database) => database.close(),
            None => Ok(()),
        }
    }

    /// Returns the manifest, or the default if the copy is empty.
    pub(crate) fn manifest(&self) -> Result<Manifest, StoreError> {
        self.with(|database| match database.get(keys::MANIFEST)? {
            None => Ok(Manifest::default()),
            Some(bytes) => Manifest::decode(&bytes)
                .ok_or_else(|| damaged_file("the manifest of the records", &self.folder)),
        })
    }

    /// Returns the encoded header of a record, or `None` if there is no such record.
    pub(crate) fn header(&self, key: Key) -> Result<Option<Vec<u8>>, StoreError> {
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

    /// Returns the body of a record in its stored form. One that differs from what was written is `Corrupt`.
    pub(crate) fn stored_body(&self, key: Key, body_ref: BodyRef) -> Result<Bytes, StoreError> {
        self.with(|database| {
            let mut body = Vec::with_capacity(body_ref.length());
            let prefix = keys::body_key(body_ref.id);
            for part in body_ref.parts() {
                match database.get(&keys::part_key(&prefix, part))? {
                    Some(value) => body.extend_from_slice(&value),
                    None => return Err(damaged(key)),
                }
            }
            if body_ref.verify(&body) { Ok(body.into()) } else { Err(damaged(key)) }
        })
    }

    /// Applies a batch atomically, together with the manifest.
    pub(crate) fn apply(&self, batch: TreeBatch, manifest: &Manifest) -> Result<(), StoreError> {
        let (batch, keys) = batch.finish(manifest);
        self.with(|database| {
            database.apply(batch)?;
            database.rebalance(&keys)
        })
    }

    /// Returns when everything that was applied is on disk.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
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

/// Name of the file that exists while a copy is being changed.
///
/// A loss of power can preserve any part of what sled has written. The copy may then open and lack a body without any
/// other sign of it.
const CHANGING_FILE: &str = "changing";

impl TreeCopy {
    /// Records on disk that the copy is about to be changed.
    pub(crate) fn mark_dirty(&self) -> Result<(), StoreError> {
        self.update_mark(|mark| files::create_private(mark).map(|_| ()))
    }

    /// Records on disk that the change is complete and synced.
    ///
    /// Returns when that is synced too, so only one of the two copies is dirty at any moment.
    pub(crate) fn mark_clean(&self) -> Result<(), StoreError> {
        self.update_mark(|mark| fs::remove_file(mark))
    }

    fn update_mark(&self, change: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), StoreError> {
        change(&self.mark())
            .and_then(|()| sync_directory(&self.folder))
            .map_err(|error| unavailable("cannot be written", &self.folder).with_source(error))
    }

    /// Returns whether a change of the copy was started and not completed.
    pub(crate) fn is_dirty(&self) -> bool {
        self.mark().exists()
    }

    fn mark(&self) -> PathBuf {
        self.folder.join(CHANGING_FILE)
    }
}

/// Size at which a batch is full, in bytes. sled frees the memory of a large batch late.
const MAX_BYTES: usize = 64 << 10;
const MAX_OPERATIONS: usize = 128;

/// Number of bytes that are written before the writer waits for sled.
///
/// sled writes its segments, of half a megabyte, on seven threads that all databases of the process share. A segment
/// waits for a lock whose holder may wait for a truncation behind it in the same queue, so seven waiting segments
/// stop all of them for good. sled means to start more threads, and never does: its count of idle threads
/// underflows.
const MAX_UNWRITTEN: usize = 1 << 20;

/// Changes to a copy that are applied atomically.
#[derive(Debug, Default)]
pub(crate) struct TreeBatch {
    batch: ::sled::Batch,
    keys: Vec<Vec<u8>>,
    size: usize,
}

impl TreeBatch {
    pub(crate) const fn is_full(&self) -> bool {
        self.size >= MAX_BYTES || self.has_many_operations()
    }

    const fn has_many_operations(&self) -> bool {
        self.keys.len() >= MAX_OPERATIONS
    }

    /// Replaces a header; `before` is the encoded length of the old one, or 0.
    pub(crate) fn put_header(&mut self, key: Key, header: &[u8], before: usize) {
        let prefix = keys::header_key(key);
        let mut parts = 0;
        for (part, content) in keys::split(header) {
            self.insert(keys::part_key(&prefix, part), content);
            parts = part + 1;
        }
        self.remove_header_parts(&prefix, parts..keys::part_count(before));
    }

    pub(crate) fn remove_header(&mut self, key: Key, before: usize) {
        self.remove_header_parts(&keys::header_key(key), 0..keys::part_count(before));
    }

    pub(crate) fn put_body_part(&mut self, body_ref: BodyRef, part: u32, content: &[u8]) {
        self.insert(keys::part_key(&keys::body_key(body_ref.id), part), content);
    }

    pub(crate) fn remove_body_part(&mut self, body_ref: BodyRef, part: u32) {
        self.remove(keys::part_key(&keys::body_key(body_ref.id), part));
    }

    /// Notes that a body is to be deleted later. The body may still be read, or is not completely written.
    pub(crate) fn put_pending_delete(&mut self, body_ref: BodyRef) {
        self.insert(keys::pending_delete_key(body_ref.id), &body_ref.encoded_length());
    }

    pub(crate) fn remove_pending_delete(&mut self, body_ref: BodyRef) {
        self.remove(keys::pending_delete_key(body_ref.id));
    }

    /// Returns the batch, which includes the manifest, and the changed keys.
    pub(crate) fn finish(mut self, manifest: &Manifest) -> (::sled::Batch, Vec<Vec<u8>>) {
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

/// Maximum size of a body, in bytes, that shares a batch with its header. A larger body is written in batches before
/// the batch of its header, and deleted in later batches.
const MAX_BODY_IN_BATCH: usize = 32 << 10;

/// Applies record changes to one copy in small batches.
///
/// Small batches matter because readers wait for each, and sled frees the memory of a large one late. Every batch
/// leaves each record in its old or its new state, and the manifest consistent with the headers.
#[derive(Debug)]
pub(crate) struct TreeWriter<'r> {
    copy: &'r TreeCopy,
    manifest: Manifest,
    /// Whether a reader may still read a replaced body.
    has_readers: bool,
    batch: TreeBatch,
    /// Bytes applied since the writer last waited for sled.
    unwritten: usize,
}

impl<'r> TreeWriter<'r> {
    pub(crate) fn new(copy: &'r TreeCopy, manifest: Manifest, has_readers: bool) -> Self {
        Self { copy, manifest, has_readers, batch: TreeBatch::default(), unwritten: 0 }
    }

    /// Returns the manifest, including everything written so far.
    pub(crate) const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Writes a change, and returns the replaced body if it is to be deleted later.
    pub(crate) fn write(&mut self, key: Key, change: &RecordChange) -> Result<Option<BodyRef>, StoreError> {
        let before = self.copy.header(key)?;
        let replaced =
            before.as_ref().map(|bytes| decode_header(key, bytes)).transpose()?.map(|header| header.body);
        let is_written = |body_ref: &BodyRef| replaced.is_some_and(|old| old.id == body_ref.id);
        match change {
            // Already written by an attempt that failed later.
            RecordChange::Put { body_ref, .. } if is_written(body_ref) => return Ok(None),
            RecordChange::Put { header, body_ref, body } => {
                self.put_body(*body_ref, body)?;
                self.batch.put_header(key, header, before.as_ref().map_or(0, Vec::len));
                self.manifest.count_in(RecordHeader::checksum(header));
            }
            RecordChange::Delete => self.batch.remove_header(key, before.as_ref().map_or(0, Vec::len)),
        }
        if let Some(bytes) = &before {
            self.manifest.count_out(RecordHeader::checksum(bytes));
        }
        let left = replaced.and_then(|body_ref| self.remove_or_defer(body_ref));
        self.flush_if_full()?;
        Ok(left)
    }

    /// Writes a body before its header, to a copy that is not read before it is complete.
    ///
    /// The batches may be large, since no reader waits for them. In the order of the keys, sled then writes a page less often.
    pub(crate) fn write_body(&mut self, body_ref: BodyRef, stored: &[u8]) -> Result<(), StoreError> {
        self.put_body(body_ref, stored)?;
        if self.batch.has_many_operations() { self.flush() } else { Ok(()) }
    }

    /// Writes the header of a record that the copy does not have. Its body is written.
    pub(crate) fn write_header(&mut self, key: Key, header: &[u8]) -> Result<(), StoreError> {
        self.batch.put_header(key, header, 0);
        self.manifest.count_in(RecordHeader::checksum(header));
        self.flush_if_full()
    }

    /// Deletes a replaced body with its header, or notes it as pending and returns it.
    ///
    /// The note keeps an interruption from leaving an orphaned body.
    fn remove_or_defer(&mut self, body_ref: BodyRef) -> Option<BodyRef> {
        if self.has_readers || body_ref.length() > MAX_BODY_IN_BATCH {
            self.batch.put_pending_delete(body_ref);
            return Some(body_ref);
        }
        body_ref.parts().for_each(|part| self.batch.remove_body_part(body_ref, part));
        None
    }

    /// Removes the pending delete of a body, which stays.
    pub(crate) fn cancel_delete(&mut self, body_ref: BodyRef) {
        self.batch.remove_pending_delete(body_ref);
    }

    /// Deletes a body that no reader can still read.
    pub(crate) fn remove_body(&mut self, body_ref: BodyRef) -> Result<(), StoreError> {
        for part in body_ref.parts() {
            self.batch.remove_body_part(body_ref, part);
            self.flush_if_full()?;
        }
        self.batch.remove_pending_delete(body_ref);
        Ok(())
    }

    /// Writes the remaining changes, and syncs the copy. The manifest gets the LSN and the assigned numbers of
    /// `numbers`.
    pub(crate) fn finish(mut self, numbers: Manifest) -> Result<(), StoreError> {
        let Manifest { record_count, checksum_sum, .. } = self.manifest;
        self.manifest = Manifest { record_count, checksum_sum, ..numbers };
        self.flush()?;
        self.copy.sync()
    }

    fn put_body(&mut self, body_ref: BodyRef, body: &[u8]) -> Result<(), StoreError> {
        let is_large = body.len() > MAX_BODY_IN_BATCH;
        if is_large {
            self.batch.put_pending_delete(body_ref);
        }
        for (part, content) in keys::split(body) {
            self.batch.put_body_part(body_ref, part, content);
            if is_large {
                self.flush_if_full()?;
            }
        }
        if is_large {
            self.batch.remove_pending_delete(body_ref);
        }
        Ok(())
    }

    fn flush_if_full(&mut self) -> Result<(), StoreError> {
        if self.batch.is_full() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let batch = std::mem::take(&mut self.batch);
        self.unwritten += batch.size;
        self.copy.apply(batch, &self.manifest)?;
        if self.unwritten < MAX_UNWRITTEN {
            return Ok(());
        }
        self.unwritten = 0;
        self.copy.with(Database::flush)
    }
}
