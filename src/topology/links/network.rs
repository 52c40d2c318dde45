//! All links of a network, kept up to date with its hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::bridges::{Bridges, ChangedViews};
use super::contest::candidate::{CandidateSource, DeviceKey, LinkCandidate};
use super::contest::components::{Components, extend};
use super::device::Device;
use super::device::sighting::About;
use super::devices::Devices;
use super::multimap::SmallMultimap;
use super::resolve::{ResolvedSighting, resolve};
use super::rules::access::{AccessPorts, lost_fdb, single_sided_fdb};
use super::rules::fdb::{FdbView, FdbViews, mutual_fdb, shared_fdb};
use super::rules::manual::{ManualLink, manual};
use super::rules::neighbors::{MutualClaims, is_superseded};
use super::stub::stub;
use super::{CrowdedPort, End, Link, LinkWarning, Segment, Stub, warning};
use crate::discovery::report::Capability;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, LinkId, NodeId};

/// The links of a network.
///
/// They follow from devices and from the links that users entered, regardless of the order in which these were set.
/// After a change of one device, only the links are computed again that its claims, and the claims about it, can
/// affect.
///
/// ```
/// use toposcope::model::{Host, IfEntry, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, NetworkId};
/// use toposcope::topology::links::{Confidence, Device, Links};
///
/// let network = NetworkId::from_u128(1);
/// let mut core = Host::new(network, "core");
/// core.sys_name = Some("core".to_owned());
/// let access = Host::new(network, "access");
/// let mut uplink = IfEntry::new(&access, 24);
/// uplink.lldp_chassis_id =
///     Some(LldpChassisId { subtype: LldpChassisIdSubtype::LocallyAssigned, value: "c-1".to_owned() });
/// uplink.lldp_sys_name = Some("core".to_owned());
/// let access = Host { if_entries: vec![uplink], ..access };
///
/// let mut links = Links::new([Device::of(&core, &[]), Device::of(&access, &[])], &[]);
/// let link = links.links().next().ok_or("no link")?;
/// assert_eq!(link.confidence, Confidence::Reported);
///
/// links.remove(access.id);
/// assert_eq!(links.links().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Links {
    devices: Devices,
    seen: BTreeMap<HostId, Vec<ResolvedSighting>>,
    /// The hosts that see each host and each stub.
    seen_by: SmallMultimap<NodeId, HostId>,
    /// The changes since they were last taken; `None`: they are not noted.
    #[cfg(feature = "service")]
    noted: Option<LinkChanges>,
    bridges: Bridges,
    access_ports: AccessPorts,
    /// The ports that learned an address last, of addresses that they no longer have.
    lost_ports: AccessPorts,
    manual: BTreeMap<CandidateSource, Vec<ManualLink>>,
    components: Components,
    stubs: BTreeMap<NodeId, Box<Stub>>,
}

/// The changes of links since they were last taken.
#[cfg(feature = "service")]
#[derive(Clone, Debug, Default)]
pub(in crate::topology) struct LinkChanges {
    /// The links that may have appeared, changed or disappeared.
    pub(in crate::topology) links: BTreeSet<LinkId>,
    /// The hosts and stubs of which neighbors may announce other things.
    pub(in crate::topology) announced: BTreeSet<NodeId>,
    /// Whether the virtual routers may differ.
    pub(in crate::topology) has_other_virtual_routers: bool,
}

/// The parts that must be computed again.
#[derive(Debug, Default)]
struct Dirty {
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

impl Links {
    /// Finds the links between devices. If a host has several devices, the last one counts.
    #[must_use]
    pub fn new(devices: impl IntoIterator<Item = Device>, manual: &[ManualLink]) -> Self {
        let mut links = Self::default();
        let devices: Vec<Device> = devices.into_iter().collect();
        links.devices.reserve(&devices);
        links.seen_by.reserve(devices.iter().map(|device| device.sightings.len()).sum());
        for device in devices {
            yield_turn();
            links.devices.insert(device);
        }
        let all: BTreeSet<HostId> = links.devices.ids().collect();
        let mut dirty =
            Dirty { sightings: all.clone(), views: all.clone(), changed: all, ..Dirty::default() };
        links.replace_manual(manual, &mut dirty);
        links.compute(dirty);
        links
    }

    /// Adds a device, or replaces the one of the same host.
    pub fn set(&mut self, device: Device) {
        let id = device.id;
        let former = self.devices.insert(device);
        self.follow(id, former.as_ref());
    }

