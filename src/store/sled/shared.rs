use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::copies::Copies;
use super::folder::Folder;
use super::state::State;
use crate::store::{StoreError, lock};

/// What readers and both threads have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: RwLock<State>,
    pub(super) copies: Copies,
    pub(super) folder: Folder,
    /// Held by whoever needs the records to stay as they are.
    pub(super) checkpoint: Mutex<()>,
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
