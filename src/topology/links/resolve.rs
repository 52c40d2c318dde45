//! The devices and ports that the sightings of a device name.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::Method;
use super::contest::candidate::DeviceKey;
use super::device::Device;
use super::device::sighting::{Names, RemotePort, Sighting};
use super::devices::Devices;
use super::key::IdentityKey;
use super::key::PortKey;
use super::stub::stub_id;
use crate::discovery::reconcile::{Named, NamedHost, is_placeholder, trimmed};
use crate::model::{HostId, LldpPortId, LldpPortIdSubtype, NodeId};

/// A sighting whose neighbor has been looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResolvedSighting {
    pub(super) device: DeviceKey,
    pub(super) method: Method,
    /// The port of the device that names the neighbor.
    pub(super) port: Option<PortKey>,
    /// The neighbor's port.
    pub(super) remote: Option<PortKey>,
    /// The place of the sighting.
    pub(super) sighting: usize,
    /// Whether several hosts have the neighbor's identity.
    pub(super) is_ambiguous: bool,
}

/// Looks up the neighbors of a device, sorted. Sightings of the device itself are left out.
pub(super) fn resolve(device: &Device, devices: &Devices) -> Vec<ResolvedSighting> {
    let mut seen = Vec::with_capacity(device.sightings.len());
    let mut unknown = Vec::new();
    for (place, sighting) in device.sightings.iter().enumerate() {
        let counts = |host: Option<HostId>| {
            let Some(missing) = &sighting.missing else { return true };
            let host = host.and_then(|host| devices.get(host));
            let remote = host.and_then(|host| Some((host, remote_port(host, sighting)?)));
            let named = remote.as_ref().map(|(host, port)| (*host, port));
            missing.counts(host) || missing.is_explained((device, sighting.port.as_ref()), named)
        };
        match &sighting.names {
            Names::Record(id) => seen.extend(by_record(device, devices, sighting, place, *id)),
            Names::Device(named) => match named.find(devices) {
                NamedHost::Only(host) if host == device.id || !counts(Some(host)) => {}
                NamedHost::Nothing | NamedHost::Several(_) if !counts(None) => {}
                NamedHost::Only(host) => seen.push(ResolvedSighting {
                    device: DeviceKey::Host(host),
                    method: sighting.method,
                    port: sighting.port.clone(),
                    remote: devices.get(host).and_then(|remote| remote_port(remote, sighting)),
                    sighting: place,
                    is_ambiguous: false,
                }),
                // An unknown bridge to which the port's own number belongs is most likely the device itself.
                NamedHost::Nothing if matches!(sighting.remote, RemotePort::Bridge { is_own: true, .. }) => {}
                NamedHost::Nothing => unknown.push((place, sighting, named, false)),
                NamedHost::Several(_) => unknown.push((place, sighting, named, true)),
            },
        }
    }
    seen.extend(by_stubs(device, &unknown));
    seen.sort_by_key(|seen| (seen.device, seen.sighting));
    seen
}

/// Follows a stored neighbor. One that is not in the network is left out.
fn by_record(
    device: &Device,
    devices: &Devices,
    sighting: &Sighting,
    place: usize,
    id: Uuid,
) -> Option<ResolvedSighting> {
    let host = devices.host_of_record(id).filter(|host| *host != device.id)?;
    let remote = devices.get(host)?;
    let port = remote.ports.iter().position(|port| port.id.uuid() == id);
    let port = port.and_then(|place| u32::try_from(remote.ports_by_value.cabled(place)).ok());
    Some(ResolvedSighting {
        device: DeviceKey::Host(host),
        method: sighting.method,
        port: sighting.port.clone(),
        remote: port.map(PortKey::Known),
        sighting: place,
        is_ambiguous: false,
    })
}

/// Finds the port of a host that a sighting names.
fn remote_port(remote: &Device, sighting: &Sighting) -> Option<PortKey> {
    let place = match &sighting.remote {
        RemotePort::Unknown => None,
        RemotePort::Lldp { id, description, .. } => {
            remote.ports_by_value.of_lldp(id.as_ref(), description.as_deref())
        }
        RemotePort::Cdp(id) => remote.ports_by_value.of_cdp(id),
        RemotePort::Bridge { number, .. } => return remote.bridge_port(*number),
    };
    let place = place.map(|place| remote.ports_by_value.cabled(place));
    place.and_then(|place| u32::try_from(place).ok()).map(PortKey::Known)
}

/// The sighting of a device that is not a host. The fields are its place, the sighting, the identities, and whether
/// several hosts have them.
type Unknown<'d> = (usize, &'d Sighting, &'d Named<IdentityKey>, bool);

/// Turns sightings of unknown devices into stubs.
///
/// LLDP, CDP and the spanning tree often name one device differently. On one port, sightings that share an identity are
/// one device.
fn by_stubs(device: &Device, unknown: &[Unknown<'_>]) -> Vec<ResolvedSighting> {
    let mut sorted: Vec<&Unknown<'_>> = unknown.iter().collect();
    sorted.sort_by_key(|(place, sighting, ..)| (sighting.port.as_ref(), sighting.method, *place));
    let mut seen = Vec::with_capacity(unknown.len());
    for entries in sorted.chunk_by(|one, other| one.1.port == other.1.port) {
        // The places of the stubs by their identities; of several stubs with an identity, the first.
        let mut stubs: Vec<NodeId> = Vec::new();
        let mut by_identity: BTreeMap<IdentityKey, usize> = BTreeMap::new();
        for (place, sighting, named, is_ambiguous) in entries.iter().copied() {
            let may_be_same = sighting.method != Method::Lldp;
            let known = named.identities().filter_map(|identity| by_identity.get(identity)).min();
            let same = known.filter(|_| may_be_same).and_then(|stub| stubs.get(*stub)).copied();
            let id = same.unwrap_or_else(|| stub_id(device, sighting, named, *place));
            if same.is_none() {
                for identity in named.identities() {
                    by_identity.entry(*identity).or_insert(stubs.len());
                }
                stubs.push(id);
            }
            seen.push(ResolvedSighting {
                device: DeviceKey::Stub(id),
                method: sighting.method,
                port: sighting.port.clone(),
                remote: stub_port(sighting),
                sighting: *place,
                is_ambiguous: *is_ambiguous,
            });
        }
    }
    seen
}

/// Returns the name of the port of an unknown device.
fn stub_port(sighting: &Sighting) -> Option<PortKey> {
    let text = match &sighting.remote {
        RemotePort::Unknown | RemotePort::Bridge { .. } => None,
        RemotePort::Lldp { id, description, .. } => {
            let description = description.as_deref().and_then(trimmed).filter(|text| !is_placeholder(text));
            match id.as_ref().and_then(|id| Some((id, trimmed(&id.value)?))) {
                // The description is preferred to a number with a meaning on the device only.
                Some((id, number)) if is_local_number(id) => description.or(Some(number)),
                Some((_, id)) => Some(id),
                None => description,
            }
        }
        RemotePort::Cdp(id) => trimmed(id),
    };
    text.map(|text| PortKey::Named(text.into()))
}

/// Returns whether a port is known by a number that its device has assigned.
fn is_local_number(id: &LldpPortId) -> bool {
    id.subtype == LldpPortIdSubtype::LocallyAssigned
        && id.value.trim().bytes().all(|byte| byte.is_ascii_digit())
}
