//! MAC addresses of candidates that only neighbor caches of other devices state.

use std::collections::BTreeMap;

use super::compared::Compared;
use crate::discovery::reconcile::identity::{Identity, IdentityKind, Traits};

/// Removes such MAC addresses from candidates if another candidate has them, or if the device lists its own addresses
/// and none of the candidate is among these.
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
