//! Collection of the variables of a walk into the tables of a device.

mod bridge;
mod cdp;
mod coverage;
mod derived;
mod entity;
mod identity;
mod ids;
mod interfaces;
mod ip;
mod lag;
mod lldp;
mod local_ports;
mod numbering;
mod routes;
mod system;

use std::borrow::Cow;
use std::net::IpAddr;

use super::meter::Meter;
use crate::discovery::report::{AddressFamily, Device, IfEntryRow, LagRow, Table, TableKind, WarningCode};
use coverage::{Converted, Coverage};
use identity::SameDevice;

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariableValue<'v> {
    /// A number of any type.
    Integer(i64),
    /// A string, bits, or an address.
    Bytes(Cow<'v, [u8]>),
    /// An object identifier.
    Oid(Cow<'v, [u64]>),
}

impl VariableValue<'_> {
    /// Returns a number, also one that the device sent as text.
    fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Bytes(bytes) => super::text::number(bytes),
            Self::Oid(_) => None,
        }
    }

    /// Returns the number of bytes or arcs.
    #[cfg(feature = "collect")]
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Integer(_) => 1,
            Self::Bytes(bytes) => bytes.len(),
            Self::Oid(arcs) => arcs.len(),
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
    routes: routes::Routes,
    bridge: bridge::Bridge,
    lldp: lldp::Lldp,
    cdp: cdp::Cdp,
    lag: lag::Lag,
    entity: entity::Entity,
    coverage: Coverage,
    identity: SameDevice,
}

impl Mib {
    /// Returns whether a table may need the variable with this identifier.
    pub(super) fn covers(oid: &[u64]) -> bool {
        coverage::is_read(oid)
    }

    /// Counts a variable that no table needs.
    pub(super) fn pass_over(&mut self, oid: &[u64], meter: &Meter) {
        self.coverage.pass_over(oid, meter);
    }

    /// Counts a variable of which only a name is known that no table needs.
    pub(super) fn pass_over_name(&mut self, name: &[u8], meter: &Meter) {
        self.coverage.pass_over_name(name, meter);
    }

    /// Notes that a variable could not be read. `oid` may lack arcs at its end.
    pub(super) fn note_loss(&mut self, oid: &[u64]) {
        self.coverage.note_loss(oid);
        // `dot1dBasePort` and `dot1dBasePortIfIndex`.
        if matches!(oid, [1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 1 | 2, ..]) {
            self.bridge.base_ports_mut().note_loss();
        }
    }

    /// Notes that the table of bridge ports lacks rows, by which the numbers of other tables are read.
    #[cfg(feature = "collect")]
    pub(super) const fn note_loss_of_base_ports(&mut self) {
        self.bridge.base_ports_mut().note_loss();
    }

    /// Notes that a table lacks rows.
    #[cfg(feature = "collect")]
    pub(super) fn note_loss_of(&mut self, kind: TableKind) {
        self.coverage.note_loss_of(kind);
    }

    /// Returns whether an address is one of the device's own, as far as the variables show.
    pub(super) fn has_address(&self, address: IpAddr) -> bool {
        self.ip.has_address(address)
    }

    /// Returns the name that the device states.
    pub(super) fn sys_name(&self) -> Option<&str> {
        self.system.name()
    }

    /// Returns two values of one variable that a single device does not have, if there were such.
    pub(super) fn conflict(&self) -> Option<&str> {
        self.identity.conflict()
    }

