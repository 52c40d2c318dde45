//! An inventory in memory with which reports are reconciled.
//!
//! Hosts are found by the terms of their identities alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toposcope::discovery::Report;
use toposcope::discovery::reconcile::{
    Candidate, HostState, Identity, MatchedBy, MergeOutcome, Merging, PortNames, Projection, Recognition,
    merge, named_by, new_host_id, recognize, resolve, set_neighbors,
};
use toposcope::discovery::report::{CdpRow, Device, LldpRow, Table};
use toposcope::model::{Host, HostId, NetworkId, Timestamp};

pub(crate) const NETWORK: NetworkId = NetworkId::from_u128(0x11);

/// A network's hosts, with the data that layer 3 stores beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    hosts: BTreeMap<HostId, Host>,
    states: BTreeMap<HostId, HostState>,
    lldp: BTreeMap<HostId, Vec<LldpRow>>,
    cdp: BTreeMap<HostId, Vec<CdpRow>>,
    identities: BTreeMap<Vec<u8>, BTreeSet<HostId>>,
    names: BTreeMap<Vec<u8>, BTreeSet<HostId>>,
}

/// The result of discovering a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Discovered {
    pub(crate) id: Option<HostId>,
    pub(crate) outcome: Option<MergeOutcome>,
    pub(crate) matched_by: Option<MatchedBy>,
    pub(crate) changes: Vec<String>,
    pub(crate) wrote_nothing: bool,
}

impl World {
    pub(crate) fn discover(&mut self, report: &Report) -> Vec<Discovered> {
        report.devices.iter().map(|device| self.discover_device(report, device)).collect()
    }

    fn discover_device(&mut self, report: &Report, device: &Device) -> Discovered {
        let ids = self.found(&self.identities, &Identity::of_device(device)).into_iter().chain(device.id);
        let candidates: Vec<Host> = ids.filter_map(|id| self.hosts.get(&id)).cloned().collect();
        let (id, matched_by) = match recognize(device, &candidates, Merging::Allowed) {
            Recognition::Known { id, matched_by, merged } => {
                assert!(merged.is_empty(), "this harness does not merge hosts");
                (Some(id), Some(matched_by))
            }
            Recognition::New => (new_host_id(device, NETWORK), None),
            _ => (None, None),
        };
        let Some(id) = id else {
            return Discovered { id: None, outcome: None, matched_by, changes: vec![], wrote_nothing: true };
        };
        let projection = Projection::of_device(device, NETWORK, id, &report.scanned_ports);
        let current = self.hosts.get(&id).filter(|_| matched_by.is_some());
        let merged =
            merge(current, self.states.get(&id), &projection, report.observed_at, report.observed_at);
        let mut changes = merged.changes.clone();
        let mut wrote_nothing = merged.writes_nothing();
        self.store(merged.host, merged.state);
        wrote_nothing &= !self.claim(id, device);

        let terms = Identity::of_host(&self.hosts[&id]);
        let mut affected = self.found(&self.names, &terms);
        affected.insert(id);
        for affected in affected {
            let found = self.resolve(affected, report.observed_at);
            wrote_nothing &= found.is_empty();
            changes.extend(found);
        }
        Discovered { id: Some(id), outcome: Some(merged.outcome), matched_by, changes, wrote_nothing }
    }

    /// Stores the tables of neighbors. Returns whether they changed.
    fn claim(&mut self, id: HostId, device: &Device) -> bool {
        let is_changed = replace(&mut self.lldp, id, device.tables.lldp.as_deref())
            | replace(&mut self.cdp, id, device.tables.cdp.as_deref());
        for identity in named_by(&self.lldp_of(id), self.cdp.get(&id).map_or(&[], Vec::as_slice)) {
            self.names.entry(identity.term()).or_default().insert(id);
        }
        is_changed
    }

    fn resolve(&mut self, id: HostId, now: Timestamp) -> Vec<String> {
        let lldp = self.lldp_of(id);
        let cdp = self.cdp.get(&id).cloned().unwrap_or_default();
        let candidates = self.found(&self.identities, &named_by(&lldp, &cdp));
        let tables: Vec<Vec<LldpRow>> = candidates.iter().map(|id| self.lldp_of(*id)).collect();
        let candidates: Vec<Candidate<'_>> =
            candidates.iter().zip(&tables).map(|(id, lldp)| Candidate::new(&self.hosts[id], lldp)).collect();
        let mut host = self.hosts[&id].clone();
        let neighbors = resolve(&host, &lldp, &cdp, &candidates, &PortNames::new());
        let state = self.states.get_mut(&id).unwrap();
        let changes = set_neighbors(&mut host, state, &neighbors, now);
        self.hosts.insert(id, host);
        changes
    }

    fn lldp_of(&self, id: HostId) -> Vec<LldpRow> {
        self.lldp.get(&id).cloned().unwrap_or_default()
    }

    pub(crate) fn store(&mut self, host: Host, state: HostState) {
        for identity in Identity::of_host(&host) {
            self.identities.entry(identity.term()).or_default().insert(host.id);
        }
        self.states.insert(host.id, state);
        self.hosts.insert(host.id, host);
    }

    fn found(
        &self,
        index: &BTreeMap<Vec<u8>, BTreeSet<HostId>>,
        identities: &[Identity],
    ) -> BTreeSet<HostId> {
        let terms = identities.iter().map(Identity::term);
        terms.filter_map(|term| index.get(&term)).flatten().copied().collect()
    }

    pub(crate) fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.values()
    }

    /// Returns the host that a device was recognized as.
    pub(crate) fn host_of(&self, device: &Device) -> &Host {
        let candidates = self.found(&self.identities, &Identity::of_device(device));
        let candidates: Vec<Host> = candidates.iter().map(|id| self.hosts[id].clone()).collect();
        match recognize(device, &candidates, Merging::Forbidden) {
            Recognition::Known { id, .. } => &self.hosts[&id],
            other => panic!("{other:?}"),
        }
    }

    /// Returns all hosts as JSON without times.
    pub(crate) fn without_times(&self) -> String {
        let mut hosts = serde_json::to_value(self.hosts.values().collect::<Vec<_>>()).unwrap();
        remove_times(&mut hosts);
        hosts.to_string()
    }
}

fn replace<T: Clone + PartialEq>(
    tables: &mut BTreeMap<HostId, Vec<T>>,
    id: HostId,
    table: Option<&Table<T>>,
) -> bool {
    let Some(table) = table else { return false };
    let mut rows = table.rows.clone();
    if !table.complete {
        let known = tables.get(&id).into_iter().flatten();
        rows.extend(known.filter(|row| !table.rows.contains(row)).cloned());
    }
    let is_changed = tables.get(&id) != Some(&rows);
    tables.insert(id, rows);
    is_changed
}

fn remove_times(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(remove_times),
        Value::Object(fields) => {
            fields.remove("created_at");
            fields.remove("updated_at");
            fields.values_mut().for_each(remove_times);
        }
        _ => {}
    }
}
