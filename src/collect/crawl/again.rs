//! The state of a device after it was read, and what follows from it when the device is read again.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::marks::DeviceMarks;
use super::neighbors::FoundNeighbors;
use crate::collect::tables::MarkCoverage;
use crate::discovery::Report;
use crate::discovery::report::{Device, Table, TableKind, Tables};
use crate::model::Timestamp;
use crate::sha256::sha256;

/// The time after which all tables are read again, because some changes have no mark: a day, in microseconds.
const MAX_AGE: i64 = 24 * 3_600_000_000;

/// Maximum number of addresses of neighbors that are remembered of a device.
const MAX_NEIGHBORS: usize = 1_024;

/// The state of a device whose tables were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DeviceState {
    marks: DeviceMarks,
    /// When all tables were read.
    read_at: Timestamp,
    /// Whether the mark of the neighbors covers all tables of LLDP that the device has.
    covers_neighbors: bool,
    /// The digest of the tables that no mark covers, without forwarding database and caches.
    digest: String,
    /// The device without its tables.
    device: Device,
    /// The tables that the device has, without forwarding database and caches.
    kinds: Vec<TableKind>,
    pub(super) neighbors: Vec<IpAddr>,
    pub(super) links: usize,
}

impl DeviceState {
    /// Makes the state of a device of which all tables were read. `uncovered` is the report of the tables that no mark covers.
    ///
    /// `None`: a table is incomplete, or the device has something of which there can be no state.
    pub(super) fn new(
        marks: DeviceMarks,
        read_at: Timestamp,
        coverage: MarkCoverage,
        report: &Report,
        uncovered: &Report,
    ) -> Option<Self> {
        let [device] = report.devices.as_slice() else { return None };
        let of_device = device.tables.summaries();
        let of_host = of_device.iter().filter(|table| describes_host(table.kind));
        let is_complete = of_host.clone().all(|table| table.complete);
        let kinds: Vec<TableKind> = of_host.map(|table| table.kind).collect();
        if !is_complete || !kinds.contains(&TableKind::IfEntries) {
            return None;
        }
        let mut found = FoundNeighbors::of(report);
        found.neighbors.truncate(MAX_NEIGHBORS);
        Some(Self {
            marks,
            read_at,
            covers_neighbors: coverage.neighbors,
            digest: digest(uncovered)?,
            device: Device { tables: Tables::default(), ..device.clone() },
            kinds,
            neighbors: found.neighbors,
            links: found.links,
        })
    }

    /// Returns the tables that need not be read if the device has these marks now; `None`: all must be.
    pub(super) fn coverage(&self, marks: &DeviceMarks, now: Timestamp) -> Option<MarkCoverage> {
        let is_recent = now < self.read_at.plus_micros(MAX_AGE);
        let neighbors = self.covers_neighbors;
        (is_recent && marks.are_as(&self.marks)).then_some(MarkCoverage { interfaces: true, neighbors })
    }

    /// Makes the report of a device that is unchanged, of the tables that were read. `None`: one of them is another than before.
    pub(super) fn unchanged(&self, uncovered: Report) -> Option<Report> {
        if digest(&uncovered)? != self.digest {
            return None;
        }
        let mut report = uncovered;
        let [read] = report.devices.as_mut_slice() else { return None };
        let mut device = self.device.clone();
        device.sys_name = read.sys_name.take();
        device.sys_descr = read.sys_descr.take();
        device.sys_location = read.sys_location.take();
        device.sys_contact = read.sys_contact.take();
        let has = |kind| self.kinds.contains(&kind);
        let Tables { if_entries, addresses, fdb, arp, .. } = std::mem::take(&mut read.tables);
        device.tables.if_entries = has(TableKind::IfEntries).then(|| Table::unchanged(rows(if_entries)));
        device.tables.addresses = has(TableKind::Addresses).then(|| Table::unchanged(rows(addresses)));
        device.tables.lldp = has(TableKind::Lldp).then(|| Table::unchanged(Vec::new()));
        device.tables.cdp = has(TableKind::Cdp).then(|| Table::unchanged(Vec::new()));
        device.tables.stp = has(TableKind::Stp).then(|| Table::unchanged(Vec::new()));
        device.tables.lag = has(TableKind::Lag).then(|| Table::unchanged(Vec::new()));
        (device.tables.fdb, device.tables.arp) = (fdb, arp);
        *read = device;
        Some(report)
    }

    /// Returns the state with later marks.
    pub(super) fn with_marks(self, marks: DeviceMarks) -> Self {
        Self { marks, ..self }
    }
}

fn rows<R>(table: Option<Box<Table<R>>>) -> Vec<R> {
    table.map(|table| table.rows).unwrap_or_default()
}

/// Returns whether a table describes the device itself. The others change all the time, and are always read.
const fn describes_host(kind: TableKind) -> bool {
    !matches!(kind, TableKind::Fdb | TableKind::Arp)
}

/// Returns the digest of the tables that describe the device, with its model.
fn digest(report: &Report) -> Option<String> {
    let [device] = report.devices.as_slice() else { return None };
    let of_host = Device {
        sys_object_id: device.sys_object_id.clone(),
        bridge_address: device.bridge_address,
        cdp_device_id: device.cdp_device_id.clone(),
        tables: Tables { fdb: None, arp: None, ..device.tables.clone() },
        ..Device::default()
    };
    let json = serde_json::to_vec(&of_host).ok()?;
    Some(sha256(&json).iter().map(|byte| format!("{byte:02x}")).collect())
}
