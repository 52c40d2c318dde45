//! The neighbors of an LLDP agent, by the index of their row.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::LldpMib;
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::mib::coverage::DOT1;
use crate::discovery::parse::mib::interfaces::Interfaces;
use crate::discovery::parse::mib::local_ports::{Aggregation, LocalPort, LocalPorts};
use crate::discovery::parse::mib::{Accepted, VariableValue, ids};
use crate::discovery::parse::text;
use crate::discovery::report::{Capability, LldpRow, WarningCode};
use crate::model::{LldpChassisId, LldpChassisIdSubtype, LldpPortId};

/// The part of an index that identifies the local port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LocalPortIndex {
    /// The number of the port.
    Number(i64),
    /// Two numbers: time mark and port, or port and number of the neighbor. Agents leave out either end.
    OneOf(i64, i64),
    /// Nothing. RouterOS, for one, numbers its neighbors over all ports.
    Unknown,
}

/// Index of a neighbor. The latest time mark comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LldpIndex {
    pub(super) mib: LldpMib,
    time: Reverse<u64>,
    pub(super) port: LocalPortIndex,
    /// The destination address; 0 in LLDP-MIB, which has none.
    pub(super) destination: u64,
    pub(super) number: u64,
}

impl LldpIndex {
    /// Reads the index of a row.
    pub(super) fn new(mib: LldpMib, arcs: &[u64]) -> Option<Self> {
        let number = |arc: u64| i64::try_from(arc).ok();
        let (time, port, destination, number) = match (mib, arcs) {
            (LldpMib::Lldp, [time, port, neighbor]) => {
                (*time, LocalPortIndex::Number(number(*port)?), 0, *neighbor)
            }
            (LldpMib::Lldp, [first, second]) => {
                (*first, LocalPortIndex::OneOf(number(*first)?, number(*second)?), 0, *second)
            }
            (LldpMib::Lldp, [neighbor]) => (0, LocalPortIndex::Unknown, 0, *neighbor),
            (LldpMib::LldpV2 | LldpMib::Timetra, [time, port, destination, neighbor]) => {
                (*time, LocalPortIndex::Number(number(*port)?), *destination, *neighbor)
            }
            _ => return None,
        };
        Some(Self { mib, time: Reverse(time), port, destination, number })
    }
}

#[derive(Debug, Default)]
pub(super) struct LldpNeighbors {
    pub(super) rows: BTreeMap<LldpIndex, LldpNeighbor>,
}

#[derive(Debug, Default)]
pub(super) struct LldpNeighbor {
    pub(super) chassis_subtype: Option<i64>,
    pub(super) chassis_id: Option<Vec<u8>>,
    pub(super) port_subtype: Option<i64>,
    pub(super) port_id: Option<Vec<u8>>,
    pub(super) port_desc: Option<String>,
    pub(super) sys_name: Option<String>,
    pub(super) sys_desc: Option<String>,
    pub(super) capabilities: Vec<Capability>,
    pub(super) mgmt_addrs: Vec<String>,
    pub(super) aggregation: Aggregation,
    pub(super) port_vlan: Option<u16>,
}

impl LldpNeighbor {
    /// Returns whether the row is a placeholder. Some agents list ports without a neighbor.
    fn is_empty(&self) -> bool {
        let is_missing = |id: &Option<Vec<u8>>| id.as_deref().is_none_or(text::is_blank);
        let is_nameless = self.sys_name.is_none() && self.sys_desc.is_none();
        is_missing(&self.chassis_id) && is_missing(&self.port_id) && is_nameless
    }

    fn chassis_id(&self) -> Option<LldpChassisId> {
        let chassis = ids::chassis_id(self.chassis_subtype, self.chassis_id.as_deref()?)?;
        text::device_id(chassis, self.port_id().as_ref())
    }

    fn port_id(&self) -> Option<LldpPortId> {
        ids::port_id(self.port_subtype, self.port_id.as_deref()?)
    }

    /// Returns the name of the port as a chassis id, for a neighbor without one that has a name or an address.
    ///
    /// The names of interfaces identify no device, so that name or address alone lead to the host.
    fn chassis_id_by_port(&self) -> Option<LldpChassisId> {
        let is_described = self.sys_name.is_some() || self.sys_desc.is_some() || !self.mgmt_addrs.is_empty();
        let value = self.port_text().filter(|_| is_described)?;
        Some(LldpChassisId { subtype: LldpChassisIdSubtype::InterfaceName, value })
    }

    /// Describes the neighbor for a warning.
    fn described(&self, number: Option<i64>) -> String {
        let name = self.sys_name.as_deref().or(self.sys_desc.as_deref()).unwrap_or("unknown");
        let port = self.port_text();
        format!("{}: name {name}, port {}", at(number), port.as_deref().unwrap_or("unknown"))
    }

