//! The addresses of hosts, and the subnets that they are in.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};

#[cfg(feature = "service")]
use super::renumber::insert_sorted;
use crate::fair_threads::yield_turn;
use crate::model::{Cidr, SubnetId};
use crate::topology::graph::{HostSummary, is_reachable};

/// A subnet, with its record if it is stored.
pub(in crate::topology::paths) type Net = (Cidr, Option<SubnetId>);

/// A node, an address of it, and the subnet of the address.
pub(super) type FoundAddress = (u32, IpAddr, Option<Net>);

/// An address of a host.
#[derive(Clone, Copy, Debug)]
pub(in crate::topology::paths) struct PathAddress {
    pub(in crate::topology::paths) node: u32,
    pub(in crate::topology::paths) ip: IpAddr,
    /// The number of the subnet; `None` when unknown.
    pub(in crate::topology::paths) net: Option<u32>,
}

/// The addresses of hosts, with numbers for their subnets.
#[derive(Debug, Default)]
pub(in crate::topology::paths) struct PathAddresses {
    /// The addresses as hosts have them, sorted.
    found: Vec<FoundAddress>,
    /// By node.
    all: Vec<PathAddress>,
    /// The places in `all`, by address.
    by_ip: Vec<u32>,
    /// The subnets and the nodes with an address in them, sorted.
    members: Vec<(u32, u32)>,
    /// The subnets of addresses, sorted, each with its record if it is stored.
    nets: Vec<Net>,
    /// The subnets that each of several hosts has for itself.
    private: BTreeSet<Cidr>,
}

impl PathAddresses {
    pub(super) fn of(mut found: Vec<FoundAddress>) -> Self {
        found.sort_unstable();
        found.dedup();
        let private = private_nets(&found);
        let shared = |net: &Option<Net>| net.filter(|(cidr, _)| !private.contains(cidr));
        yield_turn();
        let mut nets: Vec<Net> = Vec::new();
        // Neighbors in the list often are in one subnet.
        for net in found.iter().filter_map(|(_, _, net)| shared(net)) {
            if nets.last() != Some(&net) {
                nets.push(net);
            }
        }
        // Of one prefix, the stored subnet counts.
        nets.sort_unstable_by_key(|(net, id)| (*net, std::cmp::Reverse(*id)));
        nets.dedup_by_key(|(net, _)| *net);
        let numbers: HashMap<Cidr, u32> = nets.iter().map(|(cidr, _)| *cidr).zip(0..).collect();
        let number = |net: &Option<Net>| shared(net).and_then(|(cidr, _)| numbers.get(&cidr).copied());
        let all: Vec<PathAddress> = found
            .iter()
            .map(|(node, ip, net)| PathAddress { node: *node, ip: *ip, net: number(net) })
            .collect();
        yield_turn();
        let mut members: Vec<(u32, u32)> =
            all.iter().filter_map(|address| Some((address.net?, address.node))).collect();
        members.sort_unstable();
        members.dedup();
        let mut by_ip: Vec<u32> = (0..).take(all.len()).collect();
        by_ip.sort_by_key(|place| all[*place as usize].ip);
        Self { found, all, by_ip, members, nets, private }
    }

    /// Returns the addresses of a node.
    pub(in crate::topology::paths) fn of_node(&self, node: u32) -> &[PathAddress] {
        let start = self.all.partition_point(|address| address.node < node);
        let end = self.all.partition_point(|address| address.node <= node);
        &self.all[start..end]
    }

