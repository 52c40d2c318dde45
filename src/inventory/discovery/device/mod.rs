//! The discovery of one device: recognize, merge, commit, and retry while other writers interfere.

mod outcome;
mod store;

pub(super) use self::outcome::listed;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

pub(super) use self::outcome::unknown_tables;
use self::outcome::{ambiguous, ignored, recognized, refused, unknown_observer};
use self::store::Attempted;
use super::Reconciler;
use super::plan::Role;
use super::records::HostDiscovery;
use super::reported::{ReportedDevice, given_ids};
use crate::discovery::reconcile::{
    AddressTimes, Context, Identity, MatchedBy, Merging, Recognition, Recognized, name_of_host, new_host_id,
    recognize_with_notes,
};
use crate::discovery::report::{Device, TableSummary};
use crate::inventory::schema::{
    HOST, decode, discovered_hosts_key, host_discovery_key, host_key, organization_key,
};
use crate::inventory::{Entity, Error, ErrorKind};
use crate::model::{Host, HostId, MacAddress};
use crate::store::{Key, Query, Record, Version};
use crate::wire::{DiscoveredHost, DiscoveredTable, DiscoveryOutcome};

/// Maximum number of hosts that a device is compared with, for each kind of identity.
const MAX_CANDIDATES: usize = 64;

/// Maximum size of the hosts that a device is compared with. 128 MiB.
const MAX_CANDIDATE_BYTES: usize = 128 * 1024 * 1024;

/// The host that a device becomes or belongs to.
enum Target {
    New { id: HostId },
    Known { id: HostId, matched_by: MatchedBy, merged: Vec<HostId> },
}

impl Target {
    const fn id(&self) -> HostId {
        match self {
            Self::New { id } | Self::Known { id, .. } => *id,
        }
    }

    /// Returns whether the set of the network's hosts changes.
    fn changes_hosts(&self) -> bool {
        match self {
            Self::New { .. } => true,
            Self::Known { merged, .. } => !merged.is_empty(),
        }
    }
}

impl Reconciler {
    /// Discovers a device, and adds its outcome and its tables to the answer.
    pub(in crate::inventory::discovery) async fn discover_device(
        &mut self,
        device: Arc<Device>,
        role: Role,
    ) -> Result<(), Error> {
        // Stores in memory answer at once: without a pause, other requests would wait for all devices of a report.
        tokio::task::yield_now().await;
        let subject = ReportedDevice { device, reported: None, role };
        let device = &*subject.device;
        let outcome = match self.try_discover(&subject).await {
            Ok(outcome) => outcome,
            Err(error) if concerns_device(&error) => refused(device, &error),
            Err(error) => return Err(error),
        };
        if let Some(device_id) = outcome.id.filter(|_| role == Role::Reported) {
            for table in device.tables.summaries() {
                let TableSummary { kind, rows, complete, unchanged } = table;
                self.answer.add_table(DiscoveredTable { device_id, kind, rows, complete, unchanged });
            }
        }
        if role == Role::Reported || outcome.outcome == DiscoveryOutcome::Created {
            self.answer.add_host(outcome);
        }
        Ok(())
    }

