//! Parallel links: several between two devices that are alike, and no aggregation group.
//!
//! Drawn one by one, they would be a solid bar without room for the names of their ports. One edge stands for them all.

use std::collections::BTreeMap;

use crate::fair_threads::yield_turn;
use crate::model::{LinkId, NodeId};
use crate::topology::graph::arrange::size::sort_key;
use crate::topology::graph::draft::GraphDraft;
use crate::topology::graph::shape::{Edge, EdgeKind, GraphChange};
use crate::topology::links::{Confidence, LinkMember, LinkState, VlanRange};

/// The common values of parallel links: their ends, the smaller one first, speed, certainty, staleness, VLANs, and what has become of
/// them.
type Kind = ([NodeId; 2], Option<u64>, Confidence, bool, Option<Vec<VlanRange>>, Option<GraphChange>);

/// Replaces parallel links by one edge with the id of one of them.
pub(in crate::topology::graph) fn join(draft: &mut GraphDraft) {
    let mut kinds: BTreeMap<Kind, Vec<LinkId>> = BTreeMap::new();
    // Of links that contradict each other, at most one exists. Each link that has moved comes from elsewhere.
    let is_single = |edge: &&Edge| {
        edge.kind == EdgeKind::Physical
            && edge.members.is_empty()
            && edge.confidence != Confidence::Conflicting
            && edge.change != Some(GraphChange::Moved)
    };
    for edge in draft.edges.values().filter(is_single) {
        yield_turn();
        let ends = [edge.source.min(edge.target), edge.source.max(edge.target)];
        let Edge { speed_bps, confidence, stale, change, .. } = *edge;
        let kind = (ends, speed_bps, confidence, stale, edge.vlans.clone(), change);
        kinds.entry(kind).or_default().push(edge.id);
    }
    for ids in kinds.into_values().filter(|ids| ids.len() > 1) {
        let links: Vec<Edge> = ids.iter().filter_map(|id| draft.edges.remove(id)).collect();
        let mut links = links.into_iter();
        let Some(first) = links.next() else { continue };
        draft.connect(joined(first, links));
    }
}

fn joined(mut edge: Edge, others: impl Iterator<Item = Edge>) -> Edge {
    let (source_port, target_port) = (edge.source_port.take(), edge.target_port.take());
    edge.members.push(LinkMember { source_port, target_port, state: edge.state, blocked: edge.blocked });
    for other in others {
        let is_swapped = other.source != edge.source;
        let (source_port, target_port) = if is_swapped {
            (other.target_port, other.source_port)
        } else {
            (other.source_port, other.target_port)
        };
        edge.members.push(LinkMember {
            source_port,
            target_port,
            state: other.state,
            blocked: other.blocked,
        });
        edge.since = edge.since.max(other.since);
        edge.parallel.push(other.id);
        edge.speed_bps = edge.speed_bps.into_iter().chain(other.speed_bps).reduce(u64::saturating_add);
        edge.evidence.extend(other.evidence);
    }
    let name = |member: &LinkMember| member.source_port.as_ref().map(|port| sort_key(&port.name));
    edge.members.sort_by_cached_key(name);
    edge.evidence.sort_by_key(|evidence| evidence.rule);
    edge.state = LinkState::of_all(edge.members.iter().map(|member| member.state));
    edge.since = edge.since.filter(|_| edge.state.is_out());
    // The spanning tree blocks all of several parallel links but one, which passes packets.
    let blocked = || edge.members.iter().map(|member| member.blocked);
    let passes = blocked().any(|blocked| blocked == Some(false));
    edge.blocked = if passes { Some(false) } else { blocked().min().flatten() };
    edge
}
