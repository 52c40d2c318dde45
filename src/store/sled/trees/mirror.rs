//! The primary copy and its mirror.
//!
//! sled overwrites freed space before its replacement is safe from a loss of power, and stores everything only once.
//! Therefore only one copy is changed at a time, while the other is complete on disk. The copy being changed is
//! marked dirty, so that after an interruption it is verified before it is used.

use std::collections::HashMap;
use std::error::Error;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

use bytes::Bytes;

use super::super::folder::Folder;
use super::layout::{Manifest, ScanPosition, place_of_body};
use super::tree_copy::{TreeCopy, TreeWriter};
use crate::store::log::body::BodyRef;
use crate::store::log::codec::{RecordChange, RecordHeader, damaged, decode_header};
use crate::store::{Key, StoreError};

/// About the number of bodies whose references are in memory together while a copy is built, in tens of bytes each.
const BODIES_AT_ONCE: u64 = 1 << 20;

/// One of the two copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Primary,
    Mirror,
}

/// Both copies: reads use the primary, and the mirror where the primary is damaged.
///
/// A checkpoint changes the mirror first. So the write-ahead log has everything that the primary lacks, and more than
/// the mirror lacks.
#[derive(Debug)]
pub(crate) struct TreePair {
    pub(crate) primary: TreeCopy,
    pub(crate) mirror: TreeCopy,
    /// Set once the mirror is open, or could not be opened.
    mirror_tried: OnceLock<()>,
}

impl TreePair {
    /// Returns the pair with a closed mirror, which [`prepare_mirror`](Self::prepare_mirror) opens.
    ///
    /// Opening changes sled's files, and the two copies must not be changed at the same time.
    pub(crate) fn new(primary: TreeCopy, folder: &Folder) -> Self {
        Self { primary, mirror: TreeCopy::closed(&folder.mirror()), mirror_tried: OnceLock::new() }
    }

    pub(crate) const fn of(&self, side: Side) -> &TreeCopy {
        match side {
            Side::Primary => &self.primary,
            Side::Mirror => &self.mirror,
        }
    }

    /// Returns an intact body from either copy. Waits for the mirror if the folder was opened only just now.
    pub(crate) fn body(&self, key: Key, body_ref: BodyRef) -> Result<Bytes, StoreError> {
        body_ref.open(self.stored_body(key, body_ref)?).ok_or_else(|| damaged(key))
    }

