//! IP-MIB: addresses and neighbor caches, old and new tables; and those of IPV6-MIB.

mod index;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::interfaces::Interfaces;
use super::{Accepted, Value};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{AddressRow, ArpRow, NeighborState, WarningCode};
use crate::model::MacAddress;

/// Columns of IPV6-MIB that the tables of IP-MIB do not have.
mod column {
    pub(super) const IPV6_TYPE: u64 = 100;
    pub(super) const IPV6_VALID: u64 = 101;
}

#[derive(Debug, Default)]
pub(super) struct Ip {
    addresses: BTreeMap<AddressIndex, Address>,
    neighbors: BTreeMap<NeighborIndex, Neighbor>,
}

/// The index of an address. Small agents number the rows, and have the address only in its column.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AddressIndex {
    /// The address, with its zone if that tells equal addresses apart, or else 0.
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

/// The index of a neighbor: interface and address, or another one with both in their columns.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NeighborIndex {
    Address(i64, IpAddr),
    Other(Vec<u64>),
}

#[derive(Debug, Default)]
struct Neighbor {
    /// The address from its own column, where the index is another.
    ip: Option<IpAddr>,
    if_index: Option<i64>,
    mac_address: Option<MacAddress>,
    state: Option<NeighborState>,
    is_invalid: bool,
}

impl Ip {
    pub(super) fn accept(
        &mut self,
        table: u64,
        column: u64,
        index: &[u64],
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        match (table, column) {
            (20, 1..=3) => {
                let Some(index) = index::address(index) else { return Accepted::InvalidIndex };
                self.accept_address(index, column, value, meter)
            }
            (34, 3..=5) => {
                let Some(index) = index::new_address(index) else { return Accepted::InvalidIndex };
                self.accept_new_address(index, column, value, meter)
            }
            (22, 1..=4) => {
                let Some(index) = index::neighbor(index) else { return Accepted::InvalidIndex };
                self.accept_neighbor(index, column, value, meter)
            }
            (35, 4 | 6 | 7) => {
                let Some(index) = index::new_neighbor(index) else { return Accepted::InvalidIndex };
                // The columns of the new table, by their numbers in the old one.
                let column = match column {
                    4 => 2,
                    6 => 4,
                    _ => 7,
                };
                self.accept_neighbor(index, column, value, meter)
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
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!((table, column), (8, 1..=5) | (12, 2..=6)) {
            return Accepted::Yes;
        }
        let Some((if_index, ip)) = index::ipv6(index) else { return Accepted::InvalidIndex };
        if table == 8 {
            return self.accept_ipv6_address(if_index, ip, column, value, meter);
        }
        let index = NeighborIndex::Address(if_index, ip);
        match column {
            2 => self.accept_neighbor(index, 2, value, meter),
            3 => self.accept_neighbor(index, column::IPV6_TYPE, value, meter),
            4 => self.accept_neighbor(index, 7, value, meter),
            6 => self.accept_neighbor(index, column::IPV6_VALID, value, meter),
            _ => Accepted::Yes,
        }
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
        value: &Value<'_>,
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
        value: &Value<'_>,
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
                address.prefix_length = index::prefix_length(prefix).or(address.prefix_length);
                Accepted::Yes
            }
        }
    }

    fn accept_ipv6_address(
        &mut self,
        if_index: i64,
        ip: IpAddr,
        column: u64,
        value: &Value<'_>,
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

    fn accept_neighbor(
        &mut self,
        index: NeighborIndex,
        column: u64,
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        meter.add_steps(1);
        if !self.neighbors.contains_key(&index) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let neighbor = self.neighbors.entry(index).or_default();
        match column {
            1 => return Accepted::store(&mut neighbor.if_index, value.integer()),
            2 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                neighbor.mac_address = text::mac(bytes);
                return Accepted::Yes;
            }
            3 => return Accepted::store(&mut neighbor.ip, value.bytes().and_then(text::ip)),
            _ => {}
        }
        let Some(number) = value.integer() else { return Accepted::InvalidValue };
        match column {
            4 => {
                neighbor.is_invalid |= number == 2;
                neighbor.note_static(matches!(number, 4 | 5));
            }
            7 => {
                neighbor.is_invalid |= number == 5;
                neighbor.state = neighbor.state.or(neighbor_state(number));
            }
            column::IPV6_TYPE => neighbor.note_static(matches!(number, 3 | 4)),
            _ => neighbor.is_invalid |= number == 2,
        }
        Accepted::Yes
    }

