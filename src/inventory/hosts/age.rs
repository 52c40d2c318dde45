//! When reports last showed a host and its parts. Only discovery sets it.

use std::collections::HashMap;

use uuid::Uuid;

use super::parts::Embedded;
use crate::model::{Host, for_each_part_type};

/// Gives a host the age of the stored one. A new host has none.
pub(super) fn keep_age(host: &mut Host, stored: Option<&Host>) {
    host.last_seen_at = stored.and_then(|stored| stored.last_seen_at);
    host.is_stale = stored.is_some_and(|stored| stored.is_stale);
}

/// Gives a host and its parts the age and the sources of the stored ones. New records have none.
pub(super) fn keep_ages(host: &mut Host, stored: Option<&Host>) {
    keep_age(host, stored);
    for_each_part_type!(P => keep_ages_of::<P>(host, stored));
}

fn keep_ages_of<P: Embedded>(host: &mut Host, stored: Option<&Host>) {
    let stored = stored.map_or(&[][..], P::list);
    let stored: HashMap<Uuid, &P> = stored.iter().map(|part| (part.common().id, part)).collect();
    for part in P::list_mut(host) {
        let mut common = part.common();
        let before = stored.get(&common.id).copied();
        common.age = before.map(|before| before.common().age).unwrap_or_default();
        part.set_common(common);
        part.keep_source(before);
    }
}
