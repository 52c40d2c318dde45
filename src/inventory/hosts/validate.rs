//! Validation of a host independent of other records.

use std::collections::HashSet;
use std::hash::Hash;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::inventory::{Entity, Error, ErrorKind, Problem};
use crate::model::{Binding, BindingTarget, Host, Service, Source};

type Object = Map<String, Value>;

/// The maximum length of host names, service names and hostnames, in characters.
const MAX_NAME: usize = 65_536;

/// The maximum nesting depth of values in `metadata` and `details`.
const MAX_DEPTH: usize = 64;

/// The prefix of field names reserved by `serde_json`.
const RESERVED: &str = "$serde_json::private::";

/// Checks that the parts of a host belong to it and to each other. Reports the first violation.
pub(super) fn validate_host(host: &Host) -> Result<(), Error> {
    check_length("name", &host.name)?;
    check_length("hostname", host.hostname.as_deref().unwrap_or_default())?;
    check_unique("tags", host.tags.iter())?;
    check_unique("interfaces", host.interfaces.iter().map(|interface| interface.id))?;
    check_unique("ports", host.ports.iter().map(|port| port.id))?;
    check_unique("services", host.services.iter().map(|service| service.id))?;
    check_unique("if_entries", host.if_entries.iter().map(|entry| entry.id))?;
    check_owners(host)?;
    check_port_numbers(host)?;
    check_source(&host.source, "source")?;
    let interfaces: HashSet<Uuid> = host.interfaces.iter().map(|interface| interface.id).collect();
    let ports: HashSet<Uuid> = host.ports.iter().map(|port| port.id).collect();
    for (index, assignment) in host.credential_assignments.iter().enumerate() {
        for (inner, id) in assignment.interface_ids.iter().flatten().enumerate() {
            let field = || format!("credential_assignments.{index}.interface_ids.{inner}");
            check_member(&interfaces, *id, Entity::Interface, field)?;
        }
    }
    for (index, entry) in host.if_entries.iter().enumerate() {
        if let Some(id) = entry.interface_id {
            check_member(&interfaces, id, Entity::Interface, || format!("if_entries.{index}.interface_id"))?;
        }
    }
    let mut bindings = HashSet::new();
    for (index, service) in host.services.iter().enumerate() {
        for (inner, binding) in service.bindings.iter().enumerate() {
            if !bindings.insert(binding.id) {
                return Err(Error::invalid(format!("services.{index}.bindings.{inner}"), Problem::Duplicate));
            }
        }
        check_service(host, service, &format!("services.{index}"), &interfaces, &ports)?;
    }
    Ok(())
}

fn check_owners(host: &Host) -> Result<(), Error> {
    let interfaces = host.interfaces.iter().map(|part| (part.host_id, part.network_id));
    let ports = host.ports.iter().map(|part| (part.host_id, part.network_id));
    let services = host.services.iter().map(|part| (part.host_id, part.network_id));
    let entries = host.if_entries.iter().map(|part| (part.host_id, part.network_id));
    check_owner(host, "interfaces", interfaces)?;
    check_owner(host, "ports", ports)?;
    check_owner(host, "services", services)?;
    check_owner(host, "if_entries", entries)
}

fn check_owner(host: &Host, list: &str, owners: impl Iterator<Item = (Uuid, Uuid)>) -> Result<(), Error> {
    for (index, (host_id, network_id)) in owners.enumerate() {
        if host_id != host.id {
            return Err(reference_invalid(Entity::Host, format!("{list}.{index}.host_id")));
        }
        if network_id != host.network_id {
            return Err(reference_invalid(Entity::Network, format!("{list}.{index}.network_id")));
        }
    }
    Ok(())
}

fn check_port_numbers(host: &Host) -> Result<(), Error> {
    let mut taken = HashSet::with_capacity(host.ports.len());
    match host.ports.iter().find(|port| !taken.insert((port.number, port.protocol))) {
        None => Ok(()),
        Some(port) => {
            let name = format!("{}/{}", port.number, port.protocol);
            Err(ErrorKind::AlreadyExists { entity: Entity::Port, name }.into())
        }
    }
}

