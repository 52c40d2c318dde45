//! Devices and links that must not fail.

use serde::{Deserialize, Serialize};

use super::index::{PathIndex, PathLink};
use super::pairs::{FoundPairs, FragilePair};
use super::{DEFAULT_LIMIT, UnknownReason};
use crate::model::{HostId, LinkId, NodeId};
use crate::topology::graph::NodeKind;

/// A question about devices and links that must not fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FragileQuery {
    /// Whether to list links that are the only one of a device.
    pub leaves: bool,
    /// Whether to list pairs of devices whose joint loss cuts off others.
    pub pairs: bool,
    /// Maximum number of items of each list.
    pub limit: usize,
}

impl FragileQuery {
    /// Creates a query for everything but the links of leaves and pairs.
    #[must_use]
    pub const fn new() -> Self {
        Self { leaves: false, pairs: false, limit: DEFAULT_LIMIT }
    }
}

impl Default for FragileQuery {
    fn default() -> Self {
        Self::new()
    }
}

/// The devices and links of a network that must not fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Fragile {
    /// Whether nothing is missing that may matter.
    pub complete: bool,
    /// The reasons for which it is not complete.
    pub unknown: Vec<UnknownReason>,
    /// The articulation points: without one of them, its part of the network falls apart. Points with more devices behind them
    /// come first.
    pub nodes: Vec<FragileNode>,
    /// The number of articulation points.
    pub nodes_total: usize,
    /// The bridges: links that no others can replace. Bridges with more devices behind them come first.
    pub edges: Vec<FragileEdge>,
    /// The number of bridges, without those of leaves unless these are asked for.
    pub edges_total: usize,
    /// The pairs of devices whose joint loss cuts off others; absent unless they are asked for. Pairs with more devices behind them
    /// come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Vec<FragilePair>>,
    /// The number of such pairs; absent unless they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_total: Option<usize>,
    /// The links that only one end confirms, by id.
    pub one_sided: Vec<LinkSummary>,
    /// The number of links that only one end confirms.
    pub one_sided_total: usize,
    /// The aggregation groups of which at most one member is up, by id.
    pub degraded_lags: Vec<LinkSummary>,
    /// The number of aggregation groups of which at most one member is up.
    pub degraded_lags_total: usize,
}

/// A node without which its part of the network falls apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FragileNode {
    /// The host's id; `None` for a node that is no host.
    pub host_id: Option<HostId>,
    /// The id of a node that is no host; absent for hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The name to show.
    pub name: String,
    /// The number of devices that lose the top of the network. Of the only node at the top: all outside of the largest part
    /// that remains, if that is more than a device without links.
    pub behind: usize,
}

/// A link that no others can replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FragileEdge {
    /// The link's id.
    pub link_id: LinkId,
    /// The id of the node at one end.
    pub source: NodeId,
    /// The id of the node at the other end.
    pub target: NodeId,
    /// The number of devices that lose the top of the network.
    pub behind: usize,
}

/// A link and its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LinkSummary {
    /// The link's id.
    pub link_id: LinkId,
    /// The id of the node at one end.
    pub source: NodeId,
    /// The id of the node at the other end.
    pub target: NodeId,
}

impl PathIndex {
    /// Returns the devices and links that must not fail.
    #[must_use]
    pub fn fragile(&self, query: &FragileQuery) -> Fragile {
        let found = query.pairs.then(|| self.pairs());
        let mut unknown: Vec<UnknownReason> = self.unknown_links().into_iter().collect();
        unknown.extend(found.filter(|found| found.is_cut).map(|_| UnknownReason::WorkLimit));
        let described =
            |found: &FoundPairs| found.pairs.iter().take(query.limit).map(|pair| self.pair(pair)).collect();
        let (nodes, nodes_total) = self.fragile_nodes(query.limit);
        let (edges, edges_total) = self.fragile_edges(query);
        let is_listed = [|link: &PathLink| link.is_one_sided, |link: &PathLink| link.is_degraded_lag];
        let [(one_sided, one_sided_total), (degraded_lags, degraded_lags_total)] =
            self.listed(query.limit, is_listed);
        Fragile {
            complete: unknown.is_empty(),
            unknown,
            pairs: found.map(described),
            pairs_total: found.map(|found| found.pairs.len()),
            nodes,
            nodes_total,
            edges,
            edges_total,
            one_sided,
            one_sided_total,
            degraded_lags,
            degraded_lags_total,
        }
    }

    /// Returns the reason for which answers lack hosts, if some have no known link.
    pub(super) fn unknown_links(&self) -> Option<UnknownReason> {
        let is_unlinked = |node: u32| self.steps(node).is_empty() && self.node(node).kind == NodeKind::Host;
        (0..).take(self.nodes.len()).any(is_unlinked).then_some(UnknownReason::Links)
    }

    fn fragile_nodes(&self, limit: usize) -> (Vec<FragileNode>, usize) {
        let cuts = &self.cuts().nodes;
        let described = cuts.iter().take(limit).map(|(number, behind)| {
            let node = self.node(*number);
            FragileNode {
                host_id: node.host_id(),
                node_id: (node.kind != NodeKind::Host).then_some(node.id),
                name: node.name.to_string(),
                behind: *behind as usize,
            }
        });
        (described.collect(), cuts.len())
    }

    fn fragile_edges(&self, query: &FragileQuery) -> (Vec<FragileEdge>, usize) {
        let bridges = || self.cuts().bridges.iter().filter(|bridge| query.leaves || !bridge.is_of_leaf);
        let described = bridges().take(query.limit).map(|bridge| {
            let LinkSummary { link_id, source, target } = self.summary(self.link(bridge.link));
            FragileEdge { link_id, source, target, behind: bridge.behind as usize }
        });
        (described.collect(), bridges().count())
    }

    /// Returns several lists of links and their numbers in one pass over all links.
    fn listed<const N: usize>(
        &self,
        limit: usize,
        is_listed: [fn(&PathLink) -> bool; N],
    ) -> [(Vec<LinkSummary>, usize); N] {
        let mut lists = [const { (Vec::new(), 0) }; N];
        for link in self.links.iter().filter(|link| !link.is_stale) {
            for ((list, total), is_listed) in lists.iter_mut().zip(is_listed) {
                if is_listed(link) {
                    *total += 1;
                    if list.len() < limit {
                        list.push(self.summary(link));
                    }
                }
            }
        }
        lists
    }

    fn summary(&self, link: &PathLink) -> LinkSummary {
        LinkSummary { link_id: link.id, source: self.node(link.source).id, target: self.node(link.target).id }
    }
}
