//! Validation of a host independent of other records.

use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;

use serde_json::{Map, Value};

use super::texts::{is_too_long, too_long};
use crate::fair_threads::yield_turn;
use crate::inventory::custom::check_custom;
use crate::inventory::validate::is_readable;
use crate::inventory::{Entity, Error, ErrorKind, Problem};
use crate::model::{
    Binding, BindingTarget, Common, Host, HostPart, IfEntry, InterfaceId, PortId, RecordId, Service, Source,
    for_each_part_type,
};

type Object = Map<String, Value>;

/// The maximum number of VLANs of a port: as many as the standard has.
const MAX_VLANS: usize = 4_096;

/// Checks that the parts of a host belong to it and to each other. Reports the first violation.
pub(super) fn validate_host(host: &Host) -> Result<(), Error> {
    check_length(format_args!("name"), &host.name)?;
    check_length(format_args!("hostname"), host.hostname.as_deref().unwrap_or(""))?;
    check_unique(format_args!("tags"), host.tags.iter().copied())?;
    let interfaces = host.interfaces.iter().map(|interface| interface.id);
    let interfaces = check_unique(format_args!("interfaces"), interfaces)?;
    let ports = check_unique(format_args!("ports"), host.ports.iter().map(|port| port.id))?;
    check_unique(format_args!("services"), host.services.iter().map(|service| service.id))?;
    let entries = check_unique(format_args!("if_entries"), host.if_entries.iter().map(|entry| entry.id))?;
    for_each_part_type!(P => check_owner::<P>(host)?);
    check_port_numbers(host)?;
    check_values(host)?;
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
        if let Some(id) = entry.lag_id {
            check_member(&entries, id, Entity::IfEntry, || format!("if_entries.{index}.lag_id"))?;
        }
    }
    let mut bindings = HashSet::new();
    for (index, service) in host.services.iter().enumerate() {
        for (inner, binding) in service.bindings.iter().enumerate() {
            if !bindings.insert(binding.id) {
                return Err(Error::invalid(format!("services.{index}.bindings.{inner}"), Problem::Duplicate));
            }
        }
        check_service(host, service, format_args!("services.{index}"), &interfaces, &ports)?;
    }
    Ok(())
}

/// Checks the values that need no other record.
pub(super) fn check_values(host: &Host) -> Result<(), Error> {
    check_source(&host.source, format_args!("source"))?;
    check_custom(&host.custom)?;
    for (index, service) in host.services.iter().enumerate() {
        check_source(&service.source, format_args!("services.{index}.source"))?;
    }
    for (index, entry) in host.if_entries.iter().enumerate() {
        check_vlans(entry, format_args!("if_entries.{index}.vlans"))?;
    }
    Ok(())
}

/// Limits the number of VLANs of a port. Their numbers are as devices send them.
pub(super) fn check_vlans(entry: &IfEntry, field: fmt::Arguments<'_>) -> Result<(), Error> {
    let Some(vlans) = &entry.vlans else { return Ok(()) };
    for (name, list) in [("tagged", &vlans.tagged), ("other_untagged", &vlans.other_untagged)] {
        if list.len() > MAX_VLANS {
            return Err(Error::invalid(format!("{field}.{name}"), Problem::MaxLength { max: MAX_VLANS }));
        }
    }
    Ok(())
}

fn check_owner<P: HostPart>(host: &Host) -> Result<(), Error> {
    yield_turn();
    for (index, part) in P::list(host).iter().enumerate() {
        let Common { host_id, network_id, .. } = part.common();
        if host_id != host.id {
            return Err(reference_invalid(Entity::Host, format!("{}.{index}.host_id", P::LIST)));
        }
        if network_id != host.network_id {
            return Err(reference_invalid(Entity::Network, format!("{}.{index}.network_id", P::LIST)));
        }
    }
    Ok(())
}

