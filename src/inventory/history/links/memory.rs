//! The networks whose links are in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use uuid::Uuid;

use super::followers::FollowedKey;
use crate::inventory::history::log::position::Place;
use crate::model::HostId;
use crate::store::Version;
use crate::topology::links::Links;

/// The maximum numbers of networks in memory and of all their hosts, but for one network that has more alone.
const MAX_NETWORKS: usize = 64;
const MAX_HOSTS: usize = 50_000;

/// The maximum size of the hosts and claims from which the networks in memory were made, in bytes.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// The versions of a host and its claims from which links were computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownHost {
    pub(super) version: Version,
    /// The versions of the claims, by their ids.
    pub(super) claims: Vec<(Uuid, Version)>,
    /// The size of the host and its claims, in bytes.
    pub(super) bytes: usize,
}

/// The links of a network, with the versions of the records from which they follow.
#[derive(Debug)]
pub(super) struct FollowedNetwork {
    pub(super) hosts: BTreeMap<HostId, KnownHost>,
    pub(super) links: Links,
    /// The place of the last entry whose consequences are among the links.
    pub(super) reached: Option<Place>,
    /// The version of the network's record with which the recorded links were last these. `None`: they are to be compared.
    pub(super) recorded: Option<Version>,
    /// When the network's record was written, by the monotonic clock.
    pub(super) written_at: Duration,
}

impl FollowedNetwork {
    pub(super) fn empty(now: Duration) -> Self {
        Self {
            hosts: BTreeMap::new(),
            links: Links::default(),
            reached: None,
            recorded: None,
            written_at: now,
        }
    }

    fn bytes(&self) -> usize {
        self.hosts.values().map(|host| host.bytes).sum()
    }
}

/// The networks that were followed last.
#[derive(Debug, Default)]
pub(super) struct FollowedMemory(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    networks: HashMap<FollowedKey, Entry>,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    network: Box<FollowedNetwork>,
    hosts: usize,
    bytes: usize,
    last_use: u64,
}

impl FollowedMemory {
    pub(super) fn len(&self) -> u64 {
        self.remembered().networks.len() as u64
    }

    /// Takes a network out. If its turn is aborted, it is read anew.
    pub(super) fn take(&self, key: FollowedKey) -> Option<Box<FollowedNetwork>> {
        self.remembered().networks.remove(&key).map(|entry| entry.network)
    }

    /// Puts a network back, and evicts the networks that were used least recently.
    pub(super) fn put(&self, key: FollowedKey, network: Box<FollowedNetwork>) {
        let (hosts, bytes) = (network.hosts.len(), network.bytes());
        let mut remembered = self.remembered();
        remembered.uses += 1;
        let last_use = remembered.uses;
        let former = remembered.networks.insert(key, Entry { network, hosts, bytes, last_use });
        let evicted = remembered.shrink();
        drop(remembered);
        // The memory is freed outside of the lock.
        drop((former, evicted));
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remembered {
    /// Removes the networks that were used least recently, but never the last one.
    fn shrink(&mut self) -> Vec<Entry> {
        let mut evicted = Vec::new();
        loop {
            let hosts: usize = self.networks.values().map(|entry| entry.hosts).sum();
            let bytes: usize = self.networks.values().map(|entry| entry.bytes).sum();
            let is_small = self.networks.len() <= MAX_NETWORKS && hosts <= MAX_HOSTS && bytes <= MAX_BYTES;
            if is_small || self.networks.len() <= 1 {
                return evicted;
            }
            let oldest = self.networks.iter().min_by_key(|(_, entry)| entry.last_use).map(|(key, _)| *key);
            evicted.extend(oldest.and_then(|key| self.networks.remove(&key)));
        }
    }
}
