//! An estimate of the size of a host's document.

use serde_json::{Map, Value};

use crate::model::{Host, HostVirtualization, IfEntry, Service, ServiceVirtualization, Source};

/// The size of an id in a list of ids, in bytes.
const ID: usize = 40;

/// Estimates the size of a host's document in bytes, rounding up.
///
/// Only escapes in texts are not counted.
pub(in crate::inventory) fn likely_size(host: &Host) -> usize {
    let texts = [
        &host.hostname,
        &host.description,
        &host.sys_name,
        &host.sys_descr,
        &host.sys_object_id,
        &host.sys_location,
        &host.sys_contact,
        &host.manufacturer,
        &host.model,
        &host.serial_number,
        &host.management_url,
    ];
    let chassis_id = host.chassis_id.as_ref().map_or(0, |id| id.value.len());
    let credentials = host.credential_assignments.iter();
    let credentials =
        credentials.map(|assignment| 128 + ID * assignment.interface_ids.as_ref().map_or(0, Vec::len));
    let virtualization = host.virtualization.as_ref().map_or(0, |by| match by {
        HostVirtualization::Proxmox(details) => length(&[&details.vm_name, &details.vm_id]),
    });
    let interfaces = host.interfaces.iter().map(|interface| 512 + length(&[&interface.name]));
    1024 + host.name.len()
        + length(&texts)
        + chassis_id
        + ID * host.tags.len()
        + source_size(&host.source)
        + credentials.sum::<usize>()
        + virtualization
        + interfaces.sum::<usize>()
        + 320 * host.ports.len()
        + host.services.iter().map(service_size).sum::<usize>()
        + host.if_entries.iter().map(if_entry_size).sum::<usize>()
}

/// The bytes of a part of which only the required fields are set, rounded down.
const LEAST_INTERFACE: usize = 192;
const LEAST_PORT: usize = 192;
const LEAST_IF_ENTRY: usize = 512;

/// Returns a number of bytes that a host's document has at least.
pub(super) const fn least_size(host: &Host) -> usize {
    LEAST_INTERFACE * host.interfaces.len()
        + LEAST_PORT * host.ports.len()
        + LEAST_IF_ENTRY * host.if_entries.len()
}

fn service_size(service: &Service) -> usize {
    let virtualization = service.virtualization.as_ref().map_or(0, |by| match by {
        ServiceVirtualization::Docker(details) => length(&[&details.container_name, &details.container_id]),
    });
    512 + service.name.len()
        + service.service_definition.as_str().len()
        + source_size(&service.source)
        + ID * service.tags.len()
        + virtualization
        + 512 * service.bindings.len()
}

fn if_entry_size(entry: &IfEntry) -> usize {
    let texts = [
        &entry.if_name,
        &entry.if_alias,
        &entry.cdp_address,
        &entry.cdp_device_id,
        &entry.cdp_platform,
        &entry.cdp_port_id,
        &entry.lldp_mgmt_addr,
        &entry.lldp_port_desc,
        &entry.lldp_sys_desc,
        &entry.lldp_sys_name,
    ];
    let chassis_id = entry.lldp_chassis_id.as_ref().map_or(0, |id| id.value.len());
    let port_id = entry.lldp_port_id.as_ref().map_or(0, |id| id.value.len());
    // A VLAN has up to four digits and a comma.
    let vlans = entry.vlans.as_ref().map_or(0, |vlans| 5 * vlans.tagged.len());
    768 + entry.if_descr.len() + length(&texts) + chassis_id + port_id + vlans
}

fn source_size(source: &Source) -> usize {
    match source {
        Source::Manual | Source::System | Source::Unknown => 0,
        Source::Discovery { metadata } => metadata.iter().map(object_size).sum(),
        Source::DiscoveryWithMatch { metadata, details } => {
            metadata.iter().map(object_size).sum::<usize>() + object_size(details)
        }
    }
}

fn object_size(object: &Map<String, Value>) -> usize {
    2 + object.iter().map(|(name, value)| name.len() + 4 + value_size(value)).sum::<usize>()
}

fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 6,
        Value::Number(_) => 24,
        Value::String(text) => text.len() + 3,
        Value::Array(values) => 2 + values.iter().map(|value| 1 + value_size(value)).sum::<usize>(),
        Value::Object(object) => object_size(object),
    }
}

fn length(texts: &[&Option<String>]) -> usize {
    texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum()
}
