use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;
use tokio::sync::{Mutex, watch};

use super::body_cache::{BodyCache, BodyLocation};
use super::codec::{BodyRef, RecordChange};
use super::folder::Folder;
use super::trees::{ScrubProgress, TreePair};
use super::wal::AcceptedBatch;
use crate::store::index::{Index, Packs, RowId};
use crate::store::{Facets, Key, Precondition, Record, StoreError, Version, Write, lock};

/// What readers see: the index and the bodies in memory. Only what is in the journal gets here, one group after the other.
#[derive(Debug)]
pub(super) struct State {
    pub(super) index: Index,
    pub(super) bodies: BodyCache,
    epoch_guard: EpochGuard,
}

/// Whoever holds one may read any body of the state that it was taken from: none of them is removed from the records.
pub(super) type EpochGuard = Arc<()>;

/// A record whose body may have to be read from the records.
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

    /// A record whose body is in memory.
    pub(super) fn record(&self, row: RowId) -> Option<Record> {
        let (key, version) = self.index.key(row)?;
        Some(Record { key, version, body: self.bodies.read(row)?.clone() })
    }

    pub(super) fn locate(&self, row: RowId) -> Option<Located> {
        let (key, version) = self.index.key(row)?;
        Some(Located { row, key, version, body: self.bodies.find(row)? })
    }

    pub(super) fn epoch_guard(&self) -> EpochGuard {
        Arc::clone(&self.epoch_guard)
    }

    /// Begins a new epoch_guard and gives back the one that all readers so far hold.
    pub(super) fn advance_epoch(&mut self) -> EpochGuard {
        std::mem::take(&mut self.epoch_guard)
    }

    /// Carries out a batch. What is dropped of memory is given back, for the caller to drop where nobody waits.
    pub(super) fn apply(&mut self, accepted: &AcceptedBatch, facets: Vec<Facets>, dropped: &mut Vec<Bytes>) {
        let mut facets = facets.into_iter();
        let mut body_refs: Vec<BodyRef> = Vec::new();
        let writes = accepted.changes.iter().map(|(key, change)| match change {
            RecordChange::Delete => Write::Delete { key: *key, precondition: Precondition::Any },
            RecordChange::Put { body_ref, body, .. } => {
                body_refs.push(*body_ref);
                let facets = facets.next().unwrap_or_default();
                Write::Put { key: *key, precondition: Precondition::Any, facets, body: body.clone() }
            }
        });
        let writes: Vec<Write> = writes.collect();
        // The index tells of every put, in the order of the writes.
        let mut body_refs = body_refs.into_iter();
        let bodies = &mut self.bodies;
        self.index.apply(accepted.version, &writes, Packs::default(), |row, body| match body {
            None => dropped.extend(bodies.remove(row)),
            Some(body) => {
                dropped.extend(body_refs.next().and_then(|body_ref| bodies.pin(row, body_ref, body)))
            }
        });
    }
}

/// What readers, verifications and both threads share. The module's documentation says in which order the locks are taken.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: RwLock<State>,
    pub(super) trees: TreePair,
    pub(super) folder: Folder,
    /// What came of the last checkpoint, for those who wait for one without holding up the writing thread.
    pub(super) checkpoint_status: watch::Sender<CheckpointStatus>,
    /// Held by the one verification that runs.
    pub(super) scrub_turn: Mutex<()>,
    /// Held while the records are changed or closed, and for each slice of a verification. It is a lock of tokio's because
    /// that is taken in turn: a verification that locks it again at once does not overtake a checkpoint that waits.
    pub(super) trees_lock: Mutex<ScrubProgress>,
}

impl Shared {
    pub(super) fn read_state(&self) -> Result<RwLockReadGuard<'_, State>, StoreError> {
        lock::read(&self.state).map_err(|_| poisoned())
    }

    pub(super) fn write_state(&self) -> Result<RwLockWriteGuard<'_, State>, StoreError> {
        self.state.write().map_err(|_| poisoned())
    }
}

/// A write that panicked may have been shown in part. What is on the disk is whole.
fn poisoned() -> StoreError {
    StoreError::corrupt("a write was broken off by a panic: the store must be opened anew")
}

/// What came of the last checkpoint.
#[derive(Debug, Default)]
pub(super) struct CheckpointStatus {
    /// The lsn up to which everything is in the records.
    pub(super) applied_lsn: u64,
    /// Why the last checkpoint failed; `None` if it did not.
    pub(super) failure: Option<String>,
}

pub(super) fn closed() -> StoreError {
    StoreError::unavailable("the store is closed")
}
