//! The results of discovery, and the request to split a host.

use std::collections::BTreeMap;

use crate::discovery::reconcile::MatchedBy;
use crate::discovery::report::{TableKind, Warning};
use crate::model::{Cidr, HostId, IfEntryId, InterfaceId, LldpChassisId, PortId, ServiceId, SubnetId};
use serde::{Deserialize, Serialize};

/// The result of [`Reconciliation::reconcile`](crate::inventory::Reconciliation::reconcile).
///
/// Its size is bounded: everything is counted, but only the first [`DiscoveryReport::MAX_DETAILS`] hosts and tables are
/// kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiscoveryReport {
    /// Whether nothing was stored.
    pub dry_run: bool,
    /// The outcomes for the first devices, in the order of the report. Elements of a scan about one device have one outcome. Neighbors that became hosts follow.
    pub hosts: Vec<DiscoveredHost>,
    /// The number of outcomes of each kind, whether `hosts` has them or not.
    #[serde(default)]
    pub outcomes: BTreeMap<DiscoveryOutcome, u64>,
    /// The first tables of the devices that are hosts.
    pub tables: Vec<DiscoveredTable>,
    /// The number of tables of the devices that are hosts, whether `tables` has them or not.
    #[serde(default)]
    pub table_count: u64,
    /// The subnets that were created, because addresses of the devices have their prefixes.
    #[serde(default)]
    pub subnets: Vec<DiscoveredSubnet>,
    /// The parts of the input that the parser could not use, the merges of hosts and the reasons against others, and the
    /// values that two hosts have.
    pub warnings: Vec<Warning>,
    /// The number of rows that the input has: those that were used and those that the parser skipped.
    pub read_rows: u64,
    /// The number of rows of the input that were used.
    pub used_rows: u64,
    /// The number of rows that the parser skipped. The warnings state why.
    pub skipped_rows: u64,
}

impl DiscoveryReport {
    /// The maximum number of hosts and of tables that are kept; more are only counted.
    pub const MAX_DETAILS: usize = 10_000;

    /// Returns the number of devices that had an outcome.
    #[must_use]
    pub fn host_count(&self) -> u64 {
        self.outcomes.values().sum()
    }

    /// Returns how often there was an outcome.
    #[must_use]
    pub fn count(&self, outcome: DiscoveryOutcome) -> u64 {
        self.outcomes.get(&outcome).map_or(0, |count| *count)
    }
}

/// A subnet that a report created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiscoveredSubnet {
    /// The id of the subnet.
    pub id: SubnetId,
    /// The addresses of the subnet.
    pub cidr: Cidr,
}

/// The outcome for a device of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiscoveredHost {
    /// The host's id; `None`: the device is not a host.
    pub id: Option<HostId>,
    /// The host's name, or the name that the device reports.
    pub name: String,
    /// The effect of the device on the inventory.
    pub outcome: DiscoveryOutcome,
    /// The common identity of the device and the host; `None` for a new host.
    pub matched_by: Option<MatchedBy>,
    /// The fields of the host that changed.
    pub changes: Vec<String>,
    /// The reason for the outcome, as a sentence; `None` if the outcome needs no explanation.
    pub reason: Option<String>,
    /// The code of the host application, such as `policy.frozen`; absent unless its rules refuse the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The effect of a reported device on the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DiscoveryOutcome {
    /// A host was created.
    Created,
    /// A host changed.
    Updated,
    /// The host stays as it is.
    Unchanged,
    /// The device may be any of several hosts, and none of them was changed.
    Ambiguous,
    /// The device did not become a host.
    Ignored,
}

/// A table of a device that is a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiscoveredTable {
    /// The id of the host.
    pub device_id: HostId,
    /// The kind of rows.
    pub kind: TableKind,
    /// The number of rows in the report.
    pub rows: usize,
    /// Whether these are all rows.
    pub complete: bool,
    /// Whether the report has the table as unchanged, so that all that is known of it counts as seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
}

/// The result of [`Reconciliation::delete_stale`](crate::inventory::Reconciliation::delete_stale).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StaleDeletion {
    /// The number of hosts that changed.
    pub hosts: u64,
    /// The number of deleted interfaces.
    pub interfaces: u64,
    /// The number of deleted ports.
    pub ports: u64,
    /// The number of deleted services.
    pub services: u64,
    /// The number of deleted interface entries.
    pub if_entries: u64,
}

/// The parts that a new host takes along when it is split from another: [`Reconciliation::split`](crate::inventory::Reconciliation::split).
///
/// The parts are given by their ids. A field of the device that is given becomes that of the new host. An identity
/// that the other host has with the same value moves: hostname, `sysName`, chassis id, serial number and management URL.
///
/// ```
/// use toposcope::inventory::HostSplit;
/// use toposcope::model::InterfaceId;
///
/// let mut split = HostSplit::default();
/// split.interfaces = vec![InterfaceId::from_u128(1)];
/// split.serial_number = Some("FOC1234X0AB".to_owned());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HostSplit {
    /// The display name; `None`: the host is named after its other fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The DNS name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// `sysName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_name: Option<String>,
    /// `sysDescr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_descr: Option<String>,
    /// `sysObjectID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_object_id: Option<String>,
    /// `sysLocation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_location: Option<String>,
    /// `sysContact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_contact: Option<String>,
    /// The id of the chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chassis_id: Option<LldpChassisId>,
    /// The manufacturer of the chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manufacturer: Option<String>,
    /// The model of the chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The serial number of the chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    /// The URL of the device's management interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub management_url: Option<String>,
    /// The interfaces that move.
    pub interfaces: Vec<InterfaceId>,
    /// The ports that move.
    pub ports: Vec<PortId>,
    /// The services that move.
    pub services: Vec<ServiceId>,
    /// The interface entries that move.
    pub if_entries: Vec<IfEntryId>,
}
