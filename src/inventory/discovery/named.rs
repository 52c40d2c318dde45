//! The devices that others name: neighbors by LLDP and CDP, and entries of ARP caches.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::discovery::reconcile::Identity;
use crate::discovery::report::{AddressRow, ArpRow, CdpRow, Device, LldpRow, Table, Tables};

/// Returns the tables that name devices; `None` if there are none.
pub(super) fn naming_tables(tables: Tables) -> Option<Tables> {
    let Tables { lldp, cdp, arp, .. } = tables;
    let has_any = lldp.is_some() || cdp.is_some() || arp.is_some();
    has_any.then(|| Tables { lldp, cdp, arp, ..Tables::default() })
}

/// Returns the devices that the tables name, each once, in a stable order.
///
/// A forwarding database names none: a MAC address behind a port says nothing of a device.
pub(super) fn devices_named_by(tables: &Tables) -> Vec<Device> {
    let lldp = tables.lldp.iter().flat_map(|table| &table.rows).map(by_lldp);
    let cdp = tables.cdp.iter().flat_map(|table| &table.rows).map(by_cdp);
    let arp = tables.arp.iter().flat_map(|table| &table.rows).filter(|row| row.has_answered()).map(by_arp);
    let mut devices = BTreeMap::new();
    for device in lldp.chain(cdp).chain(arp) {
        let identities = Identity::of_device(&device);
        if !identities.is_empty() {
            devices.entry(identities).or_insert(device);
        }
    }
    devices.into_values().collect()
}

fn by_lldp(row: &LldpRow) -> Device {
    let addresses = row.mgmt_addrs.iter().filter_map(|address| address.parse().ok());
    Device {
        chassis_id: Some(Box::new(row.chassis_id.clone())),
        sys_name: row.sys_name.clone(),
        sys_descr: row.sys_desc.clone(),
        capabilities: row.capabilities.clone(),
        ..at_addresses(addresses.map(AddressRow::new).collect())
    }
}

fn by_cdp(row: &CdpRow) -> Device {
    let address = row.address.as_ref().and_then(|address| address.parse::<IpAddr>().ok());
    Device {
        cdp_device_id: Some(row.device_id.clone()),
        model: row.platform.clone(),
        sys_descr: row.version.clone(),
        ..at_addresses(address.map(AddressRow::new).into_iter().collect())
    }
}

fn by_arp(row: &ArpRow) -> Device {
    let address = AddressRow { mac_address: Some(row.mac_address), ..AddressRow::new(row.ip_address) };
    at_addresses(vec![address])
}

/// Returns a device with these addresses.
fn at_addresses(rows: Vec<AddressRow>) -> Device {
    let mut device = Device::default();
    device.tables.addresses = (!rows.is_empty()).then(|| Table::truncated(rows));
    device
}
