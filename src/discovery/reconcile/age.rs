//! When reports last showed a host and its parts.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::state::{HostState, STALE_AFTER, Seen};
use crate::model::{Age, Common, Host, HostPart, Timestamp, for_each_part_type};

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
