use std::collections::{BTreeMap, BTreeSet};

use super::areas::group;
use super::arrange::size;
use super::arrange::size::cut_text;
use super::context::GraphContext;
use super::draft::GraphDraft;
use super::fold::fold;
use super::input::Folding;
use super::overview::overview;
use super::shape::{Bounds, Graph, Node, NodeKind, UnplacedHost, Warning};
use super::unplaced::unplaced;
use super::views::l2::is_infrastructure;
use super::views::{l2, l3, parallel, workloads};
use super::{Detail, GraphInput, GraphOptions};
use crate::model::{HostId, NodeId, TopologyView};
use crate::topology::links::LinkWarning;

/// Selects what a view shows of a network. The nodes have extents, but no positions.
#[must_use]
pub fn build(input: &GraphInput<'_>) -> Graph {
    let context = GraphContext::new(input);
    let mut draft = drafted(&context);
    parallel::join(&mut draft);
    let unplaced = unplaced(&context, &draft);
    add_facts(&mut draft, &context);
    keep_focus(&mut draft, input.options);
    finished(draft, &context, unplaced)
}

/// Keeps what is around the focus, if the options have one.
pub(super) fn keep_focus(draft: &mut GraphDraft, options: &GraphOptions) {
    if let Some(id) = options.focus {
        focus(draft, id, options.depth);
    }
}

/// Returns what the view shows. Parallel links are drawn one by one.
pub(super) fn drafted(context: &GraphContext<'_>) -> GraphDraft {
    let mut draft = match context.input.options.view {
        TopologyView::L2 => l2::draft(context),
        TopologyView::L3 => l3::draft(context),
        TopologyView::Workloads => workloads::draft(context),
    };
    draft.hidden.stale = context.hidden_stale;
    draft
}

/// Adds what the whole network says of nodes and edges, and the containers that the options ask for.
pub(super) fn add_facts(draft: &mut GraphDraft, context: &GraphContext<'_>) {
    draft.spread_staleness();
    draft.set_link_facts(&context.links);
    let options = context.input.options;
    let is_overview = options.detail == Some(Detail::Overview);
    if let Some(by) = options.grouping().filter(|_| !is_overview) {
        group(draft, context, by);
    }
}

/// Returns the graph of a draft: as much of it, around the focus, as the options ask for.
pub(super) fn finished(
    mut draft: GraphDraft,
    context: &GraphContext<'_>,
    unplaced: Vec<UnplacedHost>,
) -> Graph {
    let input = context.input;
    if input.options.detail == Some(Detail::Overview) {
        overview(&mut draft, context);
    }
    fold(&mut draft, input.options, &input.folding);
    limit(&mut draft, input.options);
    let (mut nodes, edges, hidden, warnings) = draft.into_parts();
    size::measure(&mut nodes);
    Graph {
        network_id: Some(input.network_id),
        view: input.options.view,
        detail: input.options.detail.unwrap_or_default(),
        revision: input.revision.to_owned(),
        observed_at: input.observed_at,
        at: None,
        comparison: None,
        bounds: Bounds::default(),
        nodes,
        edges,
        hidden,
        warnings,
        unplaced,
    }
}

