//! Management addresses of neighbors, whose rows have an index of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::LldpMib;
use super::neighbor::{LldpIndex, LldpNeighbors, LocalPortIndex};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::mib::{Accepted, VariableValue};
use crate::discovery::parse::text;
use crate::discovery::report::WarningCode;

/// The addresses that are kept of a neighbor.
const MAX_ADDRESSES: usize = 16;

#[derive(Debug, Default)]
pub(super) struct ManagementAddresses {
    rows: BTreeSet<(LldpIndex, String)>,
}

impl ManagementAddresses {
    /// Stores an address, which is part of the index: index of the neighbor, family, length, bytes.
    ///
    /// Some agents leave it out there, and state it in its column.
    pub(super) fn accept(
        &mut self,
        mib: LldpMib,
        column: u64,
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if let Some(neighbor) = LldpIndex::new(mib, index).filter(|_| index.len() != 2) {
            let Some(address) = value.bytes().and_then(address_of_value).filter(|_| column == 2) else {
                return Accepted::Yes;
            };
            return self.insert((neighbor, address), meter);
        }
        // Indexes that lack numbers of the neighbor are tried last.
        let lengths: &[usize] = if mib == LldpMib::Lldp { &[3, 1, 2] } else { &[4] };
        let whole = lengths.iter().find_map(|length| split(mib, index, *length));
        let Some(row) = whole.or_else(|| without_length(mib, index)) else { return Accepted::InvalidIndex };
        meter.add_steps(index.len());
        self.insert(row, meter)
    }

    fn insert(&mut self, row: (LldpIndex, String), meter: &mut Meter) -> Accepted {
        if !self.rows.contains(&row) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        self.rows.insert(row);
        Accepted::Yes
    }

    /// Gives each address to its neighbor. This is the one with the same index, or else the only one on the same
    /// local port.
    pub(super) fn join(self, neighbors: &mut LldpNeighbors, meter: &mut Meter) {
        if self.rows.is_empty() {
            return;
        }
        let mut by_port: BTreeMap<(LldpMib, LocalPortIndex, u64), Option<LldpIndex>> = BTreeMap::new();
        let mut firsts: BTreeMap<(LldpMib, LocalPortIndex, u64), LldpIndex> = BTreeMap::new();
        for (index, neighbor) in neighbors.iter() {
            meter.add_steps(2);
            let place = (index.mib, index.port, index.destination);
            let first = *firsts.entry(place).or_insert(*index);
            let is_same = neighbors.get(&first).is_some_and(|first| first.is_same(neighbor));
            let only = by_port.entry(place).or_insert(Some(first));
            *only = only.filter(|_| is_same);
        }
        for (index, address) in self.rows {
            meter.add_steps(2);
            if address.parse().is_ok_and(|address: IpAddr| address.is_unspecified()) {
                meter.leave_out(WarningCode::RowEmpty, || format!("management address {address}"));
                continue;
            }
            let place = (index.mib, index.port, index.destination);
            let holder = if neighbors.get(&index).is_some() {
                Some(index)
            } else {
                by_port.get(&place).copied().flatten().filter(|_| index.port != LocalPortIndex::Unknown)
            };
            let Some(neighbor) = holder.and_then(|holder| neighbors.get_mut(&holder)) else {
                meter.leave_out(WarningCode::AddressUnassigned, || {
                    format!("management address {address} of no known neighbor by LLDP")
                });
                continue;
            };
            if neighbor.mgmt_addrs.contains(&address) {
                meter.leave_out(WarningCode::RowRepeated, || format!("management address {address}"));
            } else if neighbor.mgmt_addrs.len() < MAX_ADDRESSES {
                neighbor.mgmt_addrs.push(address);
                meter.use_rows(1);
            } else {
                meter.leave_out(WarningCode::RowLimitReached, || format!("management address {address}"));
            }
        }
    }
}

/// Splits the index behind the numbers of the neighbor. The rest must be an address.
fn split(mib: LldpMib, index: &[u64], length: usize) -> Option<(LldpIndex, String)> {
    let (neighbor, address) = index.split_at_checked(length)?;
    let [family, count, octets @ ..] = address else { return None };
    let is_whole = *count == octets.len() as u64 && !octets.is_empty();
    // A shorter index is certain only if family and length fit each other.
    let is_certain = length >= 3 || matches!((family, octets.len()), (1, 4) | (2, 16));
    let address = address_text(*family, octets).filter(|_| is_whole && is_certain)?;
    Some((LldpIndex::new(mib, neighbor)?, address))
}

/// Splits an index that lacks the length of the address.
fn without_length(mib: LldpMib, index: &[u64]) -> Option<(LldpIndex, String)> {
    let (neighbor, address) = index.split_at_checked(if mib == LldpMib::Lldp { 3 } else { 4 })?;
    let [family, octets @ ..] = address else { return None };
    let address = address_text(*family, octets).filter(|_| !octets.is_empty())?;
    Some((LldpIndex::new(mib, neighbor)?, address))
}

/// Reads the bytes or the text of an address.
fn address_of_value(bytes: &[u8]) -> Option<String> {
    let by_text = || str::from_utf8(bytes).ok()?.trim().parse::<IpAddr>().ok();
    text::ip(bytes).or_else(by_text).map(|address| address.to_string())
}

fn address_text(family: u64, octets: &[u64]) -> Option<String> {
    let octets = text::octets(octets)?;
    Some(match (family, text::ip(&octets)) {
        (1 | 2, Some(address)) => address.to_string(),
        _ => text::hex(&octets),
    })
}
