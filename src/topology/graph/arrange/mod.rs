//! Conversion of a graph to a diagram, and of positions back into the graph.

mod name;
pub(super) mod size;
pub(super) mod surface;

use std::collections::{BTreeMap, BTreeSet};

use self::name::rank_of_name;
use self::size::{CARD_HEIGHT, DETAIL_SIZE, HEADER_HEIGHT};
use self::size::{sort_key, width};
use super::port_name::port_labels;
use super::shape::{Bounds, Graph, Node, NodeKind};
use crate::invariant::Invariant;
use crate::model::{HostRole, NodeId, TopologyView};
use crate::topology::layout::{self, Arrangement, Connection, Diagram, Point, Shape, Size};

/// Maximum number of lines of a leaf.
const LINES_OF_LEAF: usize = 2;

/// The desired and the former positions of nodes. They are upper left corners, by node.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Positions {
    /// The positions that users gave to nodes.
    pub pinned: BTreeMap<NodeId, [f64; 2]>,
    /// The positions in an earlier layout. Nodes move from them as little as possible.
    pub former: BTreeMap<NodeId, [f64; 2]>,
}

/// Places the nodes of a graph and routes its edges.
pub fn lay_out(graph: &mut Graph, positions: &Positions) {
    let arrangement = layout::arrange(&diagram_with_ports(graph, positions));
    apply(graph, positions, arrangement);
}

/// Returns the diagram that is laid out for a graph. Shapes and connections have the order of nodes and edges.
pub(in crate::topology) fn diagram_with_ports(graph: &Graph, positions: &Positions) -> Diagram {
    let mut diagram = diagram(graph, positions);
    leave_room_for_ports(graph, &mut diagram);
    diagram
}

/// Gives nodes and edges the places of their shapes and connections.
pub(in crate::topology) fn apply(graph: &mut Graph, positions: &Positions, arrangement: Arrangement) {
    for (node, place) in graph.nodes.iter_mut().zip(&arrangement.shapes) {
        (node.x, node.y) = (place.x, place.y);
        (node.width, node.height) = (place.width, place.height);
        node.pinned = positions.pinned.contains_key(&node.id);
    }
    for (edge, route) in graph.edges.iter_mut().zip(arrangement.routes) {
        edge.points = route.into_iter().map(|point| [point.x, point.y]).collect();
    }
    let bounds = arrangement.bounds;
    graph.bounds = Bounds { x: bounds.x, y: bounds.y, width: bounds.width, height: bounds.height };
}

/// Returns the diagram of a graph. Shapes and connections have the order of nodes and edges.
pub(in crate::topology) fn diagram(graph: &Graph, positions: &Positions) -> Diagram {
    let indices: BTreeMap<NodeId, usize> =
        graph.nodes.iter().enumerate().map(|(index, node)| (node.id, index)).collect();
    // A neighbor that becomes known beside devices leaves their places as they are.
    let class = |node: &Node| match node.kind {
        NodeKind::Stub => 1,
        NodeKind::Group => 2,
        _ => 0,
    };
    let mut by_label: Vec<(u8, String, NodeId, usize)> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| (class(node), sort_key(&node.label), node.id, index))
        .collect();
    by_label.sort_unstable();
    let orders: BTreeMap<usize, u32> =
        (0..).zip(by_label).map(|(order, (.., index))| (index, order)).collect();
    let outside = outside(graph);
    let shape = |(index, node): (usize, &Node)| {
        let mut shape = Shape::new(node.id, Size::new(node.width, node.height));
        shape.parent = node.parent_id.and_then(|parent| indices.get(&parent).copied());
        let is_frame = matches!(node.kind, NodeKind::Subnet | NodeKind::Area);
        shape.header = if is_frame { HEADER_HEIGHT } else { CARD_HEIGHT };
        shape.order = orders.get(&index).copied().asserted_or_default();
        shape.rank = if outside.contains(&node.id) { Some(0) } else { rank(graph.view, node) };
        shape.addresses = node.addresses;
        shape.devices = node.collapsed.max(1);
        shape.pin = positions.pinned.get(&node.id).map(|&[x, y]| Point::new(x, y));
        shape.former = positions.former.get(&node.id).map(|&[x, y]| Point::new(x, y));
        shape
    };
    // An end that does not exist leaves the line without a route.
    let index = |id: &NodeId| indices.get(id).copied().unwrap_or(usize::MAX);
    let connections =
        graph.edges.iter().map(|edge| Connection::new(edge.id, index(&edge.source), index(&edge.target)));
    Diagram {
        shapes: graph.nodes.iter().enumerate().map(shape).collect(),
        connections: connections.collect(),
    }
}

