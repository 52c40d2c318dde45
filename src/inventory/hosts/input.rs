//! Hosts as requests carry them.
//!
//! Ids and times are optional. Fields that only the server sets are ignored.

use std::net::IpAddr;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::texts::check_host_texts;
use super::validate::{check_source, check_values, check_vlans};
use crate::inventory::{Error, Problem, dotted};
use crate::json_objects::Objects;
use crate::model::{
    AdminStatus, Binding, BindingTarget, CredentialAssignment, Host, HostRole, HostVirtualization, IfEntry,
    Interface, LldpChassisId, LldpPortId, MacAddress, MacSource, Neighbor, OperStatus, Port, PortNumber,
    Protocol, Service, ServiceDefinition, ServiceVirtualization, Source, Timestamp, Vlans,
};

/// The position of a part that the request leaves to the server.
const UNPLACED: i64 = i64::MIN;

/// Parses a host, and checks values that are valid or not by themselves. Missing ids are nil, and all times are unset.
///
/// # Errors
/// `Invalid`, with the path of the faulty value in the host; an empty path means the host itself.
pub(crate) fn parse_host(json: &[u8]) -> Result<Host, Error> {
    #[derive(Deserialize)]
    struct Required {
        network_id: Option<IgnoredAny>,
        name: Option<IgnoredAny>,
    }
    let host = parse_host_changes(json)?;
    // Hardly any host has these values, but for one that lacks them.
    if host.network_id.is_nil() || host.name.is_empty() {
        let Required { network_id, name } = parse_object(json)?;
        for (field, given) in [("network_id", network_id), ("name", name)] {
            given.ok_or_else(|| Error::invalid(field, Problem::Required))?;
        }
    }
    Ok(host)
}

/// Parses a host like [`parse_host`] of which any field may be missing. Such a field has no meaning.
///
/// # Errors
/// Those of [`parse_host`].
pub(crate) fn parse_host_changes(json: &[u8]) -> Result<Host, Error> {
    let HostInput(mut host) = parse_object(json)?;
    for (index, interface) in host.interfaces.iter_mut().enumerate() {
        place(&mut interface.position, index);
    }
    for (index, service) in host.services.iter_mut().enumerate() {
        place(&mut service.position, index);
    }
    check_host_texts(&host, None)?;
    check_values(&host)?;
    Ok(host)
}

/// Parses an interface. Without a position, it gets the position of a part to be placed behind the others.
pub(super) fn parse_interface(json: &[u8]) -> Result<Interface, Error> {
    let InterfaceInput(mut interface) = parse_object(json)?;
    place_last(&mut interface.position);
    Ok(interface)
}

/// Parses a port.
pub(super) fn parse_port(json: &[u8]) -> Result<Port, Error> {
    let PortInput(port) = parse_object(json)?;
    Ok(port)
}

/// Parses a service. Without a position, it gets the position of a part to be placed behind the others.
pub(super) fn parse_service(json: &[u8]) -> Result<Service, Error> {
    let ServiceInput(mut service) = parse_object(json)?;
    place_last(&mut service.position);
    check_source(&service.source, format_args!("source"))?;
    Ok(service)
}

/// Parses an interface entry.
pub(super) fn parse_if_entry(json: &[u8]) -> Result<IfEntry, Error> {
    let IfEntryInput(entry) = parse_object(json)?;
    check_vlans(&entry, format_args!("vlans"))?;
    Ok(entry)
}

fn place_last(position: &mut i64) {
    if *position == UNPLACED {
        *position = i64::MAX;
    }
}

/// Deserializes a JSON object.
///
/// # Errors
/// `Invalid`, with the path of the faulty value; an empty path means the object itself.
pub(in crate::inventory) fn parse_object<T: DeserializeOwned>(json: &[u8]) -> Result<T, Error> {
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(Error::invalid("", Problem::InvalidFormat));
    }
    // Path tracking is slower, and nearly all input is valid.
    parse_fast(json).or_else(|_| parse_with_path(json))
}

fn parse_fast<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = T::deserialize(Objects(&mut reader))?;
    reader.end()?;
    Ok(value)
}

fn parse_with_path<T: DeserializeOwned>(json: &[u8]) -> Result<T, Error> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = serde_path_to_error::deserialize(Objects(&mut reader)).map_err(|error| {
        let path = dotted(error.path()).unwrap_or_default();
        invalid(path, &error.into_inner())
    });
    let value = read?;
    reader.end().map_err(|error| invalid(String::new(), &error))?;
    Ok(value)
}

