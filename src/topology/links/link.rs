//! Links and their parts.

use serde::{Deserialize, Serialize};

use super::missing::is_stale;
use super::{LinkState, VlanRange};
use crate::discovery::report::Capability;
use crate::model::{HostId, IfEntryId, LinkId, LldpChassisId, NodeId, Timestamp};
use crate::text_enum::text_enum;

/// A link between two ends, with everything that supports and contradicts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Link {
    /// The link's id, derived from its ends.
    pub id: LinkId,
    /// The end with the smaller id.
    pub source: End,
    /// The other end.
    pub target: End,
    /// The speed in bits per second, of all members together; `None` when unknown.
    pub speed_bps: Option<u64>,
    /// The physical links of an aggregation group; empty for a single link.
    pub members: Vec<LinkMember>,
    /// The certainty of the link.
    pub confidence: Confidence,
    /// The claims that support the link, the strongest first.
    pub evidence: Vec<Evidence>,
    /// Weaker claims that the link overrides.
    pub rejected: Vec<RejectedClaim>,
    /// Whether the latest reports no longer show the link, although no port at its ends is down.
    #[serde(default)]
    pub stale: bool,
    /// Whether the ends contradict each other in the numbers of their ports, and each port is the one that the other end names.
    #[serde(default)]
    pub port_mismatch: bool,
    /// The state. Of the two ends, the worse one counts.
    #[serde(default)]
    pub state: LinkState,
    /// The VLANs that the link carries, in ascending order: those that both ends have, or those of the only end whose VLANs are known; `None`
    /// when neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlans: Option<Vec<VlanRange>>,
    /// The VLAN of frames without a tag; `None` when unknown, or when the ends differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untagged_vlan: Option<u16>,
    /// Whether the spanning tree blocks an end; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<bool>,
}

impl Link {
    /// Returns whether the link is known to carry a VLAN.
    pub(in crate::topology) fn carries(&self, vlan: u16) -> bool {
        self.vlans.iter().flatten().any(|range| range.contains(vlan))
    }

    /// Returns whether no device still makes a claim that supports the link.
    pub(in crate::topology) fn is_gone(&self) -> bool {
        is_stale(self.evidence.iter())
    }

    /// Returns the time of the first report without a claim that supports the link, if there is one and the link is down.
    ///
    /// A claim that went missing while a neighbor was still seen shows that a protocol was turned off, not that the
    /// link went down.
    pub(in crate::topology) fn down_since(&self) -> Option<Timestamp> {
        let named = self.evidence.iter().filter(|it| matches!(it.method, Method::Lldp | Method::Cdp));
        let seen = named.filter_map(|evidence| evidence.last_seen).max();
        let missing = self.evidence.iter().filter_map(|evidence| evidence.missing_since);
        missing.filter(|since| seen.is_none_or(|seen| *since > seen)).min().filter(|_| self.state.is_out())
    }
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum End {
    /// A host, and its port when known.
    Host {
        /// The host's id.
        host_id: HostId,
        /// The port; `None` when unknown.
        port: Option<PortRef>,
    },
    /// A device that is not a host yet.
    Stub {
        /// The id of the [`Stub`].
        id: NodeId,
        /// The device's port; `None` when unknown.
        port: Option<PortRef>,
    },
    /// A segment that several devices share.
    Segment {
        /// The id of the [`Segment`].
        id: NodeId,
    },
}

impl End {
    /// Returns the id of the node that stands for the device or the segment.
    pub(in crate::topology) const fn node_id(&self) -> NodeId {
        match self {
            Self::Host { host_id, .. } => NodeId::new(host_id.uuid()),
            Self::Stub { id, .. } | Self::Segment { id } => *id,
        }
    }
}

/// A port at the end of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct PortRef {
    /// The id of the interface entry. `None` for a port that is known by name only.
    pub if_entry_id: Option<IfEntryId>,
    /// The port's name, as short as the device gives it.
    pub name: String,
}

/// A physical link of an aggregation group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct LinkMember {
    /// The port at the link's source; `None` when unknown.
    pub source_port: Option<PortRef>,
    /// The port at the link's target; `None` when unknown.
    pub target_port: Option<PortRef>,
    /// The state of the physical link.
    #[serde(default)]
    pub state: LinkState,
    /// Whether the spanning tree blocks an end of the physical link; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<bool>,
}

