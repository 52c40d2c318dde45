//! The hosts that a device matches by one key.

use super::MatchedBy;
use super::compared::Compared;
use crate::discovery::reconcile::identity::{Identity, IdentityKind, Traits};

/// The hosts that match by one key.
#[derive(Default)]
pub(super) struct Matches<'c, 'h> {
    /// Hosts that match by a value which counts for them.
    ///
    /// This is an address that no other candidate has, or a value of another kind.
    pub(super) decided: Vec<&'c Compared<'h>>,
    /// Hosts that match only by addresses which several candidates have.
    pub(super) shared: Vec<&'c Compared<'h>>,
}

impl MatchedBy {
    /// The keys by which hosts are compared, the strongest first.
    pub(super) const RANKS: &[Self] =
        &[Self::SerialNumber, Self::ChassisId, Self::Mac, Self::IpAddress, Self::Name];

    /// Returns whether a value that two hosts have counts for neither of them.
    pub(super) const fn is_exclusive(self) -> bool {
        matches!(self, Self::Mac | Self::IpAddress)
    }

    /// Returns the kind of identity that is the key; `None` for ids and names.
    const fn kind(self) -> Option<IdentityKind> {
        match self {
            Self::SerialNumber => Some(IdentityKind::SerialNumber),
            Self::ChassisId => Some(IdentityKind::ChassisId),
            Self::Mac => Some(IdentityKind::Mac),
            Self::IpAddress => Some(IdentityKind::IpAddress),
            Self::Id | Self::Name => None,
        }
    }
}

pub(super) fn matches<'c, 'h>(key: MatchedBy, device: &Traits, hosts: &'c [Compared<'h>]) -> Matches<'c, 'h> {
    let Some(kind) = key.kind() else { return by_name(device, hosts) };
    let mut matches = Matches::default();
    for one in hosts.iter() {
        let common: Vec<&Identity> = common(one, device, kind).collect();
        if common.is_empty() || is_minority(one, device, kind) || one.contradicts(key, device) {
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

fn by_name<'c, 'h>(device: &Traits, hosts: &'c [Compared<'h>]) -> Matches<'c, 'h> {
    let by_name = named(IdentityKind::Name, device, hosts);
    let mut decided =
        if by_name.is_empty() { named(IdentityKind::ShortName, device, hosts) } else { by_name };
    // A host that has nothing but the name is a part of the only other host that has it.
    if decided.iter().filter(|one| !one.is_bare()).count() == 1 {
        decided.retain(|one| !one.is_bare());
    }
    Matches { decided, shared: Vec::new() }
}

pub(super) fn common<'a>(
    one: &'a Compared<'_>,
    device: &'a Traits,
    kind: IdentityKind,
) -> impl Iterator<Item = &'a Identity> {
    device.of_kind(kind).filter(|identity| one.traits.identities.contains(identity))
}

/// Returns whether the common addresses are few of those that both have, as the virtual address of two routers is.
pub(super) fn is_minority(one: &Compared<'_>, device: &Traits, kind: IdentityKind) -> bool {
    let fewest = || device.of_kind(kind).count().min(one.traits.of_kind(kind).count());
    kind == IdentityKind::IpAddress && common(one, device, kind).count() * 2 <= fewest()
}

/// Returns the hosts that have a name of the device, if another value confirms them.
fn named<'c, 'h>(kind: IdentityKind, device: &Traits, hosts: &'c [Compared<'h>]) -> Vec<&'c Compared<'h>> {
    let hosts = hosts.iter().filter(|one| has_name(one, kind, device));
    let hosts = hosts.filter(|one| !one.contradicts(MatchedBy::Name, device));
    hosts.filter(|one| one.confirms_name(device)).collect()
}

/// Returns whether a host has a name of the device.
pub(super) fn has_name(one: &Compared<'_>, kind: IdentityKind, device: &Traits) -> bool {
    // Short names of two full names are equal in different domains, too.
    let is_whole = |identity: &Identity| {
        let whole = identity.to_name();
        device.identities.contains(&whole) || one.traits.identities.contains(&whole)
    };
    common(one, device, kind).any(is_whole)
}
