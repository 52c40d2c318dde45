//! The ports that a device may be connected to, while they are compared.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::LocationCandidate;
use super::target::Sought;
use crate::model::{HostId, NodeId, Timestamp};
use crate::topology::graph::NodeKind;
use crate::topology::links::{
    Confidence, End, Evidence, LearnedPort, Link, LinkState, Links, Method, PortRef, Rule,
};
use crate::topology::paths::index::PathIndex;

/// The likelihood of a candidate; the least is the likeliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Whether the link or the port is down or disabled.
    is_out: bool,
    /// Whether only a forwarding table shows the port, or links contradict each other.
    is_weak: bool,
    /// Whether the port leads to another switch.
    is_uplink: bool,
    /// Whether the port is one of a device that connects no others.
    is_of_end_device: bool,
    /// The number of devices that were learned on the port; 0 for a link.
    devices: usize,
    /// Whether the port has not learned the address: a router has many links, and the address is at one of them.
    is_not_learned: bool,
    last_seen: Reverse<Option<Timestamp>>,
}

/// A port with what shows that the device is connected to it.
struct Found {
    rank: Rank,
    /// Whether it is an end of a link to the device.
    is_link: bool,
    /// Whether other ports of the same bridge learned the address, too.
    is_ambiguous: bool,
    candidate: LocationCandidate,
}

impl Found {
    /// Returns whether nothing else is at the port. A link names its device; a port that learned further addresses leads to others,
    /// too.
    fn is_exact(&self) -> bool {
        !self.rank.is_uplink && self.rank.devices <= usize::from(self.rank.is_weak)
    }
}

/// The ports that a device may be connected to, the likeliest first.
pub(super) struct Candidates {
    found: Vec<Found>,
    /// Whether only earlier reports show the ports.
    is_former: bool,
}

impl Candidates {
    /// Returns the ports that the latest reports show.
    pub(super) fn current(index: &PathIndex, links: &Links, sought: &Sought) -> Self {
        let mut found = collect(index, links, sought, false);
        found.sort_by_key(|found| found.rank);
        let has_edge = found.iter().any(|found| !found.rank.is_uplink);
        let has_exact = found.iter().any(|found| found.is_exact() && !found.rank.is_out);
        found.retain(|found| {
            let is_alone = found.is_link || found.is_ambiguous || found.is_exact();
            !(has_edge && found.rank.is_uplink) && (!has_exact || is_alone)
        });
        Self { found, is_former: false }
    }

    /// Returns the ports that only earlier reports show. The latest of them are the likeliest.
    pub(super) fn former(index: &PathIndex, links: &Links, sought: &Sought) -> Self {
        let mut found = collect(index, links, sought, true);
        found.sort_by_key(|found| (found.rank.is_uplink, found.rank.last_seen, found.rank));
        let has_edge = found.iter().any(|found| !found.rank.is_uplink);
        found.retain(|found| !(has_edge && found.rank.is_uplink));
        Self { found, is_former: true }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) const fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns whether only earlier reports show the ports, if there are any.
    pub(super) const fn are_former(&self) -> bool {
        self.is_former && !self.found.is_empty()
    }

    /// Returns whether nothing but the device is at one of the ports.
    pub(super) fn has_exact(&self) -> bool {
        self.found.iter().any(Found::is_exact)
    }

    /// Returns whether links to the device contradict each other.
    pub(super) fn is_contradicted(&self) -> bool {
        self.found.iter().any(|found| found.candidate.confidence == Confidence::Conflicting)
    }

    /// Returns whether the device is at several ports now, and not only behind them.
    pub(super) fn are_at_edges(&self) -> bool {
        !self.is_former && self.found.len() > 1 && self.found.iter().any(|found| !found.rank.is_uplink)
    }

    /// Returns whether each port is the end of a link, which is neither down nor disabled unless that is allowed.
    pub(super) fn are_links(&self, may_be_out: bool) -> bool {
        self.found.iter().all(|found| found.is_link && (may_be_out || !found.rank.is_out))
    }

    pub(super) fn into_candidates(self) -> impl Iterator<Item = LocationCandidate> {
        self.found.into_iter().map(|found| found.candidate)
    }
}

/// Returns the ports that either the latest reports show, or only earlier ones.
fn collect(index: &PathIndex, links: &Links, sought: &Sought, is_former: bool) -> Vec<Found> {
    let mut ports = Ports { index, by_port: BTreeMap::new() };
    for host in &sought.hosts {
        ports.add_links(links, *host, is_former);
    }
    for mac in &sought.macs {
        let learned = if is_former { links.former_ports(*mac) } else { links.learned_ports(*mac) };
        learned.into_iter().for_each(|port| ports.add_learned(port));
    }
    ports.by_port.into_values().collect()
}