text_enum! {
    /// The certainty of a link.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    pub enum Confidence {
        /// Claims of equal rank contradict each other.
        Conflicting = "Conflicting",
        /// Inferred from forwarding tables.
        Inferred = "Inferred",
        /// One end names the other.
        Reported = "Reported",
        /// Each end names the other, or a user entered the link.
        Confirmed = "Confirmed",
    }
}

/// The protocol or the table that a claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// A user entered the link.
    Manual,
    /// The Link Layer Discovery Protocol.
    Lldp,
    /// The Cisco Discovery Protocol.
    Cdp,
    /// The neighbor that is stored with an interface entry.
    Stored,
    /// The spanning tree.
    Stp,
    /// Forwarding databases.
    Fdb,
    /// ARP caches and IPv6 neighbor caches.
    Arp,
}

/// The rule that made a link of a claim, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// A user entered or suppressed the link.
    Manual,
    /// Each of two hosts names the other by LLDP.
    MutualLldp,
    /// Each of two hosts names the other by CDP.
    MutualCdp,
    /// One host names the other by LLDP.
    OneSidedLldp,
    /// One host names the other by CDP.
    OneSidedCdp,
    /// The neighbor that is stored with an interface entry.
    StoredNeighbor,
    /// The designated bridge of a port of the spanning tree.
    StpDesignated,
    /// Each of two bridges learned the other's address on exactly one port.
    MutualFdb,
    /// Shared entries of two forwarding databases show that no bridge is in between.
    SharedFdb,
    /// One port learned the address of a single device.
    SingleSidedFdb,
    /// One port learned the MAC address that a neighbor cache gives to a host known by its IP address only.
    ArpFdb,
}

impl Rule {
    /// Returns whether a neighbor announces its port by LLDP or CDP.
    pub(super) const fn is_announced(self) -> bool {
        matches!(self, Self::MutualLldp | Self::MutualCdp | Self::OneSidedLldp | Self::OneSidedCdp)
    }

    /// Returns whether a port learned the address of a device that is no bridge.
    pub(super) const fn is_access(self) -> bool {
        matches!(self, Self::SingleSidedFdb | Self::ArpFdb)
    }
}

/// A claim that supports a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Evidence {
    /// The protocol or the table.
    pub method: Method,
    /// The rule that applied.
    pub rule: Rule,
    /// The host that made the claim; `None` for a link that a user entered.
    pub reporter_host_id: Option<HostId>,
    /// The reporter's port; `None` when unknown.
    pub if_entry_id: Option<IfEntryId>,
    /// When the claim was first observed, as far as known.
    pub first_seen: Option<Timestamp>,
    /// When the claim was last observed.
    pub last_seen: Option<Timestamp>,
    /// The time of the first complete report of the reporter without the claim. Absent while the reporter makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_since: Option<Timestamp>,
}

impl Evidence {
    /// Returns the time from which on the link counts as removed, if the claim is missing.
    pub(in crate::topology) fn gone_at(&self) -> Option<Timestamp> {
        self.last_seen.zip(self.missing_since).map(|(seen, since)| midway(seen, since))
    }
}

/// Returns the time in the middle between two reports.
///
/// A neighbor that the first report shows and the second one lacks was removed between them. Reports of one scan are
/// close together, and this time is far from both scans, so that earlier reports of other devices belong to the first
/// scan.
pub(super) fn midway(seen: Timestamp, since: Timestamp) -> Timestamp {
    let elapsed = since.unix_micros().saturating_sub(seen.unix_micros());
    seen.plus_micros(elapsed / 2)
}

/// A claim that a stronger one overrides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RejectedClaim {
    /// The claim.
    pub evidence: Evidence,
    /// The device that the claim names, as the reporter knows it.
    pub names: String,
    /// The rule of the stronger claim that overrides this one.
    pub beaten_by: Rule,
}

/// A device that claims name, and that is not a host yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stub {
    /// The stub's id, derived from the identity of the device.
    pub id: NodeId,
    /// The device's name, or else its chassis id; empty for an unmanaged switch.
    pub label: String,
    /// The chassis id that the device announces.
    pub chassis_id: Option<LldpChassisId>,
    /// The capabilities that the device announces.
    pub capabilities: Vec<Capability>,
    /// The beginning of the description or the model that the device announces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The addresses that the device announces, as strings.
    pub addresses: Vec<String>,
    /// Whether the device is a switch that announces nothing, and is inferred from forwarding tables.
    pub is_unmanaged_switch: bool,
}

/// A segment on which one port sees several devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Segment {
    /// The segment's id, derived from the port or the devices on it.
    pub id: NodeId,
    /// The name of the port that sees the devices.
    pub label: String,
}
