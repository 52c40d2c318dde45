//! A graph under construction.

use std::collections::{BTreeMap, BTreeSet};

use super::link_facts::LinkFacts;
use super::shape::{Edge, Hidden, Node, NodeKind, Warning};
use crate::model::{LinkId, NodeId};

/// Nodes and edges by id.
#[derive(Default)]
pub(super) struct GraphDraft {
    pub(super) nodes: BTreeMap<NodeId, Node>,
    pub(super) edges: BTreeMap<LinkId, Edge>,
    pub(super) hidden: Hidden,
    pub(super) warnings: Vec<Warning>,
}

impl GraphDraft {
    pub(super) fn add(&mut self, node: Node) {
        self.nodes.insert(node.id, node);
    }

    /// Adds an edge unless its ends are one node.
    pub(super) fn connect(&mut self, edge: Edge) {
        if edge.source != edge.target {
            self.edges.insert(edge.id, edge);
        }
    }

    pub(super) fn warn(&mut self, code: &str, name: &str, value: String) {
        let params = BTreeMap::from([(name.to_owned(), value)]);
        self.warnings.push(Warning { code: code.to_owned(), params });
    }

    /// Adds a warning that counts something, unless there is nothing to count.
    pub(super) fn warn_count(&mut self, code: &str, count: usize) {
        if count > 0 {
            self.warn(code, "count", count.to_string());
        }
    }

    /// Makes stale what is connected by stale edges only and is no host, and then the edges of stale nodes.
    pub(super) fn spread_staleness(&mut self) {
        let mut is_away: BTreeMap<NodeId, bool> = BTreeMap::new();
        for edge in self.edges.values() {
            for end in [edge.source, edge.target] {
                *is_away.entry(end).or_insert(true) &= edge.stale;
            }
        }
        let nodes =
            self.nodes.values_mut().filter(|node| matches!(node.kind, NodeKind::Stub | NodeKind::Segment));
        for node in nodes {
            node.stale |= is_away.get(&node.id).is_some_and(|is_away| *is_away);
        }
        for edge in self.edges.values_mut() {
            let mut ends = [edge.source, edge.target].into_iter();
            edge.stale |= ends.any(|end| self.nodes.get(&end).is_some_and(|node| node.stale));
        }
    }

    pub(super) fn set_link_facts(&mut self, facts: &BTreeMap<NodeId, LinkFacts>) {
        for node in self.nodes.values_mut() {
            let LinkFacts { state, vlan } = facts.get(&node.id).copied().unwrap_or_default();
            (node.state, node.vlan) = (state, vlan);
        }
    }

    /// Returns the nodes that edges connect with each node.
    pub(super) fn neighbors(&self) -> BTreeMap<NodeId, BTreeSet<NodeId>> {
        let mut neighbors: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for edge in self.edges.values() {
            neighbors.entry(edge.source).or_default().insert(edge.target);
            neighbors.entry(edge.target).or_default().insert(edge.source);
        }
        neighbors
    }

    /// Returns the nodes that each container directly contains.
    pub(super) fn contents(&self) -> BTreeMap<NodeId, Vec<NodeId>> {
        let mut contents: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for node in self.nodes.values() {
            if let Some(parent) = node.parent_id {
                contents.entry(parent).or_default().push(node.id);
            }
        }
        contents
    }

    /// Returns the outermost container of a node, or the node itself.
    pub(super) fn outermost(&self, id: NodeId) -> NodeId {
        let mut outermost = id;
        // Containers are nested a few levels deep; a ring of them would be an error.
        for _ in 0..self.nodes.len() {
            match self.nodes.get(&outermost).and_then(|node| node.parent_id) {
                Some(parent) => outermost = parent,
                None => break,
            }
        }
        outermost
    }

    /// Removes all nodes but these, and the edges that lose an end.
    pub(super) fn retain(&mut self, kept: &BTreeSet<NodeId>) {
        self.nodes.retain(|id, _| kept.contains(id));
        self.edges.retain(|_, edge| kept.contains(&edge.source) && kept.contains(&edge.target));
    }

    /// Returns the nodes, containers before what they contain, and then by id.
    pub(super) fn into_parts(mut self) -> (Vec<Node>, Vec<Edge>, Hidden, Vec<Warning>) {
        let contents = self.contents();
        let mut level: Vec<NodeId> =
            self.nodes.values().filter(|node| node.parent_id.is_none()).map(|node| node.id).collect();
        let mut sorted = Vec::with_capacity(self.nodes.len());
        while !level.is_empty() {
            let mut inner = Vec::new();
            for id in level {
                if let Some(node) = self.nodes.remove(&id) {
                    inner.extend(contents.get(&id).into_iter().flatten().copied());
                    sorted.push(node);
                }
            }
            inner.sort_unstable();
            level = inner;
        }
        (sorted, self.edges.into_values().collect(), self.hidden, self.warnings)
    }
}
