//! Neighbor caches.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::dotted;
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::mib::{Accepted, VariableValue};
use crate::discovery::parse::text;
use crate::discovery::report::{ArpRow, NeighborState, WarningCode};
use crate::model::MacAddress;

/// The entries of all neighbor caches of a device.
#[derive(Debug, Default)]
pub(super) struct NeighborTables {
    entries: BTreeMap<NeighborIndex, CacheEntry>,
}

/// A column of a neighbor cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheColumn {
    IfIndex,
    MacAddress,
    Address,
    /// `ipNetToMediaType`, and `ipNetToPhysicalType`.
    Type,
    /// `ipNetToPhysicalState`, and `ipv6IfNetToMediaState`.
    State,
    /// `ipv6NetToMediaType`, whose numbers are others.
    Ipv6Type,
    /// `ipv6NetToMediaValid`.
    Ipv6Valid,
}

/// The index of a neighbor: interface and address, or another one with both in their columns.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NeighborIndex {
    Address(i64, IpAddr),
    Other(Vec<u64>),
}

#[derive(Debug, Default)]
struct CacheEntry {
    /// The address from its own column, where the index is another.
    ip: Option<IpAddr>,
    if_index: Option<i64>,
    mac_address: Option<MacAddress>,
    state: Option<NeighborState>,
    /// Whether the device says that the entry is not valid, or that it does not know the MAC address.
    is_invalid: bool,
}

impl NeighborTables {
    /// Stores a variable.
    pub(super) fn accept(
        &mut self,
        index: NeighborIndex,
        column: CacheColumn,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        meter.add_steps(1);
        if !self.entries.contains_key(&index) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let neighbor = self.entries.entry(index).or_default();
        match column {
            CacheColumn::IfIndex => return Accepted::store(&mut neighbor.if_index, value.integer()),
            CacheColumn::MacAddress => {
                let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
                neighbor.mac_address = text::mac(bytes);
                neighbor.is_invalid |= text::is_blank(bytes);
                return Accepted::Yes;
            }
            CacheColumn::Address => {
                return Accepted::store(&mut neighbor.ip, value.bytes().and_then(text::ip));
            }
            _ => {}
        }
        let Some(number) = value.integer() else { return Accepted::InvalidValue };
        match column {
            CacheColumn::Type => {
                neighbor.is_invalid |= number == 2;
                neighbor.note_static(matches!(number, 4 | 5));
            }
            CacheColumn::State => {
                neighbor.is_invalid |= number == 5;
                neighbor.state = neighbor.state.or(neighbor_state(number));
            }
            CacheColumn::Ipv6Type => neighbor.note_static(matches!(number, 3 | 4)),
            _ => neighbor.is_invalid |= number == 2,
        }
        Accepted::Yes
    }

    /// Returns the rows of the neighbors that the device knows.
    pub(super) fn into_rows(self, meter: &mut Meter) -> Vec<ArpRow> {
        meter.add_steps(self.entries.len());
        let mut rows: BTreeMap<(Option<i64>, IpAddr), ArpRow> = BTreeMap::new();
        for (index, neighbor) in self.entries {
            if neighbor.is_invalid {
                meter.leave_out(WarningCode::EntryInvalid, || index.describe(&neighbor));
                continue;
            }
            let Some((if_index, ip_address, mac_address)) = index.resolve(&neighbor) else {
                meter.leave_out(WarningCode::RowIncomplete, || index.describe(&neighbor));
                continue;
            };
            if mac_address.is_group() {
                meter.leave_out(WarningCode::AddressShared, || format!("{ip_address} {mac_address}"));
                continue;
            }
            meter.use_rows(1);
            let row = ArpRow { if_index, state: neighbor.state, ..ArpRow::new(ip_address, mac_address) };
            rows.entry((if_index, ip_address)).or_insert(row);
        }
        rows.into_values().collect()
    }
}

impl NeighborIndex {
    /// Names a neighbor for a warning.
    fn describe(&self, neighbor: &CacheEntry) -> String {
        match (self, &neighbor.ip) {
            (Self::Address(_, ip), _) | (Self::Other(_), Some(ip)) => format!("neighbor {ip}"),
            (Self::Other(arcs), None) => format!("neighbor with the index {}", dotted(arcs)),
        }
    }

    /// Returns interface, address and MAC address, from the index or else from their columns.
    fn resolve(&self, neighbor: &CacheEntry) -> Option<(Option<i64>, IpAddr, MacAddress)> {
        let (if_index, ip) = match self {
            Self::Address(if_index, ip) => (Some(*if_index), *ip),
            // The address alone.
            Self::Other(arcs) if arcs.len() == 4 => (neighbor.if_index, text::ip(&text::octets(arcs)?)?),
            Self::Other(arcs) => {
                let (first, rest) = arcs.split_first()?;
                let first = i64::try_from(*first).ok().filter(|_| rest.len() > 3);
                (neighbor.if_index.or(first), neighbor.ip.or_else(|| text::ipv4_in_index(rest))?)
            }
        };
        Some((if_index.filter(|index| *index > 0), ip, neighbor.mac_address?))
    }
}

impl CacheEntry {
    const fn note_static(&mut self, is_static: bool) {
        if is_static {
            self.state = Some(NeighborState::Static);
        }
    }
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
