use serde::{Deserialize, Serialize};

use super::{
    AddressFamily, AddressRow, ArpRow, CdpRow, FdbRow, IfEntryRow, LagRow, LldpRow, PortRow, RouteRow, StpRow,
};
use crate::text_enum::text_enum;

/// The rows of one kind that one device reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Table<T> {
    /// Whether these are all rows. A complete table replaces the known rows; a truncated one only adds to them.
    #[serde(default)]
    pub complete: bool,
    /// Whether the rows follow from other tables of the report, such as interfaces that only neighbors show.
    ///
    /// Such rows describe a host that has no others of this kind. They never replace rows, and are never complete.
    #[serde(default, skip_serializing_if = "is_false")]
    pub derived: bool,
    /// Whether the device still has the rows of the latest complete report of the table, as it shows without them being read.
    ///
    /// All that the known table has counts as seen, and nothing changes. The rows, if there are any, serve to recognize the
    /// device only. Such a table is never complete.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unchanged: bool,
    /// The only family of addresses that was asked for. `None`: both.
    ///
    /// A complete table replaces the known rows of this family, and adds to the others. It counts for neighbor caches and
    /// routes; of other tables it is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<AddressFamily>,
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
        Box::new(Self { complete: true, derived: false, unchanged: false, family: None, rows })
    }

    /// Creates a table that may lack rows.
    #[must_use]
    pub fn truncated(rows: Vec<T>) -> Box<Self> {
        Box::new(Self { complete: false, derived: false, unchanged: false, family: None, rows })
    }

    /// Creates a table that has all rows if it is complete.
    pub(in crate::discovery) fn of(rows: Vec<T>, complete: bool) -> Box<Self> {
        Box::new(Self { complete, derived: false, unchanged: false, family: None, rows })
    }

    /// Creates a table of rows that follow from other tables.
    #[must_use]
    pub fn derived(rows: Vec<T>) -> Box<Self> {
        Box::new(Self { complete: false, derived: true, unchanged: false, family: None, rows })
    }

    /// Creates a table that is as in the latest complete report of it. The rows serve to recognize the device only.
    #[must_use]
    pub fn unchanged(rows: Vec<T>) -> Box<Self> {
        Box::new(Self { complete: false, derived: false, unchanged: true, family: None, rows })
    }

    /// Limits the table to a family of addresses; `None`: to neither.
    #[must_use]
    pub fn limited_to(mut self: Box<Self>, family: Option<AddressFamily>) -> Box<Self> {
        self.family = family;
        self
    }

    /// Returns the rows, or none if the table is unchanged.
    pub(in crate::discovery) fn read_rows(&self) -> &[T] {
        if self.unchanged { &[] } else { &self.rows }
    }
}

fn summary<T>(kind: TableKind, table: Option<&Table<T>>) -> Option<TableSummary> {
    table.map(|table| TableSummary {
        kind,
        rows: table.rows.len(),
        complete: table.complete && !table.unchanged,
        unchanged: table.unchanged,
    })
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
    /// Whether the table is as in the latest complete report of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unchanged: bool,
}

/// Calls a macro with the list of all kinds of tables. A new kind is a line here, and a type of rows.
///
/// A line has the field of [`Tables`], the variant of [`TableKind`] with the type of the rows, and the text of the
/// kind. The documentation applies to field and variant; attributes in brackets belong to the field alone. Further
/// arguments are passed on, in brackets before the list.
macro_rules! tables {
    ($callback:ident $($argument:tt)*) => {
        $callback! {
            [$($argument)*]
            /// The SNMP interface table.
            [doc = "At most 100,000 rows are deserialized.", serde(deserialize_with = "super::lists::if_entries")]
            if_entries: IfEntries(IfEntryRow) = "if_entries",
            /// The device's own addresses.
            addresses: Addresses(AddressRow) = "addresses",
            /// Neighbors by LLDP.
            lldp: Lldp(LldpRow) = "lldp",
            /// Neighbors by CDP.
            cdp: Cdp(CdpRow) = "cdp",
            /// The forwarding database.
            fdb: Fdb(FdbRow) = "fdb",
            /// The ARP cache, and the IPv6 neighbor cache.
            arp: Arp(ArpRow) = "arp",
            /// The spanning tree's ports.
            stp: Stp(StpRow) = "stp",
            /// Members of link aggregation groups.
            lag: Lag(LagRow) = "lag",
            /// Open ports.
            ports: Ports(PortRow) = "ports",
            /// The routing table.
            [doc = "At most 20,000 rows are deserialized.", serde(deserialize_with = "super::lists::routes")]
            routes: Routes(RouteRow) = "routes",
        }
    };
}

pub(crate) use tables;

/// Defines [`Tables`] and [`TableKind`].
macro_rules! define_tables {
    ([] $(
        $(#[$documentation:meta])*
        $([$($attribute:meta),*])?
        $field:ident: $kind:ident($row:ident) = $text:literal,
    )*) => {
        /// The tables of a device. `None`: the report says nothing about this kind.
        ///
        /// Tables are boxed, because most devices of a scan have one or two of them.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
        #[serde(default)]
        #[non_exhaustive]
        pub struct Tables {
            $(
                $(#[$documentation])*
                $($(#[$attribute])*)?
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<Box<Table<$row>>>,
            )*
        }

        impl Tables {
            /// Returns kind, length and completeness of each table that is present.
            #[must_use]
            pub fn summaries(&self) -> Vec<TableSummary> {
                let all = [$(summary(TableKind::$kind, self.$field.as_deref())),*];
                all.into_iter().flatten().collect()
            }

            /// Returns the kinds of the tables that are as in the latest complete report of them.
            #[must_use]
            pub fn unchanged(&self) -> Vec<TableKind> {
                self.summaries().iter().filter(|table| table.unchanged).map(|table| table.kind).collect()
            }
        }

        text_enum! {
            /// The kind of a table's rows.
            #[derive(PartialOrd, Ord)]
            #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
            #[non_exhaustive]
            pub enum TableKind {
                $($(#[$documentation])* $kind = $text,)*
            }

            /// The error for text that names no kind of table.
            #[error("not a kind of table")]
            pub struct TableKindError;
        }
    };
}

tables!(define_tables);
