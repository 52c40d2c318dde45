//! Claims: the tables that hosts report, one for each host and kind.

mod missing;
mod rows;
mod view;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::missing::MissingRows;
use self::rows::{combine, sort};
use crate::discovery::reconcile::Seen;
use crate::discovery::report::{
    AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, Reporter, StpRow, TableKind,
    Tables,
};
use crate::model::{Host, Timestamp};

/// Maximum number of rows of a claim.
const MAX_ROWS: usize = 500_000;

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

/// A table at one time: what a claim consists of apart from its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(super) struct ClaimedTable {
    pub(super) observed_at: Timestamp,
    pub(super) complete: bool,
    pub(super) reporter: Reporter,
    pub(super) table: ClaimRows,
    /// Rows that complete tables no longer have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) missing: Vec<MissingRows>,
}

/// Returns the tables of a device as claims.
pub(super) fn claimed_tables(
    tables: &Tables,
    observed_at: Timestamp,
    reporter: &Reporter,
) -> Vec<ClaimedTable> {
    let Tables { if_entries, addresses, lldp, cdp, fdb, arp, stp, lag, ports } = tables;
    let all = [
        if_entries.as_ref().map(|table| (table.complete, ClaimRows::IfEntries(table.rows.clone()))),
        addresses.as_ref().map(|table| (table.complete, ClaimRows::Addresses(table.rows.clone()))),
        lldp.as_ref().map(|table| (table.complete, ClaimRows::Lldp(table.rows.clone()))),
        cdp.as_ref().map(|table| (table.complete, ClaimRows::Cdp(table.rows.clone()))),
        fdb.as_ref().map(|table| (table.complete, ClaimRows::Fdb(table.rows.clone()))),
        arp.as_ref().map(|table| (table.complete, ClaimRows::Arp(table.rows.clone()))),
        stp.as_ref().map(|table| (table.complete, ClaimRows::Stp(table.rows.clone()))),
        lag.as_ref().map(|table| (table.complete, ClaimRows::Lag(table.rows.clone()))),
        ports.as_ref().map(|table| (table.complete, ClaimRows::Ports(table.rows.clone()))),
    ];
    let claims = all.into_iter().flatten().map(|(complete, mut table)| {
        table.sort();
        ClaimedTable { observed_at, complete, reporter: reporter.clone(), table, missing: Vec::new() }
    });
    claims.collect()
}

impl ClaimRows {
    /// Sorts the rows, so that tables with the same rows are equal.
    fn sort(&mut self) {
        match self {
            Self::IfEntries(rows) => sort(rows),
            Self::Addresses(rows) => sort(rows),
            Self::Lldp(rows) => sort(rows),
            Self::Cdp(rows) => sort(rows),
            Self::Fdb(rows) => sort(rows),
            Self::Arp(rows) => sort(rows),
            Self::Stp(rows) => sort(rows),
            Self::Lag(rows) => sort(rows),
            Self::Ports(rows) => sort(rows),
        }
    }

    /// Returns these rows, and the rows of the other table that they do not replace. Both tables have the same kind.
    fn over(&self, others: &Self) -> Self {
        match (self, others) {
            (Self::IfEntries(rows), Self::IfEntries(others)) => {
                Self::IfEntries(combine(rows, others, MAX_ROWS))
            }
            (Self::Addresses(rows), Self::Addresses(others)) => {
                Self::Addresses(combine(rows, others, MAX_ROWS))
            }
            (Self::Lldp(rows), Self::Lldp(others)) => Self::Lldp(combine(rows, others, MAX_ROWS)),
            (Self::Cdp(rows), Self::Cdp(others)) => Self::Cdp(combine(rows, others, MAX_ROWS)),
            (Self::Fdb(rows), Self::Fdb(others)) => Self::Fdb(combine(rows, others, MAX_ROWS)),
            (Self::Arp(rows), Self::Arp(others)) => Self::Arp(combine(rows, others, MAX_ROWS)),
            (Self::Stp(rows), Self::Stp(others)) => Self::Stp(combine(rows, others, MAX_ROWS)),
            (Self::Lag(rows), Self::Lag(others)) => Self::Lag(combine(rows, others, MAX_ROWS)),
            (Self::Ports(rows), Self::Ports(others)) => Self::Ports(combine(rows, others, MAX_ROWS)),
            _ => self.clone(),
        }
    }
}

impl ClaimedTable {
    /// Returns the stored table after this report of it; `None`: it stays as it is.
    ///
    /// A complete table replaces an older one. A truncated table replaces only the rows that it has too. An older
    /// report adds rows to a truncated table.
    pub(super) fn after(self, stored: &Self) -> Option<Self> {
        let after = if self.observed_at < stored.observed_at {
            if stored.complete {
                return None;
            }
            Self { table: stored.table.over(&self.table), ..stored.clone() }
        } else if self.complete {
            self
        } else if self.observed_at == stored.observed_at {
            let table = stored.table.over(&self.table);
            let complete = stored.complete && table == stored.table;
            Self { table, complete, ..stored.clone() }
        } else {
            Self { table: self.table.over(&stored.table), ..self }
        };
        let after = Self { missing: stored.missing_after(&after), ..after };
        let is_same = after.observed_at == stored.observed_at
            && after.complete == stored.complete
            && after.table == stored.table
            && after.missing == stored.missing;
        (!is_same).then_some(after)
    }

    /// Joins the tables of two hosts, one of which becomes a part of the other.
    pub(super) fn joined(self, other: Self) -> Self {
        let (newer, older) =
            if self.observed_at >= other.observed_at { (self, other) } else { (other, self) };
        let table = newer.table.over(&older.table);
        let complete = newer.complete && table == newer.table;
        let joined = Self { table, complete, ..newer };
        Self { missing: joined.missing_after(&joined), ..joined }
    }
}
