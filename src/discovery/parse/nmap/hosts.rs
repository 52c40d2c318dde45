//! The hosts of a file, joined from the elements that describe them.
//!
//! masscan writes an element for each open port. A file may have several runs, of which a later one has newer facts.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

use hashbrown::HashTable;

use super::host::HostElements;
use crate::discovery::parse::meter::Meter;
use crate::discovery::report::{AddressRow, Device, PortRange, PortRow, Table, WarningCode};
use crate::model::{PortNumber, Protocol};

/// The hosts in the order of their first elements.
#[derive(Debug, Default)]
pub(super) struct ScannedHosts {
    devices: Vec<Device>,
    /// The facts about the device at the same place that its tables do not contain.
    states: Vec<PendingFacts>,
    by_address: HashTable<AddressPlace>,
    hashes: RandomState,
    /// The elements that the hosts consist of.
    rows: usize,
}

/// A device, and one of its addresses. Most hosts of a scan have little more than that, so that it must be small.
#[derive(Clone, Copy, Debug)]
struct AddressPlace {
    device: u32,
    row: u32,
}

impl AddressPlace {
    fn address(self, devices: &[Device]) -> Option<IpAddr> {
        let device = devices.get(usize::try_from(self.device).ok()?)?;
        let rows = &device.tables.addresses.as_deref()?.rows;
        Some(rows.get(usize::try_from(self.row).ok()?)?.ip_address)
    }
}

/// Facts from the elements of a host that the device cannot hold yet.
#[derive(Debug)]
struct PendingFacts {
    /// The last run that has the host.
    run: u32,
    lacks_ports: bool,
    /// An index of addresses and ports for further elements. Most hosts have one element.
    places: Option<Box<Places>>,
}

#[derive(Debug, Default)]
struct Places {
    addresses: HashSet<IpAddr>,
    ports: HashMap<(Protocol, PortNumber), usize>,
}

impl ScannedHosts {
    /// Adds an element. `scanned` are the ports of its run, merged and sorted.
    pub(super) fn push(&mut self, parts: HostElements, run: u32, scanned: &[PortRange], meter: &mut Meter) {
        self.rows = self.rows.saturating_add(parts.rows);
        let place =
            parts.addresses.iter().find_map(|address| self.find(*address)).unwrap_or(self.devices.len());
        let known_addresses = match (self.devices.get_mut(place), self.states.get_mut(place)) {
            (Some(device), Some(state)) => {
                let known_addresses = addresses(device).len();
                let replaced = ScannedHost { device, state }.join(parts, run, scanned, meter);
                self.rows = self.rows.saturating_sub(replaced);
                known_addresses
            }
            _ => {
                let lacks_ports = parts.lacks_ports;
                self.states.push(PendingFacts { run, lacks_ports, places: None });
                self.devices.push(device(parts));
                0
            }
        };
        self.note_addresses(place, known_addresses);
    }

    /// Returns the place of the device with an address.
    fn find(&self, address: IpAddr) -> Option<usize> {
        let hash = self.hashes.hash_one(Some(address));
        let place = self.by_address.find(hash, |place| place.address(&self.devices) == Some(address))?;
        usize::try_from(place.device).ok()
    }

    /// Notes the addresses of a device from a row on. An address stays with the device that had it first.
    fn note_addresses(&mut self, place: usize, first: usize) {
        let Self { devices, by_address, hashes, .. } = self;
        let Some(device) = devices.get(place) else { return };
        for (row, address) in addresses(device).iter().enumerate().skip(first) {
            let (Ok(device), Ok(row)) = (u32::try_from(place), u32::try_from(row)) else { return };
            let of = |place: &AddressPlace| place.address(devices);
            let is_same = |place: &AddressPlace| of(place) == Some(address.ip_address);
            by_address
                .entry(hashes.hash_one(Some(address.ip_address)), is_same, |place| hashes.hash_one(of(place)))
                .or_insert(AddressPlace { device, row });
        }
    }

    /// Returns the devices, and counts the elements that they consist of as used.
    pub(super) fn into_devices(self, is_complete: bool, meter: &mut Meter) -> Vec<Device> {
        meter.use_rows(self.rows);
        let mut devices = self.devices;
        for (device, state) in devices.iter_mut().zip(self.states) {
            if let Some(addresses) = &mut device.tables.addresses {
                let mac_address = addresses.rows.first().and_then(|row| row.mac_address);
                addresses.rows.iter_mut().for_each(|row| row.mac_address = mac_address);
            }
            if let Some(ports) = &mut device.tables.ports {
                ports.complete = is_complete && !state.lacks_ports;
            }
        }
        devices
    }
}

