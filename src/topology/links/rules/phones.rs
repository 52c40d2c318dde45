//! Computers behind telephones. A telephone has a second port, so that the bridge learns both on one port of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::access::access_candidate;
use super::fdb::{FdbView, claim, owner};
use crate::discovery::report::Capability;
use crate::model::{HostId, MacAddress};
use crate::topology::links::contest::candidate::{DeviceKey, LinkCandidate, Spot};
use crate::topology::links::device::sighting::Sighting;
use crate::topology::links::device::{Device, LearnedAddress};
use crate::topology::links::devices::Devices;
use crate::topology::links::key::PortKey;
use crate::topology::links::resolve::ResolvedSighting;
use crate::topology::links::{Method, Rule};

/// The ports of a bridge on which a telephone is the only neighbor, each with the addresses that it announces.
pub(super) fn telephones(device: &Device, bridges: &BTreeSet<u32>) -> BTreeMap<u32, BTreeSet<MacAddress>> {
    let mut ports: BTreeMap<u32, Option<BTreeSet<MacAddress>>> = BTreeMap::new();
    for sighting in device.neighbors() {
        let Some(PortKey::Known(place)) = sighting.port else { continue };
        let announced = ports.entry(place).or_insert_with(|| Some(BTreeSet::new()));
        if sighting.is_of_telephone() {
            announced.iter_mut().for_each(|macs| macs.extend(sighting.announced_macs()));
        } else {
            *announced = None;
        }
    }
    let of_telephones = ports.into_iter().filter_map(|(place, macs)| Some((place, macs?)));
    of_telephones.filter(|(place, _)| !bridges.contains(place)).collect()
}

/// Returns the only known host besides the telephone on each of these ports, with its address.
///
/// Where there are several devices, they are behind something else.
pub(super) fn behind(
    device: &Device,
    devices: &Devices,
    telephones: &BTreeMap<u32, BTreeSet<MacAddress>>,
) -> BTreeMap<u32, (MacAddress, HostId)> {
    let mut found: BTreeMap<u32, Option<(MacAddress, HostId)>> = BTreeMap::new();
    for LearnedAddress { address, place, .. } in &device.learned {
        let Some(macs) = telephones.get(place).filter(|macs| !macs.contains(address)) else { continue };
        let owner = owner(*address, device, devices);
        if owner.is_some_and(|owner| macs.iter().any(|own| devices.owner(*own) == Some(owner))) {
            continue;
        }
        let host = owner.map(|owner| (*address, owner));
        let only = found.entry(*place).or_insert(host);
        *only = only.filter(|(_, held)| Some(*held) == owner);
    }
    found.into_iter().filter_map(|(place, host)| Some((place, host?))).collect()
}

/// Proposes links between telephones and the hosts behind them, by the port of the bridge that learned both.
pub(super) fn behind_telephones(
    device: &Device,
    devices: &Devices,
    view: &FdbView,
    seen: &[ResolvedSighting],
) -> Vec<(u32, LinkCandidate)> {
    let mut candidates = Vec::new();
    if view.behind_telephones.is_empty() {
        return candidates;
    }
    let telephones = only_telephones(device, seen);
    for (place, (address, host)) in &view.behind_telephones {
        let telephone = telephones.get(place).copied().flatten();
        let Some(telephone) = telephone.filter(|key| key.host() != Some(*host)) else { continue };
        if let Some(owner) = devices.get(*host) {
            let claim = claim(device, *place, &address.to_string(), Rule::SingleSidedFdb);
            let spot = Spot::new(telephone, None);
            candidates.push((*place, access_candidate(spot, claim, *address, owner, devices)));
        }
    }
    candidates
}

/// Returns the telephone that a device now names on each port; `None` for a port where it names several.
fn only_telephones(device: &Device, seen: &[ResolvedSighting]) -> BTreeMap<u32, Option<DeviceKey>> {
    let mut found: BTreeMap<u32, Option<DeviceKey>> = BTreeMap::new();
    for seen in seen.iter().filter(|seen| seen.method != Method::Stp) {
        let Some(PortKey::Known(place)) = seen.port else { continue };
        let sighting = device.sightings.get(seen.sighting);
        if sighting.is_some_and(|sighting| sighting.missing.is_none() && sighting.is_of_telephone()) {
            let only = found.entry(place).or_insert(Some(seen.device));
            *only = only.filter(|only| *only == seen.device);
        }
    }
    found
}

impl Sighting {
    /// Returns whether the neighbor announces that it is a telephone.
    pub(in crate::topology::links) fn is_of_telephone(&self) -> bool {
        self.about.capabilities.contains(&Capability::Telephone)
    }
}