    /// Returns an intact body in its stored form.
    fn stored_body(&self, key: Key, body_ref: BodyRef) -> Result<Bytes, StoreError> {
        self.primary.stored_body(key, body_ref).or_else(|error| {
            self.mirror_tried.wait();
            match self.mirror.stored_body(key, body_ref) {
                Ok(body) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "a damaged record was read from the mirror: verify and repair the store"
                    );
                    Ok(body)
                }
                Err(_) => Err(error),
            }
        })
    }

    /// Closes both copies; returns when sled has released their folders.
    pub(crate) fn close(&self) -> Result<(), StoreError> {
        let closed = self.primary.close();
        self.mirror.close().and(closed)
    }

    /// Opens the mirror, or rebuilds it from the primary if it does not match. `last_lsn` is the highest LSN ever
    /// written.
    pub(crate) fn prepare_mirror(&self, folder: &Folder, last_lsn: u64) -> Result<(), StoreError> {
        let opened = self.primary.sync().map(|()| folder.has_mirror().then(|| self.mirror.ensure_open()));
        let _ = self.mirror_tried.set(());
        if let Some(opened) = opened? {
            match opened.and_then(|()| self.check_mirror(last_lsn)) {
                Ok(()) => return Ok(()),
                Err(error) => tracing::warn!(
                    error = &error as &dyn Error,
                    "rebuilding the mirror from the primary copy"
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
        Err(StoreError::corrupt("the mirror does not match the primary copy"))
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
                    body: primary.stored_body(key, body_ref)?,
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
        writer.finish(manifest)?;
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
    pub(crate) fn rebuild_mirror(&self, folder: &Folder) -> Result<(), StoreError> {
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
        // sled takes little more than half as much space if all keys come in their order. The keys of bodies come before the keys of headers.
        let passes = manifest.record_count / BODIES_AT_ONCE + 1;
        let width = u64::MAX / passes;
        for pass in 0..passes {
            let first = pass * width;
            let last = if pass + 1 == passes { u64::MAX } else { first + (width - 1) };
            self.copy_bodies(first..=last, &mut writer)?;
        }
        self.primary.headers(|key, header| writer.write_header(key, header))?;
        writer.finish(manifest)
    }

    /// Copies the bodies whose keys are in a range, in their order.
    fn copy_bodies(
        &self,
        places: RangeInclusive<u64>,
        writer: &mut TreeWriter<'_>,
    ) -> Result<(), StoreError> {
        let mut bodies: Vec<(u64, Key, BodyRef)> = Vec::new();
        self.primary.headers(|key, header| {
            let RecordHeader { body, .. } = decode_header(key, header)?;
            let place = place_of_body(body.id);
            bodies.extend(places.contains(&place).then_some((place, key, body)));
            Ok(())
        })?;
        bodies.sort_unstable_by_key(|(place, ..)| *place);
        for (_, key, body_ref) in bodies {
            writer.write_body(body_ref, &self.stored_body(key, body_ref)?)?;
        }
        Ok(())
    }
}

/// The progress of a scrub through the headers of a copy. Checkpoints between the slices of the scrub keep it
/// current.
///
/// The lock around it is the lock for changing the trees: see the documentation of [`sled`](super::super). Its size
/// is constant, however many checkpoints run during a scrub. A dropped scrub leaves no state behind that matters,
/// because the next one starts with [`begin`](Self::begin).
#[derive(Debug, Default)]
pub(crate) struct ScrubProgress {
    /// The copy, and the position up to which its headers were read.
    passed: Option<(Side, ScanPosition)>,
    /// Number and checksum sum of the headers before that position.
    found: Manifest,
    /// Number of checkpoints that have failed since the store was opened.
    failures: u64,
    /// Whether the last checkpoint failed, so that the copies may differ.
    last_failed: bool,
    is_closed: bool,
}

impl ScrubProgress {
    /// Starts to count the headers of a copy.
    pub(crate) fn begin(&mut self, side: Side) {
        (self.passed, self.found) = (Some((side, ScanPosition::before_headers())), Manifest::default());
    }

    /// Returns the position up to which the headers were read.
    pub(crate) fn position(&self) -> ScanPosition {
        self.passed.as_ref().map_or_else(ScanPosition::before_headers, |(_, position)| position.clone())
    }

    /// Counts a header and moves past it.
    pub(crate) fn advance(&mut self, key: Key, checksum: u32) {
        self.found.count_in(checksum);
        if let Some((_, position)) = &mut self.passed {
            *position = ScanPosition::after_header(key);
        }
    }

    /// Moves past the last header and returns the count.
    pub(crate) fn finish(&mut self) -> Manifest {
        self.passed = None;
        self.found
    }

    /// Adjusts the count for a change by a checkpoint. `before` and `after` are the manifests before and after the
    /// change.
    pub(crate) fn record_change(&mut self, side: Side, key: Key, before: &Manifest, after: &Manifest) {
        if self.passed.as_ref().is_some_and(|(of, position)| *of == side && position.is_after(key)) {
            self.found.apply_delta(before, after);
        }
    }

    /// Records how a checkpoint ended.
    pub(crate) fn end_checkpoint(&mut self, last_failed: bool) {
        self.last_failed = last_failed;
        self.failures += u64::from(last_failed);
    }

    /// Records that both copies are closed.
    pub(crate) const fn mark_closed(&mut self) {
        self.is_closed = true;
    }

    /// Returns how many checkpoints have failed so far, for [`require_unchanged`](Self::require_unchanged).
    ///
    /// # Errors
    /// `Unavailable` when the last one failed or the copies are closed.
    pub(crate) fn require_applied(&self) -> Result<u64, StoreError> {
        let failures = if self.last_failed { Err(interrupted()) } else { Ok(self.failures) };
        failures.and_then(|failures| self.require_unchanged(failures).map(|()| failures))
    }

    /// Checks that both copies are open and that no further checkpoint has failed. `failures` is the number that
    /// [`require_applied`](Self::require_applied) returned.
    ///
    /// # Errors
    /// `Unavailable` otherwise.
    pub(crate) fn require_unchanged(&self, failures: u64) -> Result<(), StoreError> {
        if self.is_closed {
            return Err(closed_during_scrub());
        }
        if self.failures == failures { Ok(()) } else { Err(interrupted()) }
    }
}

/// Returns the error of a scrub that ends early because the store is closed.
pub(crate) fn closed_during_scrub() -> StoreError {
    StoreError::unavailable("the store was closed before the verification completed")
}

/// Returns the error of a scrub after a failed checkpoint. A failed checkpoint leaves a copy partly unchanged, which
/// cannot be distinguished from damage.
fn interrupted() -> StoreError {
    StoreError::unavailable("a checkpoint failed during the verification: run it again once commits succeed")
}
