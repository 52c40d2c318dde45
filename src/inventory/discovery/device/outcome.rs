//! The outcomes of devices that are not stored.

use uuid::Uuid;

use crate::discovery::reconcile::MatchedBy;
use crate::discovery::report::Device;
use crate::inventory::discovery::{DiscoveredHost, DiscoveryOutcome};
use crate::printable::printable;

/// Returns the name that a device reports.
fn name_of(device: &Device) -> String {
    let names = [&device.sys_name, &device.hostname, &device.cdp_device_id];
    names.into_iter().flatten().next().cloned().unwrap_or_default()
}

pub(super) fn ignored(device: &Device, reason: String) -> DiscoveredHost {
    DiscoveredHost {
        id: None,
        name: name_of(device),
        outcome: DiscoveryOutcome::Ignored,
        matched_by: None,
        changes: Vec::new(),
        reason: Some(reason),
    }
}

/// Maximum number of characters of a name in a sentence.
const MAX_NAME: usize = 60;

/// Returns why the tables of a device are left out that describe others only.
pub(super) fn unknown_observer(device: &Device) -> String {
    let name = match (name_of(device), device.id) {
        (name, _) if !name.is_empty() => format!("named \"{}\"", printable(&name, MAX_NAME)),
        (_, Some(id)) => format!("with the id {id}"),
        (_, None) => "like this device".to_owned(),
    };
    format!(
        "There is no host {name}. Import a walk of the device, or its own addresses (`ip -j -d addr`), first."
    )
}

pub(super) fn recognized(device: &Device, id: Uuid, matched_by: MatchedBy) -> DiscoveredHost {
    DiscoveredHost {
        id: Some(id),
        name: name_of(device),
        outcome: DiscoveryOutcome::Unchanged,
        matched_by: Some(matched_by),
        changes: Vec::new(),
        reason: None,
    }
}

pub(super) fn ambiguous(device: &Device, key: MatchedBy, hosts: &[Uuid]) -> DiscoveredHost {
    let hosts: Vec<String> = hosts.iter().take(8).map(Uuid::to_string).collect();
    DiscoveredHost {
        id: None,
        name: name_of(device),
        outcome: DiscoveryOutcome::Ambiguous,
        matched_by: Some(key),
        changes: Vec::new(),
        reason: Some(format!("The device may be any of the hosts {}.", hosts.join(", "))),
    }
}
