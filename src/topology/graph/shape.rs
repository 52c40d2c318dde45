//! The graph as clients receive it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Detail, RoleReason};
use crate::model::{HostId, HostRole, LinkId, NetworkId, NodeId, Timestamp, TopologyView};
use crate::text_enum::{listed, text_enum};
use crate::topology::layout::AddressScope;
use crate::topology::links::{Confidence, Evidence, LinkMember, LinkState, PortRef, VlanRange};

/// A network as one view shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Graph {
    /// The network; absent in a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_id: Option<NetworkId>,
    /// The view.
    pub view: TopologyView,
    /// Whether the nodes are devices or the parts of the network.
    #[serde(default)]
    pub detail: Detail,
    /// Changes whenever the graph changes.
    pub revision: String,
    /// The time of the latest report that describes a host of the network; `None`: none does. The view need not show that host.
    #[serde(default)]
    pub observed_at: Option<Timestamp>,
    /// The time of the state, if it is a past one. Absent for the present state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The earlier state that the graph is compared with, and how much differs. Absent without a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<GraphComparison>,
    /// The rectangle around all nodes and edges; zero without a layout.
    pub bounds: Bounds,
    /// The nodes, containers before what they contain.
    pub nodes: Vec<Node>,
    /// The edges, by id.
    pub edges: Vec<Edge>,
    /// The numbers of nodes that the graph leaves out.
    pub hidden: Hidden,
    /// Warnings for readers of the graph.
    pub warnings: Vec<Warning>,
    /// The hosts that the view has no place for, by subnet and name; at most 1,000. A warning counts them. Absent in a share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unplaced: Vec<UnplacedHost>,
}

impl Graph {
    /// Creates a graph without positions, of which only nodes and edges are known.
    pub(super) const fn new(view: TopologyView, nodes: Vec<Node>, edges: Vec<Edge>) -> Self {
        Self {
            network_id: None,
            view,
            detail: Detail::Devices,
            revision: String::new(),
            observed_at: None,
            at: None,
            comparison: None,
            bounds: Bounds { x: 0.0, y: 0.0, width: 0.0, height: 0.0 },
            nodes,
            edges,
            hidden: Hidden { leaves: 0, stale: 0 },
            warnings: Vec::new(),
            unplaced: Vec::new(),
        }
    }
}

text_enum! {
    /// The change of a part of a graph since an earlier state.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum GraphChange {
        /// It was not there.
        Added = "added",
        /// It is no longer there, and is drawn as it was.
        Removed = "removed",
        /// It was elsewhere: an edge at another end, or a node in another container.
        Moved = "moved",
    }

    /// The error for text that names no such change.
    #[error("not one of {}", listed(GraphChange::TEXTS))]
    pub struct GraphChangeError;
}

/// An earlier state that a graph is compared with, and how much differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GraphComparison {
    /// The time of the earlier state; absent if it precedes all changes that the caller may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Timestamp>,
    /// The numbers of devices and containers that differ.
    pub nodes: ChangeCounts,
    /// The numbers of links that differ.
    pub edges: ChangeCounts,
}

impl GraphComparison {
    /// Sets the time of the earlier state.
    #[must_use]
    pub const fn with(mut self, time: Timestamp) -> Self {
        self.with = Some(time);
        self
    }
}

/// The numbers of parts of a graph by what has become of them. Each one that another one stands for counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChangeCounts {
    /// The number of those that were not there.
    pub added: usize,
    /// The number of those that are no longer there.
    pub removed: usize,
    /// The number of those that were elsewhere.
    pub moved: usize,
}

impl ChangeCounts {
    pub(super) fn of(changes: impl Iterator<Item = GraphChange>) -> Self {
        let mut counts = Self::default();
        for change in changes {
            let count = match change {
                GraphChange::Added => &mut counts.added,
                GraphChange::Removed => &mut counts.removed,
                GraphChange::Moved => &mut counts.moved,
            };
            *count = count.saturating_add(1);
        }
        counts
    }
}

/// A host that a view has no place for, such as one without a known link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnplacedHost {
    /// The host's id.
    pub host_id: HostId,
    /// The name to show.
    pub label: String,
    /// The address; absent if the label shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The role.
    pub role: HostRole,
    /// The name of a subnet that the host is in; `None` when unknown.
    pub subnet: Option<String>,
}

/// A rectangle, in pixels; `x` and `y` are its upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Bounds {
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

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
    pub(super) label_kind: TextKind,
    /// The side of the network that the node is on, as far as its addresses show it.
    #[serde(skip)]
    pub(super) addresses: AddressScope,
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
pub(super) enum TextKind {
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
    pub(super) const fn is_device(&self) -> bool {
        matches!(self.kind, NodeKind::Host | NodeKind::Stub)
    }

    /// Creates a node on the outermost level, without extent.
    pub(super) const fn new(id: NodeId, kind: NodeKind, label: String, label_kind: TextKind) -> Self {
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
    /// In a comparison, the time at which a removed link has gone; `None` when unknown.
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
    pub(super) const fn new(id: LinkId, kind: EdgeKind, source: NodeId, target: NodeId) -> Self {
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

/// The numbers of nodes that a graph leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Hidden {
    /// The number of nodes that others stand for.
    pub leaves: usize,
    /// The number of stale hosts that are left out.
    pub stale: usize,
}

/// A warning for readers of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Warning {
    /// A stable code.
    ///
    /// | Code | Parameters |
    /// |---|---|
    /// | `hosts_without_links`, `hosts_without_subnet`, `hosts_without_workloads`, `empty_subnets` | `count` |
    /// | `hosts_without_address`, `hosts_without_shown_links` | `count` |
    /// | `no_links` | `count` of the hosts that `view` shows; absent in a share |
    /// | `focus_not_found` | `id` |
    /// | `duplicate_chassis_id` | `chassis_id`, `count` of the hosts that have it, and `host_id` of one |
    /// | `ambiguous_neighbor` | `names` that `host_id` gives it, and `if_entry_id` of the port if known |
    /// | `neighbor_behind_tunnel` | `names` of the neighbor to which no cable leads, `host_id`, and `if_entry_id` of the tunnel |
    /// | `truncated_table` | `host_id`, and `table`, which may lack rows |
    /// | `port_index_mismatch` | `host_id` and `neighbor_id`, whose ports are drawn as the other end names them |
    /// | `guests_not_nested` | `count` of the guests nested deeper than the limit; an edge leads to each hypervisor |
    /// | `added_hosts_not_drawn`, `removed_hosts_not_drawn` | `count` of those that the view has no place for, compared with an earlier state |
    /// | `tables_not_in_history` | `count` of the tables of devices, such as forwarding tables, that a past state is without |
    /// | `folded_to_fit` | `count` of the nodes by which leaves were folded: a graph has at most 50,000 |
    /// | `nodes_left_out`, `edges_left_out` | `count` of those beyond 50,000 nodes and 100,000 edges |
    /// | `too_many_bridges` | `count` of the bridges behind a port of `host_id`, not all of which were compared, and `if_entry_id` of the port if known |
    /// | `more_warnings` | `count` of the warnings beyond 20 with one code |
    pub code: String,
    /// Names and values that belong to the code.
    pub params: std::collections::BTreeMap<String, String>,
}
