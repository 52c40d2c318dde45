//! The bridges of a network as its forwarding databases show them, kept up to date.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::contest::candidate::{CandidateSource, DeviceKey};
use super::devices::Devices;
use super::multimap::SmallMultimap;
use super::rules::adjacency::{Adjacent, adjacent};
use super::rules::fdb::{FdbView, FdbViews};
use crate::fair_threads::yield_turn;
use crate::model::HostId;

/// The forwarding databases of a network, and which bridges are adjacent.
#[derive(Clone, Debug, Default)]
pub(super) struct Bridges {
    views: FdbViews,
    /// The bridges that have others behind at least two ports.
    branching: BTreeSet<HostId>,
    /// The hosts that have a port towards each bridge as shared entries show it.
    inferred: SmallMultimap<HostId, HostId>,
    adjacent: HashMap<HostId, BTreeMap<u32, Adjacent>>,
    /// The bridges that each bridge may be linked with, in order.
    listed: HashMap<HostId, Vec<HostId>>,
    listed_by: SmallMultimap<HostId, HostId>,
}

/// Hosts whose views have changed.
#[derive(Debug, Default)]
pub(super) struct ChangedViews {
    /// The hosts whose views have changed, and those whose claims have.
    pub(super) hosts: BTreeSet<HostId>,
    /// The hosts whose ports towards bridges have changed.
    pub(super) moved: BTreeSet<HostId>,
}

impl Bridges {
    pub(super) const fn views(&self) -> &FdbViews {
        &self.views
    }

    /// Replaces the view of a host, and returns the former one.
    pub(super) fn replace(&mut self, host: HostId, found: FdbView) -> FdbView {
        let former = self.views.remove(&host).unwrap_or_default();
        for (other, _) in former.all_towards().iter().filter(|(_, towards)| towards.is_inferred) {
            self.inferred.remove(other, host);
        }
        for (other, _) in found.all_towards().iter().filter(|(_, towards)| towards.is_inferred) {
            self.inferred.add(*other, host);
        }
        if found.bridge_ports().len() > 1 {
            self.branching.insert(host);
        } else {
            self.branching.remove(&host);
        }
        if found != FdbView::default() {
            self.views.insert(host, found);
        }
        former
    }

    /// Determines again which bridges are adjacent. Returns the hosts that this may affect, and adds the pairs that
    /// may have other links.
    pub(super) fn update(
        &mut self,
        changed: &ChangedViews,
        devices: &Devices,
        pairs: &mut Vec<CandidateSource>,
    ) -> BTreeSet<HostId> {
        let mut affected = changed.hosts.clone();
        self.add_facing(&changed.moved, devices, &mut affected);
        let mut flipped = BTreeSet::new();
        for host in &affected {
            yield_turn();
            let found = adjacent(*host, &self.views, &self.branching);
            let former = if found.is_empty() {
                self.adjacent.remove(host)
            } else {
                self.adjacent.insert(*host, found.clone())
            };
            if !segment_ports(&former.unwrap_or_default()).eq(segment_ports(&found)) {
                flipped.insert(*host);
            }
        }
        let mut relisted = affected.clone();
        self.add_facing(&flipped, devices, &mut relisted);
        for host in relisted {
            yield_turn();
            self.list(host, changed.hosts.contains(&host), pairs);
        }
        for host in changed.hosts.union(&flipped) {
            pairs.extend(self.listed_by.get(host).map(|other| pair(*host, other)));
        }
        affected
    }

    /// Returns whether two bridges are adjacent, and not only by a segment that others connect them with.
    pub(super) fn are_linked(&self, one: HostId, other: HostId) -> bool {
        let lists = |one: &HostId, other: &HostId| {
            self.listed.get(one).is_some_and(|listed| listed.binary_search(other).is_ok())
        };
        (lists(&one, &other) || lists(&other, &one)) && self.accepts(one, other) && self.accepts(other, one)
    }

