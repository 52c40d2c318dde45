//! The primary copy and its mirror.
//!
//! sled overwrites freed space before its replacement is safe from a loss of power, and stores everything only once.
//! Therefore only one copy is changed at a time, while the other is complete on disk. The copy being changed is
//! marked dirty, so that after an interruption it is verified before it is used.

use std::collections::HashMap;
use std::error::Error;
use std::sync::OnceLock;

use bytes::Bytes;

use super::super::codec::{BodyRef, RecordChange, RecordHeader, decode_header};
use super::super::folder::Folder;
use super::layout::Manifest;
use super::tree_copy::TreeCopy;
use super::writer::TreeWriter;
use crate::store::{Key, StoreError};

/// One of the two copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store::sled) enum Side {
    Primary,
    Mirror,
}

/// Both copies: reads use the primary, and the mirror where the primary is damaged.
///
/// A checkpoint changes the mirror first. So the write-ahead log has everything that the primary lacks, and more than
/// the mirror lacks.
#[derive(Debug)]
pub(in crate::store::sled) struct TreePair {
    pub(in crate::store::sled) primary: TreeCopy,
    pub(in crate::store::sled) mirror: TreeCopy,
    /// Set once the mirror is open, or could not be opened.
    mirror_tried: OnceLock<()>,
}

impl TreePair {
    /// Returns the pair with a closed mirror, which [`prepare_mirror`](Self::prepare_mirror) opens.
    ///
    /// Opening changes sled's files, and the two copies must not be changed at the same time.
    pub(in crate::store::sled) fn new(primary: TreeCopy, folder: &Folder) -> Self {
        Self { primary, mirror: TreeCopy::closed(&folder.mirror()), mirror_tried: OnceLock::new() }
    }

    pub(in crate::store::sled) const fn of(&self, side: Side) -> &TreeCopy {
        match side {
            Side::Primary => &self.primary,
            Side::Mirror => &self.mirror,
        }
    }

    /// Returns an intact body from either copy. Waits for the mirror if the folder was opened only just now.
    pub(in crate::store::sled) fn body(&self, key: Key, body_ref: BodyRef) -> Result<Bytes, StoreError> {
        self.primary.body(key, body_ref).or_else(|error| {
            self.mirror_tried.wait();
            match self.mirror.body(key, body_ref) {
                Ok(body) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "a damaged record was read from the second copy: verify and repair the store"
                    );
                    Ok(body)
                }
                Err(_) => Err(error),
            }
        })
    }

    /// Closes both copies; returns when sled has released their folders.
    pub(in crate::store::sled) fn close(&self) -> Result<(), StoreError> {
        let closed = self.primary.close();
        self.mirror.close().and(closed)
    }

    /// Opens the mirror, or rebuilds it from the primary if it does not match. `last_lsn` is the highest LSN ever
    /// written.
    pub(in crate::store::sled) fn prepare_mirror(
        &self,
        folder: &Folder,
        last_lsn: u64,
    ) -> Result<(), StoreError> {
        let opened = self.primary.sync().map(|()| folder.has_mirror().then(|| self.mirror.ensure_open()));
        let _ = self.mirror_tried.set(());
        if let Some(opened) = opened? {
            match opened.and_then(|()| self.check_mirror(last_lsn)) {
                Ok(()) => return Ok(()),
                Err(error) => tracing::warn!(
                    error = &error as &dyn Error,
                    "rebuilding the second copy of the records from the first"
                ),
            }
        }
        self.rebuild_mirror(folder)
    }

    /// Checks that the mirror matches the primary, or will once the write-ahead log is applied.
    fn check_mirror(&self, last_lsn: u64) -> Result<(), StoreError> {
        let (primary, mirror) = (self.primary.manifest()?, self.mirror.verified_manifest()?);
        let mirror_is_ahead = primary.applied_lsn < mirror.applied_lsn && mirror.applied_lsn <= last_lsn;
        let was_dirty = self.mirror.is_dirty();
        if was_dirty {
            self.mirror.check_all_records()?;
        }
        // The interrupted change is about to be applied again.
        let is_resumable = was_dirty && primary.applied_lsn == mirror.applied_lsn;
        if mirror_is_ahead || is_resumable || primary == mirror {
            return Ok(());
        }
        if was_dirty && mirror.applied_lsn < primary.applied_lsn {
            return self.catch_up().inspect_err(|_| self.mirror.poison());
        }
        Err(StoreError::corrupt("the second copy of the records does not match the first"))
    }

    /// Brings an interrupted mirror up to the primary, which has completed the same change.
    fn catch_up(&self) -> Result<(), StoreError> {
        let Self { primary, mirror, .. } = self;
        mirror.mark_dirty()?;
        let mut writer = TreeWriter::new(mirror, mirror.manifest_for_writing()?, false);
        let mut removable: HashMap<u64, BodyRef> =
            mirror.pending_deletes()?.into_iter().map(|pending| (pending.id, pending)).collect();
        let extra_in_mirror = self.extra_in_mirror()?;
        primary.headers(|key, bytes| {
            let body_ref = decode_header(key, bytes)?.body;
            if mirror.header(key)?.is_none_or(|existing| existing != bytes) {
                let put = RecordChange::Put {
                    header: bytes.to_vec().into(),
                    body_ref,
                    body: primary.body(key, body_ref)?,
                };
                removable.extend(writer.write(key, &put)?.map(|replaced| (replaced.id, replaced)));
            }
            if removable.remove(&body_ref.id).is_some() {
                writer.cancel_delete(body_ref);
            }
            Ok(())
        })?;
        for key in extra_in_mirror {
            removable
                .extend(writer.write(key, &RecordChange::Delete)?.map(|replaced| (replaced.id, replaced)));
        }
        removable.into_values().try_for_each(|body_ref| writer.remove_body(body_ref))?;
        let manifest = primary.manifest()?;
        writer.finish(manifest.applied_lsn, manifest.last_version, manifest.last_body_id)?;
        manifest.check(mirror.manifest()?)?;
        mirror.mark_clean()
    }

    /// Returns the records that only the mirror has.
    fn extra_in_mirror(&self) -> Result<Vec<Key>, StoreError> {
        let mut extra_in_mirror = Vec::new();
        self.mirror.headers(|key, _| {
            if self.primary.header(key)?.is_none() {
                extra_in_mirror.push(key);
            }
            Ok(())
        })?;
        Ok(extra_in_mirror)
    }

    /// Builds a new mirror from the primary. The old one is removed only when the new one is complete.
    fn rebuild_mirror(&self, folder: &Folder) -> Result<(), StoreError> {
        folder.clear_new_mirror()?;
        let copy = TreeCopy::open(&folder.new_mirror())?;
        let copied = self.copy_into(&copy);
        copy.close().and(copied)?;
        self.mirror.close()?;
        folder.install_mirror()?;
        self.mirror.ensure_open()
    }

    fn copy_into(&self, copy: &TreeCopy) -> Result<(), StoreError> {
        let manifest = self.primary.manifest()?;
        let mut writer =
            TreeWriter::new(copy, Manifest { record_count: 0, checksum_sum: 0, ..manifest }, false);
        self.primary.headers(|key, bytes| {
            let RecordHeader { body: body_ref, .. } = decode_header(key, bytes)?;
            let body = self.body(key, body_ref)?;
            writer
                .write(key, &RecordChange::Put { header: bytes.to_vec().into(), body_ref, body })
                .map(|_| ())
        })?;
        writer.finish(manifest.applied_lsn, manifest.last_version, manifest.last_body_id)
    }
}
