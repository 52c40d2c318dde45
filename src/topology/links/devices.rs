//! All devices of a network, by their own identities and the identities that they name.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use uuid::Uuid;

use super::address_book::AddressBook;
use super::device::Device;
use super::key::IdentityKey;
use super::multimap::SmallMultimap;
use crate::discovery::reconcile::KnownHosts;
use crate::model::{HostId, MacAddress};

/// The devices and their indexes.
#[derive(Clone, Debug, Default)]
pub(super) struct Devices {
    by_id: BTreeMap<HostId, Device>,
    /// The hosts that have an identity.
    holders: SmallMultimap<IdentityKey, HostId>,
    /// The hosts that have a MAC address.
    owners: SmallMultimap<MacAddress, HostId>,
    /// The hosts by their own ids and the ids of their ports. `None` as long as no device names one by its id.
    records: Option<SmallMultimap<Uuid, HostId>>,
    /// The hosts that name an identity.
    namers: SmallMultimap<IdentityKey, HostId>,
    /// The hosts that learned a MAC address on one port.
    learners: SmallMultimap<MacAddress, HostId>,
    /// The hosts that learned a MAC address on several ports.
    ambiguous_learners: SmallMultimap<MacAddress, HostId>,
    /// The hosts that no longer have a MAC address learned.
    losers: SmallMultimap<MacAddress, HostId>,
    /// The hosts that are bridges.
    bridges: HashSet<HostId>,
    address_book: AddressBook,
    /// Rows that neighbor caches no longer have.
    former_addresses: AddressBook,
}

/// The host to which a neighbor cache gives a MAC address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CachedOwner {
    pub(super) host: HostId,
    /// The address by which the host is known.
    pub(super) ip: IdentityKey,
    /// The host that has the neighbor cache, or had the row in it.
    pub(super) reporter: HostId,
}

