//! The terms by which discovery finds hosts.
//!
//! Hosts are found by the addresses of their interfaces, which have terms of their own, and by a term for each other
//! identity. Digests are cut to 8 bytes: a collision only makes discovery read a host in vain.

use std::collections::BTreeSet;

use crate::discovery::reconcile::{Identity, IdentityKind};
use crate::model::Host;
use crate::store::Name;

/// Finds hosts by identities that no other term has.
pub(in crate::inventory) const IDENTITY: Name = Name::new("identity");

/// Length of a term that is a digest: the kind of identity and 8 bytes.
const DIGEST_LENGTH: usize = 9;

/// Returns the value by which an index finds an identity.
pub(in crate::inventory) fn identity_value(identity: &Identity) -> Vec<u8> {
    let mut term = identity.term();
    if !matches!(identity.kind(), IdentityKind::Mac | IdentityKind::IpAddress) {
        term.truncate(DIGEST_LENGTH);
    }
    term
}

/// Returns the terms of the identities of a host that the terms of its interfaces do not cover.
pub(super) fn identity_terms(host: &Host) -> Vec<(Name, Vec<u8>)> {
    let macs: BTreeSet<[u8; 6]> =
        host.interfaces.iter().filter_map(|part| part.mac_address).map(|address| address.octets()).collect();
    let mut terms = Vec::new();
    for identity in Identity::of_host(host) {
        let is_covered = match identity.kind() {
            IdentityKind::IpAddress => true,
            IdentityKind::Mac => macs.iter().any(|octets| identity.term().ends_with(octets)),
            _ => false,
        };
        if !is_covered {
            terms.push((IDENTITY, identity_value(&identity)));
        }
    }
    terms
}
