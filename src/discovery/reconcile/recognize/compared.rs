//! Comparison of a device with one host.

use std::collections::{BTreeMap, BTreeSet};

use super::MatchedBy;
use crate::discovery::reconcile::identity::{Identity, IdentityKind, Traits};
use crate::model::{Host, Source};

/// A value that shows that two records are different devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distinction {
    SerialNumber,
    ChassisId,
    /// All MAC addresses of ports.
    Macs,
    /// Name and addresses, and the common value is the only evidence for one device.
    NameAndAddresses,
    /// Name and `sysObjectID`.
    NameAndObject,
}

/// A candidate with its values that can be compared.
pub(super) struct Compared<'h> {
    pub(super) host: &'h Host,
    pub(super) traits: Traits,
}

impl<'h> Compared<'h> {
    pub(super) fn new(host: &'h Host) -> Self {
        Self { host, traits: Traits::of_host(host).with_ports(host) }
    }

    /// Returns the value by which the host is another device although both have the key in common.
    pub(super) fn difference(&self, key: MatchedBy, device: &Traits) -> Option<Distinction> {
        let host = &self.traits;
        if key > MatchedBy::SerialNumber && differs(host, device, IdentityKind::SerialNumber) {
            return Some(Distinction::SerialNumber);
        }
        if key > MatchedBy::ChassisId && chassis_differs(host, device) {
            return Some(Distinction::ChassisId);
        }
        if key > MatchedBy::Mac && macs_differ(host, device) && !self.has_new_macs(device) {
            return Some(Distinction::Macs);
        }
        let is_another = match key {
            MatchedBy::SerialNumber | MatchedBy::ChassisId => {
                is_elsewhere(host, device) && objects_differ(host, device) && macs_differ(host, device)
            }
            MatchedBy::Mac => is_elsewhere(host, device) && !is_same_kind(host, device),
            MatchedBy::Id | MatchedBy::IpAddress | MatchedBy::Name => false,
        };
        if is_another {
            return Some(Distinction::NameAndAddresses);
        }
        let is_replaced = key == MatchedBy::IpAddress
            && objects_differ(host, device)
            && are_disjoint(&host.sys_names, &device.sys_names);
        is_replaced.then_some(Distinction::NameAndObject)
    }

    pub(super) fn contradicts(&self, key: MatchedBy, device: &Traits) -> bool {
        self.difference(key, device).is_some()
    }

    /// Returns whether the device describes itself as the host at its address, with other MAC addresses.
    ///
    /// Its network card was replaced. Another device would have another name or another address.
    pub(super) fn has_new_macs(&self, device: &Traits) -> bool {
        let host = &self.traits;
        device.describes_itself
            && macs_differ(host, device)
            && !host.full_names.is_disjoint(&device.full_names)
            && has_common(host, device, IdentityKind::IpAddress)
    }

    /// Returns whether another value confirms a host that has the name of the device.
    ///
    /// No other value is needed if the host or the device has only names, and for an equal full name of two records that
    /// have nothing else to compare: a device that is described in pieces.
    pub(super) fn confirms_name(&self, device: &Traits) -> bool {
        let host = &self.traits;
        let is_equal = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        let is_bare = host.has_only_names() || device.has_only_names();
        has_common(host, device, IdentityKind::IpAddress)
            || !device.macs.is_disjoint(&host.macs)
            || is_equal(&device.sys_object_id, &host.sys_object_id)
            || shares_most(&device.port_names, &host.port_names)
            || (is_bare && !are_disjoint(&host.macs, &device.macs))
            || (is_complementary(host, device) && !host.full_names.is_disjoint(&device.full_names))
    }

    /// Returns whether the device has every identity of the host but its names.
    ///
    /// Names of an address and of the device often differ, so that only another `sysName` counts.
    pub(super) fn is_accounted_for(&self, device: &Traits) -> bool {
        let has = |identity: &Identity| {
            identity.kind() >= IdentityKind::Name
                || device.identities.contains(identity)
                || self.traits.cached.contains_key(identity)
        };
        self.traits.identities.iter().all(has)
            && self.traits.own_macs().all(|address| device.macs.contains(&address))
            && !are_disjoint(&self.traits.sys_names, &device.sys_names)
    }

    /// Returns whether discovery may make the host a part of another.
    pub(super) fn is_mergeable(&self) -> bool {
        self.host.source != Source::Manual
    }

    /// Returns whether discovery knows only names of the host.
    pub(super) fn is_bare(&self) -> bool {
        self.is_discovered() && self.traits.has_only_names() && self.traits.macs.is_empty()
    }

