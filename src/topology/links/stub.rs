//! Devices that claims name, and that are not hosts yet.

use super::Stub;
use super::device::Device;
use super::device::sighting::{About, Sighting};
use super::key::IdentityKey;
use super::key::PortKey;
use crate::discovery::reconcile::Named;
use crate::discovery::report::Capability;
use crate::model::{NodeId, derived_id};

/// Returns the id of the stub for an unknown device.
///
/// It follows from the strongest identity that the device announces. A device without one has a stub for each port that
/// sees it.
pub(super) fn stub_id(
    reporter: &Device,
    sighting: &Sighting,
    named: &Named<IdentityKey>,
    place: usize,
) -> NodeId {
    let network = reporter.network_id;
    if let Some(key) = named.identities().next() {
        return derived_id("stub", &[network.as_bytes(), key.as_bytes()]);
    }
    let port = match &sighting.port {
        Some(key) => port_bytes(reporter, key),
        None => place.to_string().into_bytes(),
    };
    let text = sighting.about.label.as_bytes();
    derived_id("stub of a port", &[reporter.id.as_bytes(), &port, text])
}

/// Returns the stub for a switch that announces nothing, behind a port.
pub(super) fn unmanaged_switch(host: &Device, port: &PortKey) -> Stub {
    Stub {
        id: derived_id("unmanaged switch", &[host.id.as_bytes(), &port_bytes(host, port)]),
        label: String::new(),
        chassis_id: None,
        capabilities: Vec::new(),
        description: None,
        addresses: Vec::new(),
        is_unmanaged_switch: true,
    }
}

/// Returns bytes that stay the same as long as the port exists.
pub(super) fn port_bytes(device: &Device, port: &PortKey) -> Vec<u8> {
    match (device.port(port), port) {
        (Some(port), _) => port.id.as_bytes().to_vec(),
        (None, PortKey::Named(name)) => name.as_bytes().to_vec(),
        (None, PortKey::Known(place)) => place.to_be_bytes().to_vec(),
    }
}

/// Returns a stub with all announced data of a device.
pub(super) fn stub(id: NodeId, abouts: &[&About]) -> Stub {
    let named = abouts.iter().filter(|about| !about.label.is_empty());
    let label = named.map(|about| (is_chassis_id(about), &*about.label)).min();
    let chassis_ids = abouts.iter().filter_map(|about| about.chassis_id.as_ref());
    let chassis_id = chassis_ids.min_by_key(|id| (id.value.as_str(), id.subtype as u8));
    let mut capabilities: Vec<Capability> =
        abouts.iter().flat_map(|about| &about.capabilities).copied().collect();
    capabilities.sort_unstable();
    capabilities.dedup();
    let mut addresses: Vec<&String> = abouts.iter().flat_map(|about| &about.addresses).collect();
    addresses.sort_unstable();
    addresses.dedup();
    Stub {
        id,
        label: label.map(|(_, label)| label.to_owned()).unwrap_or_default(),
        chassis_id: chassis_id.cloned(),
        capabilities,
        description: abouts.iter().filter_map(|about| about.description.as_deref()).min().map(str::to_owned),
        addresses: addresses.into_iter().cloned().collect(),
        is_unmanaged_switch: false,
    }
}

/// Returns whether a device is known by its chassis id, and not by a name.
fn is_chassis_id(about: &About) -> bool {
    about.chassis_id.as_ref().is_some_and(|id| id.value.trim() == &*about.label)
}
