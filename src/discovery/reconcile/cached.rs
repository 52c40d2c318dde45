//! MAC addresses that the neighbor caches of other devices state for the addresses of a host.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use super::identity::Traits;
use super::reported::device_of;
use super::state::HostState;
use crate::discovery::report::Device;
use crate::model::{Host, Interface, InterfaceId, MacAddress, MacSource, Source, Timestamp};

/// Returns whether addresses and names are the only identities of a host.
pub(crate) fn is_address_only(host: &Host) -> bool {
    let is_own = |part: &Interface| part.mac_address.is_some() && part.mac_source.is_none();
    matches!(host.source, Source::Discovery { .. } | Source::DiscoveryWithMatch { .. })
        && host.serial_number.is_none()
        && host.chassis_id.is_none()
        && !host.interfaces.is_empty()
        && !host.interfaces.iter().any(is_own)
        && host.if_entries.iter().all(|entry| entry.mac_address.is_none())
}

/// Returns the MAC addresses that a host has by its own reports.
pub(crate) fn own_macs(host: &Host) -> BTreeSet<MacAddress> {
    Traits::of_host(host).macs
}

/// Returns whether a host lists its own addresses of the family of an address, and not this one.
pub(crate) fn lists_others(host: &Host, address: IpAddr) -> bool {
    let address = address.to_canonical();
    let listed: BTreeSet<InterfaceId> =
        host.if_entries.iter().filter_map(|entry| entry.interface_id).collect();
    let mut addresses = host.interfaces.iter().map(|part| (part, part.ip_address.to_canonical()));
    let is_listed = |part: &Interface| part.name.is_some() || listed.contains(&part.id);
    let has_address = addresses.clone().any(|(_, own)| own == address);
    !has_address && addresses.any(|(part, own)| own.is_ipv4() == address.is_ipv4() && is_listed(part))
}

/// Returns a host as the device that has a MAC address at one of its addresses.
pub(crate) fn device_at(host: &Host, address: IpAddr, mac_address: MacAddress) -> Device {
    let mut device = device_of(host);
    for row in device.tables.addresses.iter_mut().flat_map(|table| &mut table.rows) {
        row.mac_address = (row.ip_address.to_canonical() == address.to_canonical()).then_some(mac_address);
    }
    device
}

/// Takes the MAC addresses that neighbor caches state out of a host. Returns them by interface.
pub(crate) fn withdraw_cached_macs(host: &mut Host) -> BTreeMap<InterfaceId, MacAddress> {
    let mut withdrawn = BTreeMap::new();
    for part in host.interfaces.iter_mut().filter(|part| part.mac_source.is_some()) {
        part.mac_source = None;
        withdrawn.extend(part.mac_address.take().map(|address| (part.id, address)));
    }
    withdrawn
}

/// Restores withdrawn MAC addresses, unless the host now has MAC addresses of its own.
///
/// Returns the paths of the fields that have lost their values.
pub(crate) fn restore_cached_macs(
    host: &mut Host,
    state: &mut HostState,
    withdrawn: &BTreeMap<InterfaceId, MacAddress>,
) -> Vec<String> {
    let is_kept = is_address_only(host);
    let mut lost = Vec::new();
    for part in host.interfaces.iter_mut().filter(|part| part.mac_address.is_none()) {
        let Some(address) = withdrawn.get(&part.id) else { continue };
        if !is_kept {
            lost.push(format!("interfaces.{}.mac_address", part.id));
            continue;
        }
        (part.mac_address, part.mac_source) = (Some(*address), Some(MacSource::NeighborCache));
        for part in state.baseline.interfaces.iter_mut().filter(|before| before.id == part.id) {
            (part.mac_address, part.mac_source) = (Some(*address), Some(MacSource::NeighborCache));
        }
    }
    lost
}

/// Sets the MAC addresses that neighbor caches state for the interfaces of a host without any of its own.
///
/// `stated` has them by interface; other interfaces lose theirs. Values that users have set stay. Returns the
/// interfaces that change. `state` is the state of the host. It takes the addresses as well, so that they do not count
/// as edits.
pub(crate) fn set_cached_macs(
    host: &mut Host,
    state: &mut HostState,
    stated: &BTreeMap<InterfaceId, MacAddress>,
    now: Timestamp,
) -> BTreeSet<InterfaceId> {
    let HostState { baseline, edited, .. } = state;
    let mut baseline: HashMap<InterfaceId, &mut Interface> =
        baseline.interfaces.iter_mut().map(|part| (part.id, part)).collect();
    let mut changed = BTreeSet::new();
    for part in &mut host.interfaces {
        let is_own = part.mac_address.is_some() && part.mac_source.is_none();
        if is_own || edited.contains(&format!("interfaces.{}.mac_address", part.id)) {
            continue;
        }
        let address = stated.get(&part.id).copied();
        if part.mac_address == address {
            continue;
        }
        let source = address.map(|_| MacSource::NeighborCache);
        (part.mac_address, part.mac_source, part.updated_at) = (address, source, now);
        if let Some(before) = baseline.get_mut(&part.id) {
            (before.mac_address, before.mac_source, before.updated_at) = (address, source, now);
        }
        changed.insert(part.id);
    }
    if !changed.is_empty() {
        host.updated_at = now;
    }
    changed
}
