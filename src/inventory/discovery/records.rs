//! The records that discovery stores beside a host: its state and its claims.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::claims::ClaimedTable;
#[cfg(feature = "topology")]
use crate::discovery::Claim;
use crate::discovery::ClaimRows;
use crate::discovery::reconcile::{HostState, named_by};
use crate::discovery::report::TableKind;
use crate::inventory::hosts::identity_value;
use crate::inventory::schema::{CLAIM, CLAIM_LINK, decode, discovered_hosts_key, encode, host_discovery_key};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::{HostId, NetworkId, OrganizationId, derived_id};
use crate::store::{
    Batch, Facets, Guard, Key, Link, Name, Precondition, Record, Term, TermFilter, TermRange,
};

/// The name of the terms of states with stale parts.
const STALE: Name = Name::new("stale");

/// The name of the terms that find claims by the identities that they name.
pub(super) const NAMES: Name = Name::new("names");

/// The name of the terms that find neighbor caches by the networks of their addresses.
pub(super) const CACHED: Name = Name::new("cached");

/// Maximum number of identities or networks that a claim is found by.
const MAX_NAMES: usize = 20_000;

/// The body of a [`HOST_DISCOVERY`](crate::inventory::schema::HOST_DISCOVERY) record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostDiscovery {
    pub(super) organization_id: OrganizationId,
    pub(super) network_id: NetworkId,
    /// The kinds of the host's claims.
    pub(super) claims: Vec<TableKind>,
    pub(super) state: HostState,
    /// The hosts that a user has split from this one. Discovery never merges them again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) separate: BTreeSet<HostId>,
}

/// The part of a [`HostDiscovery`] that names the claims.
#[derive(Debug, Deserialize)]
struct ClaimKinds {
    claims: Vec<TableKind>,
}

/// The body of a [`CLAIM`] record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClaimRecord {
    pub(super) organization_id: OrganizationId,
    pub(super) network_id: NetworkId,
    pub(super) host_id: HostId,
    pub(super) claimed: ClaimedTable,
}

/// The part of a [`ClaimRecord`] that names the host.
#[derive(Debug, Deserialize)]
pub(super) struct ClaimOwner {
    pub(super) host_id: HostId,
}

/// A host in its organization and network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NetworkHost {
    pub(super) organization: OrganizationId,
    pub(super) network: NetworkId,
    pub(super) host: HostId,
}

/// Returns the key of a host's claim of this kind.
pub(super) fn claim_key(host: HostId, kind: TableKind) -> Key {
    Key::new(CLAIM, derived_id("claim", &[host.as_bytes(), kind.as_str().as_bytes()]))
}

/// Returns the facets of states, so that stale ones are found.
fn state_facets(discovery: &HostDiscovery) -> Facets {
    let stale = discovery.state.stale().next().map(|_| Term::new(STALE, [1]));
    Facets::default()
        .with_organization(discovery.organization_id.uuid())
        .with_network(discovery.network_id.uuid())
        .with_terms(stale)
}

/// Returns the filter that finds states with stale parts.
pub(super) fn stale_filter() -> TermFilter {
    TermFilter::new(STALE, [TermRange::exact([1])])
}

/// A state or a claim as it is stored.
///
/// It takes less memory than its source.
#[derive(Debug)]
pub(super) struct EncodedRecord {
    key: Key,
    facets: Facets,
    body: Bytes,
}

impl EncodedRecord {
    /// Encodes the state of a host.
    pub(super) fn of_state(host: HostId, discovery: &HostDiscovery) -> Result<Self, Error> {
        let (key, facets) = (host_discovery_key(host), state_facets(discovery));
        Ok(Self { key, facets, body: encode(discovery)? })
    }

    /// Encodes a claim.
    pub(super) fn of_claim(place: NetworkHost, claimed: ClaimedTable) -> Result<Self, Error> {
        let NetworkHost { organization, network, host } = place;
        let key = claim_key(host, claimed.table.kind());
        let facets = Facets::default()
            .with_organization(organization.uuid())
            .with_network(network.uuid())
            .with_links([Link::new(CLAIM_LINK, host.uuid())])
            .with_terms(claim_terms(&claimed));
        let record =
            ClaimRecord { organization_id: organization, network_id: network, host_id: host, claimed };
        Ok(Self { key, facets, body: encode(&record)? })
    }

    /// Returns whether the record has the body that the digest was made from.
    pub(super) fn has_body_of(&self, digest: &BodyDigest) -> bool {
        digest.is_of(&self.body)
    }

    /// Adds the record to a batch.
    pub(super) fn put(self, precondition: Precondition, batch: &mut Batch) {
        batch.put(self.key, precondition, self.facets, self.body);
    }
}

/// A digest of the body of a record. It shows whether a record changes, without the body itself.
#[derive(Clone, Debug)]
pub(super) struct BodyDigest {
    length: usize,
    hash: u64,
    /// Keyed at random: with a fixed key, bodies with the same hash could be prepared.
    hasher: RandomState,
}

