//! Conversion of a device of a report to the form of a host.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::entries::InterfaceEntries;
use super::identity::{Identity, chassis_id_of};
use super::{PortNames, names};
use crate::discovery::report::{AddressRow, Device, PortRange, PortRow, Table, TableKind, Tables};
use crate::model::{
    BindingTarget, Host, HostId, Interface, NetworkId, Port, PortNumber, Protocol, Service,
    ServiceDefinition, Source, Timestamp, derived_id,
};

/// The maximum length of a name that is made for a host, in characters.
const MAX_NAME: usize = 255;

/// Returns the id of a new host. The id follows from the network and the device's strongest identity.
///
/// Returns `None` if the device has no identity: such a device cannot be recognized again.
#[must_use]
pub fn new_host_id(device: &Device, network_id: NetworkId) -> Option<HostId> {
    let strongest = Identity::of_device(device).into_iter().next()?;
    Some(derived_id("discovered host", &[network_id.as_bytes(), &strongest.term()]))
}

/// The description of one device in a report, in the form of a host.
#[derive(Clone, Debug)]
pub struct Projection {
    pub(super) host: Host,
    /// The tables that the report has, and whether they are complete.
    pub(super) tables: BTreeMap<TableKind, bool>,
    /// The tables that are as in their latest complete reports. They are not among `tables`.
    pub(super) unchanged: BTreeSet<TableKind>,
    /// The port numbers that were scanned, [merged](PortRange::merged); empty: all.
    pub(super) scanned_ports: Vec<PortRange>,
    /// Whether the host is named after its other fields.
    pub(super) derives_name: bool,
    /// Whether the table of interface entries follows from other tables. Then it is not among `tables`.
    pub(super) has_derived_entries: bool,
    /// Whether the chassis id is a MAC address of the device that it does not announce as such.
    pub(super) has_derived_chassis: bool,
    /// The rules by which names of ports are matched.
    pub(super) port_names: PortNames,
}

impl Projection {
    /// Converts a device. `host_id` is the id of the host that it is, or of the new one.
    ///
    /// `scanned_ports` are the port numbers for which a complete table of ports is complete. An empty list stands for
    /// all.
    #[must_use]
    pub fn of_device(
        device: &Device,
        network_id: NetworkId,
        host_id: HostId,
        scanned_ports: &[PortRange],
    ) -> Self {
        let text = |text: &Option<String>| text.as_deref().and_then(names::trimmed).map(str::to_owned);
        let mut host = Host {
            hostname: text(&device.hostname),
            sys_name: text(&device.sys_name),
            sys_descr: text(&device.sys_descr),
            sys_object_id: text(&device.sys_object_id),
            sys_location: text(&device.sys_location),
            sys_contact: text(&device.sys_contact),
            chassis_id: chassis_id_of(device),
            manufacturer: text(&device.manufacturer),
            model: text(&device.model),
            serial_number: text(&device.serial_number),
            management_url: text(&device.management_url),
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            source: Source::Discovery { metadata: Vec::new() },
            ..Host::with_id(host_id, network_id, "")
        };
        let mut entries = InterfaceEntries::new(&host, &device.tables);
        let addresses = device.tables.addresses.as_deref();
        host.interfaces = interfaces(&host, addresses.map_or(&[][..], Table::read_rows), &entries);
        entries.set_interfaces(&host.interfaces, addresses);
        host.if_entries = entries.into_parts();
        (host.ports, host.services) = ports(&host, device.tables.ports.as_deref());
        host.name = derived_name(&host);
        Self {
            host,
            tables: tables(&device.tables),
            unchanged: device.tables.unchanged().into_iter().collect(),
            scanned_ports: PortRange::merged(scanned_ports),
            derives_name: true,
            has_derived_entries: device.tables.if_entries.as_deref().is_some_and(|table| table.derived),
            has_derived_chassis: device.chassis_id.is_none(),
            port_names: PortNames::new(),
        }
    }

