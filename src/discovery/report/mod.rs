//! The input of discovery: reports of scanners, devices and daemons.
//!
//! The serde implementations define the JSON form. Absent values and tables are omitted, and unknown fields are
//! ignored.

mod device;
mod family;
mod lists;
mod rows;
mod table;
mod warning;

use serde::{Deserialize, Serialize};

pub use device::{Capability, Device};
pub use family::{AddressFamily, AddressFamilyError};
pub use rows::{
    AddressRow, ArpRow, BridgeId, CdpRow, FdbRow, FdbStatus, IfEntryRow, LagRow, LldpRow, MAX_ROUTES,
    NeighborState, PortRow, RouteRow, StpRow, StpState,
};
pub(crate) use table::tables;
pub use table::{Table, TableKind, TableKindError, TableSummary, Tables};
pub use warning::{Warning, WarningCode};

use crate::model::{PortNumber, Protocol, Timestamp};

/// The devices that one reporter described at one time.
///
/// ```
/// use toposcope::discovery::report::{ArpRow, Device, Report, Reporter, Table};
/// use toposcope::model::Timestamp;
///
/// let mut router = Device::default();
/// router.sys_name = Some("edge-1".to_owned());
/// let row = ArpRow::new("192.0.2.7".parse()?, "00:00:5E:00:53:07".parse()?);
/// router.tables.arp = Some(Table::complete(vec![row]));
///
/// let mut report = Report::new(Reporter::new("collector"), Timestamp::now());
/// report.devices.push(router);
/// let json = serde_json::to_string(&report)?;
/// assert_eq!(serde_json::from_str::<Report>(&json)?, report);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// The program that produced the report.
    pub reporter: Reporter,
    /// When the reported state was observed.
    pub observed_at: Timestamp,
    /// The devices, in the order of the input. At most 100,000 are deserialized, with at most 1,000,000 rows in all.
    ///
    /// Devices count as rows.
    #[serde(default, deserialize_with = "lists::devices")]
    pub devices: Vec<Device>,
    /// The port numbers that were scanned; empty when unknown. A complete `ports` table is complete for these only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned_ports: Vec<PortRange>,
    /// The parts of the input that the parser could not use. One warning for each code.
    #[serde(default, deserialize_with = "lists::warnings", skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The number of rows that the input has: those that the report uses and those that were skipped.
    ///
    /// A row is an entry of a table that the parser knows, such as an interface, an address or a neighbor, or a line or
    /// an element that it cannot read.
    #[serde(default)]
    pub read_rows: u64,
    /// The number of rows of the input that the report uses.
    #[serde(default)]
    pub used_rows: u64,
    /// The number of rows that were skipped. The warnings state why.
    #[serde(default)]
    pub skipped_rows: u64,
}

impl Report {
    /// Creates a report without devices.
    #[must_use]
    pub const fn new(reporter: Reporter, observed_at: Timestamp) -> Self {
        Self {
            reporter,
            observed_at,
            devices: Vec::new(),
            scanned_ports: Vec::new(),
            warnings: Vec::new(),
            read_rows: 0,
            used_rows: 0,
            skipped_rows: 0,
        }
    }

    /// Creates the report of a program about one device.
    pub(super) fn of_device(program: &str, observed_at: Timestamp, device: Device) -> Self {
        Self { devices: vec![device], ..Self::new(Reporter::new(program), observed_at) }
    }

    /// Returns the number of rows of the largest device that become parts of its host.
    pub(crate) fn rows_of_largest_device(&self) -> usize {
        let rows = |device: &Device| {
            let Tables { if_entries, addresses, ports, .. } = &device.tables;
            let if_entries = if_entries.as_ref().map_or(0, |table| table.rows.len());
            let addresses = addresses.as_ref().map_or(0, |table| table.rows.len());
            if_entries + addresses + ports.as_ref().map_or(0, |table| table.rows.len())
        };
        self.devices.iter().map(rows).max().unwrap_or(0)
    }
}

/// The program that produced a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reporter {
    /// The program's name, such as `nmap`.
    pub name: String,
    /// The program's version, such as `7.91`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Reporter {
    /// Creates a reporter of unknown version.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), version: None }
    }
}

/// A range of port numbers that were scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PortRange {
    /// The transport protocol.
    pub protocol: Protocol,
    /// The first number.
    pub first: PortNumber,
    /// The last number, inclusive.
    pub last: PortNumber,
}

impl PortRange {
    /// Creates a range; `last` is inclusive.
    #[must_use]
    pub const fn new(protocol: Protocol, first: PortNumber, last: PortNumber) -> Self {
        Self { protocol, first, last }
    }

    /// Returns whether the range contains a port.
    #[must_use]
    pub fn contains(&self, protocol: Protocol, number: PortNumber) -> bool {
        self.protocol == protocol && (self.first..=self.last).contains(&number)
    }

    /// Returns ranges that contain the same ports, sorted, none of which overlap.
    pub(crate) fn merged(ranges: &[Self]) -> Vec<Self> {
        let mut sorted = ranges.to_vec();
        sorted.sort_unstable_by_key(|range| (range.protocol, range.first, range.last));
        let mut merged: Vec<Self> = Vec::new();
        for range in sorted {
            match merged.last_mut() {
                Some(before)
                    if before.protocol == range.protocol
                        && (range.first <= before.last || range.first == before.first) =>
                {
                    before.last = before.last.max(range.last);
                }
                _ => merged.push(range),
            }
        }
        merged
    }
}
