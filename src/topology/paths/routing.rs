//! The routers that packets pass: by routing tables, by virtual routers, and by the subnets of addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::index::PathIndex;
use super::{MAX_PATHS, UnknownReason};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, HostRole, MacAddress};
use crate::topology::links::{RouteTarget, VirtualRouter};

/// Maximum number of routers on a path.
const MAX_ROUTERS: usize = 64;

/// Maximum number of addresses of a receiver that are tried.
const MAX_ADDRESSES: usize = 8;

/// An address that several routers share.
#[derive(Debug)]
pub(super) struct SharedGateway {
    pub(super) ip: IpAddr,
    pub(super) mac_addresses: BTreeSet<MacAddress>,
    /// The routers, in order.
    pub(super) members: Vec<u32>,
    /// The router that uses the address, if only one is known to.
    pub(super) active: Option<u32>,
}

/// A part of a path between two nodes in one subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) to: u32,
    /// The number of the subnet; `None` when unknown.
    pub(super) net: Option<u32>,
    /// The address of the node as a gateway; `None` for the receiver, and when unknown.
    pub(super) gateway: Option<IpAddr>,
}

/// The place where a path is not known any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeadEnd {
    pub(super) reason: UnknownReason,
    /// The address of the next router, if it is known.
    pub(super) next_hop: Option<IpAddr>,
}

/// The routers of a path, from the sender.
#[derive(Clone, Debug, Default)]
pub(super) struct RoutedPath {
    pub(super) stages: Vec<Stage>,
    pub(super) end: Option<DeadEnd>,
}

/// The paths through routers.
#[derive(Debug, Default)]
pub(super) struct RoutedPaths {
    pub(super) paths: Vec<RoutedPath>,
    pub(super) has_more: bool,
    pub(super) doubts: RoutingDoubts,
}

/// The reasons for which packets may take another path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoutingDoubts {
    /// Whether it is not known which of several routers packets take.
    pub(super) is_unsure: bool,
    /// Whether a routing table may lack a longer prefix.
    pub(super) lacks_routes: bool,
}

/// The treatment of a packet by a node.
enum Forwarding {
    /// It goes to the receiver, in this subnet.
    Delivered(Option<u32>),
    /// It goes to one of these routers.
    Routed(Vec<Stage>),
    Unknown(DeadEnd),
}

/// Returns the virtual routers of a network by address, with their members: nodes with an address in the same subnet.
pub(super) fn shared_gateways(index: &PathIndex, virtual_routers: &[VirtualRouter]) -> Vec<SharedGateway> {
    let mut found = Vec::new();
    for router in virtual_routers {
        yield_turn();
        let holders = index.with_ip(router.ip);
        let is_member = |node: &u32| holders.contains(node) || index.net_with(*node, router.ip).is_some();
        let hosts = router.hosts.iter().filter_map(|host: &HostId| index.number((*host).into()));
        let mut members: Vec<u32> = hosts.chain(holders.iter().copied()).filter(is_member).collect();
        members.sort_unstable();
        members.dedup();
        found.push(SharedGateway {
            ip: router.ip,
            mac_addresses: router.mac_addresses.clone(),
            members,
            active: <[u32; 1]>::try_from(holders).ok().map(|[only]| only),
        });
    }
    found.sort_unstable_by_key(|gateway| gateway.ip);
    found
}

/// Returns the default routers that hosts name, by the number of the subnet that these are in.
pub(super) fn default_routers(index: &PathIndex) -> BTreeMap<u32, BTreeSet<IpAddr>> {
    let mut named: BTreeMap<u32, BTreeSet<IpAddr>> = BTreeMap::new();
    for (node, table) in &index.routers.tables {
        for address in table.default_routers() {
            if let Some(net) = index.net_with(*node, address) {
                named.entry(net).or_default().insert(address);
            }
        }
    }
    named
}

impl PathIndex {
    /// Returns the virtual router with an address.
    pub(super) fn shared_gateway(&self, ip: IpAddr) -> Option<&SharedGateway> {
        let place = self.routers.shared.binary_search_by_key(&ip, |gateway| gateway.ip).ok()?;
        self.routers.shared.get(place)
    }

