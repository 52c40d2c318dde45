//! Empty fields of a record take the values of the record that it replaces.
//!
//! [`Record::fill`] does so field by field. Here are the fields that depend on each other.

use crate::model::{Host, IfEntry, Interface, Record};

/// Fills the empty fields of a host, after its lists have been absorbed.
pub(super) fn fill(host: &mut Host, other: &Host) {
    host.fill(other);
    host.created_at = host.created_at.min(other.created_at);
}

/// Fills the empty fields of an interface.
pub(super) fn fill_interface(part: &mut Interface, gone: &Interface) {
    // What the device itself reports replaces what others say of it.
    let is_replaced = part.mac_address.is_none() || (part.mac_source.is_some() && gone.mac_source.is_none());
    if is_replaced && gone.mac_address.is_some() {
        (part.mac_address, part.mac_source) = (gone.mac_address, gone.mac_source);
    }
    part.fill(gone);
}

/// Fills the empty fields of an interface entry. The fields of LLDP and of CDP, which the table keeps, are taken
/// together.
pub(super) fn fill_entry(part: &mut IfEntry, gone: &IfEntry) {
    let take = |part: &mut IfEntry, prefix: &str| {
        let names = IfEntry::NAMES.iter().filter(|name| name.starts_with(prefix));
        names.for_each(|name| part.copy_field(gone, name));
    };
    if part.lldp_chassis_id.is_none() {
        take(part, "lldp_");
    }
    if part.cdp_device_id.is_none() {
        take(part, "cdp_");
    }
    part.fill(gone);
}
