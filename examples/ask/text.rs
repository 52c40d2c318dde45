//! Answers as text for a terminal.

use std::collections::HashMap;
use std::fmt::Write as _;

use toposcope::inventory::{AddressList, AddressState};
use toposcope::model::{NodeId, Timestamp};
use toposcope::topology::links::{Evidence, LinkState, PortRef};
use toposcope::topology::paths::{AffectedHost, Fragile, Impact, Location, Paths, UnknownReason, VlanList};

/// Number of items of a list that are printed.
pub(super) const LISTED: usize = 20;

/// The names of nodes.
pub(super) struct Names(pub(super) HashMap<NodeId, String>);

impl Names {
    fn of(&self, node: impl Into<NodeId>) -> &str {
        self.0.get(&node.into()).map_or("unknown device", String::as_str)
    }
}

/// Adds the unknown parts to an answer.
fn with_unknown(mut text: String, unknown: &[UnknownReason]) -> String {
    if !unknown.is_empty() {
        let reasons: Vec<&str> = unknown.iter().map(|reason| reason.as_str()).collect();
        let _ = writeln!(text, "Not complete; unknown: {}.", reasons.join(", "));
    }
    text
}

/// Returns the time since which all evidence is missing.
fn missing_since(evidence: &[Evidence]) -> Option<Timestamp> {
    let missing: Option<Vec<Timestamp>> = evidence.iter().map(|evidence| evidence.missing_since).collect();
    missing?.into_iter().max()
}

pub(super) fn located(found: &Location, names: &Names) -> String {
    let mut text = String::new();
    for candidate in found.candidates.iter().take(LISTED) {
        let port = candidate.port.as_deref().unwrap_or("unknown port");
        let _ = write!(text, "{} {port}, {}", candidate.name, candidate.confidence);
        if let Some(vlan) = candidate.vlan {
            let _ = write!(text, ", VLAN {vlan}");
        }
        if candidate.state != LinkState::Unknown {
            let _ = write!(text, ", {}", candidate.state);
        }
        if let Some(seen) = candidate.last_seen {
            let _ = write!(text, ", last seen {seen}");
        }
        if let Some(since) = missing_since(&candidate.evidence) {
            let _ = write!(text, ", missing since {since}");
        }
        text.push('\n');
    }
    if !found.mac_addresses.is_empty() {
        let macs: Vec<String> = found.mac_addresses.iter().take(LISTED).map(ToString::to_string).collect();
        let _ = writeln!(text, "MAC addresses in neighbor caches: {}.", macs.join(", "));
    }
    for gateway in &found.gateways {
        let members: Vec<&str> = gateway.host_ids.iter().map(|host| names.of(*host)).collect();
        let _ = write!(text, "{} is a virtual router of {}", gateway.ip, members.join(" and "));
        let _ = match gateway.active_host_id {
            Some(host) => writeln!(text, "; {} has it now.", names.of(host)),
            None => writeln!(text, "."),
        };
    }
    for conflict in &found.conflicts {
        let macs = conflict.mac_addresses.iter().map(ToString::to_string);
        let hosts = conflict.host_ids.iter().map(|host| names.of(*host).to_owned());
        let all: Vec<String> = macs.chain(hosts).collect();
        let _ = writeln!(text, "Conflict: {} is claimed by {}.", conflict.ip, all.join(" and "));
    }
    with_unknown(text, &found.unknown)
}

pub(super) fn paths(found: &Paths, names: &Names) -> String {
    let mut text = String::new();
    for path in &found.paths {
        let _ = writeln!(text, "{} links:", path.length);
        for hop in &path.hops {
            let name = |port: &Option<PortRef>| {
                port.as_ref().map_or_else(String::new, |port| format!(" {}", port.name))
            };
            let _ = write!(text, "  {} {}", hop.layer, hop.name);
            let _ = write!(text, "{}{}", name(&hop.in_port), if hop.link_id.is_some() { " ->" } else { "" });
            let _ = write!(text, "{}", name(&hop.out_port));
            if let Some(vlan) = hop.vlan {
                let _ = write!(text, ", VLAN {vlan}");
            }
            if let Some(gateway) = hop.gateway.filter(|_| hop.unknown.is_none()) {
                let _ = write!(text, ", gateway {gateway}");
            }
            if let Some(reason) = hop.unknown {
                let _ = write!(text, ", not known any further: {reason}");
            }
            text.push('\n');
        }
    }
    if found.more {
        text.push_str("There are other paths.\n");
    }
    for link in &found.not_used {
        let ends = [link.source, link.target].map(|end| names.of(end));
        let _ = write!(text, "Not used: {} to {}, {}", ends[0], ends[1], link.reason);
        let _ = writeln!(text, "{}.", link.vlan.map_or_else(String::new, |vlan| format!(" {vlan}")));
    }
    with_unknown(text, &found.unknown)
}

