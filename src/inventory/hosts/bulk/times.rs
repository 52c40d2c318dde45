//! Times of hosts and parts that are created or replaced.

use std::collections::HashMap;

use uuid::Uuid;

use crate::inventory::hosts::age::keep_ages;
use crate::model::{Common, Host, HostPart, ServiceId, Timestamp, for_each_part_type};

type Times = (Timestamp, Timestamp);

/// Sets the times of a host and its parts.
///
/// A record that stays the same keeps its stored times. A new or changed record gets `now`. Each keeps its age.
///
/// Sorts the embedded lists of a host to be replaced, and returns whether the host differs from the stored one.
pub(in crate::inventory) fn stamp(host: &mut Host, stored: Option<&Host>, now: Timestamp) -> bool {
    keep_ages(host, stored);
    // The bindings come first, because they are part of the services.
    stamp_bindings(host, stored, now);
    for_each_part_type!(P => stamp_parts::<P>(host, stored, now));
    let Some(stored) = stored else {
        (host.created_at, host.updated_at) = (now, now);
        return true;
    };
    host.sort_embedded();
    (host.created_at, host.updated_at) = (stored.created_at, stored.updated_at);
    let is_changed = host != stored;
    if is_changed {
        host.updated_at = now;
    }
    is_changed
}

fn stamp_bindings(host: &mut Host, stored: Option<&Host>, now: Timestamp) {
    let stored = stored.map_or(&[][..], |stored| &stored.services);
    let by_id: HashMap<ServiceId, _> = stored.iter().map(|service| (service.id, service)).collect();
    for service in &mut host.services {
        let stored = by_id.get(&service.id);
        set_times(
            &mut service.bindings,
            stored.map_or(&[], |stored| &stored.bindings),
            now,
            |part| (part.id.uuid(), (part.created_at, part.updated_at)),
            |part, times| (part.created_at, part.updated_at) = times,
        );
        if stored.is_some() {
            service.bindings.sort_by_key(|binding| (binding.created_at, binding.id));
        }
    }
}

fn stamp_parts<P: HostPart>(host: &mut Host, stored: Option<&Host>, now: Timestamp) {
    let id_and_times = |part: &P| {
        let common = part.common();
        (common.id, (common.created_at, common.updated_at))
    };
    let set = |part: &mut P, (created_at, updated_at): Times| {
        part.set_common(Common { created_at, updated_at, ..part.common() });
    };
    set_times(P::list_mut(host), stored.map_or(&[], P::list), now, id_and_times, set);
}

fn set_times<T: PartialEq>(
    parts: &mut [T],
    stored: &[T],
    now: Timestamp,
    id_and_times: impl Fn(&T) -> (Uuid, Times),
    set: impl Fn(&mut T, Times),
) {
    let stored = stored.iter().map(|part| {
        let (id, times) = id_and_times(part);
        (id, (part, times))
    });
    let stored: HashMap<Uuid, (&T, Times)> = stored.collect();
    for part in parts {
        let Some((stored, times)) = stored.get(&id_and_times(part).0) else {
            set(part, (now, now));
            continue;
        };
        set(part, *times);
        if *part != **stored {
            set(part, (times.0, now));
        }
    }
}
