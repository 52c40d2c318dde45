//! LLDP-MIB with its extensions for IEEE 802.1 and 802.3, LLDP-V2-MIB and TIMETRA-LLDP-MIB.

mod addresses;
mod neighbor;
mod time_marks;

use std::collections::BTreeMap;

use super::bridge::BasePorts;
use super::interfaces::Interfaces;
use super::local_ports::LocalPorts;
use super::{Accepted, VariableValue, ids};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{Capability, Device, LagRow, LldpRow, WarningCode};
use crate::model::Vlans;
use addresses::ManagementAddresses;
use neighbor::{LldpIndex, LldpNeighbors};

/// The MIBs that describe LLDP, with different indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LldpMib {
    Lldp,
    LldpV2,
    Timetra,
}

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
    neighbors: LldpNeighbors,
    addresses: ManagementAddresses,
}

impl Lldp {
    /// Stores a variable. `rest` follows the MIB's objects.
    pub(super) fn accept(
        &mut self,
        mib: LldpMib,
        rest: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        match (mib, rest) {
            (LldpMib::Lldp | LldpMib::LldpV2, [3, object, 0]) => self.accept_local(*object, value),
            (LldpMib::Lldp, [3, 7, 1, column, number]) => self.ports.accept(*column, *number, value, meter),
            (LldpMib::LldpV2, [3, 7, 1, column, number]) => {
                self.v2_ports.accept(*column, *number, value, meter)
            }
            (_, [4, 1, 1, column, index @ ..]) => {
                // The columns of LLDP-V2-MIB are those of LLDP-MIB, moved by one.
                let column = if mib == LldpMib::LldpV2 { column.saturating_sub(1) } else { *column };
                let Some(index) = LldpIndex::new(mib, index) else { return Accepted::InvalidIndex };
                self.neighbors.accept(index, column, value, meter)
            }
            (_, [4, 2, 1, column, index @ ..]) => self.addresses.accept(mib, *column, index, value, meter),
            (LldpMib::Lldp | LldpMib::LldpV2, [5, extension, 1, group, table, 1, column, index @ ..]) => {
                self.accept_extension(mib, [*extension, *group, *table, *column], index, value, meter)
            }
            _ => Accepted::Yes,
        }
    }

    fn accept_local(&mut self, object: u64, value: &VariableValue<'_>) -> Accepted {
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

    /// Stores a variable of the extensions: the VLAN of a port (LLDP-EXT-DOT1), or its aggregate (LLDP-EXT-DOT3).
    fn accept_extension(
        &mut self,
        mib: LldpMib,
        object: [u64; 4],
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let ports = if mib == LldpMib::Lldp { &mut self.ports } else { &mut self.v2_ports };
        match (object, index) {
            ([super::coverage::DOT1, 2, 1, 1], [port]) => ports.accept_port_vlan(*port, value, meter),
            ([super::coverage::DOT3, 2, 3, column], [port]) => {
                ports.accept_aggregation(column, *port, value, meter)
            }
            ([super::coverage::DOT1, 3, 1, 1] | [super::coverage::DOT3, 3, 3, _], _) => {
                let Some(index) = LldpIndex::new(mib, index) else { return Accepted::InvalidIndex };
                self.neighbors.accept_extension(index, object, value, meter)
            }
            _ => Accepted::Yes,
        }
    }

    /// Returns the ports by the number that the LLDP agent gives them.
    pub(super) const fn ports(&self) -> &LocalPorts {
        &self.ports
    }

    /// Returns the ports by interface index.
    pub(super) const fn v2_ports(&self) -> &LocalPorts {
        &self.v2_ports
    }

    /// Returns the chassis id that the device announces.
    pub(super) fn chassis_id(&self) -> Option<&[u8]> {
        self.chassis_id.as_deref()
    }

    /// Returns the interface index of each local port of LLDP-MIB that can be determined.
    pub(super) fn resolve_local_ports(
        &self,
        interfaces: &Interfaces,
        base_ports: &BasePorts,
        meter: &mut Meter,
    ) -> BTreeMap<i64, i64> {
        self.ports.resolve(self.neighbors.port_numbers(), interfaces, base_ports, meter)
    }

    /// Returns whether the interface of a local port of LLDP-MIB is not known.
    pub(super) fn has_unresolved_ports(&self, indexes: &BTreeMap<i64, i64>) -> bool {
        let numbers = self.neighbors.port_numbers().chain(self.ports.iter().map(|(number, _)| number));
        numbers.into_iter().any(|number| !indexes.contains_key(&number))
    }

    pub(super) fn describe(&self, device: &mut Device) {
        let id = self.chassis_id.as_deref();
        device.chassis_id = id.and_then(|id| ids::chassis_id(self.chassis_subtype, id)).map(Box::new);
        if device.sys_name.is_none() {
            device.sys_name.clone_from(&self.sys_name);
        }
        if device.sys_descr.is_none() {
            device.sys_descr.clone_from(&self.sys_desc);
        }
        device.capabilities.clone_from(&self.capabilities);
    }

    /// Adds the members of aggregates that no other table names.
    pub(super) fn add_lag_rows(
        &self,
        indexes: &BTreeMap<i64, i64>,
        interfaces: &Interfaces,
        rows: &mut Vec<LagRow>,
        meter: &mut Meter,
    ) {
        let held: std::collections::BTreeSet<i64> = rows.iter().map(|row| row.if_index).collect();
        for (index, port) in self.ports_with_index(indexes) {
            meter.add_steps(1);
            let Some(aggregate) = port.aggregation.aggregate() else { continue };
            if held.contains(&index) || index == aggregate {
                continue;
            }
            if interfaces.contains(aggregate) {
                rows.push(LagRow::new(index, aggregate));
            } else {
                meter.warn_of(WarningCode::AggregateUnknown, || format!("aggregate {aggregate} of {index}"));
            }
        }
    }

    /// Sets the VLAN of untagged frames of each interface, for devices whose bridge states no VLANs.
    pub(super) fn set_vlans(
        &self,
        indexes: &BTreeMap<i64, i64>,
        interfaces: &mut Interfaces,
        meter: &mut Meter,
    ) {
        if interfaces.have_vlans(meter) {
            return;
        }
        for (index, port) in self.ports_with_index(indexes) {
            meter.add_steps(1);
            if let Some(vlan) = port.port_vlan.filter(|vlan| (1..4095).contains(vlan)) {
                interfaces.set_vlans(index, Vlans { untagged: Some(vlan), ..Vlans::default() });
            }
        }
    }

    fn ports_with_index<'l>(
        &'l self,
        indexes: &'l BTreeMap<i64, i64>,
    ) -> impl Iterator<Item = (i64, &'l super::local_ports::LocalPort)> {
        let numbered = self.ports.iter();
        let numbered = numbered.filter_map(|(number, port)| Some((*indexes.get(&number)?, port)));
        numbered.chain(self.v2_ports.iter())
    }

    pub(super) fn into_rows(
        self,
        indexes: &BTreeMap<i64, i64>,
        interfaces: &Interfaces,
        is_derived: bool,
        meter: &mut Meter,
    ) -> Vec<LldpRow> {
        self.ports.account(meter);
        self.v2_ports.account(meter);
        let locals = neighbor::Locals {
            ports: &self.ports,
            v2_ports: &self.v2_ports,
            indexes,
            interfaces,
            names: if is_derived { self.ports.names(meter) } else { BTreeMap::new() },
        };
        let mut neighbors = self.neighbors;
        neighbors.join_times(meter);
        self.addresses.join(&mut neighbors, meter);
        neighbors.into_rows(&locals, meter)
    }
}
