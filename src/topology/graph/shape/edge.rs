//! Edges, and where their ends were before they have moved.

use serde::{Deserialize, Serialize};

use super::GraphChange;
use crate::model::{LinkId, NodeId, Timestamp};
use crate::topology::links::{Confidence, Evidence, LinkMember, LinkState, PortRef, VlanRange};

/// An edge of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Edge {
    /// The edge's id, derived from its ends.
    pub id: LinkId,
    /// The kind of connection that the edge represents.
    pub kind: EdgeKind,
    /// The id of the node at one end.
    pub source: NodeId,
    /// The id of the node at the other end.
    pub target: NodeId,
    /// The port at the source; `None` when unknown.
    pub source_port: Option<PortRef>,
    /// The port at the target; `None` when unknown.
    pub target_port: Option<PortRef>,
    /// The speed in bits per second, of all members together; `None` when unknown.
    pub speed_bps: Option<u64>,
    /// The physical links of an aggregation group, or of parallel links that are alike; empty for a single link.
    pub members: Vec<LinkMember>,
    /// Whether the members are one aggregation group. Otherwise they are parallel links.
    #[serde(default = "is_aggregated")]
    pub lag: bool,
    /// The number of links that the edge stands for, between parts of the network. 0 for an edge that stands for itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bundled: u32,
    /// The other links that the edge stands for if its members are parallel links.
    #[serde(skip)]
    pub(in crate::topology) parallel: Vec<LinkId>,
    /// The certainty of the edge.
    pub confidence: Confidence,
    /// The claims that support the edge, the strongest first.
    pub evidence: Vec<Evidence>,
    /// Whether the latest reports do not show the connection any more, or a node at its ends is stale. A link that is down
    /// stays, and is not stale for this reason.
    #[serde(default)]
    pub stale: bool,
    /// The state. Of the two ends, the worse one counts.
    #[serde(default)]
    pub state: LinkState,
    /// The time of the first report without the link, if it is down, and in a comparison the time since which a new link is there;
    /// `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// In a comparison, the time of the removal of a link; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The VLANs that the link carries, in ascending order: those of both ends, as far as these are known; absent when
    /// neither is, and where a share conceals anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlans: Option<Vec<VlanRange>>,
    /// Whether the spanning tree blocks an end, and all of several parallel links; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<bool>,
    /// The change of the edge since the state that the graph is compared with; absent if it was there, and without a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<GraphChange>,
    /// Where one end was; absent unless the edge has moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<FormerEnd>,
    /// The corners of the line, from border to border; empty without a layout.
    pub points: Vec<[f64; 2]>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The members of an edge from before there were parallel links.
const fn is_aggregated() -> bool {
    true
}

impl Edge {
    /// Creates an edge of which only the ends are known.
    pub(in crate::topology::graph) const fn new(
        id: LinkId,
        kind: EdgeKind,
        source: NodeId,
        target: NodeId,
    ) -> Self {
        Self {
            id,
            kind,
            source,
            target,
            source_port: None,
            target_port: None,
            speed_bps: None,
            members: Vec::new(),
            lag: false,
            bundled: 0,
            parallel: Vec::new(),
            confidence: Confidence::Confirmed,
            evidence: Vec::new(),
            stale: false,
            state: LinkState::Unknown,
            since: None,
            until: None,
            vlans: None,
            blocked: None,
            change: None,
            moved_from: None,
            points: Vec::new(),
        }
    }
}

/// Where an end of an edge was before it has moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FormerEnd {
    /// The id of the node at which that end of the edge is now.
    pub end: NodeId,
    /// The id of the node at which it was.
    pub node: NodeId,
    /// The name of that node.
    pub label: String,
    /// The port at which it was; `None` when unknown.
    pub port: Option<PortRef>,
}

/// The kind of connection that an edge represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum EdgeKind {
    /// A cable between two ports.
    Physical,
    /// Two neighbors whose ports are unknown.
    Adjacency,
    /// A connection inferred from forwarding tables, or through a segment.
    Bridged,
    /// Two routers on a subnet of two addresses.
    Routed,
    /// A host on a subnet.
    Member,
    /// A hypervisor or a container host, and what runs on it.
    Hosts,
}
