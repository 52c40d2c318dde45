//! The paths on which a device is reached.

mod shape;

pub(crate) use self::shape::{DEFAULT_PATHS, MAX_PATHS};
pub use self::shape::{NetworkPath, Obstacle, PathHop, PathLayer, PathQuery, Paths, UnusedLink};
use super::UnknownIdError;
use super::index::PathIndex;
use super::legs::{Draft, Leg, PathDraft};
use super::search::{Passage, shortest};
use crate::model::{LinkId, NodeId};
use crate::topology::graph::NodeKind;
use crate::topology::links::{End, Link, PortRef};

impl PathIndex {
    /// Returns the shortest paths between two nodes.
    ///
    /// Only working links that the spanning tree does not block are used, and of end devices only the sender and the receiver.
    /// Routers forward no frames, unless they have the tables of a bridge or announce to be one.
    /// In one subnet, frames go directly, unless the sender's table has another route. Into another one, packets follow the routing
    /// tables by the longest prefix. A sender without a table uses the default router that hosts of its subnet name, or else the router
    /// with addresses in the subnets of both ends.
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
        let mut draft = if ends[0] == ends[1] {
            Draft { paths: vec![PathDraft::default()], ..Draft::default() }
        } else {
            Draft::of(self, ends, query)
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
