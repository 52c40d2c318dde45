//! Nodes, and the devices that a group stands for.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::GraphChange;
use crate::model::{HostRole, NodeId};
use crate::topology::graph::RoleReason;
use crate::topology::layout::AddressScope;
use crate::topology::links::LinkState;

/// A node of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Node {
    /// The node's id. It is the id of the host or the subnet, or one derived from what the node stands for.
    pub id: NodeId,
    /// The kind of thing that the node represents.
    pub kind: NodeKind,
    /// The id of the host or the subnet. `None` for other nodes, absent in a share.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schemars(skip_serializing_if = "Option::is_none"))]
    pub entity_id: Option<Uuid>,
    /// The id of the node that contains this one; `None` on the outermost level.
    pub parent_id: Option<NodeId>,
    /// The name to show.
    pub label: String,
    /// A second line: the address of a host, the prefix of a subnet, or what a node stands for. Absent if the label shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The kind of the label's content. It decides what a share replaces.
    #[serde(skip)]
    pub(in crate::topology::graph) label_kind: TextKind,
    /// The side of the network that the node is on, as far as its addresses show it.
    #[serde(skip)]
    pub(in crate::topology::graph) addresses: AddressScope,
    /// The role of a host.
    pub role: HostRole,
    /// The evidence for the role; absent when the role is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_reason: Option<RoleReason>,
    /// The left edge, in the graph's coordinates.
    pub x: f64,
    /// The upper edge, in the graph's coordinates.
    pub y: f64,
    /// The width, label included.
    pub width: f64,
    /// The height, label included.
    pub height: f64,
    /// Whether a user placed the node.
    pub pinned: bool,
    /// The number of devices that the node stands for. 0 for a node that stands for itself.
    pub collapsed: u32,
    /// The roles of the devices that the node stands for, the most frequent first; empty for a node that stands for itself.
    /// Of more than 32 roles, the rarest count as unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<RoleCount>,
    /// The devices that the node stands for, by VLAN or else by range of ports; empty unless this divides them. Absent as
    /// `location`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<FoldedPart>,
    /// The devices that a group stands for, for files in which it can be opened. A share and parts of the network have none of them.
    #[serde(skip)]
    pub(in crate::topology) devices: Vec<FoldedDevice>,
    /// Whether recent scans do not show the host any more.
    pub stale: bool,
    /// The state of the links: down if all are, degraded if one to a device that connects others is. Of a part of the
    /// network, the worst one of the devices in it that connect others.
    #[serde(default)]
    pub state: LinkState,
    /// The location that the device reports; absent when unknown, and where a share conceals anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The manufacturer; absent as `location`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The model; absent as `location`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the node is a subnet that follows from the addresses and masks of hosts, and that is not stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implied: bool,
    /// The VLAN of an end device, or of all that a node stands for: that of frames without a tag at the port that it is connected to; absent as `location`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// The change of the node since the state that the graph is compared with; absent if it was there at the same place, and
    /// without a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<GraphChange>,
    /// The name of the container that the node was in; absent unless it has moved to another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
}

/// A device that another node stands for.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::topology) struct FoldedDevice {
    pub(in crate::topology) id: NodeId,
    pub(in crate::topology) label: String,
    pub(in crate::topology) detail: Option<String>,
    pub(in crate::topology) role: HostRole,
}

/// The number of devices with a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct RoleCount {
    /// The role.
    pub role: HostRole,
    /// The number of devices.
    pub count: u32,
}

/// Some of the devices that a node stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoldedPart {
    /// Their VLAN. Absent where ports divide the devices, of devices without one, and of those of the rarest VLANs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// The ports that they are connected to, such as `Gi1/0/1–24`. Absent where VLANs divide the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<String>,
    /// Their roles, the most frequent first.
    pub folded: Vec<RoleCount>,
}

impl FoldedPart {
    /// Returns what these devices have in common, in words.
    pub(in crate::topology) fn place(&self) -> String {
        match (self.vlan, &self.ports) {
            (Some(vlan), _) => format!("VLAN {vlan}"),
            (None, Some(ports)) => ports.clone(),
            (None, None) => "others".to_owned(),
        }
    }
}

/// The kind of content of a text in a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::topology::graph) enum TextKind {
    /// A name of a host, an interface, a service, a subnet or a port.
    #[default]
    Name,
    /// An IP address or a prefix.
    Address,
    /// A MAC address.
    Mac,
    /// Another identifier, possibly a serial number.
    Identifier,
    /// Words of this crate.
    Fixed,
}

/// The kind of thing that a node represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum NodeKind {
    /// A host.
    Host,
    /// A device that is named by others and is not a host yet.
    Stub,
    /// A segment that several devices share.
    Segment,
    /// A subnet.
    Subnet,
    /// The devices at a location, in a subnet or with a tag, or a part of the network.
    Area,
    /// Several leaves of one device, drawn as one.
    Group,
    /// A service that runs in a container.
    Service,
}

impl Node {
    /// Returns whether the node stands for a device, known or only named by neighbors.
    pub(in crate::topology::graph) const fn is_device(&self) -> bool {
        matches!(self.kind, NodeKind::Host | NodeKind::Stub)
    }

    /// Creates a node on the outermost level, without extent.
    pub(in crate::topology::graph) const fn new(
        id: NodeId,
        kind: NodeKind,
        label: String,
        label_kind: TextKind,
    ) -> Self {
        Self {
            id,
            kind,
            entity_id: None,
            parent_id: None,
            label,
            detail: None,
            label_kind,
            addresses: AddressScope::Unknown,
            role: HostRole::Unknown,
            role_reason: None,
            x: 0.0,
            y: 0.0,
            width: 0.0,
            height: 0.0,
            pinned: false,
            collapsed: 0,
            folded: Vec::new(),
            parts: Vec::new(),
            devices: Vec::new(),
            stale: false,
            state: LinkState::Unknown,
            location: None,
            vendor: None,
            model: None,
            implied: false,
            vlan: None,
            change: None,
            moved_from: None,
        }
    }
}