fn check_port_numbers(host: &Host) -> Result<(), Error> {
    let numbers = host.ports.iter().map(|port| (port.number, port.protocol));
    match distinct(numbers) {
        Ok(_) => Ok(()),
        Err((_, (number, protocol))) => {
            let name = format!("{number}/{protocol}");
            Err(ErrorKind::AlreadyExists { entity: Entity::Port, name }.into())
        }
    }
}

fn check_service(
    host: &Host,
    service: &Service,
    field: fmt::Arguments<'_>,
    interfaces: &[InterfaceId],
    ports: &[PortId],
) -> Result<(), Error> {
    check_length(format_args!("{field}.name"), &service.name)?;
    check_unique(format_args!("{field}.tags"), service.tags.iter().copied())?;
    for (index, binding) in service.bindings.iter().enumerate() {
        if binding.service_id != service.id {
            return Err(reference_invalid(Entity::Service, format!("{field}.bindings.{index}.service_id")));
        }
        if binding.network_id != host.network_id {
            return Err(reference_invalid(Entity::Network, format!("{field}.bindings.{index}.network_id")));
        }
        check_binding(binding, format_args!("{field}.bindings.{index}"), interfaces, ports)?;
    }
    Ok(())
}

/// Limits the length, because every store keeps the fields that order hosts in its index.
fn check_length(field: fmt::Arguments<'_>, text: &str) -> Result<(), Error> {
    if is_too_long(text) { Err(too_long(field.to_string())) } else { Ok(()) }
}

/// Checks that `serde_json` can read the metadata back.
///
/// It rejects deep nesting and reserved field names on reading but not on writing.
pub(in crate::inventory) fn check_source(source: &Source, field: fmt::Arguments<'_>) -> Result<(), Error> {
    let (metadata, details): (&[Object], &[Object]) = match source {
        Source::Discovery { metadata } => (metadata, &[]),
        Source::DiscoveryWithMatch { metadata, details } => (metadata, std::slice::from_ref(details)),
        _ => (&[], &[]),
    };
    for (name, objects) in [("metadata", metadata), ("details", details)] {
        if !objects.iter().all(is_readable) {
            return Err(Error::invalid(format!("{field}.{name}"), Problem::InvalidFormat));
        }
    }
    Ok(())
}

fn check_binding(
    binding: &Binding,
    field: fmt::Arguments<'_>,
    interfaces: &[InterfaceId],
    ports: &[PortId],
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

fn check_member<I: RecordId>(
    sorted: &[I],
    id: I,
    entity: Entity,
    field: impl Fn() -> String,
) -> Result<(), Error> {
    if sorted.binary_search(&id).is_ok() { Ok(()) } else { Err(reference_invalid(entity, field())) }
}

/// Checks that no id occurs twice, and returns the sorted ids.
fn check_unique<I: RecordId>(
    list: fmt::Arguments<'_>,
    ids: impl Iterator<Item = I> + Clone,
) -> Result<Vec<I>, Error> {
    distinct(ids).map_err(|(index, _)| Error::invalid(format!("{list}.{index}"), Problem::Duplicate))
}

/// Returns the sorted values, or the first value that repeats an earlier one. That value comes with its index.
///
/// Sorting takes less time than hashing: most lists are short, and stored ones are often sorted.
fn distinct<T: Copy + Ord + Hash>(values: impl Iterator<Item = T> + Clone) -> Result<Vec<T>, (usize, T)> {
    let mut sorted: Vec<T> = values.clone().collect();
    yield_turn();
    sorted.sort_unstable();
    if sorted.is_sorted_by(|left, right| left < right) {
        return Ok(sorted);
    }
    let mut seen = HashSet::new();
    let repeated = values.enumerate().find(|(_, value)| !seen.insert(*value));
    repeated.map_or(Ok(sorted), Err)
}

fn reference_invalid(entity: Entity, field: String) -> Error {
    ErrorKind::ReferenceInvalid { entity, field }.into()
}