    pub(in crate::inventory::discovery) async fn try_discover(
        &mut self,
        subject: &ReportedDevice,
    ) -> Result<DiscoveredHost, Error> {
        let inventory = self.inventory.clone();
        let device = &*subject.device;
        let identities = Identity::of_device(device);
        let mut transaction =
            inventory.reviewed_transaction(self.sender.actor(), Entity::Network, self.network);
        let mut has_fresh_ids = false;
        loop {
            // Read before the candidates: a host that appears in the meantime makes the commit fail.
            let marker = inventory.get(discovered_hosts_key(self.network)).await?;
            let candidates = self.candidates(device, &identities).await?;
            let (Recognized { recognition, notes, .. }, names, cached) =
                self.recognize(subject, &candidates).await?;
            // Their bodies are read again, with those of the other records.
            let candidates: BTreeMap<HostId, Version> =
                candidates.into_iter().map(|(id, record)| (id, record.version)).collect();
            if subject.role == Role::Cached
                && !matches!(&recognition, Recognition::Known { merged, .. } if !merged.is_empty())
            {
                return Ok(ignored(device, NOT_MERGED.to_owned()));
            }
            let target = match recognition {
                Recognition::Known { id, matched_by, merged } => Target::Known { id, matched_by, merged },
                Recognition::Ambiguous { key, hosts } => {
                    let outcome = ambiguous(device, key, &hosts, &names);
                    self.warn_of_ambiguity(&outcome);
                    self.note_duplicates(&identities, &candidates, None).await?;
                    return Ok(outcome);
                }
                Recognition::New if device.is_only_observer() => {
                    return Ok(ignored(device, unknown_observer(device)));
                }
                Recognition::New if !device.tables.unchanged().is_empty() => {
                    let note = unknown_tables(device, &device.tables.unchanged());
                    let reason = note.text.clone();
                    self.warn(vec![note]);
                    return Ok(ignored(device, reason));
                }
                Recognition::New => match self.new_id(subject).await? {
                    Some(id) => Target::New { id },
                    None => return Ok(ignored(device, NO_IDENTITY.to_owned())),
                },
            };
            if subject.role == Role::Neighbor
                && let Target::Known { id, matched_by, .. } = target
            {
                return Ok(recognized(device, id, matched_by));
            }
            if !transaction.enter(self.turns(&target)).await? {
                continue;
            }
            let attempt = Attempted {
                transaction: &transaction,
                subject,
                target,
                marker,
                has_fresh_ids: &mut has_fresh_ids,
                names: &names,
            };
            if let Some(outcome) = self.store(attempt, &candidates).await? {
                if subject.role == Role::Cached {
                    self.warn(notes);
                    return Ok(outcome);
                }
                self.addresses.extend(cached);
                let arp = device.tables.arp.iter().flat_map(|table| &table.rows);
                self.addresses.extend(arp.map(|row| row.ip_address.to_canonical()));
                self.note_duplicates(&identities, &candidates, outcome.id).await?;
                let reason = outcome.reason.or_else(|| notes.first().map(|note| format!("{}.", note.text)));
                self.warn(notes);
                return Ok(DiscoveredHost { reason, ..outcome });
            }
            transaction.retry().await?;
        }
    }

    /// Returns the hosts that the device may be.
    async fn candidates(
        &self,
        device: &Device,
        identities: &[Identity],
    ) -> Result<BTreeMap<HostId, Record>, Error> {
        let place = (self.organization, self.network);
        let mut found = self.inventory.hosts_with(place, identities, MAX_CANDIDATES).await?;
        if let Some(id) = device.id.filter(|id| !found.contains_key(id)) {
            let by_id = Query {
                organization: Some(self.organization.uuid()),
                networks: Some(vec![self.network.uuid()]),
                ids: Some(vec![id.uuid()]),
                ..Query::new(HOST)
            };
            found.extend(self.inventory.store.list(&by_id).await?.records.pop().map(|record| (id, record)));
        }
        Ok(found)
    }

    /// Recognizes a device among the candidates. Also returns the names of these, and their addresses whose MAC addresses
    /// come from neighbor caches.
    async fn recognize(
        &mut self,
        subject: &ReportedDevice,
        candidates: &BTreeMap<HostId, Record>,
    ) -> Result<(Recognized, BTreeMap<HostId, String>, Vec<IpAddr>), Error> {
        let (mut hosts, mut bytes) = (Vec::with_capacity(candidates.len()), 0_usize);
        for record in candidates.values() {
            bytes = bytes.saturating_add(record.body.len());
            if bytes > MAX_CANDIDATE_BYTES {
                break;
            }
            hosts.push(self.decoded.get(&self.inventory, self.organization, record).await?);
        }
        let merging = match subject.role {
            Role::Reported | Role::Cached => self.merging,
            Role::Neighbor => Merging::Forbidden,
        };
        let times = self.address_times(&subject.device, &hosts).await?;
        let context = Context { merging, times: &times, observed_at: self.observed_at };
        let mut recognized = recognize_with_notes(&subject.device, &hosts, context);
        if let Recognition::Known { id, matched_by, merged } = &recognized.recognition
            && !merged.is_empty()
        {
            let all: Vec<HostId> = std::iter::once(*id).chain(merged.iter().copied()).collect();
            if self.inventory.are_separate(&all).await? {
                recognized.recognition = Recognition::Ambiguous { key: *matched_by, hosts: all };
            }
        }
        let names = hosts.iter().map(|host| (host.id, name_of_host(host))).collect();
        let parts = hosts.iter().flat_map(|host| &host.interfaces);
        let cached = parts.filter(|part| part.mac_source.is_some()).map(|part| part.ip_address).collect();
        Ok((recognized, names, cached))
    }