impl BodyDigest {
    pub(super) fn of(body: &[u8]) -> Self {
        let hasher = RandomState::new();
        Self { length: body.len(), hash: hasher.hash_one(body), hasher }
    }

    fn is_of(&self, body: &[u8]) -> bool {
        body.len() == self.length && self.hasher.hash_one(body) == self.hash
    }
}

/// Adds the state of a host to a batch. The batch must also write or guard the host.
pub(super) fn put_state(
    host: HostId,
    discovery: &HostDiscovery,
    replaced: Option<&Record>,
    batch: &mut Batch,
) -> Result<(), Error> {
    EncodedRecord::of_state(host, discovery)?.put(unchanged(replaced), batch);
    Ok(())
}

/// Returns the prefix of an address by which neighbor caches are found. It is a /24 of IPv4 or a /64 of IPv6.
///
/// A cache has few networks and many addresses.
pub(super) fn block_value(address: IpAddr) -> Vec<u8> {
    match address.to_canonical() {
        IpAddr::V4(address) => address.octets().into_iter().take(3).collect(),
        IpAddr::V6(address) => address.octets().into_iter().take(8).collect(),
    }
}

/// Returns the terms of a claim.
fn claim_terms(claimed: &ClaimedTable) -> Vec<Term> {
    let named = match &claimed.table {
        ClaimRows::Lldp(rows) => named_by(rows, &[]),
        ClaimRows::Cdp(rows) => named_by(&[], rows),
        ClaimRows::Arp(_) => {
            let blocks: BTreeSet<Vec<u8>> =
                claimed.arp_rows().map(|row| block_value(row.ip_address)).collect();
            return blocks.into_iter().take(MAX_NAMES).map(|block| Term::new(CACHED, block)).collect();
        }
        ClaimRows::IfEntries(_)
        | ClaimRows::Addresses(_)
        | ClaimRows::Fdb(_)
        | ClaimRows::Stp(_)
        | ClaimRows::Lag(_)
        | ClaimRows::Ports(_)
        | ClaimRows::Routes(_) => Vec::new(),
    };
    named.iter().take(MAX_NAMES).map(|identity| Term::new(NAMES, identity_value(identity))).collect()
}

/// Adds a claim to a batch. The batch must also write or guard the state of the host, which guards the present claim.
pub(super) fn put_claim(place: NetworkHost, claimed: ClaimedTable, batch: &mut Batch) -> Result<(), Error> {
    EncodedRecord::of_claim(place, claimed)?.put(Precondition::Any, batch);
    Ok(())
}

/// Adds the record of the discoveries of a network to a batch. Every discovery that creates or merges hosts writes it.
pub(super) fn put_discovered_hosts(
    (organization, network): (OrganizationId, NetworkId),
    replaced: Option<&Record>,
    batch: &mut Batch,
) {
    let facets = Facets::default().with_organization(organization.uuid()).with_network(network.uuid());
    batch.put(discovered_hosts_key(network), unchanged(replaced), facets, "{}");
}

impl Inventory {
    /// Adds the deletion of the states and claims of hosts to a batch. The batch also removes the hosts.
    pub(in crate::inventory) async fn forget_hosts(
        &self,
        hosts: &[HostId],
        batch: &mut Batch,
    ) -> Result<(), Error> {
        if hosts.is_empty() {
            return Ok(());
        }
        let written: BTreeSet<Key> = batch.writes().iter().map(|write| write.key()).collect();
        let keys: Vec<Key> = hosts.iter().map(|host| host_discovery_key(*host)).collect();
        for (key, record) in keys.iter().zip(self.store.get(&keys).await?) {
            let Some(record) = record else {
                batch.guard(Guard::record(*key, Precondition::Absent));
                continue;
            };
            let ClaimKinds { claims } = decode(&record)?;
            if !written.contains(key) {
                batch.delete(*key, unchanged(Some(&record)));
            }
            for claim in claims.into_iter().map(|kind| claim_key(key.id.into(), kind)) {
                if !written.contains(&claim) {
                    batch.delete(claim, Precondition::Any);
                }
            }
        }
        Ok(())
    }
}

/// Returns the table of a claim.
pub(super) fn table_of(record: &Record) -> Result<ClaimRows, Error> {
    Ok(decode::<ClaimRecord>(record)?.claimed.table)
}

/// Returns the host that reports a claim.
#[cfg(feature = "topology")]
pub(in crate::inventory) fn host_of_claim(record: &Record) -> Result<HostId, Error> {
    Ok(decode::<ClaimOwner>(record)?.host_id)
}

/// Returns a claim, without the parts of the host that the table describes.
#[cfg(feature = "topology")]
pub(in crate::inventory) fn claim_of(record: &Record) -> Result<Claim, Error> {
    let ClaimRecord { network_id, host_id, claimed, .. } = decode(record)?;
    let family = claimed.family();
    let ClaimedTable { observed_at, complete, reporter, table, missing, .. } = claimed;
    let parts = Vec::new();
    Ok(Claim { host_id, network_id, observed_at, complete, family, reporter, rows: table, parts, missing })
}
