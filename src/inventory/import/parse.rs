//! Parsing of imported lines, and repair of odd values with a count of every alteration.

use std::fmt;
use std::net::IpAddr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::report::{Alteration, Alterations, DroppedPort, Reassignment, Refusal};
use super::times::count_truncated_times;
use crate::inventory::hosts::{EncodedHost, HostEncoder, check_host_texts};
use crate::inventory::{Error, ErrorKind, dotted};
use crate::json_objects::Objects;
use crate::lines::is_utf_16;
use crate::model::{
    AdminStatus, CredentialAssignment, Host, HostRole, HostVirtualization, IfEntry, Interface, LldpChassisId,
    LldpPortId, MacAddress, MacSource, Neighbor, OperStatus, Port, PortNumber, Protocol, Service, Source,
    Timestamp, Vlans,
};
use crate::printable::printable;

/// Maximum number of characters of a parser's error in a refusal.
const MAX_FAULT: usize = 200;

/// A line that was parsed to a host.
#[derive(Debug)]
pub(super) struct ParsedLine {
    pub(super) line: u64,
    pub(super) encoded: EncodedHost,
    pub(super) alterations: Alterations,
    /// The new id of a host whose own id belongs to another organization.
    pub(super) reassignment: Option<Reassignment>,
}

/// Parses one line, repairs odd values, and encodes the host for the store.
pub(super) fn parse(line: u64, bytes: &[u8], encoder: HostEncoder) -> Result<ParsedLine, Refusal> {
    // Some editors begin UTF-8 files with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut alterations = Alterations::default();
    let document = read(line, bytes)?;
    count_truncated_times(bytes, &mut alterations);
    let host = repair(document, line, &mut alterations);
    let encoded = check_host_texts(&host, None).and_then(|()| encoder.encode(host));
    let encoded = encoded.map_err(|error| {
        let refusal = refusal(line, &error);
        Refusal { field: refusal.field.map(|field| alterations.document_path(field)), ..refusal }
    })?;
    Ok(ParsedLine { line, encoded, alterations, reassignment: None })
}

/// Deserializes a document. On failure, deserializes again to locate the fault.
///
/// Path tracking is slower, and nearly all lines are valid.
fn read(line: u64, bytes: &[u8]) -> Result<HostDocument, Refusal> {
    if bytes.trim_ascii_start().first() != Some(&b'{') || is_utf_16(bytes) {
        let reason = if is_utf_16(bytes) { "UTF-16 text and not UTF-8" } else { "not a JSON object" };
        return Err(Refusal { line, field: None, reason: reason.to_owned() });
    }
    read_fast(bytes).or_else(|_| {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let read = serde_path_to_error::deserialize(Objects(&mut reader)).map_err(|error| {
            let field = dotted(error.path());
            Refusal { line, field, reason: fault(&error.into_inner()) }
        });
        let document = read?;
        let ended = reader.end();
        ended.map_err(|error| Refusal { line, field: None, reason: fault(&error) })?;
        Ok(document)
    })
}

fn read_fast(bytes: &[u8]) -> serde_json::Result<HostDocument> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let document = HostDocument::deserialize(Objects(&mut reader))?;
    reader.end()?;
    Ok(document)
}

/// Describes a parser's error, which may quote any part of the line.
fn fault(error: &serde_json::Error) -> String {
    printable(&error.to_string(), MAX_FAULT)
}

/// Converts a validation error to a refusal.
pub(super) fn refusal(line: u64, error: &Error) -> Refusal {
    match error.kind() {
        ErrorKind::Invalid { field, problem } => {
            Refusal { line, field: Some(field.clone()), reason: problem.to_string() }
        }
        ErrorKind::ReferenceInvalid { entity, field } => Refusal {
            line,
            field: Some(field.clone()),
            reason: format!("does not refer to an existing {entity}"),
        },
        _ => Refusal { line, field: None, reason: error.to_string() },
    }
}