fn check_service(
    host: &Host,
    service: &Service,
    field: &str,
    interfaces: &HashSet<Uuid>,
    ports: &HashSet<Uuid>,
) -> Result<(), Error> {
    check_source(&service.source, &format!("{field}.source"))?;
    check_length(&format!("{field}.name"), &service.name)?;
    check_unique(&format!("{field}.tags"), service.tags.iter())?;
    for (index, binding) in service.bindings.iter().enumerate() {
        let field = format!("{field}.bindings.{index}");
        if binding.service_id != service.id {
            return Err(reference_invalid(Entity::Service, format!("{field}.service_id")));
        }
        if binding.network_id != host.network_id {
            return Err(reference_invalid(Entity::Network, format!("{field}.network_id")));
        }
        check_binding(binding, &field, interfaces, ports)?;
    }
    Ok(())
}

/// Limits the length, because every store keeps the fields that order hosts in its index.
fn check_length(field: &str, text: &str) -> Result<(), Error> {
    if text.len() > MAX_NAME && text.chars().count() > MAX_NAME {
        return Err(Error::invalid(field, Problem::MaxLength { max: MAX_NAME }));
    }
    Ok(())
}

/// Checks that `serde_json` can read the metadata back.
///
/// It rejects deep nesting and reserved field names on reading but not on writing.
fn check_source(source: &Source, field: &str) -> Result<(), Error> {
    let (metadata, details): (&[Object], &[Object]) = match source {
        Source::Discovery { metadata } => (metadata, &[]),
        Source::DiscoveryWithMatch { metadata, details } => (metadata, std::slice::from_ref(details)),
        _ => (&[], &[]),
    };
    for (name, objects) in [("metadata", metadata), ("details", details)] {
        if !objects.iter().all(|object| is_readable(object, MAX_DEPTH)) {
            return Err(Error::invalid(format!("{field}.{name}"), Problem::InvalidFormat));
        }
    }
    Ok(())
}

/// Returns whether an object can be read back.
fn is_readable(object: &Object, depth: usize) -> bool {
    object.iter().all(|(name, value)| !name.starts_with(RESERVED) && is_readable_value(value, depth))
}

fn is_readable_value(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(elements) => {
            depth > 0 && elements.iter().all(|element| is_readable_value(element, depth - 1))
        }
        Value::Object(fields) => depth > 0 && is_readable(fields, depth - 1),
        _ => true,
    }
}

fn check_binding(
    binding: &Binding,
    field: &str,
    interfaces: &HashSet<Uuid>,
    ports: &HashSet<Uuid>,
) -> Result<(), Error> {
    let interface_field = || format!("{field}.interface_id");
    match binding.target {
        BindingTarget::Interface { interface_id } => {
            check_member(interfaces, interface_id, Entity::Interface, interface_field)
        }
        BindingTarget::Port { port_id, interface_id } => {
            check_member(ports, port_id, Entity::Port, || format!("{field}.port_id"))?;
            interface_id.map_or(Ok(()), |id| check_member(interfaces, id, Entity::Interface, interface_field))
        }
    }
}

fn check_member(
    ids: &HashSet<Uuid>,
    id: Uuid,
    entity: Entity,
    field: impl Fn() -> String,
) -> Result<(), Error> {
    if ids.contains(&id) { Ok(()) } else { Err(reference_invalid(entity, field())) }
}

fn check_unique<T: Eq + Hash>(list: &str, ids: impl Iterator<Item = T>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for (index, id) in ids.enumerate() {
        if !seen.insert(id) {
            return Err(Error::invalid(format!("{list}.{index}"), Problem::Duplicate));
        }
    }
    Ok(())
}

fn reference_invalid(entity: Entity, field: String) -> Error {
    ErrorKind::ReferenceInvalid { entity, field }.into()
}
