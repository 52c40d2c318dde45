//! The routing table of a device, and the virtual routers that it takes part in or names.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::discovery::reconcile::is_router_mac;
use crate::discovery::report::{AddressFamily, ArpRow, MAX_ROUTES, RouteRow};
use crate::model::{Cidr, Host, HostId, IfEntry, MacAddress};

/// The routes of a device. Of several routes to one destination, those with the least metric count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingTable {
    /// By destination.
    routes: Box<[Route]>,
    is_complete: bool,
    /// The only family of addresses whose routes are known; `None`: both are.
    family: Option<AddressFamily>,
    /// Whether rows may be missing because there were too many.
    may_be_cut: bool,
}

/// The number of routes from which a table that is not complete may have been cut.
const LARGE_TABLE: usize = 1_000;

/// A destination, and the device to which packets for it go next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Route {
    destination: Cidr,
    metric: i64,
    target: RouteTarget,
}

/// The device to which packets go next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology) enum RouteTarget {
    /// The receiver itself.
    Connected,
    /// The router with an address.
    Via(IpAddr),
    /// None: packets are discarded.
    Discarded,
}

impl RoutingTable {
    /// Creates a table of the rows of a claim. Rows beyond the first 20,000 do not count: the table is not complete then.
    #[must_use]
    pub fn of(rows: &[RouteRow], is_complete: bool) -> Self {
        let route = |row: &RouteRow| Route {
            destination: row.destination,
            metric: row.metric.unwrap_or(0),
            target: match row.next_hop {
                _ if row.discards => RouteTarget::Discarded,
                Some(address) => RouteTarget::Via(address),
                None => RouteTarget::Connected,
            },
        };
        let mut routes: Vec<Route> = rows.iter().take(MAX_ROUTES).map(route).collect();
        routes.sort_unstable();
        routes.dedup();
        let mut least: Option<Route> = None;
        routes.retain(|route| {
            let best = least.filter(|least| least.destination == route.destination).unwrap_or(*route);
            least = Some(best);
            best.metric == route.metric
        });
        let is_complete = is_complete && rows.len() <= MAX_ROUTES;
        let may_be_cut = !is_complete && rows.len() >= LARGE_TABLE;
        Self { routes: routes.into(), is_complete, family: None, may_be_cut }
    }

    /// States that only the routes of a family of addresses are known; `None`: of both.
    #[must_use]
    pub fn limited_to(self, family: Option<AddressFamily>) -> Self {
        Self { family, ..self }
    }

    /// Returns whether these are all routes of the device to addresses of the family of this one.
    pub(in crate::topology) fn is_complete_for(&self, address: IpAddr) -> bool {
        self.is_complete && self.family.is_none_or(|family| family == AddressFamily::of(address))
    }

    /// Returns whether rows may be missing because there were too many. A small table most likely has
    /// all routes, also if its report does not state that it is complete.
    pub(in crate::topology) const fn may_be_cut(&self) -> bool {
        self.may_be_cut
    }

    /// Returns the targets of the longest prefix that contains an address; none without a route.
    pub(in crate::topology) fn find(&self, address: IpAddr) -> impl Iterator<Item = RouteTarget> {
        self.longest(address).iter().map(|route| route.target)
    }

    /// Returns the length of the longest prefix that contains an address; `None` without a route.
    pub(in crate::topology) fn prefix_length(&self, address: IpAddr) -> Option<u8> {
        self.longest(address).first().map(|route| route.destination.prefix_length())
    }

    fn longest(&self, address: IpAddr) -> &[Route] {
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let destinations = (0..=longest).rev().filter_map(|length| Cidr::containing(address, length).ok());
        let mut found = destinations.map(|destination| self.targets(destination));
        found.find(|targets| !targets.is_empty()).unwrap_or_default()
    }

    /// Returns the next routers of packets to all addresses that no other route leads to.
    pub(in crate::topology) fn default_routers(&self) -> impl Iterator<Item = IpAddr> {
        let is_default = |route: &&Route| route.destination.prefix_length() == 0;
        self.routes.iter().filter(is_default).filter_map(|route| match route.target {
            RouteTarget::Via(address) => Some(address),
            RouteTarget::Connected | RouteTarget::Discarded => None,
        })
    }

    fn targets(&self, destination: Cidr) -> &[Route] {
        let start = self.routes.partition_point(|route| route.destination < destination);
        let rest = self.routes.get(start..).unwrap_or_default();
        let end = rest.partition_point(|route| route.destination == destination);
        rest.get(..end).unwrap_or_default()
    }
}

/// An address that several routers share: one of them at a time uses it (VRRP, HSRP).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VirtualRouter {
    /// The IP address.
    pub ip: IpAddr,
    /// The MAC addresses that neighbor caches state for it, and those of ports with it, in order.
    pub mac_addresses: BTreeSet<MacAddress>,
    /// The hosts with one of these MAC addresses, in order. Some of them may be routers of other subnets.
    pub hosts: BTreeSet<HostId>,
}

/// A MAC address of virtual routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::links) struct VirtualMac {
    pub(in crate::topology::links) address: MacAddress,
    /// The IP address that has it; `None` if it is only known that a port of the device has it.
    pub(in crate::topology::links) ip: Option<IpAddr>,
    /// Whether a port of the device itself has it.
    pub(in crate::topology::links) is_own: bool,
}

/// Returns the addresses of virtual routers at the ports of a host and in its neighbor cache, sorted.
pub(super) fn virtual_macs(host: &Host, cache: &[ArpRow]) -> Box<[VirtualMac]> {
    let own = |entry: &IfEntry| {
        let address = entry.mac_address.filter(|address| is_router_mac(*address))?;
        let interface = host.interfaces.iter().find(|interface| Some(interface.id) == entry.interface_id);
        Some(VirtualMac { address, ip: interface.map(|interface| interface.ip_address), is_own: true })
    };
    let stated = cache.iter().filter(|row| is_router_mac(row.mac_address)).map(|row| VirtualMac {
        address: row.mac_address,
        ip: Some(row.ip_address),
        is_own: false,
    });
    let mut found: Vec<VirtualMac> = host.if_entries.iter().filter_map(own).chain(stated).collect();
    found.sort_unstable();
    found.dedup();
    found.into()
}
