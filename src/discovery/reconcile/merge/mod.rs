//! The merge of a report into a host.

pub(super) mod edits;
mod entries;
mod freshness;
pub(super) mod outcome;
pub(super) mod parts;
pub(super) mod plan;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use self::edits::note_edits;
use self::entries::is_described;
use self::freshness::Freshness;
use self::outcome::{MergeOutcome, Merged};
use self::parts::{EntryRules, MergedPart, bound_ports};
use self::plan::{IdentifiedParts, PartPlan};
use super::attributes::{Attribute, Origin, of_device};
use super::project::{Projection, derived_name};
use super::state::{HostState, Observed, Seen};
use crate::discovery::report::TableKind;
use crate::model::{
    Host, HostPart, IfEntry, IfEntryId, Interface, Port, Service, Source, Timestamp, for_each_part_type,
    part_ids,
};

/// The maximum number of changes that a merge lists.
const MAX_CHANGES: usize = 1_000;

/// The name of the device itself among the tables that were observed.
const DEVICE: &str = "device";

/// Merges the report of a device into its host.
///
/// `current` is the stored host, or `None` for a new one. `state` is the state that discovery keeps of the host, or
/// `None` if discovery has never written it. `observed_at` is the time of the report, and `now` the time of the merge.
///
/// - Fields that users have changed stay, and parts that users have deleted are not created again. A field counts as
///   changed by a user if it differs from the state's baseline, and if it is set in a host with the source `Manual`
///   when discovery writes it first. Discovery fills the rest.
/// - Of two values, the one that was observed later counts, whatever the order of the reports; of two values of one time,
///   the one with the greater text. Fields that belong together, such as those of a neighbor, are taken together.
/// - Interface entries that follow from other tables are made only for a host that no table of interfaces has described.
///   They change nothing of the others but their neighbors, and the first table of interfaces replaces them.
/// - An unchanged table shows again what the latest complete table has, and lacks again what that one lacked.
/// - A complete table clears values that it lacks, such as the neighbor of a port. Parts that it lacks are kept and
///   counted as missed.
#[must_use]
pub fn merge(
    current: Option<&Host>,
    state: Option<&HostState>,
    projection: &Projection,
    observed_at: Timestamp,
    now: Timestamp,
) -> Merged {
    merge_owned(current.cloned(), state.cloned(), projection.clone(), observed_at, now)
}

/// Merges like [`merge`], and takes the parts of its arguments instead of copying them.
pub(crate) fn merge_owned(
    current: Option<Host>,
    state: Option<HostState>,
    mut projection: Projection,
    observed_at: Timestamp,
    now: Timestamp,
) -> Merged {
    let Some(mut current) = current else { return create(projection, observed_at, now) };
    // Earlier versions kept a state of hosts entered by users without merging reports into them.
    let state = state.filter(|state| current.source != Source::Manual || !state.observed.is_empty());
    let before = state.as_ref().map(Before::of);
    let mut next_state = state.unwrap_or_else(|| adopt(&current));
    let custom = std::mem::take(&mut current.custom);
    let has_host_as_baseline = next_state.baseline == current;
    current.custom = custom;
    note_edits(&mut next_state, &current);
    let is_entered = before.is_none() && !current.if_entries.is_empty();
    let reported = projection.take_host();
    let mut merge = Merge {
        projection: &projection,
        observed_at,
        now,
        has_interface_table: is_entered || next_state.has_interface_table(),
        freshness_of_device: Freshness::Absent,
        freshness_of_tables: BTreeMap::new(),
        host: current,
        state: next_state,
        has_host_as_baseline,
        changes: Vec::new(),
        is_changed: false,
    };
    merge.compare_times();
    merge.merge_device();
    merge.merge_parts(reported);
    merge.derive_name();
    merge.note_observed();
    merge.note_unchanged();
    merge.finish(before)
}

/// The parts of a state that a merge changes even if it has nothing to write.
struct Before {
    edited: BTreeSet<String>,
    deleted: BTreeSet<String>,
    observed: BTreeMap<String, Observed>,
    seen: BTreeMap<Uuid, Seen>,
    kept: BTreeMap<String, Timestamp>,
    has_derived_chassis: bool,
}

impl Before {
    fn of(state: &HostState) -> Self {
        Self {
            edited: state.edited.clone(),
            deleted: state.deleted.clone(),
            observed: state.observed.clone(),
            seen: state.seen.clone(),
            kept: state.kept.clone(),
            has_derived_chassis: state.has_derived_chassis,
        }
    }
}

/// Creates the state of a host that discovery has not written. A display name of its own stays.
fn adopt(host: &Host) -> HostState {
    let mut state = HostState::of_host(host);
    let own = [host.sys_name.as_deref(), host.hostname.as_deref()];
    let is_reported = own.into_iter().flatten().any(|name| name == host.name);
    let is_address = host.interfaces.iter().any(|interface| interface.ip_address.to_string() == host.name);
    if !host.name.is_empty() && !is_reported && !is_address {
        state.edited.insert("name".to_owned());
    }
    state
}

