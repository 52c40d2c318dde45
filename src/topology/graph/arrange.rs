//! From a graph to a diagram, and positions back into the graph.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::shape::{Bounds, Graph, Node, NodeKind};
use super::size::{CARD_HEIGHT, HEADER_HEIGHT};
use crate::model::{HostRole, TopologyView};
use crate::topology::layout::{self, Connection, Diagram, Point, Shape, Size};

/// Where nodes shall be, and where they have been: upper left corners, by node.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Positions {
    /// Where users put nodes.
    pub pinned: BTreeMap<Uuid, [f64; 2]>,
    /// Where nodes were in an earlier layout, from which they move as little as possible.
    pub former: BTreeMap<Uuid, [f64; 2]>,
}

/// Places the nodes of a graph and routes its edges.
pub fn lay_out(graph: &mut Graph, positions: &Positions) {
    let diagram = diagram(graph, positions);
    let arrangement = layout::arrange(&diagram);
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

/// Returns the diagram of a graph; shapes and connections have the order of nodes and edges.
pub(in crate::topology) fn diagram(graph: &Graph, positions: &Positions) -> Diagram {
    let indices: BTreeMap<Uuid, usize> =
        graph.nodes.iter().enumerate().map(|(index, node)| (node.id, index)).collect();
    let mut by_label: Vec<(&str, Uuid, usize)> =
        graph.nodes.iter().enumerate().map(|(index, node)| (node.label.as_str(), node.id, index)).collect();
    by_label.sort_unstable();
    let orders: BTreeMap<usize, u32> =
        (0..).zip(by_label).map(|(order, (_, _, index))| (index, order)).collect();
    let shape = |(index, node): (usize, &Node)| {
        let mut shape = Shape::new(node.id, Size::new(node.width, node.height));
        shape.parent = node.parent_id.and_then(|parent| indices.get(&parent).copied());
        shape.header = if node.kind == NodeKind::Subnet { HEADER_HEIGHT } else { CARD_HEIGHT };
        shape.order = orders.get(&index).copied().unwrap_or_default();
        shape.rank = rank(graph.view, node);
        shape.pin = positions.pinned.get(&node.id).map(|&[x, y]| Point::new(x, y));
        shape.former = positions.former.get(&node.id).map(|&[x, y]| Point::new(x, y));
        shape
    };
    let connections = graph.edges.iter().map(|edge| Connection {
        id: edge.id,
        // An end that does not exist leaves the line without a route.
        source: indices.get(&edge.source).copied().unwrap_or(usize::MAX),
        target: indices.get(&edge.target).copied().unwrap_or(usize::MAX),
    });
    Diagram {
        shapes: graph.nodes.iter().enumerate().map(shape).collect(),
        connections: connections.collect(),
    }
}

/// Returns the level of a node: what leads out of the network is on top, end devices are at the bottom.
fn rank(view: TopologyView, node: &Node) -> Option<u8> {
    match (view, node.kind) {
        (TopologyView::L3, NodeKind::Subnet) => Some(1),
        (TopologyView::L2, NodeKind::Segment | NodeKind::Subnet) | (TopologyView::Workloads, _) => None,
        (_, NodeKind::Group) => Some(3),
        _ => match node.role {
            HostRole::Router | HostRole::Firewall => Some(0),
            HostRole::Switch => Some(1),
            HostRole::AccessPoint | HostRole::Hypervisor => Some(2),
            HostRole::Unknown => None,
            _ => Some(3),
        },
    }
}
