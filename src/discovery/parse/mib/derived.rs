//! Interfaces of devices without an interface table, as LLDP and CDP name them.

use super::bridge::BasePorts;
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
    base_ports: &BasePorts,
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
    base_ports: &BasePorts,
    meter: &mut Meter,
) -> Vec<IfEntryRow> {
    let known = ports.resolve_by_name(interfaces, meter);
    let pairs = known.iter().map(|(number, index)| (*number, *index));
    let is_by_index = Numbering::new(pairs, interfaces, base_ports, meter).is_by_index();
    let names = ports.names(meter);
    let mut unnumbered = Vec::new();
    for (number, port) in ports.iter() {
        meter.add_steps(1);
        let index = known.get(&number).copied().or_else(|| is_by_index.then_some(number));
        if let Some(index) = index {
            if let Some(row) = interfaces.derive(index) {
                describe(row, port);
            }
        } else if names.contains_key(&number) {
            let mut row = IfEntryRow::new(0);
            describe(&mut row, port);
            unnumbered.push(row);
        }
    }
    unnumbered
}

fn describe(row: &mut IfEntryRow, port: &LocalPort) {
    use LldpPortIdSubtype::{InterfaceAlias, InterfaceName, LocallyAssigned, MacAddress};
    row.if_descr = port.description().map(str::to_owned);
    let Some(LldpPortId { subtype, value }) = port.id() else { return };
    match subtype {
        InterfaceName | LocallyAssigned => row.if_name = Some(value.clone()),
        InterfaceAlias => row.if_alias = Some(value.clone()),
        MacAddress => row.mac_address = value.parse().ok(),
        _ => {}
    }
}
