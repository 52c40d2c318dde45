//! Claims: the tables that hosts report, one for each host and kind.

mod missing;
mod rows;
mod table;
mod view;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::missing::MissingRows;
pub(super) use self::table::{ClaimedTable, claimed_tables};
use crate::discovery::reconcile::Seen;
use crate::discovery::report::{
    AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, Reporter, StpRow, TableKind,
};
use crate::model::{Host, Timestamp};

/// The rows of one kind that a host reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(transform = crate::model::json_schema::describe_alternatives_whole))]
#[non_exhaustive]
pub struct Claim {
    /// The host that reports the rows.
    pub host_id: Uuid,
    /// The host's network.
    pub network_id: Uuid,
    /// When the latest of the rows were observed.
    pub observed_at: Timestamp,
    /// Whether these are all rows.
    pub complete: bool,
    /// The program that produced the latest report of the table.
    pub reporter: Reporter,
    /// Kind and rows of the table.
    #[serde(flatten)]
    pub rows: ClaimRows,
    /// When each part of the host that such a table describes was seen last.
    pub parts: Vec<SeenPart>,
    /// Rows that complete tables no longer have, those that were seen last first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingRows>,
}

impl Claim {
    /// Creates a claim of a host that has all rows of its table.
    #[must_use]
    pub const fn new(host: &Host, reporter: Reporter, observed_at: Timestamp, rows: ClaimRows) -> Self {
        Self {
            host_id: host.id,
            network_id: host.network_id,
            observed_at,
            complete: true,
            reporter,
            rows,
            parts: Vec::new(),
            missing: Vec::new(),
        }
    }
}

/// When a part of a host was seen last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SeenPart {
    /// The id of the interface, the port or the interface entry.
    pub id: Uuid,
    /// The time of the latest report that shows the part.
    pub last_seen_at: Timestamp,
    /// The number of complete tables since then that lack the part. A part that three tables lack is stale.
    pub missed_scans: u32,
}

impl SeenPart {
    pub(super) const fn new(id: Uuid, seen: Seen) -> Self {
        Self { id, last_seen_at: seen.last_seen_at, missed_scans: seen.missed }
    }
}

/// The kind of a claim, and its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "kind", content = "rows", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClaimRows {
    /// The SNMP interface table.
    IfEntries(Vec<IfEntryRow>),
    /// The host's own addresses.
    Addresses(Vec<AddressRow>),
    /// Neighbors by LLDP.
    Lldp(Vec<LldpRow>),
    /// Neighbors by CDP.
    Cdp(Vec<CdpRow>),
    /// The forwarding database.
    Fdb(Vec<FdbRow>),
    /// The ARP cache, and the IPv6 neighbor cache.
    Arp(Vec<ArpRow>),
    /// The spanning tree's ports.
    Stp(Vec<StpRow>),
    /// Members of link aggregation groups.
    Lag(Vec<LagRow>),
    /// Open ports.
    Ports(Vec<PortRow>),
}

impl ClaimRows {
    /// Returns the kind of the rows.
    #[must_use]
    pub const fn kind(&self) -> TableKind {
        match self {
            Self::IfEntries(_) => TableKind::IfEntries,
            Self::Addresses(_) => TableKind::Addresses,
            Self::Lldp(_) => TableKind::Lldp,
            Self::Cdp(_) => TableKind::Cdp,
            Self::Fdb(_) => TableKind::Fdb,
            Self::Arp(_) => TableKind::Arp,
            Self::Stp(_) => TableKind::Stp,
            Self::Lag(_) => TableKind::Lag,
            Self::Ports(_) => TableKind::Ports,
        }
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::IfEntries(rows) => rows.len(),
            Self::Addresses(rows) => rows.len(),
            Self::Lldp(rows) => rows.len(),
            Self::Cdp(rows) => rows.len(),
            Self::Fdb(rows) => rows.len(),
            Self::Arp(rows) => rows.len(),
            Self::Stp(rows) => rows.len(),
            Self::Lag(rows) => rows.len(),
            Self::Ports(rows) => rows.len(),
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
