//! Nodes, links and steps of an index.

use crate::discovery::report::Capability;
use crate::model::{HostId, HostRole, LinkId, NodeId};
use crate::topology::graph::{NetworkNode, NodeKind};
use crate::topology::layout::AddressScope;
use crate::topology::links::{Confidence, Link, LinkState};

/// A device or a segment.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::topology::paths) struct PathNode {
    pub(in crate::topology::paths) id: NodeId,
    pub(in crate::topology::paths) kind: NodeKind,
    pub(in crate::topology::paths) role: HostRole,
    pub(in crate::topology::paths) scope: AddressScope,
    pub(in crate::topology::paths) name: Box<str>,
    pub(in crate::topology::paths) location: Option<Box<str>>,
    /// Whether the node may forward frames between its ports.
    pub(in crate::topology::paths) may_bridge: bool,
    /// Whether the node may forward packets between its subnets.
    pub(in crate::topology::paths) may_route: bool,
}

/// The evidence that a host forwards frames or packets of others, whatever its role.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forwarding {
    /// It has a forwarding database or a spanning tree, or announces to be a bridge.
    is_bridge: bool,
    /// It announces to be a router.
    is_router: bool,
    /// It announces to be an end device.
    is_station: bool,
}

impl Forwarding {
    pub(super) fn of(has_bridge_tables: bool, announced: &[Capability]) -> Self {
        Self {
            is_bridge: has_bridge_tables || announced.contains(&Capability::Bridge),
            is_router: announced.contains(&Capability::Router),
            is_station: announced.contains(&Capability::StationOnly),
        }
    }
}

/// A link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::topology::paths) struct PathLink {
    pub(in crate::topology::paths) id: LinkId,
    pub(in crate::topology::paths) source: u32,
    pub(in crate::topology::paths) target: u32,
    /// The number of the set of VLANs; `None` when unknown.
    pub(in crate::topology::paths) vlans: Option<u32>,
    pub(in crate::topology::paths) untagged_vlan: Option<u16>,
    pub(in crate::topology::paths) confidence: Confidence,
    pub(in crate::topology::paths) state: LinkState,
    pub(in crate::topology::paths) is_stale: bool,
    /// Whether the spanning tree blocks an end; `None` when unknown.
    pub(in crate::topology::paths) blocked: Option<bool>,
    /// Whether two physical links or more are up, so that the loss of one does not cut it.
    pub(in crate::topology::paths) is_redundant: bool,
    /// Whether only one end names the other.
    pub(in crate::topology::paths) is_one_sided: bool,
    /// Whether the link is an aggregation group of which at most one member is up.
    pub(in crate::topology::paths) is_degraded_lag: bool,
}

/// A neighbor of a node, and the link to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::paths) struct PathStep {
    pub(in crate::topology::paths) node: u32,
    pub(in crate::topology::paths) link: u32,
}

impl PathNode {
    pub(super) fn new(node: NetworkNode, forwarding: Forwarding) -> Self {
        Self {
            may_bridge: may_bridge(node.role, forwarding),
            may_route: is_router(node.role) || forwarding.is_router,
            id: node.id,
            kind: node.kind,
            role: node.role,
            scope: node.scope,
            name: node.name.into(),
            location: node.location.map(Into::into),
        }
    }

    /// Returns whether the node is a device, known or only named by neighbors.
    pub(in crate::topology::paths) fn is_device(&self) -> bool {
        self.kind != NodeKind::Segment
    }

    pub(in crate::topology::paths) fn host_id(&self) -> Option<HostId> {
        (self.kind == NodeKind::Host).then(|| HostId::from(self.id.uuid()))
    }

    /// Returns whether the node passes on frames or packets of others. Devices of unknown role may.
    ///
    /// End devices do not, however many links they have, unless there is evidence: see [`Forwarding`].
    pub(in crate::topology::paths) const fn is_transit(&self) -> bool {
        self.may_bridge || self.may_route
    }

    /// Returns whether paths, cuts and the top of the network stay the same if another node takes the place of this one.
    #[cfg(feature = "service")]
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.id == other.id
            && self.kind == other.kind
            && self.role == other.role
            && self.scope == other.scope
            && self.may_bridge == other.may_bridge
            && self.may_route == other.may_route
            && self.location == other.location
    }
}

fn is_router(role: HostRole) -> bool {
    matches!(role, HostRole::Router | HostRole::Firewall | HostRole::Internet)
}

/// Returns whether a node may forward frames. Routers and end devices do not, unless there is evidence.
const fn may_bridge(role: HostRole, forwarding: Forwarding) -> bool {
    match role {
        HostRole::Switch | HostRole::AccessPoint | HostRole::WirelessController | HostRole::Hypervisor => {
            true
        }
        HostRole::Unknown => forwarding.is_bridge || !forwarding.is_station,
        _ => forwarding.is_bridge,
    }
}

impl PathLink {
    /// Returns whether packets pass: the link is shown by the latest reports, and neither down nor in test mode.
    pub(in crate::topology::paths) fn is_working(&self) -> bool {
        !self.is_stale && carries_packets(self.state)
    }

    /// Returns whether the VLANs that the link carries are known.
    pub(in crate::topology::paths) const fn has_known_vlans(&self) -> bool {
        self.vlans.is_some()
    }

    pub(super) fn new(link: &Link, [source, target]: [u32; 2], vlans: Option<u32>) -> Self {
        let up = link.members.iter().filter(|member| carries_packets(member.state)).count();
        let is_lag = !link.members.is_empty();
        Self {
            id: link.id,
            source,
            target,
            vlans,
            untagged_vlan: link.untagged_vlan,
            confidence: link.confidence,
            state: link.state,
            is_stale: link.stale,
            blocked: link.blocked,
            is_redundant: up >= 2,
            is_one_sided: link.confidence == Confidence::Reported,
            is_degraded_lag: is_lag && up < 2,
        }
    }

    /// Returns whether paths, cuts and the top of the network stay the same if another link takes the place of this one.
    #[cfg(feature = "service")]
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        [self.source, self.target] == [other.source, other.target]
            && self.is_working() == other.is_working()
            && self.is_redundant == other.is_redundant
    }
}

/// Returns whether a link or a member of one is neither down nor in test mode.
fn carries_packets(state: LinkState) -> bool {
    !state.is_out() && state != LinkState::Testing
}
