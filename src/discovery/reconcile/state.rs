//! The state that discovery stores beside a host's document, such as the times of its parts' latest reports.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::merge::edits::note_given;
use crate::discovery::report::TableKind;
use crate::model::{Age, Common, Custom, Host, HostPart, Source, Timestamp, for_each_part_type};
use crate::without_none;

/// The number of consecutive complete tables without a part after which the part is stale. Parts are interfaces, ports
/// and other embedded records.
pub const STALE_AFTER: u32 = 3;

/// A day, in microseconds.
const DAY_MICROS: i64 = 24 * 3_600_000_000;

/// The state of a host that discovery remembers.
///
/// It consists of the document that discovery wrote, the edits of users, and the times at which parts were seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HostState {
    /// The host as discovery last wrote it. Differences in the stored host are changes by users.
    ///
    /// It has no custom fields, which discovery does not write: those of users are stored in the host alone.
    /// Its JSON has no empty fields.
    #[serde(serialize_with = "without_none::serialize")]
    pub baseline: Host,
    /// The paths of the fields that users have changed, such as `sys_location` and `if_entries.<id>.if_alias`.
    #[serde(default)]
    pub edited: BTreeSet<String>,
    /// The discovered parts that users have deleted, such as `interfaces.192.0.2.7` and `ports.443/Tcp`.
    #[serde(default)]
    pub deleted: BTreeSet<String>,
    /// When each kind of table was observed last, by its name. The name `device` stands for the device itself.
    #[serde(default)]
    pub observed: BTreeMap<String, Observed>,
    /// When each discovered part was seen last, by its id.
    #[serde(default)]
    pub seen: BTreeMap<Uuid, Seen>,
    /// When values were observed that are older than the latest report of their table or part, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, Timestamp>,
    /// Whether the chassis id is a MAC address that the device does not announce as its chassis id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_derived_chassis: bool,
}

/// When a table of a device was observed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Observed {
    /// The time of the latest report that has the table.
    pub at: Timestamp,
    /// The time of the latest report that has the table complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_at: Option<Timestamp>,
}

/// When a part of a host was seen last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Seen {
    /// The time of the latest report that shows the part.
    pub last_seen_at: Timestamp,
    /// The number of complete tables since then that lack the part.
    #[serde(default)]
    pub missed: u32,
}

impl HostState {
    /// Creates the state of a host that discovery has not written yet.
    ///
    /// Values that are set in a host with the source `Manual` count as edited by a user; values of other hosts do not.
    #[must_use]
    pub fn of_host(host: &Host) -> Self {
        let mut state = Self {
            baseline: Host { custom: Custom::new(), ..host.clone() },
            edited: BTreeSet::new(),
            deleted: BTreeSet::new(),
            observed: BTreeMap::new(),
            seen: BTreeMap::new(),
            kept: BTreeMap::new(),
            has_derived_chassis: false,
        };
        if host.source == Source::Manual {
            note_given(&mut state, host);
        }
        state
    }

    /// Notes the host as discovery writes it.
    pub(super) fn set_baseline(&mut self, host: &Host) {
        self.baseline.clone_from(host);
        self.baseline.custom.clear();
    }

    /// Returns whether a table of interfaces has described the host's interface entries.
    #[must_use]
    pub fn has_interface_table(&self) -> bool {
        self.observed.contains_key(TableKind::IfEntries.as_str())
    }

    /// Returns the time of the latest report of the host; `None` before the first.
    #[must_use]
    pub fn last_seen_at(&self) -> Option<Timestamp> {
        self.observed.values().map(|observed| observed.at).max()
    }

    /// Returns the ids of the stale parts. At least [`STALE_AFTER`] complete tables in a row lack them.
    pub fn stale(&self) -> impl Iterator<Item = Uuid> + '_ {
        self.seen.iter().filter(|(_, seen)| seen.missed >= STALE_AFTER).map(|(id, _)| *id)
    }

    /// Returns whether a user has changed the field with this path.
    #[must_use]
    pub fn is_edited(&self, path: &str) -> bool {
        self.edited.contains(path)
    }
}

/// Sets when reports last showed a host and its parts, and whether they still do. Returns whether the host changes.
///
/// Times are rounded down to the hour, so that a host changes at most once an hour because of them. A part is stale once
/// [`STALE_AFTER`] complete tables in a row lack it. A host is stale while all its parts that reports have shown are
/// stale. A host that is stale for another reason stays so until a later report shows it.
///
/// `state` is the state of the host. It takes the times as well, so that they do not count as edits.
pub(crate) fn set_ages(host: &mut Host, state: &mut HostState) -> bool {
    let last_seen_at = state.last_seen_at().map(Timestamp::start_of_hour);
    let is_unseen_since = host.is_stale && host.last_seen_at == last_seen_at;
    let has_parts = !state.seen.is_empty();
    let is_stale = has_parts && state.seen.values().all(is_missed);
    let is_stale = is_stale || is_unseen_since;
    let HostState { baseline, seen, .. } = state;
    let mut is_changed = false;
    for copy in [baseline, host] {
        is_changed = set(&mut copy.last_seen_at, last_seen_at) | set(&mut copy.is_stale, is_stale);
        for_each_part_type!(P => is_changed |= set_parts::<P>(copy, seen));
    }
    is_changed
}

/// Returns whether the host shows all that is stale, and no time that is more than a day before the latest report.
///
/// The times of a device whose tables are unchanged are written once a day only.
pub(crate) fn has_recent_ages(host: &Host, state: &HostState) -> bool {
    let since = state.last_seen_at().map(|at| at.plus_micros(-DAY_MICROS));
    let is_stale = |id: Uuid| state.seen.get(&id).is_some_and(is_missed);
    let mut is_recent = !host.is_stale && host.last_seen_at >= since;
    for_each_part_type!(P => is_recent &= P::list(host).iter().all(|part| {
        let common = part.common();
        common.age.is_stale == is_stale(common.id)
    }));
    is_recent
}

const fn is_missed(seen: &Seen) -> bool {
    seen.missed >= STALE_AFTER
}

fn set_parts<P: HostPart>(host: &mut Host, seen: &BTreeMap<Uuid, Seen>) -> bool {
    let mut is_changed = false;
    for part in P::list_mut(host) {
        let common = part.common();
        let seen = seen.get(&common.id);
        let last_seen_at = seen.map(|seen| seen.last_seen_at.start_of_hour());
        let age = Age { last_seen_at, is_stale: seen.is_some_and(is_missed) };
        is_changed |= common.age != age;
        part.set_common(Common { age, ..common });
    }
    is_changed
}

fn set<T: PartialEq>(value: &mut T, new: T) -> bool {
    let is_changed = *value != new;
    *value = new;
    is_changed
}
