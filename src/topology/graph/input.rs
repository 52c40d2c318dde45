use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::HostSummary;
use crate::discovery::report::Capability;
use crate::model::{HostId, HostRole, NetworkId, NodeId, Subnet, TagId, Timestamp, TopologyView};
use crate::text_enum::{listed, text_enum};
use crate::topology::links::{
    Confidence, CrowdedPort, Link, LinkWarning, RoutingTable, Segment, Stub, VirtualRouter,
};

/// Options that select what a graph shows of a network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GraphOptions {
    /// The view.
    pub view: TopologyView,
    /// The node around which the graph is drawn; `None`: the whole network.
    pub focus: Option<NodeId>,
    /// The distance from the focus, in nodes, up to which nodes are drawn.
    pub depth: u32,
    /// Shows only hosts with at least one of these tags, and what connects them. Empty: all hosts.
    pub tag_ids: BTreeSet<TagId>,
    /// Shows only hosts and devices with one of these roles, and what connects them. Empty: all roles.
    pub roles: BTreeSet<HostRole>,
    /// Shows only links that are known to carry this VLAN, and what they connect; `None`: all links.
    pub vlan: Option<u16>,
    /// The property that containers of the view `l2` stand for; `None`: it has no containers.
    pub group_by: Option<GroupBy>,
    /// Whether the graph shows devices or the parts of the network; `None`: devices, and on a page what can be read on it.
    pub detail: Option<Detail>,
    /// Whether end devices are drawn as one node for each device, until the names of the others can be read on A3.
    pub collapse: bool,
    /// Groups, or the nodes whose end devices they hold, and parts of the network that are drawn in full.
    pub expand: BTreeSet<NodeId>,
    /// The least certain links to show. Conflicting links are always shown.
    pub min_confidence: Confidence,
    /// Whether hosts are drawn that recent scans do not show any more.
    pub show_stale: bool,
}

impl GraphOptions {
    pub(crate) const DEPTH: u32 = 1;
    pub(crate) const COLLAPSE: bool = true;
    pub(crate) const SHOW_STALE: bool = true;

    /// Creates options that show the whole network, with end devices folded as far as needed.
    #[must_use]
    pub const fn new(view: TopologyView) -> Self {
        Self {
            view,
            focus: None,
            depth: Self::DEPTH,
            tag_ids: BTreeSet::new(),
            roles: BTreeSet::new(),
            vlan: None,
            group_by: None,
            detail: None,
            collapse: Self::COLLAPSE,
            expand: BTreeSet::new(),
            min_confidence: Confidence::Inferred,
            show_stale: Self::SHOW_STALE,
        }
    }

    /// Returns what the containers of the picture stand for, if the view has containers.
    pub(in crate::topology) fn grouping(&self) -> Option<GroupBy> {
        self.group_by.filter(|_| self.view == TopologyView::L2)
    }
}

text_enum! {
    /// Whether a graph shows devices or the parts of the network.
    #[derive(Default, PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum Detail {
        /// The devices.
        #[default]
        Devices = "devices",
        /// One node for each location or block of devices, with the links between them.
        Overview = "overview",
    }

    /// The error for text that names no detail.
    #[error("not one of {}", listed(Detail::TEXTS))]
    pub struct DetailError;
}

text_enum! {
    /// The property that the devices in a container of a graph share.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum GroupBy {
        /// The location that they report.
        Location = "location",
        /// The subnet of their first address in a subnet.
        Subnet = "subnet",
        /// A tag; of several, the first by name.
        Tag = "tag",
    }

    /// The error for text that names no such property.
    #[error("not one of {}", listed(GroupBy::TEXTS))]
    pub struct GroupByError;
}

/// Which groups of end devices one node stands for.
#[derive(Clone, Debug)]
pub(in crate::topology) enum Folding {
    /// The largest ones, until the names of the others can be read on A3.
    AsNeeded,
    /// The groups of an earlier picture with these nodes, and new groups that are as large.
    #[cfg(feature = "service")]
    AsBefore(BTreeSet<NodeId>),
    /// All of them.
    #[cfg(feature = "service")]
    All,
}

/// A network, and what to show of it. The order of the lists does not matter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GraphInput<'a> {
    /// The network.
    pub network_id: NetworkId,
    /// The network's hosts.
    pub hosts: Vec<&'a HostSummary>,
    /// The network's subnets.
    pub subnets: Vec<&'a Subnet>,
    /// The links.
    pub links: Vec<&'a Link>,
    /// The devices that links name and that are not hosts.
    pub stubs: Vec<&'a Stub>,
    /// The segments that links lead to.
    pub segments: Vec<&'a Segment>,
    /// Reasons for which links are uncertain.
    pub warnings: Vec<LinkWarning>,
    /// The ports behind which several devices were learned, but no switch is known.
    pub crowded_ports: Vec<CrowdedPort>,
    /// The capabilities that neighbors announce of hosts, by host.
    pub capabilities: BTreeMap<HostId, Vec<Capability>>,
    /// The hosts with a forwarding database or a spanning tree.
    pub bridges: BTreeSet<HostId>,
    /// The routing tables of hosts, by host.
    pub routes: BTreeMap<HostId, Arc<RoutingTable>>,
    /// The addresses that several routers share.
    pub virtual_routers: Vec<VirtualRouter>,
    /// The descriptions that neighbors give of hosts, by host.
    pub descriptions: BTreeMap<HostId, String>,
    /// The names of tags. Only containers for tags need them.
    pub tag_names: BTreeMap<TagId, String>,
    /// The options that select what to show.
    pub options: &'a GraphOptions,
    /// Which groups of end devices are folded, if the options fold some.
    pub(in crate::topology) folding: Folding,
    /// A value that changes whenever the network changes.
    pub revision: &'a str,
    /// When a report of the network was made last; `None`: there was none.
    pub observed_at: Option<Timestamp>,
    /// Hosts that were seen last before this time are stale; `None`: no host is.
    pub stale_before: Option<Timestamp>,
}

impl<'a> GraphInput<'a> {
    /// Creates the input for a network without hosts.
    #[must_use]
    pub const fn new(network_id: NetworkId, options: &'a GraphOptions) -> Self {
        Self {
            network_id,
            hosts: Vec::new(),
            subnets: Vec::new(),
            links: Vec::new(),
            stubs: Vec::new(),
            segments: Vec::new(),
            warnings: Vec::new(),
            crowded_ports: Vec::new(),
            capabilities: BTreeMap::new(),
            bridges: BTreeSet::new(),
            routes: BTreeMap::new(),
            virtual_routers: Vec::new(),
            descriptions: BTreeMap::new(),
            tag_names: BTreeMap::new(),
            options,
            folding: Folding::AsNeeded,
            revision: "",
            observed_at: None,
            stale_before: None,
        }
    }
}
