//! The view of switches, routers and what is connected to their ports.

use std::collections::{BTreeMap, BTreeSet};

use crate::fair_threads::yield_turn;
use crate::model::{HostId, HostRole, LldpChassisIdSubtype, MacAddress, NodeId, TopologyView};
use crate::topology::graph::arrange::size::cut_text;
use crate::topology::graph::build::add_warnings;
use crate::topology::graph::context::{GraphContext, has_role};
use crate::topology::graph::draft::GraphDraft;
use crate::topology::graph::role::{self, RoleReason};
use crate::topology::graph::shape::{Edge, EdgeKind, Node, NodeKind, TextKind, Warning};
use crate::topology::links::{Confidence, End, Link, LinkMember, PortRef, Rule, Segment, Stub};

/// Returns hosts with evidence of switching or routing, their neighbors, and the links between them, each by itself.
pub(in crate::topology::graph) fn draft(context: &GraphContext<'_>) -> GraphDraft {
    let stubs: BTreeMap<NodeId, &Stub> = context.input.stubs.iter().map(|stub| (stub.id, *stub)).collect();
    let segments: BTreeMap<NodeId, &Segment> =
        context.input.segments.iter().map(|segment| (segment.id, *segment)).collect();
    let mut draft = GraphDraft::default();
    for host in context.hosts.values() {
        if is_infrastructure(host.role) || host.summary.neighbor_ports > 0 {
            draft.add(host.node());
        }
    }
    let node = |end: &End| match end {
        End::Host { host_id, .. } => context.hosts.get(host_id).map(|host| host.node()),
        End::Stub { id, .. } => stubs.get(id).map(|stub| stub_node(stub)),
        End::Segment { id } => segments.get(id).map(|segment| segment_node(segment)),
    };
    let exists = |end: &End| match end {
        End::Host { host_id, .. } => context.hosts.contains_key(host_id),
        End::Stub { id, .. } => {
            stubs.get(id).is_some_and(|stub| has_role(stub_role(stub).0, &context.input.options.roles))
        }
        End::Segment { id } => segments.contains_key(id),
    };
    for link in &context.input.links {
        yield_turn();
        if context.left_behind.contains(&link.id) {
            continue;
        }
        let options = context.input.options;
        let is_in_vlan = options.vlan.is_none_or(|vlan| link.carries(vlan));
        let is_left_out = (link.stale && !options.show_stale) || !is_in_vlan;
        if is_left_out || !is_shown(link.confidence, options.min_confidence) {
            continue;
        }
        let (source, target) = (id_of(&link.source), id_of(&link.target));
        if source == target || !exists(&link.source) || !exists(&link.target) {
            continue;
        }
        draft.connect(edge(link, source, target));
        // Devices with many links are described once.
        for end in [&link.source, &link.target] {
            if !draft.nodes.contains_key(&id_of(end)) {
                node(end).into_iter().for_each(|node| draft.add(node));
            }
        }
    }
    drop_lonely(&mut draft);
    count_unplaced(context, &mut draft);
    add_warnings(context, &mut draft);
    draft
}

/// Adds warnings about hosts that are not drawn: they have no known link, or filters leave their links out.
fn count_unplaced(context: &GraphContext<'_>, draft: &mut GraphDraft) {
    let ends = context.input.links.iter().flat_map(|link| [&link.source, &link.target]);
    let linked: BTreeSet<HostId> = ends
        .filter_map(|end| match end {
            End::Host { host_id, .. } => Some(*host_id),
            End::Stub { .. } | End::Segment { .. } => None,
        })
        .filter(|id| context.hosts.contains_key(id))
        .collect();
    let left_out = context.hosts.keys().filter(|id| !draft.nodes.contains_key(&NodeId::from(**id)));
    let (filtered, unlinked): (Vec<HostId>, Vec<HostId>) = left_out.partition(|id| linked.contains(id));
    draft.warn_count("hosts_without_links", unlinked.len());
    draft.warn_count("hosts_without_shown_links", filtered.len());
    if draft.edges.is_empty() && linked.is_empty() {
        offer_subnets(context, draft);
    }
}

/// Adds a warning that the view of subnets would show more, if it does.
fn offer_subnets(context: &GraphContext<'_>, draft: &mut GraphDraft) {
    let with_address = context.hosts.values().filter(|host| host.summary.address().is_some()).count();
    if with_address > 0 {
        let params = [("count", with_address.to_string()), ("view", TopologyView::L3.as_str().to_owned())];
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        draft.warnings.push(Warning { code: "no_links".to_owned(), params });
    }
}

/// Returns whether a role consists in connecting other devices.
pub(in crate::topology::graph) const fn is_infrastructure(role: HostRole) -> bool {
    matches!(
        role,
        HostRole::Router | HostRole::Switch | HostRole::AccessPoint | HostRole::Firewall | HostRole::Internet
    )
}

fn is_shown(confidence: Confidence, least: Confidence) -> bool {
    confidence == Confidence::Conflicting || confidence >= least
}

