//! The effect of a device on the records of its host.
//!
//! It is a pure decision on the records that were read.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use uuid::Uuid;

use super::claims::{ClaimedTable, claimed_tables};
use super::consolidate::absorb::Replaced;
use super::device::listed;
use super::neighbors::follow::Naming;
use super::opened::{Opened, Stored};
use super::records::{HostDiscovery, Place};
use super::report::{DiscoveredHost, DiscoveryOutcome};
use super::subnets::Subnets;
use crate::access::{RandomSource, uuid_v4};
use crate::discovery::reconcile::{
    HostState, Identity, MatchedBy, MergeOutcome, Projection, merge, set_ages, set_subnets,
    undescribed_prefixes,
};
use crate::discovery::report::{Device, PortRange, Reporter};
use crate::inventory::Error;
use crate::inventory::hosts::{
    Before, EncodedHost, HostEncoder, Summary, check_host_texts, decode as decode_host, rename_parts,
};
use crate::model::{Cidr, Host, Neighbor, Timestamp};
use crate::store::Record;

/// Whether a device is described by a report or only named as a neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Reported,
    /// Becomes a hidden host, and never changes one.
    Neighbor,
}

/// The host that a device is, and the hosts that become a part of it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) host: Stored,
    pub(super) others: Vec<Stored>,
}

/// The input of a decision.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) place: Place,
    pub(super) device: Arc<Device>,
    /// The device as a host that a daemon reports. `None`: the report describes it by tables.
    pub(super) reported: Option<Arc<Host>>,
    pub(super) role: Role,
    /// `None`: the device becomes a new host.
    pub(super) known: Option<Known>,
    pub(super) reporter: Reporter,
    pub(super) scanned_ports: Arc<[PortRange]>,
    pub(super) subnets: Arc<Subnets>,
    pub(super) observed_at: Timestamp,
    pub(super) now: Timestamp,
    pub(super) encoder: HostEncoder,
    /// The source of random ids for new parts. `None`: their ids follow from the host's id.
    pub(super) random: Option<Arc<dyn RandomSource>>,
}

/// The decision: the records to be stored.
#[derive(Debug)]
pub(super) struct Planned {
    /// `None`: the host stays as it is.
    pub(super) encoded: Option<EncodedHost>,
    /// The hosts as read.
    pub(super) before: Before,
    /// `None`: the state stays as it is.
    pub(super) discovery: Option<HostDiscovery>,
    pub(super) state_record: Option<Record>,
    /// The claims that change.
    pub(super) claims: Vec<ClaimedTable>,
    /// The replacements of hosts and parts that are gone.
    pub(super) replaced: Replaced,
    /// The identities by which others may have named the host, if these have changed.
    pub(super) affected: Vec<Identity>,
    /// The prefixes of addresses whose interfaces only the host describes.
    pub(super) prefixes: BTreeSet<Cidr>,
    name: String,
    outcome: DiscoveryOutcome,
    changes: Vec<String>,
    /// The hosts that became a part of this one.
    merged_hosts: Vec<Uuid>,
    reason: Option<String>,
}

