//! IP-MIB: addresses and neighbor caches, old and new tables; and those of IPV6-MIB.
//!
//! The indexes of addresses and neighbors are also read in the forms of agents that do not follow the MIB.

mod neighbors;

use std::collections::BTreeMap;
use std::net::IpAddr;

use neighbors::{CacheColumn, NeighborIndex, NeighborTables};

use super::interfaces::Interfaces;
use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{AddressRow, ArpRow, WarningCode};

#[derive(Debug, Default)]
pub(super) struct Ip {
    addresses: BTreeMap<AddressIndex, Address>,
    neighbors: NeighborTables,
    /// Whether the device has `ipNetToPhysicalTable`. The others have neighbors of one family of addresses.
    has_both_families: bool,
}

/// The index of an address. Small agents number the rows, and have the address only in its column.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AddressIndex {
    /// The address, with its zone if that distinguishes equal addresses, or else 0.
    Address(IpAddr, i64),
    Other(Vec<u64>),
}

#[derive(Debug, Default)]
struct Address {
    /// The address from its own column, where the index is another.
    ip: Option<IpAddr>,
    if_index: Option<i64>,
    prefix_length: Option<u8>,
    /// Whether the address is an anycast or broadcast address, which no single device has.
    is_shared: bool,
}

impl Ip {
    pub(super) fn accept(
        &mut self,
        table: u64,
        column: u64,
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        match (table, column) {
            (20, 1..=3) => {
                let Some(index) = address_index(index) else { return Accepted::InvalidIndex };
                self.accept_address(index, column, value, meter)
            }
            (34, 3..=5) => {
                let Some(index) = new_address_index(index) else { return Accepted::InvalidIndex };
                self.accept_new_address(index, column, value, meter)
            }
            (22, 1..=4) => {
                let Some(index) = neighbor_index(index) else { return Accepted::InvalidIndex };
                let column = match column {
                    1 => CacheColumn::IfIndex,
                    2 => CacheColumn::MacAddress,
                    3 => CacheColumn::Address,
                    _ => CacheColumn::Type,
                };
                self.neighbors.accept(index, column, value, meter)
            }
            (35, 4 | 6 | 7) => {
                self.has_both_families = true;
                let Some(index) = new_neighbor_index(index) else { return Accepted::InvalidIndex };
                let column = match column {
                    4 => CacheColumn::MacAddress,
                    6 => CacheColumn::Type,
                    _ => CacheColumn::State,
                };
                self.neighbors.accept(index, column, value, meter)
            }
            _ => Accepted::Yes,
        }
    }

    /// Stores a variable of IPV6-MIB, which older agents have in place of the newer tables of IP-MIB.
    pub(super) fn accept_ipv6(
        &mut self,
        table: u64,
        column: u64,
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!((table, column), (8, 1..=5) | (12, 2..=6)) {
            return Accepted::Yes;
        }
        let Some((if_index, ip)) = ipv6_index(index) else { return Accepted::InvalidIndex };
        if table == 8 {
            return self.accept_ipv6_address(if_index, ip, column, value, meter);
        }
        let index = NeighborIndex::Address(if_index, ip);
        let column = match column {
            2 => CacheColumn::MacAddress,
            3 => CacheColumn::Ipv6Type,
            4 => CacheColumn::State,
            6 => CacheColumn::Ipv6Valid,
            _ => return Accepted::Yes,
        };
        self.neighbors.accept(index, column, value, meter)
    }

    fn address(&mut self, index: AddressIndex, meter: &mut Meter) -> Option<&mut Address> {
        meter.add_steps(1);
        if !self.addresses.contains_key(&index) && !meter.admit_row() {
            return None;
        }
        Some(self.addresses.entry(index).or_default())
    }

    fn accept_address(
        &mut self,
        index: AddressIndex,
        column: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Some(address) = self.address(index, meter) else { return Accepted::TooMany };
        match column {
            2 => Accepted::store(&mut address.if_index, value.integer()),
            3 => {
                let Some(length) = value.bytes().and_then(mask_length) else { return Accepted::InvalidValue };
                address.prefix_length = (length > 0).then_some(length);
                Accepted::Yes
            }
            _ => Accepted::store(&mut address.ip, value.bytes().and_then(text::ip)),
        }
    }

    fn accept_new_address(
        &mut self,
        index: AddressIndex,
        column: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Some(address) = self.address(index, meter) else { return Accepted::TooMany };
        match column {
            3 => Accepted::store(&mut address.if_index, value.integer()),
            4 => {
                let Some(kind) = value.integer() else { return Accepted::InvalidValue };
                address.is_shared = kind != 1;
                Accepted::Yes
            }
            _ => {
                let Some(prefix) = value.arcs() else { return Accepted::InvalidValue };
                address.prefix_length = prefix_length(prefix).or(address.prefix_length);
                Accepted::Yes
            }
        }
    }

    fn accept_ipv6_address(
        &mut self,
        if_index: i64,
        ip: IpAddr,
        column: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let zone = if is_link_local(ip) { if_index } else { 0 };
        let Some(address) = self.address(AddressIndex::Address(ip, zone), meter) else {
            return Accepted::TooMany;
        };
        address.if_index = address.if_index.or(Some(if_index));
        let Some(number) = value.integer().filter(|_| matches!(column, 2 | 4)) else { return Accepted::Yes };
        if column == 4 {
            address.is_shared |= number == 1;
            return Accepted::Yes;
        }
        let Some(length) = u8::try_from(number).ok().filter(|length| *length <= 128) else {
            return Accepted::InvalidValue;
        };
        address.prefix_length = address.prefix_length.or((length > 0).then_some(length));
        Accepted::Yes
    }