fn create(mut projection: Projection, observed_at: Timestamp, now: Timestamp) -> Merged {
    let mut host = projection.take_host();
    (host.created_at, host.updated_at) = (now, now);
    for_each_part_type!(P => P::list_mut(&mut host).iter_mut().for_each(|part| part.set_times(Some(now), now)));
    host.sort_embedded();
    let mut merge = Merge {
        projection: &projection,
        observed_at,
        now,
        has_interface_table: false,
        freshness_of_device: Freshness::Absent,
        freshness_of_tables: BTreeMap::new(),
        state: HostState {
            has_derived_chassis: projection.has_derived_chassis && host.chassis_id.is_some(),
            ..HostState::of_host(&host)
        },
        host,
        has_host_as_baseline: true,
        changes: Vec::new(),
        is_changed: true,
    };
    let fields =
        of_device::<Host>().filter(|field| field.is_set(&merge.host)).map(|field| field.name().to_owned());
    merge.changes.extend(fields.collect::<Vec<_>>());
    for_each_part_type!(P => merge.note_created::<P>());
    merge.note_observed();
    let Merge { host, state, changes, .. } = merge;
    Merged { host, state, outcome: MergeOutcome::Created, changes, changes_state: true }
}

struct Merge<'m> {
    /// The report of the device, without the parts of its host.
    projection: &'m Projection,
    observed_at: Timestamp,
    now: Timestamp,
    /// Whether a table of interfaces has described the host before.
    has_interface_table: bool,
    freshness_of_device: Freshness,
    freshness_of_tables: BTreeMap<TableKind, Freshness>,
    host: Host,
    state: HostState,
    /// Whether the host is as discovery wrote it last.
    has_host_as_baseline: bool,
    changes: Vec<String>,
    is_changed: bool,
}

