//! A graph with the look-ups that all writers need.

use std::collections::{BTreeMap, BTreeSet};

use super::tiers;
use super::words::sane;
use crate::model::NodeId;
use crate::topology::graph::{Bounds, Edge, Graph, Node, NodeKind};

/// A graph, its containers, and the number of edges at each node.
pub(super) struct Scene<'a> {
    pub(super) graph: &'a Graph,
    nodes: BTreeMap<NodeId, &'a Node>,
    containers: BTreeSet<NodeId>,
    degrees: BTreeMap<NodeId, usize>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let nodes: BTreeMap<NodeId, &Node> = graph.nodes.iter().map(|node| (node.id, node)).collect();
        let containers = graph.nodes.iter().filter_map(|node| node.parent_id).collect();
        let mut degrees = BTreeMap::new();
        for end in graph.edges.iter().flat_map(|edge| [edge.source, edge.target]) {
            let degree: &mut usize = degrees.entry(end).or_default();
            *degree = degree.saturating_add(1);
        }
        Self { graph, nodes, containers, degrees }
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&'a Node> {
        self.nodes.get(&id).copied()
    }

    /// Returns the edges whose two ends exist.
    pub(super) fn edges(&self) -> impl Iterator<Item = &'a Edge> {
        self.graph
            .edges
            .iter()
            .filter(|edge| self.nodes.contains_key(&edge.source) && self.nodes.contains_key(&edge.target))
    }

    /// Returns whether a node is drawn as a frame with a title.
    pub(super) fn is_container(&self, node: &Node) -> bool {
        (node.kind == NodeKind::Subnet && node.collapsed == 0) || self.containers.contains(&node.id)
    }

    /// Returns whether a single line leads to a node.
    pub(super) fn is_leaf(&self, id: NodeId) -> bool {
        self.degrees.get(&id).is_none_or(|degree| *degree < 2)
    }

    /// Returns the container of a node if it comes before the node. In graphs of this crate, it does.
    pub(super) fn parent(&self, node: &Node, written: &BTreeSet<NodeId>) -> Option<&'a Node> {
        node.parent_id.filter(|parent| written.contains(parent)).and_then(|parent| self.node(parent))
    }

    /// Returns the nodes of each container, and those of the outermost level, from top to bottom.
    ///
    /// If several nodes have one id, only the first counts, so that no container is within itself.
    pub(super) fn contents(&self) -> BTreeMap<Option<NodeId>, Vec<&'a Node>> {
        let mut contents: BTreeMap<Option<NodeId>, Vec<&Node>> = BTreeMap::new();
        let mut written = BTreeSet::new();
        for node in &self.graph.nodes {
            let parent = self.parent(node, &written).map(|parent| parent.id);
            if written.insert(node.id) {
                contents.entry(parent).or_default().push(node);
            }
        }
        for nodes in contents.values_mut() {
            tiers::sort(nodes);
        }
        contents
    }

    /// Returns the rectangle around all nodes and lines.
    pub(super) fn bounds(&self) -> Bounds {
        let corners = self.graph.nodes.iter().flat_map(|node| {
            let (x, y) = (sane(node.x), sane(node.y));
            [[x, y], [x + sane(node.width).max(0.0), y + sane(node.height).max(0.0)]]
        });
        let bends = self.edges().flat_map(|edge| edge.points.iter().map(|&[x, y]| [sane(x), sane(y)]));
        let mut all = corners.chain(bends);
        let Some([x, y]) = all.next() else { return Bounds::default() };
        let extremes = all.fold([x, y, x, y], |[left, top, right, bottom], [x, y]| {
            [left.min(x), top.min(y), right.max(x), bottom.max(y)]
        });
        let [left, top, right, bottom] = extremes;
        Bounds { x: left, y: top, width: right - left, height: bottom - top }
    }
}
