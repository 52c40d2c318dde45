//! The merge of interface entries.
//!
//! It pairs reported entries with those of a host, and removes indexes and entries that followed from other tables.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::Merge;
use super::parts::{EntryRules, pairs};
use super::plan::IdentifiedParts;
use crate::discovery::reconcile::PortNames;
use crate::discovery::reconcile::neighbors::ports::SwitchPorts;
use crate::model::{Host, IfEntry, IfEntryId};

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

    /// Clears the name of each port that a neighbor's row has named by the text that the report has as its description.
    ///
    /// The report's name then takes its place, as if the report had come first.
    pub(super) fn withdraw_descriptions(&mut self, planned: &IdentifiedParts<IfEntry>) {
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

/// Returns for each entry of the report the position of the same entry of the host.
///
/// Entries are paired by name, description and index. An index that does not come from a table of interfaces counts only
/// for entries without a name. Such entries are also paired by other forms of their names.
pub(super) fn pair_entries(reported: &Host, current: &Host, rules: EntryRules<'_>) -> Vec<Option<usize>> {
    let by_key = |reported: &Host, current: &Host| pairs::<IfEntry>(reported, current, false);
    let (left, right) = (trusted(reported, rules.trusts_reported), trusted(current, rules.trusts_current));
    let mut found = by_key(&left, &right);
    let mut is_taken = vec![false; current.if_entries.len()];
    for place in found.iter().flatten() {
        take(&mut is_taken, *place);
    }
    if found.contains(&None) && is_taken.contains(&false) {
        pair_loose_reported(&mut found, &mut is_taken, (&left, current), rules.port_names);
        pair_loose_current(&mut found, &mut is_taken, (reported, &right), rules.port_names);
    }
    found
}

/// Removes the indexes of entries with names, unless they are trusted.
fn trusted(host: &Host, is_trusted: bool) -> Cow<'_, Host> {
    if is_trusted {
        return Cow::Borrowed(host);
    }
    let mut host = host.clone();
    for entry in host.if_entries.iter_mut().filter(|entry| name(entry).is_some()) {
        entry.if_index = 0;
    }
    Cow::Owned(host)
}

fn name(entry: &IfEntry) -> Option<&str> {
    let name = entry.if_name.as_deref().filter(|name| !name.is_empty());
    name.or_else(|| Some(entry.if_descr.as_str()).filter(|text| !text.is_empty()))
}

/// Pairs the reported entries without an index.
fn pair_loose_reported(
    found: &mut [Option<usize>],
    is_taken: &mut [bool],
    (reported, current): (&Host, &Host),
    port_names: &PortNames,
) {
    let mut ports = None;
    for (entry, pair) in reported.if_entries.iter().zip(found) {
        if pair.is_some() || entry.if_index != 0 {
            continue;
        }
        let ports = ports.get_or_insert_with(|| SwitchPorts::new(current, &[], port_names));
        let place = name(entry).and_then(|name| ports.of_lldp(None, Some(name)));
        if let Some(place) = place.filter(|place| is_taken.get(*place) == Some(&false)) {
            *pair = Some(place);
            take(is_taken, place);
        }
    }
}

/// Pairs the host's entries without an index.
fn pair_loose_current(
    found: &mut [Option<usize>],
    is_taken: &mut [bool],
    (reported, current): (&Host, &Host),
    port_names: &PortNames,
) {
    let mut ports = None;
    for (place, entry) in current.if_entries.iter().enumerate() {
        if is_taken.get(place) != Some(&false) || entry.if_index != 0 {
            continue;
        }
        let ports = ports.get_or_insert_with(|| SwitchPorts::new(reported, &[], port_names));
        let partner = name(entry).and_then(|name| ports.of_lldp(None, Some(name)));
        if let Some(pair) = partner.and_then(|partner| found.get_mut(partner)).filter(|pair| pair.is_none()) {
            *pair = Some(place);
            take(is_taken, place);
        }
    }
}

fn take(is_taken: &mut [bool], place: usize) {
    if let Some(is_taken) = is_taken.get_mut(place) {
        *is_taken = true;
    }
}
