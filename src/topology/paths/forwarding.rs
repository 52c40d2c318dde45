//! The treatment of a packet by a node: its routing table decides, or else its subnets and the routers in them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::index::PathIndex;
use super::routing::{DeadEnd, RoutingDoubts, SharedGateway, Stage};
use super::{MAX_PATHS, UnknownReason};
use crate::fair_threads::yield_turn;
use crate::model::HostRole;
use crate::topology::links::{RouteTarget, RoutingTable};

/// Maximum number of next routers that are looked up for a packet at one node.
const MAX_NEXT_HOPS: usize = 64;

/// Maximum number of addresses of a node that are looked up in its routing table.
const MAX_OWN_ADDRESSES: usize = 64;

/// The treatment of a packet by a node.
pub(super) enum Forwarding {
    /// It goes to the receiver, in this subnet.
    Delivered(Option<u32>),
    /// It goes to one of these routers, or to one of those that are not known, with these addresses.
    Routed(Vec<Stage>, Vec<IpAddr>),
    Unknown(DeadEnd),
}

impl PathIndex {
    /// Returns what a node does with a packet: its routing table decides, or else its subnets and the default routers that hosts in
    /// them name, or else the routers that have addresses in the subnets of both ends.
    pub(super) fn forwarding(
        &self,
        node: u32,
        ends: [u32; 2],
        to: IpAddr,
        doubts: &mut RoutingDoubts,
    ) -> Forwarding {
        if let Some(table) = self.routers.tables.get(&node) {
            let net = self.net_with(node, to);
            if net.is_some_and(|net| self.delivers(node, table, net, to)) {
                return Forwarding::Delivered(net);
            }
            let targets: BTreeSet<RouteTarget> = self.targets(node, table, to).collect();
            if targets.contains(&RouteTarget::Connected) {
                // The route names a port, such as that of a tunnel, and not the links behind it.
                doubts.is_unsure |= net.is_none();
                return Forwarding::Delivered(net);
            }
            let is_complete = table.is_complete_for(to);
            let is_cut = !is_complete && (table.may_be_cut() || targets.is_empty());
            if is_cut || targets.is_empty() && self.lacks_own_subnets(node, table, to) {
                return unknown(UnknownReason::Routes, None);
            }
            doubts.lacks_routes |= !is_complete;
            let next_hops = self.next_hops(node, table, next_routers(targets.into_iter()).collect());
            return self.via(node, next_hops.into_iter(), doubts);
        }
        if let Some(net) = self.net_with(node, to) {
            return Forwarding::Delivered(Some(net));
        }
        let named = self.nets_of(node).into_iter().filter_map(|net| self.routers.default_routers.get(&net));
        let is_possible =
            |address: &IpAddr| !self.is_own(node, *address) && address.is_ipv4() == to.is_ipv4();
        let named: BTreeSet<IpAddr> = named.flatten().copied().filter(is_possible).collect();
        if node == ends[0] && !named.is_empty() {
            doubts.is_unsure |= named.len() > 1;
            return self.via(node, named.into_iter(), doubts);
        }
        self.between(node, ends[1], to, doubts)
    }

    /// Returns whether a node sends packets for an address of another node in a subnet of both to that node itself: unless its routing table
    /// has another route. Without an address, that of the other node in the subnet counts.
    pub(super) fn delivers_in(&self, ends: [u32; 2], net: u32, to: Option<IpAddr>) -> bool {
        let Some(table) = self.routers.tables.get(&ends[0]) else { return true };
        let in_net = || self.addresses.of_node(ends[1]).iter().find(|address| address.net == Some(net));
        let to = to.or_else(|| in_net().map(|address| address.ip));
        to.is_none_or(|to| self.delivers(ends[0], table, net, to))
    }

    /// Returns whether a node sends packets for an address in a subnet of its own there, by its routing table. A table may lack
    /// subnets of its node: then only routes to smaller ones count.
    fn delivers(&self, node: u32, table: &RoutingTable, net: u32, to: IpAddr) -> bool {
        let own =
            self.addresses.of_node(node).iter().filter(|own| own.net == Some(net)).take(MAX_OWN_ADDRESSES);
        let mut own = own.flat_map(|own| self.targets(node, table, own.ip));
        let has_net = own.any(|target| target == RouteTarget::Connected);
        let is_smaller = || {
            table.prefix_length(to).is_some_and(|length| length > self.addresses.net(net).0.prefix_length())
        };
        let mut targets = self.targets(node, table, to).peekable();
        targets.peek().is_none()
            || targets.any(|target| target == RouteTarget::Connected)
            || !has_net && !is_smaller()
    }

