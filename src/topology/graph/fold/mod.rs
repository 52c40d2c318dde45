//! End devices of one device or in one container, drawn as one node where the picture would be too large for a sheet.

mod parts;
mod sheet;

use std::collections::{BTreeMap, BTreeSet};

use self::parts::{Leaf, describe, devices};
pub(super) use self::parts::{count_in_words, role_counts, words};
use self::sheet::folds_needed;
use super::GraphOptions;
use super::draft::GraphDraft;
use super::input::{Detail, Folding};
use super::port_name::port_name;
use super::shape::{Edge, EdgeKind, GraphChange, Node, NodeKind, TextKind};
use super::views::l2::is_infrastructure;
use crate::fair_threads::yield_turn;
use crate::model::{HostRole, LinkId, NodeId, derived_id, group_node_id};
use crate::topology::links::{Confidence, LinkState};

/// Minimum number of end devices in a group.
const MIN_LEAVES: usize = 2;

/// End devices that one node can stand for.
struct Fold {
    /// The device that they are linked to, or the container that they are in.
    anchor: NodeId,
    leaves: Vec<NodeId>,
    links: BTreeSet<LinkId>,
    group: Node,
    /// The edge from the anchor to the group.
    edge: Option<Edge>,
}

/// Replaces end devices by one node for each device and container.
///
/// Unfolding one of them does not fold any other.
pub(super) fn fold(draft: &mut GraphDraft, options: &GraphOptions, folding: &Folding) {
    if !options.collapse {
        return;
    }
    let mut folds = folds(draft, options.focus);
    match folding {
        Folding::AsNeeded => folds.truncate(folds_needed(draft, &folds, options.view)),
        #[cfg(feature = "service")]
        Folding::AsBefore(former) => keep_former(&mut folds, former),
        #[cfg(feature = "service")]
        Folding::All => {}
    }
    // To open a box of an overview draws its devices as they would be without it.
    let is_box =
        |fold: &Fold| options.detail == Some(Detail::Overview) && fold.group.parent_id == Some(fold.anchor);
    let is_expanded = |fold: &Fold| {
        options.expand.contains(&fold.group.id) || (options.expand.contains(&fold.anchor) && !is_box(fold))
    };
    for fold in folds.into_iter().filter(|fold| !is_expanded(fold)) {
        yield_turn();
        fold.apply(draft);
    }
}

/// Keeps the groups that an earlier picture with these nodes has folded, and new ones that are as large as the smallest of them.
#[cfg(feature = "service")]
fn keep_former(folds: &mut Vec<Fold>, former: &BTreeSet<NodeId>) {
    let was_folded = |fold: &Fold| former.contains(&fold.group.id);
    let least = folds.iter().filter(|fold| was_folded(fold)).map(|fold| fold.leaves.len()).min();
    let is_new = |fold: &Fold| !fold.leaves.iter().any(|leaf| former.contains(leaf));
    let is_as_large = |fold: &Fold| least.is_some_and(|least| fold.leaves.len() >= least);
    folds.retain(|fold| was_folded(fold) || (is_new(fold) && is_as_large(fold)));
}

impl Fold {
    fn apply(mut self, draft: &mut GraphDraft) {
        for link in &self.links {
            draft.edges.remove(link);
        }
        let folded = self.leaves.iter().filter_map(|leaf| draft.nodes.remove(leaf));
        self.group.devices = devices(folded);
        draft.hidden.leaves = draft.hidden.leaves.saturating_add(self.leaves.len());
        draft.add(self.group);
        self.edge.into_iter().for_each(|edge| draft.connect(edge));
    }
}

/// Returns the groups of end devices, the largest first.
fn folds(draft: &GraphDraft, focus: Option<NodeId>) -> Vec<Fold> {
    let leaves = leaves(draft, focus);
    let folded: BTreeSet<NodeId> = leaves.values().flatten().copied().collect();
    let mut links_of: BTreeMap<NodeId, Vec<&Edge>> = BTreeMap::new();
    for edge in draft.edges.values() {
        for end in [edge.source, edge.target].into_iter().filter(|end| folded.contains(end)) {
            links_of.entry(end).or_default().push(edge);
        }
    }
    let mut folds: Vec<Fold> = leaves
        .into_iter()
        .filter(|(_, leaves)| leaves.len() >= MIN_LEAVES)
        .map(|(place, leaves)| {
            yield_turn();
            made(draft, place, leaves, &links_of)
        })
        .collect();
    folds.sort_by_key(|fold| (std::cmp::Reverse(fold.leaves.len()), fold.anchor));
    folds
}

/// The device or, marked as such, the container of end devices, and what has become of all of them.
type FoldPlace = (NodeId, bool, Option<GraphChange>);

