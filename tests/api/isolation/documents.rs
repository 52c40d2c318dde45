//! The records as the API shows them, written by hand.

use serde_json::{Value, json};
use toposcope::model::Timestamp;
use uuid::Uuid;

use super::model::{Binding, Entry, Host, Interface, Key, Port, Referral, Service, Share, User};

/// Returns the kind of each port that these tests use.
fn kind(number: u16, protocol: &str) -> &'static str {
    match (number, protocol) {
        (22, "Tcp") => "Ssh",
        (53, "Tcp") => "DnsTcp",
        (53, "Udp") => "DnsUdp",
        (80, "Tcp") => "Http",
        (161, "Udp") => "Snmp",
        (443, "Tcp") => "Https",
        (8080, "Tcp") => "Http8080",
        _ => "Custom",
    }
}

pub(crate) fn port(host: Uuid, network: Uuid, port: &Port) -> Value {
    json!({
        "id": port.id, "host_id": host, "network_id": network, "number": port.number,
        "protocol": port.protocol, "type": kind(port.number, port.protocol),
        "created_at": port.created_at, "updated_at": port.updated_at,
    })
}

/// A host with everything embedded, in the order in which lists show it.
pub(crate) fn host(host: &Host) -> Value {
    let mut interfaces = host.interfaces.clone();
    interfaces.sort_by_key(|interface| (interface.position, interface.id));
    let mut ports = host.ports.clone();
    ports.sort_by_key(|port| (port.number, port.protocol, port.id));
    let mut services = host.services.clone();
    services.sort_by_key(|service| (service.position, service.id));
    let mut entries = host.entries.clone();
    entries.sort_by_key(|entry| (entry.index, entry.id));
    let virtualization = host.runs_on.map(|service| {
        json!({"type": "Proxmox", "details": {"vm_name": null, "vm_id": "100", "service_id": service}})
    });
    let assignments = host.credential.iter().map(|id| json!({"credential_id": id, "interface_ids": null}));
    json!({
        "id": host.id, "network_id": host.network, "name": host.name, "hostname": host.hostname,
        "description": format!("{}, described", host.name), "hidden": host.hidden, "tags": host.tags,
        "created_at": host.created_at, "updated_at": host.updated_at, "source": {"type": "Manual"},
        "virtualization": virtualization,
        "credential_assignments": assignments.collect::<Vec<_>>(),
        "interfaces": interfaces.iter().map(|part| interface(host, part)).collect::<Vec<_>>(),
        "ports": ports.iter().map(|part| port(host.id, host.network, part)).collect::<Vec<_>>(),
        "services": services.iter().map(|part| service(host, part)).collect::<Vec<_>>(),
        "if_entries": entries.iter().map(|part| entry(host, part)).collect::<Vec<_>>(),
    })
}

fn interface(host: &Host, interface: &Interface) -> Value {
    json!({
        "id": interface.id, "host_id": host.id, "network_id": host.network, "subnet_id": null,
        "name": interface.name, "ip_address": interface.address, "mac_address": "02:00:5E:10:00:01",
        "position": interface.position, "created_at": host.created_at, "updated_at": host.created_at,
    })
}

fn service(host: &Host, service: &Service) -> Value {
    let mut bindings = service.bindings.clone();
    bindings.sort_by_key(|binding| binding.id);
    json!({
        "id": service.id, "host_id": host.id, "network_id": host.network, "name": service.name,
        "position": service.position, "service_definition": "Proxmox VE", "source": {"type": "System"},
        "tags": service.tags, "virtualization": null,
        "bindings": bindings.iter().map(|part| binding(host, service, part)).collect::<Vec<_>>(),
        "created_at": host.created_at, "updated_at": service.untagged_at.unwrap_or(host.created_at),
    })
}

fn binding(host: &Host, service: &Service, binding: &Binding) -> Value {
    json!({
        "id": binding.id, "service_id": service.id, "network_id": host.network,
        "interface_id": binding.interface, "port_id": binding.port,
        "type": if binding.port.is_some() { "Port" } else { "Interface" },
        "created_at": host.created_at, "updated_at": host.created_at,
    })
}

fn entry(host: &Host, entry: &Entry) -> Value {
    let neighbor = entry.neighbor.map(|id| json!({"type": "Host", "id": id}));
    json!({
        "id": entry.id, "host_id": host.id, "network_id": host.network, "interface_id": null,
        "if_index": entry.index, "if_name": null, "if_descr": "", "if_alias": entry.alias, "if_type": 6,
        "speed_bps": 1_000_000_000_u64, "mac_address": null, "admin_status": "Up", "oper_status": null,
        "neighbor": neighbor, "cdp_address": null, "cdp_device_id": null, "cdp_platform": null,
        "cdp_port_id": null, "lldp_chassis_id": null, "lldp_mgmt_addr": null, "lldp_port_desc": null,
        "lldp_port_id": null, "lldp_sys_desc": null, "lldp_sys_name": null,
        "created_at": host.created_at, "updated_at": host.created_at,
    })
}

/// Returns the prefix, an ellipsis, and the last four characters.
fn masked(text: &str) -> String {
    format!("{}…{}", &text[..7], &text[text.len() - 4..])
}

pub(crate) fn key(key: &Key, last_used: Option<Timestamp>) -> Value {
    let mut document = json!({
        "id": key.id, "name": key.name, "tags": key.tags, "key": masked(&key.text), "last_used": last_used,
        "created_at": key.created_at, "updated_at": key.updated_at, "expires_at": key.expires_at,
        "is_enabled": key.is_enabled,
    });
    if let Some(user) = key.user {
        document["organization_id"] = json!(key.organization);
        document["user_id"] = json!(user);
        document["network_ids"] = json!(key.networks);
        document["all_networks"] = json!(false);
        document["permissions"] = json!(key.level.to_string());
    } else {
        document["network_id"] = json!(key.networks[0]);
    }
    document
}

pub(crate) fn user(user: &User) -> Value {
    json!({
        "id": user.id, "email": user.email, "organization_id": user.organization,
        "permissions": user.level.to_string(), "network_ids": user.networks, "is_enabled": !user.is_disabled,
        "created_at": user.created_at, "updated_at": user.updated_at,
    })
}

pub(crate) fn share_metadata(share: &Share) -> Value {
    let [export, inspect, minimap, zoom] = share.shows;
    json!({
        "id": share.id, "name": share.name, "requires_password": share.requires_password,
        "options": {
            "show_export_button": export, "show_inspect_panel": inspect, "show_minimap": minimap,
            "show_zoom_controls": zoom,
        },
    })
}

/// A referral without its id, which the API never returns.
pub(crate) fn referral(referral: &Referral) -> Value {
    json!({
        "organization_id": referral.organization, "user_id": referral.user,
        "referral_source": referral.source, "referral_source_other": referral.other,
        "created_at": referral.created_at, "updated_at": referral.updated_at,
    })
}
