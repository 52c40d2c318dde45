//! Rows that complete tables no longer have.
//!
//! A device that a row describes may be switched off for a while. Its last known row stays beside the table, so that
//! links to the device are known until it is seen elsewhere.

use std::collections::HashSet;
use std::hash::Hash;
use std::net::IpAddr;

use super::families::Replaced;
use super::{ClaimRow, ClaimedTable, TableRow};
use crate::discovery::report::{AddressFamily, ArpRow, CdpRow, FdbRow, FdbStatus, LldpRow};
use crate::discovery::{ClaimRows, MissingRows};
use crate::model::MacAddress;

/// Maximum number of missing rows that are kept with a claim. The rows that were seen last are kept.
const MAX_ROWS: usize = 1_000;

/// A row about a subject at a port of the device, such as a neighbor.
trait Located: TableRow {
    /// The subject of the row.
    type Subject: Eq + Hash;

    /// Returns the subject of the row; `None` for a row that is not kept.
    fn subject(&self) -> Option<Self::Subject>;

    /// Returns the number and the name of the port.
    fn port(&self) -> (Option<i64>, Option<&str>);
}

impl Located for LldpRow {
    type Subject = String;

    fn subject(&self) -> Option<String> {
        Some(self.chassis_id.value.trim().to_lowercase())
    }

    fn port(&self) -> (Option<i64>, Option<&str>) {
        (self.if_index, self.if_name.as_deref())
    }
}

impl Located for CdpRow {
    type Subject = String;

    fn subject(&self) -> Option<String> {
        Some(self.device_id.trim().to_lowercase())
    }

    fn port(&self) -> (Option<i64>, Option<&str>) {
        (self.if_index, self.if_name.as_deref())
    }
}

impl Located for FdbRow {
    type Subject = MacAddress;

    fn subject(&self) -> Option<MacAddress> {
        let is_learned = matches!(self.status, None | Some(FdbStatus::Learned));
        is_learned.then_some(self.mac_address)
    }

    fn port(&self) -> (Option<i64>, Option<&str>) {
        (self.if_index.or(self.bridge_port), self.if_name.as_deref())
    }
}

impl Located for ArpRow {
    type Subject = IpAddr;

    fn subject(&self) -> Option<IpAddr> {
        Some(self.ip_address)
    }

    /// Many addresses are behind one port, so that a new one does not replace another.
    fn port(&self) -> (Option<i64>, Option<&str>) {
        (None, None)
    }
}

impl ClaimedTable {
    /// Returns the rows that are missing once another table replaces this one. Rows about subjects that are known to
    /// be missing are left out.
    pub(super) fn missing_after(&self, later: &Self, known: &[MissingRows]) -> Vec<MissingRows> {
        match &self.table {
            ClaimRows::Lldp(rows) => self.missing_of(rows, later, known),
            ClaimRows::Cdp(rows) => self.missing_of(rows, later, known),
            ClaimRows::Fdb(rows) => self.missing_of(rows, later, known),
            ClaimRows::Arp(rows) => self.missing_of(rows, later, known),
            ClaimRows::IfEntries(_)
            | ClaimRows::Addresses(_)
            | ClaimRows::Stp(_)
            | ClaimRows::Lag(_)
            | ClaimRows::Ports(_)
            | ClaimRows::Routes(_) => Vec::new(),
        }
    }

    fn missing_of<R: Located + ClaimRow>(
        &self,
        before: &[R],
        later: &Self,
        known: &[MissingRows],
    ) -> Vec<MissingRows> {
        let Some(now) = R::rows_of(&later.table) else { return Vec::new() };
        let former = self.missing.iter().filter_map(|group| R::rows_of(&group.rows)).flatten();
        let present = Present::new(before.iter().chain(former), now);
        let known = known.iter().filter_map(|group| R::rows_of(&group.rows)).flatten();
        let known: HashSet<<R as Located>::Subject> = known.filter_map(Located::subject).collect();
        let is_known = |row: &R| Located::subject(row).is_some_and(|subject| known.contains(&subject));
        let mut room = MAX_ROWS;
        let mut lacking = |rows: &[R], family: Option<AddressFamily>| {
            let is_lacking = |row: &&R| {
                family.is_none_or(|family| row.family() == Some(family))
                    && present.lacks(*row)
                    && !is_known(row)
            };
            let rows: Vec<R> = rows.iter().filter(is_lacking).take(room).cloned().collect();
            room = room.saturating_sub(rows.len());
            (!rows.is_empty()).then(|| R::into_table(rows))
        };
        let mut missing = Vec::new();
        let times = self.families().replaced_by(&later.families());
        for Replaced { family, times } in &times {
            let rows = times.and_then(|times| Some((lacking(before, *family)?, times)));
            missing.extend(rows.map(|(rows, (seen, since))| MissingRows::new(rows, seen, since)));
        }
        for group in &self.missing {
            let Some(rows) = R::rows_of(&group.rows) else { continue };
            for Replaced { family, times } in &times {
                let missed_scans = group.missed_scans.saturating_add(u32::from(times.is_some()));
                let rows = lacking(rows, *family);
                missing.extend(rows.map(|rows| MissingRows { missed_scans, rows, ..group.clone() }));
            }
        }
        missing
    }
}

/// The subjects of a table, and the ports where it has subjects that were unknown before.
struct Present<'r, S> {
    subjects: HashSet<S>,
    numbers: HashSet<i64>,
    names: HashSet<&'r str>,
}

impl<'r, S: Eq + Hash> Present<'r, S> {
    fn new<R: Located<Subject = S> + 'r>(before: impl Iterator<Item = &'r R>, now: &'r [R]) -> Self {
        let known: HashSet<S> = before.filter_map(Located::subject).collect();
        let is_new = |row: &&R| row.subject().is_some_and(|subject| !known.contains(&subject));
        let (mut numbers, mut names) = (HashSet::new(), HashSet::new());
        for row in now.iter().filter(is_new) {
            let (number, name) = row.port();
            numbers.extend(number);
            names.extend(name);
        }
        Self { subjects: now.iter().filter_map(Located::subject).collect(), numbers, names }
    }

    /// Returns whether the subject of an earlier row is seen nowhere, and its port sees no other.
    fn lacks<R: Located<Subject = S>>(&self, row: &R) -> bool {
        let (number, name) = row.port();
        row.subject().is_some_and(|subject| !self.subjects.contains(&subject))
            && number.is_none_or(|number| !self.numbers.contains(&number))
            && name.is_none_or(|name| !self.names.contains(name))
    }
}
