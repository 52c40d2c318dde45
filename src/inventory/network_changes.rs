//! The records that a topology is made from, and which of them have changed.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::discovery::Claim;
use crate::fair_threads::yield_turn;
use crate::inventory::discovery::{claim_of, host_of_claim};
use crate::inventory::hosts::decode as decode_host;
use crate::inventory::schema::{CLAIM, HOST, SUBNET, TAG, TOPOLOGY_LAYOUT, TOPOLOGY_LINK, on_network};
use crate::inventory::{Error, Inventory};
use crate::model::{Host, HostId, NetworkId, OrganizationId, Subnet, Tag, TagId, TopologyLink};
use crate::store::{Name, Query, Record, Version};

/// The kinds of records that a topology depends on.
const KINDS: [Name; 6] = [HOST, CLAIM, SUBNET, TOPOLOGY_LINK, TOPOLOGY_LAYOUT, TAG];

/// The size, in bytes, from which hosts and claims are decoded in several pieces. A piece takes about 30 ms.
const BYTES_PER_PIECE: usize = 4 * 1024 * 1024;

/// The state on which the topologies of an organization depend. It consists of the records of each kind, and the rules
/// of port names and of roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TopologyRevision([u128; KINDS.len() + 2]);

impl TopologyRevision {
    /// Returns the numbers of the revision.
    pub(crate) const fn numbers(&self) -> &[u128] {
        &self.0
    }
}

/// The known state of the hosts and claims of a network.
///
/// Both lists are sorted, so that the records of now are compared with them in one pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownNetwork {
    hosts: Vec<(HostId, Version)>,
    claims: Vec<KnownClaim>,
}

#[derive(Clone, Copy, Debug)]
struct KnownClaim {
    id: Uuid,
    host: HostId,
    version: Version,
}

impl KnownNetwork {
    /// Returns the number of hosts.
    pub(crate) fn len(&self) -> usize {
        self.hosts.len()
    }
}

/// The changes in a network since a known state.
#[derive(Debug)]
pub(crate) struct NetworkChanges<T> {
    /// The state that is known with these changes.
    pub(crate) known: KnownNetwork,
    /// The number of bytes of all hosts and claims.
    pub(crate) bytes: usize,
    /// The digests of the hosts that are new or changed, or have changed claims.
    pub(crate) changed: Vec<T>,
    /// The hosts that no longer exist or have left the network.
    pub(crate) removed: Vec<HostId>,
    /// All subnets.
    pub(crate) subnets: Vec<Subnet>,
    /// All links that users have entered.
    pub(crate) links: Vec<TopologyLink>,
}

impl Inventory {
    /// Returns the state of the organization's topologies; `None` if the store does not support revisions.
    pub(crate) async fn topology_revision(
        &self,
        organization: OrganizationId,
    ) -> Result<Option<TopologyRevision>, Error> {
        let mut numbers = [0; KINDS.len() + 2];
        for (number, kind) in numbers.iter_mut().zip(KINDS) {
            let Some(revision) = self.store.revision(kind, organization.uuid()).await? else {
                return Ok(None);
            };
            *number = revision.number();
        }
        if let Some(rules) = numbers.last_chunk_mut() {
            *rules = [self.port_names.digest().unwrap_or_default(), self.service_roles.1];
        }
        Ok(Some(TopologyRevision(numbers)))
    }

    /// Returns the names of the organization's tags.
    pub(crate) async fn tag_names(
        &self,
        organization: OrganizationId,
    ) -> Result<BTreeMap<TagId, String>, Error> {
        let all = Query { organization: Some(organization.uuid()), ..Query::new(TAG) };
        let tags: Vec<Tag> = self.read_all(&all).await?;
        Ok(tags.into_iter().map(|tag| (tag.id, tag.name)).collect())
    }

    /// Reads the changes of a network whose access was checked.
    ///
    /// `digest` converts a host and its claims to the value that the caller keeps. Hosts are decoded one by one, so
    /// that few of them are in memory at a time.
    pub(crate) async fn changes_of_network<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        network: NetworkId,
        known: &KnownNetwork,
        digest: impl Fn(&Host, &[Claim]) -> T + Clone + Send + 'static,
    ) -> Result<NetworkChanges<T>, Error> {
        let hosts = self.store.list(&on_network(HOST, organization, network)).await?.records;
        let claims = self.store.list(&on_network(CLAIM, organization, network)).await?.records;
        let subnets = self.read_all(&on_network(SUBNET, organization, network)).await?;
        let links = self.read_all(&on_network(TOPOLOGY_LINK, organization, network)).await?;

        let bytes = hosts.iter().chain(&claims).map(|record| record.body.len()).sum();
        debug_assert!(
            [&hosts, &claims].iter().all(|records| records.is_sorted_by_key(|record| record.key.id))
        );
        let mut changed_hosts = BTreeSet::new();
        let (now_hosts, removed) = compare_hosts(&known.hosts, &hosts, &mut changed_hosts);
        let now_claims = compare_claims(&known.claims, &claims, &mut changed_hosts)?;
        let now = KnownNetwork { hosts: now_hosts, claims: now_claims };

        let mut read: BTreeMap<HostId, StoredHost> = BTreeMap::new();
        for record in hosts {
            let host = HostId::new(record.key.id);
            if changed_hosts.contains(&host) {
                read.insert(host, (record, Vec::new()));
            }
        }
        for (record, KnownClaim { host, .. }) in claims.into_iter().zip(&now.claims) {
            if let Some((_, claims)) = read.get_mut(host) {
                claims.push(record);
            }
        }
        let changed = digest_records(self, organization, read.into_values(), digest).await?;
        Ok(NetworkChanges { known: now, bytes, changed, removed, subnets, links })
    }
}