    /// Returns whether discovery knows only addresses and names of the host.
    pub(super) fn is_weak(&self) -> bool {
        let is_weak = |identity: &Identity| {
            identity.kind() > IdentityKind::Mac || self.traits.cached.contains_key(identity)
        };
        self.is_discovered()
            && self.traits.identities.iter().all(is_weak)
            && self.traits.own_macs().next().is_none()
    }

    const fn is_discovered(&self) -> bool {
        matches!(self.host.source, Source::Discovery { .. } | Source::DiscoveryWithMatch { .. })
    }

    pub(super) fn shares_identity(&self, device: &Traits) -> bool {
        let is_shared = |identity: &Identity| {
            identity.kind() < IdentityKind::Name && device.identities.contains(identity)
        };
        self.traits.identities.iter().any(is_shared)
    }
}

/// Returns whether both have values of a kind and none in common.
fn differs(one: &Traits, other: &Traits, kind: IdentityKind) -> bool {
    one.of_kind(kind).next().is_some()
        && other.of_kind(kind).next().is_some()
        && !has_common(one, other, kind)
}

fn has_common(one: &Traits, other: &Traits, kind: IdentityKind) -> bool {
    one.of_kind(kind).any(|identity| other.identities.contains(identity))
}

fn are_disjoint<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> bool {
    !one.is_empty() && !other.is_empty() && one.is_disjoint(other)
}

/// Some agents announce one MAC address of the device or another.
fn chassis_differs(one: &Traits, other: &Traits) -> bool {
    let has_chassis_of =
        |one: &Traits, other: &Traits| one.chassis_mac.is_some_and(|address| other.macs.contains(&address));
    differs(one, other, IdentityKind::ChassisId) && !has_chassis_of(one, other) && !has_chassis_of(other, one)
}

pub(super) fn macs_differ(one: &Traits, other: &Traits) -> bool {
    !one.port_macs.is_empty() && !other.port_macs.is_empty() && one.macs.is_disjoint(&other.macs)
}

fn objects_differ(one: &Traits, other: &Traits) -> bool {
    one.sys_object_id.is_some() && other.sys_object_id.is_some() && one.sys_object_id != other.sys_object_id
}

/// Returns whether both have names and addresses, and none of them in common.
fn is_elsewhere(one: &Traits, other: &Traits) -> bool {
    are_disjoint(&one.own_names, &other.own_names) && differs(one, other, IdentityKind::IpAddress)
}

/// Returns whether both are devices of one kind, and one has no MAC address that the other lacks.
fn is_same_kind(one: &Traits, other: &Traits) -> bool {
    one.sys_object_id.is_some()
        && one.sys_object_id == other.sys_object_id
        && (one.port_macs.is_subset(&other.port_macs) || other.port_macs.is_subset(&one.port_macs))
}

/// Returns whether no kind of strong value that both have differs.
pub(super) fn is_complementary(one: &Traits, other: &Traits) -> bool {
    !differs(one, other, IdentityKind::SerialNumber)
        && !chassis_differs(one, other)
        && !are_disjoint(&one.port_macs, &other.port_macs)
        && !differs(one, other, IdentityKind::IpAddress)
        && !objects_differ(one, other)
        && !are_disjoint(&one.sys_names, &other.sys_names)
}

/// Returns whether two sets share more than half of the smaller one.
pub(super) fn shares_most(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    one.intersection(other).count() * 2 > one.len().min(other.len())
}

/// Removes MAC addresses of neighbor caches that may belong to another device. Another candidate has them, or the
/// device lists its own addresses and none of the candidate is among these.
///
/// Routers answer for other devices (proxy ARP), so that a MAC address in a neighbor cache may be that of a router.
pub(super) fn forget_cached(hosts: &mut [Compared<'_>], device: &Traits) {
    let mut holders: BTreeMap<Identity, usize> = BTreeMap::new();
    for identity in hosts.iter().flat_map(|one| one.traits.identities.iter()) {
        if identity.kind() == IdentityKind::Mac {
            *holders.entry(identity.clone()).or_default() += 1;
        }
    }
    for one in hosts.iter_mut().filter(|one| !one.traits.cached.is_empty()) {
        let shares_address =
            device.of_kind(IdentityKind::IpAddress).any(|address| one.traits.identities.contains(address));
        for (identity, families) in std::mem::take(&mut one.traits.cached) {
            let is_shared = holders.get(&identity).is_some_and(|count| *count > 1);
            if is_shared || (!shares_address && device.listed.overlaps(families)) {
                one.traits.identities.remove(&identity);
            } else {
                one.traits.cached.insert(identity, families);
            }
        }
    }
}
