use std::net::IpAddr;

use toposcope::discovery::reconcile::{
    HostState, Merged, Merging, Projection, Recognition, merge, recognize,
};
use toposcope::discovery::report::{AddressRow, Device, IfEntryRow, LldpRow, PortRow, Table};
use toposcope::model::{
    Host, HostId, IfEntry, Interface, LldpChassisId, LldpChassisIdSubtype, MacAddress, PortNumber, Protocol,
    Source, Timestamp,
};

use super::world::NETWORK;

pub(crate) const HOST: HostId = HostId::from_u128(0xA1);

/// Returns the time this many minutes after the first report.
pub(crate) fn at(minutes: i64) -> Timestamp {
    "2026-11-01T12:00:00Z".parse::<Timestamp>().unwrap().plus_micros(minutes * 60_000_000)
}

pub(crate) fn mac(text: &str) -> MacAddress {
    text.parse().unwrap()
}

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub(crate) fn chassis(subtype: LldpChassisIdSubtype, value: &str) -> LldpChassisId {
    LldpChassisId { subtype, value: value.to_owned() }
}

/// Returns a discovered host.
pub(crate) fn host(id: u128, change: impl FnOnce(&mut Host)) -> Host {
    let mut host = Host {
        source: Source::Discovery { metadata: vec![] },
        created_at: at(0),
        updated_at: at(0),
        ..Host::with_id(HostId::from_u128(id), NETWORK, "")
    };
    change(&mut host);
    host
}

pub(crate) fn add_address(host: &mut Host, address: &str, mac_address: Option<&str>) {
    let interface = Interface { mac_address: mac_address.map(mac), ..Interface::new(host, ip(address)) };
    host.interfaces.push(interface);
}

pub(crate) fn add_port(host: &mut Host, index: i64, name: &str, mac_address: Option<&str>) {
    let entry = IfEntry {
        if_name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        mac_address: mac_address.map(mac),
        ..IfEntry::new(host, index)
    };
    host.if_entries.push(entry);
}

pub(crate) fn device(change: impl FnOnce(&mut Device)) -> Device {
    let mut device = Device::default();
    change(&mut device);
    device
}

pub(crate) fn addresses(addresses: &[&str]) -> Box<Table<AddressRow>> {
    Table::complete(addresses.iter().map(|address| AddressRow::new(ip(address))).collect())
}

pub(crate) fn entries(rows: &[(i64, &str)]) -> Box<Table<IfEntryRow>> {
    let row = |(index, name): &(i64, &str)| {
        let mut row = IfEntryRow::new(*index);
        row.if_name = Some((*name).to_owned());
        row
    };
    Table::complete(rows.iter().map(row).collect())
}

pub(crate) fn entry_macs(macs: &[&str]) -> Box<Table<IfEntryRow>> {
    let row = |(index, address): (i64, &&str)| {
        let mut row = IfEntryRow::new(index);
        row.mac_address = Some(mac(address));
        row
    };
    Table::complete((1..).zip(macs).map(row).collect())
}

pub(crate) fn ports(numbers: &[u16]) -> Box<Table<PortRow>> {
    let row = |number: &u16| PortRow::new((*number).try_into().unwrap(), Protocol::Tcp);
    Table::complete(numbers.iter().map(row).collect())
}

/// Returns a switch with two addresses, two ports and two open ports.
pub(crate) fn switch() -> Device {
    device(|device| {
        device.sys_name = Some("access-1".to_owned());
        device.sys_location = Some("Rack 4".to_owned());
        device.tables.addresses = Some(addresses(&["192.0.2.1", "192.0.2.2"]));
        device.tables.if_entries = Some(entries(&[(1, "Gi0/1"), (2, "Gi0/2")]));
        device.tables.ports = Some(ports(&[22, 443]));
    })
}

pub(crate) fn number(number: u16) -> PortNumber {
    number.try_into().unwrap()
}

/// Returns a row of a neighbor that is named by its chassis id.
pub(crate) fn lldp(if_index: i64, subtype: LldpChassisIdSubtype, value: &str) -> LldpRow {
    let mut row = LldpRow::new(chassis(subtype, value));
    row.if_index = Some(if_index);
    row
}

pub(crate) fn recognized(device: &Device, hosts: &[Host]) -> Recognition {
    let recognition = recognize(device, hosts, Merging::Allowed);
    let reversed: Vec<Host> = hosts.iter().rev().cloned().collect();
    assert_eq!(
        recognize(device, &reversed, Merging::Allowed),
        recognition,
        "the order of candidates matters"
    );
    recognition
}

/// A host and its state, to which reports are merged.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) host: Host,
    pub(crate) state: HostState,
}

impl Record {
    /// Creates a host from its first report.
    pub(crate) fn new(device: &Device) -> Self {
        let projection = Projection::of_device(device, NETWORK, HOST, &[]);
        let Merged { host, state, .. } = merge(None, None, &projection, at(0), at(0));
        Self { host, state }
    }

    /// Merges a report that was observed this many minutes after the first.
    pub(crate) fn merge(&mut self, device: &Device, minutes: i64) -> Merged {
        let projection = Projection::of_device(device, NETWORK, self.host.id, &[]);
        let merged = merge(Some(&self.host), Some(&self.state), &projection, at(minutes), at(minutes));
        self.host = merged.host.clone();
        self.state = merged.state.clone();
        merged
    }

    pub(crate) fn entry(&self, index: i64) -> &IfEntry {
        self.host.if_entries.iter().find(|entry| entry.if_index == index).unwrap()
    }

    pub(crate) fn entry_mut(&mut self, index: i64) -> &mut IfEntry {
        self.host.if_entries.iter_mut().find(|entry| entry.if_index == index).unwrap()
    }
}
