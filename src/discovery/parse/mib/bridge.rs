//! BRIDGE-MIB and Q-BRIDGE-MIB: ports, VLANs, forwarding database and spanning tree.

use std::collections::{BTreeMap, BTreeSet};

use super::interfaces::Interfaces;
use super::{Accepted, Value};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{BridgeId, Device, FdbRow, FdbStatus, StpRow, StpState, WarningCode};
use crate::model::{MacAddress, Vlans};

#[derive(Debug, Default)]
pub(super) struct Bridge {
    address: Option<MacAddress>,
    /// Interface indexes by bridge port.
    base_ports: BTreeMap<i64, i64>,
    stp: BTreeMap<i64, StpRow>,
    /// Entries by number of the database, which BRIDGE-MIB does not have, and by index.
    fdb: BTreeMap<(Option<u32>, [u8; 6]), FdbEntry>,
    vlans: BTreeMap<u16, Vlan>,
    port_vlans: BTreeMap<i64, u16>,
}

#[derive(Debug, Default)]
struct FdbEntry {
    /// The address from its own column. Needed if the index is lossy.
    mac_address: Option<MacAddress>,
    bridge_port: Option<i64>,
    status: Option<FdbStatus>,
    is_lossy: bool,
    /// Whether two addresses have the same lossy index.
    is_ambiguous: bool,
}

/// The forwarding database and the sets of ports of a VLAN.
///
/// A set is a bit string. Port 1 is the most significant bit of the first byte.
#[derive(Debug, Default)]
struct Vlan {
    fdb_id: Option<u32>,
    egress: Vec<u8>,
    untagged: Vec<u8>,
    static_egress: Vec<u8>,
    static_untagged: Vec<u8>,
}

/// The tables of a bridge.
#[derive(Debug)]
pub(super) struct BridgeTables {
    pub(super) fdb: Vec<FdbRow>,
    pub(super) stp: Vec<StpRow>,
}