    /// Returns the number of the subnet of a node that contains an address.
    pub(super) fn net_with(&self, node: u32, ip: IpAddr) -> Option<u32> {
        let nets = self.addresses.of_node(node).iter().filter_map(|address| address.net);
        let containing = nets.filter(|net| self.addresses.net(*net).0.contains(ip));
        containing.max_by_key(|net| self.addresses.net(*net).0.prefix_length())
    }

    /// Returns whether a node has an address, by itself or as a member of a virtual router.
    pub(super) fn has_address(&self, node: u32, ip: IpAddr) -> bool {
        let is_own = self.addresses.of_node(node).iter().any(|address| address.ip == ip);
        is_own || self.shared_gateway(ip).is_some_and(|gateway| gateway.members.contains(&node))
    }

    /// Returns the paths of packets to an address of a node. Without one, the first of its addresses with a whole path counts.
    pub(super) fn routed(&self, ends: [u32; 2], address: Option<IpAddr>, count: usize) -> RoutedPaths {
        if let Some(address) = address {
            return self.routed_to(ends, address, count);
        }
        let addresses = self.addresses.of_node(ends[1]).iter().filter(|address| {
            !self.addresses.is_local(address.ip) && self.shared_gateway(address.ip).is_none()
        });
        let mut addresses: Vec<_> = addresses.collect();
        addresses.sort_by_key(|address| address.net.is_none());
        let mut first = None;
        for address in addresses.into_iter().take(MAX_ADDRESSES) {
            let found = self.routed_to(ends, address.ip, count);
            if found.paths.iter().any(|path| path.end.is_none()) {
                return found;
            }
            first = first.or(Some(found));
        }
        first.unwrap_or_default()
    }

    fn routed_to(&self, ends: [u32; 2], to: IpAddr, count: usize) -> RoutedPaths {
        let mut found = RoutedPaths::default();
        let mut open = vec![(ends[0], RoutedPath::default())];
        while let Some((node, path)) = open.pop() {
            yield_turn();
            if found.paths.len() == count {
                found.has_more = true;
                break;
            }
            let forwarding = self.forwarding(node, ends, to, &mut found.doubts);
            let extended = |stage: Option<Stage>, end: Option<DeadEnd>| {
                let mut path = path.clone();
                path.stages.extend(stage);
                path.end = end;
                path
            };
            match forwarding {
                Forwarding::Unknown(end) => found.paths.push(extended(None, Some(end))),
                Forwarding::Delivered(net) => {
                    found.paths.push(extended(Some(Stage { to: ends[1], net, gateway: None }), None));
                }
                Forwarding::Routed(stages) => {
                    for stage in stages.into_iter().rev() {
                        let is_loop =
                            stage.to == ends[0] || path.stages.iter().any(|passed| passed.to == stage.to);
                        if is_loop || path.stages.len() >= MAX_ROUTERS {
                            let end = DeadEnd { reason: UnknownReason::RoutingLoop, next_hop: stage.gateway };
                            found.paths.push(extended(None, Some(end)));
                        } else if stage.to == ends[1] {
                            found.paths.push(extended(Some(stage), None));
                        } else {
                            open.push((stage.to, extended(Some(stage), None)));
                        }
                    }
                }
            }
        }
        found.has_more |= found.paths.len() > count;
        found.paths.truncate(count);
        found
    }

    /// Returns what a node does with a packet: its routing table decides, or else its subnets and the default routers that hosts in
    /// them name, or else the routers that have addresses in the subnets of both ends.
    fn forwarding(&self, node: u32, ends: [u32; 2], to: IpAddr, doubts: &mut RoutingDoubts) -> Forwarding {
        if let Some(table) = self.routers.tables.get(&node) {
            let targets: BTreeSet<RouteTarget> = table.find(to).collect();
            if targets.contains(&RouteTarget::Connected) {
                return Forwarding::Delivered(self.net_with(node, to));
            }
            let is_complete = table.is_complete_for(to);
            if !is_complete && (table.may_be_cut() || targets.is_empty()) {
                return unknown(UnknownReason::Routes, None);
            }
            doubts.lacks_routes |= !is_complete;
            let next_hops = targets.into_iter().filter_map(|target| match target {
                RouteTarget::Via(address) => Some(address),
                RouteTarget::Connected | RouteTarget::Discarded => None,
            });
            return self.via(node, next_hops, doubts);
        }
        if let Some(net) = self.net_with(node, to) {
            return Forwarding::Delivered(Some(net));
        }
        let is_own = |address: &IpAddr| self.addresses.of_node(node).iter().any(|own| own.ip == *address);
        let named = self.nets_of(node).into_iter().filter_map(|net| self.routers.default_routers.get(&net));
        let named: BTreeSet<IpAddr> = named.flatten().copied().filter(|address| !is_own(address)).collect();
        if node == ends[0] && !named.is_empty() {
            doubts.is_unsure |= named.len() > 1;
            return self.via(node, named.into_iter(), doubts);
        }
        self.between(node, ends[1], to, doubts)
    }