impl Devices {
    pub(super) fn get(&self, id: HostId) -> Option<&Device> {
        self.by_id.get(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Device> {
        self.by_id.values()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = HostId> {
        self.by_id.keys().copied()
    }

    /// Reserves capacity for more devices.
    pub(super) fn reserve(&mut self, devices: &[Device]) {
        let sum = |count: fn(&Device) -> usize| devices.iter().map(count).sum();
        self.holders.reserve(sum(|device| device.keys.len()));
        self.owners.reserve(sum(|device| device.macs.len()));
        self.learners.reserve(sum(|device| device.learned.len()));
        self.namers.reserve(sum(|device| device.sightings.len()));
        self.address_book.reserve(sum(|device| device.resolved.len()));
    }

    /// Adds a device, and returns the one that it replaces.
    pub(super) fn insert(&mut self, device: Device) -> Option<Device> {
        let former = self.remove(device.id);
        let id = device.id;
        for key in &device.keys {
            self.holders.add(*key, id);
        }
        for address in &device.macs {
            self.owners.add(*address, id);
        }
        for learned in &device.learned {
            self.learners.add(learned.address, id);
        }
        for port in &device.ambiguous {
            self.ambiguous_learners.add(port.address, id);
        }
        if device.is_bridge {
            self.bridges.insert(id);
        }
        for lost in &device.lost {
            self.losers.add(lost.address, id);
        }
        self.address_book.add(id, device.resolved.iter());
        self.former_addresses.add(id, device.formerly_resolved.iter().map(|(row, _)| row));
        for key in named_keys(&device) {
            self.namers.add(key, id);
        }
        if device.names_records() && self.records.is_none() {
            let known =
                self.by_id.values().flat_map(|known| known.records().map(|record| (record, known.id)));
            self.records = Some(known.collect());
        }
        if let Some(records) = &mut self.records {
            for record in device.records() {
                records.add(record, id);
            }
        }
        self.by_id.insert(id, device);
        former
    }

    pub(super) fn remove(&mut self, id: HostId) -> Option<Device> {
        let device = self.by_id.remove(&id)?;
        self.bridges.remove(&id);
        device.keys.iter().for_each(|key| self.holders.remove(key, id));
        device.macs.iter().for_each(|address| self.owners.remove(address, id));
        device.learned.iter().for_each(|learned| self.learners.remove(&learned.address, id));
        device.ambiguous.iter().for_each(|port| self.ambiguous_learners.remove(&port.address, id));
        device.lost.iter().for_each(|lost| self.losers.remove(&lost.address, id));
        self.address_book.remove(id, device.resolved.iter());
        self.former_addresses.remove(id, device.formerly_resolved.iter().map(|(row, _)| row));
        for key in named_keys(&device) {
            self.namers.remove(&key, id);
        }
        if let Some(records) = &mut self.records {
            device.records().for_each(|record| records.remove(&record, id));
        }
        Some(device)
    }

    /// Adds the hosts that name one of the identities of a device.
    pub(super) fn add_namers(&self, device: &Device, namers: &mut BTreeSet<HostId>) {
        let macs = device.macs.iter().map(|address| IdentityKey::of_mac(*address));
        let records = self.records.iter().flat_map(|_| device.records()).map(IdentityKey::of_record);
        for key in device.keys.iter().copied().chain(macs).chain(records) {
            namers.extend(self.namers.get(&key));
        }
    }

    /// Returns the only host that has an id, or a port with it.
    pub(super) fn host_of_record(&self, id: Uuid) -> Option<HostId> {
        self.records.as_ref()?.only(&id)
    }

    /// Returns the hosts that have an identity.
    pub(super) fn holders(&self, key: IdentityKey) -> impl Iterator<Item = HostId> {
        self.holders.get(&key)
    }

    /// Returns the hosts that have a MAC address, in order.
    pub(super) fn owners(&self, address: MacAddress) -> impl Iterator<Item = HostId> {
        self.owners.get(&address)
    }

    /// Returns the MAC addresses that neighbor caches state for an IP address, each with the host that states it.
    pub(super) fn stated_macs(&self, ip: IdentityKey) -> impl Iterator<Item = (MacAddress, HostId)> {
        self.address_book.stated_macs(ip)
    }

    /// Returns the MAC addresses that neighbor caches no longer state for an IP address, each with the host that stated it.
    pub(super) fn formerly_stated_macs(&self, ip: IdentityKey) -> impl Iterator<Item = (MacAddress, HostId)> {
        self.former_addresses.stated_macs(ip)
    }

    /// Returns whether a neighbor cache states, or stated, a MAC address.
    pub(super) fn is_stated(&self, address: MacAddress) -> bool {
        self.address_book.is_stated(address) || self.former_addresses.is_stated(address)
    }

    /// Returns the only host that has a MAC address.
    pub(super) fn owner(&self, address: MacAddress) -> Option<HostId> {
        self.owners.only(&address)
    }

    /// Returns the hosts that are bridges, in no order.
    pub(super) fn bridges(&self) -> impl Iterator<Item = HostId> {
        self.bridges.iter().copied()
    }

    /// Returns whether a host has a forwarding database or a spanning tree.
    pub(super) fn is_bridge(&self, host: HostId) -> bool {
        self.bridges.contains(&host)
    }

    /// Returns the only host that has a MAC address, if it is a bridge.
    pub(super) fn bridge_with(&self, address: MacAddress) -> Option<HostId> {
        self.owner(address).filter(|owner| self.bridges.contains(owner))
    }

    /// Returns the host to which neighbor caches give a MAC address that no host is known to have.
    ///
    /// The host is known by its IP addresses only. There is none if one of the addresses may belong to another host.
    pub(super) fn joined(&self, address: MacAddress) -> Option<CachedOwner> {
        if self.owners.len(&address) > 0 {
            return None;
        }
        let mut ips = self.address_book.ips(address)?;
        if ips.is_empty() {
            ips = self.former_addresses.ips(address)?;
        }
        let mut found: Option<CachedOwner> = None;
        for ip in ips {
            let mut holders = self.holders.get(&ip);
            let Some(host) = holders.next() else { continue };
            if holders.next().is_some() || found.is_some_and(|found| found.host != host) {
                return None;
            }
            let is_current = self.address_book.macs(ip).is_none_or(|macs| !macs.is_empty());
            let book = if is_current { &self.address_book } else { &self.former_addresses };
            let reporter = book.reporter(ip, address)?;
            found = found.or(Some(CachedOwner { host, ip, reporter }));
        }
        found.filter(|found| self.get(found.host).is_some_and(|device| device.macs.is_empty()))
    }

    /// Returns the MAC addresses of an IP address, also if this many entries more than usual have led to too many of them.
    pub(super) fn stated_macs_before(
        &self,
        ip: IdentityKey,
        entries: usize,
    ) -> impl Iterator<Item = MacAddress> {
        let books = [&self.address_book, &self.former_addresses];
        books.into_iter().filter_map(move |book| book.macs_before(ip, entries)).flatten()
    }

    /// Adds the hosts that learned an address, unless a host is known to have it. Neighbor caches do not count then.
    pub(super) fn add_joined_learners(&self, address: MacAddress, learners: &mut BTreeSet<HostId>) {
        if self.owners.len(&address) == 0 {
            learners.extend(self.learners_ever(address));
        }
    }

    /// Adds the hosts that learned the addresses of a device that changed, unless they see no difference.
    pub(super) fn add_learning(
        &self,
        former: Option<&Device>,
        current: Option<&Device>,
        learners: &mut BTreeSet<HostId>,
    ) {
        let is_same = former.zip(current).is_some_and(|(former, current)| {
            former.macs == current.macs && former.is_bridge == current.is_bridge
        });
        for address in former.into_iter().chain(current).flat_map(|device| &device.macs) {
            if !is_same {
                learners.extend(self.learners.get(address));
            }
            learners.extend(self.losers.get(address));
        }
    }

    /// Returns the hosts that learned a MAC address, also those that no longer have it, some of them repeatedly.
    pub(super) fn learners_ever(&self, address: MacAddress) -> impl Iterator<Item = HostId> {
        self.learners.get(&address).chain(self.losers.get(&address))
    }

    /// Returns the hosts that learned a MAC address on several ports.
    pub(super) fn ambiguous_learners(&self, address: MacAddress) -> impl Iterator<Item = HostId> {
        self.ambiguous_learners.get(&address)
    }

    /// Returns the hosts that no longer have a MAC address learned.
    pub(super) fn losers(&self, address: MacAddress) -> impl Iterator<Item = HostId> {
        self.losers.get(&address)
    }

    /// Returns the hosts that learned a MAC address on one port.
    pub(super) fn learners(&self, address: MacAddress) -> impl Iterator<Item = HostId> {
        self.learners.get(&address)
    }

    pub(super) fn learner_count(&self, address: MacAddress) -> usize {
        self.learners.len(&address)
    }
}

impl KnownHosts<IdentityKey> for Devices {
    type Host = HostId;

    fn add_holders(&self, key: &IdentityKey, holders: &mut BTreeSet<HostId>) {
        holders.extend(self.holders.get(key));
        if let Some(address) = key.mac() {
            holders.extend(self.owners.get(&address));
        }
    }

    fn may_announce(&self, host: HostId, address: MacAddress) -> bool {
        let device = self.get(host);
        device
            .is_some_and(|device| device.chassis_mac.is_none() || device.macs.binary_search(&address).is_ok())
    }
}

fn named_keys(device: &Device) -> impl Iterator<Item = IdentityKey> {
    device.sightings.iter().flat_map(|sighting| sighting.names.keys())
}