/// Makes lines to leaves so long that the names of ports have room beside them, and leaves room for them between tiers.
fn leave_room_for_ports(graph: &Graph, diagram: &mut Diagram) {
    let mut lines = vec![0_usize; diagram.shapes.len()];
    for end in diagram.connections.iter().flat_map(|connection| [connection.source, connection.target]) {
        if let Some(lines) = lines.get_mut(end) {
            *lines = lines.saturating_add(1);
        }
    }
    for (edge, connection) in graph.edges.iter().zip(&mut diagram.connections) {
        crate::fair_threads::yield_turn();
        connection.label_widths =
            port_labels(edge).map(|text| text.map_or(0.0, |text| f64::from(width(&text, DETAIL_SIZE))));
        let widest = connection.label_widths.into_iter().fold(0.0, f64::max);
        let (source, target) = (connection.source, connection.target);
        for (hub, leaf) in [(source, target), (target, source)] {
            let is_leaf = lines.get(leaf).is_some_and(|lines| *lines <= LINES_OF_LEAF);
            if let Some(shape) = diagram.shapes.get_mut(hub).filter(|_| is_leaf) {
                shape.label_width = shape.label_width.max(widest);
            }
        }
    }
}

/// Returns the unscanned devices that only routers are connected to. Most likely, they belong to the carrier.
fn outside(graph: &Graph) -> BTreeSet<NodeId> {
    let nodes: BTreeMap<NodeId, &Node> = graph.nodes.iter().map(|node| (node.id, node)).collect();
    let is_stranger = |node: &Node| node.kind == NodeKind::Stub && node.role == HostRole::Unknown;
    let mut outside: BTreeSet<NodeId> =
        graph.nodes.iter().filter(|node| is_stranger(node)).map(|node| node.id).collect();
    for edge in &graph.edges {
        for (end, other) in [(edge.source, edge.target), (edge.target, edge.source)] {
            if nodes.get(&other).is_none_or(|other| other.role != HostRole::Router) {
                outside.remove(&end);
            }
        }
    }
    outside
}

/// Returns the level of a node. Nodes that lead out of the network are on top, and end devices at the bottom.
fn rank(view: TopologyView, node: &Node) -> Option<u8> {
    match (view, node.kind) {
        (TopologyView::L3, NodeKind::Subnet) => Some(4),
        (TopologyView::L2, NodeKind::Area) if node.collapsed > 0 => rank_of(node.role),
        (TopologyView::L2, NodeKind::Segment | NodeKind::Subnet | NodeKind::Area)
        | (TopologyView::Workloads, _) => None,
        (_, NodeKind::Group) => Some(5),
        (TopologyView::L2, NodeKind::Host | NodeKind::Stub) => {
            rank_of(node.role).or_else(|| rank_of_name(&node.label))
        }
        _ => rank_of(node.role),
    }
}

const fn rank_of(role: HostRole) -> Option<u8> {
    match role {
        HostRole::Internet => Some(0),
        HostRole::Router => Some(1),
        HostRole::Firewall => Some(2),
        HostRole::Switch => Some(3),
        HostRole::AccessPoint | HostRole::Hypervisor => Some(4),
        HostRole::Unknown => None,
        _ => Some(5),
    }
}