/// Keeps the nodes within a distance of the focus, and their containers.
///
/// A container is next to what it contains. An area only groups devices, and brings none of them nearer to another.
pub(super) fn focus(draft: &mut GraphDraft, focus: NodeId, depth: u32) {
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
            let parent = parent.filter(|parent| !is_area(draft, *parent));
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

fn is_area(draft: &GraphDraft, id: NodeId) -> bool {
    draft.nodes.get(&id).is_some_and(|node| node.kind == NodeKind::Area)
}

fn containers(draft: &GraphDraft, id: NodeId) -> BTreeSet<NodeId> {
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

/// Maximum number of nodes of a graph.
pub(super) const MAX_NODES: usize = 50_000;

/// Maximum number of edges of a graph.
const MAX_EDGES: usize = 100_000;

/// Folds the leaves of a graph with too many nodes, whatever the options say. Removes what is still too much.
pub(super) fn limit(draft: &mut GraphDraft, options: &GraphOptions) {
    if draft.nodes.len() > MAX_NODES {
        let all = draft.nodes.len();
        let folded = GraphOptions { collapse: true, expand: BTreeSet::new(), ..options.clone() };
        fold(draft, &folded, &Folding::AsNeeded);
        draft.warn_count("folded_to_fit", all.saturating_sub(draft.nodes.len()));
    }
    if draft.nodes.len() > MAX_NODES {
        let mut order: Vec<(u8, NodeId)> = draft.nodes.values().map(|node| (place(node), node.id)).collect();
        order.sort_unstable();
        let left_out = order.split_off(MAX_NODES);
        let mut kept: BTreeSet<NodeId> = order.into_iter().map(|(_, id)| id).collect();
        // The contents of a container that is left out are left out as well.
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
        NodeKind::Subnet | NodeKind::Area | NodeKind::Segment => 0,
        _ if is_infrastructure(node.role) => 1,
        NodeKind::Group => 2,
        NodeKind::Host => 3,
        NodeKind::Stub | NodeKind::Service => 4,
    }
}

/// Maximum number of warnings with one code. `more_warnings` counts the others.
const MAX_OF_CODE: usize = 20;

/// Adds the warnings about links of hosts that the graph may show.
pub(super) fn add_warnings(context: &GraphContext<'_>, draft: &mut GraphDraft) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut more = 0_usize;
    for (code, params) in context.input.warnings.iter().filter_map(|warning| described(warning, context)) {
        let count = counts.entry(code).or_default();
        if *count == MAX_OF_CODE {
            more = more.saturating_add(1);
            continue;
        }
        *count = count.saturating_add(1);
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        draft.warnings.push(Warning { code: code.to_owned(), params });
    }
    draft.warn_count("more_warnings", more);
}

/// Returns the code and the parameters of a warning. `None` if it is about hosts that are not shown.
fn described(
    warning: &LinkWarning,
    context: &GraphContext<'_>,
) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    let shown = |id: &HostId| context.hosts.contains_key(id).then(|| ("host_id", id.to_string()));
    Some(match warning {
        LinkWarning::DuplicateChassisId { chassis_id, host_ids } => {
            let host = host_ids.iter().find_map(shown)?;
            let count = ("count", host_ids.len().to_string());
            ("duplicate_chassis_id", vec![host, ("chassis_id", chassis_id.clone()), count])
        }
        LinkWarning::AmbiguousNeighbor { host_id, if_entry_id, names } => {
            let port = if_entry_id.map(|id| ("if_entry_id", id.to_string()));
            let params = [shown(host_id)?, ("names", cut_text(names))];
            ("ambiguous_neighbor", params.into_iter().chain(port).collect())
        }
        LinkWarning::NeighborBehindTunnel { host_id, if_entry_id, names } => {
            let port = if_entry_id.map(|id| ("if_entry_id", id.to_string()));
            let params = [shown(host_id)?, ("names", cut_text(names))];
            ("neighbor_behind_tunnel", params.into_iter().chain(port).collect())
        }
        LinkWarning::TruncatedTable { host_id, kind } => {
            ("truncated_table", vec![shown(host_id)?, ("table", kind.as_str().to_owned())])
        }
        LinkWarning::PortIndexMismatch { host_id, neighbor_id } => {
            ("port_index_mismatch", vec![shown(host_id)?, ("neighbor_id", neighbor_id.to_string())])
        }
        LinkWarning::TooManyBridges { host_id, if_entry_id, count } => {
            let port = if_entry_id.map(|id| ("if_entry_id", id.to_string()));
            let params = [shown(host_id)?, ("count", count.to_string())];
            ("too_many_bridges", params.into_iter().chain(port).collect())
        }
    })
}
