//! The fields that discovery sets, as values.
//!
//! A field has a name and an origin, and can be compared and copied.

use std::collections::BTreeSet;

use crate::discovery::report::TableKind;
use crate::invariant::Invariant;
use crate::model::{Binding, BindingTarget, Field, IfEntry, Interface, InterfaceId, PortId, Record, Service};

/// The origin of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The device itself, apart from its tables.
    Device,
    /// A table of the device.
    Table(TableKind),
    /// Other records. A merge never sets such a field, but users may.
    Derived,
}

/// A field of `T`.
pub(super) trait Attribute<T>: Sync {
    fn name(&self) -> &'static str;
    fn origin(&self) -> Origin;
    /// Returns whether a complete table that lacks the value removes it.
    fn is_cleared(&self) -> bool;
    fn is_set(&self, record: &T) -> bool;
    fn is_equal(&self, one: &T, other: &T) -> bool;
    /// Returns whether the record already has the reported value.
    fn covers(&self, record: &T, reported: &T) -> bool {
        self.is_equal(record, reported)
    }
    fn assign(&self, record: &mut T, reported: &T);
    /// Returns the value as text. Of two values that were observed at one time, the greater text counts.
    fn text(&self, record: &T) -> String;
}

/// A field as reports of devices set it.
struct Reported<T: 'static> {
    field: &'static Field<T>,
    origin: Origin,
    is_cleared: bool,
}

impl<T> Attribute<T> for Reported<T> {
    fn name(&self) -> &'static str {
        self.field.name
    }

    fn origin(&self) -> Origin {
        self.origin
    }

    fn is_cleared(&self) -> bool {
        self.is_cleared
    }

    fn is_set(&self, record: &T) -> bool {
        self.field.access.is_set(record)
    }

    fn is_equal(&self, one: &T, other: &T) -> bool {
        self.field.access.is_equal(one, other)
    }

    fn assign(&self, record: &mut T, reported: &T) {
        self.field.access.copy(record, reported);
    }

    fn text(&self, record: &T) -> String {
        self.field.access.json(record).ok().asserted_or_default()
    }
}

/// The targets that a service is bound to. Reports only add to them.
struct Bindings;

impl Attribute<Service> for Bindings {
    fn name(&self) -> &'static str {
        "bindings"
    }

    fn origin(&self) -> Origin {
        Origin::Table(TableKind::Ports)
    }

    fn is_cleared(&self) -> bool {
        false
    }

    fn is_set(&self, service: &Service) -> bool {
        !service.bindings.is_empty()
    }

    fn is_equal(&self, one: &Service, other: &Service) -> bool {
        targets(one) == targets(other)
    }

    fn covers(&self, service: &Service, reported: &Service) -> bool {
        targets(reported).is_subset(&targets(service))
    }

    fn assign(&self, service: &mut Service, reported: &Service) {
        let present = targets(service);
        for binding in &reported.bindings {
            if !present.contains(&target(&binding.target)) {
                let added = Binding::new(service, binding.target);
                service.bindings.push(added);
            }
        }
    }

    /// All bindings count, whenever they were observed.
    fn text(&self, _: &Service) -> String {
        String::new()
    }
}

fn targets(service: &Service) -> BTreeSet<(PortId, InterfaceId)> {
    service.bindings.iter().map(|binding| target(&binding.target)).collect()
}

/// Returns the ids of the port and the interface. The nil id stands for none.
fn target(target: &BindingTarget) -> (PortId, InterfaceId) {
    match *target {
        BindingTarget::Port { port_id, interface_id } => (port_id, interface_id.unwrap_or_default()),
        BindingTarget::Interface { interface_id } => (PortId::nil(), interface_id),
    }
}

/// A field that complete tables without it leave as it is.
const fn added<T: Record>(name: &str, origin: Origin) -> Reported<T> {
    Reported { field: field(name), origin, is_cleared: false }
}

/// A field of an interface entry that complete tables without it clear.
const fn cleared(name: &str, table: TableKind) -> Reported<IfEntry> {
    Reported { field: field(name), origin: Origin::Table(table), is_cleared: true }
}

/// Returns the field with this name. The name of no field does not compile.
#[allow(clippy::panic, reason = "it is evaluated by the compiler")]
const fn field<T: Record>(name: &str) -> &'static Field<T> {
    let mut fields = T::FIELDS;
    while let [field, rest @ ..] = fields {
        if is_same(field.name.as_bytes(), name.as_bytes()) {
            return field;
        }
        fields = rest;
    }
    panic!("no field has this name")
}

const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([first, rest @ ..], [other_first, other_rest @ ..]) = (one, other) {
        if *first != *other_first {
            return false;
        }
        (one, other) = (rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}

/// Returns the fields that the device itself reports, which are those of hosts without lists.
pub(super) fn of_device<T: Record>() -> impl Iterator<Item = impl Attribute<T>> {
    let reported = T::FIELDS.iter().filter(|field| field.is_reported);
    reported.map(|field| Reported { field, origin: Origin::Device, is_cleared: false })
}

const ADDRESSES: Origin = Origin::Table(TableKind::Addresses);
const PORTS: Origin = Origin::Table(TableKind::Ports);
const ENTRIES: TableKind = TableKind::IfEntries;
const LLDP: TableKind = TableKind::Lldp;
const CDP: TableKind = TableKind::Cdp;

/// The fields of an interface.
pub(super) static INTERFACE: &[&dyn Attribute<Interface>] = &[
    &added("ip_address", Origin::Derived),
    &added("name", ADDRESSES),
    &added("mac_address", ADDRESSES),
    &added("subnet_id", Origin::Derived),
];

/// The fields of a service.
pub(super) static SERVICE: &[&dyn Attribute<Service>] =
    &[&added("name", PORTS), &added("service_definition", PORTS), &added("virtualization", PORTS), &Bindings];

/// The fields of an interface entry.
pub(super) static IF_ENTRY: &[&dyn Attribute<IfEntry>] = &[
    &added("if_index", Origin::Table(ENTRIES)),
    &added("if_name", Origin::Table(ENTRIES)),
    &added("if_descr", Origin::Table(ENTRIES)),
    &added("vlans", Origin::Table(ENTRIES)),
    &cleared("if_alias", ENTRIES),
    &cleared("if_type", ENTRIES),
    &cleared("speed_bps", ENTRIES),
    &cleared("mac_address", ENTRIES),
    &cleared("admin_status", ENTRIES),
    &cleared("oper_status", ENTRIES),
    &cleared("interface_id", TableKind::Addresses),
    &cleared("lag_id", TableKind::Lag),
    &cleared("lldp_chassis_id", LLDP),
    &cleared("lldp_mgmt_addr", LLDP),
    &cleared("lldp_port_desc", LLDP),
    &cleared("lldp_port_id", LLDP),
    &cleared("lldp_sys_desc", LLDP),
    &cleared("lldp_sys_name", LLDP),
    &cleared("cdp_address", CDP),
    &cleared("cdp_device_id", CDP),
    &cleared("cdp_platform", CDP),
    &cleared("cdp_port_id", CDP),
    &added("neighbor", Origin::Derived),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extended::Extended;

    #[test]
    fn new_field_of_the_table_is_merged() {
        let (mut host, mut reported) = (Extended::default(), Extended::default());
        reported.rack = Some("R4".to_owned());
        of_device::<Extended>().for_each(|field| field.assign(&mut host, &reported));
        assert_eq!(host, reported);
    }
}
