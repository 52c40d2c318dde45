//! Interface entries that lose their index, or that only followed from other tables.

use std::collections::{HashMap, HashSet};

use super::Merge;
use super::plan::Planned;
use crate::model::{IfEntry, IfEntryId};

/// Returns whether a table of neighbors describes a port.
pub(super) const fn is_described(entry: &IfEntry) -> bool {
    entry.lldp_chassis_id.is_some() || entry.cdp_device_id.is_some()
}

impl Merge<'_> {
    /// Removes the entries that followed from other tables, and that the first table of interfaces lacks.
    ///
    /// A port with a neighbor stays, without an index.
    pub(super) fn drop_derived(&mut self, reported: &HashSet<IfEntryId>) {
        let mut entries = std::mem::take(&mut self.host.if_entries);
        let before = entries.len();
        let aggregates: HashSet<IfEntryId> = entries.iter().filter_map(|entry| entry.lag_id).collect();
        entries.retain_mut(|entry| {
            let prefix = format!("if_entries.{}.", entry.id);
            let is_edited = self
                .state
                .edited
                .range(prefix.clone()..)
                .next()
                .is_some_and(|path| path.starts_with(&prefix));
            if reported.contains(&entry.id)
                || is_edited
                || aggregates.contains(&entry.id)
                || entry.lag_id.is_some()
            {
                return true;
            }
            if is_described(entry) {
                entry.if_index = 0;
                return true;
            }
            self.state.seen.remove(&entry.id.uuid());
            false
        });
        self.is_changed |= entries.len() < before;
        self.host.if_entries = entries;
    }

    /// Clears the name of each port that a neighbor's row has named by what the report knows as its description.
    ///
    /// The report's name then takes its place, as if the report had come first.
    pub(super) fn withdraw_descriptions(&mut self, planned: &Planned<IfEntry>) {
        for (part, place) in planned.iter() {
            if let Some(present) = place.and_then(|place| self.host.if_entries.get_mut(place))
                && present.if_descr.is_empty()
                && part.if_name != present.if_name
                && present.if_name.as_ref() == Some(&part.if_descr)
                && !self.state.is_edited(&format!("if_entries.{}.if_name", present.id))
            {
                present.if_name = None;
            }
        }
    }

    /// Clears the index of each port if the report gives it to another port.
    pub(super) fn withdraw_indexes(&mut self, indexes: &HashMap<i64, IfEntryId>) {
        let mut entries = std::mem::take(&mut self.host.if_entries);
        for entry in &mut entries {
            let path = format!("if_entries.{}.if_index", entry.id);
            let is_withdrawn = entry.if_index != 0
                && indexes.get(&entry.if_index).is_some_and(|id| *id != entry.id)
                && !self.state.is_edited(&path);
            if is_withdrawn {
                entry.if_index = 0;
                entry.updated_at = self.now;
                self.note_change(path);
            }
        }
        self.host.if_entries = entries;
    }
}
