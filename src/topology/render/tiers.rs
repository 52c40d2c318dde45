//! The order of a picture from top to bottom, for formats that other programs arrange.
//!
//! Such programs put the end of an edge that is written first above the other one. With the upper end first, they draw the tiers of
//! the picture again.

use std::collections::{BTreeMap, BTreeSet};

use super::scene::Scene;
use super::words::sane;
use crate::model::NodeId;
use crate::topology::graph::{Edge, Node, port_names};
use crate::union_find::UnionFind;

/// An edge from its upper to its lower end.
pub(super) struct Downward<'a> {
    pub(super) edge: &'a Edge,
    pub(super) upper: NodeId,
    pub(super) lower: NodeId,
    /// The names of the ports at the upper and at the lower end.
    pub(super) ports: [Option<String>; 2],
}

/// Returns the edges from top to bottom and from left to right.
pub(super) fn downward<'a>(scene: &Scene<'a>) -> Vec<Downward<'a>> {
    let place = |id: NodeId| scene.node(id).map_or([0, 0], place);
    let mut edges: Vec<Downward<'a>> = scene.edges().map(|edge| turned(edge, place)).collect();
    edges.sort_by_cached_key(|edge| (place(edge.upper), place(edge.lower), edge.edge.id));
    edges
}

fn turned(edge: &Edge, place: impl Fn(NodeId) -> [i64; 2]) -> Downward<'_> {
    let mut ports = port_names(edge);
    let (mut upper, mut lower) = (edge.source, edge.target);
    if place(lower) < place(upper) {
        (upper, lower) = (lower, upper);
        ports.reverse();
    }
    Downward { edge, upper, lower, ports }
}

/// Orders nodes from top to bottom and from left to right. Nodes at the same place keep their order.
pub(super) fn sort(nodes: &mut [&Node]) {
    nodes.sort_by_key(|node| place(node));
}

/// Returns height and horizontal place of the middle of a node, in pixels.
fn place(node: &Node) -> [i64; 2] {
    let middle = |start: f64, extent: f64| (sane(start) + sane(extent) / 2.0).round() as i64;
    [middle(node.y, node.height), middle(node.x, node.width)]
}

/// Returns the tiers of each connected part, those on top first: the nodes beside each other, from left to right. Leaves and
/// containers are no part of a tier.
pub(super) fn tiers(scene: &Scene<'_>) -> Vec<Vec<Vec<NodeId>>> {
    let nodes: Vec<&Node> = scene.graph.nodes.iter().filter(|node| !scene.is_container(node)).collect();
    let numbers: BTreeMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(number, node)| (node.id, number)).collect();
    let mut parts = UnionFind::new(nodes.len());
    let mut neighbors: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for edge in scene.edges() {
        crate::fair_threads::yield_turn();
        parts.join_all([edge.source, edge.target].iter().filter_map(|end| numbers.get(end)).copied());
        for (end, other) in [(edge.source, edge.target), (edge.target, edge.source)] {
            // Two are enough to distinguish a leaf from other nodes.
            let known = neighbors.entry(end).or_default();
            if known.len() < 2 {
                known.insert(other);
            }
        }
    }
    let mut by_height: BTreeMap<usize, BTreeMap<i64, Vec<&Node>>> = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        if neighbors.get(&node.id).is_some_and(|others| others.len() > 1) {
            let [height, _] = place(node);
            by_height.entry(parts.find(number)).or_default().entry(height).or_default().push(node);
        }
    }
    let row = |mut nodes: Vec<&Node>| {
        sort(&mut nodes);
        nodes.iter().map(|node| node.id).collect()
    };
    by_height.into_values().map(|heights| heights.into_values().map(row).collect()).collect()
}
