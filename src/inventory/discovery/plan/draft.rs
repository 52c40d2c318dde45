//! The decision about a device.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::merged::MergedHost;
use super::past::FormerRecords;
use super::{DeviceMerge, RecordChanges, Role};
use crate::discovery::reconcile::{Identity, is_address_only, undescribed_prefixes, withdraw_cached_macs};
use crate::discovery::report::TableKind;
use crate::inventory::Error;
use crate::inventory::discovery::claims::claimed_tables;
use crate::inventory::discovery::device::unknown_tables;
use crate::inventory::discovery::known_host::{Claims, KnownHost};
use crate::inventory::discovery::neighbors::follow::Naming;
use crate::inventory::discovery::records::{EncodedRecord, HostDiscovery, NetworkHost};
use crate::inventory::discovery::subnets::SubnetsOfAddresses;
use crate::inventory::hosts::EncodedHost;
use crate::model::{HostId, InterfaceId, MacAddress};
use crate::wire::DiscoveryOutcome;

/// A host with a device merged into it. The subnets of its addresses are still to be set.
#[derive(Debug)]
pub(in crate::inventory::discovery) struct MergeDraft {
    plan: DeviceMerge,
    past: FormerRecords,
    merged: MergedHost,
    /// The kinds of all claims that were read or reported.
    claim_kinds: BTreeSet<TableKind>,
    /// The claims that change.
    changed_claims: Vec<EncodedRecord>,
    /// The hosts that a user has split from this one.
    separate: BTreeSet<HostId>,
    is_known: bool,
}

/// The claims of a host after a report.
struct NextClaims {
    /// The kinds of all claims that were read or reported.
    kinds: BTreeSet<TableKind>,
    /// The claims that change.
    changed: Vec<EncodedRecord>,
    /// The kinds that the report has as unchanged, and of which there is no complete claim.
    unknown: Vec<TableKind>,
}

impl DeviceMerge {
    /// Merges the device into the host.
    ///
    /// Each record is encoded or moved as soon as possible, because large devices would take much memory
    /// otherwise.
    ///
    /// # Errors
    /// `Invalid` for a device with too long a text, and `TooLarge` for one that is too large in any case.
    pub(in crate::inventory::discovery) fn draft(mut self) -> Result<MergeDraft, Error> {
        let NextClaims { kinds: claim_kinds, changed: changed_claims, unknown } = self.next_claims()?;
        let (mut past, mut opened) = self.open_known()?;
        if !unknown.is_empty() {
            past.notes.push(unknown_tables(&self.subject.device, &unknown));
        }
        let cached = opened.as_mut().map(withdraw_cached).unwrap_or_default();
        let is_known = opened.is_some();
        let (host, discovery) = opened.map(|opened| (opened.host, opened.discovery)).unzip();
        let (state, separate) = discovery.flatten().map(|known| (known.state, known.separate)).unzip();
        let mut merged = match (self.subject.role, host) {
            (Role::Cached, Some(host)) => MergedHost::of(host, state, past.derives_name),
            (_, host) => MergedHost::new(&self, host, state)?,
        };
        merged.restore_cached_macs(&cached, self.now);
        let separate = separate.unwrap_or_default();
        Ok(MergeDraft { plan: self, past, merged, claim_kinds, changed_claims, separate, is_known })
    }

    /// Computes the next claims. They are the stored ones with those of the hosts to be merged into this one and the
    /// tables of the device.
    ///
    fn next_claims(&mut self) -> Result<NextClaims, Error> {
        let (mut stored, mut changed, mut unknown) = (Claims::new(), Claims::new(), Vec::new());
        if let Some((host, others)) = self.known.split_first_mut() {
            stored = host.take_claims()?;
            for other in others {
                for (kind, claimed) in other.take_claims()? {
                    let own = changed.remove(&kind).or_else(|| stored.get(&kind).cloned());
                    let joined = own.map_or(claimed.clone(), |own| own.joined(claimed));
                    changed.insert(kind, joined);
                }
            }
        }
        let is_reported = self.subject.role != Role::Cached;
        let tables = claimed_tables(&self.subject.device.tables, self.observed_at, &self.reporter);
        for claimed in tables.take_while(|_| is_reported) {
            let kind = claimed.table.kind();
            let after = match changed.get(&kind).or_else(|| stored.get(&kind)) {
                Some(before) => claimed.after(before),
                None => Some(claimed),
            };
            changed.extend(after.map(|after| (kind, after)));
        }
        for kind in self.subject.device.tables.unchanged().into_iter().take_while(|_| is_reported) {
            match changed.get(&kind).or_else(|| stored.get(&kind)) {
                Some(known) if known.complete => {
                    let again = known.seen_again(self.observed_at, &self.reporter);
                    changed.extend(again.map(|again| (kind, again)));
                }
                _ => unknown.push(kind),
            }
        }
        let kinds = stored.keys().chain(changed.keys()).copied().collect();
        changed.retain(|kind, claimed| stored.get(kind) != Some(claimed));
        drop(stored);
        let changed = changed.into_values().map(|claimed| EncodedRecord::of_claim(self.place, claimed));
        Ok(NextClaims { kinds, changed: changed.collect::<Result<_, _>>()?, unknown })
    }
}