impl Merge<'_> {
    fn note_change(&mut self, path: String) {
        self.is_changed = true;
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(path);
        }
    }

    fn merge_parts(&mut self, reported: Host) {
        let may_add = |merge: &Self, table| {
            !matches!(merge.freshness(Origin::Table(table)), Freshness::Older { may_add: false })
        };
        let rules = EntryRules {
            trusts_reported: !self.projection.has_derived_entries,
            trusts_current: self.has_interface_table,
            port_names: &self.projection.port_names,
        };
        let open: HashSet<_> = reported.ports.iter().map(|port| (port.protocol, port.number)).collect();
        let may_add = |table| may_add(self, table);
        let mut plan = PartPlan::new(&self.host, reported, &self.state.deleted, rules, may_add);
        if self.projection.has_derived_entries && self.has_interface_table {
            plan.if_entries.retain_new(is_described);
            for entry in plan.if_entries.new_parts() {
                entry.if_index = 0;
            }
        }
        let covers = |ports: &[_]| {
            ports.iter().all(|(protocol, number)| {
                self.projection.covers_port(*protocol, *number) && !open.contains(&(*protocol, *number))
            })
        };
        let ports: Vec<bool> =
            self.host.ports.iter().map(|port| covers(&[(port.protocol, port.number)])).collect();
        let services: Vec<bool> =
            bound_ports(&self.host).iter().map(|ports| !ports.is_empty() && covers(ports)).collect();
        let interfaces = vec![true; self.host.interfaces.len()];
        let entries = vec![true; self.host.if_entries.len()];
        self.merge_list::<Interface>(plan.interfaces, &interfaces);
        self.merge_list::<Port>(plan.ports, &ports);
        self.merge_list::<Service>(plan.services, &services);
        let indexes: HashMap<i64, IfEntryId> =
            plan.if_entries.iter().map(|(entry, _)| (entry.if_index, entry.id)).collect();
        let freshness = self.freshness(Origin::Table(TableKind::IfEntries));
        let reported: HashSet<IfEntryId> = plan.if_entries.iter().map(|(entry, _)| entry.id).collect();
        self.withdraw_descriptions(&plan.if_entries);
        self.merge_list::<IfEntry>(plan.if_entries, &entries);
        if matches!(freshness, Freshness::Newer { .. } | Freshness::Same { .. }) {
            if !self.has_interface_table {
                self.drop_derived(&reported);
            }
            self.withdraw_indexes(&indexes);
        }
    }

    /// Merges a list. `may_miss` states for each present part whether a complete table would show it.
    fn merge_list<P: MergedPart>(&mut self, planned: IdentifiedParts<P>, may_miss: &[bool]) {
        let freshness = self.freshness(Origin::Table(P::TABLE));
        let mut list = std::mem::take(P::list_mut(&mut self.host));
        let mut is_reported = vec![false; list.len()];
        for (mut part, place) in planned {
            let present = place.and_then(|place| {
                if let Some(is_reported) = is_reported.get_mut(place) {
                    *is_reported = true;
                }
                list.get_mut(place)
            });
            match present {
                Some(present) => {
                    self.merge_part(present, &part);
                    self.note_seen(part.id(), freshness, true);
                }
                None => {
                    self.note_seen(part.id(), freshness, false);
                    part.set_times(Some(self.now), self.now);
                    self.note_change(format!("{}.{}", P::LIST, part.id()));
                    list.push(part);
                }
            }
        }
        let unreported = is_reported.iter().enumerate().filter(|(_, is_reported)| !**is_reported);
        for (place, _) in unreported {
            let Some(part) = list.get_mut(place) else { continue };
            let is_complete =
                matches!(freshness, Freshness::Newer { complete: true } | Freshness::Same { complete: true });
            if is_complete
                && may_miss.get(place) == Some(&true)
                && let Some(seen) = self.state.seen.get_mut(&part.id())
                && seen.last_seen_at < self.observed_at
            {
                seen.missed = seen.missed.saturating_add(1);
            }
            if let Some(blank) = P::blank(&self.projection.host) {
                self.merge_unreported(part, &blank);
            }
        }
        *P::list_mut(&mut self.host) = list;
    }

    fn note_seen(&mut self, id: Uuid, freshness: Freshness, is_present: bool) {
        if freshness == Freshness::Absent && is_present {
            return;
        }
        let seen = Seen { last_seen_at: self.observed_at, missed: 0 };
        let known = self.state.seen.entry(id).or_insert(seen);
        if matches!(freshness, Freshness::Newer { .. } | Freshness::Same { .. }) {
            *known = seen;
        } else {
            known.last_seen_at = known.last_seen_at.max(self.observed_at);
        }
    }

    fn note_created<P: MergedPart>(&mut self) {
        let ids: Vec<Uuid> = P::list(&self.host).iter().map(P::id).collect();
        for id in ids {
            self.note_seen(id, Freshness::Absent, false);
            self.note_change(format!("{}.{id}", P::LIST));
        }
    }

    fn derive_name(&mut self) {
        if !self.projection.derives_name || self.state.is_edited("name") {
            return;
        }
        let name = derived_name(&self.host);
        if !name.is_empty() && name != self.host.name {
            self.host.name = name;
            self.note_change("name".to_owned());
        }
    }

    fn note_observed(&mut self) {
        let tables = self.projection.tables.iter().map(|(kind, complete)| (kind.as_str(), *complete));
        for (name, complete) in tables.chain([(DEVICE, false)]) {
            let new = Observed { at: self.observed_at, complete_at: complete.then_some(self.observed_at) };
            let observed = self.state.observed.entry(name.to_owned()).or_insert(new);
            observed.at = observed.at.max(new.at);
            observed.complete_at = observed.complete_at.max(new.complete_at);
        }
    }

    /// Notes that all that the unchanged tables have is seen again, and that the rest is missing again.
    fn note_unchanged(&mut self) {
        let at = self.observed_at;
        for kind in &self.projection.unchanged {
            let Some(observed) = self.state.observed.get_mut(kind.as_str()) else { continue };
            // A truncated table does not show what is missing, and a later report knows more.
            if observed.at >= at || observed.complete_at != Some(observed.at) {
                continue;
            }
            let former = std::mem::replace(&mut observed.at, at);
            observed.complete_at = Some(at);
            for_each_part_type!(P => if P::TABLE == *kind {
                for part in P::list(&self.host) {
                    let Some(seen) = self.state.seen.get_mut(&MergedPart::id(part)) else { continue };
                    if seen.last_seen_at < former {
                        seen.missed = seen.missed.saturating_add(u32::from(seen.missed > 0));
                    } else {
                        seen.last_seen_at = seen.last_seen_at.max(at);
                    }
                }
            });
        }
    }

    fn finish(mut self, before: Option<Before>) -> Merged {
        self.forget_gone_parts();
        if self.is_changed {
            self.host.updated_at = self.now;
            self.host.sort_embedded();
        } else if let Some(before) = before
            && before.observed == self.state.observed
            && before.seen == self.state.seen
            && before.kept == self.state.kept
            && before.has_derived_chassis == self.state.has_derived_chassis
        {
            // The next merge that writes finds the same edits again.
            (self.state.edited, self.state.deleted) = (before.edited, before.deleted);
            return self.into_merged(MergeOutcome::Unchanged, false);
        }
        if self.is_changed || !self.has_host_as_baseline {
            self.state.set_baseline(&self.host);
        }
        let outcome = if self.is_changed { MergeOutcome::Updated } else { MergeOutcome::Unchanged };
        self.into_merged(outcome, true)
    }

    /// Removes the times of values of parts that no longer exist.
    fn forget_gone_parts(&mut self) {
        if self.state.kept.is_empty() {
            return;
        }
        let present: HashSet<Uuid> = part_ids(&self.host).into_iter().collect();
        self.state.kept.retain(|path, _| {
            let part = path.split('.').nth(1).and_then(|id| Uuid::try_parse(id).ok());
            part.is_none_or(|id| present.contains(&id))
        });
    }

    fn into_merged(self, outcome: MergeOutcome, changes_state: bool) -> Merged {
        let Self { host, state, changes, .. } = self;
        Merged { host, state, outcome, changes, changes_state }
    }
}
