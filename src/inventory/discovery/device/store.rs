//! Storing a discovered device.
//!
//! The records of its host are read, merged with the device and committed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Target;
use crate::discovery::report::{Device, TableKind};
use crate::inventory::discovery::Reconciler;
use crate::inventory::discovery::known_host::HostRecords;
use crate::inventory::discovery::plan::{DeviceMerge, RecordChanges};
use crate::inventory::discovery::records::{NetworkHost, claim_key, put_discovered_hosts};
use crate::inventory::discovery::reported::ReportedDevice;
use crate::inventory::hosts::TakenPart;
use crate::inventory::schema::{host_discovery_key, host_key};
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::HostId;
use crate::store::{Batch, Guard, Key, Precondition, Record, Version};
use crate::wire::DiscoveredHost;

/// An attempt to store a device.
pub(super) struct Attempted<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) subject: &'a ReportedDevice,
    pub(super) target: Target,
    /// The record of the network that changes with the set of its hosts.
    pub(super) marker: Option<Record>,
    /// Whether new parts get random ids, because one of theirs belongs to a part of another host.
    pub(super) has_fresh_ids: &'a mut bool,
    /// The names of the hosts that the device may be.
    pub(super) names: &'a BTreeMap<HostId, String>,
}

impl Reconciler {
    /// Merges the device into its host and commits both. `None`: the attempt must be repeated.
    pub(super) async fn store(
        &mut self,
        attempt: Attempted<'_>,
        candidates: &BTreeMap<HostId, Version>,
    ) -> Result<Option<DiscoveredHost>, Error> {
        let Attempted { transaction, subject, target, marker, has_fresh_ids, names } = attempt;
        let device = &subject.device;
        let id = target.id();
        let (known, matched_by) = match &target {
            Target::New { .. } => (Vec::new(), None),
            Target::Known { matched_by, merged, .. } => {
                let Some(known) = self.read_known(id, merged, device, candidates).await? else {
                    return Ok(None);
                };
                (known, Some(*matched_by))
            }
        };
        let place = NetworkHost { organization: self.organization, network: self.network, host: id };
        let plan = DeviceMerge {
            place,
            subject: subject.clone(),
            known,
            reporter: self.reporter.clone(),
            scanned_ports: Arc::clone(&self.scanned_ports),
            observed_at: self.observed_at,
            now: self.inventory.now(),
            encoder: self.inventory.host_encoder(self.organization),
            port_names: self.inventory.port_names.clone(),
            random: (*has_fresh_ids).then(|| Arc::clone(&self.inventory.random)),
            has_policy: self.inventory.policy.is_some(),
        };
        let mut planned = self.decide(plan).await?;
        if matches!(target, Target::New { .. }) {
            self.inventory.check_host_quota(self.organization, 1).await?;
        }
        planned.explain_merge(names);
        Ok(match self.commit(transaction, &target, &mut planned, marker.as_ref()).await? {
            Attempt::Committed => {
                self.note(id, &planned);
                self.prefixes.append(&mut planned.prefixes);
                self.addresses.extend(planned.addresses.drain(..));
                self.warn(std::mem::take(&mut planned.notes));
                Some(planned.outcome(id, matched_by))
            }
            Attempt::Stale => None,
            Attempt::Taken(_) => {
                *has_fresh_ids = true;
                None
            }
        })
    }

    /// Decides about a device, and looks up the subnets of its host's addresses for that.
    async fn decide(&mut self, plan: DeviceMerge) -> Result<RecordChanges, Error> {
        let (inventory, organization, bytes) = (&self.inventory, self.organization, plan.size());
        let draft = inventory.state.offload.run(organization, bytes, move || plan.draft()).await??;
        let place = (organization, self.network);
        let subnets = inventory.subnets_of(place, &draft.addresses(), &mut self.subnets).await?;
        inventory.state.offload.run(organization, bytes, move || draft.decide(&subnets)).await?
    }

    /// Reads the records of a device's host, and of the hosts merged into it.
    ///
    /// `None`: a host has changed since the device was recognized.
    async fn read_known(
        &self,
        id: HostId,
        merged: &[HostId],
        device: &Device,
        candidates: &BTreeMap<HostId, Version>,
    ) -> Result<Option<Vec<HostRecords>>, Error> {
        let kinds: BTreeSet<TableKind> = match merged {
            [] => device.tables.summaries().into_iter().map(|table| table.kind).collect(),
            _ => TableKind::ALL.iter().copied().collect(),
        };
        let mut stored = Vec::with_capacity(merged.len() + 1);
        for host in std::iter::once(id).chain(merged.iter().copied()) {
            let Some(mut found) = self.inventory.read_stored(host, &kinds).await? else { return Ok(None) };
            if candidates.get(&host) != Some(&found.record.version) {
                return Ok(None);
            }
            found.host = self.decoded.known(&found.record);
            stored.push(found);
        }
        Ok(Some(stored))
    }

