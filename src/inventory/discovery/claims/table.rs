//! Claims as stored: a table, when its rows were observed, and the next state of it after a report.

use serde::{Deserialize, Serialize};

use super::claimed_of_device;
use super::families::TimesByFamily;
use super::rows::{ClaimRow, Layer, join};
use crate::discovery::claim::with_rows;
use crate::discovery::report::{AddressFamily, ArpRow, Reporter, Table, Tables};
use crate::discovery::{ClaimRows, MissingRows};
use crate::model::Timestamp;

/// A claim without its host: the rows of a table as observed at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::inventory::discovery) struct ClaimedTable {
    /// When the latest of the rows were observed.
    pub(in crate::inventory::discovery) observed_at: Timestamp,
    pub(in crate::inventory::discovery) complete: bool,
    pub(in crate::inventory::discovery) reporter: Reporter,
    pub(in crate::inventory::discovery) table: ClaimRows,
    /// When the latest complete table was observed, if that is the same for both families of addresses. Older rows do not
    /// count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    complete_at: Option<Timestamp>,
    /// The times of each family of addresses, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    families: Option<TimesByFamily>,
    /// Whether the rows follow from other tables, so that every other table of the kind replaces them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    derived: bool,
    /// The rows that were observed earlier than the latest: their places, in ascending order, and times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<(usize, Timestamp)>,
    /// Rows that complete tables no longer have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::inventory::discovery) missing: Vec<MissingRows>,
}

/// Returns an iterator that makes a claim of each table of a device.
pub(in crate::inventory::discovery) fn claimed_tables<'t>(
    tables: &'t Tables,
    observed_at: Timestamp,
    reporter: &'t Reporter,
) -> impl Iterator<Item = ClaimedTable> + 't {
    claimed_of_device(tables).map(move |ReportedTable { family, complete, derived, table }| {
        let families =
            with_rows!(&table, rows => TimesByFamily::of_table((family, complete), rows, observed_at));
        let claimed = ClaimedTable {
            observed_at,
            // Rows of another family than the one that was asked for may not be all.
            complete: complete && families.are_complete(),
            reporter: reporter.clone(),
            table,
            complete_at: None,
            families: None,
            derived,
            earlier: Vec::new(),
            missing: Vec::new(),
        };
        claimed.with_families(families)
    })
}

/// A table as a device reports it, with its rows by subject.
pub(super) struct ReportedTable {
    family: Option<AddressFamily>,
    complete: bool,
    derived: bool,
    table: ClaimRows,
}

/// Returns a table as it is reported; `None`: it was not read.
pub(super) fn claimed<R: ClaimRow>(table: Option<&Table<R>>) -> Option<ReportedTable> {
    let table = table.filter(|table| !table.unchanged)?;
    let rows = join(&[Layer { rows: &table.rows, at: Timestamp::UNIX_EPOCH, earlier: &[] }], None);
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    Some(ReportedTable {
        family: table.family.filter(|_| R::HAS_FAMILIES),
        complete: table.complete && !table.derived,
        derived: table.derived,
        table: R::into_table(rows),
    })
}

impl ClaimedTable {
    /// Returns the rows of a neighbor cache, with those that are missing by now. Other tables have none.
    pub(in crate::inventory::discovery) fn arp_rows(&self) -> impl Iterator<Item = &ArpRow> {
        let tables = std::iter::once(&self.table).chain(self.missing.iter().map(|group| &group.rows));
        tables.flat_map(|table| match table {
            ClaimRows::Arp(rows) => rows.as_slice(),
            _ => &[],
        })
    }

    /// Returns the stored table after this report of it; `None`: it stays as it is.
    ///
    /// The result does not depend on the order of reports. The latest rows about a subject count. A complete table
    /// removes older rows of its families of addresses. Rows that were observed at one time are joined.
    pub(in crate::inventory::discovery) fn after(self, stored: &Self) -> Option<Self> {
        if self == *stored {
            return None;
        }
        // The rows of an older table that arrives late count as missing if the later table lacks them.
        let late = (self.observed_at < stored.observed_at).then(|| self.clone());
        // A table that is limited to a family leaves the rows of the other one.
        let is_whole = self.complete && self.families.is_none();
        let replaces = is_whole && self.observed_at > stored.observed_at;
        let mut after = if replaces { self } else { self.joined(stored.clone()) };
        after.missing = stored.missing_after(&after, &[]);
        if let Some(late) = late {
            let missing = late.missing_after(&after, &after.missing);
            after.missing.extend(missing);
        }
        let is_same = after.observed_at == stored.observed_at
            && after.complete == stored.complete
            && after.families() == stored.families()
            && after.derived == stored.derived
            && after.earlier == stored.earlier
            && after.table == stored.table
            && after.missing == stored.missing;
        (!is_same).then_some(after)
    }

