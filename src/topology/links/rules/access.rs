//! Rules about the hosts at ports of bridges.

use std::collections::{BTreeMap, BTreeSet};

use super::fdb::{FdbViews, claim};
use super::phones::behind_telephones;
use crate::model::{HostId, MacAddress};
use crate::topology::links::contest::candidate::{Claimed, DeviceKey, LinkCandidate, Spot};
use crate::topology::links::device::Device;
use crate::topology::links::device::tables::Resolved;
use crate::topology::links::devices::{CachedOwner, Devices};
use crate::topology::links::key::PortKey;
use crate::topology::links::resolve::ResolvedSighting;
use crate::topology::links::{Evidence, Method, Rule};

/// The hosts that learned an address on a port without a bridge behind it. Each comes with the number of devices on
/// that port.
#[derive(Clone, Debug, Default)]
pub(in crate::topology::links) struct AccessPorts(BTreeMap<MacAddress, BTreeSet<(usize, HostId)>>);

impl AccessPorts {
    /// Adds a port, and the hosts that have others with the address to `affected`.
    pub(in crate::topology::links) fn add(
        &mut self,
        address: MacAddress,
        port: (usize, HostId),
        affected: &mut BTreeSet<HostId>,
    ) {
        self.add_hosts(address, affected);
        self.0.entry(address).or_default().insert(port);
    }

    /// Removes a port, and adds the hosts that have others with the address to `affected`.
    pub(in crate::topology::links) fn remove(
        &mut self,
        address: MacAddress,
        port: (usize, HostId),
        affected: &mut BTreeSet<HostId>,
    ) {
        if let Some(ports) = self.0.get_mut(&address) {
            ports.remove(&port);
            if ports.is_empty() {
                self.0.remove(&address);
            }
        }
        self.add_hosts(address, affected);
    }

    /// Adds the hosts that have a port with an address.
    pub(in crate::topology::links) fn add_hosts(&self, address: MacAddress, hosts: &mut BTreeSet<HostId>) {
        hosts.extend(self.0.get(&address).into_iter().flatten().map(|(_, host)| *host));
    }

    /// Returns the smallest number of devices on a port with an address.
    fn fewest(&self, address: MacAddress) -> Option<usize> {
        self.0.get(&address)?.first().map(|(devices, _)| *devices)
    }
}

/// Proposes links at ports that learned addresses of hosts or of a single other bridge. `seen` are the neighbors of the
/// device.
///
/// Returns the candidates by port. Of several ports that learned an address, the one with the fewest devices counts.
/// The other ports lead to it.
pub(in crate::topology::links) fn single_sided_fdb(
    device: &Device,
    devices: &Devices,
    views: &FdbViews,
    access_ports: &AccessPorts,
    seen: &[ResolvedSighting],
) -> BTreeMap<u32, Vec<LinkCandidate>> {
    let mut candidates: BTreeMap<u32, Vec<LinkCandidate>> = BTreeMap::new();
    let Some(view) = views.get(&device.id) else { return candidates };
    let own = |place: u32| Spot::new(DeviceKey::Host(device.id), Some(PortKey::Known(place)));
    for place in view.bridge_ports() {
        let mut behind = view.behind(place);
        let only = behind.next().filter(|_| behind.len() == 0);
        let names_back =
            |other: &HostId| views.get(other).is_some_and(|other| other.towards(device.id).is_some());
        if let Some(other) = only.filter(|other| !names_back(other)) {
            let claims = vec![claim(device, place, "", Rule::SingleSidedFdb)];
            let remote = Spot::new(DeviceKey::Host(other), None);
            let candidate = LinkCandidate::new(own(place), remote, Rule::SingleSidedFdb, claims);
            candidates.entry(place).or_default().push(candidate);
        }
    }
    for (place, access) in &view.access {
        for (address, owner) in &access.owned {
            if access_ports.fewest(*address) == Some(access.devices)
                && let Some(owner) = devices.get(*owner)
            {
                let claim = claim(device, *place, &address.to_string(), Rule::SingleSidedFdb);
                let mut candidate = access_candidate(own(*place), claim, *address, owner, devices);
                candidate.is_crowded = access.devices > 1;
                candidates.entry(*place).or_default().push(candidate);
            }
        }
    }
    for (place, candidate) in behind_telephones(device, devices, view, seen) {
        candidates.entry(place).or_default().push(candidate);
    }
    candidates
}

