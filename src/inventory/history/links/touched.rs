//! The changes of commits from which links follow.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::inventory::schema::{CLAIM, CLAIM_LINK, HOST, HOST_DISCOVERY, NETWORK, TOPOLOGY_LINK};
use crate::model::{HostId, NetworkId};
use crate::store::{Batch, Facets, Name, Write};

/// The number of hosts from which on all hosts of the network are looked at.
const MAX_HOSTS: usize = 2_000;

/// The changes on a network since its links were last computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::inventory::history) struct Touched {
    /// Hosts that were written, or whose claims were written.
    pub(super) hosts: BTreeSet<HostId>,
    /// Whether links that users enter were written.
    pub(super) manual: bool,
    /// Whether claims were written.
    pub(super) claims: bool,
    /// The notes of these changes of claims.
    pub(super) notes: BTreeSet<Uuid>,
    /// Whether anything may have changed.
    pub(super) all: bool,
    /// Whether it is not known that anything has changed: the store was opened.
    pub(super) opening: bool,
}

impl Touched {
    pub(super) fn everything() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Returns the changes of a turn that repeats one of these changes: all, since the first may have lost some.
    pub(super) fn repeated(&self) -> Self {
        Self { opening: self.opening, ..Self::everything() }
    }

    pub(super) fn at_opening() -> Self {
        Self { opening: true, ..Self::default() }
    }

    /// Returns whether nothing is known to have changed.
    pub(super) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && !self.manual && !self.all
    }

    /// Adds further changes.
    pub(super) fn add(&mut self, other: Self) {
        self.hosts.extend(other.hosts);
        self.manual |= other.manual;
        self.claims |= other.claims;
        self.notes.extend(other.notes);
        self.all |= other.all;
        self.opening |= other.opening;
        self.bound();
    }

    fn bound(&mut self) {
        if self.hosts.len() > MAX_HOSTS || self.notes.len() > MAX_HOSTS {
            self.hosts.clear();
            self.all = true;
        }
        if self.all {
            // A turn that compares all links finds all notes.
            self.notes.clear();
        }
    }

    fn add_record(&mut self, kind: Name, id: Uuid, facets: Option<&Facets>) {
        match kind {
            HOST | HOST_DISCOVERY => drop(self.hosts.insert(HostId::new(id))),
            CLAIM => {
                let links = facets.into_iter().flat_map(|facets| &facets.links);
                let owners = links.filter(|link| link.relation == CLAIM_LINK);
                self.hosts.extend(owners.map(|link| HostId::new(link.target)));
                self.claims = true;
            }
            TOPOLOGY_LINK => self.manual = true,
            _ => self.all = true,
        }
        self.bound();
    }
}

/// The changes of a commit, by network.
#[derive(Clone, Debug, Default)]
pub(in crate::inventory::history) struct TouchedNetworks {
    pub(super) networks: BTreeMap<NetworkId, Touched>,
    /// The deleted records. Only the entries of the commit name their networks.
    deleted: Touched,
}

impl TouchedNetworks {
    /// Returns the changes of a batch, without the networks of deleted records.
    pub(super) fn of(batch: &Batch) -> Self {
        let mut touched = Self::default();
        for write in batch.writes() {
            let key = write.key();
            if ![HOST, HOST_DISCOVERY, CLAIM, TOPOLOGY_LINK, NETWORK].contains(&key.kind) {
                continue;
            }
            match write {
                // A network that is new or renamed has the links that it had.
                Write::Put { .. } if key.kind == NETWORK => {}
                Write::Put { facets, .. } => {
                    let Some(network) = facets.network else { continue };
                    let network = touched.networks.entry(network.into()).or_default();
                    network.add_record(key.kind, key.id, Some(facets));
                }
                Write::Delete { .. } => touched.deleted.add_record(key.kind, key.id, None),
            }
        }
        touched
    }

    /// Adds the deleted records to all networks on which the commit has changed something.
    pub(in crate::inventory::history) fn complete(&mut self, networks: impl Iterator<Item = NetworkId>) {
        let mut written = Touched::default();
        self.networks.values().cloned().for_each(|touched| written.add(touched));
        // They are about their own networks.
        written.notes.clear();
        for network in networks {
            // A host may have left one network for another one.
            if self.deleted.is_empty() && (written.is_empty() || self.networks.contains_key(&network)) {
                continue;
            }
            let touched = self.networks.entry(network).or_default();
            touched.add(self.deleted.clone());
            touched.add(written.clone());
        }
    }
}
