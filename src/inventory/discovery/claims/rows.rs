//! Replacement of the older rows of a table by newer ones.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::discovery::report::{
    AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, StpRow,
};
use crate::model::{MacAddress, PortNumber, Protocol};

/// A row of a table.
pub(super) trait Row: Clone {
    /// The subject of the row. The rows of a newer table about a subject replace all older ones about it.
    type Subject: Ord;

    /// Returns the subject of the row.
    fn subject(&self) -> Self::Subject;
}

/// Sorts rows by subject. Rows about the same subject stay in their order.
pub(super) fn sort<R: Row>(rows: &mut [R]) {
    rows.sort_by_key(Row::subject);
}

/// Returns the rows and the older rows about other subjects, at most `most` rows.
pub(super) fn combine<R: Row>(rows: &[R], older: &[R], most: usize) -> Vec<R> {
    let subjects: BTreeSet<R::Subject> = rows.iter().map(Row::subject).collect();
    let others = older.iter().filter(|row| !subjects.contains(&row.subject()));
    let mut combined: Vec<R> = rows.iter().chain(others).take(most).cloned().collect();
    sort(&mut combined);
    combined
}

impl Row for IfEntryRow {
    type Subject = i64;

    fn subject(&self) -> i64 {
        self.if_index
    }
}

impl Row for AddressRow {
    type Subject = IpAddr;

    fn subject(&self) -> IpAddr {
        self.ip_address
    }
}

/// A neighbor that is gone is no longer among the rows of its port.
impl Row for LldpRow {
    type Subject = (Option<i64>, Option<i64>, Option<String>);

    fn subject(&self) -> Self::Subject {
        (self.if_index, self.local_port_number, self.if_name.clone())
    }
}

impl Row for CdpRow {
    type Subject = (Option<i64>, Option<String>);

    fn subject(&self) -> Self::Subject {
        (self.if_index, self.if_name.clone())
    }
}

impl Row for FdbRow {
    type Subject = (Option<u16>, Option<u32>, MacAddress);

    fn subject(&self) -> Self::Subject {
        (self.vlan, self.fdb_id, self.mac_address)
    }
}

impl Row for ArpRow {
    type Subject = (Option<i64>, Option<String>, IpAddr);

    fn subject(&self) -> Self::Subject {
        (self.if_index, self.if_name.clone(), self.ip_address)
    }
}

impl Row for StpRow {
    type Subject = i64;

    fn subject(&self) -> i64 {
        self.bridge_port
    }
}

impl Row for LagRow {
    type Subject = i64;

    fn subject(&self) -> i64 {
        self.if_index
    }
}

impl Row for PortRow {
    type Subject = (PortNumber, Protocol);

    fn subject(&self) -> Self::Subject {
        (self.number, self.protocol)
    }
}