fn repair(document: HostDocument, line: u64, alterations: &mut Alterations) -> Host {
    let interfaces =
        document.interfaces.into_iter().map(|interface| repair_interface(interface, alterations)).collect();
    let if_entries =
        document.if_entries.into_iter().map(|entry| repair_if_entry(entry, alterations)).collect();
    let ports = document.ports.iter().enumerate();
    let ports = ports.filter_map(|(index, port)| repair_port(port, index, line, alterations)).collect();
    Host {
        id: document.id,
        network_id: document.network_id,
        name: document.name,
        hostname: document.hostname,
        description: document.description,
        sys_name: document.sys_name,
        sys_descr: document.sys_descr,
        sys_object_id: document.sys_object_id,
        sys_location: document.sys_location,
        sys_contact: document.sys_contact,
        chassis_id: document.chassis_id,
        manufacturer: document.manufacturer,
        model: document.model,
        serial_number: document.serial_number,
        management_url: document.management_url,
        role: document.role,
        hidden: document.hidden,
        created_at: document.created_at,
        updated_at: document.updated_at,
        last_seen_at: document.last_seen_at,
        is_stale: document.is_stale,
        tags: document.tags,
        source: document.source,
        virtualization: document.virtualization,
        credential_assignments: document.credential_assignments,
        interfaces,
        ports,
        services: document.services,
        if_entries,
    }
}

fn repair_interface(interface: InterfaceDocument, alterations: &mut Alterations) -> Interface {
    Interface {
        id: interface.id,
        host_id: interface.host_id,
        network_id: interface.network_id,
        subnet_id: interface.subnet_id,
        name: interface.name,
        ip_address: interface.ip_address,
        mac_address: repair_mac(interface.mac_address, alterations),
        mac_source: interface.mac_source,
        position: interface.position,
        created_at: interface.created_at,
        updated_at: interface.updated_at,
        last_seen_at: interface.last_seen_at,
        is_stale: interface.is_stale,
    }
}

fn repair_port(port: &PortDocument, index: usize, line: u64, alterations: &mut Alterations) -> Option<Port> {
    let number = match port.number {
        NumberDocument::Valid(number) => number,
        NumberDocument::Zero => {
            let (host_id, port_id, protocol) = (port.host_id, port.id, port.protocol);
            alterations.drop_port(DroppedPort { line, host_id, port_id, protocol }, index);
            return None;
        }
    };
    Some(Port {
        id: port.id,
        host_id: port.host_id,
        network_id: port.network_id,
        number,
        protocol: port.protocol,
        created_at: port.created_at,
        updated_at: port.updated_at,
        last_seen_at: port.last_seen_at,
        is_stale: port.is_stale,
    })
}

fn repair_if_entry(entry: IfEntryDocument, alterations: &mut Alterations) -> IfEntry {
    IfEntry {
        id: entry.id,
        host_id: entry.host_id,
        network_id: entry.network_id,
        interface_id: entry.interface_id,
        if_index: entry.if_index,
        if_name: entry.if_name,
        if_descr: entry.if_descr.unwrap_or_else(|| {
            alterations.count(Alteration::MissingDescription, 1);
            String::new()
        }),
        if_alias: entry.if_alias,
        if_type: entry.if_type,
        speed_bps: entry.speed_bps,
        mac_address: repair_mac(entry.mac_address, alterations),
        admin_status: entry.admin_status,
        oper_status: entry.oper_status,
        lag_id: entry.lag_id,
        vlans: entry.vlans,
        neighbor: entry.neighbor,
        cdp_address: entry.cdp_address,
        cdp_device_id: entry.cdp_device_id,
        cdp_platform: entry.cdp_platform,
        cdp_port_id: entry.cdp_port_id,
        lldp_chassis_id: entry.lldp_chassis_id,
        lldp_mgmt_addr: entry.lldp_mgmt_addr,
        lldp_port_desc: entry.lldp_port_desc,
        lldp_port_id: entry.lldp_port_id,
        lldp_sys_desc: entry.lldp_sys_desc,
        lldp_sys_name: entry.lldp_sys_name,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        last_seen_at: entry.last_seen_at,
        is_stale: entry.is_stale,
    }
}

