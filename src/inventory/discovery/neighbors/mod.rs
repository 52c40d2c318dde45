//! The neighbors of a host's ports, resolved from its LLDP and CDP claims.

pub(super) mod follow;
mod upgrade;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use crate::discovery::ClaimRows;
use crate::discovery::reconcile::{Candidate, Identity, named_by, resolve, set_neighbors};
use crate::discovery::report::{CdpRow, LldpRow, TableKind};
use crate::inventory::discovery::known_host::DecodedHosts;
use crate::inventory::discovery::records::{HostDiscovery, claim_key, put_state, table_of};
use crate::inventory::history::Author;
use crate::inventory::hosts::{Before, HostChange, Summary};
use crate::inventory::schema::{decode, host_discovery_key, host_key};
use crate::inventory::transaction::{Attempt, conflict};
use crate::inventory::{Entity, Error, Inventory};
use crate::model::{Host, HostId, IfEntryId, LldpPortIdSubtype, Neighbor, NetworkId, OrganizationId};
use crate::store::{Batch, Guard, Key, Precondition, Record};

/// Maximum number of attempts under contention. They take no turns, because the caller may hold some.
const MAX_ATTEMPTS: usize = 64;

/// Maximum number of hosts with one of the identities of a chunk. If more hosts match, the identity is ignored.
const MAX_CANDIDATES: usize = 1_024;

/// A host whose neighbors are resolved, as stored.
struct Reporting {
    record: Record,
    state: Record,
    discovery: HostDiscovery,
    lldp: Vec<LldpRow>,
    cdp: Vec<CdpRow>,
}

