//! The links that are computed again after a change.

use std::collections::{BTreeMap, BTreeSet};

use super::Links;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, NodeId};
use crate::topology::links::Stub;
use crate::topology::links::bridges::ChangedViews;
use crate::topology::links::changed_entries::ChangedEntries;
use crate::topology::links::contest::candidate::{CandidateSource, DeviceKey, LinkCandidate};
use crate::topology::links::contest::components::extend;
use crate::topology::links::device::Device;
#[cfg(feature = "service")]
use crate::topology::links::device::routes::VirtualMac;
use crate::topology::links::device::sighting::Sighting;
use crate::topology::links::resolve::resolve;
use crate::topology::links::rules::access::{lost_fdb, single_sided_fdb};
use crate::topology::links::rules::fdb::{FdbView, mutual_fdb, shared_fdb};
use crate::topology::links::rules::manual::{ManualLink, manual};
use crate::topology::links::rules::neighbors::{MutualClaims, is_superseded};
use crate::topology::links::stub::stub;

/// The parts that must be computed again.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    /// Hosts that were set or removed.
    changed: BTreeSet<HostId>,
    /// Hosts whose neighbors may have changed.
    sightings: BTreeSet<HostId>,
    /// Hosts whose forwarding databases may have another meaning.
    views: BTreeSet<HostId>,
    access: BTreeSet<HostId>,
    /// Pairs of devices, some of them repeatedly.
    pairs: Vec<CandidateSource>,
    /// Stubs, some of them repeatedly.
    stubs: Vec<NodeId>,
}

impl Dirty {
    /// Returns the parts that a change of these hosts affects itself.
    pub(super) fn of(hosts: BTreeSet<HostId>) -> Self {
        Self { sightings: hosts.clone(), views: hosts.clone(), changed: hosts, ..Self::default() }
    }
}

/// The former devices of the hosts that were set or removed; `None` for a new one.
pub(super) type FormerDevices = BTreeMap<HostId, Option<Device>>;

impl Links {
    pub(super) fn replace_manual(&mut self, manual: &[ManualLink], dirty: &mut Dirty) {
        let mut by_pair: BTreeMap<CandidateSource, BTreeSet<ManualLink>> = BTreeMap::new();
        for link in manual {
            by_pair.entry(link.pair()).or_default().insert(*link);
        }
        let by_pair: BTreeMap<CandidateSource, Vec<ManualLink>> =
            by_pair.into_iter().map(|(pair, links)| (pair, links.into_iter().collect())).collect();
        let former = std::mem::replace(&mut self.manual, by_pair);
        dirty.pairs.extend(differing(&former, &self.manual));
        dirty.pairs.extend(differing(&self.manual, &former));
    }

    /// Computes the links again that a change of devices affects.
    pub(super) fn follow(&mut self, former: &FormerDevices) {
        if former.is_empty() {
            return;
        }
        let mut dirty = Dirty::of(former.keys().copied().collect());
        let mut entries = ChangedEntries::default();
        for (id, former) in former {
            yield_turn();
            let (former, current) = (former.as_ref(), self.devices.get(*id));
            #[cfg(feature = "service")]
            if let Some(noted) = &mut self.noted {
                noted.has_other_virtual_routers |= virtual_macs(former) != virtual_macs(current);
            }
            for device in former.into_iter().chain(current) {
                self.devices.add_namers(device, &mut dirty.sightings);
            }
            entries.add(former, current);
            self.devices.add_learning(former, current, &mut dirty.views);
            // Where the address is at an access port, the link leads to the port of the device that has it.
            for address in former.into_iter().chain(current).flat_map(|device| &device.macs) {
                self.access_ports.add_hosts(*address, &mut dirty.access);
                self.lost_ports.add_hosts(*address, &mut dirty.access);
            }
        }
        entries.add_learners(&self.devices, &mut dirty.views);
        let is_changed = |key: &DeviceKey| key.host().is_some_and(|host| former.contains_key(&host));
        let is_own = |pair: &CandidateSource| matches!(pair, CandidateSource::Pair(one, other) if is_changed(one) || is_changed(other));
        dirty.pairs.extend(self.manual.keys().filter(|pair| is_own(pair)));
        self.compute(dirty);
    }

