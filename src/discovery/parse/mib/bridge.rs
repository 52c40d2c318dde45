//! BRIDGE-MIB and Q-BRIDGE-MIB: ports, VLANs, forwarding database and spanning tree.

mod fdb;
mod lists;
mod vlans;

use std::collections::{BTreeMap, BTreeSet};

use fdb::Fdb;
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
    /// Interface indexes by bridge port.
    base_ports: BTreeMap<i64, i64>,
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
            [1, 4, 1, 2, port] => insert(&mut self.base_ports, *port, value.integer(), meter),
            [2, 15, 1, column, port] => self.accept_stp(*column, *port, value, meter),
            [7, 1, 2, 2, 1, column, index @ ..] => self.fdb.accept_vlan(*column, index, value, meter),
            // Some agents leave out the time mark of the current table.
            [7, 1, 4, 2, 1, column, _, vlan] | [7, 1, 4, 2, 1, column, vlan] => {
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

    pub(super) const fn base_ports(&self) -> &BTreeMap<i64, i64> {
        &self.base_ports
    }

    pub(super) fn describe(&self, device: &mut Device) {
        device.bridge_address = self.address;
    }

    /// Sets the VLANs of the interfaces, and returns the tables.
    pub(super) fn into_tables(self, interfaces: &mut Interfaces, meter: &mut Meter) -> BridgeTables {
        let Self { base_ports, stp, fdb, vlans, .. } = self;
        for (index, vlans) in vlans.by_interface(&base_ports, interfaces, meter) {
            interfaces.set_vlans(index, vlans);
        }
        let stp = stp_rows(stp, &base_ports, interfaces, meter);
        let fdb = fdb.into_rows(&vlans, &base_ports, interfaces, meter);
        count_base_ports(&base_ports, &fdb, &stp, interfaces, meter);
        BridgeTables { fdb, stp }
    }
}

fn stp_rows(
    rows: BTreeMap<i64, StpRow>,
    base_ports: &BTreeMap<i64, i64>,
    interfaces: &Interfaces,
    meter: &mut Meter,
) -> Vec<StpRow> {
    meter.add_steps(rows.len());
    meter.use_rows(rows.len());
    let ports = BridgePorts::new(base_ports, interfaces, &rows.keys().copied().collect(), meter);
    rows.into_values().map(|row| StpRow { if_index: ports.index_of(row.bridge_port), ..row }).collect()
}

/// Counts the bridge ports: used are those of interfaces, and those that entries of the other tables lead to.
fn count_base_ports(
    base_ports: &BTreeMap<i64, i64>,
    fdb: &[FdbRow],
    stp: &[StpRow],
    interfaces: &Interfaces,
    meter: &mut Meter,
) {
    meter.add_steps(base_ports.len() + fdb.len() + stp.len());
    let led_to = fdb.iter().filter_map(|row| row.if_index).chain(stp.iter().filter_map(|row| row.if_index));
    let led_to: BTreeSet<i64> = led_to.collect();
    for (port, index) in base_ports {
        if interfaces.contains(*index) || led_to.contains(index) {
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

/// Finds the interface behind a port number of one table.
#[derive(Debug)]
struct BridgePorts<'b> {
    /// Interface indexes by bridge port.
    base_ports: &'b BTreeMap<i64, i64>,
    /// The interfaces that are bridge ports.
    indexes: BTreeSet<i64>,
    numbering: PortNumbering,
}

/// The meaning of the port numbers of one table. Not all bridges use those of `dot1dBasePortTable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortNumbering {
    /// Bridge ports, or indexes of interfaces that are bridge ports.
    BridgePorts,
    /// Indexes of interfaces.
    Interfaces,
    /// Interface indexes minus a constant, so that number 1 is the first interface of the bridge.
    Offset(i64),
}

impl<'b> BridgePorts<'b> {
    /// Determines the meaning of the numbers of a table from the numbers themselves, without 0.
    fn new(
        base_ports: &'b BTreeMap<i64, i64>,
        interfaces: &Interfaces,
        numbers: &BTreeSet<i64>,
        meter: &mut Meter,
    ) -> Self {
        meter.add_steps(base_ports.len() + numbers.len().saturating_mul(2));
        let indexes: BTreeSet<i64> = base_ports.values().copied().collect();
        let is_known = |number: &i64| base_ports.contains_key(number) || indexes.contains(number);
        let mut ports = Self { base_ports, indexes: BTreeSet::new(), numbering: PortNumbering::BridgePorts };
        if numbers.iter().all(is_known) {
            return Self { indexes, ..ports };
        }
        // A number that leads to another interface by the table of ports shows that the numbers are bridge ports.
        let is_own = |number: &i64| base_ports.get(number).is_none_or(|index| index == number);
        if numbers.iter().all(|number| is_own(number) && interfaces.is_ethernet(*number)) {
            ports.numbering = PortNumbering::Interfaces;
        } else if let Some(offset) = offset(base_ports)
            && numbers.iter().all(|number| {
                let index = number.saturating_add(offset);
                !is_known(number) && indexes.contains(&index)
            })
        {
            ports.numbering = PortNumbering::Offset(offset);
        }
        Self { indexes, ..ports }
    }

    /// Returns the index of the interface behind a port. Bridges send 0 or -1 for ports that are no interfaces.
    fn index_of(&self, number: i64) -> Option<i64> {
        let index = match self.numbering {
            PortNumbering::BridgePorts => {
                let index = self.base_ports.get(&number).copied();
                index.or_else(|| self.indexes.get(&number).copied())
            }
            PortNumbering::Interfaces => Some(number),
            PortNumbering::Offset(offset) => Some(number.saturating_add(offset)),
        };
        index.filter(|index| *index > 0)
    }
}

/// Returns the difference between the first interface of the bridge and port 1.
///
/// There is one only if the table of ports numbers them as their interfaces, so that it shows no numbers of ports.
fn offset(base_ports: &BTreeMap<i64, i64>) -> Option<i64> {
    let (first, _) = base_ports.first_key_value()?;
    let is_identity = base_ports.iter().all(|(port, index)| port == index);
    Some(first.saturating_sub(1)).filter(|offset| is_identity && *offset > 0)
}