    /// Returns the stored table after a report that has it as unchanged; `None`: it stays as it is.
    pub(in crate::inventory::discovery) fn seen_again(
        &self,
        observed_at: Timestamp,
        reporter: &Reporter,
    ) -> Option<Self> {
        let is_later = self.complete && !self.derived && self.observed_at < observed_at;
        is_later.then(|| {
            // All rows were seen, also those of a family that an earlier report was about.
            let again = Self { observed_at, reporter: reporter.clone(), earlier: Vec::new(), ..self.clone() };
            again.with_families(self.families().seen_again(observed_at))
        })
    }

    /// Returns a claim of the rows that have been removed from this one, with their times.
    ///
    /// `moves` states for each former row whether it was removed.
    pub(in crate::inventory::discovery) fn divided(&mut self, table: ClaimRows, moves: &[bool]) -> Self {
        let mut places = [0, 0];
        let mut earlier = [Vec::new(), Vec::new()];
        let mut times = std::mem::take(&mut self.earlier).into_iter().peekable();
        for (former, moves) in moves.iter().enumerate() {
            let ([kept, moved], [kept_place, moved_place]) = (&mut earlier, &mut places);
            let (list, place) = if *moves { (moved, moved_place) } else { (kept, kept_place) };
            list.extend(times.next_if(|(place, _)| *place == former).map(|(_, at)| (*place, at)));
            *place += 1;
        }
        let [kept, moved] = earlier;
        self.earlier = kept;
        // Missing rows stay with the host that reported them.
        Self { table, earlier: moved, missing: Vec::new(), reporter: self.reporter.clone(), ..*self }
    }

    /// Joins two tables of a kind, in any order.
    pub(in crate::inventory::discovery) fn joined(self, other: Self) -> Self {
        if self.derived != other.derived {
            return if self.derived { other } else { self };
        }
        let newest = (self.observed_at, &self.reporter.name, &self.reporter.version)
            >= (other.observed_at, &other.reporter.name, &other.reporter.version);
        let reporter = if newest { self.reporter.clone() } else { other.reporter.clone() };
        let observed_at = self.observed_at.max(other.observed_at);
        let families = self.families().joined(&other.families());
        let (table, times) = self.rows_with(&other, &families);
        let is_earlier = |(place, at): (usize, Timestamp)| (at != observed_at).then_some((place, at));
        let earlier = times.into_iter().enumerate().filter_map(is_earlier).collect();
        let derived = self.derived;
        let (newer, older) = if newest { (self, other) } else { (other, self) };
        let joined = Self {
            observed_at,
            complete: families.are_complete(),
            reporter,
            table,
            complete_at: None,
            families: None,
            derived,
            earlier,
            missing: newer.missing,
        };
        let joined = joined.with_families(families);
        let mut missing = joined.missing_after(&joined, &[]);
        missing.extend(Self { missing: older.missing, ..joined.clone() }.missing_after(&joined, &missing));
        Self { missing, ..joined }
    }

    /// Returns the only family of addresses that was reported; `None`: both were.
    pub(in crate::inventory::discovery) fn family(&self) -> Option<AddressFamily> {
        self.families().only()
    }

    /// Returns the times of each family of addresses.
    pub(super) fn families(&self) -> TimesByFamily {
        let complete_at = || self.complete_at.or_else(|| self.complete.then_some(self.observed_at));
        self.families.unwrap_or_else(|| TimesByFamily::both(self.observed_at, complete_at()))
    }

    fn with_families(self, families: TimesByFamily) -> Self {
        let (complete_at, families) = match families.of_both() {
            Some(times) => (times.complete_at(), None),
            None => (None, Some(families)),
        };
        Self { complete_at, families, ..self }
    }

    /// Returns the rows of both tables that count, and when each was observed.
    fn rows_with(&self, other: &Self, families: &TimesByFamily) -> (ClaimRows, Vec<Timestamp>) {
        with_rows!(&self.table, rows => self.join_rows(rows, other, families))
    }

    fn join_rows<R: ClaimRow>(
        &self,
        own_rows: &[R],
        other: &Self,
        families: &TimesByFamily,
    ) -> (ClaimRows, Vec<Timestamp>) {
        let Some(other_rows) = R::rows_of(&other.table) else {
            debug_assert!(false, "tables of different kinds are never joined");
            return (self.table.clone(), vec![self.observed_at; own_rows.len()]);
        };
        let own = Layer { rows: own_rows, at: self.observed_at, earlier: &self.earlier };
        let other = Layer { rows: other_rows, at: other.observed_at, earlier: &other.earlier };
        let (times, rows) = join(&[own, other], Some(families)).into_iter().unzip();
        (R::into_table(rows), times)
    }
}
