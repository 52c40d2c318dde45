//! Leaves of one node, drawn as one.

use std::collections::{BTreeMap, BTreeSet};

use super::GraphOptions;
use super::arrange::size::sort_key;
use super::draft::GraphDraft;
use super::shape::{Edge, EdgeKind, FoldedDevice, Node, NodeKind, RoleCount, TextKind};
use super::views::l2::is_infrastructure;
use crate::model::{HostRole, LinkId, NodeId, derived_id, group_node_id};
use crate::topology::links::{Confidence, LinkState};

/// Number of leaves of a device that are drawn one by one.
const LEAVES: usize = 8;

/// Number of nodes in a container that are drawn one by one. A grid needs less room than leaves around a device.
const FOLD_LIMIT_IN_CONTAINER: usize = 24;

/// Replaces leaves beyond a number by one node for each device and container.
pub(super) fn fold(draft: &mut GraphDraft, options: &GraphOptions) {
    if !options.collapse {
        return;
    }
    let neighbors = draft.neighbors();
    let contents = draft.contents();
    let mut leaves: BTreeMap<(NodeId, bool), Vec<NodeId>> = BTreeMap::new();
    for node in draft.nodes.values() {
        let is_empty = !contents.contains_key(&node.id);
        let area = node.parent_id.filter(|parent| is_area(draft, *parent));
        let in_container = node.parent_id.is_some() && area.is_none();
        if !is_empty || options.focus == Some(node.id) || !may_be_folded(node, in_container) {
            continue;
        }
        let mut around = neighbors.get(&node.id).into_iter().flatten();
        match (node.parent_id.filter(|_| in_container), around.next(), around.next()) {
            (Some(parent), None, _) => leaves.entry((parent, true)).or_default().push(node.id),
            (None, Some(device), None)
                if draft.nodes.get(device).is_some_and(|device| device.parent_id == area) =>
            {
                leaves.entry((*device, false)).or_default().push(node.id);
            }
            _ => {}
        }
    }
    let mut edges_at: BTreeMap<NodeId, Vec<LinkId>> = BTreeMap::new();
    let folded: BTreeSet<NodeId> = leaves.values().flatten().copied().collect();
    for edge in draft.edges.values() {
        for end in [edge.source, edge.target].into_iter().filter(|end| folded.contains(end)) {
            edges_at.entry(end).or_default().push(edge.id);
        }
    }
    for ((anchor, is_container), leaves) in leaves {
        let shown = if is_container { FOLD_LIMIT_IN_CONTAINER } else { LEAVES };
        let group = group_node_id(anchor);
        let is_expanded = options.expand.contains(&group) || options.expand.contains(&anchor);
        if leaves.len() > shown && !is_expanded {
            replace(draft, group, (anchor, is_container), select(draft, leaves, shown), &edges_at);
        }
    }
}

fn is_area(draft: &GraphDraft, id: NodeId) -> bool {
    draft.nodes.get(&id).is_some_and(|node| node.kind == NodeKind::Area)
}

/// Returns whether a node may be folded into a group. Devices that connect others, access points excepted, are drawn
/// one by one. In subnets, they are members like all others.
const fn may_be_folded(node: &Node, in_container: bool) -> bool {
    match node.kind {
        NodeKind::Host | NodeKind::Stub => {
            in_container || !is_infrastructure(node.role) || matches!(node.role, HostRole::AccessPoint)
        }
        NodeKind::Subnet | NodeKind::Service => true,
        NodeKind::Segment | NodeKind::Group | NodeKind::Area => false,
    }
}

/// Returns the leaves to fold. They are the least informative ones.
fn select(draft: &GraphDraft, mut leaves: Vec<NodeId>, shown: usize) -> Vec<NodeId> {
    leaves.sort_by_cached_key(|id| {
        let node = draft.nodes.get(id);
        let standing = node.map(|node| {
            let is_fixed = node.label_kind == TextKind::Fixed;
            let place = place(node.role);
            (place > 0, node.stale, place, is_fixed, sort_key(&node.label))
        });
        (standing, *id)
    });
    leaves.split_off(shown.min(leaves.len()))
}

