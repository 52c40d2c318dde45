//! The rows of a reported host, in the form of this crate.

use serde_json::{Map, Value, json};

use super::ids::{VlanNumbers, chassis_id, port_id, without_nulls};
use crate::json_objects::natural;
use crate::model::{AdminStatus, MacAddress, OperStatus, SourceType};

/// `ifAdminStatus` and `ifOperStatus` of RFC 2863 by number, from 1.
const ADMIN_STATUS: [&str; 3] = ["Up", "Down", "Testing"];
const OPER_STATUS: [&str; 7] =
    ["Up", "Down", "Testing", "Unknown", "Dormant", "NotPresent", "LowerLayerDown"];

/// The members that describe a neighbor by LLDP and by CDP. The first of each identifies the neighbor.
const LLDP: [&str; 6] =
    ["lldp_chassis_id", "lldp_port_id", "lldp_sys_name", "lldp_port_desc", "lldp_mgmt_addr", "lldp_sys_desc"];
const CDP: [&str; 4] = ["cdp_device_id", "cdp_port_id", "cdp_platform", "cdp_address"];

/// The members of an origin that hold credentials.
const CREDENTIALS: [&str; 2] = ["snmp_credentials", "credential_mappings"];

/// Translates the row of an address.
pub(super) fn address(row: &mut Map<String, Value>) {
    without_nulls(row);
    keep_mac(row);
}

/// Translates the row of a port.
pub(super) fn port(row: &mut Map<String, Value>) {
    without_nulls(row);
    row.entry("protocol").or_insert_with(|| "Tcp".into());
}

/// Translates a service with its bindings.
pub(super) fn service(row: &mut Map<String, Value>) {
    without_nulls(row);
    source(row);
    virtualization(row, "Docker");
    let Some(Value::Array(bindings)) = row.get_mut("bindings") else { return };
    for binding in bindings.iter_mut().filter_map(Value::as_object_mut) {
        without_nulls(binding);
        rename(binding, "ip_address_id", "interface_id");
        if binding.get("type").and_then(Value::as_str) == Some("IPAddress") {
            binding.insert("type".to_owned(), "Interface".into());
        }
    }
}

/// Translates a row of the table of interfaces. Returns the number of neighbors beyond the first of each protocol.
pub(super) fn if_entry(row: &mut Map<String, Value>, vlans: &mut VlanNumbers) -> usize {
    without_nulls(row);
    rename(row, "ip_address_id", "interface_id");
    keep_mac(row);
    row.entry("if_descr").or_insert_with(|| "".into());
    // Neighbors are resolved from the members of LLDP and CDP.
    row.remove("neighbor");
    status::<AdminStatus>(row, "admin_status", &ADMIN_STATUS);
    status::<OperStatus>(row, "oper_status", &OPER_STATUS);
    if row.get("speed_bps").is_some_and(|speed| natural(speed).is_none()) {
        row.remove("speed_bps");
    }
    let left_out = neighbors(row);
    replace(row, "lldp_chassis_id", chassis_id);
    replace(row, "lldp_port_id", port_id);
    vlans_of(row, vlans);
    left_out
}

/// Takes the first neighbor of each protocol from a list of them. Returns the number of the others.
fn neighbors(row: &mut Map<String, Value>) -> usize {
    let Some(Value::Array(candidates)) = row.remove("neighbor_candidates") else { return 0 };
    let mut left_out = 0;
    for mut candidate in candidates {
        let Some(candidate) = candidate.as_object_mut() else { continue };
        without_nulls(candidate);
        for protocol in [LLDP.as_slice(), CDP.as_slice()] {
            let is_given = protocol.first().is_some_and(|id| candidate.contains_key(*id));
            let is_taken = protocol.first().is_some_and(|id| row.contains_key(*id));
            if is_given && is_taken {
                left_out += 1;
            } else if is_given {
                let members = protocol.iter().filter_map(|name| candidate.remove_entry(*name));
                row.extend(members);
            }
        }
    }
    left_out
}

