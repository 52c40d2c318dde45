//! The data of a host and its claims that the rules need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use uuid::Uuid;

use super::PortRef;
use super::key::Key;
use super::port_key::{PortKey, place_of};
use super::sighting::{Names, Sighting, sightings};
use crate::discovery::reconcile::{IdentityKind, Ports, Traits, abbreviated, is_own_mac, trimmed};
use crate::discovery::report::{FdbRow, FdbStatus, LagRow, LldpRow, StpRow, TableKind};
use crate::inventory::{Claim, ClaimRows};
use crate::model::{Host, IfEntry, LldpChassisId, MacAddress, Timestamp};

/// `ifType` of aggregates: `ieee8023adLag`.
const AGGREGATE_TYPE: i64 = 161;

/// `ifType` that vendors also give to aggregates: `propVirtual` and `propMultiplexor`.
const VIRTUAL_TYPES: [i64; 2] = [53, 54];

/// The usual names of aggregates without their numbers, abbreviated.
const AGGREGATES: [&str; 7] = ["ae", "be", "bond", "eth-trunk", "lag", "po", "trk"];

/// A host and its claims, reduced to what links follow from.
#[derive(Clone, Debug)]
pub struct Device {
    pub(super) id: Uuid,
    pub(super) network_id: Uuid,
    /// Identities other than MAC addresses, sorted.
    pub(super) keys: Box<[Key]>,
    /// All MAC addresses of the device itself, sorted.
    pub(super) macs: Box<[MacAddress]>,
    pub(super) chassis_mac: Option<MacAddress>,
    pub(super) chassis_id: Option<LldpChassisId>,
    pub(super) chassis_key: Option<Key>,
    pub(super) ports: Box<[Port]>,
    pub(super) ports_by_value: Ports,
    /// Pairs of a bridge port's number and the place of the port, sorted.
    pub(super) bridge_ports: Box<[(i64, u32)]>,
    pub(super) sightings: Box<[Sighting]>,
    /// Pairs of a learned address and the place of its port, sorted. The port is the only one that learned the address.
    pub(super) learned: Box<[(MacAddress, u32)]>,
    pub(super) learned_at: Option<Timestamp>,
    /// Whether the device has a forwarding database or a spanning tree.
    pub(super) is_bridge: bool,
    /// The tables that may lack rows.
    pub(super) truncated: Vec<TableKind>,
}

/// A port of a device.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) id: Uuid,
    pub(super) name: Arc<str>,
    pub(super) speed_bps: Option<u64>,
    /// The place of the aggregate of which the port is a member.
    pub(super) lag: Option<u32>,
    /// Whether the port is an aggregate, by its type or its name.
    pub(super) is_aggregate: bool,
}

impl Device {
    /// Collects what the rules need of a host and its claims.
    ///
    /// Neighbors that are stored with interface entries count where the host has no claims about them.
    #[must_use]
    pub fn of(host: &Host, claims: &[Claim]) -> Self {
        let traits = Traits::of_host(host);
        let tables = Tables::of(claims);
        let ports_by_value = Ports::new(host, tables.lldp);
        let bridge_ports = bridge_ports(&ports_by_value, &tables);
        let ports = ports(host, &ports_by_value, &tables);
        let identities = traits.identities.iter().filter(|identity| identity.kind() != IdentityKind::Mac);
        let mut keys: Vec<Key> = identities.map(Key::of_identity).collect();
        let chassis = traits.identities.iter().find(|identity| identity.kind() == IdentityKind::ChassisId);
        keys.sort_unstable();
        keys.dedup();
        let self_addresses = tables.fdb.iter().filter(|row| row.status == Some(FdbStatus::SelfAddress));
        let macs = traits.macs.iter().copied().chain(self_addresses.map(|row| row.mac_address));
        let macs: BTreeSet<MacAddress> = macs.filter(|address| is_own_mac(*address)).collect();
        let learned = learned(&tables, &ports_by_value, &bridge_ports, &ports, &macs);
        Self {
            id: host.id,
            network_id: host.network_id,
            keys: keys.into_boxed_slice(),
            macs: macs.into_iter().collect(),
            chassis_mac: traits.chassis_mac,
            chassis_id: host.chassis_id.clone(),
            chassis_key: chassis.map(Key::of_identity),
            sightings: sightings(host, claims, &ports_by_value, &bridge_ports),
            ports,
            ports_by_value,
            bridge_ports,
            is_bridge: !learned.is_empty() || !tables.stp.is_empty(),
            learned,
            learned_at: tables.learned_at,
            truncated: tables.truncated,
        }
    }

    /// Returns the id of the host.
    #[must_use]
    pub const fn host_id(&self) -> Uuid {
        self.id
    }

    /// Returns the ids of the host and its ports.
    pub(super) fn records(&self) -> impl Iterator<Item = Uuid> {
        [self.id].into_iter().chain(self.ports.iter().map(|port| port.id))
    }

    /// Returns whether a neighbor is stored by its id.
    pub(super) fn names_records(&self) -> bool {
        self.sightings.iter().any(|sighting| matches!(sighting.names, Names::Record(_)))
    }

    pub(super) fn port(&self, key: &PortKey) -> Option<&Port> {
        match key {
            PortKey::Known(place) => self.ports.get(usize::try_from(*place).ok()?),
            PortKey::Named(_) => None,
        }
    }

    pub(super) fn port_ref(&self, key: &PortKey) -> PortRef {
        match (key, self.port(key)) {
            (_, Some(port)) => PortRef { if_entry_id: Some(port.id), name: port.name.to_string() },
            (PortKey::Named(name), None) => PortRef { if_entry_id: None, name: name.to_string() },
            (PortKey::Known(place), None) => PortRef { if_entry_id: None, name: place.to_string() },
        }
    }

