//! The pieces in which one report describes one device.
//!
//! Some scanners write an element for each open port, or for each address of a device.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use super::names;
use crate::discovery::report::{Device, Table, TableKind};
use crate::invariant::Invariant;
use crate::model::MacAddress;
use crate::union_find::UnionFind;

/// Joins the devices of a report that are pieces of one, and keeps the order of the first pieces.
///
/// Two devices of a scan are pieces of one if they have an address in common and no different MAC addresses, or a MAC
/// address in common and no different names. Devices that describe themselves are never pieces.
///
/// Devices that are given by value are moved, and only those that are borrowed are copied.
#[must_use]
pub fn join_pieces<'d>(devices: impl Into<Cow<'d, [Device]>>) -> Cow<'d, [Device]> {
    let devices = devices.into();
    let mut groups = groups_of(&devices);
    if groups.are_single() {
        return devices;
    }
    let mut joined: BTreeMap<usize, Device> = BTreeMap::new();
    for (place, device) in devices.into_owned().into_iter().enumerate() {
        match joined.get_mut(&groups.find(place)) {
            Some(whole) => add(whole, device),
            None => drop(joined.insert(place, device)),
        }
    }
    Cow::Owned(joined.into_values().collect())
}

/// Groups the places of the devices that are pieces of one.
fn groups_of(devices: &[Device]) -> UnionFind {
    let mut groups = UnionFind::new(devices.len());
    let (mut by_address, mut by_mac) = (HashMap::new(), HashMap::new());
    for (place, device) in devices.iter().enumerate().filter(|(_, device)| is_piece(device)) {
        for row in device.tables.addresses.iter().flat_map(|table| &table.rows) {
            if let Some(address) = names::own_ip(row.ip_address) {
                by_address.entry(address).or_insert_with(Vec::new).push(place);
            }
            if let Some(address) = row.mac_address.filter(|address| names::is_strong_mac(*address)) {
                by_mac.entry(address).or_insert_with(Vec::new).push(place);
            }
        }
    }
    join_by_address(&by_address, devices, &mut groups);
    for places in by_mac.values() {
        let names: BTreeSet<String> =
            places.iter().filter_map(|place| own_name(devices.get(*place)?)).collect();
        if names.len() < 2 {
            groups.join_all(places.iter().copied());
        }
    }
    groups
}

fn join_by_address(by_address: &HashMap<IpAddr, Vec<usize>>, devices: &[Device], groups: &mut UnionFind) {
    for places in by_address.values().filter(|places| places.len() > 1) {
        let mut by_macs: BTreeMap<BTreeSet<MacAddress>, Vec<usize>> = BTreeMap::new();
        for place in places {
            let macs = devices.get(*place).map(macs).asserted_or_default();
            by_macs.entry(macs).or_default().push(*place);
        }
        // An element without a MAC address belongs to the only one that has some.
        if by_macs.keys().filter(|macs| !macs.is_empty()).count() < 2 {
            groups.join_all(places.iter().copied());
        } else {
            by_macs.into_values().for_each(|places| groups.join_all(places));
        }
    }
}

/// Returns whether a device is described by its addresses, its DNS name and its open ports alone.
fn is_piece(device: &Device) -> bool {
    let described = [
        &device.sys_name,
        &device.sys_descr,
        &device.sys_object_id,
        &device.cdp_device_id,
        &device.serial_number,
    ];
    device.id.is_none()
        && device.chassis_id.is_none()
        && device.bridge_address.is_none()
        && described.into_iter().all(Option::is_none)
        && device
            .tables
            .summaries()
            .iter()
            .all(|table| matches!(table.kind, TableKind::Addresses | TableKind::Ports))
}

fn macs(device: &Device) -> BTreeSet<MacAddress> {
    let rows = device.tables.addresses.iter().flat_map(|table| &table.rows);
    rows.filter_map(|row| row.mac_address).collect()
}

/// Returns the short form of the DNS name, unless it belongs to the address.
fn own_name(device: &Device) -> Option<String> {
    let name =
        names::device_name(device.hostname.as_deref()?).filter(|name| !names::is_made_of_address(name))?;
    names::short_name(&name).map(str::to_owned)
}

fn add(whole: &mut Device, piece: Device) {
    let names = [whole.hostname.take(), piece.hostname];
    whole.hostname = names.into_iter().flatten().min();
    add_rows(&mut whole.tables.addresses, piece.tables.addresses);
    add_rows(&mut whole.tables.ports, piece.tables.ports);
}

fn add_rows<R>(whole: &mut Option<Box<Table<R>>>, piece: Option<Box<Table<R>>>) {
    match (whole, piece) {
        (_, None) => {}
        (Some(whole), Some(mut piece)) => {
            whole.rows.append(&mut piece.rows);
            whole.complete &= piece.complete;
            whole.unchanged &= piece.unchanged;
            whole.family = whole.family.filter(|family| piece.family == Some(*family));
        }
        (whole @ None, piece) => *whole = piece,
    }
}
