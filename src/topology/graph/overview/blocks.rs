//! The boxes of an overview: locations, subnets or tags, and parts of the network.

use std::collections::{BTreeMap, BTreeSet};

use super::split::{Cluster, split};
use crate::fair_threads::yield_turn;
use crate::model::{NodeId, TopologyView, derived_id};
use crate::topology::graph::areas::{area, areas};
use crate::topology::graph::arrange::size::{cut_text, sort_key};
use crate::topology::graph::context::GraphContext;
use crate::topology::graph::draft::GraphDraft;
use crate::topology::graph::input::GroupBy;
use crate::topology::graph::shape::{Node, NodeKind, TextKind};
use crate::topology::graph::views::l2::is_infrastructure;
use crate::topology::layout::SimpleGraph;

/// Number of boxes above which small parts are joined.
const MAX_BLOCKS: usize = 40;
/// Least number of boxes for what has no location, subnet or tag, however many of these there are.
const MIN_OTHERS: usize = 8;

/// Nodes of the outermost level, and the box for them.
pub(super) struct Block {
    /// A container without content.
    pub(super) node: Node,
    pub(super) members: Vec<NodeId>,
    /// Whether it is a location, a subnet or a tag, rather than a part of the network.
    pub(super) is_named: bool,
}

/// Returns the boxes. A node of the outermost level is in at most one of them.
pub(super) fn blocks(draft: &GraphDraft, context: &GraphContext<'_>) -> Vec<Block> {
    let mut named: BTreeMap<NodeId, Block> = BTreeMap::new();
    let mut placed = BTreeSet::new();
    if let Some((by, areas)) = grouping(draft, context) {
        let mut members: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
        for (id, name) in areas {
            members.entry(name).or_default().push(id);
            placed.insert(id);
        }
        for (name, mut members) in members {
            yield_turn();
            let node = area(context, by, &name);
            let known = named.entry(node.id).or_insert(Block { node, members: Vec::new(), is_named: true });
            known.members.append(&mut members);
        }
    }
    let outer = draft.nodes.values().filter(|node| node.parent_id.is_none()).map(|node| node.id);
    let others = Others::of(draft, outer.filter(|id| !placed.contains(id)).collect());
    let room = MAX_BLOCKS.saturating_sub(named.len()).max(MIN_OTHERS);
    let others = merged(others.parts(), room);
    let network = context.input.network_id;
    let block = |part: NamedPart| {
        let id = derived_id("topology block", &[network.as_bytes(), part.key.as_bytes()]);
        let mut node = Node::new(id, NodeKind::Area, cut_text(&part.name()), TextKind::Name);
        node.role = part.heads.first().and_then(|head| draft.nodes.get(&head.id)).map(|head| head.role)?;
        Some(Block { node, members: part.members, is_named: false })
    };
    named.into_values().chain(others.into_iter().filter_map(block)).collect()
}

/// Returns what a request groups devices by, and the areas. Without a request, these are the locations, if most devices that
/// connect others have one, and if they divide the network.
fn grouping(draft: &GraphDraft, context: &GraphContext<'_>) -> Option<(GroupBy, BTreeMap<NodeId, String>)> {
    let options = context.input.options;
    if options.view != TopologyView::L2 {
        return None;
    }
    if let Some(by) = options.group_by {
        return Some((by, areas(draft, context, by)));
    }
    let found = areas(draft, context, GroupBy::Location);
    let names: BTreeSet<&String> = found.values().collect();
    let connecting = || draft.nodes.values().filter(|node| is_infrastructure(node.role));
    let located = connecting().filter(|node| found.contains_key(&node.id)).count();
    let divides =
        (2..=MAX_BLOCKS).contains(&names.len()) && located > 0 && located * 2 >= connecting().count();
    divides.then_some((GroupBy::Location, found))
}

/// The nodes of the outermost level that have no area, by number, and the links between them.
struct Others<'a> {
    draft: &'a GraphDraft,
    ids: Vec<NodeId>,
    /// The numbers of devices in the nodes, or that they are.
    weights: Vec<usize>,
    network: SimpleGraph,
}

impl<'a> Others<'a> {
    fn of(draft: &'a GraphDraft, ids: Vec<NodeId>) -> Self {
        let numbers: BTreeMap<NodeId, usize> =
            ids.iter().enumerate().map(|(number, id)| (*id, number)).collect();
        let number = |id: NodeId| numbers.get(&draft.outermost(id)).copied();
        let mut weights = vec![0_usize; ids.len()];
        for node in draft.nodes.values().filter(|node| node.is_device()) {
            yield_turn();
            if let Some(weight) = number(node.id).and_then(|number| weights.get_mut(number)) {
                *weight = weight.saturating_add(1);
            }
        }
        let links = draft.edges.values().filter_map(|edge| number(edge.source).zip(number(edge.target)));
        let network = SimpleGraph::new(ids.len(), links);
        Self { draft, ids, weights, network }
    }

