//! Recognition of a device among the hosts that share an identity with it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::identity::{Identity, IdentityKind, Traits};
use crate::discovery::report::Device;
use crate::model::{Host, Source};

/// The treatment of hosts that a report shows to be the same device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// Hosts are merged when the device has every identity of all of them.
    Allowed,
    /// Hosts are never merged.
    Forbidden,
}

/// The common identity of a device and a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MatchedBy {
    /// The host's id.
    Id,
    /// The serial number.
    SerialNumber,
    /// The chassis id.
    ChassisId,
    /// A MAC address.
    Mac,
    /// An IP address.
    IpAddress,
    /// A name, and another value that confirms it.
    Name,
}

impl MatchedBy {
    /// Returns the name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::SerialNumber => "serial_number",
            Self::ChassisId => "chassis_id",
            Self::Mac => "mac",
            Self::IpAddress => "ip_address",
            Self::Name => "name",
        }
    }
}

impl fmt::Display for MatchedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The host that a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recognition {
    /// The device is this host.
    Known {
        /// The host's id.
        id: Uuid,
        /// The strongest key that led to the host.
        matched_by: MatchedBy,
        /// Other hosts that are the same device, to be merged into the host.
        merged: Vec<Uuid>,
    },
    /// The device is none of the hosts.
    New,
    /// The device may be any of several hosts.
    Ambiguous {
        /// The strongest key that the hosts share with the device.
        key: MatchedBy,
        /// The ids of the hosts.
        hosts: Vec<Uuid>,
    },
}

/// Returns which host a device is.
///
/// `candidates` are the host with the device's id and all hosts of the network that share an identity with the device.
///
/// Keys count in the order of [`MatchedBy`]. A key that several hosts have does not decide; weaker keys may then, among
/// these hosts. A host is never recognized by a key if a stronger one differs: the serial number or the chassis id, and
/// for addresses and names also all MAC addresses. An IP address counts if it is not one of many that differ, as the
/// virtual address of a pair of routers is. A name counts if a second value confirms it, or if one side has nothing
/// else.
#[must_use]
pub fn recognize(device: &Device, candidates: &[Host], merging: Merging) -> Recognition {
    if let Some(host) = candidates.iter().find(|host| Some(host.id) == device.id) {
        return Recognition::Known { id: host.id, matched_by: MatchedBy::Id, merged: Vec::new() };
    }
    let mut hosts: Vec<Compared<'_>> = candidates.iter().map(Compared::new).collect();
    hosts.sort_by_key(|compared| (compared.host.created_at, compared.host.id));
    hosts.dedup_by_key(|compared| compared.host.id);
    let device = Traits::of_device(device);

    let mut pool: Option<(MatchedBy, Vec<&Compared<'_>>)> = None;
    let mut shared: Option<(MatchedBy, Vec<&Compared<'_>>)> = None;
    for key in MatchedBy::RANKS.iter().copied() {
        let found = matches(key, &device, &hosts);
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
            [one] => return known(one, matched_by, &device, &hosts, merging),
            [first, ..] => {
                if merging == Merging::Allowed && decided.iter().all(|one| one.may_merge(&device)) {
                    return known(first, matched_by, &device, &hosts, merging);
                }
                // Hosts that have different addresses of the device are not told apart by anything else.
                if pool.is_none() && key.is_exclusive() {
                    return ambiguous(matched_by, &decided);
                }
                pool = Some((matched_by, decided));
            }
        }
    }
    // A device that has a strong identity to itself is none of the hosts that share a weak one.
    let is_apart = device.identities.iter().any(|identity| {
        identity.kind() <= IdentityKind::Mac
            && !hosts.iter().any(|one| one.traits.identities.contains(identity))
    });
    match pool.or_else(|| shared.filter(|_| !is_apart)) {
        Some((key, hosts)) => ambiguous(key, &hosts),
        None => Recognition::New,
    }
}

fn ambiguous(key: MatchedBy, hosts: &[&Compared<'_>]) -> Recognition {
    Recognition::Ambiguous { key, hosts: hosts.iter().map(|one| one.host.id).collect() }
}

impl MatchedBy {
    /// The keys by which hosts are compared, the strongest first.
    const RANKS: &[Self] = &[Self::SerialNumber, Self::ChassisId, Self::Mac, Self::IpAddress, Self::Name];

    /// Returns whether a value that two hosts have counts for neither of them.
    const fn is_exclusive(self) -> bool {
        matches!(self, Self::Mac | Self::IpAddress)
    }
}

/// A candidate with its values that can be compared.
struct Compared<'h> {
    host: &'h Host,
    traits: Traits,
}

impl<'h> Compared<'h> {
    fn new(host: &'h Host) -> Self {
        Self { host, traits: Traits::of_host(host).with_ports(host) }
    }

    /// Returns whether a value stronger than the key shows that the host is another device.
    fn contradicts(&self, key: MatchedBy, device: &Traits) -> bool {
        let differs = |kind| {
            let mut of_device = device.of_kind(kind).peekable();
            of_device.peek().is_some()
                && self.traits.of_kind(kind).next().is_some()
                && !of_device.any(|identity| self.traits.identities.contains(identity))
        };
        let has_chassis_of = |one: &Traits, other: &Traits| {
            one.chassis_mac.is_some_and(|address| other.macs.contains(&address))
        };
        (key > MatchedBy::SerialNumber && differs(IdentityKind::SerialNumber))
            || (key > MatchedBy::ChassisId
                && differs(IdentityKind::ChassisId)
                // Some agents announce one MAC address of the device or another.
                && !has_chassis_of(&self.traits, device)
                && !has_chassis_of(device, &self.traits))
            || (key > MatchedBy::Mac && differs(IdentityKind::Mac))
    }

    /// Returns whether another value confirms a host that has the name of the device.
    ///
    /// No other value is needed if the host or the device has only names.
    fn confirms_name(&self, device: &Traits) -> bool {
        let is_equal = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        let shares_address =
            device.of_kind(IdentityKind::IpAddress).any(|identity| self.traits.identities.contains(identity));
        shares_address
            || !device.macs.is_disjoint(&self.traits.macs)
            || is_equal(&device.sys_object_id, &self.traits.sys_object_id)
            || shares_most(&device.port_names, &self.traits.port_names)
            || self.traits.has_only_names()
            || device.has_only_names()
    }

    /// Returns whether the device has every identity of the host.
    fn is_accounted_for(&self, device: &Traits) -> bool {
        let short_names: BTreeSet<&Identity> = device.of_kind(IdentityKind::ShortName).collect();
        let has = |identity: &Identity| match identity.kind() {
            // The short name decides, because one side may know the domain and the other not.
            IdentityKind::Name => true,
            IdentityKind::ShortName => short_names.contains(identity),
            _ => device.identities.contains(identity),
        };
        self.traits.identities.iter().all(has) && self.traits.macs.is_subset(&device.macs)
    }

    /// Returns whether the host may become one with others. Names alone do not show that hosts are one device.
    fn may_merge(&self, device: &Traits) -> bool {
        self.host.source != Source::Manual && !self.traits.has_only_names() && self.is_accounted_for(device)
    }
}

/// The hosts that match by one key.
#[derive(Default)]
struct Matches<'c, 'h> {
    /// Hosts that match by a value which counts for them.
    ///
    /// This is an address that no other candidate has, or a value of another kind.
    decided: Vec<&'c Compared<'h>>,
    /// Hosts that match only by addresses which several candidates have.
    shared: Vec<&'c Compared<'h>>,
}

fn matches<'c, 'h>(key: MatchedBy, device: &Traits, hosts: &'c [Compared<'h>]) -> Matches<'c, 'h> {
    let kind = match key {
        MatchedBy::Id => return Matches::default(),
        MatchedBy::SerialNumber => IdentityKind::SerialNumber,
        MatchedBy::ChassisId => IdentityKind::ChassisId,
        MatchedBy::Mac => IdentityKind::Mac,
        MatchedBy::IpAddress => IdentityKind::IpAddress,
        MatchedBy::Name => {
            let by_name = named(IdentityKind::Name, device, hosts);
            let decided =
                if by_name.is_empty() { named(IdentityKind::ShortName, device, hosts) } else { by_name };
            return Matches { decided, shared: Vec::new() };
        }
    };
    let mut matches = Matches::default();
    for one in hosts.iter().filter(|one| !one.contradicts(key, device)) {
        let common: Vec<&Identity> =
            device.of_kind(kind).filter(|identity| one.traits.identities.contains(identity)).collect();
        let is_minority = kind == IdentityKind::IpAddress
            && common.len() * 2 <= device.of_kind(kind).count().min(one.traits.of_kind(kind).count());
        if common.is_empty() || is_minority {
            continue;
        }
        let holders = |identity: &Identity| {
            hosts.iter().filter(|other| other.traits.identities.contains(identity)).take(2).count()
        };
        if key.is_exclusive() && common.iter().all(|identity| holders(identity) > 1) {
            matches.shared.push(one);
        } else {
            matches.decided.push(one);
        }
    }
    matches
}

