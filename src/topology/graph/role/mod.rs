//! The roles of hosts, and what they are derived from.

mod name;
mod words;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub(in crate::topology) use self::name::{role_count, role_name};
use super::HostSummary;
use crate::discovery::report::{Capability, FdbStatus};
use crate::discovery::{Claim, ClaimRows};
use crate::model::{Host, HostRole, IfEntry, OperStatus, Protocol};

/// `ifType` of Ethernet: `ethernetCsmacd`, `fastEther`, `gigabitEthernet`.
const ETHERNET: [i64; 3] = [6, 62, 117];

/// The evidence for the role of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RoleReason {
    /// The kind of evidence.
    pub source: RoleSource,
    /// The capability, the port number, the word or the service definition that decided. Empty for a role that a user set.
    pub value: Cow<'static, str>,
}

/// The kind of evidence for a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RoleSource {
    /// A user set the role.
    Manual,
    /// The capabilities that the device announces by LLDP or CDP.
    Capability,
    /// Another host is a guest of one of the host's services.
    Guest,
    /// The host itself is a guest.
    Virtualization,
    /// A word in the description, the manufacturer or the model of the device.
    Description,
    /// The definition of a service, to which the application has given the role.
    ServiceDefinition,
    /// The name of a service.
    Service,
    /// An open port.
    Port,
    /// The ports: their number, and whether most of them bridge or route.
    Interfaces,
}

impl RoleReason {
    pub(super) const fn new(source: RoleSource, value: &'static str) -> Self {
        Self { source, value: Cow::Borrowed(value) }
    }
}

/// Returns the role of a device that bridges or routes with most of its ports. `None` if that is unclear.
pub(super) fn by_ports(host: &Host, claims: &[Claim]) -> Option<HostRole> {
    role_by_ports(host, claims)
}

/// Returns the role that a host itself reveals, and the reason. `by_ports` is the role by the use of most of its ports.
pub(super) fn of_host(host: &Host, by_ports: Option<HostRole>) -> (HostRole, Option<RoleReason>) {
    if let Some(role) = host.role {
        return (role, Some(RoleReason::new(RoleSource::Manual, "")));
    }
    let is_switch = by_ports == Some(HostRole::Switch);
    let described = words::by_description(host);
    let found = described
        .filter(|(_, reason)| !(is_switch && words::is_of_routers_and_switches(&reason.value)))
        .or_else(|| words::by_service(host))
        .or_else(|| by_interfaces(host, by_ports))
        .or_else(|| words::by_platform(host))
        .or_else(|| by_port(host))
        .or_else(|| by_virtualization(host));
    found.map_or((HostRole::Unknown, None), |(role, reason)| (role, Some(reason)))
}

/// Returns the role of a virtual machine of which nothing else is known.
fn by_virtualization(host: &Host) -> Option<(HostRole, RoleReason)> {
    let reason = RoleReason::new(RoleSource::Virtualization, "guest");
    host.virtualization.as_ref().map(|_| (HostRole::Guest, reason))
}

/// Returns the role of a device that only its neighbors describe, by capabilities and description.
///
/// Telephones and access points announce what they are; others announce that they bridge as a side effect, and their
/// description is more specific.
pub(super) fn of_neighbor(
    capabilities: &[Capability],
    description: Option<&str>,
) -> Option<(HostRole, RoleReason)> {
    let announced = of_capabilities(capabilities);
    let is_certain =
        announced.as_ref().is_some_and(|(role, _)| matches!(role, HostRole::Phone | HostRole::AccessPoint));
    let described = description.and_then(words::of_description);
    match (announced, described) {
        (announced @ Some(_), _) if is_certain => announced,
        (_, Some((role, reason, true))) | (None, Some((role, reason, _))) => Some((role, reason)),
        (announced, _) => announced,
    }
}

/// Returns the role of a device by the capabilities that it announces.
///
/// A telephone with a port for a computer also announces a bridge, and a switch with routing a router.
pub(super) fn of_capabilities(capabilities: &[Capability]) -> Option<(HostRole, RoleReason)> {
    let roles = [
        (Capability::Telephone, HostRole::Phone, "Telephone"),
        (Capability::WlanAccessPoint, HostRole::AccessPoint, "WlanAccessPoint"),
        (Capability::Bridge, HostRole::Switch, "Bridge"),
        (Capability::Router, HostRole::Router, "Router"),
        (Capability::Repeater, HostRole::Switch, "Repeater"),
    ];
    let (_, role, value) = roles.into_iter().find(|(capability, _, _)| capabilities.contains(capability))?;
    Some((role, RoleReason::new(RoleSource::Capability, value)))
}

