//! LLDP-MIB, LLDP-V2-MIB and TIMETRA-LLDP-MIB.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::interfaces::Interfaces;
use super::local_ports::{LocalPort, LocalPorts};
use super::{Accepted, Value};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{Capability, Device, LldpRow, WarningCode};
use crate::model::LldpPortId;

/// The MIBs that describe LLDP, with different indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mib {
    Lldp,
    LldpV2,
    Timetra,
}

/// Index of a neighbor: MIB, time mark, local port, destination address, number. The latest time mark comes first.
type Key = (Mib, Reverse<u64>, i64, u64, u64);

#[derive(Debug, Default)]
pub(super) struct Lldp {
    chassis_subtype: Option<i64>,
    chassis_id: Option<Vec<u8>>,
    sys_name: Option<String>,
    sys_desc: Option<String>,
    capabilities: Vec<Capability>,
    /// Ports by the number that the LLDP agent gives them.
    ports: LocalPorts,
    /// Ports by interface index.
    v2_ports: LocalPorts,
    neighbors: BTreeMap<Key, Neighbor>,
}

#[derive(Debug, Default)]
struct Neighbor {
    chassis_subtype: Option<i64>,
    chassis_id: Option<Vec<u8>>,
    port_subtype: Option<i64>,
    port_id: Option<Vec<u8>>,
    port_desc: Option<String>,
    sys_name: Option<String>,
    sys_desc: Option<String>,
    capabilities: Vec<Capability>,
    mgmt_addrs: Vec<String>,
}

impl Neighbor {
    /// Returns whether the row is a placeholder. Some agents list ports without a neighbor.
    fn is_empty(&self) -> bool {
        let is_missing = |id: &Option<Vec<u8>>| id.as_ref().is_none_or(Vec::is_empty);
        is_missing(&self.chassis_id) && is_missing(&self.port_id) && self.sys_name.is_none()
    }
}

impl Lldp {
    /// Stores a variable. `rest` follows the MIB's objects.
    pub(super) fn accept(
        &mut self,
        mib: Mib,
        rest: &[u64],
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        match (mib, rest) {
            (Mib::Lldp | Mib::LldpV2, [3, object, 0]) => self.accept_local(*object, value),
            (Mib::Lldp, [3, 7, 1, column, number]) => self.ports.accept(*column, *number, value, meter),
            (Mib::LldpV2, [3, 7, 1, column, number]) => self.v2_ports.accept(*column, *number, value, meter),
            (Mib::Lldp, [4, 1, 1, column, time, port, number]) => {
                self.accept_neighbor(mib, *column, [*time, *port, 0, *number], value, meter)
            }
            // Some agents leave out the number where a port has at most one neighbor.
            (Mib::Lldp, [4, 1, 1, column, time, port]) => {
                self.accept_neighbor(mib, *column, [*time, *port, 0, 0], value, meter)
            }
            // The columns of LLDP-V2-MIB are those of LLDP-MIB, moved by one.
            (Mib::LldpV2, [4, 1, 1, column, time, port, destination, number]) => {
                let key = [*time, *port, *destination, *number];
                self.accept_neighbor(mib, column.saturating_sub(1), key, value, meter)
            }
            (Mib::Timetra, [4, 1, 1, column, time, port, destination, number]) => {
                self.accept_neighbor(mib, *column, [*time, *port, *destination, *number], value, meter)
            }
            (Mib::Lldp, [4, 2, 1, _, time, port, number, address @ ..]) => {
                self.accept_address(mib, [*time, *port, 0, *number], address, meter)
            }
            (Mib::LldpV2, [4, 2, 1, _, time, port, destination, number, address @ ..]) => {
                self.accept_address(mib, [*time, *port, *destination, *number], address, meter)
            }
            _ => Accepted::Yes,
        }
    }

    fn accept_local(&mut self, object: u64, value: &Value<'_>) -> Accepted {
        if object == 1 {
            return Accepted::store(&mut self.chassis_subtype, value.integer());
        }
        if !matches!(object, 2 | 3 | 4 | 6) {
            return Accepted::Yes;
        }
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        match object {
            2 => self.chassis_id = Some(bytes.to_vec()),
            3 => self.sys_name = text::trimmed(bytes),
            4 => self.sys_desc = text::trimmed(bytes),
            _ => self.capabilities = text::capabilities(bytes),
        }
        Accepted::Yes
    }

    fn neighbor(&mut self, mib: Mib, key: [u64; 4], meter: &mut Meter) -> Result<&mut Neighbor, Accepted> {
        let [time, port, destination, number] = key;
        let port = i64::try_from(port).map_err(|_| Accepted::InvalidIndex)?;
        let key = (mib, Reverse(time), port, destination, number);
        meter.add_steps(1);
        if !self.neighbors.contains_key(&key) && !meter.admit_row() {
            return Err(Accepted::TooMany);
        }
        Ok(self.neighbors.entry(key).or_default())
    }

    fn accept_neighbor(
        &mut self,
        mib: Mib,
        column: u64,
        key: [u64; 4],
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!(column, 4..=10 | 12) {
            return Accepted::Yes;
        }
        let neighbor = match self.neighbor(mib, key, meter) {
            Ok(neighbor) => neighbor,
            Err(refused) => return refused,
        };
        match column {
            4 => return Accepted::store(&mut neighbor.chassis_subtype, value.integer()),
            6 => return Accepted::store(&mut neighbor.port_subtype, value.integer()),
            _ => {}
        }
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        match column {
            5 => neighbor.chassis_id = Some(bytes.to_vec()),
            7 => neighbor.port_id = Some(bytes.to_vec()),
            8 => neighbor.port_desc = text::non_empty(bytes),
            9 => neighbor.sys_name = text::non_empty(bytes),
            10 => neighbor.sys_desc = text::non_empty(bytes),
            _ => neighbor.capabilities = text::capabilities(bytes),
        }
        Accepted::Yes
    }

