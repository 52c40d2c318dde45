//! The edits of users: differences between a stored host and the host as discovery wrote it.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::parts::{MergedPart, pairs};
use crate::discovery::reconcile::attributes::{Attribute, Origin, of_device};
use crate::discovery::reconcile::state::HostState;
use crate::model::{Host, for_each_part_type};

/// Adds the changes and deletions by users since discovery wrote the host to its state.
pub(in crate::discovery::reconcile) fn note_edits(state: &mut HostState, current: &Host) {
    for field in of_device::<Host>() {
        if !field.is_equal(&state.baseline, current) {
            state.edited.insert(field.name().to_owned());
        }
    }
    for_each_part_type!(P => note_edits_of::<P>(state, current));
}

/// Marks the values that are set in a host as edited, and that the host is not hidden unless a user hides it.
pub(in crate::discovery::reconcile) fn note_given(state: &mut HostState, host: &Host) {
    state.baseline = Host::with_id(host.id, host.network_id, "");
    note_edits(state, host);
    state.edited.insert("hidden".to_owned());
    state.set_baseline(host);
}

/// Takes over the values that users have changed in a host which becomes a part of this one. Own changes stay.
pub(crate) fn take_edits(host: &mut Host, state: &mut HostState, other: &Host, other_state: &HostState) {
    for field in of_device::<Host>() {
        let is_edited = |host: &Host, state: &HostState| {
            state.is_edited(field.name()) || !field.is_equal(&state.baseline, host)
        };
        if is_edited(other, other_state) && !is_edited(host, state) {
            field.assign(host, other);
            state.edited.insert(field.name().to_owned());
        }
    }
}

fn note_edits_of<P: MergedPart>(state: &mut HostState, current: &Host) {
    let HostState { baseline, edited, deleted, seen, .. } = state;
    if P::list(baseline) == P::list(current) {
        return;
    }
    let pairs = pairs::<P>(baseline, current, true);
    let (labels, current_labels) = (P::labels(baseline), P::labels(current));
    for ((before, pair), label) in P::list(baseline).iter().zip(&pairs).zip(&labels) {
        let place = pair.and_then(|place| P::list(current).get(place).zip(current_labels.get(place)));
        let Some((after, current_label)) = place else {
            // A part that discovery never saw may be found some day.
            if seen.remove(&before.id()).is_some() {
                deleted.insert(format!("{}.{label}", P::LIST));
            }
            remove_paths::<P>(edited, before.id());
            continue;
        };
        if before.id() != after.id() {
            // A request replaced the list and left the ids out.
            for name in remove_paths::<P>(edited, before.id()) {
                edited.insert(format!("{}.{}.{name}", P::LIST, after.id()));
            }
            if let Some(when) = seen.remove(&before.id()) {
                seen.insert(after.id(), when);
            }
        }
        if label != current_label && seen.contains_key(&after.id()) {
            deleted.insert(format!("{}.{label}", P::LIST));
        }
        let changed = P::attributes().iter().filter(|field| !field.is_equal(before, after));
        edited.extend(changed.filter(|field| is_edit(**field, after)).map(|field| path(*field, after)));
    }
    let kept: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let added = P::list(current).iter().zip(&current_labels).enumerate();
    for (_, (part, label)) in added.filter(|(place, _)| !kept.contains(place)) {
        deleted.remove(&format!("{}.{label}", P::LIST));
        let set = P::attributes().iter().filter(|field| field.is_set(part));
        edited.extend(set.map(|field| path(*field, part)));
    }
}

/// Returns whether a changed value is an edit.
///
/// A value that follows from another record is also cleared when that record is deleted. Clearing it is not an edit.
pub(in crate::discovery::reconcile) fn is_edit<P>(field: &dyn Attribute<P>, part: &P) -> bool {
    field.origin() != Origin::Derived || field.is_set(part)
}

fn path<P: MergedPart>(field: &dyn Attribute<P>, part: &P) -> String {
    format!("{}.{}.{}", P::LIST, part.id(), field.name())
}

/// Removes the paths of the fields of a part. Returns the names of the fields.
fn remove_paths<P: MergedPart>(edited: &mut BTreeSet<String>, id: Uuid) -> Vec<String> {
    let prefix = format!("{}.{id}.", P::LIST);
    let names: Vec<String> = edited
        .range(prefix.clone()..)
        .map_while(|path| path.strip_prefix(&prefix))
        .map(str::to_owned)
        .collect();
    for name in &names {
        edited.remove(&format!("{prefix}{name}"));
    }
    names
}
