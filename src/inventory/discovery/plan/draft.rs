//! The decision about a device.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use uuid::Uuid;

use super::merged::MergedHost;
use super::past::Past;
use super::{Plan, Planned, Role};
use crate::discovery::reconcile::{Identity, is_address_only, undescribed_prefixes, withdraw_cached_macs};
use crate::discovery::report::TableKind;
use crate::inventory::Error;
use crate::inventory::discovery::claims::{ClaimedTable, claimed_tables};
use crate::inventory::discovery::neighbors::follow::Naming;
use crate::inventory::discovery::opened::Opened;
use crate::inventory::discovery::records::{HostDiscovery, Place};
use crate::inventory::discovery::report::DiscoveryOutcome;
use crate::inventory::discovery::subnets::SubnetsOfAddresses;
use crate::inventory::hosts::{Before, decode as decode_host};
use crate::model::{Host, MacAddress};

/// A host with a device merged into it. The subnets of its addresses are still to be set.
#[derive(Debug)]
pub(in crate::inventory::discovery) struct Draft {
    plan: Plan,
    past: Past,
    merged: MergedHost,
    /// The claims of the host afterwards, of the kinds that were read or reported.
    claims: BTreeMap<TableKind, ClaimedTable>,
    /// The hosts that a user has split from this one.
    separate: BTreeSet<Uuid>,
    is_known: bool,
}

impl Plan {
    /// Merges the device into the host.
    ///
    /// # Errors
    /// `Invalid` for a device with too long a text.
    pub(in crate::inventory::discovery) fn draft(mut self) -> Result<Draft, Error> {
        let (past, mut opened) = self.open_known()?;
        let cached = opened.as_mut().map(withdraw_cached).unwrap_or_default();
        let mut merged = match (self.role, &opened) {
            (Role::Cached, Some(opened)) => MergedHost::of(opened, past.derives_name),
            _ => MergedHost::new(&self, opened.as_ref())?,
        };
        merged.restore_cached_macs(&cached, self.now);
        let is_known = opened.is_some();
        let (discovery, mut claims) =
            opened.map(|opened| (opened.discovery, opened.claims)).unwrap_or_default();
        let separate = discovery.map(|known| known.separate).unwrap_or_default();
        if self.role != Role::Cached {
            self.add_claims(&mut claims);
        }
        Ok(Draft { plan: self, past, merged, claims, separate, is_known })
    }

    /// Adds the tables of the device to the claims.
    fn add_claims(&self, claims: &mut BTreeMap<TableKind, ClaimedTable>) {
        for claimed in claimed_tables(&self.device.tables, self.observed_at, &self.reporter) {
            let kind = claimed.table.kind();
            let after = match claims.get(&kind) {
                Some(stored) => claimed.after(stored),
                None => Some(claimed),
            };
            claims.extend(after.map(|after| (kind, after)));
        }
    }
}

impl Draft {
    /// Returns the addresses whose subnets are to be looked up.
    pub(in crate::inventory::discovery) fn addresses(&self) -> Vec<IpAddr> {
        self.merged.addresses()
    }

    /// Sets what follows from other records, and returns the records to be stored.
    pub(in crate::inventory::discovery) fn decide(
        mut self,
        subnets: &SubnetsOfAddresses,
    ) -> Result<Planned, Error> {
        self.merged.set_subnets(subnets, self.plan.now);
        if self.plan.role != Role::Cached || self.past.is_shown {
            self.merged.set_hidden(self.plan.role, self.plan.now);
        }
        self.refresh_ids()?;
        let is_changed = self.merged.is_changed || !self.past.merged_hosts.is_empty() || !self.is_known;
        let is_aged = self.merged.set_ages();
        let affected = self.affected();
        let kinds = self.kinds();
        let Self { plan, past, merged, mut claims, separate, is_known } = self;
        claims.retain(|kind, claimed| past.claims.get(kind) != Some(claimed));
        let Place { organization, network, .. } = plan.place;
        let discovery = HostDiscovery {
            organization_id: organization,
            network_id: network,
            claims: kinds,
            state: merged.state,
            separate,
        };
        let prefixes = undescribed_prefixes(&plan.device.tables, &merged.host.if_entries);
        let name = merged.host.name.clone();
        let parts = if is_address_only(&merged.host) { merged.host.interfaces.as_slice() } else { &[] };
        let addresses = parts.iter().map(|part| part.ip_address).collect();
        let encoder = plan.encoder.of_stored(stored_size(&past.before, plan.place.host));
        let is_written = is_changed || is_aged;
        Ok(Planned {
            encoded: is_written.then(|| encoder.encode(merged.host)).transpose()?,
            before: past.before,
            discovery: Some(discovery).filter(|discovery| Some(discovery) != past.discovery.as_ref()),
            state_record: past.state_record,
            claims: claims.into_values().collect(),
            replaced: past.replaced,
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
        let former = self.past.before.get(&self.plan.place.host);
        let former = former.map(|(record, _)| decode_host::<Host>(record)).transpose()?;
        self.merged.refresh_ids(former.as_ref(), &**random)
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
        let mut kinds = self.past.discovery.as_ref().map(|known| known.claims.clone()).unwrap_or_default();
        kinds.extend(self.claims.keys().copied());
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

/// Takes the MAC addresses of neighbor caches from a host, so that they are not taken for its own.
fn withdraw_cached(opened: &mut Opened) -> BTreeMap<Uuid, MacAddress> {
    if let Some(known) = &mut opened.discovery {
        withdraw_cached_macs(&mut known.state.baseline);
    }
    withdraw_cached_macs(&mut opened.host)
}

/// Returns the size of the stored host in bytes.
fn stored_size(before: &Before, host: Uuid) -> usize {
    before.get(&host).map_or(0, |(record, _)| record.body.len())
}