/// Notes the hosts that are new or changed. Returns all that there are now, and those that no longer are.
fn compare_hosts(
    known: &[(HostId, Version)],
    records: &[Record],
    changed: &mut BTreeSet<HostId>,
) -> (Vec<(HostId, Version)>, Vec<HostId>) {
    let mut before = known.iter().peekable();
    let (mut now, mut removed) = (Vec::with_capacity(records.len()), Vec::new());
    for record in records {
        let host = HostId::new(record.key.id);
        while let Some((former, _)) = before.next_if(|(former, _)| *former < host) {
            removed.push(*former);
        }
        let is_known = before.next_if(|(former, _)| *former == host);
        if is_known.is_none_or(|(_, version)| *version != record.version) {
            changed.insert(host);
        }
        now.push((host, record.version));
    }
    removed.extend(before.map(|(former, _)| *former));
    (now, removed)
}

/// Notes the hosts whose claims are new, changed or removed. Returns all claims that there are now, in the order of the records.
fn compare_claims(
    known: &[KnownClaim],
    records: &[Record],
    changed: &mut BTreeSet<HostId>,
) -> Result<Vec<KnownClaim>, Error> {
    let mut before = known.iter().peekable();
    let mut now = Vec::with_capacity(records.len());
    for record in records {
        let (id, version) = (record.key.id, record.version);
        while let Some(former) = before.next_if(|former| former.id < id) {
            changed.insert(former.host);
        }
        let former = before.next_if(|former| former.id == id);
        let host = former.map_or_else(|| host_of_claim(record), |former| Ok(former.host))?;
        if former.is_none_or(|former| former.version != version) {
            changed.insert(host);
        }
        now.push(KnownClaim { id, host, version });
    }
    changed.extend(before.map(|former| former.host));
    Ok(now)
}

/// A host and its claims, as stored.
pub(super) type StoredHost = (Record, Vec<Record>);

/// Digests stored hosts, piece by piece.
pub(super) async fn digest_records<T: Send + 'static>(
    inventory: &Inventory,
    organization: OrganizationId,
    hosts: impl ExactSizeIterator<Item = StoredHost>,
    digest: impl Fn(&Host, &[Claim]) -> T + Clone + Send + 'static,
) -> Result<Vec<T>, Error> {
    let mut digests = Vec::with_capacity(hosts.len());
    let mut hosts = hosts.peekable();
    while hosts.peek().is_some() {
        // Between the pieces, it is the turn of other organizations.
        let (piece, bytes) = next_piece(&mut hosts);
        let digest = digest.clone();
        let piece = inventory.state.offload.run(organization, bytes, move || digest_all(&piece, digest));
        digests.append(&mut piece.await??);
    }
    Ok(digests)
}

/// Takes hosts of about [`BYTES_PER_PIECE`] bytes in all. Returns them and their size.
fn next_piece(hosts: &mut impl Iterator<Item = StoredHost>) -> (Vec<StoredHost>, usize) {
    let (mut piece, mut bytes) = (Vec::new(), 0_usize);
    for (host, claims) in hosts {
        let all = std::iter::once(&host).chain(&claims);
        bytes = bytes.saturating_add(all.map(|record| record.body.len()).sum());
        piece.push((host, claims));
        if bytes >= BYTES_PER_PIECE {
            break;
        }
    }
    (piece, bytes)
}

fn digest_all<T>(hosts: &[StoredHost], digest: impl Fn(&Host, &[Claim]) -> T) -> Result<Vec<T>, Error> {
    let digest_one = |(host, claims): &StoredHost| -> Result<T, Error> {
        yield_turn();
        let claims: Vec<Claim> = claims.iter().map(claim_of).collect::<Result<_, _>>()?;
        Ok(digest(&decode_host(host)?, &claims))
    };
    hosts.iter().map(digest_one).collect()
}
