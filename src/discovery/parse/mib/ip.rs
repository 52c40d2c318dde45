//! IP-MIB: addresses and neighbor caches, old and new tables.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::interfaces::Interfaces;
use super::{Accepted, Value};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{AddressRow, ArpRow, NeighborState, WarningCode};
use crate::model::MacAddress;

#[derive(Debug, Default)]
pub(super) struct Ip {
    addresses: BTreeMap<IpAddr, Address>,
    neighbors: BTreeMap<(i64, IpAddr), Neighbor>,
}

#[derive(Debug, Default)]
struct Address {
    if_index: Option<i64>,
    prefix_length: Option<u8>,
    /// Whether the address is an anycast or broadcast address, which no single device has.
    is_shared: bool,
}

#[derive(Debug, Default)]
struct Neighbor {
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
                // Some agents put the type before the address, as the new table does.
                let index = if let [1, address @ ..] = index
                    && address.len() == 4
                {
                    address
                } else {
                    index
                };
                let Some(address) = text::octets(index).and_then(|octets| text::ip(&octets)) else {
                    return Accepted::InvalidIndex;
                };
                self.accept_address(address, column, value, meter)
            }
            (34, 3..=5) => {
                let Some((address, [])) = text::inet_address(index) else { return Accepted::InvalidIndex };
                self.accept_new_address(address, column, value, meter)
            }
            (22, 1..=4) => {
                let [if_index, address @ ..] = index else { return Accepted::InvalidIndex };
                let Some(address) = text::octets(address).and_then(|octets| text::ip(&octets)) else {
                    return Accepted::InvalidIndex;
                };
                self.accept_neighbor(*if_index, address, column, value, meter)
            }
            (35, 4 | 6 | 7) => {
                let [if_index, address @ ..] = index else { return Accepted::InvalidIndex };
                let Some((address, [])) = text::inet_address(address) else { return Accepted::InvalidIndex };
                // The columns of the new table, by their numbers in the old one.
                let column = match column {
                    4 => 2,
                    6 => 4,
                    _ => 7,
                };
                self.accept_neighbor(*if_index, address, column, value, meter)
            }
            _ => Accepted::Yes,
        }
    }

    fn address(&mut self, address: IpAddr, meter: &mut Meter) -> Option<&mut Address> {
        meter.add_steps(1);
        if !self.addresses.contains_key(&address) && !meter.admit_row() {
            return None;
        }
        Some(self.addresses.entry(address).or_default())
    }

    fn accept_address(&mut self, ip: IpAddr, column: u64, value: &Value<'_>, meter: &mut Meter) -> Accepted {
        let Some(address) = self.address(ip, meter) else { return Accepted::TooMany };
        match column {
            2 => Accepted::store(&mut address.if_index, value.integer()),
            3 => Accepted::store(&mut address.prefix_length, value.bytes().and_then(mask_length)),
            _ => Accepted::Yes,
        }
    }

    fn accept_new_address(
        &mut self,
        ip: IpAddr,
        column: u64,
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Some(address) = self.address(ip, meter) else { return Accepted::TooMany };
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

    fn accept_neighbor(
        &mut self,
        if_index: u64,
        ip: IpAddr,
        column: u64,
        value: &Value<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Ok(if_index) = i64::try_from(if_index) else { return Accepted::InvalidIndex };
        meter.add_steps(1);
        let key = (if_index, ip);
        if !self.neighbors.contains_key(&key) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let neighbor = self.neighbors.entry(key).or_default();
        match column {
            2 => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                neighbor.mac_address = text::mac(bytes);
                Accepted::Yes
            }
            4 => {
                let Some(kind) = value.integer() else { return Accepted::InvalidValue };
                neighbor.is_invalid |= kind == 2;
                if matches!(kind, 4 | 5) {
                    neighbor.state = Some(NeighborState::Static);
                }
                Accepted::Yes
            }
            7 => {
                let Some(state) = value.integer() else { return Accepted::InvalidValue };
                neighbor.is_invalid |= state == 5;
                neighbor.state = neighbor.state.or(neighbor_state(state));
                Accepted::Yes
            }
            _ => Accepted::Yes,
        }
    }

    pub(super) fn addresses(&self, interfaces: &Interfaces, meter: &mut Meter) -> Vec<AddressRow> {
        meter.add_steps(self.addresses.len());
        let own = self
            .addresses
            .iter()
            .filter(|(ip, address)| !address.is_shared && !ip.is_unspecified() && !ip.is_multicast());
        let rows = own.map(|(ip, address)| AddressRow {
            ip_address: *ip,
            prefix_length: address.prefix_length,
            if_index: address.if_index,
            mac_address: address.if_index.and_then(|index| interfaces.get(index)?.mac_address),
        });
        rows.collect()
    }

    pub(super) fn into_arp(self, meter: &mut Meter) -> Vec<ArpRow> {
        meter.add_steps(self.neighbors.len());
        let mut rows = Vec::new();
        for ((if_index, ip_address), neighbor) in self.neighbors {
            if neighbor.is_invalid {
                continue;
            }
            let Some(mac_address) = neighbor.mac_address else {
                meter.skip(WarningCode::RowIncomplete);
                continue;
            };
            let if_index = Some(if_index);
            rows.push(ArpRow { ip_address, mac_address, if_index, if_name: None, state: neighbor.state });
        }
        rows
    }
}

fn mask_length(bytes: &[u8]) -> Option<u8> {
    let mask = u32::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?));
    (mask.leading_ones() + mask.trailing_zeros() == 32 || mask == 0).then_some(mask.leading_ones() as u8)
}

/// Reads the length from a row of `ipAddressPrefixTable`; `zeroDotZero` is none.
fn prefix_length(oid: &[u64]) -> Option<u8> {
    let [1, 3, 6, 1, 2, 1, 4, 32, 1, _, _, index @ ..] = oid else { return None };
    let (ip, [length]) = text::inet_address(index)? else { return None };
    let longest = if ip.is_ipv4() { 32 } else { 128 };
    u8::try_from(*length).ok().filter(|length| *length <= longest)
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
