//! A host with a device merged into it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;

use uuid::Uuid;

use super::{DeviceMerge, Role};
use crate::access::{RandomSource, uuid_v4};
use crate::discovery::reconcile::{
    HostState, MergeOutcome, Projection, derived_name, has_recent_ages, merge_owned, restore_cached_macs,
    set_ages, set_subnets,
};
use crate::inventory::Error;
use crate::inventory::discovery::subnets::SubnetsOfAddresses;
use crate::inventory::hosts::{check_host_texts, rename_parts};
use crate::model::{Host, IfEntryId, InterfaceId, MacAddress, Neighbor, SubnetId, Timestamp, part_ids};

/// Maximum number of changes that are listed.
const MAX_CHANGES: usize = 1_000;

/// A merged host, with the values that follow from other records.
#[derive(Debug)]
pub(super) struct MergedHost {
    pub(super) host: Host,
    pub(super) state: HostState,
    pub(super) is_changed: bool,
    pub(super) changes: Vec<String>,
}

impl MergedHost {
    /// Merges the device of a plan into the host.
    ///
    /// # Errors
    /// `Invalid` for a device with too long a text, and `TooLarge` for a new host that is too large in any case.
    pub(super) fn new(
        plan: &DeviceMerge,
        current: Option<Host>,
        state: Option<HostState>,
    ) -> Result<Self, Error> {
        let (network, host_id) = (plan.place.network, plan.place.host);
        let projection = match &plan.subject.reported {
            Some(reported) => Projection::of_host(reported.as_host(host_id)),
            None => Projection::of_device(&plan.subject.device, network, host_id, &plan.scanned_ports),
        };
        let projection = projection.with_port_names(plan.port_names.clone());
        check_host_texts(projection.host(), None)?;
        if current.is_none() {
            plan.encoder.check_least_size(projection.host())?;
        }
        let by_hand = match (&current, &state) {
            (Some(host), Some(state)) => values_by_hand(host, &state.baseline),
            _ => Vec::new(),
        };
        let merged = merge_owned(current, state, projection, plan.observed_at, plan.now);
        let mut merged = Self {
            is_changed: merged.outcome != MergeOutcome::Unchanged,
            host: merged.host,
            state: merged.state,
            changes: merged.changes,
        };
        merged.state.edited.extend(by_hand);
        Ok(merged)
    }

    /// Returns a host that took over others, and that no report describes. It may be named after its fields.
    pub(super) fn of(mut host: Host, state: Option<HostState>, derives_name: bool) -> Self {
        let mut state = state.unwrap_or_else(|| HostState::of_host(&host));
        if derives_name && !state.is_edited("name") {
            host.name = derived_name(&host);
            state.baseline.name.clone_from(&host.name);
        }
        Self { host, state, is_changed: false, changes: Vec::new() }
    }

    /// Gives the interfaces that have no MAC address those of neighbor caches again.
    pub(super) fn restore_cached_macs(&mut self, cached: &BTreeMap<InterfaceId, MacAddress>, now: Timestamp) {
        let lost = restore_cached_macs(&mut self.host, &mut self.state, cached);
        self.add_changes(lost, now);
    }

    /// Returns the addresses whose subnets are to be set.
    pub(super) fn addresses(&self) -> Vec<IpAddr> {
        self.host.interfaces.iter().map(|interface| interface.ip_address).collect()
    }

    pub(super) fn set_subnets(&mut self, subnets: &SubnetsOfAddresses, now: Timestamp) {
        let subnet_of = |address| subnets.get(&address).copied();
        let moved = set_subnets(&mut self.host, &mut self.state, subnet_of, now);
        self.add_changes(moved, now);
    }

    /// Hides a host that is only named, and shows it once it is described.
    pub(super) fn set_hidden(&mut self, role: Role, now: Timestamp) {
        let is_hidden = role == Role::Neighbor;
        let was_hidden = self.state.baseline.hidden;
        let is_edited = self.host.hidden != was_hidden || self.state.is_edited("hidden");
        if is_hidden == was_hidden || is_edited {
            return;
        }
        self.host.hidden = is_hidden;
        self.state.baseline.hidden = is_hidden;
        self.add_changes(vec!["hidden".to_owned()], now);
    }

    /// Sets when the parts were seen and whether they are stale. Returns whether the host changes.
    pub(super) fn set_ages(&mut self) -> bool {
        set_ages(&mut self.host, &mut self.state)
    }

    /// Gives the parts random ids, apart from those that the former host has.
    ///
    /// Other hosts then have the ids that follow from the host's id.
    pub(super) fn refresh_ids(&mut self, known: &[Uuid], random: &dyn RandomSource) -> Result<(), Error> {
        let known: HashSet<Uuid> = known.iter().copied().collect();
        let mut renamed: HashMap<Uuid, Uuid> = HashMap::new();
        for id in part_ids(&self.host).into_iter().filter(|id| !known.contains(id)) {
            renamed.insert(id, uuid_v4(random)?);
        }
        let new_id = |id: Uuid| renamed.get(&id).copied();
        rename_parts(&mut self.host, new_id);
        rename_parts(&mut self.state.baseline, new_id);
        let seen = std::mem::take(&mut self.state.seen);
        self.state.seen = seen.into_iter().map(|(id, seen)| (new_id(id).unwrap_or(id), seen)).collect();
        Ok(())
    }

    /// Returns whether the ages of the host need not be set for a device that is unchanged.
    pub(super) fn has_recent_ages(&self) -> bool {
        has_recent_ages(&self.host, &self.state)
    }

    fn add_changes(&mut self, changes: Vec<String>, now: Timestamp) {
        if !changes.is_empty() {
            self.is_changed = true;
            self.host.updated_at = now;
        }
        let room = MAX_CHANGES.saturating_sub(self.changes.len());
        self.changes.extend(changes.into_iter().take(room));
    }
}

/// Returns the paths of the subnets and neighbors that users have set. They differ from what discovery wrote last.
fn values_by_hand(host: &Host, baseline: &Host) -> Vec<String> {
    let subnets: HashMap<InterfaceId, Option<SubnetId>> =
        baseline.interfaces.iter().map(|part| (part.id, part.subnet_id)).collect();
    let neighbors: HashMap<IfEntryId, Option<Neighbor>> =
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
