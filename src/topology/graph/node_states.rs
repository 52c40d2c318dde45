//! The states of nodes, which follow from all links of the network, whatever a view shows of them.

use std::collections::BTreeMap;

use super::GraphInput;
use super::views::l2::{is_infrastructure, stub_is_infrastructure};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, HostRole, NodeId};
use crate::topology::links::{End, LinkState};

/// What the links of a node say together.
#[derive(Default)]
struct Tally {
    all: usize,
    out: usize,
    disabled: usize,
    is_up: bool,
    worst_working: LinkState,
    /// Whether a link to a device that connects others is down, or members of it are.
    has_lost: bool,
}

impl Tally {
    fn add(&mut self, state: LinkState, other_is_infrastructure: bool) {
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

/// Returns the states of the nodes with links. `roles` has the roles that the network gives to hosts.
pub(super) fn node_states(
    input: &GraphInput<'_>,
    roles: &BTreeMap<HostId, HostRole>,
) -> BTreeMap<NodeId, LinkState> {
    let switches: BTreeMap<NodeId, bool> = input
        .stubs
        .iter()
        .map(|stub| (stub.id, stub.is_unmanaged_switch || stub_is_infrastructure(stub)))
        .collect();
    let is_infrastructure_end = |end: &End| match end {
        End::Host { host_id, .. } => roles.get(host_id).is_some_and(|role| is_infrastructure(*role)),
        End::Stub { id, .. } => switches.get(id).is_some_and(|is_switch| *is_switch),
        End::Segment { .. } => true,
    };
    let mut tallies: BTreeMap<NodeId, Tally> = BTreeMap::new();
    for link in input.links.iter().filter(|link| !link.stale) {
        yield_turn();
        for (own, other) in [(&link.source, &link.target), (&link.target, &link.source)] {
            if !matches!(own, End::Segment { .. }) {
                let tally = tallies.entry(own.node_id()).or_default();
                tally.add(link.state, is_infrastructure_end(other));
            }
        }
    }
    tallies.into_iter().map(|(id, tally)| (id, tally.state())).collect()
}