    /// Converts a host that a daemon reports. Its lists count as truncated, so that merging only adds to them.
    #[must_use]
    pub fn of_host(mut host: Host) -> Self {
        let has_lldp = host.if_entries.iter().any(|entry| entry.lldp_chassis_id.is_some());
        let has_cdp = host.if_entries.iter().any(|entry| entry.cdp_device_id.is_some());
        let has_lag = host.if_entries.iter().any(|entry| entry.lag_id.is_some());
        let has_ports = !host.ports.is_empty() || !host.services.is_empty();
        let present = [
            (TableKind::IfEntries, !host.if_entries.is_empty()),
            (TableKind::Addresses, !host.interfaces.is_empty()),
            (TableKind::Lldp, has_lldp),
            (TableKind::Cdp, has_cdp),
            (TableKind::Lag, has_lag),
            (TableKind::Ports, has_ports),
        ];
        for entry in &mut host.if_entries {
            entry.neighbor = None;
        }
        let derives_name = names::trimmed(&host.name).is_none();
        if derives_name {
            host.name = derived_name(&host);
        }
        let tables = present.into_iter().filter(|(_, present)| *present).map(|(kind, _)| (kind, false));
        Self {
            tables: tables.collect(),
            unchanged: BTreeSet::new(),
            scanned_ports: Vec::new(),
            derives_name,
            has_derived_entries: false,
            has_derived_chassis: false,
            port_names: PortNames::new(),
            host,
        }
    }

    /// Sets the rules by which a merge matches the ports of the device with those of the host. Default: the usual ones.
    #[must_use]
    pub fn with_port_names(self, port_names: PortNames) -> Self {
        Self { port_names, ..self }
    }

    /// Returns the device as a host.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Takes the host out, and leaves it without its parts.
    pub(super) fn take_host(&mut self) -> Host {
        let mut host = std::mem::replace(&mut self.host, Host::with_id(HostId::nil(), NetworkId::nil(), ""));
        let interfaces = std::mem::take(&mut host.interfaces);
        let ports = std::mem::take(&mut host.ports);
        let services = std::mem::take(&mut host.services);
        let if_entries = std::mem::take(&mut host.if_entries);
        self.host = host.clone();
        Host { interfaces, ports, services, if_entries, ..host }
    }

    /// Returns whether a complete table of ports covers a port.
    pub(super) fn covers_port(&self, protocol: Protocol, number: PortNumber) -> bool {
        let begins = |range: &PortRange| (range.protocol, range.first) <= (protocol, number);
        let after = self.scanned_ports.partition_point(begins);
        let last = after.checked_sub(1).and_then(|place| self.scanned_ports.get(place));
        self.scanned_ports.is_empty() || last.is_some_and(|range| range.contains(protocol, number))
    }
}

/// Returns the name of a host that is named after its other fields.
pub(crate) fn derived_name(host: &Host) -> String {
    let names = [host.sys_name.as_deref(), host.hostname.as_deref()];
    let name = names.into_iter().flatten().find_map(names::trimmed).map(str::to_owned);
    let address = || host.interfaces.iter().map(|interface| interface.ip_address).min();
    let chassis = || host.chassis_id.as_ref().and_then(|id| names::trimmed(&id.value)).map(str::to_owned);
    let mac = || host.if_entries.iter().filter_map(|entry| entry.mac_address).min();
    let name = name.or_else(|| address().map(|address| address.to_string()));
    let name = name.or_else(chassis).or_else(|| mac().map(|mac| mac.to_string()));
    name.unwrap_or_default().chars().filter(|character| !character.is_control()).take(MAX_NAME).collect()
}

fn tables(tables: &Tables) -> BTreeMap<TableKind, bool> {
    let is_derived = tables.if_entries.as_deref().is_some_and(|table| table.derived);
    let summaries = tables.summaries().into_iter();
    let own = summaries.filter(|summary| !(is_derived && summary.kind == TableKind::IfEntries));
    own.filter(|summary| !summary.unchanged).map(|summary| (summary.kind, summary.complete)).collect()
}