/// Converts a parser's error. Serde reports the kind of fault only in the message.
fn invalid(path: String, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    for (beginning, problem) in [("missing", Problem::Required), ("duplicate", Problem::Duplicate)] {
        let name = message.strip_prefix(beginning).and_then(|rest| rest.strip_prefix(" field `"));
        if let Some((name, _)) = name.and_then(|rest| rest.split_once('`')) {
            let field = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            return Error::invalid(field, problem);
        }
    }
    let problem = if message.starts_with("invalid type: null") {
        Problem::Required
    } else if message.starts_with("invalid value: integer") && path.ends_with(".number") {
        Problem::OutOfRange { min: 1, max: i64::from(u16::MAX) }
    } else {
        Problem::InvalidFormat
    };
    Error::invalid(path, problem)
}

fn place(position: &mut i64, index: usize) {
    if *position == UNPLACED {
        *position = i64::try_from(index).unwrap_or(i64::MAX);
    }
}

#[derive(Deserialize)]
struct HostInput(#[serde(with = "HostDocument")] Host);

#[derive(Deserialize)]
#[serde(remote = "Host")]
struct HostDocument {
    #[serde(default, deserialize_with = "or_default")]
    id: Uuid,
    #[serde(default)]
    network_id: Uuid,
    #[serde(default)]
    name: String,
    hostname: Option<String>,
    description: Option<String>,
    sys_name: Option<String>,
    sys_descr: Option<String>,
    sys_object_id: Option<String>,
    sys_location: Option<String>,
    sys_contact: Option<String>,
    chassis_id: Option<LldpChassisId>,
    manufacturer: Option<String>,
    model: Option<String>,
    serial_number: Option<String>,
    management_url: Option<String>,
    role: Option<HostRole>,
    #[serde(default, deserialize_with = "or_default")]
    hidden: bool,
    #[serde(skip, default = "unset")]
    created_at: Timestamp,
    #[serde(skip, default = "unset")]
    updated_at: Timestamp,
    #[serde(skip)]
    last_seen_at: Option<Timestamp>,
    #[serde(skip)]
    is_stale: bool,
    #[serde(default, deserialize_with = "or_default")]
    tags: Vec<Uuid>,
    #[serde(default = "manual", deserialize_with = "or_manual")]
    source: Source,
    virtualization: Option<HostVirtualization>,
    #[serde(default, deserialize_with = "or_default")]
    credential_assignments: Vec<CredentialAssignment>,
    #[serde(default, deserialize_with = "interfaces")]
    interfaces: Vec<Interface>,
    #[serde(default, deserialize_with = "ports")]
    ports: Vec<Port>,
    #[serde(default, deserialize_with = "services")]
    services: Vec<Service>,
    #[serde(default, deserialize_with = "if_entries")]
    if_entries: Vec<IfEntry>,
}

#[derive(Deserialize)]
struct InterfaceInput(#[serde(with = "InterfaceDocument")] Interface);

#[derive(Deserialize)]
#[serde(remote = "Interface")]
struct InterfaceDocument {
    #[serde(default, deserialize_with = "or_default")]
    id: Uuid,
    #[serde(skip)]
    host_id: Uuid,
    #[serde(skip)]
    network_id: Uuid,
    subnet_id: Option<Uuid>,
    name: Option<String>,
    ip_address: IpAddr,
    mac_address: Option<MacAddress>,
    #[serde(skip)]
    mac_source: Option<MacSource>,
    #[serde(default = "unplaced")]
    position: i64,
    #[serde(skip, default = "unset")]
    created_at: Timestamp,
    #[serde(skip, default = "unset")]
    updated_at: Timestamp,
    #[serde(skip)]
    last_seen_at: Option<Timestamp>,
    #[serde(skip)]
    is_stale: bool,
}

#[derive(Deserialize)]
struct PortInput(#[serde(with = "PortDocument")] Port);

#[derive(Deserialize)]
#[serde(remote = "Port")]
struct PortDocument {
    #[serde(default, deserialize_with = "or_default")]
    id: Uuid,
    #[serde(skip)]
    host_id: Uuid,
    #[serde(skip)]
    network_id: Uuid,
    number: PortNumber,
    protocol: Protocol,
    #[serde(skip, default = "unset")]
    created_at: Timestamp,
    #[serde(skip, default = "unset")]
    updated_at: Timestamp,
    #[serde(skip)]
    last_seen_at: Option<Timestamp>,
    #[serde(skip)]
    is_stale: bool,
}

#[derive(Deserialize)]
struct ServiceInput(#[serde(with = "ServiceDocument")] Service);

#[derive(Deserialize)]
#[serde(remote = "Service")]
struct ServiceDocument {
    #[serde(default, deserialize_with = "or_default")]
    id: Uuid,
    #[serde(skip)]
    host_id: Uuid,
    #[serde(skip)]
    network_id: Uuid,
    name: String,
    #[serde(default = "unplaced")]
    position: i64,
    service_definition: ServiceDefinition,
    #[serde(default = "manual", deserialize_with = "or_manual")]
    source: Source,
    #[serde(default, deserialize_with = "or_default")]
    tags: Vec<Uuid>,
    virtualization: Option<ServiceVirtualization>,
    #[serde(default, deserialize_with = "bindings")]
    bindings: Vec<Binding>,
    #[serde(skip, default = "unset")]
    created_at: Timestamp,
    #[serde(skip, default = "unset")]
    updated_at: Timestamp,
    #[serde(skip)]
    last_seen_at: Option<Timestamp>,
    #[serde(skip)]
    is_stale: bool,
}

#[derive(Deserialize)]
struct IfEntryInput(#[serde(with = "IfEntryDocument")] IfEntry);

#[derive(Deserialize)]
#[serde(remote = "IfEntry")]
struct IfEntryDocument {
    #[serde(default, deserialize_with = "or_default")]
    id: Uuid,
    #[serde(skip)]
    host_id: Uuid,
    #[serde(skip)]
    network_id: Uuid,
    interface_id: Option<Uuid>,
    if_index: i64,
    if_name: Option<String>,
    if_descr: String,
    if_alias: Option<String>,
    if_type: Option<i64>,
    speed_bps: Option<u64>,
    mac_address: Option<MacAddress>,
    admin_status: Option<AdminStatus>,
    oper_status: Option<OperStatus>,
    lag_id: Option<Uuid>,
    vlans: Option<Vlans>,
    neighbor: Option<Neighbor>,
    cdp_address: Option<String>,
    cdp_device_id: Option<String>,
    cdp_platform: Option<String>,
    cdp_port_id: Option<String>,
    lldp_chassis_id: Option<LldpChassisId>,
    lldp_mgmt_addr: Option<String>,
    lldp_port_desc: Option<String>,
    lldp_port_id: Option<LldpPortId>,
    lldp_sys_desc: Option<String>,
    lldp_sys_name: Option<String>,
    #[serde(skip, default = "unset")]
    created_at: Timestamp,
    #[serde(skip, default = "unset")]
    updated_at: Timestamp,
    #[serde(skip)]
    last_seen_at: Option<Timestamp>,
    #[serde(skip)]
    is_stale: bool,
}

#[derive(Deserialize)]
struct BindingDocument {
    #[serde(default, deserialize_with = "or_default")]
    id: Uuid,
    r#type: BindingType,
    port_id: Option<Uuid>,
    interface_id: Option<Uuid>,
}

/// The type of a binding, as its JSON names it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(in crate::inventory) enum BindingType {
    Port,
    Interface,
}

impl BindingType {
    /// Returns what a binding of this type with these ids is bound to.
    pub(in crate::inventory) fn target(
        self,
        port_id: Option<Uuid>,
        interface_id: Option<Uuid>,
    ) -> Result<BindingTarget, &'static str> {
        match (self, port_id, interface_id) {
            (Self::Port, Some(port_id), interface_id) => Ok(BindingTarget::Port { port_id, interface_id }),
            (Self::Interface, None, Some(interface_id)) => Ok(BindingTarget::Interface { interface_id }),
            _ => Err("the ids do not fit the type of the binding"),
        }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "BindingDocument")]
struct BindingInput(Binding);

impl TryFrom<BindingDocument> for BindingInput {
    type Error = &'static str;

    fn try_from(document: BindingDocument) -> Result<Self, &'static str> {
        let BindingDocument { id, r#type, port_id, interface_id } = document;
        let target = r#type.target(port_id, interface_id)?;
        let (service_id, network_id) = (Uuid::nil(), Uuid::nil());
        Ok(Self(Binding { id, service_id, network_id, target, created_at: unset(), updated_at: unset() }))
    }
}

/// Reads a value that may be null, which means the same as a missing one.
pub(in crate::inventory) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn interfaces<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Interface>, D::Error> {
    let interfaces: Vec<InterfaceInput> = or_default(deserializer)?;
    Ok(interfaces.into_iter().map(|InterfaceInput(interface)| interface).collect())
}

fn ports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Port>, D::Error> {
    let ports: Vec<PortInput> = or_default(deserializer)?;
    Ok(ports.into_iter().map(|PortInput(port)| port).collect())
}

fn services<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Service>, D::Error> {
    let services: Vec<ServiceInput> = or_default(deserializer)?;
    Ok(services.into_iter().map(|ServiceInput(service)| service).collect())
}

fn bindings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Binding>, D::Error> {
    let bindings: Vec<BindingInput> = or_default(deserializer)?;
    Ok(bindings.into_iter().map(|BindingInput(binding)| binding).collect())
}

fn if_entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IfEntry>, D::Error> {
    let entries: Vec<IfEntryInput> = or_default(deserializer)?;
    Ok(entries.into_iter().map(|IfEntryInput(entry)| entry).collect())
}

const fn unset() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

const fn unplaced() -> i64 {
    UNPLACED
}

/// The source of records that a client makes.
const fn manual() -> Source {
    Source::Manual
}

fn or_manual<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Source, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(manual))
}
