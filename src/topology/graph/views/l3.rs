//! The view of subnets, the hosts in them and the routers between them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::fair_threads::yield_turn;
use crate::model::{
    Cidr, HostId, NodeId, OrganizationId, Source, Subnet, SubnetId, SubnetType, Timestamp, derived_id,
};
use crate::topology::graph::HostSummary;
use crate::topology::graph::arrange::size::cut_text;
use crate::topology::graph::context::{GraphContext, has_tag};
use crate::topology::graph::draft::GraphDraft;
use crate::topology::graph::shape::{Edge, EdgeKind, Node, NodeKind, TextKind};
use crate::topology::graph::summary::is_reachable;
use crate::topology::links::PortRef;

/// An address of a host in a subnet.
struct Membership {
    host: HostId,
    address: IpAddr,
}

/// Returns subnets as containers of the hosts in them. Hosts in several subnets are between these.
pub(in crate::topology::graph) fn draft(context: &GraphContext<'_>) -> GraphDraft {
    let mut draft = GraphDraft::default();
    let implied = implied_subnets(context);
    let stored = context.input.subnets.iter().copied();
    let all: Vec<&Subnet> = stored.chain(implied.values()).collect();
    let members = members(context, &all);
    let with_members = all.into_iter().filter(|subnet| members.contains_key(&subnet.id));
    let subnets: BTreeMap<SubnetId, &Subnet> = with_members.map(|subnet| (subnet.id, subnet)).collect();
    let mut homes: BTreeMap<HostId, BTreeSet<SubnetId>> = BTreeMap::new();
    for (id, subnet) in &subnets {
        let Some(memberships) = members.get(id) else { continue };
        if let Some(edge) = routed(subnet, memberships) {
            for membership in memberships {
                homes.entry(membership.host).or_default();
            }
            draft.connect(edge);
            continue;
        }
        let mut node = subnet_node(subnet);
        if implied.contains_key(&subnet.cidr) {
            (node.entity_id, node.implied) = (None, true);
        }
        draft.add(node);
        for membership in memberships {
            homes.entry(membership.host).or_default().insert(*id);
        }
    }
    let routed: BTreeSet<NodeId> = draft.edges.values().flat_map(|edge| [edge.source, edge.target]).collect();
    for (host, subnets) in &homes {
        yield_turn();
        let Some(facts) = context.hosts.get(host) else { continue };
        let mut node = facts.node();
        match (subnets.first(), subnets.len(), routed.contains(&NodeId::from(*host))) {
            (Some(subnet), 1, false) => {
                node.parent_id = Some((*subnet).into());
                show_address(&mut node, members.get(subnet), *host);
            }
            _ => connect(&mut draft, *host, subnets, &members),
        }
        draft.add(node);
    }
    warn(&mut draft, context, &homes, &members);
    draft
}

/// Least length of the prefix of an implied subnet, by IPv4 and IPv6. Shorter ones are masks that were never set.
const MIN_IMPLIED: (u8, u8) = (8, 32);

/// Returns the subnets that follow from addresses and masks, where no stored subnet contains the address.
fn implied_subnets(context: &GraphContext<'_>) -> BTreeMap<Cidr, Subnet> {
    let stored = &context.input.subnets;
    let ids: BTreeSet<SubnetId> = stored.iter().map(|subnet| subnet.id).collect();
    let prefixes = Prefixes::of(stored);
    let mut implied = BTreeMap::new();
    for interface in context.hosts.values().flat_map(|facts| &facts.summary.interfaces) {
        yield_turn();
        let address = interface.ip_address;
        let is_covered = interface.subnet_id.is_some_and(|subnet| ids.contains(&subnet))
            || !is_reachable(address)
            || prefixes.find(address).is_some();
        let least = if address.is_ipv4() { MIN_IMPLIED.0 } else { MIN_IMPLIED.1 };
        let length = interface.prefix_length.filter(|length| !is_covered && *length >= least);
        if let Some(cidr) = length.and_then(|length| Cidr::containing(address, length).ok()) {
            implied.entry(cidr).or_insert_with(|| implied_subnet(context, cidr));
        }
    }
    implied
}

