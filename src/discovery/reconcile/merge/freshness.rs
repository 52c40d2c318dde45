//! The age of a report relative to the stored state, by the times of tables and values.

use uuid::Uuid;

use super::{DEVICE, Merge};
use crate::discovery::reconcile::attributes::Origin;
use crate::discovery::report::TableKind;
use crate::model::Timestamp;

/// The age of a reported table relative to the one known so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// The report does not have the table.
    Absent,
    /// The table is the latest.
    Newer { complete: bool },
    /// The table was observed at the same time as the latest. `complete`: it is the first complete one of that time.
    Same { complete: bool },
    /// The table is not the latest. It may add unless a later one is complete.
    Older { may_add: bool },
}

impl Merge<'_> {
    /// Returns the age of a reported table relative to the known one. It stays the same during a merge.
    pub(super) fn freshness(&self, origin: Origin) -> Freshness {
        match origin {
            Origin::Derived => Freshness::Absent,
            Origin::Device => self.freshness_of_device,
            Origin::Table(kind) => self.freshness_of_tables.get(&kind).copied().unwrap_or(Freshness::Absent),
        }
    }

    /// Compares the times of all tables with those that are known.
    pub(super) fn compare_times(&mut self) {
        let compared = |kind: &TableKind| (*kind, self.compared(Origin::Table(*kind)));
        self.freshness_of_tables = TableKind::ALL.iter().map(compared).collect();
        self.freshness_of_device = self.compared(Origin::Device);
    }

    fn compared(&self, origin: Origin) -> Freshness {
        let (name, complete) = match origin {
            Origin::Derived => return Freshness::Absent,
            Origin::Device => (DEVICE, false),
            // Derived entries only fill a host that no table of interfaces has described.
            Origin::Table(TableKind::IfEntries) if self.projection.has_derived_entries => {
                let is_described = self.has_interface_table;
                return if is_described { Freshness::Absent } else { Freshness::Older { may_add: true } };
            }
            Origin::Table(kind) => match self.projection.tables.get(&kind) {
                Some(complete) => (kind.as_str(), *complete),
                None => return Freshness::Absent,
            },
        };
        match self.state.observed.get(name) {
            Some(observed) if observed.at == self.observed_at => {
                Freshness::Same { complete: complete && observed.complete_at < Some(self.observed_at) }
            }
            Some(observed) if observed.at > self.observed_at => Freshness::Older {
                may_add: observed.complete_at.is_none_or(|complete_at| complete_at <= self.observed_at),
            },
            _ => Freshness::Newer { complete },
        }
    }

    /// Returns when a stored value was observed; `None`: no report has its table.
    ///
    /// This is the time of the latest report of the table, or of the part, unless the value is noted to be older.
    pub(super) fn value_time(&self, place: &FieldPath) -> Option<Timestamp> {
        let kept = &self.state.kept;
        let noted = if kept.is_empty() { None } else { kept.get(&place.path()).copied() };
        noted.or_else(|| {
            let observed = self.observed_time(place)?;
            Some(self.seen_time(place).map_or(observed, |seen| seen.min(observed)))
        })
    }

    fn observed_time(&self, place: &FieldPath) -> Option<Timestamp> {
        let name = match place.origin {
            Origin::Device => DEVICE,
            Origin::Table(kind) => kind.as_str(),
            Origin::Derived => return None,
        };
        self.state.observed.get(name).map(|observed| observed.at)
    }

    fn seen_time(&self, place: &FieldPath) -> Option<Timestamp> {
        let (_, part, _) = place.part.filter(|(.., is_of_table)| *is_of_table)?;
        self.state.seen.get(&part).map(|seen| seen.last_seen_at)
    }

    /// Notes when a value was observed if the table or the part will appear later than it is.
    pub(super) fn keep_time(&mut self, place: &FieldPath, time: Timestamp) {
        let is_latest = !matches!(self.freshness(place.origin), Freshness::Older { .. });
        if self.state.kept.is_empty() && time == self.observed_at && is_latest {
            return;
        }
        let later =
            |known: Option<Timestamp>| known.map_or(self.observed_at, |known| known.max(self.observed_at));
        let observed = later(self.observed_time(place));
        let is_of_table = place.part.is_some_and(|(.., is_of_table)| is_of_table);
        let implied = if is_of_table { observed.min(later(self.seen_time(place))) } else { observed };
        if time < implied {
            self.state.kept.insert(place.path(), time);
        } else if !self.state.kept.is_empty() {
            self.state.kept.remove(&place.path());
        }
    }
}

/// The place of a value: a field of the host, or of one of its parts.
#[derive(Clone, Copy)]
pub(super) struct FieldPath {
    pub(super) field: &'static str,
    pub(super) origin: Origin,
    /// The list and the id of the part, and whether the value comes from the table that has the list.
    pub(super) part: Option<(&'static str, Uuid, bool)>,
}

impl FieldPath {
    pub(super) fn path(&self) -> String {
        match self.part {
            Some((list, id, _)) => format!("{list}.{id}.{}", self.field),
            None => self.field.to_owned(),
        }
    }
}
