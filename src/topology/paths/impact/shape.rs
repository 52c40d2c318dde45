//! The question about failures, and its answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::super::{DEFAULT_LIMIT, UnknownReason};
use crate::model::{HostId, HostRole, LinkId, NodeId, SubnetId};

/// A question about nodes and links that fail at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ImpactQuery {
    /// The nodes that fail.
    pub nodes: BTreeSet<NodeId>,
    /// The links that fail.
    pub edges: BTreeSet<LinkId>,
    /// The locations of which all devices fail.
    pub locations: BTreeSet<String>,
    /// The nodes from which others are cut off; empty: the top of the network.
    pub from: BTreeSet<NodeId>,
    /// Maximum number of items of each list.
    pub limit: usize,
}

impl ImpactQuery {
    /// Creates a query in which nothing fails.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            nodes: BTreeSet::new(),
            edges: BTreeSet::new(),
            locations: BTreeSet::new(),
            from: BTreeSet::new(),
            limit: DEFAULT_LIMIT,
        }
    }
}

impl Default for ImpactQuery {
    fn default() -> Self {
        Self::new()
    }
}

/// The consequences of a failure. Nodes that fail, and nodes without a path before, are in no list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Impact {
    /// Whether nothing is missing that may matter.
    pub complete: bool,
    /// The reasons for which it is not complete.
    pub unknown: Vec<UnknownReason>,
    /// The devices that are cut off, by id.
    pub cut_off: Vec<AffectedHost>,
    /// The number of devices that are cut off.
    pub cut_off_total: usize,
    /// The devices that lose redundancy, by id: they need a single link that they did not need before, and that is nearer to them than
    /// those that they needed.
    pub at_risk: Vec<AffectedHost>,
    /// The number of devices that lose redundancy.
    pub at_risk_total: usize,
    /// The number of devices that are cut off, by role.
    pub by_role: BTreeMap<String, usize>,
    /// The number of hosts that are cut off in each subnet, by id.
    pub by_subnet: Vec<SubnetCount>,
    /// The links that take over, by id: shortest paths lead over them, and did not before.
    pub carried_by: Vec<LinkId>,
    /// The number of links that take over.
    pub carried_by_total: usize,
}

/// A device that a failure affects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AffectedHost {
    /// The host's id; `None` for a device that is no host.
    pub host_id: Option<HostId>,
    /// The id of a device that is no host; absent for hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The name to show.
    pub name: String,
    /// The role.
    pub role: HostRole,
    /// The number of working links to reachable nodes; absent for a device that is cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_links: Option<usize>,
}

/// The number of hosts in a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SubnetCount {
    /// The subnet's id.
    pub subnet_id: SubnetId,
    /// The number of hosts.
    pub count: usize,
}
