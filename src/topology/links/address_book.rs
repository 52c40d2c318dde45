//! The MAC addresses that neighbor caches state for IP addresses.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::device::tables::Resolved;
use super::key::IdentityKey;
use super::multimap::SmallMultimap;
use crate::model::{HostId, MacAddress};

/// Maximum number of addresses that are compared. A MAC address with more IP addresses answers for other devices, and an
/// IP address with more MAC addresses belongs to none of them.
const MAX_COMPARED: usize = 16;

/// The rows of the neighbor caches of all devices.
#[derive(Clone, Debug, Default)]
pub(super) struct AddressBook {
    /// Pairs of a MAC address and the host that states it, by IP address.
    by_ip: SmallMultimap<IdentityKey, (MacAddress, HostId)>,
    /// Pairs of an IP address and the host that states it, by MAC address.
    by_mac: SmallMultimap<MacAddress, (IdentityKey, HostId)>,
}

impl AddressBook {
    /// Reserves capacity for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.by_ip.reserve(rows);
        self.by_mac.reserve(rows);
    }

    pub(super) fn add<'r>(&mut self, reporter: HostId, rows: impl Iterator<Item = &'r Resolved>) {
        for row in rows {
            self.by_ip.add(row.ip, (row.mac_address, reporter));
            self.by_mac.add(row.mac_address, (row.ip, reporter));
        }
    }

    pub(super) fn remove<'r>(&mut self, reporter: HostId, rows: impl Iterator<Item = &'r Resolved>) {
        for row in rows {
            self.by_ip.remove(&row.ip, (row.mac_address, reporter));
            self.by_mac.remove(&row.mac_address, (row.ip, reporter));
        }
    }

    /// Returns the IP addresses that have a MAC address; `None` for too many.
    pub(super) fn ips(&self, address: MacAddress) -> Option<BTreeSet<IdentityKey>> {
        let distinct = self.by_mac.distinct(&address, |(ip, _)| (ip, HostId::new(Uuid::max())), MAX_COMPARED);
        distinct.map(|found| found.into_iter().map(|(ip, _)| ip).collect())
    }

    /// Returns the MAC addresses of an IP address; `None` for too many.
    pub(super) fn macs(&self, ip: IdentityKey) -> Option<BTreeSet<MacAddress>> {
        self.macs_before(ip, 0)
    }

    /// Returns the MAC addresses of an IP address; `None` if they were too many before this number of entries was added.
    pub(super) fn macs_before(&self, ip: IdentityKey, entries: usize) -> Option<BTreeSet<MacAddress>> {
        let most = MAX_COMPARED.saturating_add(entries);
        let distinct = self.by_ip.distinct(&ip, |(address, _)| (address, HostId::new(Uuid::max())), most);
        distinct.map(|found| found.into_iter().map(|(address, _)| address).collect())
    }

    /// Returns the MAC addresses of an IP address in order, each with a host that states it.
    pub(super) fn stated_macs(&self, ip: IdentityKey) -> impl Iterator<Item = (MacAddress, HostId)> {
        self.by_ip.get(&ip)
    }

    /// Returns whether a host states a MAC address.
    pub(super) fn is_stated(&self, address: MacAddress) -> bool {
        self.by_mac.len(&address) > 0
    }

    /// Returns the first of the hosts that state the MAC address of an IP address, if no host states another one.
    pub(super) fn reporter(&self, ip: IdentityKey, address: MacAddress) -> Option<HostId> {
        let macs = self.macs(ip)?;
        let (found, reporter) = self.by_ip.get(&ip).next()?;
        (macs.len() == 1 && found == address).then_some(reporter)
    }
}
