//! The part of a graph around one node.

use std::collections::BTreeSet;

use super::draft::Draft;
use crate::model::NodeId;

/// Keeps the nodes within a distance of the focus, and their containers.
///
/// A container is next to what it contains.
pub(super) fn focus(draft: &mut Draft, focus: NodeId, depth: u32) {
    if !draft.nodes.contains_key(&focus) {
        draft.nodes.clear();
        draft.edges.clear();
        draft.warn("focus_not_found", "id", focus.to_string());
        return;
    }
    let neighbors = draft.neighbors();
    let contents = draft.contents();
    let mut kept = BTreeSet::from([focus]);
    let mut frontier = vec![focus];
    for _ in 0..depth {
        let mut next = Vec::new();
        for id in &frontier {
            let parent = draft.nodes.get(id).and_then(|node| node.parent_id);
            let connected = neighbors.get(id).into_iter().flatten();
            let contained = contents.get(id).into_iter().flatten();
            for near in connected.chain(contained).copied().chain(parent) {
                if kept.insert(near) {
                    next.push(near);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    let containers: Vec<NodeId> = kept.iter().flat_map(|id| containers(draft, *id)).collect();
    kept.extend(containers);
    draft.retain(&kept);
}

fn containers(draft: &Draft, id: NodeId) -> BTreeSet<NodeId> {
    let mut containers = BTreeSet::new();
    let mut current = id;
    while let Some(parent) = draft.nodes.get(&current).and_then(|node| node.parent_id) {
        if !containers.insert(parent) {
            break;
        }
        current = parent;
    }
    containers
}
