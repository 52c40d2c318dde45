//! The overview of a network: one node for each location or part, and bundles of the links between them.

mod blocks;
mod split;

use std::collections::BTreeMap;

use self::blocks::{Block, blocks};
use super::arrange::size::{DETAIL_SIZE, MAX_SUMMARY, width};
use super::context::GraphContext;
use super::draft::GraphDraft;
use super::fold::{common, count_in_words, role_counts, words};
use super::shape::{Edge, EdgeKind, Node, NodeKind};
use super::views::l2::is_infrastructure;
use crate::fair_threads::yield_turn;
use crate::model::{NodeId, derived_id};
use crate::topology::layout::AddressScope;
use crate::topology::links::{Confidence, LinkState};

/// Replaces the devices of each location or part by a box, unless the options expand it: then it contains its devices.
///
/// A device that is a part by itself stays.
pub(super) fn overview(draft: &mut GraphDraft, context: &GraphContext<'_>) {
    let contents = draft.contents();
    let mut closed: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    let mut boxes: Vec<Node> = Vec::new();
    for block in blocks(draft, context) {
        yield_turn();
        let Some((mut node, members)) = container(draft, block, &contents) else { continue };
        if context.input.options.expand.contains(&node.id) {
            for member in members {
                draft.nodes.entry(member).and_modify(|member| member.parent_id = Some(node.id));
            }
        } else {
            let inside = inside(members, &contents);
            let nodes: Vec<&Node> = inside.iter().filter_map(|id| draft.nodes.get(id)).collect();
            summarize(&mut node, &nodes);
            closed.extend(inside.into_iter().map(|id| (id, node.id)));
        }
        boxes.push(node);
    }
    bundle(draft, &closed);
    let is_closed_device = |node: &&Node| node.is_device() && closed.contains_key(&node.id);
    let devices = draft.nodes.values().filter(is_closed_device).count();
    draft.nodes.retain(|id, _| !closed.contains_key(id));
    draft.hidden.leaves = draft.hidden.leaves.saturating_add(devices);
    boxes.into_iter().for_each(|node| draft.add(node));
}

/// Returns the container for a block, and the nodes that it contains; `None` if the block is a single node without content.
fn container(
    draft: &GraphDraft,
    block: Block,
    contents: &BTreeMap<NodeId, Vec<NodeId>>,
) -> Option<(Node, Vec<NodeId>)> {
    match block.members.as_slice() {
        [] => None,
        // A container needs no further one around it, and a device that is a part by itself is itself.
        [only] if !block.is_named || contents.contains_key(only) => {
            Some((draft.nodes.get(only)?.clone(), contents.get(only)?.clone()))
        }
        _ => Some((block.node, block.members)),
    }
}

/// Returns nodes with everything in them.
fn inside(members: Vec<NodeId>, contents: &BTreeMap<NodeId, Vec<NodeId>>) -> Vec<NodeId> {
    let mut inside = Vec::new();
    let mut waiting = members;
    while let Some(id) = waiting.pop() {
        waiting.extend(contents.get(&id).into_iter().flatten());
        inside.push(id);
    }
    inside
}

/// Describes the content of a box.
fn summarize(node: &mut Node, inside: &[&Node]) {
    let devices: Vec<&Node> = inside.iter().filter(|node| node.is_device()).copied().collect();
    let count = if devices.is_empty() { inside.len() } else { devices.len() };
    node.collapsed = u32::try_from(count).unwrap_or(u32::MAX);
    node.folded = role_counts(devices.iter().copied());
    // A hypervisor is itself the box of its guests: its state is its own.
    if node.kind != NodeKind::Host {
        node.stale = inside.iter().all(|node| node.stale);
        node.state = state_of(inside, &devices);
    }
    if inside.iter().any(|node| node.addresses == AddressScope::Public) {
        node.addresses = AddressScope::Public;
    }
    let down = match devices.iter().filter(|node| node.state == LinkState::Down).count() {
        0 => String::new(),
        down => format!(", {down} down"),
    };
    let mut counts = node.folded.clone();
    counts.sort_by_key(|of| !is_infrastructure(of.role));
    let room = MAX_SUMMARY.saturating_sub(width(&down, DETAIL_SIZE));
    let text = words(&counts, room, DETAIL_SIZE)
        .unwrap_or_else(|| count_in_words(count, inside.iter().map(|node| node.kind)));
    node.detail = Some(text + &down);
}

/// Returns the worst state of the devices that connect others. End devices that are switched off are no failure of the network.
fn state_of(inside: &[&Node], devices: &[&Node]) -> LinkState {
    let connecting = devices.iter().filter(|node| is_infrastructure(node.role)).map(|node| node.state);
    connecting.max().unwrap_or_else(|| LinkState::of_all(inside.iter().map(|node| node.state)))
}

/// Replaces the links of boxes by one edge for each two nodes, and leaves out those within a box.
fn bundle(draft: &mut GraphDraft, closed: &BTreeMap<NodeId, NodeId>) {
    let of = |id: NodeId| closed.get(&id).copied().unwrap_or(id);
    let mut bundles: BTreeMap<(NodeId, NodeId), Vec<Edge>> = BTreeMap::new();
    for edge in std::mem::take(&mut draft.edges).into_values() {
        yield_turn();
        let (source, target) = (of(edge.source), of(edge.target));
        if (source, target) == (edge.source, edge.target) {
            draft.connect(edge);
        } else if source != target {
            bundles.entry((source.min(target), source.max(target))).or_default().push(edge);
        }
    }
    for ((source, target), edges) in bundles {
        draft.connect(bundled(source, target, &edges));
    }
}

fn bundled(source: NodeId, target: NodeId, edges: &[Edge]) -> Edge {
    let id = derived_id("topology bundle", &[source.as_bytes(), target.as_bytes()]);
    let kind = common(edges.iter().map(|edge| edge.kind)).unwrap_or(EdgeKind::Adjacency);
    let mut bundle = Edge::new(id, kind, source, target);
    let links = edges.iter().map(|edge| edge.members.len().max(1)).sum::<usize>();
    bundle.bundled = u32::try_from(links).unwrap_or(u32::MAX);
    bundle.speed_bps = edges.iter().filter_map(|edge| edge.speed_bps).reduce(u64::saturating_add);
    bundle.confidence = edges.iter().map(|edge| edge.confidence).min().unwrap_or(Confidence::Inferred);
    bundle.stale = edges.iter().all(|edge| edge.stale);
    bundle.state = LinkState::of_all(edges.iter().map(|edge| edge.state));
    bundle
}
