//! The paths on which a device is reached.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::index::{PathIndex, PathStep};
use super::search::{Found, LinkRoute, Passage, shortest};
use super::{UnknownIdError, UnknownReason};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, HostRole, LinkId, NodeId, SubnetId};
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
    /// The links on a shorter path that carry nothing, with the reasons.
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
}

/// A link that carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnusedLink {
    /// The link's id.
    pub link_id: LinkId,
    /// The reason.
    pub reason: Obstacle,
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

/// A path of which each step has its subnet.
struct Leg {
    route: LinkRoute,
    net: Option<u32>,
    vlan: Option<u16>,
}

/// An answer under construction.
#[derive(Default)]
struct Draft {
    paths: Vec<Vec<Leg>>,
    unknown: Vec<UnknownReason>,
    has_more: bool,
}

impl PathIndex {
    /// Returns the shortest paths between two nodes.
    ///
    /// Only working links that the spanning tree does not block are used, and of end devices only the sender and the receiver.
    /// In one subnet, frames go directly; into another one, packets go through the routers that have addresses in both.
    /// Where the subnets are not known, the answer is the physical path, and not complete. `link` returns the links of the network
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
            Draft { paths: vec![Vec::new()], ..Draft::default() }
        } else {
            self.draft(ends, query.vlan, count)
        };
        let not_used = self.not_used(ends, query.vlan, &draft);
        draft.unknown.sort_unstable();
        draft.unknown.dedup();
        let paths = draft.paths.iter().map(|legs| self.described(ends[0], legs, &link));
        Ok(Paths {
            complete: draft.unknown.is_empty(),
            paths: paths.collect(),
            unknown: draft.unknown,
            more: draft.has_more,
            not_used,
        })
    }

    fn draft(&self, ends: [u32; 2], vlan: Option<u16>, count: usize) -> Draft {
        let nets = ends.map(|end| self.nets_of(end));
        let shared = nets[0].iter().copied().find(|net| nets[1].binary_search(net).is_ok());
        let is_known = nets.iter().all(|nets| !nets.is_empty());
        if vlan.is_some() || shared.is_some() || !is_known {
            let mut draft = Draft::default();
            draft.add_direct(self, ends, shared, vlan, count);
            if shared.is_none() {
                draft.unknown.push(UnknownReason::Routing);
            }
            return draft;
        }
        let mut draft = self.routed(ends, &nets, count);
        if draft.paths.is_empty() {
            draft.add_direct(self, ends, None, None, count);
            draft.unknown.push(UnknownReason::Routing);
        }
        draft
    }

    /// Returns the paths through routers that have addresses in the subnets of both ends.
    fn routed(&self, ends: [u32; 2], nets: &[Vec<u32>; 2], count: usize) -> Draft {
        let mut draft = Draft::default();
        let gateways = self.gateways(ends, nets, count + 1);
        let is_router = |(node, _): &(u32, [u32; 2])| {
            matches!(self.node(*node).role, HostRole::Router | HostRole::Firewall | HostRole::Switch)
        };
        if gateways.len() != 1 || !gateways.iter().all(is_router) {
            // Only routes tell which of several routers hosts use, and which router leads to another one.
            draft.unknown.push(UnknownReason::Routing);
        }
        draft.has_more = gateways.len() > count;
        for (router, [own, other]) in gateways.into_iter().take(count) {
            let legs = [([ends[0], router], own), ([router, ends[1]], other)];
            let found = legs.map(|(ends, net)| {
                let mut leg = Draft::default();
                leg.add_direct(self, ends, Some(net), None, 1);
                draft.unknown.append(&mut leg.unknown);
                leg.paths.pop().and_then(|mut legs| legs.pop())
            });
            if let [Some(one), Some(other)] = found {
                draft.paths.push(vec![one, other]);
            }
        }
        draft.paths.sort_by_key(|legs| legs.iter().map(|leg| leg.route.len()).sum::<usize>());
        draft
    }

    /// Returns nodes with addresses in subnets of both ends, each with these two subnets.
    fn gateways(&self, ends: [u32; 2], nets: &[Vec<u32>; 2], limit: usize) -> Vec<(u32, [u32; 2])> {
        let mut others: BTreeMap<u32, u32> = BTreeMap::new();
        for net in &nets[1] {
            yield_turn();
            for node in self.members_of(*net) {
                others.entry(node).or_insert(*net);
            }
        }
        let mut gateways: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        for net in &nets[0] {
            yield_turn();
            for node in self.members_of(*net) {
                if gateways.len() == limit {
                    return gateways.into_iter().collect();
                }
                let is_gateway = !ends.contains(&node) && self.node(node).is_transit();
                if let Some(other) = others.get(&node).filter(|_| is_gateway) {
                    gateways.entry(node).or_insert([*net, *other]);
                }
            }
        }
        gateways.into_iter().collect()
    }

    /// Returns the links on a path that would be shorter than all others, if all links carried everything.
    fn not_used(&self, ends: [u32; 2], vlan: Option<u16>, draft: &Draft) -> Vec<UnusedLink> {
        let length = |legs: &Vec<Leg>| legs.iter().map(|leg| leg.route.len()).sum::<usize>();
        let least = draft.paths.iter().map(length).min();
        if ends[0] == ends[1] || draft.paths.iter().any(|legs| legs.len() > 1) {
            return Vec::new();
        }
        let found = shortest(self, ends, Passage { vlan, is_relaxed: true }, 1);
        let shorter = found.routes.into_iter().filter(|route| least.is_none_or(|least| route.len() < least));
        shorter
            .flatten()
            .filter_map(|step| {
                let reason = self.obstacle(step.link, vlan)?;
                Some(UnusedLink { link_id: self.link(step.link).id, reason })
            })
            .collect()
    }

    /// Returns the VLAN that all working links of a node carry without a tag; `None` if they differ or it is not known.
    fn access_vlan(&self, node: u32) -> Option<u16> {
        let mut vlans = self.steps(node).iter().filter_map(|step| {
            let link = self.link(step.link);
            link.is_working().then_some(link.untagged_vlan)
        });
        let first = vlans.next()??;
        vlans.all(|vlan| vlan == Some(first)).then_some(first)
    }

    fn described<'l>(
        &self,
        source: u32,
        legs: &[Leg],
        link: &impl Fn(LinkId) -> Option<&'l Link>,
    ) -> NetworkPath {
        let mut hops = vec![self.hop(source)];
        for (place, leg) in legs.iter().enumerate() {
            if let Some(router) = hops.last_mut().filter(|_| place > 0) {
                router.layer = PathLayer::L3;
                let before = legs.get(place.wrapping_sub(1)).and_then(|leg| leg.net);
                router.gateway = self.address_in(router, before);
            }
            for step in &leg.route {
                let found = self.link(step.link);
                let full = link(found.id);
                let [near, far] = full.map(|link| self.ports(link, step.node)).unwrap_or_default();
                if let Some(hop) = hops.last_mut() {
                    hop.out_port = near;
                    hop.link_id = Some(found.id);
                    hop.vlan = leg.vlan.or_else(|| full.and_then(only_vlan));
                    hop.subnet_id = leg.net.and_then(|net| self.nets[net as usize].1);
                    hop.confidence = Some(found.confidence);
                    hop.evidence = full.map(|link| link.evidence.clone()).unwrap_or_default();
                }
                hops.push(PathHop { in_port: far, ..self.hop(step.node) });
            }
        }
        NetworkPath { length: hops.len().saturating_sub(1), hops }
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
        }
    }

    fn address_in(&self, hop: &PathHop, net: Option<u32>) -> Option<IpAddr> {
        let node = self.number(hop.host_id?.into())?;
        let address = self.addresses_of(node).iter().find(|address| net.is_some() && address.net == net);
        address.map(|address| address.ip)
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

impl Draft {
    /// Adds the paths of frames between two nodes.
    fn add_direct(
        &mut self,
        index: &PathIndex,
        ends: [u32; 2],
        net: Option<u32>,
        vlan: Option<u16>,
        count: usize,
    ) {
        let access = ends.map(|end| index.access_vlan(end));
        let likely = access[0].filter(|vlan| net.is_some() && access[1] == Some(*vlan));
        let find = |vlan| shortest(index, ends, Passage { vlan, is_relaxed: false }, count);
        let mut vlan = vlan.or(likely);
        let mut found = find(vlan);
        if found.routes.is_empty() && likely.is_some() && vlan == likely {
            // The ends are in one VLAN, but no links are known to carry it.
            self.unknown.push(UnknownReason::Vlan);
            (found, vlan) = (find(None), None);
        }
        let is_unsure = |step: &PathStep| !index.link(step.link).has_known_vlans();
        if vlan.is_some() && found.routes.iter().flatten().any(is_unsure) {
            self.unknown.push(UnknownReason::Vlan);
        }
        self.add_found(index, found, count, |route| Leg { route, net, vlan });
    }

    fn add_found(&mut self, index: &PathIndex, found: Found, count: usize, leg: impl Fn(LinkRoute) -> Leg) {
        if found.routes.is_empty() && !found.is_cut {
            self.unknown.push(UnknownReason::Links);
        }
        if found.is_cut && found.routes.len() < count {
            self.unknown.push(UnknownReason::WorkLimit);
        }
        let is_open = |step: &PathStep| index.link(step.link).blocked.is_none();
        let is_ambiguous = found.routes.len() > 1 || found.has_more;
        if is_ambiguous && found.routes.iter().flatten().any(is_open) {
            self.unknown.push(UnknownReason::SpanningTree);
        }
        self.has_more |= found.has_more || found.is_cut;
        self.paths.extend(found.routes.into_iter().map(|route| vec![leg(route)]));
    }
}

/// Returns the VLAN of a link that carries no other one. The native VLAN of a trunk is not that of the packets on it.
fn only_vlan(link: &Link) -> Option<u16> {
    match link.vlans.as_deref() {
        Some([range]) if range.first == range.last => Some(range.first),
        _ => None,
    }
}