    /// Returns whether both are the same port of the same device.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.chassis_id == other.chassis_id && self.port_id == other.port_id
    }

    fn port_text(&self) -> Option<String> {
        self.port_id().map(|id| id.value).or_else(|| self.port_desc.clone())
    }
}

/// The local ports with the interfaces that they are.
pub(super) struct Locals<'l> {
    pub(super) ports: &'l LocalPorts,
    pub(super) v2_ports: &'l LocalPorts,
    /// Interface indexes by the number of a port of LLDP-MIB.
    pub(super) indexes: &'l BTreeMap<i64, i64>,
    pub(super) interfaces: &'l Interfaces,
    /// The names of the ports, if no table of interfaces has better ones.
    pub(super) names: BTreeMap<i64, &'l str>,
}

impl Locals<'_> {
    /// Returns the number of the local port, if the index states it.
    fn number(&self, port: LocalPortIndex) -> Option<i64> {
        match port {
            LocalPortIndex::Number(number) => Some(number),
            LocalPortIndex::Unknown => None,
            // A time mark of 0 is common, and a port of number 0 is not.
            LocalPortIndex::OneOf(0, number) => Some(number),
            LocalPortIndex::OneOf(first, second) => {
                let is_port =
                    |number: i64| self.ports.get(number).is_some() || self.indexes.contains_key(&number);
                match (is_port(first), is_port(second)) {
                    (true, false) => Some(first),
                    (false, true) => Some(second),
                    _ => None,
                }
            }
        }
    }

    fn port(&self, mib: LldpMib, number: i64) -> Option<&LocalPort> {
        if mib == LldpMib::Lldp { self.ports.get(number) } else { self.v2_ports.get(number) }
    }

    fn if_index(&self, mib: LldpMib, number: i64) -> Option<i64> {
        let index = if mib == LldpMib::Lldp { self.indexes.get(&number).copied() } else { Some(number) };
        index.filter(|index| self.interfaces.contains(*index))
    }
}

impl LldpNeighbors {
    /// Stores a variable of the table of neighbors.
    pub(super) fn accept(
        &mut self,
        index: LldpIndex,
        column: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!(column, 4..=10 | 12) {
            return Accepted::Yes;
        }
        let Some(neighbor) = self.neighbor(index, meter) else { return Accepted::TooMany };
        match column {
            4 => return Accepted::store(&mut neighbor.chassis_subtype, value.integer()),
            6 => return Accepted::store(&mut neighbor.port_subtype, value.integer()),
            _ => {}
        }
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        match column {
            5 => neighbor.chassis_id = Some(bytes.to_vec()),
            7 => neighbor.port_id = Some(bytes.to_vec()),
            8 => neighbor.port_desc = text::trimmed(bytes),
            9 => neighbor.sys_name = text::trimmed(bytes),
            10 => neighbor.sys_desc = text::trimmed(bytes),
            _ => neighbor.capabilities = text::capabilities(bytes),
        }
        Accepted::Yes
    }

    /// Stores the VLAN or the aggregate that a neighbor announces of its port.
    pub(super) fn accept_extension(
        &mut self,
        index: LldpIndex,
        [extension, _, _, column]: [u64; 4],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Some(neighbor) = self.neighbor(index, meter) else { return Accepted::TooMany };
        if extension != DOT1 {
            return neighbor.aggregation.accept(column, value);
        }
        Accepted::store(&mut neighbor.port_vlan, value.integer().and_then(|vlan| u16::try_from(vlan).ok()))
    }

    fn neighbor(&mut self, index: LldpIndex, meter: &mut Meter) -> Option<&mut LldpNeighbor> {
        meter.add_steps(1);
        if !self.rows.contains_key(&index) && !meter.admit_row() {
            return None;
        }
        Some(self.rows.entry(index).or_default())
    }

    /// Returns a neighbor that is no placeholder.
    pub(super) fn get(&self, index: &LldpIndex) -> Option<&LldpNeighbor> {
        self.rows.get(index).filter(|neighbor| !neighbor.is_empty())
    }

    pub(super) fn get_mut(&mut self, index: &LldpIndex) -> Option<&mut LldpNeighbor> {
        self.rows.get_mut(index)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&LldpIndex, &LldpNeighbor)> {
        self.rows.iter().filter(|(_, neighbor)| !neighbor.is_empty())
    }

    /// Returns the numbers of the local ports of LLDP-MIB.
    pub(super) fn port_numbers(&self) -> impl Iterator<Item = i64> {
        let ports = self.rows.keys().filter(|index| index.mib == LldpMib::Lldp).map(|index| index.port);
        ports
            .flat_map(|port| match port {
                LocalPortIndex::Number(number) => [Some(number), None],
                LocalPortIndex::OneOf(first, second) => [Some(first), Some(second)],
                LocalPortIndex::Unknown => [None, None],
            })
            .flatten()
    }

