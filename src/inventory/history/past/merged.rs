//! Several changes of one record, as one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::between::ChangeBetween;
use crate::inventory::history::recording::difference::CUSTOM_FIELDS;
use crate::model::{ChangeAction, FieldChange, NetworkId, ORDER, set};

/// The outcome of all changes of a record between two moments.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::inventory::history) enum Outcome {
    /// It is as it was, or was there only in between.
    Nothing,
    Added,
    Removed,
    /// Some fields differ.
    Changed(BTreeMap<String, FieldChange>),
    /// It was deleted and created again: the differences follow from the two states.
    Replaced,
    /// It may differ. Its fields are not known, because they would take too much memory.
    Unknown,
}

/// The changes of a record so far.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct MergedChanges {
    pub(in crate::inventory::history) name: String,
    pub(in crate::inventory::history) network_id: Option<NetworkId>,
    /// Whether the record was there before the first change.
    was_there: Option<bool>,
    is_there: bool,
    was_deleted: bool,
    /// Whether fields were left out.
    is_incomplete: bool,
    fields: BTreeMap<String, FieldChange>,
    /// About how much memory the name and the fields take.
    pub(in crate::inventory::history) bytes: usize,
}

impl MergedChanges {
    /// Adds the next change. Its name and fields are left out if the record then takes more than this many bytes.
    pub(in crate::inventory::history) fn add(&mut self, change: ChangeBetween, max_bytes: usize) {
        let was_there = *self.was_there.get_or_insert(change.action != ChangeAction::Created);
        self.is_there = change.action != ChangeAction::Deleted;
        self.was_deleted |= was_there && !self.is_there;
        self.is_incomplete |= change.is_erased;
        self.network_id = change.network_id;
        self.bytes -= self.name.len();
        self.name = change.name;
        self.bytes += self.name.len();
        // One of the two states has the whole document of a new or deleted record.
        if !was_there || self.was_deleted {
            self.forget_fields();
        } else if !self.is_incomplete {
            for (path, field) in change.fields.into_iter().filter(|(path, _)| !is_order(path)) {
                self.add_field(path, field);
            }
        }
        if self.bytes > max_bytes {
            self.is_incomplete = true;
            self.forget_fields();
        }
        if self.bytes > max_bytes {
            self.bytes -= self.name.len();
            self.name = String::new();
        }
    }

    fn forget_fields(&mut self) {
        self.fields = BTreeMap::new();
        self.bytes = self.name.len();
    }

    /// Returns whether the record was there before the changes.
    pub(in crate::inventory::history) fn was_there(&self) -> bool {
        self.was_there.unwrap_or_default()
    }

    /// Returns all fields that have changed, also those that are again as they were: a document that was read in between may have
    /// other values. `None`: the record is gone, or was, or the fields are not known.
    pub(in crate::inventory::history) fn known_fields(&self) -> Option<BTreeMap<String, FieldChange>> {
        let is_known = self.is_there && !self.was_deleted && !self.is_incomplete;
        is_known.then(|| self.fields.clone())
    }

    /// Returns the outcome of the changes.
    pub(in crate::inventory::history) fn outcome(&self) -> Outcome {
        let differing = |field: &FieldChange| field.before != field.after;
        match (self.was_there(), self.is_there) {
            (false, false) => Outcome::Nothing,
            (false, true) => Outcome::Added,
            (true, false) => Outcome::Removed,
            (true, true) if self.was_deleted => Outcome::Replaced,
            (true, true) if self.is_incomplete => Outcome::Unknown,
            (true, true) if !self.fields.values().any(differing) => Outcome::Nothing,
            (true, true) => {
                let fields = self.fields.iter().filter(|(_, field)| differing(field));
                Outcome::Changed(fields.map(|(path, field)| (path.clone(), field.clone())).collect())
            }
        }
    }

