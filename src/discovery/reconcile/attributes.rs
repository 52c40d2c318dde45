//! The fields that discovery sets, as values.
//!
//! A field has a name and an origin, and can be compared and copied.

use std::collections::BTreeSet;

use serde::Serialize;
use uuid::Uuid;

use crate::discovery::report::TableKind;
use crate::invariant::Invariant;
use crate::model::{Binding, BindingTarget, Host, IfEntry, Interface, Service};

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
    /// Returns whether the record already has what the report says.
    fn covers(&self, record: &T, reported: &T) -> bool {
        self.is_equal(record, reported)
    }
    fn assign(&self, record: &mut T, reported: &T);
    /// Returns the value as text. Of two values that were observed at one time, the greater text counts.
    fn text(&self, record: &T) -> String;
}

/// A value of a field, which may be unset.
pub(super) trait Value: Clone + PartialEq + Serialize {
    fn is_set(&self) -> bool;
}

impl<V: Clone + PartialEq + Serialize> Value for Option<V> {
    fn is_set(&self) -> bool {
        self.is_some()
    }
}

impl Value for String {
    fn is_set(&self) -> bool {
        !self.is_empty()
    }
}

/// An interface index; 0 stands for none.
impl Value for i64 {
    fn is_set(&self) -> bool {
        *self != 0
    }
}

impl Value for std::net::IpAddr {
    fn is_set(&self) -> bool {
        true
    }
}

impl Value for crate::model::ServiceDefinition {
    fn is_set(&self) -> bool {
        true
    }
}

struct Field<T, V> {
    name: &'static str,
    origin: Origin,
    is_cleared: bool,
    get: fn(&T) -> &V,
    get_mut: fn(&mut T) -> &mut V,
}

