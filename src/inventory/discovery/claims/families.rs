//! When the rows of each family of addresses were observed.
//!
//! Most commands print the neighbors or routes of one family, so that a complete table replaces those of one family only.

use serde::{Deserialize, Serialize};

use super::ClaimRow;
use crate::discovery::report::AddressFamily;
use crate::model::Timestamp;

/// When the rows of one family were observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::inventory::discovery) struct FamilyTimes {
    /// When the latest of the rows were observed; `None`: no report was about the family.
    observed_at: Option<Timestamp>,
    /// When the latest complete table was observed. Older rows do not count.
    complete_at: Option<Timestamp>,
}

impl FamilyTimes {
    pub(super) const fn complete_at(self) -> Option<Timestamp> {
        self.complete_at
    }

    /// Returns whether the latest report about the family has all of its rows.
    fn is_complete(self) -> bool {
        self.observed_at.is_some() && self.complete_at == self.observed_at
    }

    fn joined(self, other: Self) -> Self {
        Self {
            observed_at: self.observed_at.max(other.observed_at),
            complete_at: self.complete_at.max(other.complete_at),
        }
    }
}

/// The rows of a table that a later one replaces.
pub(super) struct Replaced {
    /// The family of the rows; `None`: all rows.
    pub(super) family: Option<AddressFamily>,
    /// When the rows were observed, and when the complete table was that replaces them; `None`: they stay.
    pub(super) times: Option<(Timestamp, Timestamp)>,
}

/// The times of both families. Rows without an address are of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::inventory::discovery) struct TimesByFamily {
    ipv4: FamilyTimes,
    ipv6: FamilyTimes,
}

impl TimesByFamily {
    /// Returns the times of a table of both families.
    pub(super) const fn both(observed_at: Timestamp, complete_at: Option<Timestamp>) -> Self {
        let times = FamilyTimes { observed_at: Some(observed_at), complete_at };
        Self { ipv4: times, ipv6: times }
    }

    /// Returns the times of a table that is limited to a family. Rows of the other one only add to it.
    pub(super) fn of_table<R: ClaimRow>(
        (family, complete): (Option<AddressFamily>, bool),
        rows: &[R],
        at: Timestamp,
    ) -> Self {
        let times = |wanted: AddressFamily| {
            let is_asked = family.is_none_or(|family| family == wanted);
            let has_rows = || rows.iter().any(|row| row.family() == Some(wanted));
            FamilyTimes {
                observed_at: (is_asked || has_rows()).then_some(at),
                complete_at: (is_asked && complete).then_some(at),
            }
        };
        Self { ipv4: times(AddressFamily::Ipv4), ipv6: times(AddressFamily::Ipv6) }
    }

    const fn of(&self, family: AddressFamily) -> FamilyTimes {
        match family {
            AddressFamily::Ipv4 => self.ipv4,
            AddressFamily::Ipv6 => self.ipv6,
        }
    }

    fn all(&self) -> impl Iterator<Item = FamilyTimes> {
        [self.ipv4, self.ipv6].into_iter()
    }

    /// Returns the times of both families if they are equal.
    pub(super) fn of_both(&self) -> Option<FamilyTimes> {
        (self.ipv4 == self.ipv6).then_some(self.ipv4)
    }

    /// Returns whether these are all rows of the families that were reported.
    pub(super) fn are_complete(&self) -> bool {
        self.all().all(|times| times.observed_at.is_none() || times.is_complete())
    }

    /// Returns the only family that was reported; `None`: both were.
    pub(super) fn only(&self) -> Option<AddressFamily> {
        match (self.ipv4.observed_at, self.ipv6.observed_at) {
            (Some(_), None) => Some(AddressFamily::Ipv4),
            (None, Some(_)) => Some(AddressFamily::Ipv6),
            _ => None,
        }
    }

    /// Returns the time since which rows like this one count.
    pub(super) fn since<R: ClaimRow>(&self, row: &R) -> Option<Timestamp> {
        // Without a family, the times of both are equal.
        self.of(row.family().unwrap_or(AddressFamily::Ipv4)).complete_at
    }

    /// Returns which rows a later table replaces: of both families alike, or of each.
    pub(super) fn replaced_by(&self, later: &Self) -> Vec<Replaced> {
        let of = |family: AddressFamily| {
            let (before, after) = (self.of(family), later.of(family));
            let times = before.observed_at.zip(after.observed_at.filter(|_| after.is_complete()));
            Replaced { family: Some(family), times: times.filter(|(seen, since)| seen < since) }
        };
        let [ipv4, ipv6] = [AddressFamily::Ipv4, AddressFamily::Ipv6].map(of);
        if ipv4.times == ipv6.times { vec![Replaced { family: None, ..ipv4 }] } else { vec![ipv4, ipv6] }
    }

    pub(super) fn joined(&self, other: &Self) -> Self {
        Self { ipv4: self.ipv4.joined(other.ipv4), ipv6: self.ipv6.joined(other.ipv6) }
    }

    /// Returns the times after a report that all rows are as in the latest complete table.
    pub(super) fn seen_again(&self, at: Timestamp) -> Self {
        let again = |times: FamilyTimes| {
            let at = times.observed_at.map(|_| at);
            FamilyTimes { observed_at: at, complete_at: at }
        };
        Self { ipv4: again(self.ipv4), ipv6: again(self.ipv6) }
    }
}
