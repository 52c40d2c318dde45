//! The state that an instance keeps of the history.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::feed::watch::Watchers;
#[cfg(feature = "topology")]
use super::links::followers::Followers;
use super::mark::{CurrentMark, mark_key};
use super::recording::pending_events::PendingEvents;
#[cfg(feature = "topology")]
use super::recording::waiting_layouts::WaitingLayouts;
use crate::inventory::background::BackgroundTasks;
use crate::store::{StoreError, StoreErrorKind};

/// The state that an instance keeps of the history.
#[derive(Debug, Default)]
pub(in crate::inventory) struct KnownHistory {
    mark: Mutex<Option<CurrentMark>>,
    /// Callers that need the mark wait for this lock while another one reads it.
    pub(super) reading: tokio::sync::Mutex<Opening>,
    pub(super) watchers: Watchers,
    pub(super) pending_events: PendingEvents,
    #[cfg(feature = "topology")]
    pub(super) layouts: WaitingLayouts,
    #[cfg(feature = "topology")]
    pub(super) followers: Followers,
    /// The tasks of the inventory itself, which end with it.
    tasks: OnceLock<Weak<BackgroundTasks>>,
}

/// Whether this instance has opened the history.
#[derive(Debug, Default)]
pub(super) struct Opening {
    pub(super) is_done: bool,
}

impl KnownHistory {
    pub(super) fn known(&self) -> MutexGuard<'_, Option<CurrentMark>> {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the tasks of the inventory. The first ones that are noted are those that end with it.
    pub(in crate::inventory) fn note_tasks(&self, tasks: &Arc<BackgroundTasks>) {
        self.tasks.get_or_init(|| Arc::downgrade(tasks));
    }

    /// Returns the tasks that end with the inventory. Those of the inventory of a background task end with that task.
    pub(super) fn tasks(&self) -> Option<Arc<BackgroundTasks>> {
        self.tasks.get().and_then(Weak::upgrade)
    }

    /// Returns the number of networks whose links are in memory.
    pub(in crate::inventory) fn followed_networks(&self) -> u64 {
        #[cfg(feature = "topology")]
        let networks = self.followers.networks();
        #[cfg(not(feature = "topology"))]
        let networks = 0;
        networks
    }

    /// Forgets the mark, if a commit has failed because there is another one.
    pub(super) fn note_failure(&self, error: &StoreError) {
        if matches!(error.kind(), StoreErrorKind::Conflict(key) if *key == mark_key()) {
            *self.known() = None;
        }
    }
}