    /// Converts the neighbors, ordered by local port.
    pub(super) fn into_rows(self, locals: &Locals<'_>, meter: &mut Meter) -> Vec<LldpRow> {
        // Equal rows stay in the order of their indexes. Sorting by it takes less memory than a stable sort.
        let mut rows: Vec<(usize, LldpRow)> = Vec::new();
        for (index, neighbor) in self.rows {
            meter.add_steps(1);
            let number = locals.number(index.port);
            if neighbor.is_empty() {
                meter.leave_out(WarningCode::RowEmpty, || format!("a neighbor by LLDP, {}", at(number)));
                continue;
            }
            let stated = neighbor.chassis_id();
            let is_stated = stated.is_some();
            let Some(chassis_id) = stated.or_else(|| neighbor.chassis_id_by_port()) else {
                meter.leave_out(WarningCode::RowIncomplete, || {
                    format!("a neighbor by LLDP without a chassis id, {}", neighbor.described(number))
                });
                continue;
            };
            if !is_stated {
                meter.warn_of(WarningCode::ChassisIdMissing, || neighbor.described(number));
            }
            let row = row(neighbor, chassis_id);
            let row = placed(row, index.mib, number, locals);
            if row.if_index.is_none() && row.if_name.is_none() {
                meter.warn_of(WarningCode::LocalPortUnknown, || {
                    let name = row.sys_name.as_deref().unwrap_or(&row.chassis_id.value);
                    format!("{name} by LLDP, {}", at(number))
                });
            }
            rows.push((rows.len(), row));
        }
        // A neighbor that was lost and found again has two time marks, and one that two MIBs report has two rows.
        meter.add_steps(rows.len());
        rows.sort_unstable_by(|(place, row), (other_place, other)| {
            sort_key(row).cmp(&sort_key(other)).then(place.cmp(other_place))
        });
        rows.dedup_by(|(_, later), (_, earlier)| {
            let is_repeated = sort_key(later) == sort_key(earlier);
            if is_repeated {
                let name = later.sys_name.as_deref().unwrap_or(&later.chassis_id.value);
                meter.leave_out(WarningCode::RowRepeated, || format!("{name} by LLDP"));
            }
            is_repeated
        });
        meter.use_rows(rows.len());
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

fn at(number: Option<i64>) -> String {
    number.map_or_else(|| "local port not stated".to_owned(), |number| format!("local port {number}"))
}

/// Sets the known fields of the local port.
fn placed(row: LldpRow, mib: LldpMib, number: Option<i64>, locals: &Locals<'_>) -> LldpRow {
    let Some(number) = number else { return row };
    let if_index = locals.if_index(mib, number);
    let local = locals.port(mib, number);
    let if_name = if_index.and_then(|index| locals.interfaces.get(index)?.if_name.clone());
    // A name that no interface table confirms leads to the interface when such a table arrives.
    let by_lldp = || locals.names.get(&number).filter(|_| mib == LldpMib::Lldp && if_index.is_none());
    LldpRow {
        if_index,
        if_name: if_name.or_else(|| by_lldp().map(|name| (*name).to_owned())),
        local_port_number: (mib == LldpMib::Lldp).then_some(number),
        local_port_id: local.and_then(LocalPort::id).cloned(),
        local_port_desc: local.and_then(LocalPort::description).map(str::to_owned),
        ..row
    }
}

/// The local port as far as it is known, and the neighbor.
type RowOrder<'r> = (Option<i64>, Option<&'r str>, Option<i64>, &'r str, Option<&'r str>);

/// Orders rows by local port and neighbor.
fn sort_key(row: &LldpRow) -> RowOrder<'_> {
    let is_indexed = row.if_index.is_some();
    let number = if is_indexed { None } else { row.local_port_number };
    let name = if is_indexed { None } else { row.if_name.as_deref() };
    let port = row.port_id.as_ref().map(|id| id.value.as_str());
    (row.if_index, name, number, row.chassis_id.value.as_str(), port)
}

fn row(neighbor: LldpNeighbor, chassis_id: LldpChassisId) -> LldpRow {
    LldpRow {
        port_id: neighbor.port_id.and_then(|id| ids::port_id(neighbor.port_subtype, &id)),
        port_desc: neighbor.port_desc,
        sys_name: neighbor.sys_name,
        sys_desc: neighbor.sys_desc,
        mgmt_addrs: neighbor.mgmt_addrs,
        capabilities: neighbor.capabilities,
        lag_id: neighbor.aggregation.aggregate(),
        port_vlan: neighbor.port_vlan.filter(|vlan| (1..4095).contains(vlan)),
        ..LldpRow::new(chassis_id)
    }
}
