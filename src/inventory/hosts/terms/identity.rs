//! The terms by which discovery finds hosts.
//!
//! Discovery finds hosts by the addresses of their interfaces and by their other identities. Each other identity has a
//! term with the beginning of its digest. If two identities have the same term, discovery reads a host in vain, and it
//! reads a limited number of hosts.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::discovery::reconcile::{Identity, IdentityKind, is_address_only};
use crate::model::{Host, MacAddress};
use crate::store::{Name, Term};

/// The name of the terms for identities that no other term covers.
pub(in crate::inventory) const IDENTITY: Name = Name::new("identity");

/// Length of the term of a name, in bytes. The term is the kind of identity and 4 bytes of the digest.
///
/// A longer digest would not prevent collisions that an attacker wants: hosts may have equal names anyway.
const NAME_LENGTH: usize = 5;

/// Length of the term of a serial number or chassis id, in bytes. The term is the kind of identity and 8 bytes of the
/// digest.
///
/// An attacker cannot compute enough collisions with eight bytes to hide a host behind the limit of hosts that are
/// read.
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

/// The name of the terms with the addresses of hosts that are known by addresses only.
pub(in crate::inventory) const ADDRESS_ONLY: Name = Name::new("address_only");

/// Returns the value by which an index finds a host that is known by its address only.
pub(in crate::inventory) fn address_only_value(address: IpAddr) -> Option<Vec<u8>> {
    Identity::of_ip(address).map(|identity| identity.term())
}

/// Returns the terms of the addresses of a host that is known by addresses only.
pub(super) fn address_only_terms(host: &Host) -> impl Iterator<Item = Term> + '_ {
    let interfaces = if is_address_only(host) { host.interfaces.as_slice() } else { &[] };
    interfaces
        .iter()
        .filter_map(|part| address_only_value(part.ip_address))
        .map(|value| Term::new(ADDRESS_ONLY, value))
}

/// Returns the terms of the identities that the terms of the interfaces do not cover.
pub(super) fn identity_terms(host: &Host) -> impl Iterator<Item = Term> + use<> {
    let of_interfaces: BTreeSet<MacAddress> =
        host.interfaces.iter().filter_map(|interface| interface.mac_address).collect();
    let identities = Identity::of_host(host).into_iter();
    let others = identities.filter(|identity| identity.kind() != IdentityKind::IpAddress);
    others.filter_map(move |identity| {
        let value = identity_value(&identity);
        let address = value.split_first().and_then(|(_, octets)| MacAddress::try_from(octets).ok());
        let is_covered = identity.kind() == IdentityKind::Mac
            && address.is_some_and(|address| of_interfaces.contains(&address));
        if is_covered { None } else { Some(Term::new(IDENTITY, value)) }
    })
}