fn implied_subnet(context: &GraphContext<'_>, cidr: Cidr) -> Subnet {
    let network_id = context.input.network_id;
    let name = cidr.to_string();
    Subnet {
        id: derived_id("topology implied subnet", &[network_id.as_bytes(), name.as_bytes()]),
        organization_id: OrganizationId::nil(),
        network_id,
        name,
        description: None,
        cidr,
        subnet_type: SubnetType::default(),
        source: Source::default(),
        tags: Vec::new(),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

/// Returns the addresses in each subnet that the view shows.
fn members(context: &GraphContext<'_>, all: &[&Subnet]) -> BTreeMap<SubnetId, Vec<Membership>> {
    let shown: Vec<&Subnet> = all.iter().copied().filter(|subnet| is_drawn(subnet)).collect();
    let ids: BTreeSet<SubnetId> = all.iter().map(|subnet| subnet.id).collect();
    let shown_ids: BTreeSet<SubnetId> = shown.iter().map(|subnet| subnet.id).collect();
    let prefixes = Prefixes::of(&shown);
    let mut members: BTreeMap<SubnetId, Vec<Membership>> = BTreeMap::new();
    for (id, facts) in &context.hosts {
        for interface in &facts.summary.interfaces {
            let stated = interface.subnet_id.filter(|subnet| ids.contains(subnet));
            let subnet = match stated {
                Some(subnet) => shown_ids.contains(&subnet).then_some(subnet),
                None if is_reachable(interface.ip_address) => prefixes.find(interface.ip_address),
                None => None,
            };
            if let Some(subnet) = subnet {
                let membership = Membership { host: *id, address: interface.ip_address };
                members.entry(subnet).or_default().push(membership);
            }
        }
    }
    members
}

/// Returns whether a subnet connects hosts. Bridges of containers exist once on each container host.
fn is_drawn(subnet: &Subnet) -> bool {
    let is_local = matches!(
        subnet.subnet_type,
        SubnetType::Loopback | SubnetType::DockerBridge | SubnetType::PodmanBridge
    );
    let cidr = subnet.cidr;
    let address_bits = if cidr.first_address().is_ipv4() { 32 } else { 128 };
    !is_local
        && cidr.prefix_length() < address_bits
        && (cidr.prefix_length() == 0 || is_reachable(cidr.first_address()))
}

/// Subnets by prefix, for finding the longest prefix that contains an address.
struct Prefixes {
    by_cidr: BTreeMap<Cidr, SubnetId>,
    /// The lengths that occur, the longest first.
    lengths: Vec<u8>,
}

impl Prefixes {
    fn of(subnets: &[&Subnet]) -> Self {
        let by_cidr: BTreeMap<Cidr, SubnetId> =
            subnets.iter().map(|subnet| (subnet.cidr, subnet.id)).collect();
        let lengths: BTreeSet<u8> = by_cidr.keys().map(|cidr| cidr.prefix_length()).collect();
        Self { by_cidr, lengths: lengths.into_iter().rev().collect() }
    }

    fn find(&self, address: IpAddr) -> Option<SubnetId> {
        self.lengths.iter().find_map(|length| {
            let cidr = Cidr::containing(address, *length).ok()?;
            self.by_cidr.get(&cidr).copied()
        })
    }
}

/// Returns the link between the two hosts of a subnet with room for two only.
fn routed(subnet: &Subnet, memberships: &[Membership]) -> Option<Edge> {
    let length = subnet.cidr.prefix_length();
    let is_link = if subnet.cidr.first_address().is_ipv4() { length >= 30 } else { length == 127 };
    let [first, second] = memberships else { return None };
    if !is_link || first.host == second.host {
        return None;
    }
    let (source, target) = if first.host < second.host { (first, second) } else { (second, first) };
    let mut edge = Edge::new(
        derived_id("topology routed", &[subnet.id.as_bytes()]),
        EdgeKind::Routed,
        source.host.into(),
        target.host.into(),
    );
    edge.source_port = Some(port(source));
    edge.target_port = Some(port(target));
    Some(edge)
}

/// Returns the port of a host in a subnet. Its name in this view is its address, because engineers look for addresses
/// at subnets.
fn port(membership: &Membership) -> PortRef {
    PortRef { if_entry_id: None, name: membership.address.to_string() }
}

fn subnet_node(subnet: &Subnet) -> Node {
    let cidr = subnet.cidr.to_string();
    let is_named = !subnet.name.trim().is_empty() && subnet.name != cidr;
    let mut node = if is_named {
        Node::new(subnet.id.into(), NodeKind::Subnet, cut_text(&subnet.name), TextKind::Name)
    } else {
        Node::new(subnet.id.into(), NodeKind::Subnet, cidr.clone(), TextKind::Address)
    };
    node.entity_id = Some(subnet.id.uuid());
    node.detail = is_named.then_some(cidr);
    node
}

/// Shows the address of the host in the subnet that contains it. Of several addresses, the first is shown.
fn show_address(node: &mut Node, memberships: Option<&Vec<Membership>>, host: HostId) {
    let membership = memberships.and_then(|memberships| first_of(memberships, host));
    let address = membership.map(|membership| membership.address.to_string());
    if node.label_kind == TextKind::Name {
        node.detail = address;
    } else if let Some(address) = address {
        node.label = address;
        node.label_kind = TextKind::Address;
        node.detail = None;
    }
}

/// Returns the first membership of a host. Memberships are in the order of their hosts.
fn first_of(memberships: &[Membership], host: HostId) -> Option<&Membership> {
    let place = memberships.partition_point(|membership| membership.host < host);
    memberships.get(place).filter(|membership| membership.host == host)
}

fn connect(
    draft: &mut GraphDraft,
    host: HostId,
    subnets: &BTreeSet<SubnetId>,
    members: &BTreeMap<SubnetId, Vec<Membership>>,
) {
    for subnet in subnets {
        let of_host = members.get(subnet).and_then(|memberships| first_of(memberships, host));
        let Some(membership) = of_host else { continue };
        let id = derived_id("topology member", &[host.as_bytes(), subnet.as_bytes()]);
        let mut edge = Edge::new(id, EdgeKind::Member, host.into(), (*subnet).into());
        edge.source_port = Some(port(membership));
        draft.connect(edge);
    }
}

fn warn(
    draft: &mut GraphDraft,
    context: &GraphContext<'_>,
    homes: &BTreeMap<HostId, BTreeSet<SubnetId>>,
    members: &BTreeMap<SubnetId, Vec<Membership>>,
) {
    let has_address =
        |host: &HostSummary| host.interfaces.iter().any(|interface| is_reachable(interface.ip_address));
    let homeless = context.hosts.iter().filter(|(id, _)| !homes.contains_key(id));
    let (with, without): (Vec<_>, Vec<_>) = homeless.partition(|(_, facts)| has_address(facts.summary));
    draft.warn_count("hosts_without_subnet", with.len());
    draft.warn_count("hosts_without_address", without.len());
    let tags = &context.input.options.tag_ids;
    let is_empty = |subnet: &&&Subnet| {
        is_drawn(subnet) && has_tag(&subnet.tags, tags) && !members.contains_key(&subnet.id)
    };
    draft.warn_count("empty_subnets", context.input.subnets.iter().filter(is_empty).count());
}