/// Returns the place of a role among leaves. The more others depend on a device, the earlier it comes.
const fn place(role: HostRole) -> u8 {
    match role {
        HostRole::Internet
        | HostRole::Router
        | HostRole::Firewall
        | HostRole::Switch
        | HostRole::WirelessController
        | HostRole::AccessPoint => 0,
        HostRole::Hypervisor => 1,
        HostRole::Storage => 2,
        HostRole::Server | HostRole::IndustrialController | HostRole::Other(_) => 3,
        HostRole::Guest | HostRole::Ups => 4,
        HostRole::Camera => 5,
        HostRole::Printer => 6,
        HostRole::Phone => 7,
        HostRole::Media | HostRole::Iot => 8,
        HostRole::Workstation => 9,
        HostRole::Unknown => 10,
    }
}

fn replace(
    draft: &mut GraphDraft,
    group: NodeId,
    (anchor, is_container): (NodeId, bool),
    leaves: Vec<NodeId>,
    edges_at: &BTreeMap<NodeId, Vec<LinkId>>,
) {
    let folded: BTreeSet<NodeId> = leaves.into_iter().collect();
    let at_leaves = folded.iter().filter_map(|leaf| edges_at.get(leaf)).flatten();
    let ids: BTreeSet<LinkId> = at_leaves.copied().collect();
    let edges: Vec<Edge> = ids.iter().filter_map(|id| draft.edges.remove(id)).collect();
    let nodes: Vec<Node> = folded.iter().filter_map(|id| draft.nodes.remove(id)).collect();
    let mut node = Node::new(group, NodeKind::Group, format!("+{}", nodes.len()), TextKind::Fixed);
    let area = draft.nodes.get(&anchor).and_then(|anchor| anchor.parent_id);
    node.parent_id = if is_container { Some(anchor) } else { area };
    node.collapsed = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    node.folded = role_counts(&nodes);
    node.devices = devices(&nodes);
    node.stale = nodes.iter().all(|node| node.stale);
    node.state = LinkState::of_all(nodes.iter().map(|node| node.state));
    node.role = common(nodes.iter().map(|node| node.role)).unwrap_or_default();
    draft.hidden.leaves = draft.hidden.leaves.saturating_add(nodes.len());
    draft.add(node);
    if !edges.is_empty() {
        let id = derived_id("topology group edge", &[group.as_bytes()]);
        let kind = common(edges.iter().map(|edge| edge.kind)).unwrap_or(EdgeKind::Adjacency);
        let mut edge = Edge::new(id, kind, anchor, group);
        edge.confidence = edges.iter().map(|edge| edge.confidence).min().unwrap_or(Confidence::Inferred);
        edge.stale = edges.iter().all(|edge| edge.stale);
        edge.state = LinkState::of_all(edges.iter().map(|edge| edge.state));
        draft.connect(edge);
    }
}

/// Returns the devices by their names, for files in which the group can be opened.
fn devices(nodes: &[Node]) -> Vec<FoldedDevice> {
    let mut devices: Vec<FoldedDevice> = nodes
        .iter()
        .map(|node| {
            let (label, detail) = (node.label.clone(), node.detail.clone());
            FoldedDevice { id: node.id, label, detail, role: node.role }
        })
        .collect();
    devices.sort_by_cached_key(|device| (sort_key(&device.label), device.id));
    devices
}

/// Largest number of roles of which a group counts the devices one by one. There are fewer that the crate knows.
const MAX_ROLES: usize = 32;

/// Returns the number of devices of each role, the most frequent first. Devices of the rarest roles count as unknown where
/// there are too many roles.
fn role_counts(nodes: &[Node]) -> Vec<RoleCount> {
    let mut counts: BTreeMap<HostRole, u32> = BTreeMap::new();
    for node in nodes.iter().filter(|node| matches!(node.kind, NodeKind::Host | NodeKind::Stub)) {
        let count = counts.entry(node.role).or_default();
        *count = count.saturating_add(1);
    }
    let mut counts: Vec<RoleCount> =
        counts.into_iter().map(|(role, count)| RoleCount { role, count }).collect();
    counts.sort_by_key(|of| std::cmp::Reverse(of.count));
    if counts.len() > MAX_ROLES {
        let rare = counts.split_off(MAX_ROLES - 1);
        let count = rare.iter().map(|of| of.count).fold(0, u32::saturating_add);
        match counts.iter_mut().find(|of| of.role == HostRole::Unknown) {
            Some(unknown) => unknown.count = unknown.count.saturating_add(count),
            None => counts.push(RoleCount { role: HostRole::Unknown, count }),
        }
        counts.sort_by_key(|of| std::cmp::Reverse(of.count));
    }
    counts
}

/// Returns the value that all have, if they have one.
fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}
