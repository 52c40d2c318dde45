//! The paths on which a device is reached.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::index::PathIndex;
use super::legs::{Draft, Leg, PathDraft};
use super::routing::DeadEnd;
use super::search::{Passage, shortest};
use super::{UnknownIdError, UnknownReason};
use crate::model::{HostId, LinkId, NodeId, SubnetId};
use crate::text_enum::text_enum;
use crate::topology::graph::NodeKind;
use crate::topology::links::{Confidence, End, Evidence, Link, PortRef};

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
    /// The VLAN of the frames; `None`: any. With a VLAN, nothing is routed.
    pub vlan: Option<u16>,
    /// Maximum number of paths, at most 16.
    pub k: usize,
}

impl PathQuery {
    /// Creates a query for up to four paths.
    #[must_use]
    pub const fn new(from: NodeId, to: NodeId) -> Self {
        Self { from, to, vlan: None, k: DEFAULT_PATHS }
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
    fn unknown(end: DeadEnd) -> Self {
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
    const fn route_for(&mut self, before: &Leg) {
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

impl PathIndex {
    /// Returns the shortest paths between two nodes.
    ///
    /// Only working links that the spanning tree does not block are used, and of end devices only the sender and the receiver.
    /// Routers forward no frames, unless they have the tables of a bridge or announce to be one.
    /// In one subnet, frames go directly. Into another one, packets follow the routing tables by the longest prefix. A sender without a
    /// table uses the default router that hosts of its subnet name, or else the router with addresses in the subnets of both ends.
    /// Where a path is not known any further, its last hop has the reason. Where the subnets are not known, the answer is the
    /// physical path, and not complete. `link` returns the links of the network
    /// by id.
    ///
    /// # Errors
    /// Returns an error for an id that no node of the network has.
    pub fn paths<'l>(
        &self,
        query: &PathQuery,
        link: impl Fn(LinkId) -> Option<&'l Link>,
    ) -> Result<Paths, UnknownIdError> {
        let number = |id: NodeId| self.number(id).ok_or(UnknownIdError { id: id.uuid() });
        let ends = [number(query.from)?, number(query.to)?];
        let count = query.k.clamp(1, MAX_PATHS);
        let mut draft = if ends[0] == ends[1] {
            Draft { paths: vec![PathDraft::default()], ..Draft::default() }
        } else {
            Draft::of(self, ends, query.vlan, count)
        };
        let not_used = self.not_used(ends, &draft);
        draft.unknown.sort_unstable();
        draft.unknown.dedup();
        let paths = draft.paths.iter().map(|path| self.described(ends[0], path, &link));
        Ok(Paths {
            complete: draft.unknown.is_empty(),
            paths: paths.collect(),
            unknown: draft.unknown,
            more: draft.has_more,
            not_used,
        })
    }

    /// Returns the links on a path that would be shorter than all others, if all links carried everything. If no links are known to
    /// carry the VLAN of the access ports, these are the links that lack it.
    fn not_used(&self, ends: [u32; 2], draft: &Draft) -> Vec<UnusedLink> {
        let vlan = draft.decisive_vlan;
        let has_vlan = |path: &PathDraft| path.legs.iter().all(|leg| leg.vlan == vlan);
        let least = draft.paths.iter().filter(|path| has_vlan(path)).map(PathDraft::length).min();
        let is_routed = |path: &PathDraft| path.legs.len() > 1 || path.end.is_some();
        if ends[0] == ends[1] || draft.paths.iter().any(is_routed) {
            return Vec::new();
        }
        let is_bridged =
            vlan.is_some() || draft.paths.iter().flat_map(|path| &path.legs).any(|leg| leg.net.is_some());
        let found = shortest(self, ends, Passage { vlan, is_relaxed: true, is_bridged }, 1);
        let shorter = found.routes.into_iter().filter(|route| least.is_none_or(|least| route.len() < least));
        shorter
            .flatten()
            .filter_map(|step| {
                let reason = self.obstacle(step.link, vlan)?;
                let vlan = vlan.filter(|_| reason == Obstacle::Vlan);
                let link = self.link(step.link);
                let [source, target] = [link.source, link.target].map(|end| self.node(end).id);
                Some(UnusedLink { link_id: link.id, source, target, reason, vlan })
            })
            .collect()
    }

    fn described<'l>(
        &self,
        source: u32,
        path: &PathDraft,
        link: &impl Fn(LinkId) -> Option<&'l Link>,
    ) -> NetworkPath {
        let mut hops = vec![self.hop(source)];
        let mut before: Option<&Leg> = None;
        for leg in &path.legs {
            if let (Some(before), Some(router)) = (before, hops.last_mut()) {
                router.route_for(before);
            }
            before = Some(leg);
            for step in &leg.route {
                let found = self.link(step.link);
                let full = link(found.id);
                let [near, far] = full.map(|link| self.ports(link, step.node)).unwrap_or_default();
                if let Some(hop) = hops.last_mut() {
                    hop.out_port = near;
                    hop.link_id = Some(found.id);
                    hop.vlan = leg.vlan.or_else(|| full.and_then(only_vlan));
                    hop.subnet_id = leg.net.and_then(|net| self.addresses.net(net).1);
                    hop.confidence = Some(found.confidence);
                    hop.evidence = full.map(|link| link.evidence.clone()).unwrap_or_default();
                }
                hops.push(PathHop { in_port: far, ..self.hop(step.node) });
            }
        }
        if let Some(end) = path.end {
            if let (Some(before), Some(router)) = (before, hops.last_mut()) {
                router.route_for(before);
            }
            hops.push(PathHop::unknown(end));
        }
        NetworkPath { length: path.length(), hops }
    }

    fn hop(&self, node: u32) -> PathHop {
        let node = self.node(node);
        PathHop {
            host_id: node.host_id(),
            node_id: (node.kind != NodeKind::Host).then_some(node.id),
            name: node.name.to_string(),
            in_port: None,
            out_port: None,
            link_id: None,
            vlan: None,
            subnet_id: None,
            layer: PathLayer::L2,
            gateway: None,
            confidence: None,
            evidence: Vec::new(),
            unknown: None,
        }
    }

    /// Returns the ports of a link, that of the end at a node last.
    fn ports(&self, link: &Link, far: u32) -> [Option<PortRef>; 2] {
        let port = |end: &End| match end {
            End::Host { port, .. } | End::Stub { port, .. } => port.clone(),
            End::Segment { .. } => None,
        };
        let ports = [port(&link.source), port(&link.target)];
        if link.target.node_id() == self.node(far).id {
            return ports;
        }
        let [source, target] = ports;
        [target, source]
    }
}

/// Returns the VLAN of a link that carries no other one. The native VLAN of a trunk is not that of the packets on it.
fn only_vlan(link: &Link) -> Option<u16> {
    match link.vlans.as_deref() {
        Some([range]) if range.first == range.last => Some(range.first),
        _ => None,
    }
}