/// Returns the role of a host to which neighbors attribute capabilities. `None` if these do not change it.
///
/// The device's own description is more specific where it bridges or routes as a side effect, such as a hypervisor. The
/// use of its ports distinguishes a router from a switch where it announces both.
pub(super) fn combine(host: &HostSummary, capabilities: &[Capability]) -> Option<(HostRole, RoleReason)> {
    let reason = host.role_reason.as_ref();
    let is_of_both = reason.is_some_and(|reason| {
        reason.source == RoleSource::Description && words::is_of_routers_and_switches(&reason.value)
    });
    let is_specific = match reason.map(|reason| reason.source) {
        Some(RoleSource::Manual | RoleSource::Guest | RoleSource::ServiceDefinition) => true,
        Some(RoleSource::Description | RoleSource::Service) => host.role != HostRole::Server && !is_of_both,
        Some(
            RoleSource::Capability | RoleSource::Port | RoleSource::Interfaces | RoleSource::Virtualization,
        )
        | None => false,
    };
    if is_specific {
        return None;
    }
    let (role, reason) = of_capabilities(capabilities)?;
    if role != HostRole::Switch || !capabilities.contains(&Capability::Router) {
        return Some((role, reason));
    }
    match host.role_by_ports {
        Some(HostRole::Router) => Some((HostRole::Router, RoleReason::new(RoleSource::Interfaces, "routed"))),
        None if is_of_both => None,
        _ => Some((role, reason)),
    }
}

/// Returns the number of ports with a neighbor by LLDP or CDP.
pub(super) fn neighbor_ports(host: &Host) -> u32 {
    let has_neighbor = |entry: &&IfEntry| {
        entry.neighbor.is_some() || entry.lldp_chassis_id.is_some() || entry.cdp_device_id.is_some()
    };
    count(host.if_entries.iter().filter(has_neighbor).count())
}