    /// Returns the nodes with an address, in order.
    pub(in crate::topology::paths) fn nodes_with(&self, ip: IpAddr) -> Vec<u32> {
        let address = |place: &u32| &self.all[*place as usize];
        let start = self.by_ip.partition_point(|place| address(place).ip < ip);
        let found = self.by_ip[start..].iter().map(address).take_while(|address| address.ip == ip);
        let mut nodes: Vec<u32> = found.map(|address| address.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Returns a subnet by its number.
    pub(in crate::topology::paths) fn net(&self, net: u32) -> Net {
        self.nets[net as usize]
    }

    /// Returns the nodes with an address in a subnet.
    pub(in crate::topology::paths) fn members_of(&self, net: u32) -> impl Iterator<Item = u32> {
        let start = self.members.partition_point(|(known, _)| *known < net);
        self.members[start..].iter().take_while(move |(known, _)| *known == net).map(|(_, node)| *node)
    }

    /// Returns whether many hosts may have an address without a conflict, such as `127.0.0.1`.
    pub(in crate::topology::paths) fn is_local(&self, ip: IpAddr) -> bool {
        !is_reachable(ip) || USUAL_ADDRESSES.contains(&ip) || self.private.iter().any(|net| net.contains(ip))
    }

    /// Returns the addresses of a node as its host has them.
    #[cfg(feature = "service")]
    pub(super) fn found_of(&self, node: u32) -> &[FoundAddress] {
        let start = self.found.partition_point(|found| found.0 < node);
        let end = self.found.partition_point(|found| found.0 <= node);
        &self.found[start..end]
    }

    /// Gives nodes other numbers, which keep their order. All nodes with addresses stay.
    #[cfg(feature = "service")]
    pub(super) fn renumber(&mut self, to_new: &[u32]) {
        self.found.iter_mut().for_each(|found| found.0 = to_new[found.0 as usize]);
        self.all.iter_mut().for_each(|address| address.node = to_new[address.node as usize]);
        self.members.iter_mut().for_each(|member| member.1 = to_new[member.1 as usize]);
    }

    /// Replaces the addresses of some nodes, which then may have other numbers.
    #[cfg(feature = "service")]
    pub(super) fn replace(&mut self, changed: &[u32], to_new: &[u32], new: Vec<FoundAddress>) {
        let mut found = std::mem::take(&mut self.found);
        found.retain(|found| changed.binary_search(&found.0).is_err());
        found.iter_mut().for_each(|found| found.0 = to_new[found.0 as usize]);
        insert_sorted(&mut found, new, Ord::cmp);
        *self = Self::of(found);
    }
}

/// Returns the addresses of a host. An address that no stored subnet covers is in the subnet of its mask.
pub(super) fn addresses_of_host(
    node: u32,
    host: &HostSummary,
    subnets: &BTreeMap<SubnetId, Cidr>,
) -> Vec<FoundAddress> {
    let found = host.interfaces.iter().map(|interface| {
        let stored = interface.subnet_id.and_then(|id| Some((*subnets.get(&id)?, Some(id))));
        let implied = || {
            let net = Cidr::containing(interface.ip_address, interface.prefix_length?).ok()?;
            Some((net, None))
        };
        // Each host has loopback and link-local addresses of its own.
        let is_common = is_reachable(interface.ip_address);
        (node, interface.ip_address, stored.or_else(implied).filter(|_| is_common))
    });
    let mut found: Vec<FoundAddress> = found.collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The address that each host has in the network of its containers (Docker) or of its guests (libvirt), unless a user changes it.
const USUAL_ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(172, 17, 0, 1)), IpAddr::V4(Ipv4Addr::new(192, 168, 122, 1))];

/// The addresses of a subnet, as far as they show whether each host has the subnet for itself.
#[derive(Clone, Copy)]
struct NetMembers {
    ip: IpAddr,
    node: u32,
    has_others: bool,
    is_repeated: bool,
}

/// Returns the subnets in which several hosts have the same address, and no host has another one, or the address is a usual one:
/// each of these hosts has a subnet of its own, such as that of its containers.
fn private_nets(found: &[FoundAddress]) -> BTreeSet<Cidr> {
    let mut members: HashMap<Cidr, NetMembers> = HashMap::new();
    for (node, ip, net) in found {
        let Some((net, _)) = net else { continue };
        let first = NetMembers { ip: *ip, node: *node, has_others: false, is_repeated: false };
        let known = members.entry(*net).or_insert(first);
        // The usual address counts as the first: it decides whether others matter.
        if USUAL_ADDRESSES.contains(ip) && known.ip != *ip {
            *known = NetMembers { has_others: true, ..first };
            continue;
        }
        known.has_others |= known.ip != *ip;
        known.is_repeated |= known.ip == *ip && known.node != *node;
    }
    let is_private =
        |known: NetMembers| known.is_repeated && (!known.has_others || USUAL_ADDRESSES.contains(&known.ip));
    members.into_iter().filter(|(_, known)| is_private(*known)).map(|(net, _)| net).collect()
}