/// Returns the end devices of each device and of each container.
fn leaves(draft: &GraphDraft, focus: Option<NodeId>) -> BTreeMap<FoldPlace, Vec<NodeId>> {
    let neighbors = draft.neighbors();
    let differing = differing(draft);
    let contents = draft.contents();
    let is_area = |id: NodeId| draft.nodes.get(&id).is_some_and(|node| node.kind == NodeKind::Area);
    let mut leaves: BTreeMap<FoldPlace, Vec<NodeId>> = BTreeMap::new();
    for node in draft.nodes.values() {
        let is_empty = !contents.contains_key(&node.id);
        let area = node.parent_id.filter(|parent| is_area(*parent));
        let in_container = node.parent_id.is_some() && area.is_none();
        if !is_empty || focus == Some(node.id) || !is_end_device(node) || differing.contains(&node.id) {
            continue;
        }
        let change = node.change;
        let mut around = neighbors.get(&node.id).into_iter().flatten();
        match (node.parent_id.filter(|_| in_container), around.next(), around.next()) {
            (Some(parent), None, _) => leaves.entry((parent, true, change)).or_default().push(node.id),
            (None, Some(device), None)
                if draft.nodes.get(device).is_some_and(|device| device.parent_id == area) =>
            {
                leaves.entry((*device, false, change)).or_default().push(node.id);
            }
            _ => {}
        }
    }
    leaves
}

/// Returns the nodes that are drawn by themselves because of what has become of them: they have moved, or one of their links has
/// changed in another way than they have.
fn differing(draft: &GraphDraft) -> BTreeSet<NodeId> {
    let moved = draft.nodes.values().filter(|node| node.change == Some(GraphChange::Moved));
    let mut differing: BTreeSet<NodeId> = moved.map(|node| node.id).collect();
    for edge in draft.edges.values() {
        let change = |end: &NodeId| draft.nodes.get(end).and_then(|node| node.change);
        let ends = [edge.source, edge.target];
        differing.extend(ends.into_iter().filter(|end| change(end) != edge.change));
    }
    differing
}

/// Returns whether a node may be folded. Devices that connect others are drawn one by one.
const fn is_end_device(node: &Node) -> bool {
    match node.kind {
        // A box of an overview is no device, though it may be a host with its guests.
        NodeKind::Host | NodeKind::Stub => {
            node.collapsed == 0
                && !is_infrastructure(node.role)
                && !matches!(node.role, HostRole::WirelessController)
        }
        NodeKind::Subnet | NodeKind::Service => node.collapsed == 0,
        NodeKind::Segment | NodeKind::Group | NodeKind::Area => false,
    }
}

fn made(
    draft: &GraphDraft,
    (anchor, is_container, change): FoldPlace,
    leaves: Vec<NodeId>,
    links_of: &BTreeMap<NodeId, Vec<&Edge>>,
) -> Fold {
    let of_change = |change: GraphChange| [anchor.as_bytes(), change.as_str().as_bytes()];
    let id = change.map_or_else(
        || group_node_id(anchor),
        |change| derived_id("topology group of changes", &of_change(change)),
    );
    let links = |leaf: &NodeId| links_of.get(leaf).into_iter().flatten().copied();
    let port = |edge: &Edge| {
        let port = if edge.source == anchor { &edge.source_port } else { &edge.target_port };
        port.as_ref().map(|port| port_name(&port.name)).filter(|name| !name.is_empty())
    };
    let nodes: Vec<Leaf<'_>> = leaves
        .iter()
        .filter_map(|leaf| Some(Leaf { node: draft.nodes.get(leaf)?, port: links(leaf).find_map(port) }))
        .collect();
    let mut group = Node::new(id, NodeKind::Group, String::new(), TextKind::Fixed);
    group.change = change;
    let area = draft.nodes.get(&anchor).and_then(|anchor| anchor.parent_id);
    group.parent_id = if is_container { Some(anchor) } else { area };
    group.collapsed = u32::try_from(leaves.len()).unwrap_or(u32::MAX);
    group.stale = nodes.iter().all(|leaf| leaf.node.stale);
    group.state = LinkState::of_all(nodes.iter().map(|leaf| leaf.node.state));
    group.role = common(nodes.iter().map(|leaf| leaf.node.role)).unwrap_or_default();
    describe(&mut group, nodes);
    let edges: BTreeMap<LinkId, &Edge> = leaves.iter().flat_map(links).map(|edge| (edge.id, edge)).collect();
    let edge = edge_to(&group, anchor, &edges);
    Fold { anchor, leaves, links: edges.into_keys().collect(), group, edge }
}

/// Returns the edge from a device to the group of its end devices.
fn edge_to(group: &Node, anchor: NodeId, edges: &BTreeMap<LinkId, &Edge>) -> Option<Edge> {
    let kinds = edges.values().map(|edge| edge.kind);
    let id = derived_id("topology group edge", &[group.id.as_bytes()]);
    let mut edge = Edge::new(id, common(kinds).unwrap_or(EdgeKind::Adjacency), anchor, group.id);
    edge.confidence = edges.values().map(|edge| edge.confidence).min().unwrap_or(Confidence::Inferred);
    edge.stale = edges.values().all(|edge| edge.stale);
    edge.state = LinkState::of_all(edges.values().map(|edge| edge.state));
    edge.change = group.change;
    (!edges.is_empty()).then_some(edge)
}

/// Returns the value that all have, if they have one.
pub(super) fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}