    pub(super) fn compute(&mut self, mut dirty: Dirty) {
        self.resolve_sightings(&mut dirty);
        self.update_views(&mut dirty);
        dirty.pairs.sort_unstable();
        dirty.pairs.dedup();
        let candidates = dirty.pairs.iter().map(|pair| {
            yield_turn();
            (*pair, self.pair_candidates(*pair))
        });
        let mut changes: Vec<(CandidateSource, Vec<LinkCandidate>)> = candidates.collect();
        let views = self.bridges.views();
        for host in &dirty.access {
            yield_turn();
            let former = self.components.access_sources(*host).map(|port| (port, Vec::new()));
            let mut by_port: BTreeMap<u32, Vec<LinkCandidate>> = former.collect();
            if let Some(device) = self.devices.get(*host) {
                let seen = self.seen.get(host).map_or(&[][..], Vec::as_slice);
                by_port.extend(single_sided_fdb(device, &self.devices, views, &self.access_ports, seen));
                let gone = lost_fdb(device, &self.devices, views, [&self.access_ports, &self.lost_ports]);
                for (port, candidates) in gone {
                    by_port.entry(port).or_default().extend(candidates);
                }
            }
            changes.extend(
                by_port.into_iter().map(|(port, found)| (CandidateSource::Access(*host, port), found)),
            );
        }
        dirty.stubs.extend(self.components.update(changes, &self.devices));
        dirty.stubs.sort_unstable();
        dirty.stubs.dedup();
        self.update_stubs(&dirty.stubs);
    }

    fn resolve_sightings(&mut self, dirty: &mut Dirty) {
        for host in &dirty.sightings {
            yield_turn();
            let found = self.devices.get(*host).map(|device| resolve(device, &self.devices));
            let found = found.unwrap_or_default();
            let former = self.seen.remove(host).unwrap_or_default();
            let is_other = former != found || dirty.changed.contains(host);
            let device = self.devices.get(*host);
            if is_other && device.is_some_and(|device| device.neighbors().any(Sighting::is_of_telephone)) {
                // The hosts behind a telephone are linked to it.
                dirty.access.insert(*host);
            }
            for seen in &former {
                self.seen_by.remove(&seen.device.node_id(), *host);
            }
            #[cfg(feature = "service")]
            if is_other && let Some(noted) = &mut self.noted {
                noted.announced.extend(former.iter().chain(&found).map(|seen| seen.device.node_id()));
            }
            for seen in former.iter().chain(&found) {
                let is_changed = seen.device.host().is_some_and(|host| dirty.changed.contains(&host));
                if is_other || is_changed {
                    dirty.pairs.push(CandidateSource::pair(DeviceKey::Host(*host), seen.device));
                    if let DeviceKey::Stub(stub) = seen.device {
                        dirty.stubs.push(stub);
                    }
                }
            }
            for seen in &found {
                self.seen_by.add(seen.device.node_id(), *host);
            }
            if !found.is_empty() {
                self.seen.insert(*host, found);
            }
        }
    }

    /// Reads the forwarding databases again. Determines which bridges are adjacent and which ports lead to hosts.
    fn update_views(&mut self, dirty: &mut Dirty) {
        let mut changed = ChangedViews::default();
        for host in &dirty.views {
            yield_turn();
            let found = self.devices.get(*host).map(|device| FdbView::new(device, &self.devices));
            let found = found.unwrap_or_default();
            let current = self.bridges.views().get(host);
            let is_other = current.map_or(found != FdbView::default(), |current| *current != found);
            if is_other || dirty.changed.contains(host) {
                changed.hosts.insert(*host);
                self.replace_view(*host, found, &mut changed, &mut dirty.access);
            }
        }
        dirty.access.extend(&dirty.views);
        dirty.access.extend(self.bridges.update(&changed, &self.devices, &mut dirty.pairs));
    }