fn hosts(text: &mut String, title: &str, hosts: &[AffectedHost], total: usize) {
    let _ = writeln!(text, "{title}: {total}");
    for host in hosts.iter().take(LISTED) {
        let _ = writeln!(text, "  {} ({})", host.name, host.role);
    }
}

pub(super) fn impact(found: &Impact) -> String {
    let mut text = String::new();
    hosts(&mut text, "Cut off", &found.cut_off, found.cut_off_total);
    hosts(&mut text, "At risk", &found.at_risk, found.at_risk_total);
    let _ = writeln!(text, "Links that take over: {}", found.carried_by_total);
    with_unknown(text, &found.unknown)
}

pub(super) fn fragile(found: &Fragile, names: &Names) -> String {
    let mut text = format!("Devices that must not fail: {}\n", found.nodes_total);
    for node in found.nodes.iter().take(LISTED) {
        let _ = writeln!(text, "  {}: {} behind", node.name, node.behind);
    }
    let _ = writeln!(text, "Links that must not fail: {}", found.edges_total);
    for edge in found.edges.iter().take(LISTED) {
        let [one, other] = [edge.source, edge.target].map(|end| names.of(end));
        let _ = writeln!(text, "  {one} to {other}: {} behind", edge.behind);
    }
    let _ = writeln!(text, "Links that one end confirms: {}", found.one_sided_total);
    let _ = writeln!(text, "Aggregates with one member up: {}", found.degraded_lags_total);
    with_unknown(text, &found.unknown)
}

pub(super) fn pairs(found: &Fragile) -> String {
    let mut text = format!("Pairs that must not fail together: {}\n", found.pairs_total.unwrap_or_default());
    for pair in found.pairs.iter().flatten().take(LISTED) {
        let [one, other] = &pair.nodes;
        let reasons: Vec<&str> = pair.reasons.iter().map(|reason| reason.as_str()).collect();
        let (one, other, reasons) = (&one.name, &other.name, reasons.join(" and "));
        let _ = writeln!(text, "  {one} and {other}, same {reasons}: {} behind", pair.behind);
    }
    with_unknown(text, &found.unknown)
}

pub(super) fn vlans(found: &VlanList) -> String {
    let mut text = String::new();
    for vlan in &found.vlans {
        let _ =
            write!(text, "VLAN {}: hosts: {}, parts: {}", vlan.vlan, vlan.hosts_total, vlan.islands_total);
        let _ = writeln!(
            text,
            ", links that one end carries: {}, with another untagged VLAN: {}",
            vlan.one_sided.len(),
            vlan.native_mismatch.len()
        );
    }
    with_unknown(text, &found.unknown)
}

pub(super) fn addresses(found: &AddressList) -> String {
    let mut text = format!("Addresses: {}\n", found.addresses_total);
    for address in &found.addresses {
        let _ = write!(text, "  {}", address.ip);
        if address.state != AddressState::Free {
            let _ = write!(text, " {}", address.state);
        }
        if let Some(mac) = address.mac {
            let _ = write!(text, ", {mac}");
        }
        if let Some(host) = address.host_id {
            let _ = write!(text, ", host {host}");
        }
        if let Some(seen) = address.last_seen {
            let _ = write!(text, ", last seen {seen}");
        }
        if let Some(name) = &address.reserved_by {
            let _ = write!(text, ", reserved by {name}");
        }
        text.push('\n');
    }
    if !found.complete {
        let reasons: Vec<&str> = found.unknown.iter().map(|reason| reason.as_str()).collect();
        let _ = writeln!(text, "Not complete; unknown: {}.", reasons.join(", "));
    }
    text
}
