//! Conversion of a host that a daemon reports to the form of a device.

use std::collections::HashMap;

use super::names;
use crate::discovery::report::{
    AddressRow, CdpRow, Device, IfEntryRow, LagRow, LldpRow, PortRow, Table, Tables,
};
use crate::model::{Host, IfEntry, IfEntryId, InterfaceId};

/// Converts a host that a daemon reports to a device, by which it is recognized. The device has no id.
///
/// All tables are truncated. Addresses of interfaces that lead to containers or guests are left out, because many hosts
/// have the same. The display name identifies nothing.
#[must_use]
pub fn device_of(host: &Host) -> Device {
    Device {
        sys_name: host.sys_name.clone(),
        hostname: host.hostname.clone(),
        sys_descr: host.sys_descr.clone(),
        sys_object_id: host.sys_object_id.clone(),
        sys_location: host.sys_location.clone(),
        sys_contact: host.sys_contact.clone(),
        chassis_id: host.chassis_id.clone().map(Box::new),
        manufacturer: host.manufacturer.clone(),
        model: host.model.clone(),
        serial_number: host.serial_number.clone(),
        management_url: host.management_url.clone(),
        tables: tables(host),
        ..Device::default()
    }
}

fn tables(host: &Host) -> Tables {
    let entries = &host.if_entries;
    let indexes: HashMap<IfEntryId, i64> = entries.iter().map(|entry| (entry.id, entry.if_index)).collect();
    let lag = |entry: &IfEntry| {
        let lag_id = entry.lag_id.and_then(|id| indexes.get(&id)).copied()?;
        Some(LagRow::new(entry.if_index, lag_id))
    };
    let ports = host.ports.iter().map(|port| PortRow::new(port.number, port.protocol));
    Tables {
        if_entries: table(entries.iter().map(entry_row)),
        addresses: table(address_rows(host)),
        lldp: table(entries.iter().filter_map(lldp_row)),
        cdp: table(entries.iter().filter_map(cdp_row)),
        lag: table(entries.iter().filter_map(lag)),
        ports: table(ports),
        ..Tables::default()
    }
}

fn table<R>(rows: impl Iterator<Item = R>) -> Option<Box<Table<R>>> {
    let rows: Vec<R> = rows.collect();
    (!rows.is_empty()).then(|| Table::truncated(rows))
}

fn address_rows(host: &Host) -> impl Iterator<Item = AddressRow> {
    let indexes: HashMap<InterfaceId, i64> =
        host.if_entries.iter().filter_map(|entry| Some((entry.interface_id?, entry.if_index))).collect();
    let own = host.interfaces.iter().filter(|interface| {
        names::own_ip(interface.ip_address).is_some()
            && !interface.name.as_deref().is_some_and(names::is_internal_interface)
    });
    own.map(move |interface| AddressRow {
        if_index: indexes.get(&interface.id).copied(),
        mac_address: interface.mac_address,
        ..AddressRow::new(interface.ip_address)
    })
}

fn entry_row(entry: &IfEntry) -> IfEntryRow {
    IfEntryRow {
        if_name: entry.if_name.clone(),
        if_descr: Some(entry.if_descr.clone()).filter(|text| !text.is_empty()),
        if_alias: entry.if_alias.clone(),
        if_type: entry.if_type,
        speed_bps: entry.speed_bps,
        mac_address: entry.mac_address,
        admin_status: entry.admin_status,
        oper_status: entry.oper_status,
        vlans: entry.vlans.clone(),
        ..IfEntryRow::new(entry.if_index)
    }
}

fn lldp_row(entry: &IfEntry) -> Option<LldpRow> {
    Some(LldpRow {
        if_index: Some(entry.if_index),
        if_name: entry.if_name.clone(),
        port_id: entry.lldp_port_id.clone(),
        port_desc: entry.lldp_port_desc.clone(),
        sys_name: entry.lldp_sys_name.clone(),
        sys_desc: entry.lldp_sys_desc.clone(),
        mgmt_addrs: entry.lldp_mgmt_addr.iter().cloned().collect(),
        ..LldpRow::new(entry.lldp_chassis_id.clone()?)
    })
}

fn cdp_row(entry: &IfEntry) -> Option<CdpRow> {
    Some(CdpRow {
        if_index: Some(entry.if_index),
        if_name: entry.if_name.clone(),
        port_id: entry.cdp_port_id.clone(),
        platform: entry.cdp_platform.clone(),
        address: entry.cdp_address.clone(),
        ..CdpRow::new(entry.cdp_device_id.clone()?)
    })
}