    /// Returns one row for each address, and one for each interface where an address is link-local.
    pub(super) fn addresses(&self, interfaces: &Interfaces, meter: &mut Meter) -> Vec<AddressRow> {
        meter.add_steps(self.addresses.len());
        let mut rows: BTreeMap<(IpAddr, Option<i64>), AddressRow> = BTreeMap::new();
        for (index, address) in &self.addresses {
            let Some(ip) = index.ip(address) else {
                meter.leave_out(WarningCode::RowIncomplete, || format!("address with {index:?}"));
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

    pub(super) fn into_arp(self, meter: &mut Meter) -> Vec<ArpRow> {
        meter.add_steps(self.neighbors.len());
        let mut rows: BTreeMap<(Option<i64>, IpAddr), ArpRow> = BTreeMap::new();
        for (index, neighbor) in self.neighbors {
            let Some((if_index, ip_address, mac_address)) = index.resolve(&neighbor) else {
                meter.leave_out(WarningCode::RowIncomplete, || format!("neighbor with {index:?}"));
                continue;
            };
            if neighbor.is_invalid {
                meter.leave_out(WarningCode::EntryInvalid, || format!("neighbor {ip_address}"));
                continue;
            }
            meter.use_rows(1);
            let row = ArpRow { if_index, state: neighbor.state, ..ArpRow::new(ip_address, mac_address) };
            rows.entry((if_index, ip_address)).or_insert(row);
        }
        rows.into_values().collect()
    }
}

impl AddressIndex {
    /// Returns the address, from the index or else from its column.
    fn ip(&self, address: &Address) -> Option<IpAddr> {
        match self {
            Self::Address(ip, _) => Some(*ip),
            Self::Other(arcs) => address.ip.or_else(|| text::ipv4_in_index(arcs)),
        }
    }
}

impl NeighborIndex {
    /// Returns interface, address and MAC address, from the index or else from their columns.
    fn resolve(&self, neighbor: &Neighbor) -> Option<(Option<i64>, IpAddr, MacAddress)> {
        let (if_index, ip) = match self {
            Self::Address(if_index, ip) => (Some(*if_index), *ip),
            Self::Other(arcs) => {
                let (first, rest) = arcs.split_first()?;
                let first = i64::try_from(*first).ok().filter(|_| rest.len() > 3);
                (neighbor.if_index.or(first), neighbor.ip.or_else(|| text::ipv4_in_index(rest))?)
            }
        };
        Some((if_index, ip, neighbor.mac_address?))
    }
}

impl Neighbor {
    const fn note_static(&mut self, is_static: bool) {
        if is_static {
            self.state = Some(NeighborState::Static);
        }
    }
}

const fn is_link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

/// Returns the length of a mask. A mask of zeros belongs to no address.
fn mask_length(bytes: &[u8]) -> Option<u8> {
    let mask = u32::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?));
    (mask.leading_ones() + mask.trailing_zeros() == 32 || mask == 0).then_some(mask.leading_ones() as u8)
}

const fn neighbor_state(state: i64) -> Option<NeighborState> {
    match state {
        1 => Some(NeighborState::Reachable),
        2 => Some(NeighborState::Stale),
        3 | 4 => Some(NeighborState::Probing),
        7 => Some(NeighborState::Unreachable),
        _ => None,
    }
}
