//! The lists in the JSON of reports, which are bounded while they are read.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::{AddressFamily, Device, IfEntryRow, MAX_ROUTES, RouteRow, Table, Warning};
use crate::fair_threads::yield_turn;

/// Maximum number of devices of a report.
const MAX_DEVICES: usize = 100_000;

/// Maximum number of rows of a report. Devices count as rows.
const MAX_ROWS: usize = 1_000_000;

/// Maximum number of rows of a table.
const MAX_TABLE_ROWS: usize = 500_000;

/// Maximum number of interface entries of a device. They are the largest rows.
const MAX_IF_ENTRIES: usize = 100_000;

/// Maximum number of warnings of a report, of which there should be one for each code.
const MAX_WARNINGS: usize = 1_000;

/// Deserializes the devices of a report.
pub(super) fn devices<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Device>, D::Error> {
    let rows_of = |device: &Device| {
        let tables = device.tables.summaries();
        tables.iter().fold(1, |rows: usize, table| rows.saturating_add(table.rows))
    };
    deserializer.deserialize_seq(List { name: "devices", max: MAX_DEVICES, rows_of, item: PhantomData })
}

/// Deserializes the rows of a table.
pub(super) fn rows<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    list(deserializer, "rows", MAX_TABLE_ROWS)
}

/// Deserializes the interface entries of a device.
pub(super) fn if_entries<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<Table<IfEntryRow>>>, D::Error> {
    /// A table with fewer rows than others may have.
    #[derive(serde::Deserialize)]
    struct Entries {
        #[serde(default)]
        complete: bool,
        #[serde(default)]
        derived: bool,
        #[serde(default)]
        unchanged: bool,
        #[serde(default)]
        family: Option<AddressFamily>,
        #[serde(deserialize_with = "entries")]
        rows: Vec<IfEntryRow>,
    }

    fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IfEntryRow>, D::Error> {
        list(deserializer, "interface entries", MAX_IF_ENTRIES)
    }

    let table: Option<Entries> = Option::deserialize(deserializer)?;
    let boxed = |Entries { complete, derived, unchanged, family, rows }| {
        Box::new(Table { complete, derived, unchanged, family, rows })
    };
    Ok(table.map(boxed))
}

/// Deserializes the routing table of a device.
pub(super) fn routes<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<Table<RouteRow>>>, D::Error> {
    let table: Option<Box<Table<RouteRow>>> = Option::deserialize(deserializer)?;
    if table.as_ref().is_some_and(|table| table.rows.len() > MAX_ROUTES) {
        return Err(de::Error::custom(format!("more than {MAX_ROUTES} routes")));
    }
    Ok(table)
}

/// Deserializes the warnings of a report.
pub(super) fn warnings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Warning>, D::Error> {
    list(deserializer, "warnings", MAX_WARNINGS)
}

fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    name: &'static str,
    max: usize,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(List { name, max, rows_of: |_: &T| 0, item: PhantomData })
}

/// A list of bounded length, whose items together have a bounded number of rows.
struct List<T, F> {
    name: &'static str,
    max: usize,
    rows_of: F,
    item: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, F: Fn(&T) -> usize> Visitor<'de> for List<T, F> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of {}", self.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let (mut items, mut rows) = (Vec::new(), 0_usize);
        while let Some(item) = list.next_element()? {
            yield_turn();
            if items.len() >= self.max {
                return Err(de::Error::custom(format_args!("more than {} {}", self.max, self.name)));
            }
            rows = rows.saturating_add((self.rows_of)(&item));
            if rows > MAX_ROWS {
                return Err(de::Error::custom(format_args!("more than {MAX_ROWS} rows")));
            }
            items.push(item);
        }
        Ok(items)
    }
}