    /// Stores a management address, which is part of the index: family, length, bytes.
    fn accept_address(&mut self, mib: Mib, key: [u64; 4], address: &[u64], meter: &mut Meter) -> Accepted {
        let [family, length, octets @ ..] = address else { return Accepted::InvalidIndex };
        // Some agents leave out the length.
        let octets =
            if *length == octets.len() as u64 { octets } else { address.get(1..).unwrap_or_default() };
        let Some(octets) = text::octets(octets) else { return Accepted::InvalidIndex };
        let address = match (family, text::ip(&octets)) {
            (1 | 2, Some(address)) => address.to_string(),
            _ => text::hex(&octets),
        };
        match self.neighbor(mib, key, meter) {
            Ok(neighbor) => {
                meter.add_steps(neighbor.mgmt_addrs.len());
                if neighbor.mgmt_addrs.len() < 16 && !neighbor.mgmt_addrs.contains(&address) {
                    neighbor.mgmt_addrs.push(address);
                }
                Accepted::Yes
            }
            Err(refused) => refused,
        }
    }

    /// Returns number, id and description of the local ports.
    pub(super) fn local_ports(&self) -> impl Iterator<Item = (i64, Option<&LldpPortId>, Option<&str>)> {
        self.ports.iter().chain(self.v2_ports.iter())
    }

    /// Returns the interface index of each local port of LLDP-MIB that can be determined.
    pub(super) fn resolve_local_ports(
        &self,
        interfaces: &Interfaces,
        base_ports: &BTreeMap<i64, i64>,
        meter: &mut Meter,
    ) -> BTreeMap<i64, i64> {
        let neighbors = self.neighbors.keys().filter(|(mib, ..)| *mib == Mib::Lldp);
        let numbers = neighbors.map(|(_, _, port, ..)| *port);
        self.ports.resolve(numbers, interfaces, base_ports, meter)
    }

    pub(super) fn describe(&self, device: &mut Device) {
        let id = self.chassis_id.as_deref();
        // The subtype is missing from some walks; 6 bytes can only be a MAC address then.
        let subtype = self.chassis_subtype.or_else(|| id.filter(|id| id.len() == 6).map(|_| 4));
        device.chassis_id = subtype.zip(id).and_then(|(subtype, id)| text::chassis_id(subtype, id));
        if device.sys_name.is_none() {
            device.sys_name.clone_from(&self.sys_name);
        }
        if device.sys_descr.is_none() {
            device.sys_descr.clone_from(&self.sys_desc);
        }
        device.capabilities.clone_from(&self.capabilities);
    }

    pub(super) fn into_rows(
        self,
        indexes: &BTreeMap<i64, i64>,
        interfaces: &Interfaces,
        meter: &mut Meter,
    ) -> Vec<LldpRow> {
        let mut rows: Vec<LldpRow> = Vec::new();
        for ((mib, _, port, ..), neighbor) in self.neighbors {
            meter.add_steps(1);
            if neighbor.is_empty() {
                continue;
            }
            let Some(row) = row(neighbor) else {
                meter.skip(WarningCode::RowIncomplete);
                continue;
            };
            let if_index = if mib == Mib::Lldp { indexes.get(&port).copied() } else { Some(port) };
            let if_index = if_index.filter(|index| interfaces.contains(*index));
            if if_index.is_none() {
                meter.warn(WarningCode::LocalPortUnknown);
            }
            let local = if mib == Mib::Lldp { self.ports.get(port) } else { self.v2_ports.get(port) };
            let row = LldpRow {
                if_index,
                if_name: if_index.and_then(|index| interfaces.get(index)?.if_name.clone()),
                local_port_number: (mib == Mib::Lldp).then_some(port),
                local_port_id: local.and_then(LocalPort::id).cloned(),
                local_port_desc: local.and_then(LocalPort::description).map(str::to_owned),
                ..row
            };
            rows.push(row);
        }
        // A neighbor that was lost and found again has two time marks, and one that two MIBs report has two rows.
        meter.add_steps(rows.len());
        rows.sort_by(|one, other| sort_key(one).cmp(&sort_key(other)));
        rows.dedup_by(|later, earlier| sort_key(later) == sort_key(earlier));
        rows
    }
}

/// Orders rows by local port and neighbor.
fn sort_key(row: &LldpRow) -> (Option<i64>, Option<i64>, &str, Option<&str>) {
    let number = if row.if_index.is_some() { None } else { row.local_port_number };
    (row.if_index, number, row.chassis_id.value.as_str(), row.port_id.as_ref().map(|id| id.value.as_str()))
}

fn row(neighbor: Neighbor) -> Option<LldpRow> {
    let chassis_id = text::chassis_id(neighbor.chassis_subtype?, &neighbor.chassis_id?)?;
    let port_id = neighbor.port_subtype.zip(neighbor.port_id);
    Some(LldpRow {
        port_id: port_id.and_then(|(subtype, id)| text::port_id(subtype, &id)),
        port_desc: neighbor.port_desc,
        sys_name: neighbor.sys_name,
        sys_desc: neighbor.sys_desc,
        mgmt_addrs: neighbor.mgmt_addrs,
        capabilities: neighbor.capabilities,
        ..LldpRow::new(chassis_id)
    })
}
