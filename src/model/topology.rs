use serde::{Deserialize, Serialize};

use super::{HostId, IfEntryId, NetworkId, NodeId, Timestamp, TopologyLinkId, TopologyView};

/// A link between two hosts that a user has entered, or has suppressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct TopologyLink {
    /// The link's id.
    pub id: TopologyLinkId,
    /// The network of both hosts.
    pub network_id: NetworkId,
    /// One end.
    pub source: LinkEnd,
    /// The other end, on another host.
    pub target: LinkEnd,
    /// Whether the topology leaves out every link between these ends, instead of showing one.
    #[serde(default)]
    pub suppressed: bool,
    /// When the link was entered.
    pub created_at: Timestamp,
    /// When the link last changed.
    pub updated_at: Timestamp,
}

/// An end of a link that a user has entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct LinkEnd {
    /// The host.
    pub host_id: HostId,
    /// The host's interface entry; `None`: any, or an unknown one.
    #[serde(default)]
    pub if_entry_id: Option<IfEntryId>,
}

impl LinkEnd {
    /// Creates an end at any port of a host.
    #[must_use]
    pub const fn at_host(host_id: HostId) -> Self {
        Self { host_id, if_entry_id: None }
    }

    /// Creates an end at a port of a host.
    #[must_use]
    pub const fn at_port(host_id: HostId, if_entry_id: IfEntryId) -> Self {
        Self { host_id, if_entry_id: Some(if_entry_id) }
    }
}

/// The positions that users have given to the nodes of a network in one view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct TopologyLayout {
    /// The network.
    pub network_id: NetworkId,
    /// The view.
    pub view: TopologyView,
    /// The positions. Other nodes are placed automatically.
    pub positions: Vec<NodePosition>,
}

/// The position of a node.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct NodePosition {
    /// The node's id.
    pub id: NodeId,
    /// The left edge of the node, in pixels, from -1,000,000 to 1,000,000.
    pub x: f64,
    /// The upper edge of the node, in pixels, from -1,000,000 to 1,000,000.
    pub y: f64,
}
