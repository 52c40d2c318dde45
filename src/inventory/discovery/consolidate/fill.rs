//! Empty fields of a record take the values of the record that it replaces.

use crate::model::{Host, IfEntry, Interface};

/// Fills the empty fields of a host.
pub(super) fn fill(host: &mut Host, other: Host) {
    if host.name.is_empty() {
        host.name = other.name;
    }
    host.hostname = host.hostname.take().or(other.hostname);
    host.description = host.description.take().or(other.description);
    host.sys_name = host.sys_name.take().or(other.sys_name);
    host.sys_descr = host.sys_descr.take().or(other.sys_descr);
    host.sys_object_id = host.sys_object_id.take().or(other.sys_object_id);
    host.sys_location = host.sys_location.take().or(other.sys_location);
    host.sys_contact = host.sys_contact.take().or(other.sys_contact);
    host.chassis_id = host.chassis_id.take().or(other.chassis_id);
    host.manufacturer = host.manufacturer.take().or(other.manufacturer);
    host.model = host.model.take().or(other.model);
    host.serial_number = host.serial_number.take().or(other.serial_number);
    host.management_url = host.management_url.take().or(other.management_url);
    host.role = host.role.or(other.role);
    host.virtualization = host.virtualization.take().or(other.virtualization);
    host.created_at = host.created_at.min(other.created_at);
}

/// Fills the empty fields of an interface.
pub(super) fn fill_interface(part: &mut Interface, gone: &Interface) {
    part.name = part.name.take().or_else(|| gone.name.clone());
    // What the device itself reports replaces what others say of it.
    let is_replaced = part.mac_address.is_none() || (part.mac_source.is_some() && gone.mac_source.is_none());
    if is_replaced && gone.mac_address.is_some() {
        (part.mac_address, part.mac_source) = (gone.mac_address, gone.mac_source);
    }
    part.subnet_id = part.subnet_id.or(gone.subnet_id);
}

/// Fills the empty fields of an interface entry. The fields of LLDP and of CDP are filled together.
pub(super) fn fill_entry(part: &mut IfEntry, gone: &IfEntry) {
    if part.if_index == 0 {
        part.if_index = gone.if_index;
    }
    if part.if_descr.is_empty() {
        part.if_descr.clone_from(&gone.if_descr);
    }
    part.if_alias = part.if_alias.take().or_else(|| gone.if_alias.clone());
    part.if_type = part.if_type.or(gone.if_type);
    part.speed_bps = part.speed_bps.or(gone.speed_bps);
    part.mac_address = part.mac_address.or(gone.mac_address);
    part.admin_status = part.admin_status.or(gone.admin_status);
    part.oper_status = part.oper_status.or(gone.oper_status);
    part.vlans = part.vlans.take().or_else(|| gone.vlans.clone());
    part.interface_id = part.interface_id.or(gone.interface_id);
    part.lag_id = part.lag_id.or(gone.lag_id);
    part.neighbor = part.neighbor.or(gone.neighbor);
    if part.lldp_chassis_id.is_none() {
        part.lldp_chassis_id.clone_from(&gone.lldp_chassis_id);
        part.lldp_mgmt_addr.clone_from(&gone.lldp_mgmt_addr);
        part.lldp_port_desc.clone_from(&gone.lldp_port_desc);
        part.lldp_port_id.clone_from(&gone.lldp_port_id);
        part.lldp_sys_desc.clone_from(&gone.lldp_sys_desc);
        part.lldp_sys_name.clone_from(&gone.lldp_sys_name);
    }
    if part.cdp_device_id.is_none() {
        part.cdp_device_id.clone_from(&gone.cdp_device_id);
        part.cdp_address.clone_from(&gone.cdp_address);
        part.cdp_platform.clone_from(&gone.cdp_platform);
        part.cdp_port_id.clone_from(&gone.cdp_port_id);
    }
}