impl Inventory {
    /// Sets the neighbors of a host's ports as its claims name them. Does nothing for a host without such claims.
    pub(super) async fn resolve_neighbors(
        &self,
        place: (OrganizationId, NetworkId),
        host: HostId,
        decoded: &mut DecodedHosts,
    ) -> Result<(), Error> {
        for _ in 0..MAX_ATTEMPTS {
            if self.try_resolve(place, host, decoded).await? {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
        Err(conflict(Entity::Host, host))
    }

    /// Returns `false` when a record has changed meanwhile.
    async fn try_resolve(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        id: HostId,
        decoded: &mut DecodedHosts,
    ) -> Result<bool, Error> {
        // Read before the candidates: a later change of a candidate resolves the host again.
        let Some(reporting) = self.read_reporting(id).await? else { return Ok(true) };
        let Reporting { mut record, state, mut discovery, lldp, cdp } = reporting;
        let host = decoded.get(self, organization, &record).await?;
        let size = record.body.len();
        record.body.clear();
        let named = named_by(&lldp, &cdp);
        let found = self.hosts_with((organization, network), &named, MAX_CANDIDATES).await?;
        let tables = self.own_tables(&lldp, &found).await?;
        let mut held = Vec::with_capacity(found.len());
        for record in found.values() {
            held.push(decoded.get(self, organization, record).await?);
        }
        let of_table = |host: &Host| tables.get(&host.id).map_or(&[][..], Vec::as_slice);
        let candidates: Vec<Candidate<'_>> =
            held.iter().map(|host| Candidate::new(host, of_table(host))).collect();
        let mut neighbors = resolve(&host, &lldp, &cdp, &candidates, &self.port_names);
        // Discovery does not know the other entries, which users have added.
        let own: HashSet<IfEntryId> =
            discovery.state.baseline.if_entries.iter().map(|entry| entry.id).collect();
        neighbors.retain(|entry, _| own.contains(entry));

        let named = neighbor_hosts(&neighbors, &candidates);
        let before = neighbors_of(&discovery.state.baseline);
        note_edited_neighbors(&host, &mut discovery);
        drop(held);
        // Not copied, because it may be large.
        let mut host = decoded.take(host);
        let now = self.now();
        let changes = set_neighbors(&mut host, &mut discovery.state, &neighbors, now);
        if changes.is_empty() && neighbors_of(&discovery.state.baseline) == before {
            decoded.keep(record.version, size, Arc::new(host));
            return Ok(true);
        }
        let mut batch = Batch::new();
        put_state(id, &discovery, Some(&state), &mut batch)?;
        drop(discovery);
        let leads: Vec<Uuid> = named.iter().chain([&id]).map(|host| host.uuid()).collect();
        for candidate in named {
            if let Some(record) = found.get(&candidate).filter(|record| record.key.id != id.uuid()) {
                batch.guard(Guard::record(record.key, Precondition::Version(record.version)));
            }
        }
        if changes.is_empty() {
            batch.guard(Guard::record(record.key, Precondition::Version(record.version)));
            return self.commit_if_unchanged(&Author::system(organization), batch).await;
        }
        host.updated_at = now;
        let encoder = self.host_encoder(organization).of_stored(size);
        let summary = Summary::from(&host);
        let puts = [encoder.encode_in(&self.state.offload, host).await?];
        let change = HostChange::putting(Author::following(organization, leads), &puts);
        let before = Before::from([(id, (record, summary))]);
        Ok(matches!(self.commit_hosts(&change, &before, batch).await?, Attempt::Committed))
    }

    /// Reads a host with its state and the claims that name neighbors.
    async fn read_reporting(&self, id: HostId) -> Result<Option<Reporting>, Error> {
        let kinds = [TableKind::Lldp, TableKind::Cdp].map(|kind| claim_key(id, kind));
        let keys = [host_key(id), host_discovery_key(id)];
        let mut records = self.store.get(&[keys, kinds].concat()).await?.into_iter();
        let (Some(Some(record)), Some(Some(state))) = (records.next(), records.next()) else {
            return Ok(None);
        };
        let (mut lldp, mut cdp, mut has_claims) = (Vec::new(), Vec::new(), false);
        for claim in records.flatten() {
            has_claims = true;
            match table_of(&claim)? {
                ClaimRows::Lldp(rows) => lldp = rows,
                ClaimRows::Cdp(rows) => cdp = rows,
                _ => {}
            }
        }
        if !has_claims {
            return Ok(None);
        }
        let mut state = state;
        let discovery = decode(&state)?;
        // Only its version is needed from now on.
        state.body.clear();
        Ok(Some(Reporting { record, state, discovery, lldp, cdp }))
    }

    /// Reads the LLDP tables of hosts if the rows name ports by locally assigned ids. Only these tables have such ids.
    async fn own_tables(
        &self,
        rows: &[LldpRow],
        hosts: &BTreeMap<HostId, Record>,
    ) -> Result<HashMap<HostId, Vec<LldpRow>>, Error> {
        let is_local = |row: &LldpRow| {
            row.port_id.as_ref().is_some_and(|id| id.subtype == LldpPortIdSubtype::LocallyAssigned)
        };
        let mut tables = HashMap::new();
        if !rows.iter().any(is_local) {
            return Ok(tables);
        }
        let ids: Vec<HostId> = hosts.keys().copied().collect();
        let keys: Vec<Key> = ids.iter().map(|id| claim_key(*id, TableKind::Lldp)).collect();
        for (id, record) in ids.into_iter().zip(self.store.get(&keys).await?) {
            if let Some(record) = record
                && let ClaimRows::Lldp(rows) = table_of(&record)?
            {
                tables.insert(id, rows);
            }
        }
        Ok(tables)
    }

    /// Resolves the neighbors of these hosts, and of all hosts whose claims name these identities.
    pub(super) async fn resolve_all(
        &self,
        place: (OrganizationId, NetworkId),
        identities: &BTreeSet<Identity>,
        mut hosts: BTreeSet<HostId>,
        decoded: &mut DecodedHosts,
    ) -> Result<(), Error> {
        let identities: Vec<Identity> = identities.iter().cloned().collect();
        hosts.extend(self.hosts_naming(place, &identities).await?);
        for host in hosts {
            // As for devices, other requests do not wait for all hosts.
            tokio::task::yield_now().await;
            self.resolve_neighbors(place, host, decoded).await?;
        }
        Ok(())
    }
}

/// Notes the neighbors that a user has set, so that they stay. They differ from the neighbors that discovery wrote
/// last.
fn note_edited_neighbors(host: &Host, discovery: &mut HostDiscovery) {
    let state = &mut discovery.state;
    let before: HashMap<IfEntryId, Option<Neighbor>> =
        state.baseline.if_entries.iter().map(|entry| (entry.id, entry.neighbor)).collect();
    for entry in &host.if_entries {
        if entry.neighbor.is_some()
            && before.get(&entry.id).is_some_and(|neighbor| *neighbor != entry.neighbor)
        {
            state.edited.insert(format!("if_entries.{}.neighbor", entry.id));
        }
    }
}

/// Returns the neighbor of each interface entry.
fn neighbors_of(host: &Host) -> Vec<Option<Neighbor>> {
    host.if_entries.iter().map(|entry| entry.neighbor).collect()
}

/// Returns the hosts that are neighbors or have a port that is one.
fn neighbor_hosts(
    neighbors: &BTreeMap<IfEntryId, Option<Neighbor>>,
    candidates: &[Candidate<'_>],
) -> BTreeSet<HostId> {
    let named: HashSet<Neighbor> = neighbors.values().flatten().copied().collect();
    let is_named = |host: &Host| {
        named.contains(&Neighbor::Host(host.id))
            || host.if_entries.iter().any(|entry| named.contains(&Neighbor::IfEntry(entry.id)))
    };
    candidates
        .iter()
        .map(|candidate| candidate.host)
        .filter(|host| is_named(host))
        .map(|host| host.id)
        .collect()
}
