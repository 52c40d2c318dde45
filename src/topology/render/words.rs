//! The names of a graph's values in pictures.

use crate::model::{HostRole, TopologyView};
use crate::topology::graph::{Edge, EdgeKind, NodeKind};
use crate::topology::links::Confidence;

use super::number::speed;

pub(super) const fn view(view: TopologyView) -> &'static str {
    match view {
        TopologyView::L2 => "Layer 2",
        TopologyView::L3 => "Layer 3",
        TopologyView::Workloads => "Workloads",
    }
}

/// Returns the role as a word of a class name.
pub(super) const fn role_class(role: HostRole) -> &'static str {
    match role {
        HostRole::AccessPoint => "access-point",
        _ => role.as_str(),
    }
}

pub(super) const fn role(role: HostRole) -> &'static str {
    match role {
        HostRole::Router => "Router",
        HostRole::Switch => "Switch",
        HostRole::AccessPoint => "Access point",
        HostRole::Firewall => "Firewall",
        HostRole::Server => "Server",
        HostRole::Printer => "Printer",
        HostRole::Phone => "Phone",
        HostRole::Camera => "Camera",
        HostRole::Storage => "Storage",
        HostRole::Hypervisor => "Hypervisor",
        HostRole::Workstation => "Workstation",
        HostRole::Unknown => "Unknown role",
    }
}

pub(super) const fn node_kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Host => "host",
        NodeKind::Stub => "stub",
        NodeKind::Segment => "segment",
        NodeKind::Subnet => "subnet",
        NodeKind::Group => "group",
        NodeKind::Service => "service",
    }
}

pub(super) const fn edge_kind(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Physical => "physical",
        EdgeKind::Adjacency => "adjacency",
        EdgeKind::Bridged => "bridged",
        EdgeKind::Routed => "routed",
        EdgeKind::Member => "member",
        EdgeKind::Hosts => "hosts",
    }
}

pub(super) const fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Confirmed => "confirmed",
        Confidence::Reported => "reported",
        Confidence::Inferred => "inferred",
        Confidence::Conflicting => "conflicting",
    }
}

/// Returns the speed of an edge, with the number of links of an aggregation group. `None` when there is nothing to say.
pub(super) fn capacity(edge: &Edge) -> Option<String> {
    let members = u64::try_from(edge.members.len()).unwrap_or(u64::MAX);
    let known = edge.speed_bps.filter(|speed| *speed > 0);
    match (members, known) {
        (0 | 1, known) => known.map(speed),
        (_, None) => Some(format!("{members}\u{d7}")),
        (_, Some(total)) => Some(format!("{members}\u{d7}{}", speed(total / members))),
    }
}