impl Plan {
    pub(super) fn decide(mut self) -> Result<Planned, Error> {
        let mut before = Before::new();
        let mut naming = Vec::new();
        let mut replaced = Replaced::new();
        let (mut opened, mut state_record, mut others) = (None, None, Vec::new());
        if let Some(Known { host, others: stored }) = self.known.take() {
            for stored in std::iter::once(&host).chain(&stored) {
                let one = stored.open()?;
                before.insert(one.host.id, (stored.record.clone(), Summary::from(&one.host)));
                naming.push(Naming::of(&one.host));
                others.push(one);
            }
            opened = Some(others.remove(0));
            state_record = host.state;
        }
        let original = opened.as_ref().and_then(|opened: &Opened| opened.discovery.clone());
        let stored_claims = opened.as_ref().map(|opened| opened.claims.clone()).unwrap_or_default();
        let merged_hosts: Vec<Uuid> = others.iter().map(|other| other.host.id).collect();
        if let Some(opened) = &mut opened {
            for other in others {
                opened.take_edits(&other);
                replaced.extend(opened.absorb(self.place, other, self.now));
            }
        }

        let discovery = opened.as_ref().and_then(|opened| opened.discovery.as_ref());
        let separate = discovery.map(|known| known.separate.clone()).unwrap_or_default();
        let mut merged = self.merge(opened.as_ref())?;
        let is_known = opened.is_some();
        let mut claims = opened.map(|opened| opened.claims).unwrap_or_default();
        let reported = claimed_tables(&self.device.tables, self.observed_at, &self.reporter);
        for claimed in reported {
            let kind = claimed.table.kind();
            let after = match claims.get(&kind) {
                Some(stored) => claimed.after(stored),
                None => Some(claimed),
            };
            claims.extend(after.map(|after| (kind, after)));
        }
        // A claim of another kind, which was not read, stays.
        let mut kinds = original.as_ref().map(|original| original.claims.clone()).unwrap_or_default();
        kinds.extend(claims.keys().copied());
        kinds.sort_unstable();
        kinds.dedup();
        claims.retain(|kind, claimed| stored_claims.get(kind) != Some(claimed));

        if self.random.is_some() {
            self.refresh_ids(&mut merged, &before)?;
        }
        let is_changed = merged.is_changed || !merged_hosts.is_empty() || !is_known;
        let is_aged = set_ages(&mut merged.host, &mut merged.state);
        let after = Naming::of(&merged.host);
        let is_affected = naming.len() != 1 || naming.first() != Some(&after);
        let mut affected = Vec::new();
        if is_affected {
            affected.extend(naming.into_iter().flat_map(|naming| naming.identities));
            affected.extend(after.identities);
        }
        let Place { organization, network, .. } = self.place;
        let discovery = HostDiscovery {
            organization_id: organization,
            network_id: network,
            claims: kinds,
            state: merged.state,
            separate,
        };
        let prefixes = undescribed_prefixes(&self.device.tables, &merged.host.if_entries);
        let name = merged.host.name.clone();
        let encoded = match is_changed || is_aged {
            true => Some(self.encoder.of_stored(stored_size(&before, self.place.host)).encode(merged.host)?),
            false => None,
        };
        Ok(Planned {
            encoded,
            before,
            discovery: Some(discovery).filter(|discovery| Some(discovery) != original.as_ref()),
            state_record,
            claims: claims.into_values().collect(),
            replaced,
            affected,
            prefixes,
            name,
            outcome: match (is_known, is_changed) {
                (false, _) => DiscoveryOutcome::Created,
                (true, true) => DiscoveryOutcome::Updated,
                (true, false) => DiscoveryOutcome::Unchanged,
            },
            changes: merged.changes,
            merged_hosts,
            reason: None,
        })
    }

    /// Merges the device into the host, and sets what follows from other records.
    ///
    /// # Errors
    /// `Invalid` for a device with too long a text.
    fn merge(&self, opened: Option<&Opened>) -> Result<MergedHost, Error> {
        let current = opened.map(|opened| &opened.host);
        let state = opened.and_then(|opened| opened.discovery.as_ref()).map(|known| &known.state);
        let (network, host_id) = (self.place.network, self.place.host);
        let projection = match &self.reported {
            Some(reported) => Projection::of_host(reported.as_host(host_id)),
            None => Projection::of_device(&self.device, network, host_id, &self.scanned_ports),
        };
        check_host_texts(projection.host(), None)?;
        let by_hand = match (current, state) {
            (Some(host), Some(state)) => values_by_hand(host, &state.baseline),
            _ => Vec::new(),
        };
        let merged = merge(current, state, &projection, self.observed_at, self.now);
        let mut merged = MergedHost {
            is_changed: merged.outcome != MergeOutcome::Unchanged,
            host: merged.host,
            state: merged.state,
            changes: merged.changes,
        };
        merged.state.edited.extend(by_hand);
        let subnet_of = |address| self.subnets.find(address);
        let moved = set_subnets(&mut merged.host, &mut merged.state, subnet_of, self.now);
        merged.add_changes(moved, self.now);
        self.set_hidden(&mut merged);
        Ok(merged)
    }

    /// Hides a host that is only named, and shows it once it is described.
    fn set_hidden(&self, merged: &mut MergedHost) {
        let is_hidden = self.role == Role::Neighbor;
        let was_hidden = merged.state.baseline.hidden;
        if is_hidden == was_hidden || merged.host.hidden != was_hidden || merged.state.is_edited("hidden") {
            return;
        }
        merged.host.hidden = is_hidden;
        merged.state.baseline.hidden = is_hidden;
        merged.add_changes(vec!["hidden".to_owned()], self.now);
    }