    /// Removes the device of a host.
    pub fn remove(&mut self, host: HostId) {
        if let Some(former) = self.devices.remove(host) {
            self.follow(host, Some(&former));
        }
    }

    /// Replaces all links that users entered or suppressed.
    pub fn set_manual(&mut self, manual: &[ManualLink]) {
        let mut dirty = Dirty::default();
        self.replace_manual(manual, &mut dirty);
        self.compute(dirty);
    }

    /// Returns the links, by id.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.components.links.values().map(Box::as_ref)
    }

    /// Returns the link with an id.
    #[must_use]
    pub fn get(&self, id: LinkId) -> Option<&Link> {
        self.components.links.get(&id).map(Box::as_ref)
    }

    /// Returns the links that may have appeared, changed or disappeared since the last call. The first call begins to note them.
    #[cfg(feature = "service")]
    pub(crate) fn take_decided(&mut self) -> BTreeSet<LinkId> {
        self.components.decided.replace(BTreeSet::new()).unwrap_or_default()
    }

    /// Returns the changes since the last call. The first call begins to note them.
    #[cfg(feature = "service")]
    pub(in crate::topology) fn take_changes(&mut self) -> LinkChanges {
        let noted = self.noted.replace(LinkChanges::default()).unwrap_or_default();
        LinkChanges { links: self.take_decided(), ..noted }
    }

    /// Returns the capabilities that neighbors announce of a host, in ascending order, and the first description in the order of text.
    #[cfg(feature = "service")]
    pub(in crate::topology) fn announced_of(&self, host: HostId) -> (Vec<Capability>, Option<&str>) {
        let mut capabilities = BTreeSet::new();
        let mut description: Option<&str> = None;
        for about in self.abouts(DeviceKey::Host(host)) {
            capabilities.extend(&about.capabilities);
            description = description.into_iter().chain(about.description.as_deref()).min();
        }
        (capabilities.into_iter().collect(), description)
    }

    /// Returns a device that links lead to and that is not a host.
    #[cfg(feature = "service")]
    pub(in crate::topology) fn stub_with(&self, id: NodeId) -> Option<&Stub> {
        self.stubs.get(&id).map(Box::as_ref).or_else(|| self.components.unmanaged.get(&id))
    }

    /// Returns a segment that several devices share.
    #[cfg(feature = "service")]
    pub(in crate::topology) fn segment_with(&self, id: NodeId) -> Option<&Segment> {
        self.components.segments.get(&id)
    }

    /// Returns the devices that links lead to and that are not hosts, by id.
    pub fn stubs(&self) -> impl Iterator<Item = &Stub> {
        let mut named = self.stubs.values().map(Box::as_ref).peekable();
        let mut unmanaged = self.components.unmanaged.values().peekable();
        std::iter::from_fn(move || match (named.peek(), unmanaged.peek()) {
            (Some(one), Some(other)) if one.id < other.id => named.next(),
            (_, Some(_)) => unmanaged.next(),
            (_, None) => named.next(),
        })
    }

