//! The properties of a node that follow from all links of the network, whichever of them a view shows.

use std::collections::{BTreeMap, BTreeSet};

use super::GraphInput;
use super::views::l2::{is_infrastructure, stub_is_infrastructure};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, HostRole, LinkId, NodeId};
use crate::topology::links::{End, Link, LinkState};

/// The properties of a node that follow from its links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkFacts {
    pub(super) state: LinkState,
    /// The VLAN of frames without a tag, if the node is an end device.
    pub(super) vlan: Option<u16>,
}

/// The links of a node.
#[derive(Default)]
struct Tally {
    all: usize,
    out: usize,
    disabled: usize,
    is_up: bool,
    worst_working: LinkState,
    /// Whether a link to a device that connects others is down, or members of it are.
    has_lost: bool,
    /// The VLANs of frames without a tag at devices that connect others; the inner `None` stands for several.
    vlan: Option<Option<u16>>,
}

impl Tally {
    fn add(&mut self, link: &Link, other_is_infrastructure: bool) {
        let state = link.state;
        if let Some(vlan) = link.untagged_vlan.filter(|_| other_is_infrastructure) {
            let known = self.vlan.get_or_insert(Some(vlan));
            *known = known.filter(|known| *known == vlan);
        }
        self.all = self.all.saturating_add(1);
        self.out = self.out.saturating_add(usize::from(state.is_out()));
        self.disabled = self.disabled.saturating_add(usize::from(state == LinkState::Disabled));
        self.is_up |= state == LinkState::Up;
        if !state.is_out() {
            self.worst_working = self.worst_working.max(state);
        }
        self.has_lost |= other_is_infrastructure && matches!(state, LinkState::Down | LinkState::Degraded);
    }

    const fn state(&self) -> LinkState {
        if self.out == self.all {
            if self.disabled == self.all { LinkState::Disabled } else { LinkState::Down }
        } else if self.has_lost {
            LinkState::Degraded
        } else if self.is_up {
            LinkState::Up
        } else {
            self.worst_working
        }
    }
}

/// A port of a device that is not a host.
type StubPort<'l> = (NodeId, &'l str);

fn stub_ports(link: &Link) -> impl Iterator<Item = StubPort<'_>> {
    [&link.source, &link.target].into_iter().filter_map(|end| match end {
        End::Stub { id, port: Some(port) } => Some((*id, port.name.as_str())),
        End::Stub { port: None, .. } | End::Host { .. } | End::Segment { .. } => None,
    })
}

/// Returns the links that unknown devices have left behind: these are down, and the port of the device has another link that
/// devices claim at present.
pub(in crate::topology) fn left_behind(links: &[&Link]) -> BTreeSet<LinkId> {
    let (gone, present): (Vec<&Link>, Vec<&Link>) = links.iter().partition(|link| link.is_gone());
    let connected: BTreeSet<StubPort<'_>> = present.into_iter().flat_map(stub_ports).collect();
    let is_connected = |link: &&Link| stub_ports(link).any(|port| connected.contains(&port));
    let down = gone.into_iter().filter(|link| link.state.is_out());
    down.filter(is_connected).map(|link| link.id).collect()
}

/// Returns what the links of each node with links say, but for those that are `left_behind`. `roles` has the roles that the
/// network gives to hosts.
pub(super) fn link_facts(
    input: &GraphInput<'_>,
    roles: &BTreeMap<HostId, HostRole>,
    left_behind: &BTreeSet<LinkId>,
) -> BTreeMap<NodeId, LinkFacts> {
    let switches: BTreeMap<NodeId, bool> =
        input.stubs.iter().map(|stub| (stub.id, stub_is_infrastructure(stub))).collect();
    let is_infrastructure_end = |end: &End| match end {
        End::Host { host_id, .. } => roles.get(host_id).is_some_and(|role| is_infrastructure(*role)),
        End::Stub { id, .. } => switches.get(id).is_some_and(|is_switch| *is_switch),
        End::Segment { .. } => true,
    };
    let mut tallies: BTreeMap<NodeId, Tally> = BTreeMap::new();
    for link in input.links.iter().filter(|link| !link.stale && !left_behind.contains(&link.id)) {
        yield_turn();
        for (own, other) in [(&link.source, &link.target), (&link.target, &link.source)] {
            if !matches!(own, End::Segment { .. }) {
                let tally = tallies.entry(own.node_id()).or_default();
                tally.add(link, is_infrastructure_end(other));
            }
        }
    }
    let facts = |(id, tally): (NodeId, Tally)| {
        let is_switch = switches.get(&id).copied().unwrap_or_else(|| {
            roles.get(&HostId::from(id.uuid())).is_some_and(|role| is_infrastructure(*role))
        });
        (id, LinkFacts { state: tally.state(), vlan: tally.vlan.flatten().filter(|_| !is_switch) })
    };
    tallies.into_iter().map(facts).collect()
}
