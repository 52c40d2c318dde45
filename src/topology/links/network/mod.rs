//! All links of a network, kept up to date with its hosts.

mod announced;
mod update;

use std::collections::{BTreeMap, BTreeSet};

use self::update::{Dirty, FormerDevices};
use super::bridges::Bridges;
use super::contest::candidate::CandidateSource;
use super::contest::components::Components;
use super::device::Device;
use super::devices::Devices;
use super::multimap::SmallMultimap;
use super::resolve::ResolvedSighting;
use super::rules::access::AccessPorts;
use super::rules::fdb::FdbViews;
use super::rules::manual::ManualLink;
use super::{CrowdedPort, End, Link, LinkWarning, Segment, Stub, warning};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, LinkId, NodeId};

/// The links of a network.
///
/// They follow from devices and from the links that users entered, regardless of the order in which these were set.
/// After a change of devices, only the links are computed again that their claims, and the claims about them, can
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
        let mut dirty = Dirty::of(links.devices.ids().collect());
        links.replace_manual(manual, &mut dirty);
        links.compute(dirty);
        links
    }

    /// Adds a device, or replaces the one of the same host.
    pub fn set(&mut self, device: Device) {
        self.set_all([device]);
    }

    /// Adds devices, or replaces those of the same hosts. If a host has several devices, the last one counts.
    ///
    /// This takes less time than setting one after the other, because each link that several of them affect is computed once.
    pub fn set_all(&mut self, devices: impl IntoIterator<Item = Device>) {
        let mut former: FormerDevices = BTreeMap::new();
        for device in devices {
            yield_turn();
            let id = device.id;
            let replaced = self.devices.insert(device);
            former.entry(id).or_insert(replaced);
        }
        self.follow(&former);
    }

    /// Removes the device of a host.
    pub fn remove(&mut self, host: HostId) {
        self.remove_all([host]);
    }

    /// Removes the devices of hosts.
    ///
    /// This takes less time than removing one after the other.
    pub fn remove_all(&mut self, hosts: impl IntoIterator<Item = HostId>) {
        let removed = hosts.into_iter().filter_map(|host| Some((host, Some(self.devices.remove(host)?))));
        let former: FormerDevices = removed.collect();
        self.follow(&former);
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

    /// Returns the hosts with a forwarding database or a spanning tree.
    pub fn bridges(&self) -> impl Iterator<Item = HostId> {
        self.devices.bridges()
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
}
