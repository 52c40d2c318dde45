//! The outcomes of devices that are not stored, and the warnings about recognition.

use std::collections::BTreeMap;

use crate::discovery::reconcile::{MatchedBy, RecognitionNote, name_of_device};
use crate::discovery::report::{Device, TableKind, Warning, WarningCode};
use crate::inventory::Error;
use crate::inventory::discovery::Reconciler;
use crate::model::HostId;
use crate::printable::printable;
use crate::wire::{DiscoveredHost, DiscoveryOutcome};

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
        code: None,
    }
}

/// Returns the outcome of a device that an error keeps from being stored.
pub(super) fn refused(device: &Device, error: &Error) -> DiscoveredHost {
    let code = error.application_code().map(|code| code.as_str().to_owned());
    DiscoveredHost { code, ..ignored(device, error.to_string()) }
}

/// Maximum number of characters of a name in a sentence.
const MAX_NAME: usize = 60;

/// Returns the warning about a device that matches no host and whose tables describe other devices
/// only.
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

/// Returns the warning about tables that a device has as unchanged, and that are not known of its host.
pub(in crate::inventory::discovery) fn unknown_tables(
    device: &Device,
    kinds: &[TableKind],
) -> RecognitionNote {
    let kinds = kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    let name = name_of_device(device);
    let text =
        format!("{name} reports tables as unchanged that are not known of it: {kinds}. Read it again.");
    RecognitionNote::new(WarningCode::TableUnknown, text)
}

pub(super) fn recognized(device: &Device, id: HostId, matched_by: MatchedBy) -> DiscoveredHost {
    DiscoveredHost {
        id: Some(id),
        name: name_of(device),
        outcome: DiscoveryOutcome::Unchanged,
        matched_by: Some(matched_by),
        changes: Vec::new(),
        reason: None,
        code: None,
    }
}

pub(super) fn ambiguous(
    device: &Device,
    key: MatchedBy,
    hosts: &[HostId],
    names: &BTreeMap<HostId, String>,
) -> DiscoveredHost {
    let device_name = name_of_device(device);
    DiscoveredHost {
        id: None,
        name: name_of(device),
        outcome: DiscoveryOutcome::Ambiguous,
        matched_by: Some(key),
        changes: Vec::new(),
        reason: Some(format!("{device_name} may be any of the hosts {}.", listed(hosts, names))),
        code: None,
    }
}

/// Lists hosts by name and id.
pub(in crate::inventory::discovery) fn listed(hosts: &[HostId], names: &BTreeMap<HostId, String>) -> String {
    let one = |id: &HostId| match names.get(id) {
        Some(name) => format!("{name} ({id})"),
        None => id.to_string(),
    };
    hosts.iter().take(8).map(one).collect::<Vec<_>>().join(", ")
}

impl Reconciler {
    /// Adds the notes about a device to the warnings of the answer. Warnings of one kind are counted.
    pub(in crate::inventory::discovery) fn warn(&mut self, notes: Vec<RecognitionNote>) {
        for RecognitionNote { code, text, .. } in notes {
            match self.answer.warnings.iter_mut().find(|warning| warning.code == code) {
                Some(warning) => warning.count = warning.count.saturating_add(1),
                None => self.answer.warnings.push(Warning::new(code, 1, None).with_example(&text)),
            }
        }
    }

    pub(super) fn warn_of_ambiguity(&mut self, outcome: &DiscoveredHost) {
        let text = outcome.reason.clone().unwrap_or_default();
        self.warn(vec![RecognitionNote::new(WarningCode::DeviceAmbiguous, text)]);
    }
}
