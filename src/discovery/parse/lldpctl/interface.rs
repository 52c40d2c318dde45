//! An interface of lldpd with its neighbor.

use super::node::JsonNode;
use super::sink::NeighborKey;
use crate::discovery::parse::text::{device_id, mac_text};
use crate::discovery::report::{Capability, CdpRow, LldpRow};
use crate::model::{LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype};

/// A neighbor, by the protocol that announced it.
pub(super) enum NeighborRow {
    Lldp(LldpRow),
    Cdp(CdpRow),
}

impl NeighborRow {
    /// Returns what tells the neighbor from others.
    pub(super) fn key(&self) -> NeighborKey {
        match self {
            Self::Lldp(row) => {
                let port = row.port_id.as_ref().map(|id| id.value.clone());
                (false, row.if_name.clone(), row.chassis_id.value.clone(), port)
            }
            Self::Cdp(row) => (true, row.if_name.clone(), row.device_id.clone(), row.port_id.clone()),
        }
    }
}

/// The reason why an interface has no row.
pub(super) enum Unusable {
    /// The neighbor has no id.
    Incomplete,
    /// The protocol is neither LLDP nor CDP.
    Protocol,
    /// The port is described, and not a neighbor.
    Local,
}

/// Converts the neighbor on an interface.
pub(super) fn row(name: &str, interface: &JsonNode) -> Result<NeighborRow, Unusable> {
    if is_local(interface) {
        return Err(Unusable::Local);
    }
    let (sys_name, chassis) = chassis(interface).ok_or(Unusable::Incomplete)?;
    let if_name = (!name.is_empty()).then(|| name.to_owned());
    let port = interface.get("port");
    match interface.get("via").and_then(JsonNode::text) {
        None | Some("LLDP") => {
            let row = lldp(if_name, sys_name, chassis, port)?;
            Ok(NeighborRow::Lldp(LldpRow { port_vlan: port_vlan(interface), ..row }))
        }
        Some(protocol) if protocol.starts_with("CDP") => {
            cdp(if_name, sys_name, chassis, port).map(NeighborRow::Cdp)
        }
        Some(_) => Err(Unusable::Protocol),
    }
}

/// Adds what a later row has and the known one of the same neighbor lacks. A summary has fewer fields.
pub(super) fn complete_lldp(known: &mut LldpRow, later: LldpRow) {
    known.port_desc = known.port_desc.take().or(later.port_desc);
    known.sys_name = known.sys_name.take().or(later.sys_name);
    known.sys_desc = known.sys_desc.take().or(later.sys_desc);
    known.lag_id = known.lag_id.or(later.lag_id);
    known.port_vlan = known.port_vlan.or(later.port_vlan);
    complete_list(&mut known.mgmt_addrs, later.mgmt_addrs);
    complete_list(&mut known.capabilities, later.capabilities);
}

/// As [`complete_lldp`], for a neighbor by CDP.
pub(super) fn complete_cdp(known: &mut CdpRow, later: CdpRow) {
    known.version = known.version.take().or(later.version);
    known.address = known.address.take().or(later.address);
    complete_list(&mut known.capabilities, later.capabilities);
}

fn complete_list<T>(known: &mut Vec<T>, later: Vec<T>) {
    if known.is_empty() {
        *known = later;
    }
}

/// Returns whether this is a port of the device itself, as `lldpcli show interfaces` prints it.
///
/// It has a state and no protocol. lldpd 1.0.4 prints a protocol and no state. The time to live is beside the port there,
/// and within the port of a neighbor; only neighbors have the number of their remote system.
fn is_local(interface: &JsonNode) -> bool {
    let has = |name: &str| interface.get(name).is_some();
    has("ttl") || (has("status") && !has("via")) || (has("age") && !has("rid"))
}

fn lldp(
    if_name: Option<String>,
    sys_name: Option<&str>,
    chassis: &JsonNode,
    port: Option<&JsonNode>,
) -> Result<LldpRow, Unusable> {
    let id = chassis.get("id").ok_or(Unusable::Incomplete)?;
    let value = identifier(id).ok_or(Unusable::Incomplete)?;
    let subtype = chassis_subtype(kind(id));
    let port_text =
        |name: &str| port.and_then(|port| port.get(name)).and_then(JsonNode::text).map(str::to_owned);
    let port_id = port
        .and_then(|port| port.get("id"))
        .and_then(|id| Some(LldpPortId { subtype: port_subtype(kind(id)), value: identifier(id)? }));
    let chassis_id =
        device_id(LldpChassisId { subtype, value }, port_id.as_ref()).ok_or(Unusable::Incomplete)?;
    Ok(LldpRow {
        if_name,
        port_id,
        port_desc: port_text("descr"),
        sys_name: sys_name.map(str::to_owned),
        sys_desc: chassis.get("descr").and_then(JsonNode::text).map(str::to_owned),
        mgmt_addrs: mgmt_addrs(chassis),
        capabilities: capabilities(chassis),
        lag_id: port_text("aggregation").and_then(|id| id.parse().ok()).filter(|id| *id != 0),
        ..LldpRow::new(chassis_id)
    })
}

/// Returns the VLAN of untagged frames on the neighbor's port.
fn port_vlan(interface: &JsonNode) -> Option<u16> {
    let mut vlans = interface.get("vlan").into_iter().flat_map(JsonNode::elements);
    let untagged = vlans.find(|vlan| match vlan.get("pvid") {
        Some(JsonNode::Bool(is_untagged)) => *is_untagged,
        Some(other) => matches!(other.text(), Some("yes" | "true")),
        None => false,
    })?;
    let vlan = untagged.get("vlan-id")?.text()?.parse().ok()?;
    (1..4095).contains(&vlan).then_some(vlan)
}