    /// Returns one row for each address, and one for each interface where an address is link-local.
    pub(super) fn addresses(&self, interfaces: &Interfaces, meter: &mut Meter) -> Vec<AddressRow> {
        meter.add_steps(self.addresses.len());
        let mut rows: BTreeMap<(IpAddr, Option<i64>), AddressRow> = BTreeMap::new();
        for (index, address) in &self.addresses {
            let Some(ip) = index.ip(address) else {
                meter.leave_out(WarningCode::RowIncomplete, || index.describe());
                continue;
            };
            if address.is_shared || ip.is_unspecified() || ip.is_multicast() {
                meter.leave_out(WarningCode::AddressShared, || ip.to_string());
                continue;
            }
            meter.use_rows(1);
            let zone = address.if_index.filter(|_| is_link_local(ip));
            let row = rows.entry((ip, zone)).or_insert_with(|| AddressRow::new(ip));
            row.prefix_length = row.prefix_length.or(address.prefix_length);
            row.if_index = row.if_index.or(address.if_index);
            row.mac_address = row.if_index.and_then(|index| interfaces.get(index)?.mac_address);
        }
        rows.into_values().collect()
    }

    /// Returns whether an address is one of the device's own.
    pub(super) fn has_address(&self, address: IpAddr) -> bool {
        self.addresses.contains_key(&AddressIndex::Address(address, 0))
    }

    /// Returns whether there are variables of a neighbor cache for both families of addresses.
    pub(super) const fn has_both_families(&self) -> bool {
        self.has_both_families
    }

    pub(super) fn into_arp(self, meter: &mut Meter) -> Vec<ArpRow> {
        self.neighbors.into_rows(meter)
    }
}

impl AddressIndex {
    /// Names an address for a warning.
    fn describe(&self) -> String {
        match self {
            Self::Address(ip, _) => format!("address {ip}"),
            Self::Other(arcs) => format!("address with the index {}", dotted(arcs)),
        }
    }

    /// Returns the address, from the index or else from its column.
    fn ip(&self, address: &Address) -> Option<IpAddr> {
        match self {
            Self::Address(ip, _) => Some(*ip),
            Self::Other(arcs) => address.ip.or_else(|| text::ipv4_in_index(arcs)),
        }
    }
}

const fn is_link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

/// Returns the length of a mask. A mask of zeros belongs to no address.
fn mask_length(bytes: &[u8]) -> Option<u8> {
    let IpAddr::V4(mask) = text::ip(bytes)? else { return None };
    let mask = u32::from(mask);
    (mask.leading_ones() + mask.trailing_zeros() == 32 || mask == 0).then_some(mask.leading_ones() as u8)
}

/// The longest index that may have an address in it.
const MAX_ARCS: usize = 64;

/// Reads an index of `ipAddrTable`: an address.
fn address_index(index: &[u64]) -> Option<AddressIndex> {
    match octets_of_ip(index) {
        Some(ip) => Some(AddressIndex::Address(ip, 0)),
        None => (1..=MAX_ARCS).contains(&index.len()).then(|| AddressIndex::Other(index.to_vec())),
    }
}

/// Reads an index of `ipAddressTable`: type and address.
fn new_address_index(index: &[u64]) -> Option<AddressIndex> {
    let ip = text::inet_address_index(index)?;
    Some(AddressIndex::Address(ip, if is_link_local(ip) { zone(index) } else { 0 }))
}

/// Returns the zone at the end of an index.
fn zone(index: &[u64]) -> i64 {
    if let Some(zone) = text::zone_arc(index) {
        return i64::try_from(zone).unwrap_or(0);
    }
    let Some((4, [.., a, b, c, d])) = index.split_first().map(|(kind, rest)| (*kind, rest)) else { return 0 };
    if index.len() < 21 {
        return 0;
    }
    let octets = text::octets(&[*a, *b, *c, *d]).and_then(|octets| <[u8; 4]>::try_from(octets).ok());
    octets.map_or(0, |octets| i64::from(u32::from_be_bytes(octets)))
}

/// Reads an index of `ipNetToMediaTable`: interface and address.
fn neighbor_index(index: &[u64]) -> Option<NeighborIndex> {
    let (first, rest) = index.split_first()?;
    match octets_of_ip(rest) {
        Some(ip) => Some(NeighborIndex::Address(i64::try_from(*first).ok()?, ip)),
        None => (index.len() <= MAX_ARCS).then(|| NeighborIndex::Other(index.to_vec())),
    }
}

/// Reads an index of `ipNetToPhysicalTable`: interface, type and address. Some agents put the type first.
fn new_neighbor_index(index: &[u64]) -> Option<NeighborIndex> {
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
fn ipv6_index(index: &[u64]) -> Option<(i64, IpAddr)> {
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
fn prefix_length(oid: &[u64]) -> Option<u8> {
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
fn dotted(arcs: &[u64]) -> String {
    let arcs: Vec<String> = arcs.iter().map(u64::to_string).collect();
    arcs.join(".")
}