/// Proposes links at ports that no longer have the addresses of hosts.
///
/// Returns the candidates by port. An address that another port has by now is left out.
pub(in crate::topology::links) fn lost_fdb(
    device: &Device,
    devices: &Devices,
    views: &FdbViews,
    [access_ports, lost_ports]: [&AccessPorts; 2],
) -> BTreeMap<u32, Vec<LinkCandidate>> {
    let mut candidates: BTreeMap<u32, Vec<LinkCandidate>> = BTreeMap::new();
    let ports = views.get(&device.id).into_iter().flat_map(|view| &view.access);
    for (place, access) in ports.filter(|(_, access)| !access.lost.is_empty()) {
        let all_devices = access.all_devices();
        for (address, owner) in &access.lost {
            let lost = device.lost.binary_search_by_key(address, |lost| lost.address).ok();
            if access_ports.fewest(*address).is_none()
                && lost_ports.fewest(*address) == Some(all_devices)
                && let Some(lost) = lost.and_then(|lost| device.lost.get(lost))
                && let Some(owner) = devices.get(*owner)
            {
                let mut claim = claim(device, *place, &address.to_string(), Rule::SingleSidedFdb);
                claim.evidence.last_seen = Some(lost.missing.last_seen);
                claim.evidence.missing_since = Some(lost.missing.since);
                let own = Spot::new(DeviceKey::Host(device.id), Some(PortKey::Known(*place)));
                let mut candidate = access_candidate(own, claim, *address, owner, devices);
                candidate.is_crowded = all_devices > 1;
                candidates.entry(*place).or_default().push(candidate);
            }
        }
    }
    candidates
}

/// Returns the link between a port and the host whose address it learned.
pub(super) fn access_candidate(
    own: Spot,
    claim: Claimed,
    address: MacAddress,
    owner: &Device,
    devices: &Devices,
) -> LinkCandidate {
    let only = owner.ports_by_value.of_mac(address).and_then(|place| u32::try_from(place).ok());
    let only = only.or_else(|| owner.aggregate_with(address));
    let port = only.map(PortKey::Known).or_else(|| owner.neighbor_port(address));
    let remote = Spot::new(DeviceKey::Host(owner.id), port);
    match devices.joined(address) {
        Some(joined) => {
            let resolved = resolved_claim(address, &joined, devices);
            let claims = [claim].into_iter().chain(resolved).collect();
            LinkCandidate::new(own, remote, Rule::ArpFdb, claims)
        }
        None => LinkCandidate::new(own, remote, Rule::SingleSidedFdb, vec![claim]),
    }
}

/// Returns the claim of a device that the MAC address belongs to the IP address of a host.
fn resolved_claim(address: MacAddress, joined: &CachedOwner, devices: &Devices) -> Option<Claimed> {
    let reporter = devices.get(joined.reporter)?;
    let order = |row: &Resolved| (row.ip, row.mac_address).cmp(&(joined.ip, address));
    let current = reporter.resolved.binary_search_by(order).ok();
    let current = current.and_then(|place| reporter.resolved.get(place));
    let former = reporter.formerly_resolved.binary_search_by(|(row, _)| order(row)).ok();
    let former = former.and_then(|place| reporter.formerly_resolved.get(place));
    let missing = former.filter(|_| current.is_none()).map(|(_, missing)| missing);
    let port = current.or(former.map(|(row, _)| row)).and_then(|row| row.port);
    let port = port.and_then(|place| reporter.port(&PortKey::Known(place)));
    let evidence = Evidence {
        method: Method::Arp,
        rule: Rule::ArpFdb,
        reporter_host_id: Some(reporter.id),
        if_entry_id: port.map(|port| port.id),
        first_seen: None,
        last_seen: missing.map(|missing| missing.last_seen).or(reporter.resolved_at),
        missing_since: missing.map(|missing| missing.since),
    };
    let names = joined.ip.ip().map(|ip| ip.to_string()).unwrap_or_default();
    Some(Claimed { evidence, at: None, names: names.into() })
}