impl MergeDraft {
    /// Returns the addresses whose subnets are to be looked up.
    pub(in crate::inventory::discovery) fn addresses(&self) -> Vec<IpAddr> {
        self.merged.addresses()
    }

    /// Sets the values that follow from other records, and returns the records to be stored.
    pub(in crate::inventory::discovery) fn decide(
        mut self,
        subnets: &SubnetsOfAddresses,
    ) -> Result<RecordChanges, Error> {
        self.merged.set_subnets(subnets, self.plan.now);
        if self.plan.subject.role != Role::Cached || self.past.is_shown {
            self.merged.set_hidden(self.plan.subject.role, self.plan.now);
        }
        self.refresh_ids()?;
        let is_changed = self.merged.is_changed || !self.past.merged_hosts.is_empty() || !self.is_known;
        let is_spared = !is_changed && !self.plan.subject.device.tables.unchanged().is_empty();
        let is_aged = !(is_spared && self.merged.has_recent_ages()) && self.merged.set_ages();
        let affected = self.affected();
        let kinds = self.kinds();
        let Self { plan, past, merged, changed_claims, separate, is_known, .. } = self;
        let NetworkHost { organization, network, host } = plan.place;
        let discovery = HostDiscovery {
            organization_id: organization,
            network_id: network,
            claims: kinds,
            state: merged.state,
            separate,
        };
        let state = EncodedRecord::of_state(host, &discovery)?;
        drop(discovery);
        let is_same = past.state_digest.is_some_and(|digest| state.has_body_of(&digest));
        let prefixes = undescribed_prefixes(&plan.subject.device.tables, &merged.host.if_entries);
        let name = merged.host.name.clone();
        let parts = if is_address_only(&merged.host) { merged.host.interfaces.as_slice() } else { &[] };
        let addresses = parts.iter().map(|part| part.ip_address).collect();
        let encoder = plan.encoder.of_stored(past.size);
        let is_written = is_changed || is_aged;
        let encoded = is_written.then(|| encoder.encode(merged.host)).transpose()?;
        Ok(RecordChanges {
            encoded: encoded.map(EncodedHost::without_entries),
            before: past.before,
            state: Some(state).filter(|_| !is_same),
            state_record: past.state_record,
            claims: changed_claims,
            replaced: past.replaced,
            notes: past.notes,
            affected,
            prefixes,
            addresses,
            name,
            outcome: match (is_known, is_changed) {
                (false, _) => DiscoveryOutcome::Created,
                (true, true) => DiscoveryOutcome::Updated,
                (true, false) => DiscoveryOutcome::Unchanged,
            },
            changes: merged.changes,
            merged_hosts: past.merged_hosts,
            reason: None,
        })
    }

    /// Gives new parts random ids if the plan has a source of them.
    fn refresh_ids(&mut self) -> Result<(), Error> {
        let Some(random) = &self.plan.random else { return Ok(()) };
        self.merged.refresh_ids(&self.past.part_ids, &**random)
    }

    /// Returns the identities by which others may have named the host, if these have changed.
    fn affected(&mut self) -> Vec<Identity> {
        let after = Naming::of(&self.merged.host);
        let former = std::mem::take(&mut self.past.naming);
        if former.len() == 1 && former.first() == Some(&after) {
            return Vec::new();
        }
        former.into_iter().chain([after]).flat_map(|naming| naming.identities).collect()
    }

    /// Returns the kinds of the host's claims. A claim of a kind that was not read stays.
    fn kinds(&self) -> Vec<TableKind> {
        let mut kinds = self.past.kinds.clone();
        kinds.extend(&self.claim_kinds);
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

/// Takes the MAC addresses of neighbor caches from a host, so that they are not taken for its own.
fn withdraw_cached(opened: &mut KnownHost) -> BTreeMap<InterfaceId, MacAddress> {
    if let Some(known) = &mut opened.discovery {
        withdraw_cached_macs(&mut known.state.baseline);
    }
    withdraw_cached_macs(&mut opened.host)
}
