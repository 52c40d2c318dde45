//! The stored records of a host, decoded. They are cached, because a report reads the same hosts repeatedly.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::claims::ClaimedTable;
use super::consolidate::absorb::{Replaced, absorb, absorb_state};
use super::records::{ClaimRecord, HostDiscovery, NetworkHost};
use crate::discovery::reconcile::{HostState, set_ages, take_edits};
use crate::discovery::report::TableKind;
use crate::inventory::hosts::decode as decode_host;
use crate::inventory::schema::decode;
use crate::inventory::{Error, Inventory, custom};
use crate::model::{Host, HostId, OrganizationId, Timestamp};
use crate::store::{Record, Version};

/// The stored records of a host.
#[derive(Debug)]
pub(super) struct HostRecords {
    pub(super) record: Record,
    /// The host, if this version of it has been decoded before.
    pub(super) host: Option<Arc<Host>>,
    pub(super) state: Option<Record>,
    pub(super) claims: Vec<Record>,
}

/// The claims of a host by their kinds.
pub(super) type Claims = BTreeMap<TableKind, ClaimedTable>;

/// A host with its discovery state and claims.
#[derive(Clone, Debug)]
pub(super) struct KnownHost {
    pub(super) host: Host,
    pub(super) discovery: Option<HostDiscovery>,
    pub(super) claims: Claims,
}

impl HostRecords {
    pub(super) fn open(&self) -> Result<KnownHost, Error> {
        let discovery = self.state.as_ref().map(decode).transpose()?;
        let host = match &self.host {
            Some(host) => Host::clone(host),
            None => decode_host(&self.record)?,
        };
        Ok(KnownHost { host, discovery, claims: claims_of(&self.claims)? })
    }

    /// Takes the claims out and decodes them.
    pub(super) fn take_claims(&mut self) -> Result<Claims, Error> {
        claims_of(&std::mem::take(&mut self.claims))
    }
}

/// Decodes claims.
fn claims_of(records: &[Record]) -> Result<Claims, Error> {
    let claimed = records.iter().map(|record| Ok(decode::<ClaimRecord>(record)?.claimed));
    claimed.map(|claimed| claimed.map(|claimed| (claimed.table.kind(), claimed))).collect()
}

impl KnownHost {
    /// Takes over the values that users have changed in another host.
    pub(super) fn take_edits(&mut self, other: &Self) {
        if let (Some(own), Some(known)) = (&mut self.discovery, &other.discovery) {
            take_edits(&mut self.host, &mut own.state, &other.host, &known.state);
        }
    }

    /// Takes over everything of another host.
    ///
    /// Returns the replacements of the parts that both have, and the names of the custom fields that are left out
    /// because all of them would exceed the limits.
    pub(super) fn absorb(
        &mut self,
        place: NetworkHost,
        mut other: Self,
        now: Timestamp,
    ) -> (Replaced, Vec<String>) {
        let is_known = self.discovery.is_some() || other.discovery.is_some();
        let mut discovery = self.discovery.take().unwrap_or_else(|| new_discovery(place, &self.host));
        let gone = other.host.id;
        let left_out = custom::join(&mut self.host.custom, std::mem::take(&mut other.host.custom));
        let replaced = absorb(&mut self.host, other.host, now);
        if let Some(mut state) = other.discovery {
            discovery.separate.append(&mut state.separate);
            for id in [gone, self.host.id] {
                discovery.separate.remove(&id);
            }
            absorb_state(&mut discovery, state, &replaced, now);
        }
        for (kind, claimed) in other.claims {
            let joined = match self.claims.remove(&kind) {
                Some(own) => own.joined(claimed),
                None => claimed,
            };
            self.claims.insert(kind, joined);
        }
        set_ages(&mut self.host, &mut discovery.state);
        discovery.claims = self.claims.keys().copied().collect();
        self.discovery = is_known.then_some(discovery);
        (replaced, left_out)
    }
}

/// Returns the initial state of a host that discovery has not described yet.
fn new_discovery(place: NetworkHost, host: &Host) -> HostDiscovery {
    HostDiscovery {
        organization_id: place.organization,
        network_id: place.network,
        claims: Vec::new(),
        state: HostState::of_host(host),
        separate: BTreeSet::new(),
    }
}

/// Maximum size of the documents that are kept decoded: 32 MiB.
const MAX_DECODED: usize = 32 * 1024 * 1024;

/// Size of a document beyond which it is not kept decoded: 4 MiB.
const MAX_DOCUMENT: usize = 4 * 1024 * 1024;

/// Hosts that were decoded, by id.
///
/// A report reads the same hosts repeatedly: to recognize a device, to merge it, and to find its neighbors.
#[derive(Debug, Default)]
pub(super) struct DecodedHosts {
    hosts: HashMap<HostId, Decoded>,
    /// The size of their documents.
    bytes: usize,
}

#[derive(Debug)]
struct Decoded {
    version: Version,
    bytes: usize,
    host: Arc<Host>,
}

impl DecodedHosts {
    /// Decodes a host, unless this version of it is known.
    pub(super) async fn get(
        &mut self,
        inventory: &Inventory,
        organization: OrganizationId,
        record: &Record,
    ) -> Result<Arc<Host>, Error> {
        if let Some(host) = self.known(record) {
            return Ok(host);
        }
        let host: Arc<Host> = Arc::new(inventory.decode_host(organization, record).await?);
        self.keep(record.version, record.body.len(), Arc::clone(&host));
        Ok(host)
    }

    /// Keeps a host whose document has a number of bytes, unless it is large.
    pub(super) fn keep(&mut self, version: Version, bytes: usize, host: Arc<Host>) {
        if bytes > MAX_DOCUMENT {
            return;
        }
        self.forget(host.id);
        if self.bytes + bytes > MAX_DECODED {
            self.hosts.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.hosts.insert(host.id, Decoded { version, bytes, host });
    }

    /// Removes a host that is about to change from the cache, and returns it.
    pub(super) fn take(&mut self, host: Arc<Host>) -> Host {
        self.forget(host.id);
        Arc::unwrap_or_clone(host)
    }

    fn forget(&mut self, id: HostId) {
        if let Some(forgotten) = self.hosts.remove(&id) {
            self.bytes -= forgotten.bytes;
        }
    }

    /// Returns a host if this version of it is kept.
    pub(super) fn known(&self, record: &Record) -> Option<Arc<Host>> {
        let known = self.hosts.get(&HostId::new(record.key.id))?;
        (known.version == record.version).then(|| Arc::clone(&known.host))
    }
}
