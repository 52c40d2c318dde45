//! The hosts of a file, joined from the elements that describe them.
//!
//! masscan writes an element for each open port. A file may have several runs, of which a later one has newer facts.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::host::HostParts;
use crate::discovery::parse::meter::Meter;
use crate::discovery::report::{AddressRow, Device, PortRange, PortRow, Table, WarningCode};
use crate::model::{PortNumber, Protocol};

/// The hosts in the order of their first elements.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    hosts: Vec<Host>,
    by_address: HashMap<IpAddr, usize>,
    /// The elements that the hosts consist of.
    rows: usize,
}

#[derive(Debug)]
struct Host {
    parts: HostParts,
    /// The last run that has the host.
    run: usize,
    /// The addresses, once a second element was joined.
    addresses: Option<HashSet<IpAddr>>,
    /// The places of the ports, once a second element was joined.
    places: Option<HashMap<(Protocol, PortNumber), usize>>,
}

impl Hosts {
    /// Adds an element. `scanned` are the ports of its run, merged and sorted.
    pub(super) fn push(&mut self, parts: HostParts, run: usize, scanned: &[PortRange], meter: &mut Meter) {
        self.rows = self.rows.saturating_add(parts.rows);
        let known = parts.addresses.iter().find_map(|address| self.by_address.get(address)).copied();
        let place = known.unwrap_or(self.hosts.len());
        for address in &parts.addresses {
            self.by_address.entry(*address).or_insert(place);
        }
        match self.hosts.get_mut(place) {
            Some(host) => {
                let replaced = host.join(parts, run, scanned, meter);
                self.rows = self.rows.saturating_sub(replaced);
            }
            None => self.hosts.push(Host { parts, run, addresses: None, places: None }),
        }
    }

    /// Converts the hosts to devices, and counts the elements that they consist of as used.
    pub(super) fn into_devices(self, is_complete: bool, meter: &mut Meter) -> Vec<Device> {
        meter.use_rows(self.rows);
        self.hosts.into_iter().map(|host| device(host.parts, is_complete)).collect()
    }
}

impl Host {
    /// Joins a further element of the host. Returns the number of ports that it replaces.
    fn join(&mut self, later: HostParts, run: usize, scanned: &[PortRange], meter: &mut Meter) -> usize {
        let is_newer = run != self.run;
        let mut replaced = 0;
        if is_newer {
            self.run = run;
            self.places = None;
            replaced = self.forget_scanned(scanned, meter);
        }
        let own = &mut self.parts;
        let (earlier_name, later_name) = (own.hostname.take(), later.hostname);
        own.hostname = if is_newer { later_name.or(earlier_name) } else { earlier_name.or(later_name) };
        let (earlier_mac, later_mac) = (own.mac_address, later.mac_address);
        own.mac_address = if is_newer { later_mac.or(earlier_mac) } else { earlier_mac.or(later_mac) };
        own.has_ports |= later.has_ports;
        own.has_timed_out |= later.has_timed_out;
        meter.add_steps(later.addresses.len());
        let known = self.addresses.get_or_insert_with(|| own.addresses.iter().copied().collect());
        own.addresses.extend(later.addresses.into_iter().filter(|address| known.insert(*address)));
        for port in later.ports {
            replaced += usize::from(self.join_port(port, is_newer, meter));
        }
        replaced
    }

    /// Removes the ports that a later run has scanned again. Returns their number.
    fn forget_scanned(&mut self, scanned: &[PortRange], meter: &mut Meter) -> usize {
        let before = self.parts.ports.len();
        meter.add_steps(before);
        self.parts.ports.retain(|port| {
            let is_scanned = covers(scanned, port);
            if is_scanned {
                meter.leave_out(WarningCode::RowReplaced, || format!("{}/{}", port.number, port.protocol));
            }
            !is_scanned
        });
        before - self.parts.ports.len()
    }

    /// Joins a port. Returns whether it replaces one of an earlier run.
    fn join_port(&mut self, port: PortRow, is_newer: bool, meter: &mut Meter) -> bool {
        let ports = &mut self.parts.ports;
        let places = self.places.get_or_insert_with(|| {
            meter.add_steps(ports.len());
            let keys = ports.iter().map(|port| (port.protocol, port.number));
            keys.enumerate().map(|(place, key)| (key, place)).collect()
        });
        let place = *places.entry((port.protocol, port.number)).or_insert(ports.len());
        let Some(known) = ports.get_mut(place) else {
            ports.push(port);
            return false;
        };
        if is_newer {
            meter.leave_out(WarningCode::RowReplaced, || format!("{}/{}", port.number, port.protocol));
            *known = port;
            return true;
        }
        // masscan repeats a port for each banner.
        known.service = known.service.take().or(port.service);
        known.product = known.product.take().or(port.product);
        known.version = known.version.take().or(port.version);
        known.tunnel = known.tunnel.take().or(port.tunnel);
        false
    }
}

/// Returns whether one of the ranges, which are sorted and do not overlap, contains a port.
fn covers(ranges: &[PortRange], port: &PortRow) -> bool {
    let end = ranges.partition_point(|range| (range.protocol, range.first) <= (port.protocol, port.number));
    let before = end.checked_sub(1).and_then(|place| ranges.get(place));
    before.is_some_and(|range| range.contains(port.protocol, port.number))
}

/// Converts a host. An IP address that nmap reached is one of the device's, but not all of them.
fn device(parts: HostParts, is_complete: bool) -> Device {
    let HostParts { hostname, addresses, mac_address, ports, has_ports, has_timed_out, .. } = parts;
    let addresses = addresses.into_iter();
    let addresses = addresses.map(|ip| AddressRow { mac_address, ..AddressRow::new(ip) }).collect();
    let mut device = Device { hostname, ..Device::default() };
    device.tables.addresses = Some(Table::truncated(addresses));
    let is_complete = is_complete && !has_timed_out;
    device.tables.ports =
        has_ports.then(|| if is_complete { Table::complete(ports) } else { Table::truncated(ports) });
    device
}