/// Removes segments with a single connection and stubs without any, which filters leave behind.
fn drop_lonely(draft: &mut GraphDraft) {
    let neighbors = draft.neighbors();
    let degree = |id: &NodeId| neighbors.get(id).map_or(0, BTreeSet::len);
    let is_kept = |node: &&Node| match node.kind {
        NodeKind::Segment => degree(&node.id) > 1,
        NodeKind::Stub => neighbors.get(&node.id).is_some_and(|others| {
            others.iter().any(|other| {
                draft.nodes.get(other).is_some_and(|node| node.kind != NodeKind::Segment || degree(other) > 1)
            })
        }),
        NodeKind::Host | NodeKind::Subnet | NodeKind::Area | NodeKind::Group | NodeKind::Service => true,
    };
    let kept = draft.nodes.values().filter(is_kept).map(|node| node.id).collect();
    draft.retain(&kept);
}

fn edge(link: &Link, source: NodeId, target: NodeId) -> Edge {
    let (source_port, target_port) = (port(&link.source), port(&link.target));
    let mut edge =
        Edge::new(link.id, kind(link, source_port.is_some() || target_port.is_some()), source, target);
    edge.source_port = source_port;
    edge.target_port = target_port;
    edge.speed_bps = link.speed_bps;
    edge.members = link.members.iter().map(cut_member).collect();
    edge.lag = !link.members.is_empty();
    edge.confidence = link.confidence;
    edge.stale = link.stale;
    edge.state = link.state;
    edge.since = link.down_since();
    edge.vlans.clone_from(&link.vlans);
    edge.blocked = link.blocked;
    edge.evidence.clone_from(&link.evidence);
    edge
}

fn port(end: &End) -> Option<PortRef> {
    match end {
        End::Host { port, .. } | End::Stub { port, .. } => port.as_ref().map(cut_port),
        End::Segment { .. } => None,
    }
}

fn cut_port(port: &PortRef) -> PortRef {
    PortRef { if_entry_id: port.if_entry_id, name: cut_text(&port.name) }
}

fn cut_member(member: &LinkMember) -> LinkMember {
    LinkMember {
        source_port: member.source_port.as_ref().map(cut_port),
        target_port: member.target_port.as_ref().map(cut_port),
        state: member.state,
        blocked: member.blocked,
    }
}

const fn id_of(end: &End) -> NodeId {
    end.node_id()
}

fn kind(link: &Link, has_port: bool) -> EdgeKind {
    let is_segment = [&link.source, &link.target].into_iter().any(|end| matches!(end, End::Segment { .. }));
    let rule = link.evidence.first().map(|evidence| evidence.rule);
    let is_inferred =
        matches!(rule, Some(Rule::MutualFdb | Rule::SharedFdb | Rule::SingleSidedFdb | Rule::ArpFdb));
    if is_segment || is_inferred {
        EdgeKind::Bridged
    } else if has_port || !link.members.is_empty() {
        EdgeKind::Physical
    } else {
        EdgeKind::Adjacency
    }
}

/// Returns whether an unknown device announces that it connects others.
pub(in crate::topology::graph) fn stub_is_infrastructure(stub: &Stub) -> bool {
    is_infrastructure(stub_role(stub).0)
}

/// Returns the role of an unknown device, and the evidence for it.
pub(in crate::topology::graph) fn stub_role(stub: &Stub) -> (HostRole, Option<RoleReason>) {
    if stub.is_unmanaged_switch {
        return (HostRole::Switch, None);
    }
    role::of_neighbor(&stub.capabilities, stub.description.as_deref())
        .map_or((HostRole::Unknown, None), |(role, reason)| (role, Some(reason)))
}

fn stub_node(stub: &Stub) -> Node {
    let (label, kind) = stub_label(stub);
    let mut node = Node::new(stub.id, NodeKind::Stub, label, kind);
    if kind != TextKind::Address {
        node.detail =
            stub.addresses.iter().find(|address| address.parse::<std::net::IpAddr>().is_ok()).cloned();
    }
    (node.role, node.role_reason) = stub_role(stub);
    node
}

pub(in crate::topology::graph) fn stub_label(stub: &Stub) -> (String, TextKind) {
    let chassis = stub.chassis_id.as_ref();
    if !stub.label.trim().is_empty() {
        let is_chassis = chassis.is_some_and(|chassis| chassis.value == stub.label);
        let kind = match chassis {
            _ if stub.label.parse::<MacAddress>().is_ok() => TextKind::Mac,
            _ if stub.label.parse::<std::net::IpAddr>().is_ok() => TextKind::Address,
            Some(chassis) if is_chassis && chassis.subtype == LldpChassisIdSubtype::NetworkAddress => {
                TextKind::Address
            }
            Some(_) if is_chassis => TextKind::Identifier,
            _ => TextKind::Name,
        };
        return (cut_text(&stub.label), kind);
    }
    let words = if stub.is_unmanaged_switch { "Unmanaged switch" } else { "Unknown device" };
    (words.to_owned(), TextKind::Fixed)
}

fn segment_node(segment: &Segment) -> Node {
    if segment.label.trim().is_empty() {
        return Node::new(segment.id, NodeKind::Segment, "Segment".to_owned(), TextKind::Fixed);
    }
    Node::new(segment.id, NodeKind::Segment, cut_text(&segment.label), TextKind::Name)
}