/// Returns the number of Ethernet ports that are up.
pub(super) fn active_ports(host: &Host) -> u32 {
    count(ethernet_ports_up(host))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn is_ethernet(entry: &IfEntry) -> bool {
    entry.if_type.is_some_and(|kind| ETHERNET.contains(&kind))
}

/// Returns the role of a switch if the interfaces are those of one. A switch bridges, has very many ports, or has a
/// neighbor or a bridge address and more ports than a computer has.
fn by_interfaces(host: &Host, by_ports: Option<HostRole>) -> Option<(HostRole, RoleReason)> {
    let is_bridge = host.chassis_id.is_some() || neighbor_ports(host) > 0;
    let ports = host.if_entries.iter().filter(|entry| is_ethernet(entry)).count();
    let is_switch = by_ports == Some(HostRole::Switch)
        || (is_bridge && ports >= SWITCH_PORTS)
        || ports >= 4 * SWITCH_PORTS;
    is_switch.then(|| (HostRole::Switch, RoleReason::new(RoleSource::Interfaces, "ports")))
}

/// Returns the role that an open port reveals. Ports that only devices of one role open come first.
fn by_port(host: &Host) -> Option<(HostRole, RoleReason)> {
    use Protocol::{Tcp, Udp};
    let roles = [
        (9100, Tcp, HostRole::Printer, "9100"),
        (515, Tcp, HostRole::Printer, "515"),
        (8006, Tcp, HostRole::Hypervisor, "8006"),
        (902, Tcp, HostRole::Hypervisor, "902"),
        (3260, Tcp, HostRole::Storage, "3260"),
        (2049, Tcp, HostRole::Storage, "2049"),
        (25, Tcp, HostRole::Server, "25"),
        (53, Udp, HostRole::Server, "53"),
        (88, Tcp, HostRole::Server, "88"),
        (389, Tcp, HostRole::Server, "389"),
        (1433, Tcp, HostRole::Server, "1433"),
        (3306, Tcp, HostRole::Server, "3306"),
        (5432, Tcp, HostRole::Server, "5432"),
        (6443, Tcp, HostRole::Server, "6443"),
        (554, Tcp, HostRole::Camera, "554"),
        (5060, Udp, HostRole::Phone, "5060"),
        (5060, Tcp, HostRole::Phone, "5060"),
        (3389, Tcp, HostRole::Workstation, "3389"),
        (631, Tcp, HostRole::Printer, "631"),
        (80, Tcp, HostRole::Server, "80"),
        (443, Tcp, HostRole::Server, "443"),
        (22, Tcp, HostRole::Server, "22"),
    ];
    let is_open = |number: u16, protocol| {
        host.ports.iter().any(|port| port.number.get() == number && port.protocol == protocol)
    };
    let (_, _, role, value) =
        roles.into_iter().find(|&(number, protocol, _, _)| is_open(number, protocol))?;
    Some((role, RoleReason::new(RoleSource::Port, value)))
}

/// Minimum number of bridged ports of a switch. Switches built into routers have fewer.
const SWITCH_PORTS: usize = 5;

/// Minimum number of routed ports of a router. A server has one.
const ROUTER_PORTS: usize = 2;

/// `ifType` of interfaces that route a VLAN: `l3ipvlan`.
const VLAN_INTERFACE: i64 = 136;

/// Returns the role of a device that bridges or routes with most of its ports. `None` if that is unclear.
///
/// Both kinds of devices announce that they bridge and route: a switch routes between its VLANs, and a router has a few
/// bridged ports.
fn role_by_ports(host: &Host, claims: &[Claim]) -> Option<HostRole> {
    let ethernet = host.if_entries.iter().filter(|entry| is_ethernet(entry)).count();
    let active = ethernet_ports_up(host);
    let used = if active == 0 { ethernet } else { active };
    let bridged = bridged_ports(claims.iter().filter(|claim| claim.host_id == host.id));
    let routed = routed_ports(host);
    let is_mostly_routed = routed >= ROUTER_PORTS && routed.saturating_mul(2) >= used;
    if bridged >= SWITCH_PORTS {
        (bridged > routed).then_some(HostRole::Switch)
    } else if is_mostly_routed && !has_vlan_interface(host) {
        Some(HostRole::Router)
    } else {
        (ethernet >= 4 * SWITCH_PORTS && !is_mostly_routed).then_some(HostRole::Switch)
    }
}

/// Returns the number of Ethernet ports that are up.
fn ethernet_ports_up(host: &Host) -> usize {
    let is_active = |entry: &&IfEntry| is_ethernet(entry) && entry.oper_status == Some(OperStatus::Up);
    host.if_entries.iter().filter(is_active).count()
}

/// Returns the number of ports that take part in the spanning tree or learned addresses.
fn bridged_ports<'c>(claims: impl Iterator<Item = &'c Claim>) -> usize {
    let count = |claim: &Claim| match &claim.rows {
        ClaimRows::Stp(rows) => rows.iter().map(|row| Some(row.bridge_port)).collect::<BTreeSet<_>>().len(),
        ClaimRows::Fdb(rows) => {
            let learned = rows.iter().filter(|row| matches!(row.status, None | Some(FdbStatus::Learned)));
            let ports: BTreeSet<i64> = learned.filter_map(|row| row.if_index.or(row.bridge_port)).collect();
            ports.len()
        }
        ClaimRows::IfEntries(_)
        | ClaimRows::Addresses(_)
        | ClaimRows::Lldp(_)
        | ClaimRows::Cdp(_)
        | ClaimRows::Arp(_)
        | ClaimRows::Lag(_)
        | ClaimRows::Ports(_)
        | ClaimRows::Routes(_) => 0,
    };
    claims.map(count).max().unwrap_or(0)
}

/// Returns the number of Ethernet ports with addresses. Addresses of a port's subinterfaces count as well.
fn routed_ports(host: &Host) -> usize {
    let with_address = host.if_entries.iter().filter(|entry| entry.interface_id.is_some());
    let routed = with_address.filter(|entry| !is_vlan_interface(entry));
    let names: BTreeSet<&str> = routed.map(|entry| port_name(name(entry))).collect();
    let is_routed = |entry: &&IfEntry| is_ethernet(entry) && names.contains(name(entry));
    host.if_entries.iter().filter(is_routed).count()
}

fn has_vlan_interface(host: &Host) -> bool {
    host.if_entries.iter().any(|entry| entry.interface_id.is_some() && is_vlan_interface(entry))
}

/// Returns whether an interface routes a VLAN, as `Vlan10`, `Vl10`, `Vlanif10` and `irb.10` do.
fn is_vlan_interface(entry: &IfEntry) -> bool {
    let name = name(entry).to_ascii_lowercase();
    let is_short = |name: &str| name.starts_with(|next: char| next.is_ascii_digit());
    entry.if_type == Some(VLAN_INTERFACE)
        || name.starts_with("vlan")
        || name.starts_with("irb")
        || name.strip_prefix("vl").is_some_and(is_short)
}

/// Returns the name of the port of a subinterface such as `Gi0/0.100`. Other names are returned as they are.
fn port_name(name: &str) -> &str {
    name.split_once('.').map_or(name, |(port, _)| port)
}

fn name(entry: &IfEntry) -> &str {
    entry.if_name.as_deref().unwrap_or(&entry.if_descr)
}
