//! The routers that packets pass: by routing tables, by virtual routers, and by the subnets of addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::UnknownReason;
use super::forwarding::Forwarding;
use super::index::PathIndex;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, MacAddress};
use crate::topology::links::VirtualRouter;

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

/// Returns the default routers that hosts name, by the number of the subnet that these are in. Those of routers lead elsewhere.
pub(super) fn default_routers(index: &PathIndex) -> BTreeMap<u32, BTreeSet<IpAddr>> {
    let mut named: BTreeMap<u32, BTreeSet<IpAddr>> = BTreeMap::new();
    for (node, table) in index.routers.tables.iter().filter(|(node, _)| !index.is_between_subnets(**node)) {
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

    /// Returns whether a node may route between two subnets with other nodes or more.
    fn is_between_subnets(&self, node: u32) -> bool {
        let has_others = |net: &u32| self.addresses.members_of(*net).nth(1).is_some();
        self.node(node).may_route && self.nets_of(node).iter().filter(|net| has_others(net)).nth(1).is_some()
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
                Forwarding::Routed(stages, missing) => {
                    found.paths.extend(missing.into_iter().map(|address| {
                        let end = DeadEnd { reason: UnknownReason::NextHop, next_hop: Some(address) };
                        extended(None, Some(end))
                    }));
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
}
