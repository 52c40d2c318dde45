use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::state::NetworkState;
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
pub(super) struct StateSize {
    pub(super) hosts: usize,
    /// The number of bytes of the hosts and claims.
    pub(super) bytes: usize,
}

/// The state of a network. `None` while it was never read, or was dropped in the middle of a change.
pub(super) type StateSlot = Arc<tokio::sync::Mutex<Option<NetworkState>>>;

/// The networks that were used last.
#[derive(Clone, Default)]
pub(super) struct Cache(Arc<Mutex<CachedStates>>);

#[derive(Default)]
struct CachedStates {
    by_network: HashMap<(OrganizationId, NetworkId), CachedState>,
    /// Number of uses so far.
    uses: u64,
}

struct CachedState {
    slot: StateSlot,
    size: StateSize,
    last_use: u64,
}

impl Cache {
    /// Returns the slot of a network of an organization.
    pub(super) fn slot(&self, organization: OrganizationId, network: NetworkId) -> StateSlot {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.uses += 1;
        let last_use = entries.uses;
        let new = || CachedState { slot: StateSlot::default(), size: StateSize::default(), last_use };
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
    pub(super) fn note_size(&self, organization: OrganizationId, network: NetworkId, size: StateSize) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.by_network.get_mut(&(organization, network)) {
            entry.size = size;
        }
        let evicted = entries.shrink();
        drop(entries);
        drop(evicted);
    }
}

impl CachedStates {
    /// Removes the networks that were used least recently, but never the last one.
    fn shrink(&mut self) -> Vec<CachedState> {
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