    /// Adds a field. One that is again as it was stays known, because it may change again.
    fn add_field(&mut self, path: String, mut field: FieldChange) {
        if let Some(known) = self.fields.get_mut(&path) {
            self.bytes -= size(&known.after);
            known.after = field.after;
            self.bytes += size(&known.after);
            return;
        }
        if let Some((outer, rest)) = self.outer_of(&path) {
            let Some(known) = self.fields.get_mut(&outer) else { return };
            self.bytes -= size(&known.after);
            if let Some(value) = known.after.as_mut() {
                set_within(value, rest, field.after);
            }
            self.bytes += size(&known.after);
            return;
        }
        for (inner, former) in self.take_inner(&path, &field) {
            self.bytes -= size_of_field(&inner, &former);
            if let (Some(value), Some(rest)) = (field.before.as_mut(), inner.get(path.len() + 1..)) {
                set_within(value, rest, former.before);
            }
        }
        self.bytes += size_of_field(&path, &field);
        self.fields.insert(path, field);
    }

    /// Returns the path of a known field that contains a field, and the rest of its path.
    fn outer_of<'p>(&self, path: &'p str) -> Option<(String, &'p str)> {
        path.match_indices('.').take(2).find_map(|(dot, _)| {
            let (outer, rest) = (path.get(..dot)?, path.get(dot + 1..)?);
            let known = self.fields.get(outer)?;
            contains_fields(outer, known).then(|| (outer.to_owned(), rest))
        })
    }

    /// Takes out the known fields within a field.
    fn take_inner(&mut self, path: &str, field: &FieldChange) -> Vec<(String, FieldChange)> {
        if !contains_fields(path, field) {
            return Vec::new();
        }
        let start = format!("{path}.");
        let within = |known: &&String| known.starts_with(&start);
        let paths: Vec<String> =
            self.fields.range(start.clone()..).map(|(known, _)| known).take_while(within).cloned().collect();
        paths.into_iter().filter_map(|known| self.fields.remove_entry(&known)).collect()
    }
}

/// Returns whether a path is that of the order of a list. The fields of its elements imply the order.
pub(in crate::inventory::history) fn is_order(path: &str) -> bool {
    // A custom field may have the name.
    path.split_once('.').is_some_and(|(_, rest)| rest == ORDER) && !path.starts_with(CUSTOM_FIELDS)
}

/// Returns whether paths that continue this one are within the field: it is a field of the record, or an element of a list. A name of
/// a member may continue that of another one with a dot.
fn contains_fields(path: &str, field: &FieldChange) -> bool {
    let Some((_, id)) = path.split_once('.') else { return true };
    let mut values = [&field.before, &field.after].into_iter().flatten();
    let has_id = |value: &Value| value.get("id").and_then(Value::as_str) == Some(id);
    !path.starts_with(CUSTOM_FIELDS) && values.any(has_id)
}

fn size_of_field(path: &str, field: &FieldChange) -> usize {
    path.len() + size(&field.before) + size(&field.after)
}

fn size(value: &Option<Value>) -> usize {
    value.as_ref().map_or(0, size_of_value)
}

/// Returns about how much memory a value takes.
fn size_of_value(value: &Value) -> usize {
    let own = size_of::<Value>();
    own + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(size_of_value).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| own + name.len() + size_of_value(value)).sum()
        }
    }
}

/// Sets a value within another one.
fn set_within(value: &mut Value, path: &str, new: Option<Value>) {
    match value {
        Value::Object(members) => set(members, path, new),
        Value::Array(parts) => set_part(parts, path, new),
        _ => {}
    }
}

/// Changes a field of an element of a list, or a whole element.
fn set_part(parts: &mut Vec<Value>, path: &str, value: Option<Value>) {
    let (id, field) = path.split_once('.').map_or((path, None), |(id, field)| (id, Some(field)));
    let place = parts.iter().position(|part| part.get("id").and_then(Value::as_str) == Some(id));
    match (place, field, value) {
        (Some(place), Some(field), value) => {
            if let Some(Value::Object(members)) = parts.get_mut(place) {
                set(members, field, value);
            }
        }
        (Some(place), None, None) => drop(parts.remove(place)),
        (Some(place), None, Some(part)) => {
            if let Some(known) = parts.get_mut(place) {
                *known = part;
            }
        }
        (None, None, Some(part)) => parts.push(part),
        (None, ..) => {}
    }
}
