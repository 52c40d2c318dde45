//! Devices and segments as other questions than pictures need them.

use std::collections::BTreeSet;

#[cfg(feature = "service")]
use super::HostSummary;
use super::arrange::size::cut_text;
#[cfg(feature = "service")]
use super::context::role_of;
use super::context::{GraphContext, HostFacts};
use super::input::GraphInput;
use super::shape::NodeKind;
use super::views::l2::{stub_label, stub_role};
#[cfg(feature = "service")]
use crate::discovery::report::Capability;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, HostRole, LinkId, NodeId};
use crate::topology::layout::AddressScope;
use crate::topology::links::{Segment, Stub};

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

/// The devices and segments of a network.
#[derive(Debug)]
pub(in crate::topology) struct NetworkNodes {
    /// By id.
    pub(in crate::topology) nodes: Vec<NetworkNode>,
    /// The hosts that other hosts run, each with the one that runs it.
    pub(in crate::topology) guests: Vec<(HostId, HostId)>,
    /// The links that devices have left behind for another port.
    pub(in crate::topology) left_behind: BTreeSet<LinkId>,
}

/// Returns the devices and segments of a network.
pub(in crate::topology) fn network_nodes(input: &GraphInput<'_>) -> NetworkNodes {
    let context = GraphContext::new(input);
    let hosts = context.hosts.values().map(|host| {
        yield_turn();
        NetworkNode::from(host)
    });
    let stubs = input.stubs.iter().map(|stub| NetworkNode::from(*stub));
    let segments = input.segments.iter().map(|segment| NetworkNode::from(*segment));
    let mut nodes: Vec<NetworkNode> = hosts.chain(stubs).chain(segments).collect();
    nodes.sort_unstable_by_key(|node| node.id);
    nodes.dedup_by_key(|node| node.id);
    NetworkNodes { nodes, guests: context.guests, left_behind: context.left_behind }
}

/// Returns the node of a host. The capabilities and the description are those that neighbors announce.
#[cfg(feature = "service")]
pub(in crate::topology) fn network_host(
    summary: &HostSummary,
    (capabilities, description): (&[Capability], Option<&str>),
    has_guests: bool,
) -> NetworkNode {
    let (role, role_reason) = role_of(summary, (capabilities, description), has_guests);
    NetworkNode::from(&HostFacts { summary, role, role_reason, stale: false })
}

impl From<&HostFacts<'_>> for NetworkNode {
    fn from(host: &HostFacts<'_>) -> Self {
        let node = host.node();
        Self {
            id: node.id,
            kind: NodeKind::Host,
            name: node.label,
            role: node.role,
            scope: node.addresses,
            location: node.location,
        }
    }
}

impl From<&Stub> for NetworkNode {
    fn from(stub: &Stub) -> Self {
        Self {
            id: stub.id,
            kind: NodeKind::Stub,
            name: stub_label(stub).0,
            role: stub_role(stub).0,
            scope: AddressScope::Unknown,
            location: None,
        }
    }
}

impl From<&Segment> for NetworkNode {
    fn from(segment: &Segment) -> Self {
        Self {
            id: segment.id,
            kind: NodeKind::Segment,
            name: cut_text(&segment.label),
            role: HostRole::Unknown,
            scope: AddressScope::Unknown,
            location: None,
        }
    }
}