    fn node(&self, number: usize) -> Option<&'a Node> {
        self.draft.nodes.get(self.ids.get(number)?)
    }

    /// Returns the parts of the network.
    fn parts(&self) -> Vec<NamedPart> {
        let count = self.ids.len();
        let hubs: Vec<Option<usize>> = (0..count).map(|number| self.hub(number)).collect();
        let core: Vec<usize> =
            hubs.iter().enumerate().filter(|(_, hub)| hub.is_none()).map(|(number, _)| number).collect();
        let place: BTreeMap<usize, usize> =
            core.iter().enumerate().map(|(place, number)| (*number, place)).collect();
        let mut leaves: Vec<Vec<usize>> = vec![Vec::new(); core.len()];
        for (number, hub) in hubs.iter().enumerate() {
            let hub = hub.and_then(|hub| place.get(&hub)).and_then(|place| leaves.get_mut(*place));
            hub.into_iter().for_each(|leaves| leaves.push(number));
        }
        let weight = |number: &usize| self.weights.get(*number).copied().unwrap_or_default();
        let weights: Vec<usize> = core
            .iter()
            .zip(&leaves)
            .map(|(number, leaves)| weight(number) + leaves.iter().map(weight).sum::<usize>())
            .collect();
        let network = self.network.part(&core);
        let part = |part: Cluster| {
            yield_turn();
            let core_of = |node: &usize| core.get(*node).copied();
            let heads = self.heads(&part.nodes, &network, &core_of);
            let own = part.nodes.iter().filter_map(core_of);
            let around = part.nodes.iter().filter_map(|node| leaves.get(*node)).flatten().copied();
            let members = own.chain(around).filter_map(|number| self.ids.get(number).copied()).collect();
            let weight = part.nodes.iter().filter_map(|node| weights.get(*node)).sum();
            NamedPart::new(heads, members, weight, part.is_center)
        };
        split(&network, &weights).into_iter().filter_map(part).collect()
    }

    /// Returns the only neighbor of an end device, if the neighbor has others.
    fn hub(&self, number: usize) -> Option<usize> {
        let [hub] = *self.network.neighbors(number) else { return None };
        let node = self.node(number)?;
        let is_end = node.is_device() && !is_infrastructure(node.role);
        (is_end && self.network.degree(hub) > 1).then_some(hub)
    }

    /// Returns the nodes of a part with the most links, by name.
    fn heads(
        &self,
        nodes: &[usize],
        network: &SimpleGraph,
        core_of: &impl Fn(&usize) -> Option<usize>,
    ) -> Vec<Head> {
        let node = |number: &usize| self.node(core_of(number)?);
        let is_named = |number: &&usize| node(number).is_some_and(|node| node.kind != NodeKind::Segment);
        let mut candidates: Vec<&usize> = nodes.iter().filter(is_named).collect();
        if candidates.is_empty() {
            // End devices around one shared segment.
            candidates.extend(nodes);
        }
        let most = candidates.iter().map(|number| network.degree(**number)).max().unwrap_or_default();
        let is_head = |number: &&&usize| network.degree(***number) * 10 >= most * 9;
        let mut heads: Vec<Head> = candidates
            .iter()
            .filter(is_head)
            .filter_map(|number| node(number))
            .map(|node| Head { key: sort_key(&node.label), id: node.id, label: node.label.clone() })
            .collect();
        heads.sort_unstable();
        heads
    }
}

/// A device that a part is named after.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    key: String,
    id: NodeId,
    label: String,
}

/// A part of a network.
struct NamedPart {
    /// The devices that the part is named after, by name.
    heads: Vec<Head>,
    /// The node from whose id that of the box is derived.
    key: NodeId,
    members: Vec<NodeId>,
    weight: usize,
    is_center: bool,
}

impl NamedPart {
    /// Creates a part; `None` without a device that it could be named after.
    fn new(heads: Vec<Head>, members: Vec<NodeId>, weight: usize, is_center: bool) -> Option<Self> {
        let key = heads.iter().map(|head| head.id).min()?;
        Some(Self { heads, key, members, weight, is_center })
    }

    fn name(&self) -> String {
        match self.heads.as_slice() {
            [one, other] => format!("{}, {}", one.label, other.label),
            [one, .., last] => format!("{} \u{2013} {}", one.label, last.label),
            [only] => only.label.clone(),
            [] => String::new(),
        }
    }
}

/// Joins small parts that follow each other by name, if there are too many. The center stays alone.
fn merged(mut parts: Vec<NamedPart>, limit: usize) -> Vec<NamedPart> {
    if parts.len() <= limit {
        return parts;
    }
    parts.sort_by(|one, other| one.heads.cmp(&other.heads));
    let all: usize = parts.iter().map(|part| part.weight).sum();
    let least = all / (limit / 2).max(1) + 1;
    let mut merged: Vec<NamedPart> = Vec::new();
    let mut open: Option<NamedPart> = None;
    for part in parts {
        if part.is_center || part.weight >= least {
            merged.push(part);
            continue;
        }
        let mut joined = match open.take() {
            Some(mut before) => {
                before.heads.extend(part.heads);
                before.members.extend(part.members);
                before.weight += part.weight;
                before
            }
            None => part,
        };
        joined.heads.sort_unstable();
        if joined.weight >= least {
            merged.push(joined);
        } else {
            open = Some(joined);
        }
    }
    merged.extend(open);
    merged
}
