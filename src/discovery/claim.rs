//! Claims: the tables that hosts report, one for each host and kind.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::report::{
    AddressFamily, AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, Reporter,
    RouteRow, StpRow, TableKind, tables,
};
use crate::model::{Host, HostId, NetworkId, Timestamp};

/// The rows of one kind that a host reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(transform = crate::model::json_schema::describe_alternatives_whole))]
#[non_exhaustive]
pub struct Claim {
    /// The host that reports the rows.
    pub host_id: HostId,
    /// The host's network.
    pub network_id: NetworkId,
    /// When the latest of the rows were observed.
    pub observed_at: Timestamp,
    /// Whether these are all rows.
    pub complete: bool,
    /// The only family of addresses that was reported, of which these are the rows. `None`: both were, or the rows have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<AddressFamily>,
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
            family: None,
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
    #[cfg(feature = "service")]
    pub(crate) const fn new(id: Uuid, seen: super::reconcile::Seen) -> Self {
        Self { id, last_seen_at: seen.last_seen_at, missed_scans: seen.missed }
    }
}

/// Rows of a claim that its latest complete tables lack.
///
/// Only neighbors, learned addresses and neighbor caches have such rows. A row is forgotten once its subject is seen on
/// another port, or its port sees another subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(transform = crate::model::json_schema::describe_alternatives_whole))]
#[non_exhaustive]
pub struct MissingRows {
    /// When the rows were observed last.
    pub last_seen_at: Timestamp,
    /// The time of the first complete table without the rows.
    pub missing_since: Timestamp,
    /// The number of complete tables without the rows.
    pub missed_scans: u32,
    /// Kind and rows of the table.
    #[serde(flatten)]
    pub rows: ClaimRows,
}

impl MissingRows {
    /// Creates rows that one complete table lacks.
    #[must_use]
    pub const fn new(rows: ClaimRows, last_seen_at: Timestamp, missing_since: Timestamp) -> Self {
        Self { last_seen_at, missing_since, missed_scans: 1, rows }
    }
}

/// Defines [`ClaimRows`].
macro_rules! define_claim_rows {
    ([] $(
        $(#[$documentation:meta])*
        $([$($attribute:meta),*])?
        $field:ident: $kind:ident($row:ident) = $text:literal,
    )*) => {
        /// The kind of a claim, and its rows.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
        #[serde(tag = "kind", content = "rows")]
        #[non_exhaustive]
        pub enum ClaimRows {
            $($(#[$documentation])* #[serde(rename = $text)] $kind(Vec<$row>),)*
        }

        impl ClaimRows {
            /// Returns the kind of the rows.
            #[must_use]
            pub const fn kind(&self) -> TableKind {
                match self {
                    $(Self::$kind(_) => TableKind::$kind,)*
                }
            }
        }
    };
}

tables!(define_claim_rows);

/// Evaluates an expression for the rows of a table, whatever their kind: `with_rows!(table, rows => rows.len())`.
macro_rules! with_rows {
    // The list of all kinds, from `tables!`.
    ([$table:expr, $rows:ident => $result:expr] $(
        $(#[$documentation:meta])*
        $([$($attribute:meta),*])?
        $field:ident: $kind:ident($row:ident) = $text:literal,
    )*) => {
        match $table {
            $(ClaimRows::$kind($rows) => $result,)*
        }
    };
    ($table:expr, $rows:ident => $result:expr) => {
        $crate::discovery::report::tables!(with_rows $table, $rows => $result)
    };
}

#[cfg(feature = "service")]
pub(crate) use with_rows;

impl ClaimRows {
    /// Returns the number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        with_rows!(self, rows => rows.len())
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
