//! Two states of a network in one graph.
//!
//! Nodes are compared by their ids, and edges by the devices and ports at both ends. An edge that keeps one end is one that has
//! moved. Nodes and edges of the earlier state alone are drawn as they were.

mod matching;

use std::collections::{BTreeMap, BTreeSet};

use self::matching::{EdgeMatches, matches};
use super::GraphInput;
use super::build::{add_facts, drafted, finished, keep_focus};
use super::context::GraphContext;
use super::draft::GraphDraft;
use super::shape::{ChangeCounts, FormerEnd, Graph, GraphChange, GraphComparison, Node, NodeKind};
use super::unplaced::unplaced;
use super::views::parallel;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, NodeId};

/// Draws two states of a network in one graph. Nodes and edges state their change since the earlier one.
///
/// The options of the later state apply. The nodes have extents, but no positions.
///
/// ```
/// use toposcope::model::{Host, NetworkId, TopologyView};
/// use toposcope::topology::graph::{GraphChange, GraphInput, GraphOptions, HostSummary, compare};
/// # use toposcope::model::HostRole;
///
/// let options = GraphOptions::new(TopologyView::L2);
/// let mut switch = HostSummary::of(&Host::new(NetworkId::nil(), "sw-1"), &[]);
/// # switch.role = HostRole::Switch;
/// let before = GraphInput::new(NetworkId::nil(), &options);
/// let mut after = GraphInput::new(NetworkId::nil(), &options);
/// after.hosts.push(&switch);
/// assert_eq!(compare(&before, &after).nodes[0].change, Some(GraphChange::Added));
/// ```
#[must_use]
pub fn compare(before: &GraphInput<'_>, after: &GraphInput<'_>) -> Graph {
    let [before, after] = [before, after].map(GraphContext::new);
    let (mut former, mut draft) = (drafted(&before), drafted(&after));
    let unplaced = unplaced(&after, &draft);
    add_facts(&mut former, &before);
    add_facts(&mut draft, &after);
    let known_as = scanned_since(&former, &draft);
    let matches = matches(&former, &draft, &known_as);
    mark_nodes(&mut draft, (&before, &after), &former, &known_as);
    add_removed_nodes(&mut draft, &after, &former, &known_as, &matches);
    mark_edges(&mut draft, &former, &known_as, matches);
    count_hosts_not_drawn(&mut draft, &before, &after);
    keep_focus(&mut draft, after.input.options);
    let nodes = ChangeCounts::of(draft.nodes.values().filter_map(|node| node.change));
    let edges = ChangeCounts::of(draft.edges.values().filter_map(|edge| edge.change));
    parallel::join(&mut draft);
    let mut graph = finished(draft, &after, unplaced);
    graph.comparison = Some(GraphComparison { with: None, nodes, edges });
    graph
}

/// Returns the devices that were only named by their neighbors and are hosts now, by the ids that they had.
fn scanned_since(former: &GraphDraft, draft: &GraphDraft) -> BTreeMap<NodeId, NodeId> {
    let added = |others: &GraphDraft, id: &NodeId| !others.nodes.contains_key(id);
    let by_name = |of: &GraphDraft, others: &GraphDraft, kind: NodeKind| {
        let mut by_name: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
        for node in of.nodes.values().filter(|node| node.kind == kind && added(others, &node.id)) {
            by_name.entry(node.label.to_lowercase()).or_default().push(node.id);
        }
        by_name
    };
    let stubs = by_name(former, draft, NodeKind::Stub);
    let hosts = by_name(draft, former, NodeKind::Host);
    let known_as = stubs.into_iter().filter_map(|(name, stubs)| {
        match (stubs.as_slice(), hosts.get(&name)?.as_slice()) {
            ([stub], [host]) => Some((*stub, *host)),
            _ => None,
        }
    });
    known_as.collect()
}

/// Marks the nodes of the later state.
fn mark_nodes(
    draft: &mut GraphDraft,
    (before, after): (&GraphContext<'_>, &GraphContext<'_>),
    former: &GraphDraft,
    known_as: &BTreeMap<NodeId, NodeId>,
) {
    let scanned: BTreeSet<NodeId> = known_as.values().copied().collect();
    for node in draft.nodes.values_mut() {
        yield_turn();
        match former.nodes.get(&node.id) {
            Some(was) => mark_moved(node, was, &former.nodes),
            // A view may have had no place for it.
            None if is_host_of(before, node.id) && is_host_of(after, node.id) => {}
            None if scanned.contains(&node.id) => {}
            None => node.change = Some(GraphChange::Added),
        }
    }
}

