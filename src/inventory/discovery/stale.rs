//! Hosts and parts that reports no longer show: marking the hosts as stale, and deleting the parts.

use std::collections::{BTreeSet, HashSet};

use uuid::Uuid;

use super::Reconciler;
use super::known_host::KnownHost;
use super::records::{put_state, stale_filter};
use crate::access::Caller;
use crate::inventory::discovery::Reconciliation;
use crate::inventory::history::Author;
use crate::inventory::hosts::{
    Before, FIRST_HOSTS, HostChange, MAX_HOSTS, Summary, becoming_stale, decode as decode_host, first_bytes,
};
use crate::inventory::policy::Actor;
use crate::inventory::schema::{
    HOST, HOST_DISCOVERY, SERVICE_VIRTUALIZED_BY_LINK, VIRTUALIZED_BY_LINK, host_key, on_network,
};
use crate::inventory::transaction::Attempt;
use crate::inventory::{Entity, Error, Inventory, require_level};
use crate::model::{
    BindingTarget, Host, HostId, HostPart, NetworkId, OrganizationId, Permission, ServiceId, Timestamp,
    for_each_part_type,
};
use crate::store::{Batch, LinkFilter, Query, Record, Start};
use crate::wire::StaleDeletion;

/// Number of hosts that are read at a time.
const HOSTS_PER_PAGE: usize = 32;

impl StaleDeletion {
    const fn parts(&self) -> u64 {
        self.interfaces + self.ports + self.services + self.if_entries
    }

    const fn add(&mut self, other: &Self) {
        self.hosts += other.hosts;
        self.interfaces += other.interfaces;
        self.ports += other.ports;
        self.services += other.services;
        self.if_entries += other.if_entries;
    }
}

impl Reconciliation<'_> {
    /// Deletes the stale parts of the hosts of a network, on behalf of a caller.
    ///
    /// The caller must be a Member or above who can access the network.
    ///
    /// A part is stale once three complete tables in a row lack it. Parts in use stay: ports and interfaces that a
    /// service is bound to, and services that virtualize a host or a service. A deleted part that is reported again
    /// appears again. Each host is one commit.
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such network, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the network.
    pub async fn delete_stale(self, caller: &Caller, network: NetworkId) -> Result<StaleDeletion, Error> {
        require_level(caller, Permission::Member)?;
        let organization = caller.organization_id();
        self.inventory.check_discovered_network(organization, network).await?;
        if !caller.scope().allows(network) {
            return Err(super::network_denied(network));
        }
        let mut deleted = StaleDeletion::default();
        let mut query = Query {
            terms: vec![stale_filter()],
            limit: Some(HOSTS_PER_PAGE),
            ..on_network(HOST_DISCOVERY, organization, network)
        };
        let of_request = self.inventory.for_request();
        let inventory = of_request.as_ref().unwrap_or(self.inventory);
        loop {
            let page = inventory.store.list(&query).await?;
            for state in &page.records {
                deleted.add(&inventory.delete_stale_of(caller, state.key.id.into()).await?);
            }
            let Some(next) = page.next else { return Ok(deleted) };
            query.start = Start::After(next);
        }
    }
}

impl Inventory {
    async fn delete_stale_of(&self, caller: &Caller, id: HostId) -> Result<StaleDeletion, Error> {
        let organization = caller.organization_id();
        let mut transaction = self.reviewed_transaction(caller, Entity::Host, id);
        loop {
            let Some(stored) = self.read_stored(id, &BTreeSet::new()).await? else {
                return Ok(StaleDeletion::default());
            };
            if !transaction.enter(BTreeSet::from([host_key(id)])).await? {
                continue;
            }
            let bytes = stored.record.body.len();
            let open = move || stored.open().map(|opened| (stored, opened));
            let (stored, mut opened) = self.state.offload.run(organization, bytes, open).await??;
            let summary = Summary::from(&opened.host);
            let needed = self.virtualizing(organization, &opened.host).await?;
            let deleted = opened.delete_stale(&needed);
            let Some(discovery) = opened.discovery.filter(|_| deleted.parts() > 0) else {
                return Ok(StaleDeletion::default());
            };
            let mut batch = Batch::new();
            put_state(id, &discovery, stored.state.as_ref(), &mut batch)?;
            let host = Host { updated_at: self.now(), ..opened.host };
            let encoder = self.host_encoder(organization).of_stored(bytes);
            let puts = [encoder.encode_in(&self.state.offload, host).await?];
            let before = Before::from([(id, (stored.record, summary))]);
            transaction.review_hosts(Actor::Caller(caller), (&puts, &[]), &before).await?;
            let change = HostChange::putting(caller, &puts);
            if matches!(self.commit_hosts(&change, &before, batch).await?, Attempt::Committed) {
                self.follow_host_change(&change, &before).await;
                return Ok(deleted);
            }
            transaction.retry().await?;
        }
    }

    /// Returns the services of a host that virtualize a host or a service.
    async fn virtualizing(
        &self,
        organization: OrganizationId,
        host: &Host,
    ) -> Result<HashSet<ServiceId>, Error> {
        let mut virtualizing = HashSet::new();
        for service in host.services.iter().map(|service| service.id) {
            for relation in [VIRTUALIZED_BY_LINK, SERVICE_VIRTUALIZED_BY_LINK] {
                let links = vec![LinkFilter::new(relation, [service.uuid()])];
                let guests = Query { organization: Some(organization.uuid()), links, ..Query::new(HOST) };
                if self.count(guests).await? > 0 {
                    virtualizing.insert(service);
                }
            }
        }
        Ok(virtualizing)
    }
}