    /// Returns the aggregate of which a port is a member.
    pub(super) fn aggregate(&self, key: &PortKey) -> Option<PortKey> {
        self.port(key)?.lag.map(PortKey::Known)
    }

    /// Returns the port with a number in the spanning tree.
    pub(super) fn bridge_port(&self, number: i64) -> Option<PortKey> {
        place_of(&self.bridge_ports, number).map(PortKey::Known)
    }
}

/// The rows of the claims, by kind.
#[derive(Default)]
struct Tables<'c> {
    lldp: &'c [LldpRow],
    lag: &'c [LagRow],
    fdb: &'c [FdbRow],
    stp: &'c [StpRow],
    learned_at: Option<Timestamp>,
    truncated: Vec<TableKind>,
}

impl<'c> Tables<'c> {
    fn of(claims: &'c [Claim]) -> Self {
        let mut tables = Self::default();
        for claim in claims {
            match &claim.rows {
                ClaimRows::Lldp(rows) => tables.lldp = rows,
                ClaimRows::Lag(rows) => tables.lag = rows,
                ClaimRows::Stp(rows) => tables.stp = rows,
                ClaimRows::Fdb(rows) => {
                    tables.fdb = rows;
                    tables.learned_at = Some(claim.observed_at);
                }
                ClaimRows::Cdp(_) => {}
                _ => continue,
            }
            if !claim.complete {
                tables.truncated.push(claim.rows.kind());
            }
        }
        tables.truncated.sort_unstable();
        tables
    }
}

/// Returns the ports of a host with their aggregates. The aggregates are those that the host or its claim names.
fn ports(host: &Host, by_value: &Ports, tables: &Tables<'_>) -> Box<[Port]> {
    let has_lag = host.if_entries.iter().any(|entry| entry.lag_id.is_some());
    let ids = host.if_entries.iter().map(|entry| entry.id).zip(0..).filter(|_| has_lag);
    let places: BTreeMap<Uuid, u32> = ids.collect();
    let place = |index: i64| u32::try_from(by_value.local(Some(index), None)?).ok();
    let rows = tables.lag.iter().filter_map(|row| Some((place(row.if_index)?, place(row.lag_id)?)));
    let claimed: BTreeMap<u32, u32> = rows.collect();
    let port = |(entry, own): (&IfEntry, u32)| {
        let stored = entry.lag_id.and_then(|id| places.get(&id).copied());
        Port {
            id: entry.id,
            name: name(entry),
            speed_bps: entry.speed_bps.filter(|speed| *speed != 0),
            lag: claimed.get(&own).copied().or(stored).filter(|lag| *lag != own),
            is_aggregate: is_aggregate(entry),
        }
    };
    host.if_entries.iter().zip(0..).map(port).collect()
}

fn name(entry: &IfEntry) -> Arc<str> {
    let name = entry.if_name.as_deref().and_then(trimmed).or_else(|| trimmed(&entry.if_descr));
    name.map_or_else(|| entry.if_index.to_string().into(), Arc::from)
}

fn is_aggregate(entry: &IfEntry) -> bool {
    let has_name = || {
        let name = entry.if_name.as_deref().and_then(abbreviated).or_else(|| abbreviated(&entry.if_descr));
        name.is_some_and(|name| AGGREGATES.contains(&name.trim_end_matches(|it: char| it.is_ascii_digit())))
    };
    entry.if_type == Some(AGGREGATE_TYPE)
        || (entry.if_type.is_none_or(|kind| VIRTUAL_TYPES.contains(&kind)) && has_name())
}

/// Returns the numbers that the bridge gives to ports.
fn bridge_ports(ports: &Ports, tables: &Tables<'_>) -> Box<[(i64, u32)]> {
    let by_fdb = tables.fdb.iter().filter_map(|row| row.bridge_port.zip(row.if_index));
    let by_stp = tables.stp.iter().filter_map(|row| Some((row.bridge_port, row.if_index?)));
    let mut numbers: BTreeMap<i64, u32> = BTreeMap::new();
    for (number, index) in by_fdb.chain(by_stp) {
        if let Some(place) = ports.local(Some(index), None).and_then(|place| u32::try_from(place).ok()) {
            numbers.insert(number, place);
        }
    }
    numbers.into_iter().collect()
}

/// Returns the addresses that were learned on one port only. They belong to other devices.
///
/// Members of an aggregate count as the aggregate.
fn learned(
    tables: &Tables<'_>,
    by_value: &Ports,
    bridge_ports: &[(i64, u32)],
    ports: &[Port],
    own: &BTreeSet<MacAddress>,
) -> Box<[(MacAddress, u32)]> {
    let mut found: BTreeMap<MacAddress, Option<u32>> = BTreeMap::new();
    let is_learned = |row: &&FdbRow| matches!(row.status, None | Some(FdbStatus::Learned));
    for row in tables.fdb.iter().filter(is_learned) {
        if !is_own_mac(row.mac_address) || own.contains(&row.mac_address) {
            continue;
        }
        let by_index = by_value.local(row.if_index, None).and_then(|place| u32::try_from(place).ok());
        let Some(place) = by_index.or_else(|| place_of(bridge_ports, row.bridge_port?)) else { continue };
        let port = usize::try_from(place).ok().and_then(|place| ports.get(place));
        let place = port.and_then(|port| port.lag).unwrap_or(place);
        let known = found.entry(row.mac_address).or_insert(Some(place));
        *known = known.filter(|known| *known == place);
    }
    found.into_iter().filter_map(|(address, place)| Some((address, place?))).collect()
}
