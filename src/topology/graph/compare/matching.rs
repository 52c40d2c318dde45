//! Matches the edges of two states.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::fair_threads::yield_turn;
use crate::model::{LinkId, NodeId};
use crate::topology::graph::draft::GraphDraft;
use crate::topology::graph::shape::Edge;
use crate::topology::links::PortRef;

/// The edges that were added, removed or moved between two states.
#[derive(Debug, Default)]
pub(super) struct EdgeMatches {
    /// Edges of the later state alone.
    pub(super) added: Vec<LinkId>,
    /// Edges of the earlier state alone.
    pub(super) removed: Vec<LinkId>,
    /// Edges of the later state, and the edge of the earlier one whose other end each of them keeps.
    pub(super) moved: Vec<(LinkId, MovedFrom)>,
}

/// The end of an edge that has moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovedFrom {
    /// The edge of the earlier state.
    pub(super) id: LinkId,
    /// The side of that edge that was elsewhere.
    pub(super) side: EdgeSide,
    /// The side of the later edge that has moved.
    pub(super) now: EdgeSide,
}

/// A side of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EdgeSide {
    Source,
    Target,
}

impl EdgeSide {
    const BOTH: [Self; 2] = [Self::Source, Self::Target];

    const fn other(self) -> Self {
        match self {
            Self::Source => Self::Target,
            Self::Target => Self::Source,
        }
    }
}

impl Edge {
    /// Returns the node and the port of a side.
    pub(super) const fn end(&self, side: EdgeSide) -> (NodeId, Option<&PortRef>) {
        match side {
            EdgeSide::Source => (self.source, self.source_port.as_ref()),
            EdgeSide::Target => (self.target, self.target_port.as_ref()),
        }
    }
}

/// The port of a device, by its id or by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PortKey {
    Known(NodeId, Uuid),
    Named(NodeId, String),
}

/// The values by which ports are recognized: a port may have got another name, and a card another port of the same name.
#[derive(Clone, Copy)]
enum By {
    Id,
    Name,
}

impl By {
    fn key(self, (node, port): (NodeId, Option<&PortRef>)) -> Option<PortKey> {
        let port = port?;
        match self {
            Self::Id => Some(PortKey::Known(node, port.if_entry_id?.uuid())),
            Self::Name => Some(PortKey::Named(node, port.name.clone())).filter(|_| !port.name.is_empty()),
        }
    }
}

/// The edges of either state that no edge of the other one was found for.
struct Unmatched<'a> {
    before: BTreeMap<LinkId, &'a Edge>,
    after: BTreeMap<LinkId, &'a Edge>,
    /// The ids that nodes of the earlier state have now.
    known_as: &'a BTreeMap<NodeId, NodeId>,
}

/// Matches the edges of two states. `known_as` has the ids that nodes of the earlier state have now.
pub(super) fn matches(
    before: &GraphDraft,
    after: &GraphDraft,
    known_as: &BTreeMap<NodeId, NodeId>,
) -> EdgeMatches {
    let mut unmatched =
        Unmatched { before: edges_without(before, after), after: edges_without(after, before), known_as };
    for by in [[By::Id, By::Id], [By::Name, By::Name], [By::Id, By::Name], [By::Name, By::Id]] {
        unmatched.drop_same(by);
    }
    unmatched.drop_with_unknown_ports();
    let scanned: BTreeSet<NodeId> = known_as.values().copied().collect();
    let is_lasting = |id: NodeId| {
        after.nodes.contains_key(&id) && (before.nodes.contains_key(&id) || scanned.contains(&id))
    };
    let mut moved = unmatched.take_moved_leaves(&is_lasting);
    for by in [By::Id, By::Name] {
        moved.extend(unmatched.take_moved(by, &is_lasting));
    }
    EdgeMatches {
        added: unmatched.after.into_keys().collect(),
        removed: unmatched.before.into_keys().collect(),
        moved,
    }
}

/// Returns the edges that another state has not.
fn edges_without<'a>(of: &'a GraphDraft, other: &GraphDraft) -> BTreeMap<LinkId, &'a Edge> {
    let own = of.edges.iter().filter(|(id, _)| !other.edges.contains_key(id));
    own.map(|(id, edge)| (*id, edge)).collect()
}

impl<'a> Unmatched<'a> {
    /// Returns an end of an edge of the earlier state, with the id that its node has now.
    fn former_end(&self, edge: &'a Edge, side: EdgeSide) -> (NodeId, Option<&'a PortRef>) {
        let (node, port) = edge.end(side);
        (self.known_as.get(&node).copied().unwrap_or(node), port)
    }

    /// Drops edges between the same ports.
    fn drop_same(&mut self, by: [By; 2]) {
        let key = |mut ends: [(NodeId, Option<&PortRef>); 2]| {
            ends.sort_by_key(|(node, _)| *node);
            let [one, other] = ends;
            let [by_one, by_other] = by;
            Some((by_one.key(one)?, by_other.key(other)?))
        };
        let mut by_ports: BTreeMap<(PortKey, PortKey), Vec<LinkId>> = BTreeMap::new();
        for (id, edge) in self.after.iter().rev() {
            if let Some(key) = key(EdgeSide::BOTH.map(|side| edge.end(side))) {
                by_ports.entry(key).or_default().push(*id);
            }
        }
        let mut same = Vec::new();
        for (id, edge) in &self.before {
            yield_turn();
            let ends = EdgeSide::BOTH.map(|side| self.former_end(edge, side));
            let found = key(ends).and_then(|key| by_ports.get_mut(&key)?.pop());
            same.extend(found.map(|found| (*id, found)));
        }
        self.drop_all(&same);
    }

