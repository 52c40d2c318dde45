//! MAC addresses from neighbor caches, for hosts that are known by their IP addresses only.
//!
//! A host that a scan found behind a router has no MAC address, and the ARP cache of the router has it. It is set once
//! both are stored, whichever comes first, and leads to the host that has the MAC address already.

mod owners;
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use self::owners::Owners;
pub(in crate::inventory) use self::statements::NeighborCaches;
use self::statements::{CacheStatement, Statements};
use super::Reconciler;
use super::device::concerns_device;
use super::plan::Role;
use super::records::{CACHED, HostDiscovery, block_value, put_state};
use super::reported::ReportedDevice;
use crate::discovery::reconcile::{
    Identity, RecognitionNote, device_at, is_address_only, lists_others, name_of_host, set_cached_macs,
};
use crate::discovery::report::WarningCode;
use crate::inventory::history::Author;
use crate::inventory::hosts::{ADDRESS_ONLY, Before, HostChange, Summary, address_only_value};
use crate::inventory::schema::{CLAIM, HOST, decode, host_discovery_key, host_key, on_network};
use crate::inventory::transaction::Attempt;
use crate::inventory::{Entity, Error};
use crate::model::{Host, HostId, InterfaceId, MacAddress};
use crate::store::{Batch, Key, Name, Query, Record, Start, TermFilter, TermRange};
use crate::wire::DiscoveryOutcome;

/// Number of addresses whose hosts are read at a time. The neighbor caches of their networks are read for each of these.
const ADDRESSES: usize = 2_048;

/// Maximum number of values of a filter.
const MAX_RANGES: usize = 512;

/// Number of records that are read at a time.
const RECORDS: usize = 64;

/// Maximum number of neighbor caches that are compared for the same addresses.
const MAX_CACHES: usize = 1_024;

/// A MAC address that neighbor caches state for an address of a host.
#[derive(Clone, Copy, Debug)]
struct Stated {
    host: HostId,
    interface: InterfaceId,
    ip_address: IpAddr,
    mac_address: MacAddress,
    reporter: HostId,
}

/// A host that is known by its addresses only.
struct AddressOnly {
    record: Record,
    host: Host,
}

impl Reconciler {
    /// Sets the MAC addresses of hosts that are known by IP addresses only. It merges them into the hosts that have
    /// these MAC addresses.
    pub(super) async fn resolve_macs(&mut self) -> Result<(), Error> {
        let addresses: Vec<IpAddr> = std::mem::take(&mut self.addresses).into_iter().collect();
        for addresses in addresses.chunks(ADDRESSES) {
            for (host, stated) in self.fill_macs(addresses).await? {
                self.merge_by_mac(&host, stated).await?;
            }
        }
        Ok(())
    }

    /// Sets the MAC addresses that no other host has. Returns those that another host has.
    async fn fill_macs(&mut self, addresses: &[IpAddr]) -> Result<Vec<(Host, Stated)>, Error> {
        let inventory = self.inventory.clone();
        let mut transaction =
            inventory.transaction(Author::system(self.organization), Entity::Network, self.network);
        let blocks: BTreeSet<Vec<u8>> = addresses.iter().map(|address| block_value(*address)).collect();
        // Most reports have no such addresses, or there are no neighbor caches.
        if !self.has_any(CLAIM, CACHED, blocks).await? {
            return Ok(Vec::new());
        }
        let mut shared = BTreeSet::new();
        loop {
            let hosts = self.address_only_hosts(addresses).await?;
            if hosts.is_empty() {
                return Ok(Vec::new());
            }
            let mut stated = self.stated_macs(&hosts).await?;
            let owners = self.owners(&stated).await?;
            for Stated { mac_address, .. } in stated.extract_if(.., |stated| is_shared(&owners, stated)) {
                if shared.insert(mac_address) {
                    self.warn_of_shared_mac(mac_address);
                }
            }
            let owners_of = |stated: &Stated| owners.get(&stated.mac_address).into_iter().flatten().flatten();
            let is_owned = |stated: &Stated| owners_of(stated).any(|(id, _)| *id != stated.host);
            let (owned, others): (Vec<Stated>, Vec<Stated>) = stated.into_iter().partition(is_owned);
            let mut free: BTreeMap<HostId, Vec<Stated>> = BTreeMap::new();
            for stated in others {
                free.entry(stated.host).or_default().push(stated);
            }
            let by_id: BTreeMap<HostId, &Host> = hosts.iter().map(|one| (one.host.id, &one.host)).collect();
            let may_be_same =
                |stated: &Stated| owners_of(stated).all(|(_, owner)| !lists_others(owner, stated.ip_address));
            let owned: Vec<(Host, Stated)> = owned
                .into_iter()
                .filter(may_be_same)
                .filter_map(|stated| Some((Host::clone(by_id.get(&stated.host)?), stated)))
                .collect();
            let changing: Vec<AddressOnly> =
                hosts.into_iter().filter(|one| differs(&one.host, &free)).collect();
            if changing.is_empty() {
                return Ok(owned);
            }
            if !transaction.enter(changing.iter().map(|one| one.record.key).collect()).await? {
                continue;
            }
            if let Some(set) = self.try_set(changing, &free).await? {
                for stated in set {
                    self.warn_of_cached_mac(stated).await?;
                }
                return Ok(owned);
            }
            transaction.retry().await?;
        }
    }

