//! Reasons for which links are uncertain, and ports where scans would show more.

use std::collections::BTreeMap;

use super::PortRef;
use super::bridges::Bridges;
use super::device::Device;
use super::devices::Devices;
use super::key::PortKey;
use super::resolve::ResolvedSighting;
use super::rules::fdb::FdbViews;
use crate::discovery::report::TableKind;
use crate::invariant::Invariant;
use crate::model::{HostId, IfEntryId};

/// A reason why links may be missing or wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LinkWarning {
    /// Several hosts have one chassis id, so that it identifies none of them.
    DuplicateChassisId {
        /// The chassis id, as one of the hosts has it.
        chassis_id: String,
        /// The hosts.
        host_ids: Vec<HostId>,
    },
    /// Several hosts have the identity of a neighbor.
    AmbiguousNeighbor {
        /// The host that names the neighbor.
        host_id: HostId,
        /// The host's port; `None` when unknown.
        if_entry_id: Option<IfEntryId>,
        /// The neighbor, as the host names it.
        names: String,
    },
    /// A table of a host may lack rows.
    TruncatedTable {
        /// The host.
        host_id: HostId,
        /// The table.
        kind: TableKind,
    },
    /// Two hosts name each other on ports with other numbers than the other end names. Each port is shown as the other
    /// end names it.
    PortIndexMismatch {
        /// One host.
        host_id: HostId,
        /// The other host.
        neighbor_id: HostId,
    },
    /// A neighbor is seen through a tunnel. No cable leads to it there, so that no link is drawn.
    NeighborBehindTunnel {
        /// The host.
        host_id: HostId,
        /// The tunnel.
        if_entry_id: Option<IfEntryId>,
        /// The neighbor, as the host names it.
        names: String,
    },
    /// More bridges are behind a port than are compared with each other. The port is shown on a segment.
    TooManyBridges {
        /// The host.
        host_id: HostId,
        /// The host's port; `None` when unknown.
        if_entry_id: Option<IfEntryId>,
        /// The number of bridges.
        count: usize,
    },
}

/// A port behind which several devices were learned, but no switch is known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrowdedPort {
    /// The host.
    pub host_id: HostId,
    /// The port.
    pub port: PortRef,
    /// The number of devices.
    pub devices: usize,
}

pub(super) fn warnings(
    devices: &Devices,
    seen: &BTreeMap<HostId, Vec<ResolvedSighting>>,
    bridges: &Bridges,
) -> Vec<LinkWarning> {
    let port = |host: HostId, place| devices.get(host)?.port(&PortKey::Known(place)).map(|port| port.id);
    let cut = bridges.cut_ports().map(|(host_id, place, count)| LinkWarning::TooManyBridges {
        host_id,
        if_entry_id: port(host_id, place),
        count,
    });
    let mut warnings: Vec<LinkWarning> = cut.collect();
    for device in devices.iter() {
        warnings.extend(duplicate(device, devices));
        warnings.extend(
            device
                .truncated
                .iter()
                .map(|kind| LinkWarning::TruncatedTable { host_id: device.id, kind: *kind }),
        );
        warnings.extend(device.tunneled.iter().map(|(port, names)| LinkWarning::NeighborBehindTunnel {
            host_id: device.id,
            if_entry_id: device.port(port).map(|port| port.id),
            names: names.to_string(),
        }));
        let ambiguous = seen.get(&device.id).into_iter().flatten().filter(|seen| seen.is_ambiguous);
        warnings.extend(ambiguous.map(|seen| {
            LinkWarning::AmbiguousNeighbor {
                host_id: device.id,
                if_entry_id: seen.port.as_ref().and_then(|port| device.port(port)).map(|port| port.id),
                names: device
                    .sightings
                    .get(seen.sighting)
                    .map(|sighting| sighting.about.label.to_string())
                    .asserted_or_default(),
            }
        }));
    }
    warnings.sort_unstable();
    warnings.dedup();
    warnings
}

/// Returns the warning about the chassis id of a device. Only the first of the hosts that have the id gets it.
fn duplicate(device: &Device, devices: &Devices) -> Option<LinkWarning> {
    let host_ids: Vec<HostId> = devices.holders(device.chassis_key?).collect();
    let is_first = host_ids.len() > 1 && host_ids.first() == Some(&device.id);
    let chassis_id = device.chassis_id.as_ref().map(|id| id.value.clone()).asserted_or_default();
    is_first.then_some(LinkWarning::DuplicateChassisId { chassis_id, host_ids })
}

pub(super) fn crowded_ports(devices: &Devices, views: &FdbViews) -> impl Iterator<Item = CrowdedPort> {
    let mut views: Vec<_> = views.iter().collect();
    views.sort_unstable_by_key(|(host, _)| **host);
    let crowded = views.into_iter().flat_map(|(host, view)| {
        let ports = view.access.iter().filter(|(_, access)| access.devices > 1);
        ports.map(|(place, access)| (*host, *place, access.devices))
    });
    crowded.filter_map(|(host_id, place, count)| {
        let port = devices.get(host_id)?.port_ref(&PortKey::Known(place));
        Some(CrowdedPort { host_id, port, devices: count })
    })
}
