//! Division of a host and its discovery state between two hosts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::claims::MovedPorts;
use super::request::MovedParts;
use crate::discovery::reconcile::{HostState, derived_name, set_ages};
use crate::inventory::discovery::known_host::KnownHost;
use crate::inventory::discovery::records::HostDiscovery;
use crate::inventory::hosts::rename_parts;
use crate::model::{
    CredentialAssignment, Host, HostId, HostPart, IfEntryId, InterfaceId, PortId, RecordId, ServiceId,
    Timestamp, for_each_part_type,
};
use crate::wire::HostSplit;

/// Moves the selected parts, with their discovery state, to a new host with this id.
pub(super) fn divide(
    opened: &mut KnownHost,
    split: &HostSplit,
    selection: &MovedParts,
    (id, now): (HostId, Timestamp),
) -> KnownHost {
    let moved_ports = MovedPorts::of(&opened.host, selection);
    let was_derived = opened.host.name == derived_name(&opened.host);
    let mut host = divide_host(&mut opened.host, split, selection, (id, now));
    if let Some(name) = &split.name {
        host.name.clone_from(name);
    } else {
        host.name = derived_name(&host);
    }
    if was_derived {
        opened.host.name = derived_name(&opened.host);
    }
    opened.host.updated_at = now;
    let mut claims = BTreeMap::new();
    opened.claims.retain(|kind, claimed| {
        let moved = moved_ports.take_rows(claimed);
        let is_moved_whole = moved.is_some() && claimed.table.is_empty();
        claims.extend(moved.map(|moved| (*kind, moved)));
        !is_moved_whole
    });
    let kept_name = opened.host.name.clone();
    let discovery = opened.discovery.as_mut().map(|discovery| {
        let mut other = divide_discovery(discovery, split, selection, (id, now));
        other.claims = claims.keys().copied().collect();
        discovery.claims = opened.claims.keys().copied().collect();
        discovery.separate.insert(id);
        other.separate.insert(opened.host.id);
        if was_derived {
            discovery.state.baseline.name.clone_from(&kept_name);
        }
        other.state.baseline.name.clone_from(&host.name);
        if host.name != derived_name(&host) {
            other.state.edited.insert("name".to_owned());
        }
        set_ages(&mut opened.host, &mut discovery.state);
        set_ages(&mut host, &mut other.state);
        other
    });
    KnownHost { host, discovery, claims }
}

/// Moves the selected parts and the given fields to a new host, which has no name yet.
fn divide_host(
    host: &mut Host,
    split: &HostSplit,
    selection: &MovedParts,
    (id, now): (HostId, Timestamp),
) -> Host {
    let mut other = Host::with_id(id, host.network_id, "");
    (other.created_at, other.updated_at) = (now, now);
    other.source = host.source.clone();
    other.hidden = host.hidden;
    move_fields(split, host, &mut other);
    other.interfaces = take(&mut host.interfaces, &selection.interfaces, |part| part.id);
    other.ports = take(&mut host.ports, &selection.ports, |part| part.id);
    other.services = take(&mut host.services, &selection.services, |part| part.id);
    other.if_entries = take(&mut host.if_entries, &selection.if_entries, |part| part.id);
    for_each_part_type!(P => P::list_mut(&mut other).iter_mut().for_each(|part| part.updated_at = now));
    other.credential_assignments = divide_credentials(&mut host.credential_assignments, selection);
    // Makes the new host the owner of the parts.
    rename_parts(&mut other, |_| None);
    other
}

fn take<P, I: RecordId>(parts: &mut Vec<P>, moved: &HashMap<I, usize>, id: impl Fn(&P) -> I) -> Vec<P> {
    let (moved, kept) = std::mem::take(parts).into_iter().partition(|part| moved.contains_key(&id(part)));
    *parts = kept;
    moved
}

/// Gives the new host the fields of the request. The host loses the identities that it has with the same value, and
/// keeps its description.
fn move_fields(split: &HostSplit, host: &mut Host, other: &mut Host) {
    other.hostname = move_field(&split.hostname, &mut host.hostname);
    other.sys_name = move_field(&split.sys_name, &mut host.sys_name);
    other.sys_descr.clone_from(&split.sys_descr);
    other.sys_object_id.clone_from(&split.sys_object_id);
    other.sys_location.clone_from(&split.sys_location);
    other.sys_contact.clone_from(&split.sys_contact);
    other.chassis_id = move_field(&split.chassis_id, &mut host.chassis_id);
    other.manufacturer.clone_from(&split.manufacturer);
    other.model.clone_from(&split.model);
    other.serial_number = move_field(&split.serial_number, &mut host.serial_number);
    other.management_url = move_field(&split.management_url, &mut host.management_url);
}

fn move_field<V: Clone + PartialEq>(given: &Option<V>, own: &mut Option<V>) -> Option<V> {
    if given == own {
        *own = None;
    }
    given.clone()
}

/// Moves the assignments to interfaces that move. Assignments to all interfaces are those of both hosts.
fn divide_credentials(
    assignments: &mut Vec<CredentialAssignment>,
    selection: &MovedParts,
) -> Vec<CredentialAssignment> {
    let mut moved = Vec::new();
    assignments.retain_mut(|assignment| {
        let credential_id = assignment.credential_id;
        let Some(ids) = &mut assignment.interface_ids else {
            moved.push(CredentialAssignment { credential_id, interface_ids: None });
            return true;
        };
        let taken = take(ids, &selection.interfaces, |id| *id);
        if taken.is_empty() {
            return true;
        }
        moved.push(CredentialAssignment { credential_id, interface_ids: Some(taken) });
        !ids.is_empty()
    });
    moved
}

/// Divides the discovery state of a host. The claims follow separately.
fn divide_discovery(
    discovery: &mut HostDiscovery,
    split: &HostSplit,
    selection: &MovedParts,
    place: (HostId, Timestamp),
) -> HostDiscovery {
    let is_moved = |id: &Uuid| {
        selection.interfaces.contains_key(&InterfaceId::new(*id))
            || selection.ports.contains_key(&PortId::new(*id))
            || selection.services.contains_key(&ServiceId::new(*id))
            || selection.if_entries.contains_key(&IfEntryId::new(*id))
    };
    let state = &mut discovery.state;
    let baseline = divide_host(&mut state.baseline, split, selection, place);
    let is_of_moved_part = |path: &String| {
        let part = path.split('.').nth(1).and_then(|id| Uuid::try_parse(id).ok());
        part.is_some_and(|id| is_moved(&id))
    };
    let (moved_edits, edited): (BTreeSet<String>, BTreeSet<String>) =
        std::mem::take(&mut state.edited).into_iter().partition(is_of_moved_part);
    state.edited = edited;
    let (moved_seen, seen) = std::mem::take(&mut state.seen).into_iter().partition(|(id, _)| is_moved(id));
    state.seen = seen;
    let (moved_kept, kept) =
        std::mem::take(&mut state.kept).into_iter().partition(|(path, _)| is_of_moved_part(path));
    state.kept = kept;
    HostDiscovery {
        organization_id: discovery.organization_id,
        network_id: discovery.network_id,
        claims: Vec::new(),
        state: HostState {
            baseline,
            edited: moved_edits,
            // It is unknown on which of the two devices users have deleted parts.
            deleted: state.deleted.clone(),
            observed: state.observed.clone(),
            seen: moved_seen,
            kept: moved_kept,
            has_derived_chassis: state.has_derived_chassis && split.chassis_id.is_some(),
        },
        separate: BTreeSet::new(),
    }
}