    /// Returns the hosts of which only these and other addresses are known.
    async fn address_only_hosts(&self, addresses: &[IpAddr]) -> Result<Vec<AddressOnly>, Error> {
        let values = addresses.iter().filter_map(|address| address_only_value(*address));
        let records = self.all_with(HOST, ADDRESS_ONLY, values.collect(), usize::MAX).await?;
        let mut hosts = Vec::with_capacity(records.len());
        for record in records {
            let host: Host = self.inventory.decode_host(self.organization, &record).await?;
            if is_address_only(&host) {
                hosts.push(AddressOnly { record, host });
            }
        }
        Ok(hosts)
    }

    /// Returns the MAC addresses that neighbor caches state for the addresses of hosts. Those on which they do not agree
    /// are left out.
    async fn stated_macs(&self, hosts: &[AddressOnly]) -> Result<Vec<Stated>, Error> {
        let parts = || hosts.iter().flat_map(|one| &one.host.interfaces);
        let blocks: BTreeSet<Vec<u8>> = parts().map(|part| block_value(part.ip_address)).collect();
        let records = self.all_with(CLAIM, CACHED, blocks, MAX_CACHES).await?;
        let mut caches: Vec<Arc<Statements>> = Vec::with_capacity(records.len());
        for record in &records {
            caches.push(self.neighbor_cache(record).await?);
        }
        let mut stated = Vec::new();
        for part in parts() {
            let mut found: Option<(CacheStatement, HostId)> = None;
            for cache in &caches {
                let Some(statement) = cache.of(part.ip_address) else { continue };
                found = match found {
                    None => Some((statement, cache.reporter)),
                    Some((known, reporter)) if known == statement => {
                        Some((known, reporter.min(cache.reporter)))
                    }
                    Some((_, reporter)) => Some((CacheStatement::Several, reporter)),
                };
            }
            if let Some((CacheStatement::One(mac_address), reporter)) = found {
                let (host, interface, ip_address) = (part.host_id, part.id, part.ip_address);
                stated.push(Stated { host, interface, ip_address, mac_address, reporter });
            }
        }
        Ok(stated)
    }

    /// Decodes a claim, on a blocking thread if it is large.
    async fn neighbor_cache(&self, record: &Record) -> Result<Arc<Statements>, Error> {
        if let Some(known) = self.caches.known(record) {
            return Ok(known);
        }
        let (caches, claim) = (Arc::clone(&self.caches), record.clone());
        let offload = &self.inventory.state.offload;
        offload.run(self.organization, record.body.len(), move || caches.read(&claim)).await?
    }

    /// Reads the records of the network that have one of these terms, each once. It reads not many more than `limit`.
    async fn all_with(
        &self,
        kind: Name,
        name: Name,
        values: BTreeSet<Vec<u8>>,
        limit: usize,
    ) -> Result<Vec<Record>, Error> {
        let mut records = BTreeMap::new();
        for mut query in self.queries(kind, name, values) {
            query.limit = Some(RECORDS);
            loop {
                let page = self.inventory.store.list(&query).await?;
                records.extend(page.records.into_iter().map(|record| (record.key, record)));
                match page.next {
                    Some(next) if records.len() < limit => query.start = Start::After(next),
                    _ => break,
                }
            }
        }
        Ok(records.into_values().collect())
    }

