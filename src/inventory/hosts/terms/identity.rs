//! The terms by which discovery finds hosts.
//!
//! Hosts are found by the addresses of their interfaces, which have terms of their own, and by a term for each other
//! identity, of which the index holds the beginning of a digest. A collision makes discovery read a host in vain. That of
//! serial numbers and chassis ids is so long that nobody can provoke as many as discovery reads.

use crate::discovery::reconcile::{Identity, IdentityKind};
use crate::model::Host;
use crate::store::{Name, Term};

/// Finds hosts by identities that no other term has.
pub(in crate::inventory) const IDENTITY: Name = Name::new("identity");

/// Length of the term of a name: the kind of identity and 4 bytes. Nobody needs a collision: names may be equal.
const NAME_LENGTH: usize = 5;

/// Length of other terms with a digest: the kind of identity and 8 bytes.
const DIGEST_LENGTH: usize = 9;

/// Returns the value by which an index finds an identity.
pub(in crate::inventory) fn identity_value(identity: &Identity) -> Vec<u8> {
    let mut term = identity.term();
    match identity.kind() {
        IdentityKind::Mac | IdentityKind::IpAddress => {}
        IdentityKind::Name | IdentityKind::ShortName => term.truncate(NAME_LENGTH),
        IdentityKind::SerialNumber | IdentityKind::ChassisId => term.truncate(DIGEST_LENGTH),
    }
    term
}

/// Returns the terms of the identities of a host that the terms of its interfaces do not cover.
pub(super) fn identity_terms(host: &Host) -> impl Iterator<Item = Term> {
    let identities = Identity::of_host(host).into_iter();
    let others = identities.filter(|identity| identity.kind() != IdentityKind::IpAddress);
    others.filter_map(|identity| {
        let value = identity_value(&identity);
        let is_covered = identity.kind() == IdentityKind::Mac && is_of_interface(host, &value);
        if is_covered { None } else { Some(Term::new(IDENTITY, value)) }
    })
}

/// Returns whether the identity that is a MAC address is that of an interface.
fn is_of_interface(host: &Host, identity: &[u8]) -> bool {
    let mut addresses = host.interfaces.iter().filter_map(|interface| interface.mac_address);
    addresses.any(|address| identity.ends_with(&address.octets()))
}
