//! The question about a path, and its answer.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::super::UnknownReason;
use super::super::legs::Leg;
use super::super::routing::DeadEnd;
use crate::model::{HostId, LinkId, NodeId, SubnetId};
use crate::text_enum::text_enum;
use crate::topology::links::{Confidence, Evidence, PortRef};

/// The number of paths, unless a question asks for another one.
pub(crate) const DEFAULT_PATHS: usize = 4;

/// Maximum number of paths.
pub(crate) const MAX_PATHS: usize = 16;

/// A question about the paths between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PathQuery {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// The address that packets go to; `None`: any that the receiver has. It changes nothing if the receiver does not have it.
    pub to_address: Option<IpAddr>,
    /// The VLAN of the frames; `None`: any. With a VLAN, nothing is routed.
    pub vlan: Option<u16>,
    /// Maximum number of paths, at most 16.
    pub k: usize,
}

impl PathQuery {
    /// Creates a query for up to four paths.
    #[must_use]
    pub const fn new(from: NodeId, to: NodeId) -> Self {
        Self { from, to, to_address: None, vlan: None, k: DEFAULT_PATHS }
    }
}

/// The paths from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Paths {
    /// Whether packets are known to take the shortest of these paths.
    pub complete: bool,
    /// The reasons for which it is not complete.
    pub unknown: Vec<UnknownReason>,
    /// The shortest paths, which differ in a link and have no loops.
    pub paths: Vec<NetworkPath>,
    /// Whether there are others.
    pub more: bool,
    /// The links on a shorter path that carry nothing, with the reasons. If no links are known to carry the VLAN of the access ports,
    /// those of the paths that lack it.
    pub not_used: Vec<UnusedLink>,
}

/// A path from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NetworkPath {
    /// The nodes on the path, from the sender to the receiver.
    pub hops: Vec<PathHop>,
    /// The number of links.
    pub length: usize,
}

/// A node on a path, and the link to the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PathHop {
    /// The host's id; `None` for a node that is no host.
    pub host_id: Option<HostId>,
    /// The id of a node that is no host; absent for hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The name to show.
    pub name: String,
    /// The port that packets come in by; `None` at the sender, and when unknown.
    pub in_port: Option<PortRef>,
    /// The port that packets go out by; `None` at the receiver, and when unknown.
    pub out_port: Option<PortRef>,
    /// The link to the next node; `None` at the receiver.
    pub link_id: Option<LinkId>,
    /// The VLAN on that link; `None` when unknown.
    pub vlan: Option<u16>,
    /// The subnet on that link; `None` when unknown, and for a subnet that is not stored.
    pub subnet_id: Option<SubnetId>,
    /// Whether the node forwards frames or routes packets.
    pub layer: PathLayer,
    /// The address that the node has as a gateway of the subnet that packets come from; absent where it does not route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<IpAddr>,
    /// The certainty of the link; `None` at the receiver.
    pub confidence: Option<Confidence>,
    /// The claims that support the link.
    pub evidence: Vec<Evidence>,
    /// The reason for which the path is not known from here on: this hop stands for the rest. Absent for all other hops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownReason>,
}

impl PathHop {
    /// Creates the hop that stands for the unknown rest of a path.
    pub(super) fn unknown(end: DeadEnd) -> Self {
        Self {
            host_id: None,
            node_id: None,
            name: end.next_hop.map_or_else(|| "unknown".to_owned(), |address| address.to_string()),
            in_port: None,
            out_port: None,
            link_id: None,
            vlan: None,
            subnet_id: None,
            layer: PathLayer::L3,
            gateway: end.next_hop,
            confidence: None,
            evidence: Vec::new(),
            unknown: Some(end.reason),
        }
    }

    /// Makes the hop that of a router, at which a leg ends.
    pub(super) const fn route_for(&mut self, before: &Leg) {
        self.layer = PathLayer::L3;
        self.gateway = before.gateway;
    }
}

/// A link that carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnusedLink {
    /// The link's id.
    pub link_id: LinkId,
    /// The id of the node at one end.
    pub source: NodeId,
    /// The id of the node at the other end.
    pub target: NodeId,
    /// The reason.
    pub reason: Obstacle,
    /// The VLAN that an end does not carry; absent for other reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
}

text_enum! {
    /// The work of a node on a path.
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    pub enum PathLayer {
        /// It sends, receives or forwards frames.
        L2 = "L2",
        /// It routes packets from one subnet to another.
        L3 = "L3",
    }
}

text_enum! {
    /// The reason for which a link carries nothing.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum Obstacle {
        /// An end is down or disabled.
        Down = "down",
        /// An end is in test mode.
        Testing = "testing",
        /// The latest reports do not show the link any more.
        Stale = "stale",
        /// The spanning tree blocks an end.
        Blocked = "blocked",
        /// An end does not carry the VLAN.
        Vlan = "vlan",
    }
}
