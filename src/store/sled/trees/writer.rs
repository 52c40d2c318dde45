use super::super::codec::{BodyRef, RecordChange, RecordHeader, decode_header};
use super::layout::Manifest;
use super::tree_copy::{TreeBatch, TreeCopy};
use crate::store::{Key, StoreError};

/// Bodies larger than this, in bytes, are written in batches before that of their header, and deleted in later ones.
const LARGE_BODY: usize = 32 << 10;

/// Applies record changes to one copy in small batches.
///
/// Small batches matter because readers wait for each, and sled frees the memory of a large one late. Every batch
/// leaves each record in its old or its new state, and the manifest consistent with the headers.
#[derive(Debug)]
pub(in crate::store::sled) struct TreeWriter<'r> {
    copy: &'r TreeCopy,
    manifest: Manifest,
    /// Whether a reader may still read a replaced body.
    has_readers: bool,
    batch: TreeBatch,
}

impl<'r> TreeWriter<'r> {
    pub(in crate::store::sled) fn new(copy: &'r TreeCopy, manifest: Manifest, has_readers: bool) -> Self {
        Self { copy, manifest, has_readers, batch: TreeBatch::default() }
    }

    /// Returns the manifest, including everything written so far.
    pub(in crate::store::sled) const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Writes a change, and returns the replaced body if it is to be deleted later.
    pub(in crate::store::sled) fn write(
        &mut self,
        key: Key,
        change: &RecordChange,
    ) -> Result<Option<BodyRef>, StoreError> {
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

    /// Deletes a replaced body with its header, or notes it as pending and returns it.
    ///
    /// The note keeps an interruption from leaving an orphaned body.
    fn remove_or_defer(&mut self, body_ref: BodyRef) -> Option<BodyRef> {
        if self.has_readers || body_ref.length as usize > LARGE_BODY {
            self.batch.put_pending_delete(body_ref);
            return Some(body_ref);
        }
        body_ref.parts().for_each(|part| self.batch.remove_body_part(body_ref, part));
        None
    }

    /// Removes the pending delete of a body, which stays.
    pub(in crate::store::sled) fn cancel_delete(&mut self, body_ref: BodyRef) {
        self.batch.remove_pending_delete(body_ref);
    }

    /// Deletes a body that no reader can read any more.
    pub(in crate::store::sled) fn remove_body(&mut self, body_ref: BodyRef) -> Result<(), StoreError> {
        for part in body_ref.parts() {
            self.batch.remove_body_part(body_ref, part);
            self.flush_if_full()?;
        }
        self.batch.remove_pending_delete(body_ref);
        Ok(())
    }

    /// Writes the rest with the final manifest, and syncs the copy.
    pub(in crate::store::sled) fn finish(
        mut self,
        applied_lsn: u64,
        last_version: u64,
        last_body_id: u64,
    ) -> Result<(), StoreError> {
        (self.manifest.applied_lsn, self.manifest.last_version, self.manifest.last_body_id) =
            (applied_lsn, last_version, last_body_id);
        self.flush()?;
        self.copy.sync()
    }

    fn put_body(&mut self, body_ref: BodyRef, body: &[u8]) -> Result<(), StoreError> {
        let is_large = body.len() > LARGE_BODY;
        if is_large {
            self.batch.put_pending_delete(body_ref);
        }
        for (part, content) in BodyRef::split(body) {
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
        self.copy.apply(std::mem::take(&mut self.batch), &self.manifest)
    }
}
