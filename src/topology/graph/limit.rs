//! The maximum number of nodes of a graph.

use std::collections::BTreeSet;

use super::GraphOptions;
use super::draft::Draft;
use super::fold::fold;
use super::shape::{Node, NodeKind};
use super::views::l2::is_infrastructure;
use crate::model::NodeId;

/// Maximum number of nodes of a graph.
pub(super) const MAX_NODES: usize = 50_000;

/// Maximum number of edges of a graph.
const MAX_EDGES: usize = 100_000;

/// Folds the leaves of a graph with too many nodes, whatever the options say. Removes what is still too much.
pub(super) fn limit(draft: &mut Draft, options: &GraphOptions) {
    if draft.nodes.len() > MAX_NODES {
        let all = draft.nodes.len();
        let folded = GraphOptions { collapse: true, expand: BTreeSet::new(), ..options.clone() };
        fold(draft, &folded);
        draft.warn_count("folded_to_fit", all.saturating_sub(draft.nodes.len()));
    }
    if draft.nodes.len() > MAX_NODES {
        let mut order: Vec<(u8, NodeId)> = draft.nodes.values().map(|node| (place(node), node.id)).collect();
        order.sort_unstable();
        let left_out = order.split_off(MAX_NODES);
        let mut kept: BTreeSet<NodeId> = order.into_iter().map(|(_, id)| id).collect();
        // What is within a container that is left out is left out as well.
        let mut inner: Vec<NodeId> = left_out.iter().map(|(_, id)| *id).collect();
        let contents = draft.contents();
        while let Some(outer) = inner.pop() {
            inner.extend(contents.get(&outer).into_iter().flatten().filter(|id| kept.remove(id)));
        }
        let all = draft.nodes.len();
        draft.retain(&kept);
        draft.warn_count("nodes_left_out", all.saturating_sub(draft.nodes.len()));
    }
    let all_edges = draft.edges.len();
    if all_edges > MAX_EDGES {
        let mut order: Vec<_> =
            draft.edges.values().map(|edge| (edge.stale, edge.confidence, edge.id)).collect();
        order.sort_unstable_by_key(|(stale, confidence, id)| (*stale, std::cmp::Reverse(*confidence), *id));
        for (.., id) in order.split_off(MAX_EDGES) {
            draft.edges.remove(&id);
        }
        draft.warn_count("edges_left_out", all_edges.saturating_sub(MAX_EDGES));
    }
}

/// Returns the place of a node among those that are kept first: containers and what connects others.
const fn place(node: &Node) -> u8 {
    match node.kind {
        NodeKind::Subnet | NodeKind::Segment => 0,
        _ if is_infrastructure(node.role) => 1,
        NodeKind::Group => 2,
        NodeKind::Host => 3,
        NodeKind::Stub | NodeKind::Service => 4,
    }
}
