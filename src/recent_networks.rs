//! The states of the networks that were used last, in memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{NetworkId, OrganizationId};

/// Maximum number of networks in memory.
const MAX_NETWORKS: usize = 64;

/// Maximum number of hosts of all networks in memory, unless one network alone has more.
const MAX_HOSTS: usize = 100_000;

/// Maximum size of the records that the networks in memory were made from, in bytes. One network alone may have more.
/// The data that is kept of the records is smaller.
const MAX_BYTES: usize = 512 * 1024 * 1024;

/// Upper bound of the memory that the state of a network takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StateSize {
    pub(crate) hosts: usize,
    /// The number of bytes of the records that it was made from.
    pub(crate) bytes: usize,
}

/// The state of a network. `None` while it was never read, or was dropped in the middle of a change.
pub(crate) type StateSlot<S> = Arc<tokio::sync::Mutex<Option<S>>>;

/// The states of the networks that were used last.
pub(crate) struct RecentNetworks<S>(Arc<Mutex<CachedStates<S>>>);

impl<S> Clone for RecentNetworks<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Default for RecentNetworks<S> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(CachedStates { by_network: HashMap::new(), uses: 0 })))
    }
}

impl<S> fmt::Debug for RecentNetworks<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RecentNetworks").finish_non_exhaustive()
    }
}

struct CachedStates<S> {
    by_network: HashMap<(OrganizationId, NetworkId), CachedState<S>>,
    /// Number of uses so far.
    uses: u64,
}

struct CachedState<S> {
    slot: StateSlot<S>,
    size: StateSize,
    last_use: u64,
}

impl<S> RecentNetworks<S> {
    /// Returns the slot of a network of an organization.
    pub(crate) fn slot(&self, organization: OrganizationId, network: NetworkId) -> StateSlot<S> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.uses += 1;
        let last_use = entries.uses;
        let new = || CachedState { slot: StateSlot::<S>::default(), size: StateSize::default(), last_use };
        let entry = entries.by_network.entry((organization, network)).or_insert_with(new);
        entry.last_use = last_use;
        let slot = Arc::clone(&entry.slot);
        let evicted = entries.shrink();
        drop(entries);
        // The memory is freed outside of the lock.
        drop(evicted);
        slot
    }

    /// Records the size of a network.
    pub(crate) fn note_size(&self, organization: OrganizationId, network: NetworkId, size: StateSize) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.by_network.get_mut(&(organization, network)) {
            entry.size = size;
        }
        let evicted = entries.shrink();
        drop(entries);
        drop(evicted);
    }
}

impl<S> CachedStates<S> {
    /// Removes the networks that were used least recently, but never the last one.
    fn shrink(&mut self) -> Vec<CachedState<S>> {
        let mut evicted = Vec::new();
        loop {
            let hosts: usize = self.by_network.values().map(|entry| entry.size.hosts).sum();
            let bytes: usize = self.by_network.values().map(|entry| entry.size.bytes).sum();
            let is_small = self.by_network.len() <= MAX_NETWORKS && hosts <= MAX_HOSTS && bytes <= MAX_BYTES;
            if is_small || self.by_network.len() <= 1 {
                return evicted;
            }
            let oldest = self.by_network.iter().min_by_key(|(_, entry)| entry.last_use);
            let Some(key) = oldest.map(|(key, _)| *key) else { return evicted };
            evicted.extend(self.by_network.remove(&key));
        }
    }
}