/// Returns the hosts that have a name of the device, if another value confirms them.
fn named<'c, 'h>(kind: IdentityKind, device: &Traits, hosts: &'c [Compared<'h>]) -> Vec<&'c Compared<'h>> {
    let has_name = |one: &&Compared<'h>| {
        let shared = |identity: &&Identity| one.traits.identities.contains(*identity);
        // Short names of two full names are equal in different domains, too.
        let is_whole = |identity: &Identity| {
            let whole = identity.to_name();
            device.identities.contains(&whole) || one.traits.identities.contains(&whole)
        };
        device.of_kind(kind).filter(shared).any(is_whole)
    };
    let hosts = hosts.iter().filter(has_name).filter(|one| !one.contradicts(MatchedBy::Name, device));
    hosts.filter(|one| one.confirms_name(device)).collect()
}

/// Returns whether two sets share more than half of the smaller one.
fn shares_most(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    one.intersection(other).count() * 2 > one.len().min(other.len())
}

/// Returns a recognized host, and the hosts to be merged into it.
fn known(
    host: &Compared<'_>,
    matched_by: MatchedBy,
    device: &Traits,
    hosts: &[Compared<'_>],
    merging: Merging,
) -> Recognition {
    let shares_identity = |one: &&Compared<'_>| {
        let shared = |identity: &Identity| {
            identity.kind() < IdentityKind::Name && device.identities.contains(identity)
        };
        one.traits.identities.iter().any(shared)
    };
    let mut merged = Vec::new();
    if merging == Merging::Allowed && host.may_merge(device) {
        let others = hosts.iter().filter(|one| one.host.id != host.host.id).filter(shares_identity);
        let others = others.filter(|one| one.may_merge(device) && !one.contradicts(MatchedBy::Name, device));
        merged.extend(others.map(|one| one.host.id));
    }
    Recognition::Known { id: host.host.id, matched_by, merged }
}
