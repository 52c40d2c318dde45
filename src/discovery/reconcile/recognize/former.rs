//! Addresses that have moved to another device.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::compared::{Compared, macs_differ};
use super::notes::{RecognitionNote, name_of_host};
use crate::discovery::reconcile::identity::{Identity, IdentityKind, Traits};
use crate::discovery::reconcile::names;
use crate::discovery::reconcile::state::HostState;
use crate::discovery::report::WarningCode;
use crate::model::{Host, HostId, Interface, InterfaceId, Timestamp};

/// When the candidates were seen at their addresses.
///
/// An address whose holder was seen later at another device no longer identifies the former holder. Addresses that a
/// device lists itself are its own, as long as its tables show them.
#[derive(Clone, Debug, Default)]
pub struct AddressTimes {
    /// When each host was seen at each address; only addresses that may move.
    seen: BTreeMap<(HostId, IpAddr), Timestamp>,
    /// The addresses that hosts list themselves.
    own: BTreeSet<(HostId, IpAddr)>,
}

impl AddressTimes {
    /// Adds the addresses of a host.
    pub fn add(&mut self, host: &Host, state: &HostState) {
        let listed: BTreeSet<InterfaceId> =
            host.if_entries.iter().filter_map(|entry| entry.interface_id).collect();
        for interface in &host.interfaces {
            let Some(address) = names::own_ip(interface.ip_address) else { continue };
            let Some(seen) = state.seen.get(&interface.id.uuid()) else { continue };
            let is_listed = interface.name.is_some() || listed.contains(&interface.id);
            let key = (host.id, address);
            if is_edited(interface, state) || (is_listed && seen.missed == 0) {
                self.own.insert(key);
            }
            self.seen.insert(key, seen.last_seen_at);
        }
    }

    /// Returns when a host was seen at an address that it may have lost since.
    fn may_lose(&self, host: HostId, address: IpAddr) -> Option<Timestamp> {
        let key = (host, address);
        self.seen.get(&key).copied().filter(|_| !self.own.contains(&key))
    }
}

fn is_edited(interface: &Interface, state: &HostState) -> bool {
    let prefix = format!("interfaces.{}.", interface.id);
    state.edited.range(prefix.clone()..).next().is_some_and(|path| path.starts_with(&prefix))
}

/// Removes the addresses from candidates that another of them, with other MAC addresses, had later.
pub(super) fn forget_moved(hosts: &mut [Compared<'_>], device: &Traits, times: &AddressTimes) {
    let mut moved: Vec<(usize, Identity)> = Vec::new();
    for identity in device.of_kind(IdentityKind::IpAddress) {
        let Some(address) = identity.address() else { continue };
        let holders: Vec<usize> = (0..hosts.len())
            .filter(|place| hosts.get(*place).is_some_and(|one| one.traits.identities.contains(identity)))
            .collect();
        for place in &holders {
            let Some(one) = hosts.get(*place) else { continue };
            let Some(seen_at) = times.may_lose(one.host.id, address) else { continue };
            let is_later = |other: &&Compared<'_>| {
                times.seen.get(&(other.host.id, address)).is_some_and(|later| *later > seen_at)
                    && macs_differ(&other.traits, &one.traits)
            };
            if holders.iter().filter_map(|other| hosts.get(*other)).any(|other| is_later(&other)) {
                moved.push((*place, identity.clone()));
            }
        }
    }
    for (place, identity) in moved {
        if let Some(one) = hosts.get_mut(place) {
            one.traits.identities.remove(&identity);
        }
    }
}

/// Returns a note for each address that has moved from a host to the device.
///
/// `own` is the device's host. Addresses that it had before are not new.
pub(super) fn moved_to_device(
    (device_name, device): (&str, &Traits),
    own: Option<&Compared<'_>>,
    hosts: &[Compared<'_>],
    times: &AddressTimes,
    observed_at: Timestamp,
) -> Vec<RecognitionNote> {
    let mut notes = Vec::new();
    for identity in device.of_kind(IdentityKind::IpAddress) {
        let Some(address) = identity.address() else { continue };
        if own.is_some_and(|own| own.traits.identities.contains(identity)) {
            continue;
        }
        for other in hosts.iter().filter(|other| other.traits.identities.contains(identity)) {
            let is_earlier = times.may_lose(other.host.id, address).is_some_and(|at| at < observed_at);
            if is_earlier && macs_differ(&other.traits, device) {
                let name = name_of_host(other.host);
                let text = format!(
                    "The address {address} moved from {name} to {device_name}, whose MAC address differs"
                );
                notes.push(RecognitionNote::new(WarningCode::AddressMoved, text));
            }
        }
    }
    notes
}
