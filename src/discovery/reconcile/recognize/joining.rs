//! The other hosts that are the device as well, and become one with its host.

use super::MatchedBy;
use super::compared::{Compared, is_complementary};
use super::keys::{has_name, matches};
use crate::discovery::reconcile::identity::{IdentityKind, Traits};

/// The hosts that a report shows to be one device with its host, and those that only seem so.
#[derive(Default)]
pub(super) struct Joined<'c, 'h> {
    pub(super) merged: Vec<&'c Compared<'h>>,
    /// Hosts that the device matches, but that may not be merged.
    pub(super) refused: Vec<&'c Compared<'h>>,
}

/// Finds the hosts that the device matches besides its own.
pub(super) fn join<'c, 'h>(
    own: &'c Compared<'h>,
    device: &Traits,
    hosts: &'c [Compared<'h>],
) -> Joined<'c, 'h> {
    let mut joined = Joined::default();
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
/// other after this report; or the other host has nothing but addresses that the device has.
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

/// Adds the host that has nothing but a name of the device, unless yet another host has this name.
fn add_bare<'c, 'h>(
    own: &Compared<'h>,
    device: &Traits,
    hosts: &'c [Compared<'h>],
    joined: &mut Joined<'c, 'h>,
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