fn repair_mac(mac: MacDocument, alterations: &mut Alterations) -> Option<MacAddress> {
    match mac {
        MacDocument::Valid(mac) => return Some(mac),
        MacDocument::Absent => {}
        MacDocument::Empty => alterations.count(Alteration::EmptyMac, 1),
        MacDocument::Invalid => alterations.count(Alteration::InvalidMac, 1),
    }
    None
}

/// A host as read by an import. It is the JSON of the API, tolerant of odd values from real devices.
#[derive(Debug, Deserialize)]
struct HostDocument {
    id: Uuid,
    network_id: Uuid,
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
    #[serde(default)]
    hidden: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_seen_at: Option<Timestamp>,
    #[serde(default)]
    is_stale: bool,
    #[serde(default)]
    tags: Vec<Uuid>,
    #[serde(default)]
    source: Source,
    virtualization: Option<HostVirtualization>,
    #[serde(default)]
    credential_assignments: Vec<CredentialAssignment>,
    #[serde(default)]
    interfaces: Vec<InterfaceDocument>,
    #[serde(default)]
    ports: Vec<PortDocument>,
    #[serde(default)]
    services: Vec<Service>,
    #[serde(default)]
    if_entries: Vec<IfEntryDocument>,
}

#[derive(Debug, Deserialize)]
struct InterfaceDocument {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    subnet_id: Option<Uuid>,
    name: Option<String>,
    ip_address: IpAddr,
    #[serde(default)]
    mac_address: MacDocument,
    mac_source: Option<MacSource>,
    position: i64,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_seen_at: Option<Timestamp>,
    #[serde(default)]
    is_stale: bool,
}

#[derive(Debug, Deserialize)]
struct PortDocument {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    number: NumberDocument,
    protocol: Protocol,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_seen_at: Option<Timestamp>,
    #[serde(default)]
    is_stale: bool,
}

#[derive(Debug, Deserialize)]
struct IfEntryDocument {
    id: Uuid,
    host_id: Uuid,
    network_id: Uuid,
    interface_id: Option<Uuid>,
    if_index: i64,
    if_name: Option<String>,
    if_descr: Option<String>,
    if_alias: Option<String>,
    if_type: Option<i64>,
    speed_bps: Option<u64>,
    #[serde(default)]
    mac_address: MacDocument,
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
    created_at: Timestamp,
    updated_at: Timestamp,
    last_seen_at: Option<Timestamp>,
    #[serde(default)]
    is_stale: bool,
}

/// A MAC address as reported by devices.
#[derive(Clone, Copy, Debug, Default)]
enum MacDocument {
    /// Null or missing.
    #[default]
    Absent,
    Empty,
    /// Text that is not six bytes long and not empty.
    Invalid,
    Valid(MacAddress),
}

impl<'de> Deserialize<'de> for MacDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NullOrText;

        impl Visitor<'_> for NullOrText {
            type Value = MacDocument;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a MAC address or null")
            }

            fn visit_unit<E: de::Error>(self) -> Result<MacDocument, E> {
                Ok(MacDocument::Absent)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<MacDocument, E> {
                Ok(match text.parse() {
                    Ok(mac) => MacDocument::Valid(mac),
                    Err(_) if text.is_empty() => MacDocument::Empty,
                    Err(_) => MacDocument::Invalid,
                })
            }
        }

        deserializer.deserialize_any(NullOrText)
    }
}

/// A port number as reported by devices. Some scanners report port 0.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(from = "u16")]
enum NumberDocument {
    Zero,
    Valid(PortNumber),
}

impl From<u16> for NumberDocument {
    fn from(number: u16) -> Self {
        PortNumber::try_from(number).map_or(Self::Zero, Self::Valid)
    }
}
