//! CISCO-CDP-MIB.

use std::collections::BTreeMap;

use super::interfaces::Interfaces;
use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{Capability, CdpRow, Device, WarningCode};

#[derive(Debug, Default)]
pub(super) struct Cdp {
    device_id: Option<String>,
    interface_names: BTreeMap<i64, String>,
    /// By interface index and number of the neighbor.
    neighbors: BTreeMap<(i64, u64), CdpRow>,
}

impl Cdp {
    /// Stores a variable. `rest` follows `ciscoCdpMIBObjects`.
    pub(super) fn accept(&mut self, rest: &[u64], value: &VariableValue<'_>, meter: &mut Meter) -> Accepted {
        match rest {
            [1, 1, 1, 6, index] => {
                let Ok(index) = i64::try_from(*index) else { return Accepted::InvalidIndex };
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                if !self.interface_names.contains_key(&index) && !meter.admit_row() {
                    return Accepted::TooMany;
                }
                self.interface_names.insert(index, text::text(bytes));
                Accepted::Yes
            }
            [2, 1, 1, column, index, neighbor] => {
                self.accept_neighbor(*column, (*index, *neighbor), value, meter)
            }
            // Some agents do not number the neighbors of an interface.
            [2, 1, 1, column, index] => self.accept_neighbor(*column, (*index, 0), value, meter),
            [2, 1, 1, 4..=9 | 11, ..] => Accepted::InvalidIndex,
            [3, 4, 0] => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                self.device_id = text::trimmed(bytes);
                Accepted::Yes
            }
            _ => Accepted::Yes,
        }
    }

    fn accept_neighbor(
        &mut self,
        column: u64,
        (index, neighbor): (u64, u64),
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Ok(index) = i64::try_from(index) else { return Accepted::InvalidIndex };
        let key = (index, neighbor);
        meter.add_steps(1);
        if !self.neighbors.contains_key(&key) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let row = self.neighbors.entry(key).or_insert_with(|| CdpRow::new(""));
        if column == 11 {
            let vlan = value.integer().and_then(|vlan| u16::try_from(vlan).ok());
            let accepted = Accepted::store(&mut row.native_vlan, vlan);
            row.native_vlan = row.native_vlan.filter(|vlan| *vlan != 0);
            return accepted;
        }
        let place = match column {
            4 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                row.address = address(bytes);
                return Accepted::Yes;
            }
            5 => &mut row.version,
            6 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                row.device_id = identifier(bytes);
                return Accepted::Yes;
            }
            7 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                row.port_id = Some(identifier(bytes)).filter(|id| !id.is_empty());
                return Accepted::Yes;
            }
            8 => &mut row.platform,
            9 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                row.capabilities = capabilities(bytes);
                return Accepted::Yes;
            }
            _ => return Accepted::Yes,
        };
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        *place = text::non_empty(bytes);
        Accepted::Yes
    }

    /// Returns the interfaces that CDP names, for devices without an interface table.
    pub(super) fn interfaces(&self) -> impl Iterator<Item = (i64, Option<&str>)> {
        let named = self.interface_names.iter().map(|(index, name)| (*index, Some(name.as_str())));
        named.chain(self.neighbors.keys().map(|(index, _)| (*index, None)))
    }

    /// Returns the device id that the device announces.
    pub(super) fn device_id(&self) -> Option<&str> {
        self.device_id.as_deref()
    }

    pub(super) fn describe(&self, device: &mut Device) {
        device.cdp_device_id.clone_from(&self.device_id);
    }

    pub(super) fn into_rows(self, interfaces: &Interfaces, meter: &mut Meter) -> Vec<CdpRow> {
        meter.add_steps(self.neighbors.len() + self.interface_names.len());
        meter.use_rows(self.interface_names.len());
        let mut rows = Vec::new();
        for ((index, _), row) in self.neighbors {
            if row.device_id.is_empty() {
                meter.leave_out(WarningCode::RowIncomplete, || {
                    let port = row.port_id.as_deref().unwrap_or("unknown");
                    let address = row.address.as_deref().unwrap_or("unknown");
                    format!("a neighbor by CDP without a device id, interface {index}: port {port}, address {address}")
                });
                continue;
            }
            if !interfaces.contains(index) {
                meter.warn_of(WarningCode::LocalPortUnknown, || {
                    format!("{} by CDP, interface {index}", row.device_id)
                });
            }
            let if_name = self.interface_names.get(&index).filter(|name| !name.is_empty()).cloned();
            let if_name = if_name.or_else(|| interfaces.get(index)?.if_name.clone());
            rows.push(CdpRow { if_index: Some(index), if_name, ..row });
        }
        meter.use_rows(rows.len());
        rows
    }
}

/// Converts the id of a device or a port. Some devices send an id as the 6 bytes of a MAC address.
fn identifier(bytes: &[u8]) -> String {
    let is_binary = bytes.len() == 6 && bytes.iter().any(|byte| !byte.is_ascii_graphic() && *byte != b' ');
    match text::mac(bytes).filter(|_| is_binary) {
        Some(address) => address.to_string(),
        None => text::text(bytes),
    }
}

/// The bits of the capabilities of CDP. A switch announces a bridge that learns the spanning tree, or a switch.
const CAPABILITIES: &[(u32, Capability)] = &[
    (0x01, Capability::Router),
    (0x02, Capability::Bridge),
    (0x04, Capability::Bridge),
    (0x08, Capability::Bridge),
    (0x10, Capability::StationOnly),
    (0x40, Capability::Repeater),
    (0x80, Capability::Telephone),
];

/// Reads the capabilities, a number in network byte order.
fn capabilities(bytes: &[u8]) -> Vec<Capability> {
    let number = bytes.iter().take(4).fold(0_u32, |number, byte| (number << 8) | u32::from(*byte));
    let mut found: Vec<Capability> =
        CAPABILITIES.iter().filter(|(bit, _)| number & bit != 0).map(|(_, capability)| *capability).collect();
    found.sort_unstable();
    found.dedup();
    // A telephone is a station as well.
    if found.len() > 1 {
        found.retain(|capability| *capability != Capability::StationOnly);
    }
    found
}

fn address(bytes: &[u8]) -> Option<String> {
    // Some agents send the text of the address.
    let by_text = || str::from_utf8(bytes).ok()?.trim_matches([' ', '\0']).parse().ok();
    match by_text().or_else(|| text::ip(bytes)) {
        Some(address) => Some(address.to_string()),
        None => (!bytes.is_empty()).then(|| text::hex(bytes)),
    }
}
