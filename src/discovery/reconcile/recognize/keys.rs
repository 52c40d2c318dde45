//! The hosts that a device matches by one key, and the hosts to be merged into its host.

use super::MatchedBy;
use super::compared::{Compared, is_complementary};
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

    /// Returns whether a value shared by two hosts is ambiguous and counts for neither.
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
    // A host with only the name is a part of the only other host that has it.
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

/// Returns whether at most half of the addresses are common, as the virtual address of two routers is.
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

/// The hosts that a report shows to be the same device as its host, and those that only appear to be.
#[derive(Default)]
pub(super) struct JoinedHosts<'c, 'h> {
    pub(super) merged: Vec<&'c Compared<'h>>,
    /// Hosts that the device matches, but that may not be merged.
    pub(super) refused: Vec<&'c Compared<'h>>,
}

/// Finds the hosts that the device matches besides its own.
pub(super) fn join<'c, 'h>(
    own: &'c Compared<'h>,
    device: &Traits,
    hosts: &'c [Compared<'h>],
) -> JoinedHosts<'c, 'h> {
    let mut joined = JoinedHosts::default();
    if !own.is_mergeable() {
        return joined;
    }
    let mut linked: Vec<(&Compared<'_>, bool)> = Vec::new();
    for key in MatchedBy::RANKS.iter().copied() {
        let found = matches(key, device, hosts);
        let decided = found.decided.into_iter().map(|one| (one, true));
        for (one, is_decided) in decided.chain(found.shared.into_iter().map(|one| (one, false))) {
            match linked.iter_mut().find(|(other, _)| other.host.id == one.host.id) {
                Some((_, was_decided)) => *was_decided |= is_decided,
                None => linked.push((one, is_decided)),
            }
        }
    }
    linked.retain(|(one, _)| one.host.id != own.host.id);
    for (one, is_decided) in linked {
        if may_join(own, one, is_decided, device) {
            joined.merged.push(one);
        } else if is_decided {
            joined.refused.push(one);
        }
    }
    add_bare(own, device, hosts, &mut joined);
    joined.merged.sort_by_key(|one| (one.host.created_at, one.host.id));
    joined
}

/// Returns whether two hosts that the device matches become one.
///
/// The device has all identities of both; or nothing of them differs, so that each would have been recognized as the
/// other after this report; or the other host has only addresses that the device has.
pub(super) fn may_join(own: &Compared<'_>, other: &Compared<'_>, is_decided: bool, device: &Traits) -> bool {
    if !own.is_mergeable() || !other.is_mergeable() || other.contradicts(MatchedBy::Name, device) {
        return false;
    }
    // Names alone do not show that hosts are one device.
    let has_more = |one: &Compared<'_>| !one.traits.has_only_names() || !one.traits.macs.is_empty();
    if !has_more(own) || !has_more(other) {
        return false;
    }
    let is_accounted = other.is_accounted_for(device) && other.shares_identity(device);
    (is_accounted && (other.is_weak() || own.is_accounted_for(device)))
        || (is_decided && is_complementary(&own.traits, &other.traits))
}

/// Adds the host that has only a name of the device, unless another host has this name, too.
fn add_bare<'c, 'h>(
    own: &Compared<'h>,
    device: &Traits,
    hosts: &'c [Compared<'h>],
    joined: &mut JoinedHosts<'c, 'h>,
) {
    let others: Vec<&Compared<'_>> = hosts
        .iter()
        .filter(|one| one.host.id != own.host.id)
        .filter(|one| !joined.merged.iter().any(|merged| merged.host.id == one.host.id))
        .filter(|one| has_name(one, IdentityKind::ShortName, device))
        .collect();
    if let [one] = others.as_slice()
        && one.is_bare()
        && one.is_mergeable()
    {
        joined.refused.retain(|refused| refused.host.id != one.host.id);
        joined.merged.push(one);
    }
}
