//! Interfaces of devices without an interface table, as LLDP and CDP name them.

use std::collections::{BTreeMap, BTreeSet};

use super::cdp::Cdp;
use super::interfaces::Interfaces;
use super::lldp::Lldp;
use super::local_ports::{LocalPort, LocalPorts};
use super::numbering::Numbering;
use crate::discovery::parse::meter::Meter;
use crate::discovery::report::IfEntryRow;
use crate::model::{LldpPortId, LldpPortIdSubtype};

/// Adds the interfaces whose index is known, and returns those of which only a name is known, with index 0.
///
/// CDP and LLDP-V2-MIB state interface indexes. LLDP-MIB has numbers of its own.
pub(super) fn add(
    interfaces: &mut Interfaces,
    cdp: &Cdp,
    lldp: &Lldp,
    base_ports: &BTreeMap<i64, i64>,
    meter: &mut Meter,
) -> Vec<IfEntryRow> {
    for (index, name) in cdp.interfaces() {
        meter.add_steps(1);
        if let Some(row) = interfaces.derive(index)
            && row.if_name.is_none()
        {
            row.if_name = name.map(str::to_owned);
        }
    }
    for (index, port) in lldp.v2_ports().iter() {
        meter.add_steps(1);
        if let Some(row) = interfaces.derive(index) {
            describe(row, port);
        }
    }
    add_numbered(interfaces, lldp.ports(), base_ports, meter)
}

fn add_numbered(
    interfaces: &mut Interfaces,
    ports: &LocalPorts,
    base_ports: &BTreeMap<i64, i64>,
    meter: &mut Meter,
) -> Vec<IfEntryRow> {
    let known = ports.resolve_by_name(interfaces, meter);
    let pairs = known.iter().map(|(number, index)| (*number, *index));
    let is_by_index = Numbering::new(pairs, interfaces, base_ports, meter).is_by_index();
    let mut unnumbered = Vec::new();
    let mut names = BTreeSet::new();
    for (number, port) in ports.iter() {
        meter.add_steps(1);
        let index = known.get(&number).copied().or_else(|| is_by_index.then_some(number));
        if let Some(index) = index {
            if let Some(row) = interfaces.derive(index) {
                describe(row, port);
            }
        } else if let Some(name) = name(port)
            && names.insert(name)
        {
            let mut row = IfEntryRow::new(0);
            describe(&mut row, port);
            unnumbered.push(row);
        }
    }
    unnumbered
}

/// Returns the name of a port whose interface index is not known.
pub(super) fn name(port: &LocalPort) -> Option<&str> {
    interface_name(port).or_else(|| port.description())
}

fn describe(row: &mut IfEntryRow, port: &LocalPort) {
    if let Some(name) = interface_name(port) {
        row.if_name = Some(name.to_owned());
    }
    row.if_descr = port.description().map(str::to_owned);
    match port.id() {
        Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceAlias, value }) => {
            row.if_alias = Some(value.clone());
        }
        Some(LldpPortId { subtype: LldpPortIdSubtype::MacAddress, value }) => {
            row.mac_address = value.parse().ok();
        }
        _ => {}
    }
}

/// Returns the port's id if it is a name. A number is one only if there is no description.
fn interface_name(port: &LocalPort) -> Option<&str> {
    use LldpPortIdSubtype::{InterfaceName, LocallyAssigned};
    let LldpPortId { subtype, value } = port.id()?;
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    match subtype {
        InterfaceName => Some(value),
        LocallyAssigned if !is_number || port.description().is_none() => Some(value),
        _ => None,
    }
}