/// The ports that links and forwarding tables show.
struct Ports<'i> {
    index: &'i PathIndex,
    by_port: BTreeMap<(NodeId, Option<PortRef>), Found>,
}

impl Ports<'_> {
    /// Adds the ports that links connect a host with: current links, or those that no device still shows.
    fn add_links(&mut self, links: &Links, host: HostId, is_former: bool) {
        let Some(node) = self.index.number(host.into()) else { return };
        for step in self.index.steps(node) {
            let link = links.get(self.index.link(step.link).id);
            let Some(link) = link.filter(|link| (link.stale || link.is_gone()) == is_former) else {
                continue;
            };
            let port = far_port(link, self.index.node(step.node).id);
            let last_seen = link.evidence.iter().filter_map(|evidence| evidence.last_seen).max();
            let mut candidate = self.candidate(step.node, port.as_ref());
            candidate.vlan = link.untagged_vlan;
            candidate.state = link.state;
            candidate.since = link.evidence.iter().filter_map(|evidence| evidence.first_seen).min();
            candidate.last_seen = last_seen;
            candidate.confidence = link.confidence;
            candidate.evidence.clone_from(&link.evidence);
            let rank = Rank {
                is_out: link.state.is_out(),
                is_weak: link.confidence == Confidence::Conflicting,
                is_uplink: false,
                is_of_end_device: !self.index.node(step.node).may_bridge,
                devices: 0,
                is_not_learned: true,
                last_seen: Reverse(last_seen),
            };
            let found = Found { rank, is_link: true, is_ambiguous: false, candidate };
            self.by_port.insert((self.index.node(step.node).id, port), found);
        }
    }

    /// Adds a port that learned an address, or joins it with the link at the port.
    fn add_learned(&mut self, learned: LearnedPort) {
        let Some(node) = self.index.number(learned.host.into()) else { return };
        let evidence = Evidence {
            method: Method::Fdb,
            rule: Rule::SingleSidedFdb,
            reporter_host_id: Some(learned.host),
            if_entry_id: learned.port.if_entry_id,
            first_seen: None,
            last_seen: learned.last_seen,
            missing_since: learned.missing_since,
        };
        let is_uplink = learned.devices.is_none() && !learned.is_ambiguous;
        let key = (learned.host.into(), Some(learned.port));
        if !is_uplink {
            self.name_port(&key);
        }
        if let Some(Found { rank, candidate, .. }) = self.by_port.get_mut(&key) {
            rank.is_not_learned = false;
            candidate.vlan = candidate.vlan.or(learned.vlan);
            candidate.last_seen = candidate.last_seen.max(learned.last_seen);
            if candidate.evidence.iter().all(|known| known.method != Method::Fdb) {
                candidate.evidence.push(evidence);
            }
            return;
        }
        let mut candidate = self.candidate(node, key.1.as_ref());
        candidate.vlan = learned.vlan;
        candidate.state = learned.state;
        candidate.last_seen = learned.last_seen;
        candidate.evidence.push(evidence);
        let rank = Rank {
            is_out: learned.state.is_out(),
            is_weak: true,
            is_uplink,
            is_of_end_device: !self.index.node(node).may_bridge,
            devices: learned.devices.unwrap_or(usize::MAX),
            is_not_learned: false,
            last_seen: Reverse(learned.last_seen),
        };
        let found = Found { rank, is_link: false, is_ambiguous: learned.is_ambiguous, candidate };
        self.by_port.insert(key, found);
    }

    /// Gives a port to the link that has none at the same node: the address was learned there.
    fn name_port(&mut self, (node, port): &(NodeId, Option<PortRef>)) {
        let key = (*node, port.clone());
        if self.by_port.contains_key(&key) {
            return;
        }
        let Some(mut found) = self.by_port.remove(&(*node, None)) else { return };
        found.candidate.if_entry_id = port.as_ref().and_then(|port| port.if_entry_id);
        found.candidate.port = port.as_ref().map(|port| port.name.clone());
        self.by_port.insert(key, found);
    }

    fn candidate(&self, node: u32, port: Option<&PortRef>) -> LocationCandidate {
        let node = self.index.node(node);
        LocationCandidate {
            host_id: node.host_id(),
            node_id: (node.kind != NodeKind::Host).then_some(node.id),
            name: node.name.to_string(),
            if_entry_id: port.and_then(|port| port.if_entry_id),
            port: port.map(|port| port.name.clone()),
            vlan: None,
            state: LinkState::Unknown,
            since: None,
            last_seen: None,
            confidence: Confidence::Inferred,
            evidence: Vec::new(),
        }
    }
}

/// Returns the port of a link at a node.
fn far_port(link: &Link, node: NodeId) -> Option<PortRef> {
    let end = if link.source.node_id() == node { &link.source } else { &link.target };
    match end {
        End::Host { port, .. } | End::Stub { port, .. } => port.clone(),
        End::Segment { .. } => None,
    }
}
