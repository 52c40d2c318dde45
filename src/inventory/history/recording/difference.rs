//! The differences between two states of a document, and how one state follows from the other.
//!
//! | Value | Paths |
//! |---|---|
//! | a list of objects with ids, as the interfaces of a host | `interfaces.<id>.<field>` for a field of an element, `interfaces.<id>` for a whole element that is new or gone, and `interfaces.order` if the elements are in another order than that they were in, with new ones at the end |
//! | an object, as custom fields | `custom.<name>` for each member |
//! | anything else | `<field>` |
//!
//! A field that is null counts as missing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::value::RawValue;

use super::document::{ObjectMembers, Part, are_equal, elements};
use crate::model::ORDER;

/// Fields that only the server moves. They make no change by themselves.
const MOVED_BY_SERVER: [&str; 4] = ["updated_at", "last_used", "last_seen_at", "last_seen"];

/// The beginning of the paths of custom fields.
pub(in crate::inventory::history) const CUSTOM_FIELDS: &str = "custom.";

/// A field that differs.
#[derive(Debug, Serialize)]
pub(in crate::inventory::history) struct Difference<'d> {
    #[serde(skip)]
    pub(in crate::inventory::history) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) before: Option<FieldText<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) after: Option<FieldText<'d>>,
}

/// The text of a value: of a document, or of the order of a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::inventory::history) enum FieldText<'d> {
    Stored(&'d RawValue),
    Order(Vec<&'d str>),
}

/// Returns the fields in which two documents differ, in the order of the later one.
pub(in crate::inventory::history) fn differences<'d>(
    before: &'d str,
    after: &'d str,
) -> Result<Vec<Difference<'d>>, serde_json::Error> {
    Ok(differences_of(&ObjectMembers::read(before)?, &ObjectMembers::read(after)?))
}

/// Returns the fields in which two documents differ by their members.
pub(in crate::inventory::history) fn differences_of<'d>(
    before: &ObjectMembers<'d>,
    after: &ObjectMembers<'d>,
) -> Vec<Difference<'d>> {
    let mut found = Vec::new();
    between_members("", before, after, &mut found);
    found
}

/// Compares two objects. `start` is the path of their members, up to and with its last dot.
fn between_members<'d>(
    start: &str,
    before: &ObjectMembers<'d>,
    after: &ObjectMembers<'d>,
    found: &mut Vec<Difference<'d>>,
) {
    // Custom fields are the client's, whatever their names.
    let is_moved = |name: &str| MOVED_BY_SERVER.contains(&name) && start != CUSTOM_FIELDS;
    let is_whole = !start.is_empty();
    let mut next = 0;
    for (name, after) in after.present().filter(|(name, _)| !is_moved(name)) {
        let path = || format!("{start}{name}");
        match before.get_next(name, &mut next) {
            Some(before) if before.get() == after.get() => {}
            Some(before) if is_whole => between_values(path(), before, after, found),
            Some(before) => between_fields(path(), before, after, found),
            None => found.push(stored(path(), None, Some(after))),
        }
    }
    next = 0;
    for (name, before) in before.present().filter(|(name, _)| !is_moved(name)) {
        if after.get_next(name, &mut next).is_none() {
            found.push(stored(format!("{start}{name}"), Some(before), None));
        }
    }
}

/// Compares two values of a field of a record.
fn between_fields<'d>(
    path: String,
    before: &'d RawValue,
    after: &'d RawValue,
    found: &mut Vec<Difference<'d>>,
) {
    if let (Some(before), Some(after)) = (elements(before), elements(after))
        && let Some(parts) = between_parts(&path, &before, &after)
    {
        found.extend(parts);
        return;
    }
    let is_object = |text: &RawValue| text.get().starts_with('{');
    if is_object(before)
        && is_object(after)
        && let (Ok(before), Ok(after)) = (ObjectMembers::read(before.get()), ObjectMembers::read(after.get()))
    {
        return between_members(&format!("{path}."), &before, &after, found);
    }
    between_values(path, before, after, found);
}

