//! Values that follow from other records: the neighbors of ports and the subnets of addresses.

use std::collections::BTreeMap;
use std::net::IpAddr;

use uuid::Uuid;

use super::state::HostState;
use crate::model::{Host, Neighbor, Timestamp};

/// Sets the neighbors of a host's ports, except those that a user has set. Returns the paths of the changed fields.
///
/// `state` must be that of the stored host: it takes the neighbors as well, so that they do not count as edits.
pub fn set_neighbors(
    host: &mut Host,
    state: &mut HostState,
    neighbors: &BTreeMap<Uuid, Option<Neighbor>>,
    now: Timestamp,
) -> Vec<String> {
    let mut changes = Vec::new();
    for entry in &mut host.if_entries {
        let path = format!("if_entries.{}.neighbor", entry.id);
        let Some(neighbor) = neighbors.get(&entry.id).filter(|_| !state.is_edited(&path)) else { continue };
        if entry.neighbor != *neighbor {
            entry.neighbor = *neighbor;
            entry.updated_at = now;
            changes.push(path);
        }
        let before = state.baseline.if_entries.iter_mut().find(|before| before.id == entry.id);
        before.into_iter().for_each(|before| before.neighbor = *neighbor);
    }
    changes
}

/// Sets the subnets of a host's addresses, except those that a user has set. Returns the paths of the changed fields.
///
/// `subnet_of` returns the smallest subnet of the network that contains an address.
pub fn set_subnets(
    host: &mut Host,
    state: &mut HostState,
    subnet_of: impl Fn(IpAddr) -> Option<Uuid>,
    now: Timestamp,
) -> Vec<String> {
    let mut changes = Vec::new();
    for interface in &mut host.interfaces {
        let path = format!("interfaces.{}.subnet_id", interface.id);
        if state.is_edited(&path) {
            continue;
        }
        let subnet_id = subnet_of(interface.ip_address);
        if interface.subnet_id != subnet_id {
            interface.subnet_id = subnet_id;
            interface.updated_at = now;
            changes.push(path);
        }
        let before = state.baseline.interfaces.iter_mut().find(|before| before.id == interface.id);
        before.into_iter().for_each(|before| before.subnet_id = subnet_id);
    }
    changes
}
