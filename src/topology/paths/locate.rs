//! The ports to which a device is connected.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::index::PathIndex;
use super::routing::SharedGateway;
use super::{DEFAULT_LIMIT, LookupError, UnknownReason};
use crate::model::{HostId, IfEntryId, MacAddress, NodeId, Timestamp};
use crate::topology::graph::NodeKind;
use crate::topology::links::{Confidence, End, Evidence, LearnedPort, Link, Links, Method, PortRef, Rule};

/// The device to locate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LocateTarget {
    /// The device with a MAC address.
    Mac(MacAddress),
    /// The device with an IP address.
    Ip(IpAddr),
    /// The host with a name or an id.
    Name(String),
}

/// Where a device is connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Location {
    /// Whether a port is known at which nothing but the device is, or a link to it, and nothing contradicts that.
    pub complete: bool,
    /// The reasons for which it is not complete.
    pub unknown: Vec<UnknownReason>,
    /// The ports that the device may be connected to, the likeliest first.
    pub candidates: Vec<LocationCandidate>,
    /// The number of ports that the device may be connected to.
    pub candidates_total: usize,
    /// Addresses that several devices claim. Those that each host has for itself, such as `127.0.0.1`, are not among them.
    pub conflicts: Vec<AddressConflict>,
    /// The virtual routers that have the address; absent if none has. Several routers with one virtual address are no conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<GatewayGroup>,
}

/// Routers that share an address, of which one at a time uses it (VRRP, HSRP).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GatewayGroup {
    /// The IP address.
    pub ip: IpAddr,
    /// The virtual MAC addresses, in order.
    pub mac_addresses: Vec<MacAddress>,
    /// The hosts that are known to take part, by id.
    pub host_ids: Vec<HostId>,
    /// The host that has the address; `None` when unknown.
    pub active_host_id: Option<HostId>,
}

/// A port that a device may be connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LocationCandidate {
    /// The id of the host with the port; `None` for a node that is no host.
    pub host_id: Option<HostId>,
    /// The id of a node that is no host; absent for hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The name to show.
    pub name: String,
    /// The id of the port's interface entry; `None` when unknown.
    pub if_entry_id: Option<IfEntryId>,
    /// The port's name; `None` when unknown.
    pub port: Option<String>,
    /// The VLAN of frames without a tag; `None` when unknown.
    pub vlan: Option<u16>,
    /// When the device was first seen there; `None` when unknown.
    pub since: Option<Timestamp>,
    /// When the device was last seen there; `None` when unknown.
    pub last_seen: Option<Timestamp>,
    /// The certainty.
    pub confidence: Confidence,
    /// The claims that show it.
    pub evidence: Vec<Evidence>,
}

/// An address that several devices claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AddressConflict {
    /// The IP address.
    pub ip: IpAddr,
    /// The MAC addresses that neighbor caches state for it, in order.
    pub mac_addresses: Vec<MacAddress>,
    /// The hosts that have it, by id.
    pub host_ids: Vec<HostId>,
}

/// The hosts and the addresses that a question means.
#[derive(Default)]
struct Sought {
    hosts: Vec<HostId>,
    macs: BTreeSet<MacAddress>,
    /// The evidence that joins an IP address with a MAC address.
    arp: Vec<Evidence>,
    conflicts: Vec<AddressConflict>,
    gateways: Vec<GatewayGroup>,
}

/// The likelihood of a candidate; the least is the likeliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Whether only a forwarding table shows the port, or links contradict each other.
    is_weak: bool,
    /// Whether the port leads to another switch.
    is_uplink: bool,
    /// The number of devices that were learned on the port; 0 for a link.
    devices: usize,
    /// Whether the port has not learned the address: a router has many links, and the address is at one of them.
    is_not_learned: bool,
    last_seen: Reverse<Option<Timestamp>>,
}

/// Candidates by port, each with its rank.
type Ranked = BTreeMap<(NodeId, Option<PortRef>), (Rank, LocationCandidate)>;