    async fn commit(
        &self,
        transaction: &Transaction<'_>,
        target: &Target,
        planned: &mut RecordChanges,
        marker: Option<&Record>,
    ) -> Result<Attempt<TakenPart>, Error> {
        let mut batch = Batch::new();
        let place = NetworkHost { organization: self.organization, network: self.network, host: target.id() };
        let state = unchanged(planned.state_record.as_ref());
        let has_claims = !planned.claims.is_empty();
        for claim in planned.claims.drain(..) {
            claim.put(Precondition::Any, &mut batch);
        }
        if let Some(encoded) = planned.state.take() {
            encoded.put(state, &mut batch);
        } else if has_claims {
            batch.guard(Guard::record(host_discovery_key(place.host), state));
        }
        let is_written = !batch.writes().is_empty() || planned.encoded.is_some();
        // Also written by the first discovery of a network, so that concurrent changes of its hosts conflict.
        if target.changes_hosts() || (is_written && marker.is_none()) {
            put_discovered_hosts((self.organization, self.network), marker, &mut batch);
        }
        let Some(encoded) = planned.encoded.take() else {
            if batch.writes().is_empty() {
                return Ok(Attempt::Committed);
            }
            let version = planned.before.get(&place.host).map(|(record, _)| record.version);
            let precondition = version.map_or(Precondition::Absent, Precondition::Version);
            batch.guard(Guard::record(host_key(place.host), precondition));
            let is_stored = self.inventory.commit_if_unchanged(&transaction.author, batch).await?;
            return Ok(if is_stored { Attempt::Committed } else { Attempt::Stale });
        };
        let deletes: &[HostId] = match target {
            Target::Known { merged, .. } => merged,
            Target::New { .. } => &[],
        };
        let mut puts = vec![encoded];
        let mut before = std::mem::take(&mut planned.before);
        let _turn = transaction.review_hosts(self.sender.actor(), (&puts, deletes), &before).await?;
        if !planned.replaced.is_empty() {
            let references = (&mut puts, &mut before, &mut batch);
            self.inventory.replace_references(place, &planned.replaced, references).await?;
        }
        self.inventory.commit_merged(&transaction.author, (&puts, deletes), &before, batch).await
    }

    /// Records that the neighbors of the host, and of hosts that name it, must be resolved again.
    fn note(&mut self, id: HostId, planned: &RecordChanges) {
        self.affected_identities.extend(planned.affected.iter().cloned());
        self.affected_hosts.insert(id);
    }
}

impl Inventory {
    /// Reads all that is stored of a host, with its claims of some kinds. `None`: there is no such host.
    pub(in crate::inventory::discovery) async fn read_stored(
        &self,
        host: HostId,
        kinds: &BTreeSet<TableKind>,
    ) -> Result<Option<HostRecords>, Error> {
        let claims = kinds.iter().map(|kind| claim_key(host, *kind));
        let keys: Vec<Key> = [host_key(host), host_discovery_key(host)].into_iter().chain(claims).collect();
        let mut records = self.store.get(&keys).await?.into_iter();
        let (Some(Some(record)), Some(state)) = (records.next(), records.next()) else { return Ok(None) };
        let claims = records.flatten().collect();
        Ok(Some(HostRecords { record, host: None, state, claims }))
    }
}

impl DeviceMerge {
    /// Estimates the number of bytes to be decoded and encoded.
    fn size(&self) -> usize {
        let of_stored = |stored: &HostRecords| {
            let state = stored.state.as_ref().map_or(0, |state| state.body.len());
            let claims: usize = stored.claims.iter().map(|claim| claim.body.len()).sum();
            stored.record.body.len() + state + claims
        };
        let rows: usize = self.subject.device.tables.summaries().iter().map(|table| table.rows).sum();
        self.known.iter().map(of_stored).sum::<usize>().saturating_add(rows.saturating_mul(ROW_BYTES))
    }
}

/// Estimated size of a row, in bytes. It is in a claim, in the host and in its state.
const ROW_BYTES: usize = 1_024;