    /// Stores a variable. `lossy`: net-snmp replaced bytes of the index by dots.
    pub(super) fn accept(&mut self, oid: &[u64], lossy: bool, value: &VariableValue<'_>, meter: &mut Meter) {
        meter.add_steps(oid.len());
        self.coverage.note(oid);
        self.identity.check(oid, value, &self.interfaces);
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
            // `atTable` has the columns of `ipNetToMediaTable`. Most agents put the type of the address before it.
            [1, 3, 6, 1, 2, 1, 3, 1, 1, column, interface, 1, a, b, c, d] => {
                self.ip.accept(22, *column, &[*interface, *a, *b, *c, *d], value, meter)
            }
            [1, 3, 6, 1, 2, 1, 3, 1, 1, column, index @ ..] => {
                self.ip.accept(22, *column, index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 4, 24, table, 1, column, index @ ..] => {
                self.routes.accept_new(*table, *column, index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 4, 21, 1, column, index @ ..] => {
                self.routes.accept(*column, index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 4, table, 1, column, index @ ..] => {
                self.ip.accept(*table, *column, index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 55, 1, table, 1, column, index @ ..] => {
                self.ip.accept_ipv6(*table, *column, index, value, meter)
            }
            [1, 3, 6, 1, 2, 1, 17, rest @ ..] => self.bridge.accept(rest, value, meter),
            [1, 3, 6, 1, 2, 1, 47, 1, 1, 1, 1, column, index] => {
                self.entity.accept(*column, *index, value, meter)
            }
            [1, 0, 8802, 1, 1, 2, 1, rest @ ..] => self.lldp.accept(lldp::LldpMib::Lldp, rest, value, meter),
            [1, 3, 111, 2, 802, 1, 1, 13, 1, rest @ ..] => {
                self.lldp.accept(lldp::LldpMib::LldpV2, rest, value, meter)
            }
            [1, 3, 6, 1, 4, 1, 6527, 3, 1, 2, 59, rest @ ..] => {
                self.lldp.accept(lldp::LldpMib::Timetra, rest, value, meter)
            }
            [1, 3, 6, 1, 4, 1, 9, 9, 23, 1, rest @ ..] => self.cdp.accept(rest, value, meter),
            [1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, column, index] => {
                self.lag.accept(*column, *index, value, meter)
            }
            _ if coverage::is_row(oid) => Accepted::InvalidIndex,
            _ => Accepted::Yes,
        };
        self.account(accepted, oid, meter);
    }

    /// Stores a variable of BRIDGE-MIB from the context of a VLAN.
    #[cfg(feature = "collect")]
    pub(super) fn accept_of_vlan(
        &mut self,
        vlan: u16,
        oid: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) {
        meter.add_steps(oid.len());
        let accepted = match oid {
            [1, 3, 6, 1, 2, 1, 17, rest @ ..] => self.bridge.accept_of_vlan(vlan, rest, value, meter),
            _ => Accepted::Yes,
        };
        self.account(accepted, oid, meter);
    }

    /// Counts a variable that was not stored.
    fn account(&mut self, accepted: Accepted, oid: &[u64], meter: &mut Meter) {
        match accepted {
            Accepted::Yes | Accepted::TooMany => {}
            Accepted::InvalidValue => meter.warn(WarningCode::ValueInvalid),
            Accepted::InvalidIndex => {
                self.note_loss(oid);
                meter.skip_of(WarningCode::RowMalformed, || dotted(oid));
            }
        }
    }

    /// Joins the tables of the device.
    pub(super) fn into_device(self, complete: bool, meter: &mut Meter) -> Device {
        let mut device = Device::default();
        let mut coverage = self.coverage;
        coverage.note_identities(self.lldp.chassis_id().is_some(), self.cdp.device_id().is_some());
        coverage.finish(meter);
        let mut interfaces = self.interfaces;
        let base_ports = self.bridge.base_ports();
        let is_derived = interfaces.is_empty();
        let unnumbered = if is_derived {
            derived::add(&mut interfaces, &self.cdp, &self.lldp, base_ports, meter)
        } else {
            Vec::new()
        };
        let local_ports = self.lldp.resolve_local_ports(&interfaces, base_ports, meter);
        if base_ports.has_losses() {
            coverage.note_loss_of(TableKind::Fdb);
            coverage.note_loss_of(TableKind::Stp);
            if self.lldp.has_unresolved_ports(&local_ports) {
                coverage.note_loss_of(TableKind::Lldp);
                coverage.note_loss_of(TableKind::Lag);
            }
            if self.bridge.lacks_vlans() {
                coverage.note_loss_of(TableKind::IfEntries);
            }
        }
        self.system.describe(&mut device);
        self.entity.describe(&mut device, meter);
        self.lldp.describe(&mut device);
        self.cdp.describe(&mut device);
        self.bridge.describe(&mut device);

        let lag = Converted::new(meter, |meter| {
            let mut rows: Vec<LagRow> = self.lag.into_rows(&interfaces, !is_derived, base_ports, meter);
            self.lldp.add_lag_rows(&local_ports, &interfaces, &mut rows, meter);
            rows.sort_unstable_by_key(|row| row.if_index);
            rows
        });
        device.tables.lag = coverage.table(TableKind::Lag, complete, lag);
        let cdp = Converted::new(meter, |meter| self.cdp.into_rows(&interfaces, meter));
        device.tables.cdp = coverage.table(TableKind::Cdp, complete, cdp);
        let addresses = Converted::new(meter, |meter| self.ip.addresses(&interfaces, meter));
        device.tables.addresses = coverage.table(TableKind::Addresses, complete, addresses);
        let has_both = self.ip.has_both_families();
        let arp = Converted::new(meter, |meter| self.ip.into_arp(meter));
        let arp = coverage.table(TableKind::Arp, complete, arp);
        device.tables.arp = arp.map(|arp| limited(arp, has_both, |row| row.ip_address));
        if self.routes.has_too_many() {
            coverage.note_loss_of(TableKind::Routes);
        }
        let has_both = self.routes.has_both_families();
        let routes = Converted::new(meter, |meter| self.routes.into_rows(meter));
        let routes = coverage.table(TableKind::Routes, complete, routes);
        device.tables.routes =
            routes.map(|routes| limited(routes, has_both, |row| row.destination.first_address()));
        let mut stp = Vec::new();
        let fdb = Converted::new(meter, |meter| {
            let tables = self.bridge.into_tables(device.sys_object_id.as_deref(), &mut interfaces, meter);
            stp = tables.stp;
            tables.fdb
        });
        device.tables.fdb = coverage.table(TableKind::Fdb, complete, fdb);
        let stp = Converted::new(meter, |_| stp);
        device.tables.stp = coverage.table(TableKind::Stp, complete, stp);
        self.lldp.set_vlans(&local_ports, &mut interfaces, meter);
        let lldp =
            Converted::new(meter, |meter| self.lldp.into_rows(&local_ports, &interfaces, is_derived, meter));
        device.tables.lldp = coverage.table(TableKind::Lldp, complete, lldp);
        device.tables.if_entries = if is_derived {
            derived_table(interfaces.into_derived_rows(meter), unnumbered)
        } else {
            let rows = Converted::new(meter, |meter| interfaces.into_rows(meter));
            coverage.table(TableKind::IfEntries, complete, rows)
        };
        device
    }
}

/// Limits a table to the family of its addresses, unless the device was asked for both.
fn limited<T>(table: Box<Table<T>>, has_both: bool, address: impl Fn(&T) -> IpAddr) -> Box<Table<T>> {
    let family = if has_both { None } else { AddressFamily::of_all(table.rows.iter().map(address)) };
    table.limited_to(family)
}

/// Returns the interfaces that only neighbors and local ports show, or `None` if there are none.
fn derived_table(numbered: Vec<IfEntryRow>, unnumbered: Vec<IfEntryRow>) -> Option<Box<Table<IfEntryRow>>> {
    let mut rows = numbered;
    rows.extend(unnumbered);
    (!rows.is_empty()).then(|| Table::derived(rows))
}

fn dotted(oid: &[u64]) -> String {
    let arcs: Vec<String> = oid.iter().map(u64::to_string).collect();
    arcs.join(".")
}
