use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Mutex, watch};

use super::folder::Folder;
use super::trees::{ScrubProgress, TreePair};
use crate::store::index::{Index, Packs, ReplacedRows, RowId};
use crate::store::lock::StateLock;
use crate::store::log::batch::AcceptedBatch;
use crate::store::log::body_cache::{BodyCache, BodyLocation};
use crate::store::{Key, Record, Version, Write};

/// The state that readers see: the index and the body cache.
///
/// It changes by whole commit groups, and only after the group is in the write-ahead log.
#[derive(Debug)]
pub(super) struct State {
    pub(super) index: Index,
    pub(super) bodies: BodyCache,
    epoch_guard: EpochGuard,
}

/// Keeps the bodies of one epoch readable. While a guard exists, no body that its holder can see is deleted from
/// disk.
pub(super) type EpochGuard = Arc<()>;

/// A record's position in the index, and its body or where to read it.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) row: RowId,
    pub(super) key: Key,
    pub(super) version: Version,
    pub(super) body: BodyLocation,
}

impl State {
    pub(super) fn new(index: Index, bodies: BodyCache) -> Self {
        Self { index, bodies, epoch_guard: EpochGuard::default() }
    }

    /// Returns the record of a row, or `None` if its body is not in memory.
    pub(super) fn record(&self, row: RowId) -> Option<Record> {
        let (key, version) = self.index.key(row)?;
        Some(Record { key, version, body: self.bodies.read(row)?.clone() })
    }

    /// Returns the location of a row's record, or `None` if there is no such row.
    pub(super) fn locate(&self, row: RowId) -> Option<Located> {
        let (key, version) = self.index.key(row)?;
        Some(Located { row, key, version, body: self.bodies.find(row)? })
    }

    /// Returns a guard of the current epoch.
    pub(super) fn epoch_guard(&self) -> EpochGuard {
        Arc::clone(&self.epoch_guard)
    }

    /// Starts a new epoch and returns the guard that all earlier readers share.
    pub(super) fn advance_epoch(&mut self) -> EpochGuard {
        std::mem::take(&mut self.epoch_guard)
    }

    /// Applies a batch, and appends the bodies that leave memory to `dropped`.
    ///
    /// The caller drops those, and the returned values, after it has released the lock.
    pub(super) fn apply(
        &mut self,
        accepted: &AcceptedBatch,
        writes: &[Write],
        packs: Packs,
        dropped: &mut Vec<Bytes>,
    ) -> ReplacedRows {
        let bodies = &mut self.bodies;
        accepted.apply(writes, packs, &mut self.index, |row, body| match body {
            None => dropped.extend(bodies.remove(row)),
            Some((body_ref, body)) => dropped.extend(bodies.pin(row, body_ref, body)),
        })
    }
}

/// The data that readers, scrubs and both background threads share.
///
/// The module documentation of [`sled`](super) gives the order in which its locks are taken.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: StateLock<State>,
    pub(super) trees: TreePair,
    pub(super) folder: Folder,
    /// Result of the last checkpoint, for tasks that wait for one without blocking the committer.
    pub(super) checkpoint_status: watch::Sender<CheckpointStatus>,
    /// Held by the scrub that runs; others wait for it.
    pub(super) scrub_turn: Mutex<()>,
    /// Held while the trees are changed or closed, and during each slice of a scrub.
    ///
    /// It is a tokio mutex because that is fair: a scrub that locks it again at once does not overtake a waiting
    /// checkpoint.
    pub(super) trees_lock: Mutex<ScrubProgress>,
}

/// Result of the last checkpoint.
#[derive(Debug, Default)]
pub(super) struct CheckpointStatus {
    /// LSN up to which all commits are in both copies.
    pub(super) applied_lsn: u64,
    /// Reason for the failure of the last checkpoint; `None`: it succeeded.
    pub(super) failure: Option<String>,
}