impl PathIndex {
    /// Returns the ports to which a device is connected, as far as links, forwarding tables and neighbor caches show them.
    ///
    /// A port that leads to another switch counts only where no other one learned the address. `links` are the links that the
    /// index was made of.
    ///
    /// # Errors
    /// Returns an error if nothing in the network has the address or the name, or several hosts have the name.
    pub fn locate(&self, links: &Links, target: &LocateTarget) -> Result<Location, LookupError> {
        let Sought { hosts, macs, arp, conflicts, gateways } = self.target(links, target)?;
        let mut found = Ranked::new();
        for host in &hosts {
            self.add_links(links, *host, &mut found);
        }
        for mac in &macs {
            for port in links.learned_ports(*mac) {
                self.add_learned(port, &mut found);
            }
        }
        let mut ranked: Vec<(Rank, LocationCandidate)> = found.into_values().collect();
        if hosts.is_empty() && ranked.is_empty() && arp.is_empty() && gateways.is_empty() {
            return Err(LookupError::NotFound);
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let has_edge = ranked.iter().any(|(rank, _)| !rank.is_uplink);
        ranked.retain(|(rank, _)| !(has_edge && rank.is_uplink));
        // A link names its device; a port that learned further addresses leads to others, too.
        let is_exact =
            ranked.iter().any(|(rank, _)| !rank.is_uplink && rank.devices <= usize::from(rank.is_weak));
        let is_contradicted = |candidate: &LocationCandidate| candidate.confidence == Confidence::Conflicting;
        let has_conflict =
            !conflicts.is_empty() || ranked.iter().any(|(_, candidate)| is_contradicted(candidate));
        let mut unknown = Vec::new();
        unknown.extend(has_conflict.then_some(UnknownReason::Conflict));
        unknown.extend((!is_exact).then_some(UnknownReason::Edge));
        let candidates_total = ranked.len();
        let candidates = ranked.into_iter().take(DEFAULT_LIMIT).map(|(_, mut candidate)| {
            candidate.evidence.extend(arp.iter().cloned());
            candidate
        });
        Ok(Location {
            complete: unknown.is_empty(),
            unknown,
            candidates: candidates.collect(),
            candidates_total,
            conflicts,
            gateways,
        })
    }

    /// Returns the hosts and the addresses that a question means.
    fn target(&self, links: &Links, target: &LocateTarget) -> Result<Sought, LookupError> {
        match target {
            LocateTarget::Mac(mac) => {
                let shared = self.routers.shared.iter().filter(|shared| shared.mac_addresses.contains(mac));
                let shared: Vec<&SharedGateway> = shared.collect();
                let routers = shared.iter().flat_map(|shared| self.routers_of(shared));
                let hosts: BTreeSet<HostId> = routers.chain(links.hosts_with(*mac)).collect();
                let gateways = shared.iter().take(DEFAULT_LIMIT).map(|shared| self.gateway_group(shared));
                Ok(Sought {
                    hosts: hosts.into_iter().collect(),
                    macs: [*mac].into(),
                    gateways: gateways.collect(),
                    ..Sought::default()
                })
            }
            LocateTarget::Ip(ip) => {
                let shared = self.shared_gateway(*ip);
                let hosts: Vec<HostId> = match shared {
                    Some(shared) => self.routers_of(shared),
                    None => self.hosts_of(&self.with_ip(*ip)),
                };
                let stated = links.stated_macs(*ip);
                let arp = stated.iter().take(1).map(|stated| Evidence {
                    method: Method::Arp,
                    rule: Rule::ArpFdb,
                    reporter_host_id: Some(stated.reporter),
                    if_entry_id: None,
                    first_seen: None,
                    last_seen: stated.last_seen,
                    missing_since: None,
                });
                let mut macs: BTreeSet<MacAddress> = stated.iter().map(|stated| stated.mac_address).collect();
                let is_foreign = |mac: &MacAddress, shared: &SharedGateway| {
                    !self.hosts_of(&shared.members).iter().any(|host| links.macs_of(*host).contains(mac))
                };
                let is_conflict = match shared {
                    Some(shared) => macs.iter().any(|mac| is_foreign(mac, shared)),
                    None => (macs.len() > 1 || hosts.len() > 1) && !self.addresses.is_local(*ip),
                };
                let conflict = is_conflict.then(|| AddressConflict {
                    ip: *ip,
                    mac_addresses: macs.iter().copied().take(DEFAULT_LIMIT).collect(),
                    host_ids: hosts.iter().copied().take(DEFAULT_LIMIT).collect(),
                });
                let arp: Vec<Evidence> = arp.collect();
                if macs.is_empty() {
                    macs.extend(hosts.iter().flat_map(|host| links.macs_of(*host)));
                }
                let gateways = shared.map(|shared| self.gateway_group(shared)).into_iter().collect();
                Ok(Sought { hosts, macs, arp, conflicts: conflict.into_iter().collect(), gateways })
            }
            LocateTarget::Name(name) => {
                let id = self.find(name)?;
                let host = self.number(id).and_then(|node| self.node(node).host_id());
                let macs = host.iter().flat_map(|host| links.macs_of(*host)).copied().collect();
                Ok(Sought { hosts: host.into_iter().collect(), macs, ..Sought::default() })
            }
        }
    }

    fn hosts_of(&self, nodes: &[u32]) -> Vec<HostId> {
        nodes.iter().filter_map(|node| self.node(*node).host_id()).collect()
    }

    /// Returns the router that uses a shared address, or else all that may.
    fn routers_of(&self, shared: &SharedGateway) -> Vec<HostId> {
        match shared.active {
            Some(active) => self.hosts_of(&[active]),
            None => self.hosts_of(&shared.members),
        }
    }

    fn gateway_group(&self, shared: &SharedGateway) -> GatewayGroup {
        GatewayGroup {
            ip: shared.ip,
            mac_addresses: shared.mac_addresses.iter().copied().take(DEFAULT_LIMIT).collect(),
            host_ids: self.hosts_of(&shared.members).into_iter().take(DEFAULT_LIMIT).collect(),
            active_host_id: shared.active.and_then(|active| self.node(active).host_id()),
        }
    }

    /// Adds the ports that links connect a host with.
    fn add_links(&self, links: &Links, host: HostId, found: &mut Ranked) {
        let Some(node) = self.number(host.into()) else { return };
        for step in self.steps(node) {
            let Some(link) = links.get(self.link(step.link).id).filter(|link| !link.stale) else { continue };
            let port = far_port(link, self.node(step.node).id);
            let last_seen = link.evidence.iter().filter_map(|evidence| evidence.last_seen).max();
            let mut candidate = self.candidate(step.node, port.as_ref());
            candidate.vlan = link.untagged_vlan;
            candidate.since = link.evidence.iter().filter_map(|evidence| evidence.first_seen).min();
            candidate.last_seen = last_seen;
            candidate.confidence = link.confidence;
            candidate.evidence.clone_from(&link.evidence);
            let rank = Rank {
                is_weak: link.confidence == Confidence::Conflicting,
                is_uplink: false,
                devices: 0,
                is_not_learned: true,
                last_seen: Reverse(last_seen),
            };
            found.insert((self.node(step.node).id, port), (rank, candidate));
        }
    }

    /// Adds a port that learned an address.
    fn add_learned(&self, learned: LearnedPort, found: &mut Ranked) {
        let Some(node) = self.number(learned.host.into()) else { return };
        let evidence = Evidence {
            method: Method::Fdb,
            rule: Rule::SingleSidedFdb,
            reporter_host_id: Some(learned.host),
            if_entry_id: learned.port.if_entry_id,
            first_seen: None,
            last_seen: learned.last_seen,
            missing_since: None,
        };
        let key = (learned.host.into(), Some(learned.port));
        if let Some((rank, known)) = found.get_mut(&key) {
            rank.is_not_learned = false;
            known.last_seen = known.last_seen.max(learned.last_seen);
            if known.evidence.iter().all(|known| known.method != Method::Fdb) {
                known.evidence.push(evidence);
            }
            return;
        }
        let mut candidate = self.candidate(node, key.1.as_ref());
        candidate.vlan = learned.untagged_vlan;
        candidate.last_seen = learned.last_seen;
        candidate.evidence.push(evidence);
        let devices = learned.devices.unwrap_or(usize::MAX);
        let rank = Rank {
            is_weak: true,
            is_uplink: learned.devices.is_none(),
            devices,
            is_not_learned: false,
            last_seen: Reverse(learned.last_seen),
        };
        found.insert(key, (rank, candidate));
    }

    fn candidate(&self, node: u32, port: Option<&PortRef>) -> LocationCandidate {
        let node = self.node(node);
        LocationCandidate {
            host_id: node.host_id(),
            node_id: (node.kind != NodeKind::Host).then_some(node.id),
            name: node.name.to_string(),
            if_entry_id: port.and_then(|port| port.if_entry_id),
            port: port.map(|port| port.name.clone()),
            vlan: None,
            since: None,
            last_seen: None,
            confidence: Confidence::Inferred,
            evidence: Vec::new(),
        }
    }
}

/// Returns the port of a link at a node.
fn far_port(link: &Link, node: NodeId) -> Option<PortRef> {
    let end = if link.source.node_id() == node { &link.source } else { &link.target };
    match end {
        End::Host { port, .. } | End::Stub { port, .. } => port.clone(),
        End::Segment { .. } => None,
    }
}
