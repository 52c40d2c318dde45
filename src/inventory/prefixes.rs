//! The keys and terms by which the addresses of subnets are found.

use std::net::IpAddr;

use super::schema::CIDR_UNIQUE_KEY;
use crate::model::{Cidr, NetworkId};
use crate::store::{Name, Term, TermFilter, TermRange, UniqueKey};

/// The addresses of a subnet.
const CIDR_TERM: Name = Name::new("cidr");

/// Returns the unique key of the addresses of a subnet within its network.
pub(super) fn cidr_unique_key(network: NetworkId, cidr: Cidr) -> UniqueKey {
    UniqueKey::new(CIDR_UNIQUE_KEY, [network.as_bytes().as_slice(), &cidr_bytes(cidr)].concat())
}

/// Returns the term of the addresses of a subnet.
pub(super) fn cidr_term(cidr: Cidr) -> Term {
    Term::new(CIDR_TERM, cidr_bytes(cidr))
}

/// Returns the filter of subnets with exactly these addresses.
pub(super) fn cidr_filter(cidrs: impl IntoIterator<Item = Cidr>) -> TermFilter {
    let ranges = cidrs.into_iter().map(|cidr| TermRange::exact(cidr_bytes(cidr)));
    TermFilter::new(CIDR_TERM, ranges.collect::<Vec<_>>())
}

/// Encodes the addresses of a subnet. The length distinguishes IPv4 from IPv6.
pub(super) fn cidr_bytes(cidr: Cidr) -> Vec<u8> {
    let mut bytes = vec![cidr.prefix_length()];
    match cidr.first_address() {
        IpAddr::V4(address) => bytes.extend(address.octets()),
        IpAddr::V6(address) => bytes.extend(address.octets()),
    }
    bytes
}
