//! Collection of the variables of a walk into the tables of a device.

mod bridge;
mod cdp;
mod entity;
mod interfaces;
mod ip;
mod lag;
mod lldp;
mod local_ports;
mod system;

use std::borrow::Cow;

use super::meter::Meter;
use crate::discovery::report::{Device, Table, WarningCode};

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'v> {
    /// A number of any type.
    Integer(i64),
    /// A string, bits, or an address.
    Bytes(Cow<'v, [u8]>),
    /// An object identifier.
    Oid(Cow<'v, [u64]>),
}

impl Value<'_> {
    fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Bytes(_) | Self::Oid(_) => None,
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Integer(_) | Self::Oid(_) => None,
        }
    }

    fn arcs(&self) -> Option<&[u64]> {
        match self {
            Self::Oid(arcs) => Some(arcs),
            Self::Integer(_) | Self::Bytes(_) => None,
        }
    }
}

/// The result of storing a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accepted {
    /// Stored, or of a column that no table needs.
    Yes,
    /// The value has the wrong type or is out of range.
    InvalidValue,
    /// The index does not have the form that the table requires.
    InvalidIndex,
    /// The row is new, and there are too many.
    TooMany,
}

impl Accepted {
    /// Stores a value if it was valid.
    fn store<T>(place: &mut Option<T>, value: Option<T>) -> Self {
        match value {
            Some(value) => {
                *place = Some(value);
                Self::Yes
            }
            None => Self::InvalidValue,
        }
    }
}

/// Collects the variables of one device.
#[derive(Debug, Default)]
pub(super) struct Mib {
    system: system::System,
    interfaces: interfaces::Interfaces,
    ip: ip::Ip,
    bridge: bridge::Bridge,
    lldp: lldp::Lldp,
    cdp: cdp::Cdp,
    lag: lag::Lag,
    entity: entity::Entity,
}

impl Mib {
    /// Returns whether a table may need the variable with this identifier.
    pub(super) fn covers(oid: &[u64]) -> bool {
        match oid {
            [1, 3, 6, 1, 2, 1, group, ..] => matches!(group, 1 | 2 | 4 | 17 | 31 | 47),
            [1, 0, 8802, 1, 1, 2, 1, group, ..] => matches!(group, 3 | 4),
            [1, 3, 111, 2, 802, 1, 1, 13, 1, group, ..] => matches!(group, 3 | 4),
            [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, 4, ..]
            | [1, 3, 6, 1, 4, 1, 9, 9, 23, 1, ..]
            | [1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, ..] => true,
            _ => false,
        }
    }

    /// Stores a variable. `lossy`: net-snmp replaced bytes of the index by dots.
    pub(super) fn accept(&mut self, oid: &[u64], lossy: bool, value: &Value<'_>, meter: &mut Meter) {
        meter.add_steps(oid.len());
        let accepted = match oid {
            [1, 3, 6, 1, 2, 1, 1, object, 0] => self.system.accept(*object, value),
            [1, 3, 6, 1, 2, 1, 17, 4, 3, 1, column, index @ ..] => {
                self.bridge.accept_fdb(*column, index, lossy, value, meter)
            }
            _ if lossy => Accepted::InvalidIndex,
            [1, 3, 6, 1, 2, 1, 2, 2, 1, column, index] => {
                self.interfaces.accept(*column, *index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 31, 1, 1, 1, column, index] => {
                self.interfaces.accept_extended(*column, *index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 31, 1, 2, 1, 3, higher, lower] => {
                self.lag.accept_stack(*higher, *lower, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 4, table, 1, column, index @ ..] => {
                self.ip.accept(*table, *column, index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 17, rest @ ..] => self.bridge.accept(rest, value, meter),
            [1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, column, index] => {
                self.entity.accept(*column, *index, value, meter)
            }
            [1, 0, 8802, 1, 1, 2, 1, rest @ ..] => self.lldp.accept(lldp::Mib::Lldp, rest, value, meter),
            [1, 3, 111, 2, 802, 1, 1, 13, 1, rest @ ..] => {
                self.lldp.accept(lldp::Mib::LldpV2, rest, value, meter)
            }
            [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, rest @ ..] => {
                self.lldp.accept(lldp::Mib::Timetra, rest, value, meter)
            }
            [1, 3, 6, 1, 4, 1, 9, 9, 23, 1, rest @ ..] => self.cdp.accept(rest, value, meter),
            [1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, column, index] => {
                self.lag.accept(*column, *index, value, meter)
            }
            _ => Accepted::Yes,
        };
        match accepted {
            Accepted::Yes | Accepted::TooMany => {}
            Accepted::InvalidValue => meter.warn(WarningCode::ValueInvalid),
            Accepted::InvalidIndex => meter.skip(WarningCode::RowMalformed),
        }
    }

    /// Joins the tables of the device.
    pub(super) fn into_device(self, complete: bool, meter: &mut Meter) -> Device {
        let mut device = Device::default();
        let mut interfaces = self.interfaces;
        let is_derived = interfaces.is_empty();
        if is_derived {
            interfaces.add_named(self.cdp.interfaces(), meter);
            interfaces.add_ports(self.lldp.local_ports(), meter);
        }
        let base_ports = self.bridge.base_ports();
        let local_ports = self.lldp.resolve_local_ports(&interfaces, base_ports, meter);
        self.system.describe(&mut device);
        self.entity.describe(&mut device);
        self.lldp.describe(&mut device);
        self.cdp.describe(&mut device);
        self.bridge.describe(&mut device);

        device.tables.lag = table(self.lag.into_rows(&interfaces, meter), complete);
        device.tables.lldp = table(self.lldp.into_rows(&local_ports, &interfaces, meter), complete);
        device.tables.cdp = table(self.cdp.into_rows(&interfaces, meter), complete);
        device.tables.addresses = table(self.ip.addresses(&interfaces, meter), complete);
        device.tables.arp = table(self.ip.into_arp(meter), complete);
        let bridge = self.bridge.into_tables(&mut interfaces, meter);
        device.tables.fdb = table(bridge.fdb, complete);
        device.tables.stp = table(bridge.stp, complete);
        device.tables.if_entries = table(interfaces.into_rows(meter), complete);
        if let Some(table) = device.tables.if_entries.as_mut().filter(|_| is_derived) {
            (table.derived, table.complete) = (true, false);
        }
        device
    }
}

/// Returns a table, or `None` if there are no rows. A walk does not show which tables the device was asked for.
fn table<T>(rows: Vec<T>, complete: bool) -> Option<Table<T>> {
    (!rows.is_empty()).then(|| if complete { Table::complete(rows) } else { Table::truncated(rows) })
}
