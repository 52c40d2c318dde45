//! The ports of a device, and the aggregates that they are members of.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use super::tables::Tables;
use crate::discovery::reconcile::{PortNames, SwitchPorts, trimmed};
use crate::discovery::report::StpState;
use crate::model::{Host, IfEntry, IfEntryId, MacAddress};
use crate::topology::links::key::PortKey;
use crate::topology::links::vlans::ranges;
use crate::topology::links::{LinkState, VlanRange};

/// `ifType` of aggregates: `ieee8023adLag`.
const AGGREGATE_TYPE: i64 = 161;

/// `ifType` that vendors also give to aggregates: `propVirtual` and `propMultiplexor`.
const VIRTUAL_TYPES: [i64; 2] = [53, 54];

/// `ifType` of Ethernet, which agents of hosts also give to aggregates: `ethernetCsmacd`.
const ETHERNET_TYPE: i64 = 6;

/// The usual names of aggregates without their numbers, abbreviated.
const AGGREGATES: [&str; 13] = [
    "ae",
    "agg",
    "aggr",
    "bagg",
    "be",
    "bridge-aggregation",
    "eth-trunk",
    "lag",
    "po",
    "ragg",
    "route-aggregation",
    "trk",
    "trunk",
];

/// The names that operating systems of hosts give to aggregates. No hardware has them.
const SOFTWARE_AGGREGATES: [&str; 4] = ["bond", "bonding", "lagg", "team"];

/// `ifType` of tunnels: `tunnel` and `mplsTunnel`.
const TUNNEL_TYPES: [i64; 2] = [131, 150];

/// `ifType` that agents also give to tunnels, or none: `other` and `propVirtual`.
const UNCERTAIN_TYPES: [i64; 2] = [1, 53];

/// The usual names of tunnels without their numbers, abbreviated.
const TUNNELS: [&str; 9] = ["gre", "ipip", "nve", "sit", "tu", "tun", "tunnel-ip", "vti", "wg"];

/// The names of tunnels that systems present as Ethernet. No hardware has them.
const ETHERNET_TUNNELS: [&str; 4] = ["eoip-tunnel", "geneve", "gretap", "vxlan"];

/// A port of a device.
#[derive(Clone, Debug)]
pub(in crate::topology::links) struct SwitchPort {
    pub(in crate::topology::links) id: IfEntryId,
    pub(in crate::topology::links) name: Arc<str>,
    pub(in crate::topology::links) speed_bps: Option<u64>,
    pub(in crate::topology::links) state: LinkState,
    /// The VLANs of the port; `None` when unknown.
    pub(in crate::topology::links) vlans: Option<Box<[VlanRange]>>,
    pub(in crate::topology::links) untagged_vlan: Option<u16>,
    /// Whether the spanning tree blocks the port; `None` when unknown.
    pub(in crate::topology::links) blocked: Option<bool>,
    pub(in crate::topology::links) mac_address: Option<MacAddress>,
    /// The place of the aggregate of which the port is a member.
    pub(in crate::topology::links) lag: Option<u32>,
    /// Whether the port is an aggregate, by its type, its name or its members.
    pub(in crate::topology::links) is_aggregate: bool,
    /// Whether frames leave through a tunnel rather than a cable.
    pub(in crate::topology::links) is_tunnel: bool,
}

/// The aggregate of which a port is a member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::topology::links) enum Aggregate {
    /// A port of the device.
    Port(PortKey),
    /// The number that the device announces. None of its known ports is the aggregate.
    Number(NonZeroU32),
}

/// Returns the ports of a host with their aggregates. The host or its claims name the aggregates.
pub(super) fn ports(
    host: &Host,
    by_value: &SwitchPorts,
    tables: &Tables<'_>,
    port_names: &PortNames,
) -> Box<[SwitchPort]> {
    let has_lag = host.if_entries.iter().any(|entry| entry.lag_id.is_some());
    let ids = host.if_entries.iter().map(|entry| entry.id).zip(0..).filter(|_| has_lag);
    let places: BTreeMap<IfEntryId, u32> = ids.collect();
    let place = |index: i64| u32::try_from(by_value.cabled(by_value.local(Some(index), None)?)).ok();
    let rows = tables.lag.iter().filter_map(|row| Some((place(row.if_index)?, place(row.lag_id)?)));
    let claimed: BTreeMap<u32, u32> = rows.collect();
    let states = tables.stp.iter().filter_map(|row| {
        let place = by_value.cabled(by_value.local(Some(row.if_index?), None)?);
        Some((u32::try_from(place).ok()?, row.state? == StpState::Blocking))
    });
    let blocked: BTreeMap<u32, bool> = states.collect();
    let port = |(entry, own): (&IfEntry, u32)| {
        let stored = entry.lag_id.and_then(|id| places.get(&id).copied());
        SwitchPort {
            id: entry.id,
            name: name(entry),
            speed_bps: entry.speed_bps.filter(|speed| *speed != 0),
            state: LinkState::of_port(entry.admin_status, entry.oper_status),
            vlans: entry.vlans.as_ref().map(|vlans| ranges(vlans).into_boxed_slice()),
            untagged_vlan: entry.vlans.as_ref().and_then(|vlans| vlans.untagged),
            blocked: blocked.get(&own).copied(),
            mac_address: entry.mac_address,
            lag: claimed.get(&own).copied().or(stored).filter(|lag| *lag != own),
            is_aggregate: is_aggregate(entry, port_names),
            is_tunnel: is_tunnel(entry, port_names),
        }
    };
    let mut ports: Box<[SwitchPort]> = host.if_entries.iter().zip(0..).map(port).collect();
    inherit_from_units(&mut ports, by_value);
    join_software_aggregates(&mut ports, host, (by_value, tables), port_names);
    let aggregates: BTreeSet<u32> = ports.iter().filter_map(|port| port.lag).collect();
    for place in aggregates {
        let place = usize::try_from(place).ok();
        if let Some(port) = place.and_then(|place| ports.get_mut(place)) {
            port.is_aggregate = true;
        }
    }
    ports
}

