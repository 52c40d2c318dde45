//! The ports to which a device is connected.

mod candidates;
mod target;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use self::candidates::Candidates;
use self::target::Sought;
use super::index::PathIndex;
use super::{DEFAULT_LIMIT, LookupError, UnknownReason};
use crate::model::{HostId, HostRole, IfEntryId, MacAddress, NodeId, Timestamp};
use crate::topology::links::{Confidence, Evidence, LinkState, Links};

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
    /// Whether a port is known at which nothing but the device is, or a link to it, and nothing contradicts that. Several ports are
    /// complete only if they are at links of one device.
    pub complete: bool,
    /// The reasons for which it is not complete.
    pub unknown: Vec<UnknownReason>,
    /// The ports that the device may be connected to, the likeliest first.
    pub candidates: Vec<LocationCandidate>,
    /// The number of ports that the device may be connected to.
    pub candidates_total: usize,
    /// The MAC addresses that neighbor caches state for the IP address, in order; those that they stated last if none states one now.
    /// Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mac_addresses: Vec<MacAddress>,
    /// Addresses that several devices claim, except addresses that each host has for itself, such as `127.0.0.1`.
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
    /// The VLAN in which the port learned the address, or else the only one of the port; `None` when unknown, or for several VLANs.
    pub vlan: Option<u16>,
    /// The state of the link to the device; of the port where no link is known.
    #[serde(default)]
    pub state: LinkState,
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

impl PathIndex {
    /// Returns the ports to which a device is connected, as far as links, forwarding tables and neighbor caches show them.
    ///
    /// A port that leads to another switch counts only where no other one learned the address. A port that learned other devices,
    /// too, counts only where no link and no other port has the device alone. Ports that only earlier reports show count only where the
    /// latest ones show none. `links` are the links that the index was made of.
    ///
    /// # Errors
    /// Returns an error if nothing in the network has, or once had, the address or the name, or several hosts have the name.
    pub fn locate(&self, links: &Links, target: &LocateTarget) -> Result<Location, LookupError> {
        let sought = self.target(links, target)?;
        let mut found = Candidates::current(self, links, &sought);
        if found.is_empty() {
            found = Candidates::former(self, links, &sought);
        }
        if found.is_empty() && !sought.is_known() {
            return Err(LookupError::NotFound);
        }
        let unknown = self.doubts(links, &sought, &found);
        let Sought { arp, mac_addresses, conflicts, gateways, .. } = sought;
        let candidates_total = found.len();
        let candidates = found.into_candidates().take(DEFAULT_LIMIT).map(|mut candidate| {
            candidate.evidence.extend(arp.iter().cloned());
            candidate
        });
        Ok(Location {
            complete: unknown.is_empty(),
            unknown,
            candidates: candidates.collect(),
            candidates_total,
            mac_addresses,
            conflicts,
            gateways,
        })
    }

    /// Returns the reasons for which the ports that were found may not be those of the device.
    fn doubts(&self, links: &Links, sought: &Sought, found: &Candidates) -> Vec<UnknownReason> {
        let has_conflict = !sought.conflicts.is_empty()
            || found.is_contradicted()
            || !self.is_one_place(links, sought, found);
        let doubts = [
            (UnknownReason::Conflict, has_conflict),
            (UnknownReason::Edge, !found.is_empty() && !found.has_exact()),
            (UnknownReason::Links, found.is_empty()),
            (UnknownReason::Stale, sought.is_former || found.are_former()),
        ];
        doubts.into_iter().filter(|(_, applies)| *applies).map(|(reason, _)| reason).collect()
    }

    /// Returns whether one device may be at all of the ports at the same time.
    ///
    /// A device may have several links. If one of them is down, an end device may have been moved; a switch just has an unused link.
    /// Ports that lead to other switches, and those of different times, contradict nothing.
    fn is_one_place(&self, links: &Links, sought: &Sought, found: &Candidates) -> bool {
        let is_switch = sought.hosts.iter().all(|host| self.is_switch(links, *host));
        let is_one_device = sought.hosts.len() <= 1 || !sought.gateways.is_empty();
        !found.are_at_edges() || (is_one_device && found.are_links(is_switch))
    }

    /// Returns whether a host is known to connect others.
    fn is_switch(&self, links: &Links, host: HostId) -> bool {
        let node = self.number(host.into()).map(|node| self.node(node));
        let is_known = node.is_some_and(|node| node.role != HostRole::Unknown && node.is_transit());
        is_known || links.is_bridge(host)
    }
}
