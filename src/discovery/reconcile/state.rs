//! The state of a host that discovery remembers beside the host's document.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::merge::edits::note_given;
use crate::discovery::report::TableKind;
use crate::model::{Custom, Host, Source, Timestamp};
use crate::without_none;

/// The number of consecutive complete tables without a part after which the part is stale. Parts are interfaces, ports
/// and other embedded records.
pub const STALE_AFTER: u32 = 3;

/// The state of a host that discovery remembers.
///
/// It consists of the document that discovery wrote, the edits of users, and the times at which parts were seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HostState {
    /// The host as discovery wrote it last. Differences in the stored host are changes by users.
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
    /// What is set in a host with the source `Manual` counts as edited by a user, and the contents of others do not.
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
