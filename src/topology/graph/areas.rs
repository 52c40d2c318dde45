//! Containers of devices at one location, in one subnet or with one tag.

use std::collections::{BTreeMap, BTreeSet};

use super::arrange::size::{cut_text, sort_key};
use super::context::{GraphContext, HostFacts};
use super::draft::GraphDraft;
use super::input::GroupBy;
use super::shape::{Node, NodeKind, TextKind};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, NodeId, SubnetId, derived_id};

/// Puts the devices of the outermost level into a container for each location, subnet or tag.
///
/// A device without one, such as a computer at a switch or a device that is not scanned, is in the container of its
/// neighbors if all of them are in the same.
pub(super) fn group(draft: &mut GraphDraft, context: &GraphContext<'_>, by: GroupBy) {
    for (id, name) in areas(draft, context, by) {
        let area = area(context, by, &name);
        if let Some(node) = draft.nodes.get_mut(&id) {
            node.parent_id = Some(area.id);
        }
        draft.nodes.entry(area.id).or_insert(area);
    }
}

/// Returns the name of the location, subnet or tag of each device of the outermost level, and of what is beside it.
pub(super) fn areas(draft: &GraphDraft, context: &GraphContext<'_>, by: GroupBy) -> BTreeMap<NodeId, String> {
    let subnets: BTreeMap<SubnetId, String> =
        context.input.subnets.iter().map(|subnet| (subnet.id, subnet.cidr.to_string())).collect();
    let mut areas: BTreeMap<NodeId, String> = BTreeMap::new();
    let outer = draft.nodes.values().filter(|node| node.parent_id.is_none()).map(|node| node.id);
    for id in outer {
        yield_turn();
        let facts = context.hosts.get(&HostId::from(id.uuid()));
        if let Some(name) = facts.and_then(|facts| name_of(facts, context, &subnets, by)) {
            areas.insert(id, name);
        }
    }
    join_neighbors(draft, &mut areas);
    areas
}

/// Returns the container for a location, a subnet or a tag.
pub(super) fn area(context: &GraphContext<'_>, by: GroupBy, name: &str) -> Node {
    let network = context.input.network_id;
    let id = derived_id("topology area", &[network.as_bytes(), by.as_str().as_bytes(), name.as_bytes()]);
    let kind = if by == GroupBy::Subnet { TextKind::Address } else { TextKind::Name };
    Node::new(id, NodeKind::Area, cut_text(name), kind)
}

fn name_of(
    facts: &HostFacts<'_>,
    context: &GraphContext<'_>,
    subnets: &BTreeMap<SubnetId, String>,
    by: GroupBy,
) -> Option<String> {
    match by {
        GroupBy::Location => facts.summary.location.clone(),
        GroupBy::Subnet => {
            facts.summary.interfaces.iter().find_map(|interface| subnets.get(&interface.subnet_id?).cloned())
        }
        GroupBy::Tag => {
            let names = facts.summary.tags.iter().filter_map(|tag| context.input.tag_names.get(tag));
            names.min_by_key(|name| sort_key(name)).cloned()
        }
    }
}

/// Gives the areas of neighbors to nodes without an area of their own, and then to the neighbors of these.
fn join_neighbors(draft: &GraphDraft, areas: &mut BTreeMap<NodeId, String>) {
    let neighbors = draft.neighbors();
    for _ in 0..MAX_DISTANCE {
        let before = areas.len();
        join_nearest(draft, &neighbors, areas);
        if areas.len() == before {
            break;
        }
    }
}

fn join_nearest(
    draft: &GraphDraft,
    neighbors: &BTreeMap<NodeId, BTreeSet<NodeId>>,
    areas: &mut BTreeMap<NodeId, String>,
) {
    let is_outer = |node: &&Node| node.parent_id.is_none();
    let joined: Vec<(NodeId, String)> = draft
        .nodes
        .values()
        .filter(is_outer)
        .filter(|node| !areas.contains_key(&node.id))
        .filter_map(|node| {
            let around = neighbors.get(&node.id).filter(|around| around.len() <= MAX_NEIGHBORS)?;
            yield_turn();
            let names: BTreeSet<Option<&String>> = around.iter().map(|id| areas.get(id)).collect();
            let only = names.first().copied().flatten().filter(|_| names.len() == 1)?;
            Some((node.id, only.clone()))
        })
        .collect();
    areas.extend(joined);
}

/// Maximum number of neighbors of a node that is placed beside them.
const MAX_NEIGHBORS: usize = 64;

/// Maximum number of links between a node and the device whose area it is in.
const MAX_DISTANCE: usize = 4;
