//! Empty fields of a record take the values of the record that it replaces.

use crate::model::{Host, IfEntry, Interface};

// All fields of the replaced records are listed, so that a new one does not compile until it is filled or left out.

/// Fills the empty fields of a host, except its lists.
pub(super) fn fill(host: &mut Host, other: Host) {
    let Host {
        name,
        hostname,
        description,
        sys_name,
        sys_descr,
        sys_object_id,
        sys_location,
        sys_contact,
        chassis_id,
        manufacturer,
        model,
        serial_number,
        management_url,
        role,
        virtualization,
        created_at,
        // Absorbed one by one.
        tags: _,
        credential_assignments: _,
        interfaces: _,
        ports: _,
        services: _,
        if_entries: _,
        // Those of the host that remains stay.
        id: _,
        network_id: _,
        hidden: _,
        source: _,
        updated_at: _,
        last_seen_at: _,
        is_stale: _,
    } = other;
    if host.name.is_empty() {
        host.name = name;
    }
    host.hostname = host.hostname.take().or(hostname);
    host.description = host.description.take().or(description);
    host.sys_name = host.sys_name.take().or(sys_name);
    host.sys_descr = host.sys_descr.take().or(sys_descr);
    host.sys_object_id = host.sys_object_id.take().or(sys_object_id);
    host.sys_location = host.sys_location.take().or(sys_location);
    host.sys_contact = host.sys_contact.take().or(sys_contact);
    host.chassis_id = host.chassis_id.take().or(chassis_id);
    host.manufacturer = host.manufacturer.take().or(manufacturer);
    host.model = host.model.take().or(model);
    host.serial_number = host.serial_number.take().or(serial_number);
    host.management_url = host.management_url.take().or(management_url);
    host.role = host.role.or(role);
    host.virtualization = host.virtualization.take().or(virtualization);
    host.created_at = host.created_at.min(created_at);
}

/// Fills the empty fields of an interface.
pub(super) fn fill_interface(part: &mut Interface, gone: &Interface) {
    let Interface {
        name,
        mac_address,
        mac_source,
        subnet_id,
        // Both have the same address; the others of the part that remains stay.
        id: _,
        host_id: _,
        network_id: _,
        ip_address: _,
        position: _,
        created_at: _,
        updated_at: _,
        last_seen_at: _,
        is_stale: _,
    } = gone;
    part.name = part.name.take().or_else(|| name.clone());
    // What the device itself reports replaces what others say of it.
    let is_replaced = part.mac_address.is_none() || (part.mac_source.is_some() && mac_source.is_none());
    if is_replaced && mac_address.is_some() {
        (part.mac_address, part.mac_source) = (*mac_address, *mac_source);
    }
    part.subnet_id = part.subnet_id.or(*subnet_id);
}

/// Fills the empty fields of an interface entry. The fields of LLDP and of CDP are filled together.
pub(super) fn fill_entry(part: &mut IfEntry, gone: &IfEntry) {
    let IfEntry {
        if_index,
        if_descr,
        if_alias,
        if_type,
        speed_bps,
        mac_address,
        admin_status,
        oper_status,
        vlans,
        interface_id,
        lag_id,
        neighbor,
        lldp_chassis_id,
        lldp_mgmt_addr,
        lldp_port_desc,
        lldp_port_id,
        lldp_sys_desc,
        lldp_sys_name,
        cdp_device_id,
        cdp_address,
        cdp_platform,
        cdp_port_id,
        // Both have the same name; the others of the part that remains stay.
        if_name: _,
        id: _,
        host_id: _,
        network_id: _,
        created_at: _,
        updated_at: _,
        last_seen_at: _,
        is_stale: _,
    } = gone;
    if part.if_index == 0 {
        part.if_index = *if_index;
    }
    if part.if_descr.is_empty() {
        part.if_descr.clone_from(if_descr);
    }
    part.if_alias = part.if_alias.take().or_else(|| if_alias.clone());
    part.if_type = part.if_type.or(*if_type);
    part.speed_bps = part.speed_bps.or(*speed_bps);
    part.mac_address = part.mac_address.or(*mac_address);
    part.admin_status = part.admin_status.or(*admin_status);
    part.oper_status = part.oper_status.or(*oper_status);
    part.vlans = part.vlans.take().or_else(|| vlans.clone());
    part.interface_id = part.interface_id.or(*interface_id);
    part.lag_id = part.lag_id.or(*lag_id);
    part.neighbor = part.neighbor.or(*neighbor);
    if part.lldp_chassis_id.is_none() {
        part.lldp_chassis_id.clone_from(lldp_chassis_id);
        part.lldp_mgmt_addr.clone_from(lldp_mgmt_addr);
        part.lldp_port_desc.clone_from(lldp_port_desc);
        part.lldp_port_id.clone_from(lldp_port_id);
        part.lldp_sys_desc.clone_from(lldp_sys_desc);
        part.lldp_sys_name.clone_from(lldp_sys_name);
    }
    if part.cdp_device_id.is_none() {
        part.cdp_device_id.clone_from(cdp_device_id);
        part.cdp_address.clone_from(cdp_address);
        part.cdp_platform.clone_from(cdp_platform);
        part.cdp_port_id.clone_from(cdp_port_id);
    }
}