fn between_values<'d>(
    path: String,
    before: &'d RawValue,
    after: &'d RawValue,
    found: &mut Vec<Difference<'d>>,
) {
    if !are_equal(before, after) {
        found.push(stored(path, Some(before), Some(after)));
    }
}

fn stored<'d>(path: String, before: Option<&'d RawValue>, after: Option<&'d RawValue>) -> Difference<'d> {
    Difference { path, before: before.map(FieldText::Stored), after: after.map(FieldText::Stored) }
}

/// Compares two lists by the ids of their elements. `None`: an element has no id, or two have the same.
fn between_parts<'d>(
    path: &str,
    all_before: &[&'d RawValue],
    all_after: &[&'d RawValue],
) -> Option<Vec<Difference<'d>>> {
    // Most elements are unchanged: ids are read only between the first and the last one that differ.
    let is_same = |(left, right): &(&&RawValue, &&RawValue)| left.get() == right.get();
    let first = all_before.iter().zip(all_after).take_while(is_same).count();
    let (before, after) = (all_before.get(first..)?, all_after.get(first..)?);
    let last = before.iter().rev().zip(after.iter().rev()).take_while(is_same).count();
    let middle = |list: &[&'d RawValue]| -> Option<Vec<Part<'d>>> {
        list.get(..list.len().checked_sub(last)?)?.iter().map(|text| Part::read(text)).collect()
    };
    let (before, after) = (middle(before)?, middle(after)?);
    let ids = |parts: &[Part<'d>]| parts.iter().map(|part| part.id).collect::<BTreeSet<_>>();
    let (ids_before, ids_after) = (ids(&before), ids(&after));
    if ids_before.len() < before.len() || ids_after.len() < after.len() {
        return None;
    }
    let mut found = between_equal_ids(path, &before, &after)?;
    let gone = before.iter().filter(|part| !ids_after.contains(part.id));
    found.extend(gone.map(|part| stored(format!("{path}.{}", part.id), Some(part.text), None)));
    let new = after.iter().filter(|part| !ids_before.contains(part.id));
    found.extend(new.clone().map(|part| stored(format!("{path}.{}", part.id), None, Some(part.text))));
    let kept = before.iter().filter(|part| ids_after.contains(part.id));
    let has_new_within = last > 0 && new.clone().next().is_some();
    // An entry has its fields by their paths, so that new elements follow each other by their ids.
    let mut by_id: Vec<&str> = new.map(|part| part.id).collect();
    by_id.sort_unstable();
    let expected = kept.map(|part| part.id).chain(by_id);
    if has_new_within || !expected.eq(after.iter().map(|part| part.id)) {
        let order = |list: &[&'d RawValue]| -> Option<FieldText<'d>> {
            let parts = list.iter().map(|text| Some(Part::read(text)?.id));
            parts.collect::<Option<_>>().map(FieldText::Order)
        };
        let (before, after) = (order(all_before)?, order(all_after)?);
        found.push(Difference { path: format!("{path}.{ORDER}"), before: Some(before), after: Some(after) });
    }
    Some(found)
}

/// Compares the elements that both lists have.
fn between_equal_ids<'d>(path: &str, before: &[Part<'d>], after: &[Part<'d>]) -> Option<Vec<Difference<'d>>> {
    let known: BTreeMap<&str, &RawValue> = before.iter().map(|part| (part.id, part.text)).collect();
    let mut found = Vec::new();
    for part in after {
        let Some(former) = known.get(part.id) else { continue };
        if former.get() != part.text.get() {
            let (former, latter) =
                (ObjectMembers::read(former.get()).ok()?, ObjectMembers::read(part.text.get()).ok()?);
            between_members(&format!("{path}.{}.", part.id), &former, &latter, &mut found);
        }
    }
    Some(found)
}