    /// Drops the edges between two devices where either state has one, and their ports do not contradict each other.
    fn drop_with_unknown_ports(&mut self) {
        let pair = |[(one, _), (other, _)]: [(NodeId, Option<&PortRef>); 2]| [one.min(other), one.max(other)];
        let mut between: BTreeMap<[NodeId; 2], [Vec<LinkId>; 2]> = BTreeMap::new();
        for (id, edge) in &self.before {
            let [before, _] =
                between.entry(pair(EdgeSide::BOTH.map(|side| self.former_end(edge, side)))).or_default();
            before.push(*id);
        }
        for (id, edge) in &self.after {
            let [_, after] = between.entry(pair(EdgeSide::BOTH.map(|side| edge.end(side)))).or_default();
            after.push(*id);
        }
        let mut same = Vec::new();
        for [before, after] in between.into_values() {
            let ([before], [after]) = (before.as_slice(), after.as_slice()) else { continue };
            let (Some(was), Some(now)) = (self.before.get(before), self.after.get(after)) else { continue };
            let may_be_same = |side| {
                let (node, port) = self.former_end(was, side);
                let now = EdgeSide::BOTH.map(|side| now.end(side)).into_iter().find(|(id, _)| *id == node);
                now.is_some_and(|(_, now)| may_be_same(port, now))
            };
            if EdgeSide::BOTH.into_iter().all(may_be_same) {
                same.push((*before, *after));
            }
        }
        self.drop_all(&same);
    }

    fn drop_all(&mut self, same: &[(LinkId, LinkId)]) {
        for (before, after) in same {
            self.before.remove(before);
            self.after.remove(after);
        }
    }

    /// Takes the edges of devices that had one other edge, and that are now connected elsewhere with the same port.
    fn take_moved_leaves(&mut self, is_lasting: &dyn Fn(NodeId) -> bool) -> Vec<(LinkId, MovedFrom)> {
        let mut at: BTreeMap<NodeId, [Vec<(LinkId, EdgeSide)>; 2]> = BTreeMap::new();
        for side in EdgeSide::BOTH {
            for (id, edge) in &self.before {
                let [before, _] = at.entry(self.former_end(edge, side).0).or_default();
                before.push((*id, side));
            }
            for (id, edge) in &self.after {
                let [_, after] = at.entry(edge.end(side).0).or_default();
                after.push((*id, side));
            }
        }
        let mut moves = Vec::new();
        for [before, after] in at.into_values() {
            yield_turn();
            let ([before], [after]) = (before.as_slice(), after.as_slice()) else { continue };
            moves.extend(self.moved(*before, *after, is_lasting));
        }
        self.take_all(moves)
    }

    /// Takes the edges that keep the port at one end.
    fn take_moved(&mut self, by: By, is_lasting: &dyn Fn(NodeId) -> bool) -> Vec<(LinkId, MovedFrom)> {
        let mut at: BTreeMap<PortKey, (LinkId, EdgeSide)> = BTreeMap::new();
        for side in EdgeSide::BOTH {
            for (id, edge) in &self.after {
                if let Some(key) = by.key(edge.end(side)) {
                    at.entry(key).or_insert((*id, side));
                }
            }
        }
        let mut moves = Vec::new();
        for (id, edge) in &self.before {
            yield_turn();
            for side in EdgeSide::BOTH {
                let found = by.key(self.former_end(edge, side)).and_then(|key| at.get(&key));
                moves.extend(found.and_then(|found| self.moved((*id, side), *found, is_lasting)));
            }
        }
        self.take_all(moves)
    }

    /// Returns the move from one edge to another one that keeps the end at these sides, if it is one.
    ///
    /// A device that is new or gone has its own edge, since a move would leave it without one.
    fn moved(
        &self,
        (before, kept): (LinkId, EdgeSide),
        (after, kept_now): (LinkId, EdgeSide),
        is_lasting: &dyn Fn(NodeId) -> bool,
    ) -> Option<(LinkId, MovedFrom)> {
        let (was, now) = (self.before.get(&before)?, self.after.get(&after)?);
        let (side, now_side) = (kept.other(), kept_now.other());
        let keeps = may_be_same(self.former_end(was, kept).1, now.end(kept_now).1);
        let are_there = is_lasting(self.former_end(was, side).0) && is_lasting(now.end(now_side).0);
        let moved = MovedFrom { id: before, side, now: now_side };
        (was.kind == now.kind && keeps && are_there).then_some((after, moved))
    }

    /// Takes the edges of moves, each once.
    fn take_all(&mut self, moves: Vec<(LinkId, MovedFrom)>) -> Vec<(LinkId, MovedFrom)> {
        let mut taken: BTreeSet<LinkId> = BTreeSet::new();
        let mut kept = Vec::new();
        for (after, from) in moves {
            if taken.contains(&from.id) || self.after.remove(&after).is_none() {
                continue;
            }
            taken.insert(from.id);
            self.before.remove(&from.id);
            kept.push((after, from));
        }
        kept
    }
}

/// Returns whether two ports are not known to be different ones.
fn may_be_same(one: Option<&PortRef>, other: Option<&PortRef>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let is_same_id = one.if_entry_id.is_some() && one.if_entry_id == other.if_entry_id;
    is_same_id || one.name == other.name
}
