//! Assignment of the interfaces of a network to its subnets.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::{MAX_PREFIXES, Subnets, SubnetsOfAddresses};
use crate::discovery::reconcile::set_subnets;
use crate::inventory::discovery::records::{HostDiscovery, put_state};
use crate::inventory::history::Author;
use crate::inventory::hosts::{
    Before, FIRST_HOSTS, HostChange, HostTerms, MAX_HOSTS, Summary, WORD, decode as decode_host, first_bytes,
    ip_prefix_range,
};
use crate::inventory::schema::{HOST, SUBNET_LINK, decode, exists, host_discovery_key, subnet_key};
use crate::inventory::transaction::Attempt;
use crate::inventory::{Entity, Error, Inventory};
use crate::model::{Cidr, Host, NetworkId, OrganizationId, SubnetId, Timestamp};
use crate::store::{Batch, Cursor, Key, LinkFilter, Query, Record, Start, TermFilter, TermRange};

/// A host as stored.
struct HostWithState {
    record: Record,
    host: Host,
    state: Option<Record>,
}

/// A host with another subnet for one of its interfaces.
struct Assigned {
    record: Record,
    summary: Summary,
    host: Host,
    /// The state with its record; `None`: discovery has not described the host.
    state: Option<(HostDiscovery, Record)>,
    /// The subnets that the interfaces have by their addresses.
    subnets: Vec<SubnetId>,
}

impl Inventory {
    /// Sets the subnets of the interfaces that a created, changed or deleted subnet concerns.
    ///
    /// The change of the subnet is stored, so that failures are only logged; the next report of a host corrects it.
    pub(in crate::inventory) async fn follow_subnet_change(
        &self,
        place: (OrganizationId, NetworkId),
        subnet: SubnetId,
        cidr: Cidr,
    ) {
        let links = vec![LinkFilter::new(SUBNET_LINK, [subnet.uuid()])];
        let linked = Query { links, ..hosts_of(place) };
        let assigned = match self.assign_subnets(place, Some(subnet), linked).await {
            Ok(()) => self.assign_subnets_within(place, Some(subnet), &[cidr]).await,
            Err(error) => Err(error),
        };
        if let Err(error) = assigned {
            tracing::warn!(error = error.with_causes(), "interfaces were not assigned to a subnet");
        }
    }

    /// Sets the subnets of all interfaces of a network whose addresses have one of these prefixes.
    ///
    /// An interface gets the smallest subnet that contains its address, unless a user has set another. `subnet` is the changed subnet,
    /// whose entry in the history leads to those of the hosts, beside those of the assigned subnets.
    pub(in crate::inventory::discovery) async fn assign_subnets_within(
        &self,
        place: (OrganizationId, NetworkId),
        subnet: Option<SubnetId>,
        prefixes: &[Cidr],
    ) -> Result<(), Error> {
        if self.host_terms == HostTerms::None {
            return Ok(());
        }
        for prefixes in prefixes.chunks(MAX_PREFIXES) {
            let ranges: Vec<TermRange> = prefixes.iter().map(|prefix| ip_prefix_range(*prefix)).collect();
            let within = Query { terms: vec![TermFilter::new(WORD, ranges)], ..hosts_of(place) };
            self.assign_subnets(place, subnet, within).await?;
        }
        Ok(())
    }

    /// Sets the subnets of the hosts of a query, in commits of a limited size.
    async fn assign_subnets(
        &self,
        place: (OrganizationId, NetworkId),
        subnet: Option<SubnetId>,
        mut query: Query,
    ) -> Result<(), Error> {
        query.limit = Some(FIRST_HOSTS);
        loop {
            let mut transaction = self.transaction(Author::system(place.0), Entity::Network, place.1);
            let (last, count) = loop {
                let records = first_bytes(self.store.list(&query).await?.records);
                let Some(last) = records.last().map(|record| record.key.id) else { return Ok(()) };
                let count = records.len();
                let hosts: BTreeSet<Key> = records.iter().map(|record| record.key).collect();
                if transaction.enter(hosts).await? {
                    if self.try_assign(place, subnet, records).await? {
                        break (last, count);
                    }
                    transaction.retry().await?;
                }
            };
            query.start = Start::After(Cursor::new(Vec::new(), last));
            query.limit = Some((2 * count).min(MAX_HOSTS));
        }
    }