    /// Returns whether any record of the network has one of these terms.
    async fn has_any(&self, kind: Name, name: Name, values: BTreeSet<Vec<u8>>) -> Result<bool, Error> {
        for query in self.queries(kind, name, values) {
            if self.inventory.count(query).await? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns queries for the records of the network that have one of these terms.
    fn queries(&self, kind: Name, name: Name, values: BTreeSet<Vec<u8>>) -> Vec<Query> {
        let ranges: Vec<TermRange> = values.into_iter().map(TermRange::exact).collect();
        let place = (self.organization, self.network);
        let query = |ranges: &[TermRange]| Query {
            terms: vec![TermFilter::new(name, ranges)],
            ..on_network(kind, place.0, place.1)
        };
        ranges.chunks(MAX_RANGES).map(query).collect()
    }

    /// Sets the MAC addresses of hosts in one commit. Returns those that are new; `None` when a record has changed
    /// meanwhile.
    async fn try_set(
        &mut self,
        hosts: Vec<AddressOnly>,
        free: &BTreeMap<HostId, Vec<Stated>>,
    ) -> Result<Option<Vec<Stated>>, Error> {
        let (organization, now) = (self.organization, self.inventory.now());
        let keys: Vec<Key> = hosts.iter().map(|one| host_discovery_key(one.host.id)).collect();
        let states = self.inventory.store.get(&keys).await?;
        let (mut batch, mut before, mut puts) = (Batch::new(), Before::new(), Vec::new());
        let (mut set, mut affected) = (Vec::new(), BTreeSet::new());
        for (AddressOnly { record, mut host }, state) in hosts.into_iter().zip(states) {
            let Some(state) = state else { continue };
            let mut discovery: HostDiscovery = decode(&state)?;
            affected.extend(Identity::of_host(&host));
            let summary = Summary::from(&host);
            let macs = macs_of(&host, free);
            let changed = set_cached_macs(&mut host, &mut discovery.state, &macs, now);
            if changed.is_empty() {
                continue;
            }
            affected.extend(Identity::of_host(&host));
            let stated = free.get(&host.id).into_iter().flatten();
            set.extend(stated.filter(|stated| changed.contains(&stated.interface)).copied());
            put_state(host.id, &discovery, Some(&state), &mut batch)?;
            let encoder = self.inventory.host_encoder(organization).of_stored(record.body.len());
            before.insert(host.id, (record, summary));
            puts.push(encoder.encode_in(&self.inventory.state.offload, host).await?);
        }
        if puts.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let change = HostChange::putting(self.sender.actor(), &puts);
        if !matches!(self.inventory.commit_hosts(&change, &before, batch).await?, Attempt::Committed) {
            return Ok(None);
        }
        self.affected_identities.extend(affected);
        Ok(Some(set))
    }

    /// Merges a host into the one that has its MAC address, if recognition finds that both are one device.
    async fn merge_by_mac(&mut self, host: &Host, stated: Stated) -> Result<(), Error> {
        let device = device_at(host, stated.ip_address, stated.mac_address);
        let subject = ReportedDevice { device: Arc::new(device), reported: None, role: Role::Cached };
        let outcome = match self.try_discover(&subject).await {
            Err(error) if concerns_device(&error) => return Ok(()),
            outcome => outcome?,
        };
        let Some(id) = outcome.id.filter(|_| outcome.outcome == DiscoveryOutcome::Updated) else {
            return Ok(());
        };
        self.warn_of_cached_mac(stated).await?;
        let gone = Some(host.id).filter(|gone| *gone != id);
        for reported in self.answer.hosts.iter_mut().filter(|one| one.id.is_some() && one.id == gone) {
            reported.id = Some(id);
        }
        for table in self.answer.tables.iter_mut().filter(|one| Some(one.device_id) == gone) {
            table.device_id = id;
        }
        Ok(())
    }

    async fn warn_of_cached_mac(&mut self, stated: Stated) -> Result<(), Error> {
        let code = WarningCode::MacFromNeighborCache;
        let Stated { ip_address, mac_address, reporter, .. } = stated;
        // The answer contains the text of the first warning only, so the others need no name.
        let is_first = self.answer.warnings.iter().all(|warning| warning.code != code);
        let record = if is_first { self.inventory.get(host_key(reporter)).await? } else { None };
        let name = match record {
            Some(record) => name_of_host(&self.inventory.decode_host(self.organization, &record).await?),
            None => reporter.to_string(),
        };
        let text = format!("{ip_address} has the MAC address {mac_address} by the neighbor cache of {name}");
        self.warn(vec![RecognitionNote::new(code, text)]);
        Ok(())
    }
}

/// Returns whether too many hosts have the MAC address that is stated.
fn is_shared(owners: &Owners, stated: &Stated) -> bool {
    matches!(owners.get(&stated.mac_address), Some(None))
}

/// Returns the MAC addresses that are stated for the interfaces of a host.
fn macs_of(host: &Host, stated: &BTreeMap<HostId, Vec<Stated>>) -> BTreeMap<InterfaceId, MacAddress> {
    let own = stated.get(&host.id).into_iter().flatten();
    own.map(|stated| (stated.interface, stated.mac_address)).collect()
}

/// Returns whether a host has other MAC addresses than those that are stated.
fn differs(host: &Host, stated: &BTreeMap<HostId, Vec<Stated>>) -> bool {
    let macs = macs_of(host, stated);
    host.interfaces.iter().any(|part| part.mac_address != macs.get(&part.id).copied())
}
