//! Rules about the hosts at ports of bridges.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::fdb::{FdbViews, claim};
use crate::model::MacAddress;
use crate::topology::links::contest::candidate::{Candidate, Claimed, DeviceKey, Spot};
use crate::topology::links::device::Device;
use crate::topology::links::device::resolved::Resolved;
use crate::topology::links::devices::{Devices, Joined};
use crate::topology::links::port_key::PortKey;
use crate::topology::links::{Evidence, Method, Rule};

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
            let mut claims = vec![claim(device, *place, &address.to_string(), Rule::SingleSidedFdb)];
            let rule = match devices.joined(*address) {
                Some(joined) => {
                    claims.extend(resolved_claim(*address, &joined, devices));
                    Rule::ArpFdb
                }
                None => Rule::SingleSidedFdb,
            };
            let remote = Spot::new(DeviceKey::Host(*owner), port);
            let mut candidate = Candidate::new(own(*place), remote, rule, claims);
            candidate.is_crowded = access.devices > 1;
            candidates.entry(*place).or_default().push(candidate);
        }
    }
    candidates
}

/// Returns the claim of a device that the MAC address belongs to the IP address of a host.
fn resolved_claim(address: MacAddress, joined: &Joined, devices: &Devices) -> Option<Claimed> {
    let reporter = devices.get(joined.reporter)?;
    let by_addresses = |row: &Resolved| (row.ip, row.mac_address).cmp(&(joined.ip, address));
    let place = reporter.resolved.binary_search_by(by_addresses).ok();
    let place = place.and_then(|place| reporter.resolved.get(place)?.port);
    let port = place.and_then(|place| reporter.port(&PortKey::Known(place)));
    let evidence = Evidence {
        method: Method::Arp,
        rule: Rule::ArpFdb,
        reporter_host_id: Some(reporter.id),
        if_entry_id: port.map(|port| port.id),
        first_seen: None,
        last_seen: reporter.resolved_at,
    };
    let names = joined.ip.ip().map(|ip| ip.to_string()).unwrap_or_default();
    Some(Claimed { evidence, at: None, names: names.into() })
}
