//! Several changes of one record, as one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::past::{set, set_part};
use crate::model::{Change, ChangeAction, FieldChange};

/// What has become of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// It is as it was, or was there only in between.
    Nothing,
    Added,
    Removed,
    /// These fields differ.
    Changed(BTreeMap<String, FieldChange>),
}

/// The changes of a record so far.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) name: String,
    /// Whether the record was there before the first change.
    was_there: Option<bool>,
    is_there: bool,
    fields: BTreeMap<String, FieldChange>,
}

impl Merged {
    /// Adds the next change.
    pub(super) fn add(&mut self, change: Change) {
        let is_there = change.action != ChangeAction::Deleted;
        self.was_there.get_or_insert(change.action != ChangeAction::Created);
        // A record that is created again may differ from what it was in any field.
        for (path, field) in change.fields {
            self.add_field(path, field);
        }
        self.is_there = is_there;
        self.name = change.name;
    }

    pub(super) fn outcome(self) -> Outcome {
        match (self.was_there.unwrap_or_default(), self.is_there) {
            (false, false) => Outcome::Nothing,
            (false, true) => Outcome::Added,
            (true, false) => Outcome::Removed,
            (true, true) if self.fields.is_empty() => Outcome::Nothing,
            (true, true) => Outcome::Changed(self.fields),
        }
    }

    fn add_field(&mut self, path: String, field: FieldChange) {
        if let Some(known) = self.fields.get_mut(&path) {
            known.after = field.after;
            if known.before == known.after {
                self.fields.remove(&path);
            }
            return;
        }
        if let Some((outer, rest)) = self.outer_of(&path) {
            if let Some(value) = self.fields.get_mut(&outer).and_then(|known| known.after.as_mut()) {
                set_within(value, rest, field.after);
            }
            return;
        }
        let mut field = field;
        for (inner, former) in self.take_inner(&path) {
            if let (Some(value), Some(rest)) = (field.before.as_mut(), inner.get(path.len() + 1..)) {
                set_within(value, rest, former.before);
            }
        }
        if field.before != field.after {
            self.fields.insert(path, field);
        }
    }

    /// Returns the path of a known field that contains a field, and the rest of its path.
    fn outer_of<'p>(&self, path: &'p str) -> Option<(String, &'p str)> {
        path.match_indices('.').find_map(|(dot, _)| {
            let (outer, rest) = (path.get(..dot)?, path.get(dot + 1..)?);
            self.fields.contains_key(outer).then(|| (outer.to_owned(), rest))
        })
    }

    /// Takes out the known fields within a field.
    fn take_inner(&mut self, path: &str) -> Vec<(String, FieldChange)> {
        let start = format!("{path}.");
        let within = |known: &&String| known.starts_with(&start);
        let paths: Vec<String> =
            self.fields.range(start.clone()..).map(|(known, _)| known).take_while(within).cloned().collect();
        paths.into_iter().filter_map(|known| self.fields.remove_entry(&known)).collect()
    }
}

/// Sets a value within another one.
fn set_within(value: &mut Value, path: &str, new: Option<Value>) {
    match value {
        Value::Object(members) => set_member(members, path, new),
        Value::Array(parts) => set_part(parts, path, new),
        _ => {}
    }
}

fn set_member(members: &mut Map<String, Value>, path: &str, new: Option<Value>) {
    match path.split_once('.') {
        Some((outer, rest)) if members.contains_key(outer) => {
            if let Some(value) = members.get_mut(outer) {
                set_within(value, rest, new);
            }
        }
        _ => set(members, path, new),
    }
}
