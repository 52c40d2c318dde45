//! Tables of claims, as hosts report them: one for each host and kind. Each row is a claim.

mod families;
mod missing;
mod rows;
mod table;
mod view;

use serde::Serialize;

pub(super) use self::rows::{ClaimRow, RowPart};
pub(super) use self::table::{ClaimedTable, claimed_tables};
use self::table::{ReportedTable, claimed};
use crate::discovery::ClaimRows;
use crate::discovery::report::{
    AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, RouteRow, StpRow, TableKind,
    Tables, tables,
};

/// Defines how the tables of a device become claims, and how rows become a table of their kind.
macro_rules! define_table_rows {
    ([] $(
        $(#[$documentation:meta])*
        $([$($attribute:meta),*])?
        $field:ident: $kind:ident($row:ident) = $text:literal,
    )*) => {
        /// Returns the tables of a device, as [`claimed`] does, one after the other.
        fn claimed_of_device(tables: &Tables) -> impl Iterator<Item = ReportedTable> {
            TableKind::ALL.iter().filter_map(|kind| match kind {
                $(TableKind::$kind => claimed(tables.$field.as_deref()),)*
            })
        }

        $(
            impl TableRow for $row {
                fn rows_of(table: &ClaimRows) -> Option<&[Self]> {
                    match table {
                        ClaimRows::$kind(rows) => Some(rows),
                        _ => None,
                    }
                }

                fn into_table(rows: Vec<Self>) -> ClaimRows {
                    ClaimRows::$kind(rows)
                }
            }
        )*
    };
}

tables!(define_table_rows);

/// A row of a table of one kind.
pub(super) trait TableRow: Clone + PartialEq + Serialize {
    /// Returns the rows of a table; `None` if they are of another kind.
    fn rows_of(table: &ClaimRows) -> Option<&[Self]>;

    /// Returns rows as a table.
    fn into_table(rows: Vec<Self>) -> ClaimRows;
}
