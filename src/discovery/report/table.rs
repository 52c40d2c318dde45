use serde::{Deserialize, Serialize};

use super::{AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, StpRow};
use crate::text_enum::text_enum;

/// The rows of one kind that one device reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Table<T> {
    /// Whether these are all rows. A complete table replaces what is known; a truncated one only adds to it.
    #[serde(default)]
    pub complete: bool,
    /// Whether the rows follow from other tables of the report, such as interfaces that only neighbors show.
    ///
    /// Such rows describe a host that has no others of this kind. They never replace rows, and are never complete.
    #[serde(default, skip_serializing_if = "is_false")]
    pub derived: bool,
    /// The rows, in the order of the input or of their keys. At most 500,000 are deserialized.
    #[serde(deserialize_with = "super::lists::rows", bound(deserialize = "T: Deserialize<'de>"))]
    pub rows: Vec<T>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl<T> Table<T> {
    /// Creates a table that has all rows.
    #[must_use]
    pub fn complete(rows: Vec<T>) -> Box<Self> {
        Box::new(Self { complete: true, derived: false, rows })
    }

    /// Creates a table that may lack rows.
    #[must_use]
    pub fn truncated(rows: Vec<T>) -> Box<Self> {
        Box::new(Self { complete: false, derived: false, rows })
    }

    /// Creates a table of rows that follow from other tables.
    #[must_use]
    pub fn derived(rows: Vec<T>) -> Box<Self> {
        Box::new(Self { complete: false, derived: true, rows })
    }
}

/// The tables of a device. `None`: the report says nothing about this kind.
///
/// Tables are boxed, because most devices of a scan have one or two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Tables {
    /// The SNMP interface table. At most 100,000 rows are deserialized.
    #[serde(deserialize_with = "super::lists::if_entries", skip_serializing_if = "Option::is_none")]
    pub if_entries: Option<Box<Table<IfEntryRow>>>,
    /// The device's own addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Box<Table<AddressRow>>>,
    /// Neighbors by LLDP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lldp: Option<Box<Table<LldpRow>>>,
    /// Neighbors by CDP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp: Option<Box<Table<CdpRow>>>,
    /// The forwarding database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fdb: Option<Box<Table<FdbRow>>>,
    /// The ARP cache, and the IPv6 neighbor cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arp: Option<Box<Table<ArpRow>>>,
    /// The spanning tree's ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stp: Option<Box<Table<StpRow>>>,
    /// Members of link aggregation groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag: Option<Box<Table<LagRow>>>,
    /// Open ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Box<Table<PortRow>>>,
}

impl Tables {
    /// Returns kind, length and completeness of each table that is present.
    #[must_use]
    pub fn summaries(&self) -> Vec<TableSummary> {
        let all = [
            summary(TableKind::IfEntries, self.if_entries.as_deref()),
            summary(TableKind::Addresses, self.addresses.as_deref()),
            summary(TableKind::Lldp, self.lldp.as_deref()),
            summary(TableKind::Cdp, self.cdp.as_deref()),
            summary(TableKind::Fdb, self.fdb.as_deref()),
            summary(TableKind::Arp, self.arp.as_deref()),
            summary(TableKind::Stp, self.stp.as_deref()),
            summary(TableKind::Lag, self.lag.as_deref()),
            summary(TableKind::Ports, self.ports.as_deref()),
        ];
        all.into_iter().flatten().collect()
    }
}

fn summary<T>(kind: TableKind, table: Option<&Table<T>>) -> Option<TableSummary> {
    table.map(|table| TableSummary { kind, rows: table.rows.len(), complete: table.complete })
}

/// Kind, length and completeness of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TableSummary {
    /// The kind of the rows.
    pub kind: TableKind,
    /// The number of rows.
    pub rows: usize,
    /// Whether these are all rows.
    pub complete: bool,
}

text_enum! {
    /// The kind of a table's rows.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum TableKind {
        /// The SNMP interface table.
        IfEntries = "if_entries",
        /// The device's own addresses.
        Addresses = "addresses",
        /// Neighbors by LLDP.
        Lldp = "lldp",
        /// Neighbors by CDP.
        Cdp = "cdp",
        /// The forwarding database.
        Fdb = "fdb",
        /// The ARP cache, and the IPv6 neighbor cache.
        Arp = "arp",
        /// The spanning tree's ports.
        Stp = "stp",
        /// Members of link aggregation groups.
        Lag = "lag",
        /// Open ports.
        Ports = "ports",
    }

    /// The error for text that names no kind of table.
    #[error("not a kind of table")]
    pub struct TableKindError;
}