    /// Returns the targets of packets for an address. Some devices name themselves as the next router of their own subnets.
    fn targets(&self, node: u32, table: &RoutingTable, to: IpAddr) -> impl Iterator<Item = RouteTarget> {
        table.find(to).map(move |target| match target {
            RouteTarget::Via(address) if self.is_own(node, address) => RouteTarget::Connected,
            target => target,
        })
    }

    fn is_own(&self, node: u32, address: IpAddr) -> bool {
        self.addresses.of_node(node).binary_search_by_key(&address, |own| own.ip).is_ok()
    }

    /// Returns whether a routing table lacks subnets of its node, in the family of an address. They are in another table, which may also
    /// have other routes.
    fn lacks_own_subnets(&self, node: u32, table: &RoutingTable, to: IpAddr) -> bool {
        let own = self.addresses.of_node(node).iter();
        let mut own =
            own.filter(|own| own.net.is_some() && own.ip.is_ipv4() == to.is_ipv4()).take(MAX_OWN_ADDRESSES);
        own.any(|own| self.targets(node, table, own.ip).all(|target| target != RouteTarget::Connected))
    }

    /// Returns the next routers in subnets of a node: the way to those elsewhere is looked up in the table again.
    fn next_hops(&self, node: u32, table: &RoutingTable, mut open: Vec<IpAddr>) -> BTreeSet<IpAddr> {
        let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
        while let Some(address) = open.pop() {
            if seen.len() >= MAX_NEXT_HOPS || !seen.insert(address) {
                continue;
            }
            let is_near = self.addresses.is_local(address) || self.net_with(node, address).is_some();
            let further: Vec<IpAddr> = match is_near {
                true => Vec::new(),
                false => next_routers(table.find(address)).collect(),
            };
            if further.is_empty() || further.contains(&address) {
                found.insert(address);
            } else {
                open.extend(further);
            }
        }
        found
    }

    /// Returns the routers with addresses, as the next ones after a node.
    fn via(
        &self,
        node: u32,
        addresses: impl Iterator<Item = IpAddr>,
        doubts: &mut RoutingDoubts,
    ) -> Forwarding {
        let mut stages = Vec::new();
        let mut missing = Vec::new();
        for address in addresses {
            // Routers of other links may have the address, too.
            doubts.is_unsure |= self.addresses.is_local(address);
            let routers = match self.shared_gateway(address) {
                Some(SharedGateway { active: Some(active), .. }) => vec![*active],
                Some(gateway) => gateway.members.clone(),
                None => self.with_ip(address),
            };
            doubts.is_unsure |= routers.len() > 1;
            if routers.is_empty() {
                missing.push(address);
            }
            let net = self.net_with(node, address);
            stages.extend(routers.into_iter().map(|to| Stage { to, net, gateway: Some(address) }));
        }
        if stages.is_empty() && missing.is_empty() {
            return unknown(UnknownReason::NoRoute, None);
        }
        Forwarding::Routed(stages, missing)
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
            return Forwarding::Routed(stages.collect(), Vec::new());
        }
        let is_router = |router: &u32| {
            matches!(self.node(*router).role, HostRole::Router | HostRole::Firewall | HostRole::Switch)
        };
        // Only routes tell which of several routers hosts use, and which router leads to another one.
        doubts.is_unsure |= routers.len() != 1 || !routers.iter().all(is_router);
        if gateways.is_empty() {
            return unknown(UnknownReason::Routing, None);
        }
        Forwarding::Routed(gateways, Vec::new())
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

/// Returns the routers among the targets of a route.
fn next_routers(targets: impl Iterator<Item = RouteTarget>) -> impl Iterator<Item = IpAddr> {
    targets.filter_map(|target| match target {
        RouteTarget::Via(address) => Some(address),
        RouteTarget::Connected | RouteTarget::Discarded => None,
    })
}

const fn unknown(reason: UnknownReason, next_hop: Option<IpAddr>) -> Forwarding {
    Forwarding::Unknown(DeadEnd { reason, next_hop })
}
