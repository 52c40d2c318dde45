//! Rules about the hosts at ports of bridges.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::fdb::{FdbViews, claim};
use crate::model::MacAddress;
use crate::topology::links::Rule;
use crate::topology::links::contest::candidate::{Candidate, DeviceKey, Spot};
use crate::topology::links::device::Device;
use crate::topology::links::devices::Devices;
use crate::topology::links::port_key::PortKey;

/// The hosts that learned an address on a port without a bridge behind it. Each comes with the number of devices on
/// that port.
pub(in crate::topology::links) type AccessPorts = BTreeMap<MacAddress, BTreeSet<(usize, Uuid)>>;

/// Proposes links at ports that learned addresses of hosts or of a single other bridge.
///
/// Returns the candidates by port. Of several ports that learned an address, the one with the fewest devices counts.
/// The other ports lead to it.
pub(in crate::topology::links) fn single_sided_fdb(
    device: &Device,
    devices: &Devices,
    views: &FdbViews,
    access_ports: &AccessPorts,
) -> BTreeMap<u32, Vec<Candidate>> {
    let mut candidates: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
    let Some(view) = views.get(&device.id) else { return candidates };
    let own = |place: u32| Spot::new(DeviceKey::Host(device.id), Some(PortKey::Known(place)));
    for (place, behind) in &view.behind {
        let only = behind.first().filter(|_| behind.len() == 1);
        let names_back =
            |other: &&Uuid| views.get(other).is_some_and(|other| other.towards.contains_key(&device.id));
        if let Some(other) = only.filter(|other| !names_back(other)) {
            let claims = vec![claim(device, *place, "", Rule::SingleSidedFdb)];
            let remote = Spot::new(DeviceKey::Host(*other), None);
            let candidate = Candidate::new(own(*place), remote, Rule::SingleSidedFdb, claims);
            candidates.entry(*place).or_default().push(candidate);
        }
    }
    for (place, access) in &view.access {
        for (address, owner) in &access.owned {
            let fewest = access_ports.get(address).and_then(BTreeSet::first).map(|(devices, _)| *devices);
            let Some(remote) = devices.get(*owner).filter(|_| fewest == Some(access.devices)) else {
                continue;
            };
            let only = remote.ports_by_value.of_mac(*address).and_then(|place| u32::try_from(place).ok());
            let port = only.map(PortKey::Known).or_else(|| remote.neighbor_port(*address));
            let claims = vec![claim(device, *place, &address.to_string(), Rule::SingleSidedFdb)];
            let remote = Spot::new(DeviceKey::Host(*owner), port);
            let mut candidate = Candidate::new(own(*place), remote, Rule::SingleSidedFdb, claims);
            candidate.is_crowded = access.devices > 1;
            candidates.entry(*place).or_default().push(candidate);
        }
    }
    candidates
}
