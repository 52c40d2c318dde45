//! Recognition of a device among the hosts that share an identity with it.

mod compared;
mod former;
mod keys;
mod notes;

use std::borrow::Borrow;

use self::compared::Compared;
use self::compared::forget_cached;
use self::former::{forget_moved, moved_to_device};
use self::keys::matches;
use self::keys::{JoinedHosts, join, may_join};
use self::notes::NotedDevice;
use super::identity::{IdentityKind, Traits};
use crate::discovery::report::Device;
use crate::model::{Host, HostId, Timestamp};
use crate::text_enum::text_enum;

pub use self::former::AddressTimes;
pub use self::notes::{RecognitionNote, name_of_device, name_of_host};

/// The treatment of hosts that a report shows to be the same device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// Hosts are merged when the device has every identity of all of them.
    Allowed,
    /// Hosts are never merged.
    Forbidden,
}

text_enum! {
    /// The common identity of a device and a host.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum MatchedBy {
        /// The host's id.
        Id = "id",
        /// The serial number.
        SerialNumber = "serial_number",
        /// The chassis id.
        ChassisId = "chassis_id",
        /// A MAC address.
        Mac = "mac",
        /// An IP address.
        IpAddress = "ip_address",
        /// A name, and another value that confirms it.
        Name = "name",
    }
}

/// The result of matching a device against hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recognition {
    /// The device is this host.
    Known {
        /// The host's id.
        id: HostId,
        /// The strongest key that led to the host.
        matched_by: MatchedBy,
        /// Other hosts that are the same device, to be merged into the host.
        merged: Vec<HostId>,
    },
    /// The device matches none of the hosts.
    New,
    /// The device may be any of several hosts.
    Ambiguous {
        /// The strongest key that the hosts share with the device.
        key: MatchedBy,
        /// The ids of the hosts.
        hosts: Vec<HostId>,
    },
}

/// A recognition, with its explanation for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recognized {
    /// The host that matches the device.
    pub recognition: Recognition,
    /// The merges, and the hosts that seem to be the device but are not.
    pub notes: Vec<RecognitionNote>,
}

/// Returns which host a device is, as [`recognize_with_notes`] does, without notes.
#[must_use]
pub fn recognize<H: Borrow<Host>>(device: &Device, candidates: &[H], merging: Merging) -> Recognition {
    let context = Context { merging, times: &AddressTimes::default(), observed_at: Timestamp::UNIX_EPOCH };
    recognize_with_notes(device, candidates, context).recognition
}

/// The inputs of recognition besides the device and the candidates.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// The treatment of hosts that a report shows to be the same device.
    pub merging: Merging,
    /// When the candidates were seen at their addresses.
    pub times: &'c AddressTimes,
    /// When the device was observed.
    pub observed_at: Timestamp,
}

