//! The answers as daemons of the product read them: what a type here requires, a daemon requires.

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// Reads an answer as a daemon does, which fails if a member is missing or has another type.
pub(super) fn read(what: &str, answer: &Value) {
    let data = answer["data"].clone();
    let is_read = match what {
        "missing" => serde_json::from_value::<Missing>(answer.clone()).is_ok_and(|missing| {
            missing.code == "entity_not_found"
                && missing.error.to_lowercase().contains(&format!("daemon '{}' not found", missing.params.id))
        }),
        "registration" => serde_json::from_value::<Registration>(data).is_ok(),
        "nothing" => data.is_null(),
        "work" => serde_json::from_value::<(Option<Session>, bool)>(data).is_ok_and(|work| work.0.is_some()),
        "unified work" => serde_json::from_value::<(Option<UnifiedWork>, bool)>(data)
            .is_ok_and(|work| work.0.is_some_and(|work| work.discovery_type.r#type == "Unified")),
        "subnet" => serde_json::from_value::<SubnetRead>(data).is_ok(),
        "vlans" => serde_json::from_value::<VlansRead>(data).is_ok_and(|read| read.vlans.len() == 2),
        "host" => serde_json::from_value::<HostRead>(data).is_ok(),
        "renamed host" => serde_json::from_value::<RenamedHostRead>(data).is_ok(),
        other => panic!("there is no form {other}"),
    };
    assert!(is_read, "{what}: {answer}");
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct Missing {
    code: String,
    error: String,
    params: MissingParams,
    success: bool,
}

#[derive(Deserialize)]
struct MissingParams {
    id: Uuid,
}

/// The id of a network, by either of its names but not by both.
#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
enum NetworkId {
    #[serde(rename = "network_id")]
    Network(Uuid),
    #[serde(rename = "site_id")]
    Site(Uuid),
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct Registration {
    daemon: DaemonRead,
    host_id: Uuid,
    server_capabilities: ServerCapabilitiesRead,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct ServerCapabilitiesRead {
    server_version: String,
    minimum_daemon_version: String,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct DaemonRead {
    id: Uuid,
    host_id: Uuid,
    user_id: Uuid,
    #[serde(flatten)]
    network: NetworkId,
    name: String,
    mode: String,
    url: String,
    created_at: String,
    updated_at: String,
    last_seen: String,
    tags: Vec<Uuid>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct Session {
    session_id: Uuid,
    daemon_id: Uuid,
    #[serde(flatten)]
    network: NetworkId,
    discovery_type: TypeRead,
    phase: String,
    progress: u8,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct TypeRead {
    r#type: String,
    host_id: Option<Uuid>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct UnifiedWork {
    session_id: Uuid,
    discovery_id: Uuid,
    discovery_type: UnifiedTypeRead,
    credential_mappings: Vec<Value>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct UnifiedTypeRead {
    r#type: String,
    host_id: Uuid,
    subnet_ids: Option<Vec<Uuid>>,
    host_naming_fallback: String,
    scan_settings: Value,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct SubnetRead {
    id: Uuid,
    cidr: String,
    name: String,
    description: Option<String>,
    subnet_type: String,
    source: SourceRead,
    #[serde(flatten)]
    network: NetworkId,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct SourceRead {
    r#type: String,
}

#[derive(Deserialize)]
struct VlansRead {
    vlans: Vec<VlanRead>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct VlanRead {
    vlan_number: u16,
    id: Uuid,
}

/// A host until version 0.15.
#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct HostRead {
    id: Uuid,
    name: String,
    network_id: Uuid,
    chassis_id: Option<String>,
    hidden: bool,
    tags: Vec<Uuid>,
    source: SourceRead,
    interfaces: Vec<AddressRead>,
    ports: Vec<PortRead>,
    services: Vec<ServiceRead>,
    #[serde(default)]
    if_entries: Vec<EntryRead>,
}

/// A host since version 0.16.
#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct RenamedHostRead {
    id: Uuid,
    name: String,
    #[serde(flatten)]
    network: NetworkId,
    last_seen_at: String,
    chassis_id: Option<String>,
    hidden: bool,
    tags: Vec<Uuid>,
    source: SourceRead,
    ip_addresses: Vec<AddressRead>,
    ports: Vec<PortRead>,
    services: Vec<ServiceRead>,
    interfaces: Vec<RenamedEntryRead>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct AddressRead {
    id: Uuid,
    host_id: Uuid,
    #[serde(flatten)]
    network: NetworkId,
    ip_address: String,
    position: i32,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct PortRead {
    id: Uuid,
    number: u16,
    protocol: String,
    r#type: String,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct ServiceRead {
    id: Uuid,
    name: String,
    service_definition: String,
    source: SourceRead,
    bindings: Vec<BindingRead>,
}

/// A binding, whose members are named by its type.
#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct BindingRead {
    id: Uuid,
    r#type: String,
    port_id: Option<Uuid>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct EntryRead {
    id: Uuid,
    if_index: i32,
    if_descr: String,
    lldp_chassis_id: Option<KindAndValue>,
    lldp_port_id: Option<KindAndValue>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct RenamedEntryRead {
    id: Uuid,
    #[serde(flatten)]
    network: NetworkId,
    if_index: Option<i32>,
    ip_address_id: Option<Uuid>,
    neighbor_candidates: Vec<Value>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is enough that they can be read")]
struct KindAndValue {
    subtype: String,
    value: String,
}
