//! The indexes of addresses and neighbors, also in the forms of agents that do not follow the MIB.

use std::net::IpAddr;

use super::{AddressIndex, NeighborIndex, is_link_local};
use crate::discovery::parse::text;

/// The longest index that may have an address in it.
const MAX_ARCS: usize = 64;

/// Reads an index of `ipAddrTable`: an address.
pub(super) fn address(index: &[u64]) -> Option<AddressIndex> {
    match octets_of_ip(index) {
        Some(ip) => Some(AddressIndex::Address(ip, 0)),
        None => (1..=MAX_ARCS).contains(&index.len()).then(|| AddressIndex::Other(index.to_vec())),
    }
}

/// Reads an index of `ipAddressTable`: type and address.
pub(super) fn new_address(index: &[u64]) -> Option<AddressIndex> {
    let ip = text::inet_address_index(index)?;
    Some(AddressIndex::Address(ip, if is_link_local(ip) { zone(index) } else { 0 }))
}

/// Returns the zone at the end of an index.
fn zone(index: &[u64]) -> i64 {
    let Some((4, [.., a, b, c, d])) = index.split_first().map(|(kind, rest)| (*kind, rest)) else { return 0 };
    if index.len() < 21 {
        return 0;
    }
    let octets = text::octets(&[*a, *b, *c, *d]).and_then(|octets| <[u8; 4]>::try_from(octets).ok());
    octets.map_or(0, |octets| i64::from(u32::from_be_bytes(octets)))
}

/// Reads an index of `ipNetToMediaTable`: interface and address.
pub(super) fn neighbor(index: &[u64]) -> Option<NeighborIndex> {
    let (first, rest) = index.split_first()?;
    match octets_of_ip(rest) {
        Some(ip) => Some(NeighborIndex::Address(i64::try_from(*first).ok()?, ip)),
        None => (index.len() <= MAX_ARCS).then(|| NeighborIndex::Other(index.to_vec())),
    }
}

/// Reads an index of `ipNetToPhysicalTable`: interface, type and address. Some agents put the type first.
pub(super) fn new_neighbor(index: &[u64]) -> Option<NeighborIndex> {
    let (first, rest) = index.split_first()?;
    if let Some(ip) = text::inet_address_index(rest) {
        return Some(NeighborIndex::Address(i64::try_from(*first).ok()?, ip));
    }
    let (second, rest) = rest.split_first().filter(|_| index.len() <= MAX_ARCS)?;
    let typed: Vec<u64> = [*first].into_iter().chain(rest.iter().copied()).collect();
    let ip = text::inet_address_index(&typed)?;
    Some(NeighborIndex::Address(i64::try_from(*second).ok()?, ip))
}

/// Reads an index of IPV6-MIB: interface and address. Some agents put the length before the address.
pub(super) fn ipv6(index: &[u64]) -> Option<(i64, IpAddr)> {
    let (first, rest) = index.split_first()?;
    let if_index = i64::try_from(*first).ok()?;
    if rest.len() == 16 {
        return Some((if_index, octets_of_ip(rest)?));
    }
    let (length, rest) = rest.split_first()?;
    if *length != rest.len() as u64 || rest.len() > MAX_ARCS {
        return None;
    }
    let ip = if rest.len() == 16 { octets_of_ip(rest) } else { None };
    Some((if_index, ip.or_else(|| text::address_text(rest))?))
}

/// Reads the length from a row of `ipAddressPrefixTable`; `zeroDotZero` is none, and so is a length of 0.
pub(super) fn prefix_length(oid: &[u64]) -> Option<u8> {
    let [1, 3, 6, 1, 2, 1, 4, 32, 1, _, _, index @ ..] = oid else { return None };
    let (length, address) = index.split_last()?;
    let longest = if text::inet_address_index(address)?.is_ipv4() { 32 } else { 128 };
    u8::try_from(*length).ok().filter(|length| (1..=longest).contains(length))
}

/// Converts 4 or 16 arcs to an address.
fn octets_of_ip(arcs: &[u64]) -> Option<IpAddr> {
    if !matches!(arcs.len(), 4 | 16) {
        return None;
    }
    text::ip(&text::octets(arcs)?)
}

/// Writes an index with dots.
pub(super) fn dotted(arcs: &[u64]) -> String {
    let arcs: Vec<String> = arcs.iter().map(u64::to_string).collect();
    arcs.join(".")
}