    /// Returns the ports behind which more bridges are than were compared, with the number of these bridges.
    pub(super) fn cut_ports(&self) -> impl Iterator<Item = (HostId, u32, usize)> {
        let is_cut = |adjacent: &Adjacent| matches!(adjacent, Adjacent::Segment { is_cut: true, .. });
        let ports = self.adjacent.iter().flat_map(|(host, ports)| ports.iter().map(move |it| (*host, it)));
        ports.filter(move |(_, (_, adjacent))| is_cut(adjacent)).map(|(host, (port, _))| {
            (host, *port, self.views.get(&host).map_or(0, |view| view.behind(*port).len()))
        })
    }

    /// Returns whether a bridge is adjacent to another one, as it sees it.
    fn accepts(&self, own: HostId, other: HostId) -> bool {
        let port = self.views.get(&own).and_then(|view| view.towards(other)).map(|towards| towards.port);
        match port.and_then(|port| self.adjacent.get(&own)?.get(&port)) {
            Some(Adjacent::Few(all)) => all.binary_search(&other).is_ok(),
            Some(Adjacent::Segment { .. }) => true,
            None => false,
        }
    }

    /// Lists the bridges that a bridge may be linked with. Adds its pairs if they have changed, or if `is_changed`.
    fn list(&mut self, host: HostId, is_changed: bool, pairs: &mut Vec<CandidateSource>) {
        let mut found = Vec::new();
        for adjacent in self.adjacent.get(&host).into_iter().flat_map(BTreeMap::values) {
            match adjacent {
                Adjacent::Few(all) => found.extend(all),
                Adjacent::Segment { first, .. } => {
                    let one = first.iter().find(|other| self.is_on_segment(**other, host));
                    match one {
                        Some(one) => found.push(*one),
                        None => found.extend(first),
                    }
                }
            }
        }
        found.sort_unstable();
        let former = self.listed.remove(&host).unwrap_or_default();
        if found != former || is_changed {
            pairs.extend(former.iter().chain(&found).map(|other| pair(host, *other)));
        }
        for other in former.iter().filter(|other| found.binary_search(other).is_err()) {
            self.listed_by.remove(other, host);
        }
        for other in found.iter().filter(|other| former.binary_search(other).is_err()) {
            self.listed_by.add(*other, host);
        }
        if !found.is_empty() {
            self.listed.insert(host, found);
        }
    }

    /// Returns whether the port of a bridge towards another one is on a segment.
    fn is_on_segment(&self, own: HostId, other: HostId) -> bool {
        let port = self.views.get(&own).and_then(|view| view.towards(other)).map(|towards| towards.port);
        port.and_then(|port| self.adjacent.get(&own)?.get(&port)).is_some_and(Adjacent::is_segment)
    }

    /// Adds the hosts that have a port towards one of these bridges.
    fn add_facing(&self, bridges: &BTreeSet<HostId>, devices: &Devices, hosts: &mut BTreeSet<HostId>) {
        let mut known = hosts.iter().filter(|host| self.views.contains_key(host)).count();
        for bridge in bridges {
            // After a change of all, nothing remains to be found.
            if known >= self.views.len() {
                return;
            }
            let addresses = devices.get(*bridge).into_iter().flat_map(|device| &device.macs);
            let learners = addresses.flat_map(|address| devices.learners(*address));
            for host in learners.chain(self.inferred.get(bridge)) {
                let view = self.views.get(&host).filter(|view| view.towards(*bridge).is_some());
                if view.is_some() && hosts.insert(host) {
                    known = known.saturating_add(1);
                }
            }
        }
    }
}

fn pair(one: HostId, other: HostId) -> CandidateSource {
    CandidateSource::pair(DeviceKey::Host(one), DeviceKey::Host(other))
}

fn segment_ports(ports: &BTreeMap<u32, Adjacent>) -> impl Iterator<Item = &u32> {
    ports.iter().filter(|(_, adjacent)| adjacent.is_segment()).map(|(port, _)| port)
}