    /// Returns the segments that several devices share, by id.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.components.segments.values()
    }

    /// Returns the capabilities that neighbors announce, by host and in ascending order.
    #[must_use]
    pub fn capabilities(&self) -> BTreeMap<HostId, Vec<Capability>> {
        let mut announced: BTreeMap<HostId, BTreeSet<Capability>> = BTreeMap::new();
        for (reporter, seen) in &self.seen {
            let Some(device) = self.devices.get(*reporter) else { continue };
            for seen in seen {
                let (DeviceKey::Host(host), Some(sighting)) =
                    (&seen.device, device.sightings.get(seen.sighting))
                else {
                    continue;
                };
                if !sighting.about.capabilities.is_empty() {
                    announced.entry(*host).or_default().extend(&sighting.about.capabilities);
                }
            }
        }
        announced.into_iter().map(|(host, all)| (host, all.into_iter().collect())).collect()
    }

    /// Returns the hosts with a forwarding database or a spanning tree.
    pub fn bridges(&self) -> impl Iterator<Item = HostId> {
        self.devices.bridges()
    }

    /// Returns the descriptions that neighbors give, by host. Of several, the first in the order of text counts.
    #[must_use]
    pub fn descriptions(&self) -> BTreeMap<HostId, String> {
        let mut described: BTreeMap<HostId, &str> = BTreeMap::new();
        for (reporter, seen) in &self.seen {
            let Some(device) = self.devices.get(*reporter) else { continue };
            for seen in seen {
                let sighting = device.sightings.get(seen.sighting);
                let description = sighting.and_then(|sighting| sighting.about.description.as_deref());
                if let (DeviceKey::Host(host), Some(description)) = (&seen.device, description) {
                    let known = described.entry(*host).or_insert(description);
                    *known = description.min(*known);
                }
            }
        }
        described.into_iter().map(|(host, text)| (host, text.to_owned())).collect()
    }

    /// Returns the reasons for uncertain links, in a fixed order.
    #[must_use]
    pub fn warnings(&self) -> Vec<LinkWarning> {
        let mut warnings = warning::warnings(&self.devices, &self.seen, &self.bridges);
        let mismatches = self.links().filter(|link| link.port_mismatch);
        warnings.extend(mismatches.filter_map(|link| match (&link.source, &link.target) {
            (End::Host { host_id, .. }, End::Host { host_id: neighbor_id, .. }) => {
                Some(LinkWarning::PortIndexMismatch { host_id: *host_id, neighbor_id: *neighbor_id })
            }
            _ => None,
        }));
        warnings.sort_unstable();
        warnings.dedup();
        warnings
    }

    /// Returns the crowded ports, by host. Several devices were learned behind such a port, but no switch is known.
    pub fn crowded_ports(&self) -> impl Iterator<Item = CrowdedPort> {
        warning::crowded_ports(&self.devices, self.bridges.views())
    }

    pub(super) const fn devices(&self) -> &Devices {
        &self.devices
    }

    pub(super) const fn bridge_views(&self) -> &FdbViews {
        self.bridges.views()
    }

    fn replace_manual(&mut self, manual: &[ManualLink], dirty: &mut Dirty) {
        let mut by_pair: BTreeMap<CandidateSource, BTreeSet<ManualLink>> = BTreeMap::new();
        for link in manual {
            by_pair.entry(link.pair()).or_default().insert(*link);
        }
        let by_pair: BTreeMap<CandidateSource, Vec<ManualLink>> =
            by_pair.into_iter().map(|(pair, links)| (pair, links.into_iter().collect())).collect();
        let former = std::mem::replace(&mut self.manual, by_pair);
        dirty.pairs.extend(former.into_keys());
        dirty.pairs.extend(self.manual.keys());
    }

    /// Computes the links again that the change of a device affects.
    fn follow(&mut self, id: HostId, former: Option<&Device>) {
        let mut dirty = Dirty::default();
        dirty.changed.insert(id);
        dirty.sightings.insert(id);
        dirty.views.insert(id);
        let current = self.devices.get(id);
        #[cfg(feature = "service")]
        if let Some(noted) = &mut self.noted {
            let virtual_macs = |device: Option<&Device>| {
                device.map_or_else(Box::default, |device| device.virtual_macs.clone())
            };
            noted.has_other_virtual_routers |= virtual_macs(former) != virtual_macs(current);
        }
        for device in former.into_iter().chain(current) {
            self.devices.add_namers(device, &mut dirty.sightings);
            self.devices.add_joining(device, &mut dirty.views);
        }
        self.devices.add_learning(former, current, &mut dirty.views);
        // Where the address is at an access port, the link leads to the port of the device that has it.
        for address in former.into_iter().chain(current).flat_map(|device| &device.macs) {
            self.access_ports.add_hosts(*address, &mut dirty.access);
            self.lost_ports.add_hosts(*address, &mut dirty.access);
        }
        let own = DeviceKey::Host(id);
        let is_own = |pair: &CandidateSource| matches!(pair, CandidateSource::Pair(one, other) if *one == own || *other == own);
        dirty.pairs.extend(self.manual.keys().filter(|pair| is_own(pair)));
        self.compute(dirty);
    }

    fn compute(&mut self, mut dirty: Dirty) {
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
                by_port.extend(single_sided_fdb(device, &self.devices, views, &self.access_ports));
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

    /// Returns what neighbors announce of a device, by neighbor.
    fn abouts(&self, key: DeviceKey) -> impl Iterator<Item = &About> {
        let hosts = self.seen_by.get(&key.node_id());
        let seen = hosts.filter_map(|host| Some((self.devices.get(host)?, self.seen.get(&host)?)));
        seen.flat_map(move |(device, seen)| {
            let start = seen.partition_point(|seen| seen.device < key);
            let seen = seen.iter().skip(start).take_while(move |seen| seen.device == key);
            seen.filter_map(|seen| Some(&device.sightings.get(seen.sighting)?.about))
        })
    }
}
