//! Pairing of the interface entries of a report with those of a host.

use std::borrow::Cow;

use super::parts::{Trust, pairs};
use crate::discovery::reconcile::neighbors::ports::Ports;
use crate::model::{Host, IfEntry};

/// Returns for each entry of the report the position of the same entry of the host.
///
/// Entries are paired by name, description and index. An index that does not come from a table of interfaces counts only
/// for entries without a name. Such entries are also paired by other forms of their names.
pub(super) fn pair(reported: &Host, current: &Host, trust: Trust) -> Vec<Option<usize>> {
    let by_key = |reported: &Host, current: &Host| pairs::<IfEntry>(reported, current, false);
    let (left, right) = (trusted(reported, trust.reported), trusted(current, trust.current));
    let mut found = by_key(&left, &right);
    let mut is_taken = vec![false; current.if_entries.len()];
    for place in found.iter().flatten() {
        take(&mut is_taken, *place);
    }
    if found.contains(&None) && is_taken.contains(&false) {
        pair_loose_reported(&mut found, &mut is_taken, &left, current);
        pair_loose_current(&mut found, &mut is_taken, reported, &right);
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
fn pair_loose_reported(found: &mut [Option<usize>], is_taken: &mut [bool], reported: &Host, current: &Host) {
    let mut ports = None;
    for (entry, pair) in reported.if_entries.iter().zip(found) {
        if pair.is_some() || entry.if_index != 0 {
            continue;
        }
        let ports = ports.get_or_insert_with(|| Ports::new(current, &[]));
        let place = name(entry).and_then(|name| ports.of_lldp(None, Some(name)));
        if let Some(place) = place.filter(|place| is_taken.get(*place) == Some(&false)) {
            *pair = Some(place);
            take(is_taken, place);
        }
    }
}

/// Pairs the host's entries without an index.
fn pair_loose_current(found: &mut [Option<usize>], is_taken: &mut [bool], reported: &Host, current: &Host) {
    let mut ports = None;
    for (place, entry) in current.if_entries.iter().enumerate() {
        if is_taken.get(place) != Some(&false) || entry.if_index != 0 {
            continue;
        }
        let ports = ports.get_or_insert_with(|| Ports::new(reported, &[]));
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