impl Bridge {
    /// Stores a variable. `rest` follows `dot1dBridge`.
    pub(super) fn accept(&mut self, rest: &[u64], value: &Value<'_>, meter: &mut Meter) -> Accepted {
        match rest {
            [1, 1, 0] => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                self.address = text::mac(bytes);
                Accepted::Yes
            }
            [1, 4, 1, 2, port] => insert(&mut self.base_ports, *port, value.integer(), meter),
            [2, 15, 1, column, port] => self.accept_stp(*column, *port, value, meter),
            [7, 1, 2, 2, 1, column, fdb_id, index @ ..] => {
                let Ok(fdb_id) = u32::try_from(*fdb_id) else { return Accepted::InvalidIndex };
                self.accept_entry(Some(fdb_id), *column, index, false, value, meter)
            }
            [7, 1, 4, 2, 1, column, _, vlan] => self.accept_vlan(*column, *vlan, value, meter),
            // The static table's columns 2 and 4, apart from the numbers of the current one.
            [7, 1, 4, 3, 1, column @ (2 | 4), vlan] => self.accept_vlan(column + 100, *vlan, value, meter),
            [7, 1, 4, 5, 1, 1, port] => {
                let vlan = value.integer().and_then(|vlan| u16::try_from(vlan).ok());
                insert(&mut self.port_vlans, *port, vlan, meter)
            }
            _ => Accepted::Yes,
        }
    }

    /// Stores a variable of BRIDGE-MIB's forwarding database.
    pub(super) fn accept_fdb(
        &mut self,
        column: u64,
        index: &[u64],
        lossy: bool,
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        self.accept_entry(None, column, index, lossy, value, meter)
    }

    fn accept_entry(
        &mut self,
        fdb_id: Option<u32>,
        column: u64,
        index: &[u64],
        lossy: bool,
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Some(index) = text::mac_of_arcs(index) else { return Accepted::InvalidIndex };
        let key = (fdb_id, index.octets());
        meter.add_steps(1);
        if !self.fdb.contains_key(&key) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let entry = self.fdb.entry(key).or_default();
        entry.is_lossy |= lossy;
        match column {
            1 => {
                let Some(address) = value.bytes().and_then(text::mac) else { return Accepted::InvalidValue };
                entry.is_ambiguous |= entry.mac_address.is_some_and(|held| held != address);
                entry.mac_address = Some(address);
                Accepted::Yes
            }
            2 => Accepted::store(&mut entry.bridge_port, value.integer()),
            3 => Accepted::store(&mut entry.status, value.integer().and_then(fdb_status)),
            _ => Accepted::Yes,
        }
    }

    fn accept_stp(&mut self, column: u64, port: u64, value: &Value<'_>, meter: &mut Meter) -> Accepted {
        let Ok(port) = i64::try_from(port) else { return Accepted::InvalidIndex };
        meter.add_steps(1);
        if !self.stp.contains_key(&port) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let row = self.stp.entry(port).or_insert_with(|| StpRow::new(port));
        match column {
            3 => Accepted::store(&mut row.state, value.integer().and_then(stp_state)),
            5 => Accepted::store(&mut row.path_cost, value.integer().and_then(|cost| cost.try_into().ok())),
            6 => Accepted::store(&mut row.designated_root, value.bytes().and_then(bridge_id)),
            8 => Accepted::store(&mut row.designated_bridge, value.bytes().and_then(bridge_id)),
            9 => {
                let octets = value.bytes().and_then(|bytes| <[u8; 2]>::try_from(bytes).ok());
                Accepted::store(&mut row.designated_port, octets.map(u16::from_be_bytes))
            }
            _ => Accepted::Yes,
        }
    }

    fn accept_vlan(&mut self, column: u64, vlan: u64, value: &Value<'_>, meter: &mut Meter) -> Accepted {
        let Some(vlan) = u16::try_from(vlan).ok().filter(|vlan| (1..4095).contains(vlan)) else {
            return Accepted::InvalidIndex;
        };
        meter.add_steps(1);
        let vlan = self.vlans.entry(vlan).or_default();
        let place = match column {
            3 => {
                let fdb_id = value.integer().and_then(|fdb_id| fdb_id.try_into().ok());
                return Accepted::store(&mut vlan.fdb_id, fdb_id);
            }
            4 => &mut vlan.egress,
            5 => &mut vlan.untagged,
            102 => &mut vlan.static_egress,
            104 => &mut vlan.static_untagged,
            _ => return Accepted::Yes,
        };
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        *place = bytes.to_vec();
        Accepted::Yes
    }

    pub(super) const fn base_ports(&self) -> &BTreeMap<i64, i64> {
        &self.base_ports
    }

    pub(super) fn describe(&self, device: &mut Device) {
        device.bridge_address = self.address;
    }

    /// Sets the VLANs of the interfaces, and returns the tables.
    pub(super) fn into_tables(mut self, interfaces: &mut Interfaces, meter: &mut Meter) -> BridgeTables {
        for (index, vlans) in self.vlans_by_interface(meter) {
            interfaces.set_vlans(index, vlans);
        }
        let base_ports = std::mem::take(&mut self.base_ports);
        meter.add_steps(self.stp.len() + self.fdb.len().saturating_mul(2) + base_ports.len());
        let stp = std::mem::take(&mut self.stp).into_values();
        let stp = stp.map(|row| StpRow { if_index: base_ports.get(&row.bridge_port).copied(), ..row });
        BridgeTables { stp: stp.collect(), fdb: self.into_fdb(&base_ports, meter) }
    }

    fn into_fdb(self, base_ports: &BTreeMap<i64, i64>, meter: &mut Meter) -> Vec<FdbRow> {
        let vlans_by_fdb = self.vlans_by_fdb();
        let with_vlan = self.fdb.keys().filter(|(fdb_id, _)| fdb_id.is_some());
        let with_vlan: BTreeSet<[u8; 6]> = with_vlan.map(|(_, octets)| *octets).collect();
        let indexes: BTreeSet<i64> = base_ports.values().copied().collect();
        // Some bridges send the interface index in place of the port.
        let index_of = |port: i64| base_ports.get(&port).copied().or_else(|| indexes.get(&port).copied());
        let mut rows = Vec::new();
        for ((fdb_id, octets), entry) in &self.fdb {
            let address = if entry.is_lossy { entry.mac_address } else { Some(MacAddress::new(*octets)) };
            let Some(mac_address) = address.filter(|_| !entry.is_ambiguous) else {
                meter.skip(WarningCode::RowIncomplete);
                continue;
            };
            // Bridges with VLANs repeat their entries, without the VLAN, in the table of BRIDGE-MIB.
            if fdb_id.is_none() && with_vlan.contains(&mac_address.octets()) {
                continue;
            }
            let bridge_port = entry.bridge_port.filter(|port| *port != 0);
            rows.push(FdbRow {
                vlan: fdb_id.and_then(|fdb_id| self.vlan_of(fdb_id, &vlans_by_fdb)),
                fdb_id: *fdb_id,
                if_index: bridge_port.and_then(index_of),
                bridge_port,
                status: entry.status,
                ..FdbRow::new(mac_address)
            });
        }
        rows
    }

    /// Returns the VLAN of each database that has exactly one.
    fn vlans_by_fdb(&self) -> BTreeMap<u32, Option<u16>> {
        let mut vlans = BTreeMap::new();
        for (vlan, entry) in &self.vlans {
            if let Some(fdb_id) = entry.fdb_id {
                vlans.entry(fdb_id).and_modify(|held| *held = None).or_insert(Some(*vlan));
            }
        }
        vlans
    }

    /// Returns the VLAN of a database. Devices that do not map databases to VLANs number them alike.
    fn vlan_of(&self, fdb_id: u32, vlans_by_fdb: &BTreeMap<u32, Option<u16>>) -> Option<u16> {
        if let Some(vlan) = vlans_by_fdb.get(&fdb_id) {
            return *vlan;
        }
        let same = u16::try_from(fdb_id).ok().filter(|vlan| (1..4095).contains(vlan))?;
        (vlans_by_fdb.is_empty() || self.vlans.contains_key(&same)).then_some(same)
    }

    fn vlans_by_interface(&self, meter: &mut Meter) -> BTreeMap<i64, Vlans> {
        let mut interfaces: BTreeMap<i64, Vlans> = BTreeMap::new();
        for (vlan, entry) in &self.vlans {
            let is_current = !entry.egress.is_empty();
            let (egress, untagged) = if is_current {
                (&entry.egress, &entry.untagged)
            } else {
                (&entry.static_egress, &entry.static_untagged)
            };
            meter.add_steps(egress.len());
            for port in members(egress) {
                meter.add_steps(1);
                let Some(index) = self.base_ports.get(&port) else { continue };
                let vlans = interfaces.entry(*index).or_default();
                if is_member(untagged, port) {
                    vlans.untagged = vlans.untagged.or(Some(*vlan));
                } else if vlans.tagged.last() != Some(vlan) {
                    // Several bridge ports may lead to one interface.
                    vlans.tagged.push(*vlan);
                }
            }
        }
        for (port, vlan) in &self.port_vlans {
            if let Some(index) = self.base_ports.get(port).filter(|_| (1..4095).contains(vlan)) {
                let vlans = interfaces.entry(*index).or_default();
                vlans.untagged = Some(*vlan);
                if let Ok(position) = vlans.tagged.binary_search(vlan) {
                    vlans.tagged.remove(position);
                }
                meter.add_steps(1);
            }
        }
        interfaces
    }
}