/// Returns which host a device is, and why.
///
/// `candidates` are the host with the device's id and all hosts of the network that share an identity with the device.
///
/// Keys count in the order of [`MatchedBy`]. A key that several hosts have does not decide; weaker keys may then, among
/// these hosts. A host is never recognized by a key if stronger values differ: the serial number or the chassis id, and
/// for addresses and names also all MAC addresses. A MAC address does not count for a host with another name and other
/// addresses, unless both are devices of one kind and one has all MAC addresses of the other. A device that describes
/// itself with the name and an address of a host is that host with another network card, if only its MAC addresses
/// differ.
///
/// An address that a host had before another one, with other MAC addresses, counts for the later one only.
///
/// A MAC address that only the neighbor cache of another device states for an address of a host leads to the host
/// unless another host has it, or the device lists other addresses as its own. It never shows that a host is another
/// one.
///
/// An IP address counts if it is not one of many that differ, as the virtual address of a pair of routers is. A name
/// counts if a second value confirms it, if one side has nothing else, or if both sides have the same full name and no
/// kind of value that could differ.
///
/// Other hosts that the device matches are merged into its host: if the device has every identity of both; if they have
/// only addresses or a unique name of the device; or if no value of both hosts differs.
#[must_use]
pub fn recognize_with_notes<H: Borrow<Host>>(
    device: &Device,
    candidates: &[H],
    context: Context<'_>,
) -> Recognized {
    let Context { merging, times, observed_at } = context;
    let candidates = || candidates.iter().map(Borrow::borrow);
    if let Some(host) = candidates().find(|host| Some(host.id) == device.id) {
        let known = Recognition::Known { id: host.id, matched_by: MatchedBy::Id, merged: Vec::new() };
        return Recognized { recognition: known, notes: Vec::new() };
    }
    let mut hosts: Vec<Compared<'_>> = candidates().map(Compared::new).collect();
    hosts.sort_by_key(|compared| (compared.host.created_at, compared.host.id));
    hosts.dedup_by_key(|compared| compared.host.id);
    let traits = Traits::of_device(device);
    forget_moved(&mut hosts, &traits, times);
    forget_cached(&mut hosts, &traits);
    let subject = NotedDevice { name: name_of_device(device), traits: &traits };
    let moved = |own| moved_to_device((&subject.name, &traits), own, &hosts, times, observed_at);
    match find(&traits, &hosts, merging) {
        Match::Host { host, matched_by } => {
            let joined = match merging {
                Merging::Allowed => join(host, &traits, &hosts),
                Merging::Forbidden => JoinedHosts::default(),
            };
            let merged = joined.merged.iter().map(|one| one.host.id).collect();
            let mut notes = moved(Some(host));
            notes.extend(subject.notes(Some(host), &joined, &hosts));
            let recognition = Recognition::Known { id: host.host.id, matched_by, merged };
            Recognized { recognition, notes }
        }
        Match::Nothing => {
            let mut notes = moved(None);
            notes.extend(subject.notes(None, &JoinedHosts::default(), &hosts));
            Recognized { recognition: Recognition::New, notes }
        }
        Match::Several { key, hosts } => {
            let hosts = hosts.iter().map(|one| one.host.id).collect();
            Recognized { recognition: Recognition::Ambiguous { key, hosts }, notes: Vec::new() }
        }
    }
}

/// The hosts that a device may be.
enum Match<'c, 'h> {
    Nothing,
    Host { host: &'c Compared<'h>, matched_by: MatchedBy },
    Several { key: MatchedBy, hosts: Vec<&'c Compared<'h>> },
}

/// Returns the host that matches a device, without those to be merged into it.
fn find<'c, 'h>(device: &Traits, hosts: &'c [Compared<'h>], merging: Merging) -> Match<'c, 'h> {
    let mut pool: Option<(MatchedBy, Vec<&Compared<'_>>)> = None;
    let mut shared: Option<(MatchedBy, Vec<&Compared<'_>>)> = None;
    for key in MatchedBy::RANKS.iter().copied() {
        let found = matches(key, device, hosts);
        if !found.shared.is_empty() && shared.is_none() {
            shared = Some((key, found.shared));
        }
        let mut decided = found.decided;
        if let Some((_, pool)) = &pool {
            decided.retain(|one| pool.iter().any(|other| one.host.id == other.host.id));
        }
        let matched_by = pool.as_ref().map_or(key, |(key, _)| *key);
        match decided.as_slice() {
            [] => {}
            [host] => return Match::Host { host, matched_by },
            several => {
                if merging == Merging::Allowed
                    && let Some(host) = only(several, device)
                {
                    return Match::Host { host, matched_by };
                }
                // Weaker identities cannot decide between hosts that each have some of the device's addresses.
                if pool.is_none() && key.is_exclusive() {
                    return Match::Several { key, hosts: decided };
                }
                pool = Some((matched_by, decided));
            }
        }
    }
    // A device with a strong identity that no host has is new, even if hosts share a weak one with it.
    let is_apart = device.identities.iter().any(|identity| {
        identity.kind() <= IdentityKind::Mac
            && !hosts.iter().any(|one| one.traits.identities.contains(identity))
    });
    match pool.or_else(|| shared.filter(|_| !is_apart)) {
        Some((key, hosts)) => Match::Several { key, hosts },
        None => Match::Nothing,
    }
}

/// Returns the host that all others may be merged into: the one with most identities, or else the oldest.
fn only<'c, 'h>(hosts: &[&'c Compared<'h>], device: &Traits) -> Option<&'c Compared<'h>> {
    let mut largest = *hosts.first()?;
    for host in hosts {
        if host.traits.identities.len() > largest.traits.identities.len() {
            largest = host;
        }
    }
    let others = hosts.iter().filter(|one| one.host.id != largest.host.id);
    others.into_iter().all(|one| may_join(largest, one, true, device)).then_some(largest)
}