/// Converts the addresses that other devices can reach. Each occurs once, in the order of interfaces and addresses.
///
/// A scan may know a device by a link-local address alone. That is kept with its MAC address, by which the device is
/// recognized again.
fn interfaces(host: &Host, rows: &[AddressRow], entries: &InterfaceEntries) -> Vec<Interface> {
    let has_others = rows.iter().any(|row| names::own_ip(row.ip_address).is_some());
    let is_only = |row: &AddressRow| !has_others && row.if_index.is_none() && row.mac_address.is_some();
    let mut sorted: Vec<(Option<i64>, IpAddr, &AddressRow)> = Vec::new();
    for row in rows {
        let link_local = || names::link_local(row.ip_address).filter(|_| is_only(row));
        let address = names::own_ip(row.ip_address).or_else(link_local);
        sorted.extend(address.map(|address| (row.if_index, address, row)));
    }
    sorted.sort_by_key(|(if_index, address, row)| (*if_index, *address, row.mac_address, row.prefix_length));
    let mut seen = BTreeSet::new();
    let mut interfaces: Vec<Interface> = Vec::new();
    for (if_index, address, row) in sorted {
        if !seen.insert(address) {
            continue;
        }
        let entry = if_index.and_then(|index| entries.by_index(index));
        let name = entry.and_then(|entry| {
            let descr = Some(&entry.if_descr).filter(|text| !text.is_empty());
            entry.if_name.as_ref().or(descr).cloned()
        });
        let mac_address = row.mac_address.or_else(|| entry?.mac_address);
        let position = i64::try_from(interfaces.len()).unwrap_or(i64::MAX);
        interfaces.push(Interface { name, mac_address, position, ..Interface::new(host, address) });
    }
    interfaces
}

/// Converts open ports, each once, and the services that were recognized on them.
fn ports(host: &Host, table: Option<&Table<PortRow>>) -> (Vec<Port>, Vec<Service>) {
    let mut rows: Vec<&PortRow> = table.iter().flat_map(|table| table.read_rows()).collect();
    // If a port has several rows, the one with most values is kept.
    rows.sort_by_key(|row| {
        let missing = [&row.product, &row.service].map(Option::is_none);
        (row.number, row.protocol, missing, &row.product, &row.service)
    });
    rows.dedup_by_key(|row| (row.number, row.protocol));
    let mut services: Vec<Service> = Vec::new();
    let mut ports = Vec::new();
    for row in rows {
        let port = Port::new(host, row.number, row.protocol);
        let name = row.product.as_deref().and_then(names::trimmed);
        let name = name.or_else(|| row.service.as_deref().and_then(names::trimmed));
        if let Some((name, definition)) =
            name.and_then(|name| Some((name, ServiceDefinition::new(name).ok()?)))
        {
            let id = derived_id("service", &[port.id.as_bytes()]);
            let position = i64::try_from(services.len()).unwrap_or(i64::MAX);
            let source = Source::Discovery { metadata: Vec::new() };
            let service = Service { id, position, source, ..Service::new(host, name, definition) };
            services.push(service.bound_to(BindingTarget::Port { port_id: port.id, interface_id: None }));
        }
        ports.push(port);
    }
    (ports, services)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_ranges_cover_the_same_ports() {
        let number = |number: u16| PortNumber::try_from(number).unwrap();
        let mut state = 1_u32;
        let mut next = |max: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u16::try_from((state >> 16) % max + 1).unwrap()
        };
        for count in (0..6).cycle().take(300) {
            let range = |_| {
                let protocol = if next(2) == 1 { Protocol::Tcp } else { Protocol::Udp };
                PortRange::new(protocol, number(next(20)), number(next(20)))
            };
            let ranges: Vec<PortRange> = (0..count).map(range).collect();
            let projection = Projection {
                host: Host::new(NetworkId::nil(), ""),
                tables: BTreeMap::new(),
                unchanged: BTreeSet::new(),
                scanned_ports: PortRange::merged(&ranges),
                derives_name: false,
                has_derived_entries: false,
                has_derived_chassis: false,
                port_names: PortNames::new(),
            };
            for (protocol, port) in (1..=21).flat_map(|port| [(Protocol::Tcp, port), (Protocol::Udp, port)]) {
                let port = number(port);
                let is_covered =
                    ranges.is_empty() || ranges.iter().any(|range| range.contains(protocol, port));
                assert_eq!(projection.covers_port(protocol, port), is_covered, "{ranges:?}: {port:?}");
            }
        }
    }
}
