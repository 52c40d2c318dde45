//! The addresses of further devices in a report.

use std::net::IpAddr;

use ipnet::Ipv4Net;

use crate::discovery::Report;
use crate::discovery::report::Device;

/// Maximum number of own addresses and subnets that are kept of a device.
const MAX_OWN_ADDRESSES: usize = 4_096;

/// The addresses and subnets in a report.
#[derive(Debug, Default)]
pub(super) struct FoundNeighbors {
    pub(super) own_addresses: Vec<IpAddr>,
    /// The subnets, each with the own address.
    pub(super) subnets: Vec<Ipv4Net>,
    /// The management addresses of neighbors by LLDP and CDP.
    pub(super) neighbors: Vec<IpAddr>,
    /// The number of neighbors by LLDP and CDP.
    pub(super) links: usize,
}

impl FoundNeighbors {
    pub(super) fn of(report: &Report) -> Self {
        let mut found = Self::default();
        for device in &report.devices {
            found.add_addresses(device);
            found.add_neighbors(device);
        }
        found
    }

    fn add_addresses(&mut self, device: &Device) {
        let rows = device.tables.addresses.iter().flat_map(|table| &table.rows);
        for row in rows.take(MAX_OWN_ADDRESSES) {
            self.own_addresses.push(row.ip_address.to_canonical());
            if let (IpAddr::V4(address), Some(length)) = (row.ip_address, row.prefix_length) {
                self.subnets.extend(Ipv4Net::new(address, length).ok());
            }
        }
    }

    fn add_neighbors(&mut self, device: &Device) {
        let lldp = device.tables.lldp.iter().flat_map(|table| &table.rows);
        for row in lldp {
            self.links += 1;
            self.neighbors.extend(row.mgmt_addrs.iter().filter_map(|address| address.parse::<IpAddr>().ok()));
        }
        let cdp = device.tables.cdp.iter().flat_map(|table| &table.rows);
        for row in cdp {
            self.links += 1;
            self.neighbors.extend(row.address.as_ref().and_then(|address| address.parse::<IpAddr>().ok()));
        }
    }
}

/// Returns the addresses in the ARP caches and IPv6 neighbor caches of a report.
pub(super) fn cached(report: &Report) -> impl Iterator<Item = IpAddr> + '_ {
    let caches = report.devices.iter().flat_map(|device| &device.tables.arp);
    caches.flat_map(|table| &table.rows).map(|row| row.ip_address)
}
