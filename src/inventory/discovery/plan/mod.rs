//! The effect of a device on the records of its host.
//!
//! It is a pure decision on the records that were read, in two steps. The [draft](draft::Draft) is the host with the device
//! merged into it. Once the subnets of its addresses have been looked up, it becomes the [records](RecordChanges) to be
//! stored.

mod draft;
mod merged;
mod past;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use super::consolidate::absorb::Replaced;
use super::device::listed;
use super::known_host::HostRecords;
use super::records::{EncodedRecord, NetworkHost};
use super::reported::ReportedDevice;
use crate::access::RandomSource;
use crate::discovery::reconcile::{Identity, MatchedBy, PortNames, RecognitionNote};
use crate::discovery::report::{PortRange, Reporter};
use crate::inventory::hosts::{Before, EncodedHost, HostEncoder};
use crate::model::{Cidr, HostId, Timestamp};
use crate::store::Record;
use crate::wire::{DiscoveredHost, DiscoveryOutcome};

/// Whether a device is described by a report or only named as a neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Reported,
    /// Becomes a hidden host, and never changes one.
    Neighbor,
    /// Stands for a host of which a neighbor cache states a MAC address. Only merges hosts.
    Cached,
}

/// A device and the records of its host: the input of a decision.
#[derive(Debug)]
pub(super) struct DeviceMerge {
    pub(super) place: NetworkHost,
    pub(super) subject: ReportedDevice,
    /// The stored host that matches the device, then the hosts to be merged into it. Empty: the device becomes a new host.
    pub(super) known: Vec<HostRecords>,
    pub(super) reporter: Reporter,
    pub(super) scanned_ports: Arc<[PortRange]>,
    pub(super) observed_at: Timestamp,
    pub(super) now: Timestamp,
    pub(super) encoder: HostEncoder,
    pub(super) port_names: PortNames,
    /// The source of random ids for new parts. `None`: their ids follow from the host's id.
    pub(super) random: Option<Arc<dyn RandomSource>>,
    /// Whether a policy is asked about the host.
    pub(super) has_policy: bool,
}

/// The decision: the records to be written, and what the report states about them.
#[derive(Debug)]
pub(super) struct RecordChanges {
    /// `None`: the host stays as it is.
    pub(super) encoded: Option<EncodedHost>,
    /// The hosts as read, without their bodies.
    pub(super) before: Before,
    /// `None`: the state stays as it is.
    pub(super) state: Option<EncodedRecord>,
    pub(super) state_record: Option<Record>,
    /// The claims that change.
    pub(super) claims: Vec<EncodedRecord>,
    /// The replacements of absorbed hosts and parts.
    pub(super) replaced: Replaced,
    /// The notes about custom fields of absorbed hosts that exceed the limits, and about unchanged tables that are not known.
    pub(super) notes: Vec<RecognitionNote>,
    /// The identities by which others may have named the host, if these have changed.
    pub(super) affected: Vec<Identity>,
    /// The prefixes of addresses whose interfaces only the host describes.
    pub(super) prefixes: BTreeSet<Cidr>,
    /// The addresses of a host of which nothing else is known.
    pub(super) addresses: Vec<IpAddr>,
    name: String,
    outcome: DiscoveryOutcome,
    changes: Vec<String>,
    /// The hosts that were merged into this one.
    merged_hosts: Vec<HostId>,
    reason: Option<String>,
}

impl RecordChanges {
    /// States which hosts were merged into this one, by their names.
    pub(super) fn explain_merge(&mut self, names: &BTreeMap<HostId, String>) {
        let hosts = listed(&self.merged_hosts, names);
        let text = match self.merged_hosts.len() {
            0 => return,
            1 => format!("The host {hosts} is the same device and became a part of this one."),
            _ => format!("The hosts {hosts} are the same device and became parts of this one."),
        };
        self.reason = Some(text);
    }

    pub(super) fn outcome(self, id: HostId, matched_by: Option<MatchedBy>) -> DiscoveredHost {
        let Self { name, outcome, changes, reason, .. } = self;
        DiscoveredHost { id: Some(id), name, outcome, matched_by, changes, reason, code: None }
    }
}