impl KnownHost {
    /// Deletes the stale parts of the host, except services that are needed.
    fn delete_stale(&mut self, needed: &HashSet<ServiceId>) -> StaleDeletion {
        let Some(discovery) = &mut self.discovery else { return StaleDeletion::default() };
        let stale: HashSet<Uuid> = discovery.state.stale().collect();
        let (host, mut gone) = (&mut self.host, HashSet::new());
        let is_gone = |id: Uuid, gone: &mut HashSet<Uuid>, is_needed: bool| {
            let is_gone = stale.contains(&id) && !is_needed;
            if is_gone {
                gone.insert(id);
            }
            is_gone
        };
        let services =
            retain(&mut host.services, |part| is_gone(part.id.uuid(), &mut gone, needed.contains(&part.id)));
        let bound = bound_parts(host);
        let ports = retain(&mut host.ports, |part| {
            is_gone(part.id.uuid(), &mut gone, bound.contains(&part.id.uuid()))
        });
        let interfaces = retain(&mut host.interfaces, |part| {
            is_gone(part.id.uuid(), &mut gone, bound.contains(&part.id.uuid()))
        });
        let if_entries = retain(&mut host.if_entries, |part| is_gone(part.id.uuid(), &mut gone, false));
        forget(host, &gone);
        let baseline = &mut discovery.state.baseline;
        for_each_part_type!(P => P::list_mut(baseline).retain(|part| !gone.contains(&part.id.uuid())));
        forget(baseline, &gone);
        discovery.state.seen.retain(|id, _| !gone.contains(id));
        StaleDeletion { hosts: u64::from(!gone.is_empty()), interfaces, ports, services, if_entries }
    }
}

/// Removes the parts that `is_gone` selects, and returns their number.
fn retain<P>(parts: &mut Vec<P>, mut is_gone: impl FnMut(&P) -> bool) -> u64 {
    let before = parts.len();
    parts.retain(|part| !is_gone(part));
    (before - parts.len()) as u64
}

/// Returns the ports and interfaces that services are bound to or credentials are assigned to.
fn bound_parts(host: &Host) -> HashSet<Uuid> {
    let mut bound: HashSet<Uuid> = host
        .credential_assignments
        .iter()
        .flat_map(|by| by.interface_ids.iter().flatten())
        .map(|id| id.uuid())
        .collect();
    for binding in host.services.iter().flat_map(|service| &service.bindings) {
        match binding.target {
            BindingTarget::Port { port_id, interface_id } => {
                bound.insert(port_id.uuid());
                bound.extend(interface_id.map(Uuid::from));
            }
            BindingTarget::Interface { interface_id } => drop(bound.insert(interface_id.uuid())),
        }
    }
    bound
}

/// Clears the references of interface entries to removed parts.
fn forget(host: &mut Host, gone: &HashSet<Uuid>) {
    for entry in &mut host.if_entries {
        entry.interface_id = entry.interface_id.filter(|id| !gone.contains(&id.uuid()));
        entry.lag_id = entry.lag_id.filter(|id| !gone.contains(&id.uuid()));
    }
}

/// The time without a report of a host after which the host is stale: seven days, in microseconds.
const STALE_AFTER_MICROS: i64 = 7 * 24 * 3_600_000_000;

/// Maximum number of hosts that one report marks as stale. Later reports mark the others.
const MAX_MARKED: usize = 1_024;

impl Reconciler {
    /// Marks hosts of the network as stale that no report has shown in the seven days before this one.
    pub(super) async fn mark_stale_hosts(&self) -> Result<(), Error> {
        let limit = self.observed_at.plus_micros(-STALE_AFTER_MICROS).start_of_hour();
        self.inventory.mark_stale_hosts((self.organization, self.network), limit).await
    }
}

impl Inventory {
    async fn mark_stale_hosts(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        limit: Timestamp,
    ) -> Result<(), Error> {
        let mut query = Query {
            terms: vec![becoming_stale(limit)],
            limit: Some(FIRST_HOSTS),
            ..on_network(HOST, organization, network)
        };
        let mut marked = 0;
        while marked < MAX_MARKED {
            let mut transaction = self.transaction(Author::system(organization), Entity::Network, network);
            let count = loop {
                let records = first_bytes(self.store.list(&query).await?.records);
                if records.is_empty() {
                    return Ok(());
                }
                let count = records.len();
                if transaction.enter(records.iter().map(|record| record.key).collect()).await? {
                    if self.try_mark_stale(organization, records).await? {
                        break count;
                    }
                    transaction.retry().await?;
                }
            };
            // Marked hosts are no longer found, so that the next page is the first again.
            marked += count;
            query.limit = Some((2 * count).min(MAX_HOSTS));
        }
        Ok(())
    }

    /// Returns `false` when a host has changed meanwhile.
    async fn try_mark_stale(
        &self,
        organization: OrganizationId,
        records: Vec<Record>,
    ) -> Result<bool, Error> {
        let encoder = self.host_encoder(organization);
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let mark = move || {
            let (mut before, mut puts) = (Before::new(), Vec::with_capacity(records.len()));
            for record in records {
                let host: Host = decode_host(&record)?;
                let encoder = encoder.of_stored(record.body.len());
                before.insert(host.id, (record, Summary::from(&host)));
                puts.push(encoder.encode(Host { is_stale: true, ..host })?);
            }
            Ok::<_, Error>((before, puts))
        };
        let (before, puts) = self.state.offload.run(organization, bytes, mark).await??;
        let change = HostChange::putting(Author::system(organization), &puts);
        Ok(matches!(self.commit_hosts(&change, &before, Batch::new()).await?, Attempt::Committed))
    }
}