    /// Gives new parts random ids if the plan has a source of them.
    ///
    /// Other hosts then have the ids that follow from the host's id.
    fn refresh_ids(&self, merged: &mut MergedHost, before: &Before) -> Result<(), Error> {
        let Some(random) = &self.random else { return Ok(()) };
        let known: HashSet<Uuid> = match before.get(&self.place.host) {
            Some((record, _)) => part_ids(&decode_host::<Host>(record)?).collect(),
            None => HashSet::new(),
        };
        let mut renamed: HashMap<Uuid, Uuid> = HashMap::new();
        for id in part_ids(&merged.host).filter(|id| !known.contains(id)) {
            renamed.insert(id, uuid_v4(&**random)?);
        }
        let new_id = |id: Uuid| renamed.get(&id).copied();
        rename_parts(&mut merged.host, new_id);
        rename_parts(&mut merged.state.baseline, new_id);
        let seen = std::mem::take(&mut merged.state.seen);
        merged.state.seen = seen.into_iter().map(|(id, seen)| (new_id(id).unwrap_or(id), seen)).collect();
        Ok(())
    }
}

/// Returns the paths of the subnets and neighbors that users have set. They differ from what discovery wrote last.
fn values_by_hand(host: &Host, baseline: &Host) -> Vec<String> {
    let subnets: HashMap<Uuid, Option<Uuid>> =
        baseline.interfaces.iter().map(|part| (part.id, part.subnet_id)).collect();
    let neighbors: HashMap<Uuid, Option<Neighbor>> =
        baseline.if_entries.iter().map(|part| (part.id, part.neighbor)).collect();
    let subnets = host.interfaces.iter().filter(|part| {
        part.subnet_id.is_some() && subnets.get(&part.id).is_none_or(|before| *before != part.subnet_id)
    });
    let neighbors = host.if_entries.iter().filter(|part| {
        part.neighbor.is_some() && neighbors.get(&part.id).is_none_or(|before| *before != part.neighbor)
    });
    let subnets = subnets.map(|part| format!("interfaces.{}.subnet_id", part.id));
    subnets.chain(neighbors.map(|part| format!("if_entries.{}.neighbor", part.id))).collect()
}

/// A merged host, with what follows from other records.
struct MergedHost {
    host: Host,
    state: HostState,
    is_changed: bool,
    changes: Vec<String>,
}

impl MergedHost {
    fn add_changes(&mut self, changes: Vec<String>, now: Timestamp) {
        if !changes.is_empty() {
            self.is_changed = true;
            self.host.updated_at = now;
        }
        let room = MAX_CHANGES.saturating_sub(self.changes.len());
        self.changes.extend(changes.into_iter().take(room));
    }
}

/// Maximum number of changes that are listed.
const MAX_CHANGES: usize = 1_000;

fn part_ids(host: &Host) -> impl Iterator<Item = Uuid> + '_ {
    let interfaces = host.interfaces.iter().map(|part| part.id);
    let ports = host.ports.iter().map(|part| part.id);
    let services = host.services.iter().map(|part| part.id);
    interfaces.chain(ports).chain(services).chain(host.if_entries.iter().map(|part| part.id))
}

/// Returns the size of the stored host in bytes.
fn stored_size(before: &Before, host: Uuid) -> usize {
    before.get(&host).map_or(0, |(record, _)| record.body.len())
}

impl Planned {
    /// States which hosts became a part of this one, by their names.
    pub(super) fn explain_merge(&mut self, names: &BTreeMap<Uuid, String>) {
        let hosts = listed(&self.merged_hosts, names);
        let text = match self.merged_hosts.len() {
            0 => return,
            1 => format!("The host {hosts} is the same device and became a part of this one."),
            _ => format!("The hosts {hosts} are the same device and became parts of this one."),
        };
        self.reason = Some(text);
    }

    pub(super) fn outcome(self, id: Uuid, matched_by: Option<MatchedBy>) -> DiscoveredHost {
        let Self { name, outcome, changes, reason, .. } = self;
        DiscoveredHost { id: Some(id), name, outcome, matched_by, changes, reason }
    }
}
