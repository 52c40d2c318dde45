//! The role of a device by its ports.

use std::collections::BTreeSet;

use super::is_ethernet;
use crate::discovery::report::FdbStatus;
use crate::discovery::{Claim, ClaimRows};
use crate::model::{Host, HostRole, IfEntry, OperStatus};

/// Minimum number of bridged ports of a switch. Switches built into routers have fewer.
pub(super) const SWITCH_PORTS: usize = 5;

/// Minimum number of routed ports of a router. A server has one.
const ROUTER_PORTS: usize = 2;

/// `ifType` of interfaces that route a VLAN: `l3ipvlan`.
const VLAN_INTERFACE: i64 = 136;

/// Returns the role of a device that bridges or routes with most of its ports. `None` if that is unclear.
///
/// Both kinds of devices announce that they bridge and route: a switch routes between its VLANs, and a router has a few
/// bridged ports.
pub(super) fn role_by_ports(host: &Host, claims: &[Claim]) -> Option<HostRole> {
    let ethernet = host.if_entries.iter().filter(|entry| is_ethernet(entry)).count();
    let active = active_ports(host);
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
pub(super) fn active_ports(host: &Host) -> usize {
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
        | ClaimRows::Ports(_) => 0,
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