/// Returns the ports whose bits are set, counted from 1.
fn members(ports: &[u8]) -> impl Iterator<Item = i64> + '_ {
    let bits = ports.iter().enumerate().filter(|(_, byte)| **byte != 0);
    bits.flat_map(|(index, byte)| {
        (0..8).filter(move |bit| byte & (0x80 >> bit) != 0).map(move |bit| index as i64 * 8 + bit + 1)
    })
}

fn is_member(ports: &[u8], port: i64) -> bool {
    let Ok(bit) = usize::try_from(port - 1) else { return false };
    ports.get(bit / 8).is_some_and(|byte| byte & (0x80 >> (bit % 8)) != 0)
}

fn insert<T>(map: &mut BTreeMap<i64, T>, port: u64, value: Option<T>, meter: &mut Meter) -> Accepted {
    let Ok(port) = i64::try_from(port) else { return Accepted::InvalidIndex };
    let Some(value) = value else { return Accepted::InvalidValue };
    if !map.contains_key(&port) && !meter.admit_row() {
        return Accepted::TooMany;
    }
    map.insert(port, value);
    Accepted::Yes
}

const fn fdb_status(number: i64) -> Option<FdbStatus> {
    match number {
        1 => Some(FdbStatus::Other),
        2 => Some(FdbStatus::Invalid),
        3 => Some(FdbStatus::Learned),
        4 => Some(FdbStatus::SelfAddress),
        5 => Some(FdbStatus::Configured),
        _ => None,
    }
}

const fn stp_state(number: i64) -> Option<StpState> {
    match number {
        1 => Some(StpState::Disabled),
        2 => Some(StpState::Blocking),
        3 => Some(StpState::Listening),
        4 => Some(StpState::Learning),
        5 => Some(StpState::Forwarding),
        6 => Some(StpState::Broken),
        _ => None,
    }
}

fn bridge_id(bytes: &[u8]) -> Option<BridgeId> {
    let [high, low, octets @ ..] = <[u8; 8]>::try_from(bytes).ok()?;
    Some(BridgeId { priority: u16::from_be_bytes([high, low]), mac_address: MacAddress::new(octets) })
}
