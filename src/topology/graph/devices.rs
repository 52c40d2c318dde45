//! Devices and segments as other questions than pictures need them.

use std::collections::BTreeSet;

use super::arrange::size::cut_text;
use super::context::GraphContext;
use super::input::GraphInput;
use super::shape::NodeKind;
use super::views::l2::{stub_label, stub_role};
use crate::fair_threads::yield_turn;
use crate::model::{HostRole, LinkId, NodeId};
use crate::topology::layout::AddressScope;

/// A device or a segment of a network.
#[derive(Clone, Debug)]
pub(in crate::topology) struct NetworkNode {
    pub(in crate::topology) id: NodeId,
    pub(in crate::topology) kind: NodeKind,
    pub(in crate::topology) name: String,
    pub(in crate::topology) role: HostRole,
    pub(in crate::topology) scope: AddressScope,
    pub(in crate::topology) location: Option<String>,
}

/// Returns the devices and segments of a network by id, and the links that devices have left behind for another port.
pub(in crate::topology) fn network_nodes(input: &GraphInput<'_>) -> (Vec<NetworkNode>, BTreeSet<LinkId>) {
    let context = GraphContext::new(input);
    let hosts = context.hosts.values().map(|host| {
        yield_turn();
        let node = host.node();
        NetworkNode {
            id: node.id,
            kind: NodeKind::Host,
            name: node.label,
            role: node.role,
            scope: node.addresses,
            location: node.location,
        }
    });
    let stubs = input.stubs.iter().map(|stub| NetworkNode {
        id: stub.id,
        kind: NodeKind::Stub,
        name: stub_label(stub).0,
        role: stub_role(stub).0,
        scope: AddressScope::Unknown,
        location: None,
    });
    let segments = input.segments.iter().map(|segment| NetworkNode {
        id: segment.id,
        kind: NodeKind::Segment,
        name: cut_text(&segment.label),
        role: HostRole::Unknown,
        scope: AddressScope::Unknown,
        location: None,
    });
    let mut nodes: Vec<NetworkNode> = hosts.chain(stubs).chain(segments).collect();
    nodes.sort_unstable_by_key(|node| node.id);
    nodes.dedup_by_key(|node| node.id);
    (nodes, context.left_behind)
}