impl<T, V: Value> Attribute<T> for Field<T, V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn origin(&self) -> Origin {
        self.origin
    }

    fn is_cleared(&self) -> bool {
        self.is_cleared
    }

    fn is_set(&self, record: &T) -> bool {
        (self.get)(record).is_set()
    }

    fn is_equal(&self, one: &T, other: &T) -> bool {
        (self.get)(one) == (self.get)(other)
    }

    fn assign(&self, record: &mut T, reported: &T) {
        (self.get_mut)(record).clone_from((self.get)(reported));
    }

    fn text(&self, record: &T) -> String {
        serde_json::to_string((self.get)(record)).ok().asserted_or_default()
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

fn targets(service: &Service) -> BTreeSet<(Uuid, Uuid)> {
    service.bindings.iter().map(|binding| target(&binding.target)).collect()
}

/// Returns the ids of the port and the interface. The nil id stands for none.
fn target(target: &BindingTarget) -> (Uuid, Uuid) {
    match *target {
        BindingTarget::Port { port_id, interface_id } => (port_id, interface_id.unwrap_or_default()),
        BindingTarget::Interface { interface_id } => (Uuid::nil(), interface_id),
    }
}

const fn of_host<V>(
    name: &'static str,
    get: fn(&Host) -> &V,
    get_mut: fn(&mut Host) -> &mut V,
) -> Field<Host, V> {
    Field { name, origin: Origin::Device, is_cleared: false, get, get_mut }
}

const fn of_interface<V>(
    name: &'static str,
    origin: Origin,
    get: fn(&Interface) -> &V,
    get_mut: fn(&mut Interface) -> &mut V,
) -> Field<Interface, V> {
    Field { name, origin, is_cleared: false, get, get_mut }
}

const fn of_service<V>(
    name: &'static str,
    get: fn(&Service) -> &V,
    get_mut: fn(&mut Service) -> &mut V,
) -> Field<Service, V> {
    Field { name, origin: Origin::Table(TableKind::Ports), is_cleared: false, get, get_mut }
}

/// A field of an interface entry that complete tables without it leave as it is.
const fn of_entry<V>(
    name: &'static str,
    get: fn(&IfEntry) -> &V,
    get_mut: fn(&mut IfEntry) -> &mut V,
) -> Field<IfEntry, V> {
    Field { name, origin: Origin::Table(TableKind::IfEntries), is_cleared: false, get, get_mut }
}

/// A field of an interface entry that complete tables without it clear.
const fn cleared<V>(
    name: &'static str,
    table: TableKind,
    get: fn(&IfEntry) -> &V,
    get_mut: fn(&mut IfEntry) -> &mut V,
) -> Field<IfEntry, V> {
    Field { name, origin: Origin::Table(table), is_cleared: true, get, get_mut }
}

/// The fields of a host, without its lists.
pub(super) static HOST: &[&dyn Attribute<Host>] = &[
    &of_host("name", |host| &host.name, |host| &mut host.name),
    &of_host("hostname", |host| &host.hostname, |host| &mut host.hostname),
    &of_host("description", |host| &host.description, |host| &mut host.description),
    &of_host("sys_name", |host| &host.sys_name, |host| &mut host.sys_name),
    &of_host("sys_descr", |host| &host.sys_descr, |host| &mut host.sys_descr),
    &of_host("sys_object_id", |host| &host.sys_object_id, |host| &mut host.sys_object_id),
    &of_host("sys_location", |host| &host.sys_location, |host| &mut host.sys_location),
    &of_host("sys_contact", |host| &host.sys_contact, |host| &mut host.sys_contact),
    &of_host("chassis_id", |host| &host.chassis_id, |host| &mut host.chassis_id),
    &of_host("manufacturer", |host| &host.manufacturer, |host| &mut host.manufacturer),
    &of_host("model", |host| &host.model, |host| &mut host.model),
    &of_host("serial_number", |host| &host.serial_number, |host| &mut host.serial_number),
    &of_host("management_url", |host| &host.management_url, |host| &mut host.management_url),
    &of_host("virtualization", |host| &host.virtualization, |host| &mut host.virtualization),
];

const ADDRESSES: Origin = Origin::Table(TableKind::Addresses);

/// The fields of an interface.
pub(super) static INTERFACE: &[&dyn Attribute<Interface>] = &[
    &of_interface("ip_address", Origin::Derived, |part| &part.ip_address, |part| &mut part.ip_address),
    &of_interface("name", ADDRESSES, |part| &part.name, |part| &mut part.name),
    &of_interface("mac_address", ADDRESSES, |part| &part.mac_address, |part| &mut part.mac_address),
    &of_interface("subnet_id", Origin::Derived, |part| &part.subnet_id, |part| &mut part.subnet_id),
];

/// The fields of a service.
pub(super) static SERVICE: &[&dyn Attribute<Service>] = &[
    &of_service("name", |part| &part.name, |part| &mut part.name),
    &of_service("service_definition", |part| &part.service_definition, |part| &mut part.service_definition),
    &of_service("virtualization", |part| &part.virtualization, |part| &mut part.virtualization),
    &Bindings,
];

const ENTRIES: TableKind = TableKind::IfEntries;
const LLDP: TableKind = TableKind::Lldp;
const CDP: TableKind = TableKind::Cdp;

/// The fields of an interface entry.
pub(super) static IF_ENTRY: &[&dyn Attribute<IfEntry>] = &[
    &of_entry("if_index", |part| &part.if_index, |part| &mut part.if_index),
    &of_entry("if_name", |part| &part.if_name, |part| &mut part.if_name),
    &of_entry("if_descr", |part| &part.if_descr, |part| &mut part.if_descr),
    &of_entry("vlans", |part| &part.vlans, |part| &mut part.vlans),
    &cleared("if_alias", ENTRIES, |part| &part.if_alias, |part| &mut part.if_alias),
    &cleared("if_type", ENTRIES, |part| &part.if_type, |part| &mut part.if_type),
    &cleared("speed_bps", ENTRIES, |part| &part.speed_bps, |part| &mut part.speed_bps),
    &cleared("mac_address", ENTRIES, |part| &part.mac_address, |part| &mut part.mac_address),
    &cleared("admin_status", ENTRIES, |part| &part.admin_status, |part| &mut part.admin_status),
    &cleared("oper_status", ENTRIES, |part| &part.oper_status, |part| &mut part.oper_status),
    &cleared("interface_id", TableKind::Addresses, |part| &part.interface_id, |part| &mut part.interface_id),
    &cleared("lag_id", TableKind::Lag, |part| &part.lag_id, |part| &mut part.lag_id),
    &cleared("lldp_chassis_id", LLDP, |part| &part.lldp_chassis_id, |part| &mut part.lldp_chassis_id),
    &cleared("lldp_mgmt_addr", LLDP, |part| &part.lldp_mgmt_addr, |part| &mut part.lldp_mgmt_addr),
    &cleared("lldp_port_desc", LLDP, |part| &part.lldp_port_desc, |part| &mut part.lldp_port_desc),
    &cleared("lldp_port_id", LLDP, |part| &part.lldp_port_id, |part| &mut part.lldp_port_id),
    &cleared("lldp_sys_desc", LLDP, |part| &part.lldp_sys_desc, |part| &mut part.lldp_sys_desc),
    &cleared("lldp_sys_name", LLDP, |part| &part.lldp_sys_name, |part| &mut part.lldp_sys_name),
    &cleared("cdp_address", CDP, |part| &part.cdp_address, |part| &mut part.cdp_address),
    &cleared("cdp_device_id", CDP, |part| &part.cdp_device_id, |part| &mut part.cdp_device_id),
    &cleared("cdp_platform", CDP, |part| &part.cdp_platform, |part| &mut part.cdp_platform),
    &cleared("cdp_port_id", CDP, |part| &part.cdp_port_id, |part| &mut part.cdp_port_id),
    &Field {
        name: "neighbor",
        origin: Origin::Derived,
        is_cleared: false,
        get: |part: &IfEntry| &part.neighbor,
        get_mut: |part: &mut IfEntry| &mut part.neighbor,
    },
];