    /// Returns the routers with addresses, as the next ones after a node.
    fn via(
        &self,
        node: u32,
        addresses: impl Iterator<Item = IpAddr>,
        doubts: &mut RoutingDoubts,
    ) -> Forwarding {
        let mut stages = Vec::new();
        let mut missing = None;
        for address in addresses {
            let routers = match self.shared_gateway(address) {
                Some(SharedGateway { active: Some(active), .. }) => vec![*active],
                Some(gateway) => gateway.members.clone(),
                None => self.with_ip(address),
            };
            doubts.is_unsure |= routers.len() > 1;
            if routers.is_empty() {
                missing = missing.or(Some(address));
            }
            let net = self.net_with(node, address);
            stages.extend(routers.into_iter().map(|to| Stage { to, net, gateway: Some(address) }));
        }
        match (stages.is_empty(), missing) {
            (false, _) => Forwarding::Routed(stages),
            (true, Some(address)) => unknown(UnknownReason::NextHop, Some(address)),
            (true, None) => unknown(UnknownReason::NoRoute, None),
        }
    }

    /// Returns the routers with addresses in subnets of both nodes. Of the members of a virtual router, the active one counts.
    fn between(&self, node: u32, end: u32, to: IpAddr, doubts: &mut RoutingDoubts) -> Forwarding {
        let gateways = self.common_gateways([node, end], to);
        let routers: Vec<u32> = gateways.iter().map(|stage| stage.to).collect();
        let shared = self.routers.shared.iter().find(|shared| {
            self.net_with(node, shared.ip).is_some()
                && shared.active.is_some_and(|active| routers.contains(&active))
                && routers.iter().all(|router| shared.members.contains(router))
        });
        if let Some(shared) = shared {
            let active = gateways.into_iter().filter(|stage| Some(stage.to) == shared.active);
            let stages = active.map(|stage| Stage { gateway: Some(shared.ip), ..stage });
            return Forwarding::Routed(stages.collect());
        }
        let is_router = |router: &u32| {
            matches!(self.node(*router).role, HostRole::Router | HostRole::Firewall | HostRole::Switch)
        };
        // Only routes tell which of several routers hosts use, and which router leads to another one.
        doubts.is_unsure |= routers.len() != 1 || !routers.iter().all(is_router);
        if gateways.is_empty() { unknown(UnknownReason::Routing, None) } else { Forwarding::Routed(gateways) }
    }

    /// Returns the routers with an address in a subnet of the first node, and one in the subnet of an address of the second. The
    /// second node may be such a router itself.
    fn common_gateways(&self, ends: [u32; 2], to: IpAddr) -> Vec<Stage> {
        let mut others: BTreeSet<u32> = BTreeSet::new();
        let nets = self.net_with(ends[1], to).map_or_else(|| self.nets_of(ends[1]), |net| vec![net]);
        for net in nets {
            yield_turn();
            others.extend(self.addresses.members_of(net));
        }
        let mut gateways: BTreeMap<u32, Stage> = BTreeMap::new();
        for net in self.nets_of(ends[0]) {
            yield_turn();
            for node in self.addresses.members_of(net) {
                let is_gateway = node != ends[0] && self.is_transit(node);
                if is_gateway && others.contains(&node) {
                    let address =
                        self.addresses.of_node(node).iter().find(|address| address.net == Some(net));
                    let gateway = address.map(|address| address.ip);
                    gateways.entry(node).or_insert(Stage { to: node, net: Some(net), gateway });
                }
            }
        }
        gateways.into_values().take(MAX_PATHS + 1).collect()
    }
}

const fn unknown(reason: UnknownReason, next_hop: Option<IpAddr>) -> Forwarding {
    Forwarding::Unknown(DeadEnd { reason, next_hop })
}