/// Returns the MAC addresses of aggregates, each with the place of the aggregate, sorted.
pub(super) fn aggregates(ports: &[SwitchPort]) -> Box<[(MacAddress, u32)]> {
    let aggregates = ports.iter().zip(0..).filter(|(port, _)| port.is_aggregate);
    let mut aggregates: Vec<_> =
        aggregates.filter_map(|(port, place)| Some((port.mac_address?, place))).collect();
    aggregates.sort_unstable();
    aggregates.into_boxed_slice()
}

/// Gives ports the VLANs and the aggregates of their logical units. Some systems know them there only.
fn inherit_from_units(ports: &mut [SwitchPort], by_value: &SwitchPorts) {
    let mut of_ports: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (unit, port) in by_value.units() {
        if let (Ok(unit), Ok(port)) = (usize::try_from(*unit), usize::try_from(*port)) {
            of_ports.entry(port).or_default().push(unit);
        }
    }
    for (place, units) in of_ports {
        let units = || units.iter().filter_map(|unit| ports.get(*unit));
        let mut with_vlans = units().filter(|unit| unit.vlans.is_some());
        // The VLANs of several units would have to be joined, and each is one of routed interfaces.
        let only = with_vlans.next().filter(|_| with_vlans.next().is_none());
        let vlans = only.map(|unit| (unit.vlans.clone(), unit.untagged_vlan));
        let lag = units().find_map(|unit| unit.lag);
        let lag = lag.and_then(|lag| u32::try_from(by_value.cabled(usize::try_from(lag).ok()?)).ok());
        let Some(port) = ports.get_mut(place) else { continue };
        if let Some((vlans, untagged_vlan)) = vlans.filter(|_| port.vlans.is_none()) {
            (port.vlans, port.untagged_vlan) = (vlans, untagged_vlan);
        }
        port.lag = port.lag.or(lag).filter(|lag| usize::try_from(*lag) != Ok(place));
    }
}

/// Makes ports members of the aggregate that has the same MAC address.
///
/// Hosts do not report the members of their aggregates, but all of them have the aggregate's address. Bridges and VLANs
/// above may have it as well; neighbors are seen on physical ports only.
fn join_software_aggregates(
    ports: &mut [SwitchPort],
    host: &Host,
    (by_value, tables): (&SwitchPorts, &Tables<'_>),
    port_names: &PortNames,
) {
    let mut aggregates: BTreeMap<MacAddress, Option<u32>> = BTreeMap::new();
    for ((port, entry), place) in ports.iter().zip(&host.if_entries).zip(0..) {
        if let Some(address) = port.mac_address.filter(|_| has_name(entry, &SOFTWARE_AGGREGATES, port_names))
        {
            aggregates.entry(address).and_modify(|only| *only = None).or_insert(Some(place));
        }
    }
    if aggregates.is_empty() {
        return;
    }
    let seen = tables.lldp.iter().filter_map(|row| by_value.local(row.if_index, row.if_name.as_deref()));
    for place in seen {
        let Some(port) = ports.get_mut(place).filter(|port| port.lag.is_none() && !port.is_aggregate) else {
            continue;
        };
        port.lag = port.mac_address.and_then(|address| aggregates.get(&address).copied().flatten());
    }
}

fn name(entry: &IfEntry) -> Arc<str> {
    let name = entry.if_name.as_deref().and_then(trimmed).or_else(|| trimmed(&entry.if_descr));
    name.map_or_else(|| entry.if_index.to_string().into(), Arc::from)
}

fn is_aggregate(entry: &IfEntry, port_names: &PortNames) -> bool {
    let has_name = |names| has_name(entry, names, port_names);
    match entry.if_type {
        Some(AGGREGATE_TYPE) => true,
        Some(ETHERNET_TYPE) => has_name(&SOFTWARE_AGGREGATES),
        Some(kind) if !VIRTUAL_TYPES.contains(&kind) => false,
        _ => has_name(&AGGREGATES) || has_name(&SOFTWARE_AGGREGATES),
    }
}

fn is_tunnel(entry: &IfEntry, port_names: &PortNames) -> bool {
    match entry.if_type {
        Some(kind) if TUNNEL_TYPES.contains(&kind) => true,
        Some(kind) if !UNCERTAIN_TYPES.contains(&kind) => has_name(entry, &ETHERNET_TUNNELS, port_names),
        _ => has_name(entry, &TUNNELS, port_names) || has_name(entry, &ETHERNET_TUNNELS, port_names),
    }
}

/// Returns whether an interface has one of these names and a number.
fn has_name(entry: &IfEntry, names: &[&str], port_names: &PortNames) -> bool {
    let abbreviated = |name: &str| port_names.abbreviated(name);
    let name = entry.if_name.as_deref().and_then(abbreviated).or_else(|| abbreviated(&entry.if_descr));
    name.is_some_and(|name| {
        let kind = name.trim_end_matches(|character: char| character.is_ascii_digit());
        names.contains(&kind.trim_end_matches('-'))
    })
}