    /// Returns when the hosts that have an address of the device were seen there.
    ///
    /// With a single host the times matter only if the device has MAC addresses, none of which the host has.
    async fn address_times(&self, device: &Device, hosts: &[Arc<Host>]) -> Result<AddressTimes, Error> {
        let rows = device.tables.addresses.iter().flat_map(|table| &table.rows);
        let addresses: BTreeSet<IpAddr> = rows.map(|row| row.ip_address.to_canonical()).collect();
        let has_address = |host: &&Arc<Host>| {
            host.interfaces.iter().any(|part| addresses.contains(&part.ip_address.to_canonical()))
        };
        let holders: Vec<&Arc<Host>> = hosts.iter().filter(has_address).collect();
        let mut times = AddressTimes::default();
        if hosts.len() < 2 && !shares_no_mac(device, &holders) {
            return Ok(times);
        }
        let keys: Vec<Key> = holders.iter().map(|host| host_discovery_key(host.id)).collect();
        for (host, record) in holders.into_iter().zip(self.inventory.store.get(&keys).await?) {
            if let Some(record) = record {
                times.add(host, &decode::<HostDiscovery>(&record)?.state);
            }
        }
        Ok(times)
    }

    /// Returns the id of a new host, or `None` if the device has no identity.
    ///
    /// The host is reported with an id, or its id follows from the device. If these ids are taken, it is random.
    async fn new_id(&self, subject: &ReportedDevice) -> Result<Option<HostId>, Error> {
        let given = subject.reported.iter().flat_map(|reported| given_ids(self.network, reported.id));
        let ids: Vec<HostId> = given.chain(new_host_id(&subject.device, self.network)).collect();
        if ids.is_empty() && subject.reported.is_none() {
            return Ok(None);
        }
        for id in ids {
            // Counted, because the host may belong to another organization.
            if self.inventory.count(Query { ids: Some(vec![id.uuid()]), ..Query::new(HOST) }).await? == 0 {
                return Ok(Some(id));
            }
        }
        self.inventory.new_random_id().map(Some)
    }

    /// Returns the records whose turns the commit needs.
    fn turns(&self, target: &Target) -> BTreeSet<Key> {
        let mut keys = BTreeSet::from([host_key(target.id())]);
        if target.changes_hosts() {
            keys.insert(discovered_hosts_key(self.network));
        }
        match target {
            Target::New { .. } if self.inventory.quotas.hosts_per_organization.is_some() => {
                keys.insert(organization_key(self.organization));
            }
            Target::Known { merged, .. } => keys.extend(merged.iter().map(|id| host_key(*id))),
            Target::New { .. } => {}
        }
        keys
    }
}

/// Returns whether the device has a MAC address, and none that one of the hosts has.
fn shares_no_mac(device: &Device, hosts: &[&Arc<Host>]) -> bool {
    let rows = device.tables.addresses.iter().flat_map(|table| &table.rows);
    let mut macs = rows.filter_map(|row| row.mac_address).peekable();
    let of_host = |host: &&Arc<Host>| {
        let interfaces = host.interfaces.iter().filter_map(|part| part.mac_address);
        interfaces.chain(host.if_entries.iter().filter_map(|part| part.mac_address)).collect::<Vec<_>>()
    };
    let known: BTreeSet<MacAddress> = hosts.iter().flat_map(of_host).collect();
    macs.peek().is_some() && macs.all(|address| !known.contains(&address))
}

const NOT_MERGED: &str = "No other host is the same device.";

const NO_IDENTITY: &str = "The device has no identity by which it could be recognized again.";

/// Returns whether an error concerns this device only. The others can then still be stored.
pub(in crate::inventory::discovery) fn concerns_device(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::QuotaExceeded { .. }
            | ErrorKind::TooLarge { .. }
            | ErrorKind::Invalid { .. }
            | ErrorKind::AlreadyExists { .. }
            | ErrorKind::Refused { .. }
    )
}
