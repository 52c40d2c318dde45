//! The rows of tables by subject, and the join of tables that were observed at different times.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::TableRow;
use super::families::TimesByFamily;
use crate::discovery::report::{
    AddressFamily, AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, RouteRow, StpRow,
};
use crate::model::{Cidr, MacAddress, PortNumber, Protocol, Timestamp};

/// Maximum number of rows of a claim.
const MAX_ROWS: usize = 500_000;

/// Maximum number of different rows about a subject that are compared with each other.
const MAX_COMPARED: usize = 64;

/// A row of a table, with its subject and the part of the host that it describes.
pub(in crate::inventory::discovery) trait ClaimRow: TableRow {
    /// The subject of the row. The rows of a newer table about a subject replace all older ones about it.
    type Subject: Ord;

    /// Whether the rows of each family of addresses are a table of their own.
    const HAS_FAMILIES: bool = false;

    /// Returns the subject of the row.
    fn subject(&self) -> Self::Subject;

    /// Returns the part of the host that the row describes, or at which it was observed.
    fn part(&self) -> RowPart<'_>;

    /// Returns the family of addresses of the row; `None` if the table has no families.
    fn family(&self) -> Option<AddressFamily> {
        None
    }
}

/// The part of a host that a row of a table describes.
pub(in crate::inventory::discovery) enum RowPart<'r> {
    /// A port of the device.
    IfEntry { index: Option<i64>, name: Option<&'r str> },
    /// An address of the device.
    Address(IpAddr),
    /// An open TCP or UDP port.
    Port(PortNumber, Protocol),
}

/// Rows, and when they were observed.
pub(super) struct Layer<'r, R> {
    pub(super) rows: &'r [R],
    pub(super) at: Timestamp,
    /// The places and times of the rows that were observed earlier.
    pub(super) earlier: &'r [(usize, Timestamp)],
}

/// Returns the latest rows about each subject, sorted by subject, with the times at which they were observed.
///
/// Rows from before the complete table of their family do not count. Of rows about a subject that were observed at one time, only those are left
/// out that another one repeats or extends.
pub(super) fn join<R: ClaimRow>(
    layers: &[Layer<'_, R>],
    families: Option<&TimesByFamily>,
) -> Vec<(Timestamp, R)> {
    let mut latest: BTreeMap<R::Subject, (Timestamp, Vec<&R>)> = BTreeMap::new();
    for layer in layers {
        let mut earlier = layer.earlier.iter().peekable();
        for (place, row) in layer.rows.iter().enumerate() {
            let at = earlier.next_if(|(other, _)| *other == place).map_or(layer.at, |(_, at)| *at);
            if families.and_then(|families| families.since(row)).is_some_and(|since| at < since) {
                continue;
            }
            let (latest_at, rows) = latest.entry(row.subject()).or_insert((at, Vec::new()));
            if at > *latest_at {
                (*latest_at, *rows) = (at, Vec::new());
            }
            if at == *latest_at {
                rows.push(row);
            }
        }
    }
    let rows =
        latest.into_values().flat_map(|(at, rows)| distinct(rows).into_iter().map(move |row| (at, row)));
    rows.take(MAX_ROWS).map(|(at, row)| (at, row.clone())).collect()
}

/// Returns the rows that no other row repeats or extends, ordered by their JSON.
fn distinct<R: ClaimRow>(rows: Vec<&R>) -> Vec<&R> {
    if rows.len() < 2 {
        return rows;
    }
    let members = |row: &R| match serde_json::to_value(row) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let mut rows: Vec<(String, Map<String, Value>, &R)> = rows
        .into_iter()
        .map(|row| (members(row), row))
        .map(|(members, row)| (Value::Object(members.clone()).to_string(), members, row))
        .collect();
    rows.sort_by(|(one, ..), (other, ..)| one.cmp(other));
    rows.dedup_by(|(one, ..), (other, ..)| one == other);
    let says_more = |one: &Map<String, Value>, other: &Map<String, Value>| {
        one.len() > other.len() && other.iter().all(|(name, value)| one.get(name) == Some(value))
    };
    let is_kept = |(_, members, _): &&(String, Map<String, Value>, &R)| {
        rows.len() > MAX_COMPARED || !rows.iter().any(|(_, other, _)| says_more(other, members))
    };
    rows.iter().filter(is_kept).map(|(_, _, row)| *row).collect()
}

/// A row without an index is about the port with its name.
impl ClaimRow for IfEntryRow {
    type Subject = (i64, Option<String>);

    fn subject(&self) -> Self::Subject {
        (self.if_index, self.if_name.clone().filter(|_| self.if_index == 0))
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: Some(self.if_index), name: self.if_name.as_deref() }
    }
}

impl ClaimRow for AddressRow {
    type Subject = IpAddr;

    fn subject(&self) -> IpAddr {
        self.ip_address
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::Address(self.ip_address)
    }
}

/// Keyed by the local port, so that a newer table drops former neighbors of the port.
impl ClaimRow for LldpRow {
    type Subject = (Option<i64>, Option<i64>, Option<String>);

    fn subject(&self) -> Self::Subject {
        (self.if_index, self.local_port_number, self.if_name.clone())
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: self.if_index, name: self.if_name.as_deref() }
    }
}

impl ClaimRow for CdpRow {
    type Subject = (Option<i64>, Option<String>);

    fn subject(&self) -> Self::Subject {
        (self.if_index, self.if_name.clone())
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: self.if_index, name: self.if_name.as_deref() }
    }
}

impl ClaimRow for FdbRow {
    type Subject = (Option<u16>, Option<u32>, MacAddress);

    fn subject(&self) -> Self::Subject {
        (self.vlan, self.fdb_id, self.mac_address)
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: self.if_index, name: self.if_name.as_deref() }
    }
}

impl ClaimRow for ArpRow {
    type Subject = (Option<i64>, Option<String>, IpAddr);

    const HAS_FAMILIES: bool = true;

    fn subject(&self) -> Self::Subject {
        (self.if_index, self.if_name.clone(), self.ip_address)
    }

    fn family(&self) -> Option<AddressFamily> {
        Some(AddressFamily::of(self.ip_address))
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: self.if_index, name: self.if_name.as_deref() }
    }
}

impl ClaimRow for StpRow {
    type Subject = i64;

    fn subject(&self) -> i64 {
        self.bridge_port
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: self.if_index, name: None }
    }
}

impl ClaimRow for LagRow {
    type Subject = i64;

    fn subject(&self) -> i64 {
        self.if_index
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: Some(self.if_index), name: None }
    }
}

/// Keyed by the destination, so that a newer table replaces all of its next hops.
impl ClaimRow for RouteRow {
    type Subject = Cidr;

    const HAS_FAMILIES: bool = true;

    fn subject(&self) -> Cidr {
        self.destination
    }

    fn family(&self) -> Option<AddressFamily> {
        Some(AddressFamily::of(self.destination.first_address()))
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::IfEntry { index: self.if_index, name: self.if_name.as_deref() }
    }
}

impl ClaimRow for PortRow {
    type Subject = (PortNumber, Protocol);

    fn subject(&self) -> Self::Subject {
        (self.number, self.protocol)
    }

    fn part(&self) -> RowPart<'_> {
        RowPart::Port(self.number, self.protocol)
    }
}
