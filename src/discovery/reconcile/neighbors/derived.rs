//! Values that follow from other records: the neighbors of ports and the subnets of addresses.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use crate::discovery::reconcile::state::HostState;
use crate::model::{Host, IfEntryId, InterfaceId, Neighbor, SubnetId, Timestamp};

/// Sets the neighbors of a host's ports, except those that a user has set. Returns the paths of the changed fields.
///
/// `state` is the state of the host. It takes the neighbors as well, so that they do not count as edits.
pub fn set_neighbors(
    host: &mut Host,
    state: &mut HostState,
    neighbors: &BTreeMap<IfEntryId, Option<Neighbor>>,
    now: Timestamp,
) -> Vec<String> {
    let HostState { baseline, edited, .. } = state;
    let mut baseline: HashMap<IfEntryId, &mut Option<Neighbor>> =
        baseline.if_entries.iter_mut().map(|entry| (entry.id, &mut entry.neighbor)).collect();
    let mut changes = Vec::new();
    for entry in &mut host.if_entries {
        let Some(neighbor) = neighbors.get(&entry.id) else { continue };
        let path = || format!("if_entries.{}.neighbor", entry.id);
        if !edited.is_empty() && edited.contains(&path()) {
            continue;
        }
        if settle(&mut entry.neighbor, baseline.remove(&entry.id), *neighbor) {
            changes.push(path());
            entry.updated_at = now;
        }
    }
    if !changes.is_empty() {
        host.updated_at = now;
    }
    changes
}

/// Sets the subnets of a host's addresses, except those that a user has set. Returns the paths of the changed fields.
///
/// `subnet_of` returns the smallest subnet of the network that contains an address. `state` is the state of the host,
/// as for [`set_neighbors`].
pub fn set_subnets(
    host: &mut Host,
    state: &mut HostState,
    subnet_of: impl Fn(IpAddr) -> Option<SubnetId>,
    now: Timestamp,
) -> Vec<String> {
    let HostState { baseline, edited, .. } = state;
    let mut baseline: HashMap<InterfaceId, &mut Option<SubnetId>> =
        baseline.interfaces.iter_mut().map(|interface| (interface.id, &mut interface.subnet_id)).collect();
    let mut changes = Vec::new();
    for interface in &mut host.interfaces {
        let path = || format!("interfaces.{}.subnet_id", interface.id);
        if !edited.is_empty() && edited.contains(&path()) {
            continue;
        }
        let subnet_id = subnet_of(interface.ip_address);
        if settle(&mut interface.subnet_id, baseline.remove(&interface.id), subnet_id) {
            changes.push(path());
            interface.updated_at = now;
        }
    }
    if !changes.is_empty() {
        host.updated_at = now;
    }
    changes
}

/// Sets a value in the host and the baseline unless a user has set another. Returns whether the host changes.
fn settle<V: Copy + PartialEq>(
    value: &mut Option<V>,
    baseline: Option<&mut Option<V>>,
    derived: Option<V>,
) -> bool {
    if value.is_some() && baseline.as_deref().is_none_or(|before| *before != *value) {
        return false;
    }
    if let Some(before) = baseline {
        *before = derived;
    }
    std::mem::replace(value, derived) != derived
}