/// Describes a neighbor for a warning.
pub(super) fn described(name: &str, interface: &JsonNode) -> String {
    let chassis = chassis(interface);
    let sys_name = chassis.and_then(|(sys_name, _)| sys_name);
    let sys_name = sys_name.or_else(|| interface.get("chassis")?.get("name")?.text()).unwrap_or("unknown");
    let port = interface.get("port");
    let port = port.and_then(|port| port.get("id").or_else(|| port.get("descr"))).and_then(JsonNode::text);
    let protocol = interface.get("via").and_then(JsonNode::text).unwrap_or("LLDP");
    let port = port.unwrap_or("unknown");
    format!("a neighbor by {protocol} on {name}: name {sys_name}, port {port}")
}

fn cdp(
    if_name: Option<String>,
    sys_name: Option<&str>,
    chassis: &JsonNode,
    port: Option<&JsonNode>,
) -> Result<CdpRow, Unusable> {
    let id = sys_name.or_else(|| chassis.get("id")?.text()).ok_or(Unusable::Incomplete)?;
    let port_text =
        |name: &str| port.and_then(|port| port.get(name)).and_then(JsonNode::text).map(str::to_owned);
    Ok(CdpRow {
        if_name,
        port_id: port_text("id").or_else(|| port_text("descr")),
        version: chassis.get("descr").and_then(JsonNode::text).map(str::to_owned),
        address: mgmt_addrs(chassis).into_iter().next(),
        capabilities: capabilities(chassis),
        ..CdpRow::new(id)
    })
}

/// Returns the neighbor's name and the object with its fields.
///
/// The name is a field of the object, or the key whose value the object is.
fn chassis(interface: &JsonNode) -> Option<(Option<&str>, &JsonNode)> {
    let chassis = interface.get("chassis")?;
    // The name of a neighbor, which is a key, may be `id` as well.
    if chassis.get("id").is_some_and(|id| id.text().is_some()) {
        return Some((chassis.get("name").and_then(JsonNode::text), chassis));
    }
    let fields = chassis.elements().find_map(JsonNode::fields)?;
    let (name, named) = fields.iter().find(|(_, value)| value.get("id").is_some())?;
    Some((Some(name), named))
}

/// Returns the value of an id. MAC addresses get their usual form.
fn identifier(id: &JsonNode) -> Option<String> {
    let value = id.text().filter(|value| !value.is_empty())?;
    if kind(id) == Some("unhandled") {
        return Some(text_of_bytes(value).unwrap_or_else(|| value.to_owned()));
    }
    let address = (kind(id) == Some("mac")).then(|| mac_text(value)).flatten();
    Some(address.map_or_else(|| value.to_owned(), |address| address.to_string()))
}

/// Returns the text whose bytes are given in hexadecimal, `70 31`. `None` if they are no printable text.
///
/// lldpd prints an id like this whose subtype it does not know.
fn text_of_bytes(value: &str) -> Option<String> {
    let bytes = value.split_ascii_whitespace().map(|byte| u8::from_str_radix(byte, 16).ok());
    let text = String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()?;
    let text = text.trim_end_matches('\0');
    let is_printable = !text.is_empty() && !text.contains(char::is_control);
    is_printable.then(|| text.to_owned())
}

fn kind(id: &JsonNode) -> Option<&str> {
    id.get("type").and_then(JsonNode::text)
}

fn chassis_subtype(kind: Option<&str>) -> LldpChassisIdSubtype {
    match kind {
        Some("mac") => LldpChassisIdSubtype::MacAddress,
        Some("ip") => LldpChassisIdSubtype::NetworkAddress,
        Some("ifname") => LldpChassisIdSubtype::InterfaceName,
        Some("ifalias") => LldpChassisIdSubtype::InterfaceAlias,
        _ => LldpChassisIdSubtype::LocallyAssigned,
    }
}

fn port_subtype(kind: Option<&str>) -> LldpPortIdSubtype {
    match kind {
        Some("mac") => LldpPortIdSubtype::MacAddress,
        Some("ip") => LldpPortIdSubtype::NetworkAddress,
        Some("ifname") => LldpPortIdSubtype::InterfaceName,
        Some("ifalias") => LldpPortIdSubtype::InterfaceAlias,
        _ => LldpPortIdSubtype::LocallyAssigned,
    }
}

fn mgmt_addrs(chassis: &JsonNode) -> Vec<String> {
    let addresses = chassis.get("mgmt-ip").into_iter().flat_map(JsonNode::elements);
    let stated = addresses.filter_map(JsonNode::text).filter(|address| !matches!(*address, "0.0.0.0" | "::"));
    stated.take(16).map(str::to_owned).collect()
}

fn capabilities(chassis: &JsonNode) -> Vec<Capability> {
    let all = chassis.get("capability").into_iter().flat_map(JsonNode::elements);
    let enabled = all.filter(|capability| capability.get("enabled") == Some(&JsonNode::Bool(true)));
    let mut capabilities: Vec<Capability> =
        enabled.filter_map(|capability| by_name(capability.get("type")?.text()?)).collect();
    capabilities.sort_unstable();
    capabilities.dedup();
    capabilities
}

fn by_name(name: &str) -> Option<Capability> {
    match name {
        "Other" => Some(Capability::Other),
        "Repeater" => Some(Capability::Repeater),
        "Bridge" => Some(Capability::Bridge),
        "Wlan" => Some(Capability::WlanAccessPoint),
        "Router" => Some(Capability::Router),
        "Tel" => Some(Capability::Telephone),
        "Docsis" => Some(Capability::DocsisCableDevice),
        "Station" => Some(Capability::StationOnly),
        _ => None,
    }
}