/// A host that has an element already.
struct ScannedHost<'h> {
    device: &'h mut Device,
    state: &'h mut PendingFacts,
}

impl ScannedHost<'_> {
    /// Joins a further element of the host. Returns the number of ports that it replaces.
    fn join(&mut self, later: HostElements, run: u32, scanned: &[PortRange], meter: &mut Meter) -> usize {
        let is_newer = run != self.state.run;
        let mut replaced = 0;
        if is_newer {
            self.state.run = run;
            replaced = self.forget_scanned(scanned, meter);
        }
        replaced + self.join_parts(later, is_newer, meter)
    }

    /// Removes the ports that a later run has scanned again. Returns their number.
    fn forget_scanned(&mut self, scanned: &[PortRange], meter: &mut Meter) -> usize {
        // The ports that remain are at other places.
        self.state.places = None;
        let Some(ports) = &mut self.device.tables.ports else { return 0 };
        let before = ports.rows.len();
        meter.add_steps(before);
        ports.rows.retain(|port| {
            let is_scanned = covers(scanned, port);
            if is_scanned {
                meter.leave_out(WarningCode::RowReplaced, || format!("{}/{}", port.number, port.protocol));
            }
            !is_scanned
        });
        before - ports.rows.len()
    }

    fn join_parts(&mut self, later: HostElements, is_newer: bool, meter: &mut Meter) -> usize {
        let Self { device, state } = self;
        device.hostname = latest(device.hostname.take(), later.hostname, is_newer);
        state.lacks_ports |= later.lacks_ports;

        let addresses = &mut device.tables.addresses.get_or_insert_with(|| Table::truncated(Vec::new())).rows;
        if later.has_ports && device.tables.ports.is_none() {
            device.tables.ports = Some(Table::truncated(Vec::new()));
        }
        let mut none = Vec::new();
        let ports = device.tables.ports.as_mut().map_or(&mut none, |table| &mut table.rows);
        let places = state.places.get_or_insert_with(|| {
            meter.add_steps(addresses.len() + ports.len());
            Box::new(Places::of(addresses, ports))
        });
        meter.add_steps(later.addresses.len());
        let unknown = later.addresses.into_iter().filter(|address| places.addresses.insert(*address));
        addresses.extend(unknown.map(AddressRow::new));
        if let Some(first) = addresses.first_mut() {
            first.mac_address = latest(first.mac_address, later.mac_address, is_newer);
        }
        let replaced = later.ports.into_iter().filter_map(|port| {
            let place = *places.ports.entry((port.protocol, port.number)).or_insert(ports.len());
            join_port(ports, place, port, is_newer, meter).then_some(())
        });
        replaced.count()
    }
}

impl Places {
    fn of(addresses: &[AddressRow], ports: &[PortRow]) -> Self {
        let keys = ports.iter().map(|port| (port.protocol, port.number));
        Self {
            addresses: addresses.iter().map(|row| row.ip_address).collect(),
            ports: keys.enumerate().map(|(place, key)| (key, place)).collect(),
        }
    }
}

/// Returns the value of the later run, or the first value of one run.
fn latest<T>(earlier: Option<T>, later: Option<T>, is_newer: bool) -> Option<T> {
    if is_newer { later.or(earlier) } else { earlier.or(later) }
}

/// Joins a port that belongs to a place. Returns whether it replaces one of an earlier run.
fn join_port(
    ports: &mut Vec<PortRow>,
    place: usize,
    port: PortRow,
    is_newer: bool,
    meter: &mut Meter,
) -> bool {
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

fn addresses(device: &Device) -> &[AddressRow] {
    device.tables.addresses.as_deref().map_or(&[], |table| &table.rows)
}

/// Returns whether one of the ranges, which are sorted and do not overlap, contains a port.
fn covers(ranges: &[PortRange], port: &PortRow) -> bool {
    let end = ranges.partition_point(|range| (range.protocol, range.first) <= (port.protocol, port.number));
    let before = end.checked_sub(1).and_then(|place| ranges.get(place));
    before.is_some_and(|range| range.contains(port.protocol, port.number))
}

/// Converts a host. An IP address that nmap reached is one of the device's, but not all of them.
fn device(parts: HostElements) -> Device {
    let HostElements { hostname, addresses, mac_address, ports, has_ports, .. } = parts;
    let mut device = Device { hostname, ..Device::default() };
    // Until the end of the file, the first address has the MAC address of all.
    let mut addresses: Vec<AddressRow> = addresses.into_iter().map(AddressRow::new).collect();
    addresses.iter_mut().take(1).for_each(|first| first.mac_address = mac_address);
    device.tables.addresses = Some(Table::truncated(addresses));
    device.tables.ports = has_ports.then(|| Table::truncated(ports));
    device
}