fn is_host_of(context: &GraphContext<'_>, id: NodeId) -> bool {
    context.hosts.contains_key(&HostId::from(id.uuid()))
}

/// Adds the nodes of the earlier state that are no longer there. A host that the view has no place for any more is added if it is at
/// the end of a link that is no longer there, or the container of a node that is no longer there.
fn add_removed_nodes(
    draft: &mut GraphDraft,
    after: &GraphContext<'_>,
    former: &GraphDraft,
    known_as: &BTreeMap<NodeId, NodeId>,
    matches: &EdgeMatches,
) {
    let is_missing = |id: &NodeId| !draft.nodes.contains_key(id) && !known_as.contains_key(id);
    let (hosts, removed): (Vec<NodeId>, Vec<NodeId>) =
        former.nodes.keys().copied().filter(is_missing).partition(|id| is_host_of(after, *id));
    let links = matches.removed.iter().filter_map(|id| former.edges.get(id));
    let mut needed: BTreeSet<NodeId> = links.flat_map(|edge| [edge.source, edge.target]).collect();
    let mut inner = removed.clone();
    while let Some(id) = inner.pop() {
        let container = former.nodes.get(&id).and_then(|node| node.parent_id);
        inner.extend(container.filter(|container| needed.insert(*container)));
    }
    for id in hosts.into_iter().filter(|id| needed.contains(id)) {
        let host = after.hosts.get(&HostId::from(id.uuid()));
        host.into_iter().for_each(|host| draft.add(host.node()));
    }
    for node in removed.into_iter().filter_map(|id| former.nodes.get(&id)) {
        yield_turn();
        draft.add(Node { change: Some(GraphChange::Removed), ..node.clone() });
    }
}

/// Marks a node that was in another container.
fn mark_moved(node: &mut Node, was: &Node, former: &BTreeMap<NodeId, Node>) {
    let (Some(now), Some(before)) = (node.parent_id, was.parent_id) else { return };
    if now != before {
        node.change = Some(GraphChange::Moved);
        node.moved_from = former.get(&before).map(|container| container.label.clone());
    }
}

/// Marks the edges of the later state, and adds the edges of the earlier one that are no longer there.
fn mark_edges(
    draft: &mut GraphDraft,
    former: &GraphDraft,
    known_as: &BTreeMap<NodeId, NodeId>,
    matches: EdgeMatches,
) {
    let EdgeMatches { added, removed, moved } = matches;
    for id in added {
        draft.edges.entry(id).and_modify(|edge| edge.change = Some(GraphChange::Added));
    }
    for (id, of_former) in moved {
        let was = former.edges.get(&of_former.id).map(|edge| edge.end(of_former.side));
        let Some(((node, port), edge)) = was.zip(draft.edges.get_mut(&id)) else { continue };
        edge.change = Some(GraphChange::Moved);
        edge.moved_from = Some(FormerEnd {
            end: edge.end(of_former.now).0,
            node: known_as.get(&node).copied().unwrap_or(node),
            label: former.nodes.get(&node).map(|node| node.label.clone()).unwrap_or_default(),
            port: port.cloned(),
        });
    }
    for mut edge in removed.into_iter().filter_map(|id| former.edges.get(&id).cloned()) {
        edge.change = Some(GraphChange::Removed);
        for end in [&mut edge.source, &mut edge.target] {
            *end = known_as.get(end).copied().unwrap_or(*end);
        }
        draft.connect(edge);
    }
}

/// Counts the hosts that are new or gone and that the view has no place for.
fn count_hosts_not_drawn(draft: &mut GraphDraft, before: &GraphContext<'_>, after: &GraphContext<'_>) {
    let not_drawn = |of: &GraphContext<'_>, others: &GraphContext<'_>| {
        let own = of.hosts.keys().filter(|id| !others.hosts.contains_key(id));
        own.filter(|id| !draft.nodes.contains_key(&NodeId::from(**id))).count()
    };
    let (added, removed) = (not_drawn(after, before), not_drawn(before, after));
    draft.warn_count("added_hosts_not_drawn", added);
    draft.warn_count("removed_hosts_not_drawn", removed);
}