    fn replace_view(
        &mut self,
        host: HostId,
        found: FdbView,
        changed: &mut ChangedViews,
        access: &mut BTreeSet<HostId>,
    ) {
        let former = self.bridges.replace(host, found);
        let empty = FdbView::default();
        let found = self.bridges.views().get(&host).unwrap_or(&empty);
        if former.all_towards() != found.all_towards() {
            changed.moved.insert(host);
        }
        for port in former.access.values() {
            for (address, _) in &port.owned {
                self.access_ports.remove(*address, (port.devices, host), access);
                self.lost_ports.add_hosts(*address, access);
            }
            for (address, _) in &port.lost {
                self.lost_ports.remove(*address, (port.all_devices(), host), access);
            }
        }
        for (address, _) in former.behind_telephones.values() {
            self.access_ports.remove(*address, (1, host), access);
            self.lost_ports.add_hosts(*address, access);
        }
        for (address, _) in found.behind_telephones.values() {
            self.access_ports.add(*address, (1, host), access);
            self.lost_ports.add_hosts(*address, access);
        }
        for port in found.access.values() {
            for (address, _) in &port.owned {
                self.access_ports.add(*address, (port.devices, host), access);
                self.lost_ports.add_hosts(*address, access);
            }
            for (address, _) in &port.lost {
                self.lost_ports.add(*address, (port.all_devices(), host), access);
            }
        }
    }

    /// Returns the links that two devices may have.
    fn pair_candidates(&self, pair: CandidateSource) -> Vec<LinkCandidate> {
        let CandidateSource::Pair(one, other) = pair else { return Vec::new() };
        let claims = |key: DeviceKey| {
            let host = key.host()?;
            Some((self.devices.get(host)?, self.seen.get(&host).map_or(&[][..], Vec::as_slice)))
        };
        let mut candidates = MutualClaims::new((one, claims(one)), (other, claims(other))).candidates();
        candidates
            .iter_mut()
            .for_each(|candidate| candidate.is_stale |= is_superseded(candidate, &self.devices));
        if let (DeviceKey::Host(one), DeviceKey::Host(other)) = (one, other)
            && let (Some(ours), Some(theirs)) = (self.devices.get(one), self.devices.get(other))
            && self.bridges.are_linked(one, other)
        {
            candidates.extend(mutual_fdb(ours, theirs, self.bridges.views()));
            candidates.extend(shared_fdb(ours, theirs, self.bridges.views()));
        }
        if let Some(links) = self.manual.get(&pair) {
            manual(links, &self.devices, &mut candidates);
        }
        candidates
    }

    fn update_stubs(&mut self, ids: &[NodeId]) {
        let mut by_host: Vec<(HostId, NodeId)> = Vec::with_capacity(ids.len());
        for id in ids {
            self.stubs.remove(id);
            if self.components.has_links(*id) {
                by_host.extend(self.seen_by.get(id).next().map(|host| (host, *id)));
            }
        }
        // The names of one host are close together in memory.
        by_host.sort_unstable();
        let found = by_host.into_iter().map(|(_, id)| (id, Box::new(self.stub(id))));
        let found: Vec<(NodeId, Box<Stub>)> = found.collect();
        extend(&mut self.stubs, found);
    }

    fn stub(&self, id: NodeId) -> Stub {
        stub(id, &self.abouts(DeviceKey::Stub(id)).collect::<Vec<_>>())
    }
}

/// Returns the pairs whose links users have entered otherwise than in the other ones.
fn differing<'m>(
    links: &'m BTreeMap<CandidateSource, Vec<ManualLink>>,
    others: &'m BTreeMap<CandidateSource, Vec<ManualLink>>,
) -> impl Iterator<Item = CandidateSource> + 'm {
    links.iter().filter(|(pair, links)| others.get(*pair) != Some(*links)).map(|(pair, _)| *pair)
}

#[cfg(feature = "service")]
fn virtual_macs(device: Option<&Device>) -> &[VirtualMac] {
    device.map_or(&[], |device| &device.virtual_macs)
}