    /// Returns `false` when a record has changed meanwhile.
    async fn try_assign(
        &self,
        place: (OrganizationId, NetworkId),
        changed: Option<SubnetId>,
        records: Vec<Record>,
    ) -> Result<bool, Error> {
        let (organization, _) = place;
        let keys: Vec<Key> = records.iter().map(|record| host_discovery_key(record.key.id.into())).collect();
        let states = self.store.get(&keys).await?;
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let read = move || {
            let read = records
                .into_iter()
                .zip(states)
                .map(|(record, state)| Ok(HostWithState { host: decode_host(&record)?, record, state }));
            read.collect::<Result<Vec<HostWithState>, Error>>()
        };
        let read = self.state.offload.run(organization, bytes, read).await??;
        let addresses: Vec<IpAddr> = read.iter().flat_map(|read| addresses_of(&read.host)).collect();
        // Looked up after the hosts were read: a subnet that is created later assigns these hosts again.
        let subnets = self.subnets_of(place, &addresses, &mut Subnets::default()).await?;
        let now = self.now();
        let assign = move || {
            let assigned = read.into_iter().filter_map(|read| assigned(read, &subnets, now).transpose());
            assigned.collect::<Result<Vec<Assigned>, Error>>()
        };
        let assigned = self.state.offload.run(organization, bytes, assign).await??;
        if assigned.is_empty() {
            return Ok(true);
        }
        let (mut batch, mut before, mut puts) = (Batch::new(), Before::new(), Vec::new());
        let subnets: BTreeSet<SubnetId> = assigned.iter().flat_map(|host| &host.subnets).copied().collect();
        for subnet in &subnets {
            batch.guard(exists(subnet_key(*subnet)));
        }
        for Assigned { record, summary, host, state, .. } in assigned {
            if let Some((discovery, record)) = &state {
                put_state(host.id, discovery, Some(record), &mut batch)?;
            }
            let encoder = self.host_encoder(organization).of_stored(record.body.len());
            before.insert(host.id, (record, summary));
            puts.push(encoder.encode_in(&self.state.offload, host).await?);
        }
        let author = Author::following(organization, subnets.into_iter().chain(changed).map(SubnetId::uuid));
        let change = HostChange::putting(author, &puts);
        Ok(matches!(self.commit_hosts(&change, &before, batch).await?, Attempt::Committed))
    }
}

/// Queries the hosts of a network.
fn hosts_of((organization, network): (OrganizationId, NetworkId)) -> Query {
    Query {
        organization: Some(organization.uuid()),
        networks: Some(vec![network.uuid()]),
        ..Query::new(HOST)
    }
}

fn addresses_of(host: &Host) -> impl Iterator<Item = IpAddr> + '_ {
    host.interfaces.iter().map(|interface| interface.ip_address)
}

/// Sets the subnets of a host. Returns `None` if it stays as it is.
fn assigned(
    HostWithState { record, mut host, state }: HostWithState,
    subnets: &SubnetsOfAddresses,
    now: Timestamp,
) -> Result<Option<Assigned>, Error> {
    let summary = Summary::from(&host);
    let mut state = match state {
        Some(record) => Some((decode::<HostDiscovery>(&record)?, record)),
        None => None,
    };
    let is_changed = match &mut state {
        Some((discovery, _)) => {
            let subnet_of = |address| subnets.get(&address).copied();
            !set_subnets(&mut host, &mut discovery.state, subnet_of, now).is_empty()
        }
        None => fill_subnets(&mut host, subnets, now),
    };
    if !is_changed {
        return Ok(None);
    }
    let subnets = addresses_of(&host).filter_map(|address| subnets.get(&address).copied()).collect();
    Ok(Some(Assigned { record, summary, host, state, subnets }))
}

/// Sets the subnets of interfaces without one. Returns whether the host changes.
fn fill_subnets(host: &mut Host, subnets: &SubnetsOfAddresses, now: Timestamp) -> bool {
    let mut is_changed = false;
    for interface in host.interfaces.iter_mut().filter(|interface| interface.subnet_id.is_none()) {
        interface.subnet_id = subnets.get(&interface.ip_address).copied();
        if interface.subnet_id.is_some() {
            interface.updated_at = now;
            is_changed = true;
        }
    }
    if is_changed {
        host.updated_at = now;
    }
    is_changed
}
