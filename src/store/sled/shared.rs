use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::{Mutex, watch};

use super::checkpoint::Checkpointed;
use super::copies::Copies;
use super::folder::Folder;
use super::progress::Progress;
use super::state::State;
use crate::store::{StoreError, lock};

/// What readers, verifications and both threads share. The module's documentation says in which order the locks are taken.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: RwLock<State>,
    pub(super) copies: Copies,
    pub(super) folder: Folder,
    /// What came of the last checkpoint, for those who wait for one without holding up the writing thread.
    pub(super) checkpointed: watch::Sender<Checkpointed>,
    /// Held by the one verification that runs.
    pub(super) verifying: Mutex<()>,
    /// Held while the records are changed or closed, and for each slice of a verification. It is a lock of tokio's because
    /// that is taken in turn: a verification that locks it again at once does not overtake a checkpoint that waits.
    pub(super) records: Mutex<Progress>,
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
