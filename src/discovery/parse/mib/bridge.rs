//! BRIDGE-MIB and Q-BRIDGE-MIB: ports, VLANs, forwarding database and spanning tree.

mod fdb;
mod lists;
mod members;
mod ports;
mod vlans;

use std::collections::{BTreeMap, BTreeSet};

use fdb::Fdb;
pub(super) use ports::BasePorts;
use ports::BridgePorts;
use vlans::{VlanColumn, VlanTables};

use super::interfaces::Interfaces;
use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{BridgeId, Device, FdbRow, StpRow, StpState, WarningCode};
use crate::model::MacAddress;

#[derive(Debug, Default)]
pub(super) struct Bridge {
    address: Option<MacAddress>,
    base_ports: BasePorts,
    /// Interface indexes by VLAN and bridge port, of devices with a context for each VLAN.
    vlan_ports: BTreeMap<(u16, i64), i64>,
    stp: BTreeMap<i64, StpRow>,
    fdb: Fdb,
    vlans: VlanTables,
}

/// The tables of a bridge.
#[derive(Debug)]
pub(super) struct BridgeTables {
    pub(super) fdb: Vec<FdbRow>,
    pub(super) stp: Vec<StpRow>,
}

impl Bridge {
    /// Stores a variable. `rest` follows `dot1dBridge`.
    pub(super) fn accept(&mut self, rest: &[u64], value: &VariableValue<'_>, meter: &mut Meter) -> Accepted {
        match rest {
            [1, 1, 0] => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                self.address = text::mac(bytes);
                Accepted::Yes
            }
            [1, 4, 1, 1, row] => self.base_ports.accept_number(*row, value, meter),
            [1, 4, 1, 2, port] => self.base_ports.accept(*port, value, meter),
            [2, 15, 1, column, port] => self.accept_stp(*column, *port, value, meter),
            [1, 4, 1, 2, ..] | [2, 15, 1, 3 | 5 | 6 | 8 | 9, ..] => Accepted::InvalidIndex,
            [7, 1, 2, 2, 1, column, index @ ..] => self.fdb.accept_vlan(*column, index, value, meter),
            // Some agents leave out the time mark of the current table, or put one of 0 behind the VLAN.
            [7, 1, 4, 2, 1, column, vlan, 0]
            | [7, 1, 4, 2, 1, column, _, vlan]
            | [7, 1, 4, 2, 1, column, vlan] => {
                let column = match column {
                    3 => VlanColumn::FdbId,
                    4 => VlanColumn::Egress,
                    5 => VlanColumn::Untagged,
                    _ => return Accepted::Yes,
                };
                self.vlans.accept(column, *vlan, value, meter)
            }
            [7, 1, 4, 3, 1, 2, vlan] => self.vlans.accept(VlanColumn::StaticEgress, *vlan, value, meter),
            [7, 1, 4, 3, 1, 4, vlan] => self.vlans.accept(VlanColumn::StaticUntagged, *vlan, value, meter),
            [7, 1, 4, 5, 1, 1, port] => self.vlans.accept_port(*port, value, meter),
            _ => Accepted::Yes,
        }
    }

    /// Stores a variable of BRIDGE-MIB's forwarding database.
    pub(super) fn accept_fdb(
        &mut self,
        column: u64,
        index: &[u64],
        lossy: bool,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        self.fdb.accept(column, index, lossy, value, meter)
    }

    /// Stores a variable from the context of a VLAN.
    #[cfg(feature = "collect")]
    pub(super) fn accept_of_vlan(
        &mut self,
        vlan: u16,
        rest: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        match rest {
            [1, 4, 1, 2, port] => {
                let Ok(port) = i64::try_from(*port) else { return Accepted::InvalidIndex };
                let Some(index) = value.integer() else { return Accepted::InvalidValue };
                meter.add_steps(1);
                if !self.vlan_ports.contains_key(&(vlan, port)) && !meter.admit_row() {
                    return Accepted::TooMany;
                }
                self.vlan_ports.insert((vlan, port), index);
                Accepted::Yes
            }
            [4, 3, 1, column, index @ ..] => self.fdb.accept_of_vlan(vlan, *column, index, value, meter),
            _ => Accepted::Yes,
        }
    }

    fn accept_stp(
        &mut self,
        column: u64,
        port: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
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

    pub(super) const fn base_ports(&self) -> &BasePorts {
        &self.base_ports
    }

    pub(super) const fn base_ports_mut(&mut self) -> &mut BasePorts {
        &mut self.base_ports
    }

    /// Returns whether the VLANs of some ports are missing, because it is not known which interfaces these are.
    pub(super) fn lacks_vlans(&self) -> bool {
        self.base_ports.has_losses() && !self.vlans.is_empty()
    }

    pub(super) fn describe(&self, device: &mut Device) {
        device.bridge_address = self.address;
    }

    /// Sets the VLANs of the interfaces, and returns the tables.
    pub(super) fn into_tables(
        self,
        object_id: Option<&str>,
        interfaces: &mut Interfaces,
        meter: &mut Meter,
    ) -> BridgeTables {
        let Self { base_ports, vlan_ports, stp, fdb, mut vlans, .. } = self;
        vlans.prepare(object_id, &base_ports, interfaces, meter);
        for (index, vlans) in vlans.by_interface(&base_ports, interfaces, meter) {
            interfaces.set_vlans(index, vlans);
        }
        let stp = stp_rows(stp, &base_ports, interfaces, meter);
        meter.use_rows(vlan_ports.len());
        let fdb = fdb.into_rows(&vlans, (&base_ports, &vlan_ports), interfaces, meter);
        count_base_ports(&base_ports, &fdb, &stp, interfaces, meter);
        BridgeTables { fdb, stp }
    }
}

fn stp_rows(
    rows: BTreeMap<i64, StpRow>,
    base_ports: &BasePorts,
    interfaces: &Interfaces,
    meter: &mut Meter,
) -> Vec<StpRow> {
    meter.add_steps(rows.len());
    meter.use_rows(rows.len());
    let numbers = rows.keys().copied().collect();
    let ports = BridgePorts::new(base_ports, interfaces, &numbers, meter);
    let ports = ports.of_table(&numbers, meter);
    rows.into_values().map(|row| StpRow { if_index: ports.index_of(row.bridge_port), ..row }).collect()
}

/// Counts the bridge ports: used are those of interfaces, and those that entries of the other tables lead to.
fn count_base_ports(
    base_ports: &BasePorts,
    fdb: &[FdbRow],
    stp: &[StpRow],
    interfaces: &Interfaces,
    meter: &mut Meter,
) {
    meter.add_steps(base_ports.len() + fdb.len() + stp.len());
    let led_to = fdb.iter().filter_map(|row| row.if_index).chain(stp.iter().filter_map(|row| row.if_index));
    let led_to: BTreeSet<i64> = led_to.collect();
    for (port, index) in base_ports.iter() {
        if interfaces.contains(index) || led_to.contains(&index) {
            meter.use_rows(1);
        } else {
            meter.leave_out(WarningCode::PortWithoutInterface, || {
                format!("bridge port {port}, interface {index}")
            });
        }
    }
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
