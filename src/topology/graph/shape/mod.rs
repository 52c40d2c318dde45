//! The graph as clients receive it.

mod change;
mod edge;
mod node;

use serde::{Deserialize, Serialize};

pub use self::change::{ChangeCounts, GraphChange, GraphChangeError, GraphComparison};
pub use self::edge::{Edge, EdgeKind, FormerEnd};
pub(in crate::topology) use self::node::FoldedDevice;
pub(super) use self::node::TextKind;
pub use self::node::{FoldedPart, Node, NodeKind, RoleCount};
use super::Detail;
use crate::model::{HostId, HostRole, NetworkId, Timestamp, TopologyView};

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