/// Replaces the ids of VLANs by their numbers.
fn vlans_of(row: &mut Map<String, Value>, vlans: &mut VlanNumbers) {
    let untagged = row.remove("native_vlan_id").and_then(|id| vlans.get(&id));
    let members = match row.remove("vlan_ids") {
        Some(Value::Array(ids)) => ids,
        _ => Vec::new(),
    };
    let mut tagged: Vec<u16> = members.iter().filter_map(|id| vlans.get(id)).collect();
    tagged.retain(|number| Some(*number) != untagged);
    tagged.sort_unstable();
    tagged.dedup();
    if untagged.is_some() || !tagged.is_empty() {
        row.insert("vlans".to_owned(), json!({"untagged": untagged, "tagged": tagged}));
    }
}

/// Reads a state by name or number. Unknown ones are left out.
fn status<S: serde::de::DeserializeOwned>(row: &mut Map<String, Value>, name: &str, numbered: &[&str]) {
    replace(row, name, |given| match given {
        Value::Number(_) => {
            let index = usize::try_from(natural(&given)?.checked_sub(1)?).ok()?;
            numbered.get(index).map(|name| (*name).into())
        }
        named => S::deserialize(&named).is_ok().then_some(named),
    });
}

/// Leaves out a MAC address that is none.
fn keep_mac(row: &mut Map<String, Value>) {
    replace(row, "mac_address", |mac| {
        mac.as_str().is_some_and(|mac| mac.parse::<MacAddress>().is_ok()).then_some(mac)
    });
}

/// Translates the origin of a record. Credentials in it are left out: they are never stored.
pub(super) fn source(row: &mut Map<String, Value>) {
    replace(row, "source", |mut source| {
        let members = source.as_object_mut()?;
        let source_type = members.get("type").and_then(Value::as_str)?;
        let is_known = source_type.parse::<SourceType>().is_ok();
        let needs_details = source_type == SourceType::DiscoveryWithMatch.as_str();
        if !is_known {
            return None;
        }
        without_nulls(members);
        let metadata = members.entry("metadata").or_insert_with(|| json!([]));
        if !metadata.is_array() {
            *metadata = json!([]);
        }
        if let Value::Array(items) = metadata {
            items.retain(Value::is_object);
        }
        if needs_details && !members.get("details").is_some_and(Value::is_object) {
            members.insert("details".to_owned(), json!({}));
        }
        forget_credentials(&mut source);
        Some(source)
    });
}

fn forget_credentials(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !CREDENTIALS.contains(&name.as_str()));
            members.values_mut().for_each(forget_credentials);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_credentials),
        _ => {}
    }
}

/// Translates the virtualization of a record, which newer daemons send in two members. Platforms other than
/// `known` are left out.
pub(super) fn virtualization(row: &mut Map<String, Value>, known: &str) {
    let service = row.remove("virtualization_service_id");
    let given = row.remove("virtualization_metadata").or_else(|| row.remove("virtualization"));
    let Some(Value::Object(mut given)) = given else { return };
    if given.get("type").and_then(Value::as_str) != Some(known) {
        return;
    }
    let Some(Value::Object(details)) = given.get_mut("details") else { return };
    without_nulls(details);
    if let Some(service) = service {
        details.entry("service_id").or_insert(service);
    }
    if details.contains_key("service_id") {
        row.insert("virtualization".to_owned(), given.into());
    }
}

pub(super) fn rename(row: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = row.remove(from) {
        row.entry(to).or_insert(value);
    }
}

/// Replaces a value, or leaves it out.
pub(super) fn replace(row: &mut Map<String, Value>, name: &str, read: impl FnOnce(Value) -> Option<Value>) {
    if let Some(given) = row.remove(name)
        && let Some(value) = read(given)
    {
        row.insert(name.to_owned(), value);
    }
}
