//! The records that a topology is made from, and which of them have changed.

mod known;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

pub(crate) use self::known::KnownNetwork;
use self::known::RecordDifferences;
use crate::discovery::Claim;
use crate::fair_threads::yield_turn;
use crate::inventory::discovery::{claim_of, host_of_claim};
use crate::inventory::hosts::decode as decode_host;
use crate::inventory::schema::{
    CLAIM, CLAIM_LINK, HOST, SUBNET, TAG, TOPOLOGY_LAYOUT, TOPOLOGY_LINK, on_network,
};
use crate::inventory::{Error, Inventory};
use crate::model::{Host, HostId, NetworkId, OrganizationId, Subnet, Tag, TagId, TopologyLink};
use crate::store::{LinkFilter, Name, Query, Record, Revision};

/// The kinds of records that a topology depends on.
const KINDS: [Name; 6] = [HOST, CLAIM, SUBNET, TOPOLOGY_LINK, TOPOLOGY_LAYOUT, TAG];

/// The size, in bytes, from which hosts and claims are decoded in several pieces. A piece takes about 30 ms.
const BYTES_PER_PIECE: usize = 4 * 1024 * 1024;

/// Number of changed records up to which only these are read. For more, all records are read and compared.
const MAX_NAMED: usize = 1_000;

/// Number of hosts whose claims are read at once. A host has about ten claims, at two steps each: for many more hosts, a store would
/// materialize the list, and keep it in place of others.
const HOSTS_PER_READ: usize = 100;

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
        mut known: KnownNetwork,
        digest: impl Fn(&Host, &[Claim]) -> T + Clone + Send + 'static,
    ) -> Result<NetworkChanges<T>, Error> {
        // Before the records: what changes meanwhile counts as changed the next time, too.
        let revisions = self.digested_revisions(organization).await?;
        let ChangedHosts { hosts, removed } = match self.named_changes(organization, &known).await? {
            Some(named) => self.read_named((organization, network), named, &mut known).await?,
            None => self.read_compared((organization, network), &mut known).await?,
        };
        known.revisions = revisions;
        let subnets = self.read_all(&on_network(SUBNET, organization, network)).await?;
        let links = self.read_all(&on_network(TOPOLOGY_LINK, organization, network)).await?;
        let changed = digest_records(self, organization, hosts.into_values(), digest).await?;
        Ok(NetworkChanges { bytes: known.bytes(), known, changed, removed, subnets, links })
    }

    async fn digested_revisions(&self, organization: OrganizationId) -> Result<Option<[Revision; 2]>, Error> {
        let hosts = self.store.revision(HOST, organization.uuid()).await?;
        let claims = self.store.revision(CLAIM, organization.uuid()).await?;
        Ok(hosts.zip(claims).map(|(hosts, claims)| [hosts, claims]))
    }

    /// Returns the ids of the hosts and of the claims that may have changed, if the store knows them and they are few.
    async fn named_changes(
        &self,
        organization: OrganizationId,
        known: &KnownNetwork,
    ) -> Result<Option<[Vec<Uuid>; 2]>, Error> {
        let Some([hosts, claims]) = known.revisions else { return Ok(None) };
        let organization = organization.uuid();
        let Some(hosts) = self.store.changed_since(HOST, organization, hosts).await? else { return Ok(None) };
        let Some(claims) = self.store.changed_since(CLAIM, organization, claims).await? else {
            return Ok(None);
        };
        Ok((hosts.len() + claims.len() <= MAX_NAMED).then_some([hosts, claims]))
    }

    /// Reads the hosts that have changed, or whose claims have, among all of the network.
    async fn read_compared(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        known: &mut KnownNetwork,
    ) -> Result<ChangedHosts, Error> {
        let hosts = self.store.list(&on_network(HOST, organization, network)).await?.records;
        let claims = self.store.list(&on_network(CLAIM, organization, network)).await?.records;
        let of_hosts = known.hosts.replace_all(&hosts, |_| Ok(()))?;
        let of_claims = known.claims.replace_all(&claims, host_of_claim)?;
        let ids = changed_hosts(&of_hosts, &of_claims);
        let hosts = hosts.into_iter().filter(|record| ids.contains(&HostId::new(record.key.id)));
        Ok(ChangedHosts::of(hosts, claims.into_iter().zip(known.claims.all_kept()), &of_hosts))
    }

    /// Reads the hosts that have changed, or whose claims have, among those that are named.
    async fn read_named(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        [mut hosts, claims]: [Vec<Uuid>; 2],
        known: &mut KnownNetwork,
    ) -> Result<ChangedHosts, Error> {
        let with_ids = |kind, ids| Query { ids: Some(ids), ..on_network(kind, organization, network) };
        let now = self.store.list(&with_ids(CLAIM, claims.clone())).await?.records;
        let of_claims = known.claims.replace(&claims, &now, host_of_claim)?;
        let owners = of_claims.changed.iter().chain(&of_claims.removed).map(|claim| claim.kept.uuid());
        hosts.extend(owners);
        hosts.sort_unstable();
        hosts.dedup();
        let now = self.store.list(&with_ids(HOST, hosts.clone())).await?.records;
        let of_hosts = known.hosts.replace(&hosts, &now, |_| Ok(()))?;
        let ids = changed_hosts(&of_hosts, &of_claims);
        let targets: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        let mut claims = Vec::new();
        for targets in targets.chunks(HOSTS_PER_READ) {
            let of_some = vec![LinkFilter::new(CLAIM_LINK, targets.to_vec())];
            let query = Query { links: of_some, ..on_network(CLAIM, organization, network) };
            claims.append(&mut self.store.list(&query).await?.records);
        }
        let now = now.into_iter().filter(|record| ids.contains(&HostId::new(record.key.id)));
        let claims = claims.into_iter().filter_map(|record| {
            let host = known.claims.kept(record.key.id)?;
            Some((record, host))
        });
        Ok(ChangedHosts::of(now, claims, &of_hosts))
    }
}

/// Returns the hosts that are new or changed, or whose claims are new, changed or removed.
fn changed_hosts(hosts: &RecordDifferences<()>, claims: &RecordDifferences<HostId>) -> BTreeSet<HostId> {
    let owners = claims.changed.iter().chain(&claims.removed).map(|claim| claim.kept);
    hosts.changed.iter().map(|host| HostId::new(host.id)).chain(owners).collect()
}

/// The hosts of a network that have changed, or whose claims have.
struct ChangedHosts {
    hosts: BTreeMap<HostId, StoredHost>,
    removed: Vec<HostId>,
}

impl ChangedHosts {
    /// Joins hosts with those of the claims that are theirs.
    fn of(
        hosts: impl Iterator<Item = Record>,
        claims: impl Iterator<Item = (Record, HostId)>,
        differences: &RecordDifferences<()>,
    ) -> Self {
        let mut joined: BTreeMap<HostId, StoredHost> =
            hosts.map(|record| (HostId::new(record.key.id), (record, Vec::new()))).collect();
        for (record, host) in claims {
            if let Some((_, claims)) = joined.get_mut(&host) {
                claims.push(record);
            }
        }
        let removed = differences.removed.iter().map(|host| HostId::new(host.id)).collect();
        Self { hosts: joined, removed }
    }
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
