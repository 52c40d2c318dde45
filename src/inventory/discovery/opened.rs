//! The stored records of a host, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::claims::ClaimedTable;
use super::consolidate::absorb::{Replaced, absorb, absorb_state};
use super::records::{ClaimRecord, HostDiscovery, Place};
use crate::discovery::reconcile::{HostState, set_ages, take_edits};
use crate::discovery::report::TableKind;
use crate::inventory::hosts::decode as decode_host;
use crate::inventory::schema::decode;
use crate::inventory::{Error, custom};
use crate::model::{Host, Timestamp};
use crate::store::Record;

/// The stored records of a host.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) record: Record,
    /// The host, if this version of it has been decoded before.
    pub(super) host: Option<Arc<Host>>,
    pub(super) state: Option<Record>,
    pub(super) claims: Vec<Record>,
}

/// The claims of a host by their kinds.
pub(super) type Claims = BTreeMap<TableKind, ClaimedTable>;

/// A host with what discovery knows of it.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) host: Host,
    pub(super) discovery: Option<HostDiscovery>,
    pub(super) claims: Claims,
}

impl Stored {
    pub(super) fn open(&self) -> Result<Opened, Error> {
        let discovery = self.state.as_ref().map(decode).transpose()?;
        let host = match &self.host {
            Some(host) => Host::clone(host),
            None => decode_host(&self.record)?,
        };
        Ok(Opened { host, discovery, claims: claims_of(&self.claims)? })
    }

    /// Takes the claims out and decodes them.
    pub(super) fn take_claims(&mut self) -> Result<Claims, Error> {
        claims_of(&std::mem::take(&mut self.claims))
    }
}

/// Decodes claims.
fn claims_of(records: &[Record]) -> Result<Claims, Error> {
    let claimed = records.iter().map(|record| Ok(decode::<ClaimRecord>(record)?.claimed));
    claimed.map(|claimed| claimed.map(|claimed| (claimed.table.kind(), claimed))).collect()
}

impl Opened {
    /// Takes over the values that users have changed in another host.
    pub(super) fn take_edits(&mut self, other: &Self) {
        if let (Some(own), Some(known)) = (&mut self.discovery, &other.discovery) {
            take_edits(&mut self.host, &mut own.state, &other.host, &known.state);
        }
    }

    /// Takes over everything of another host.
    ///
    /// Returns what replaces the parts that both have, and the names of the custom fields that are left out because all of
    /// them would exceed the limits.
    pub(super) fn absorb(
        &mut self,
        place: Place,
        mut other: Self,
        now: Timestamp,
    ) -> (Replaced, Vec<String>) {
        let is_known = self.discovery.is_some() || other.discovery.is_some();
        let mut discovery = self.discovery.take().unwrap_or_else(|| new_discovery(place, &self.host));
        let gone = other.host.id;
        let left_out = custom::join(&mut self.host.custom, std::mem::take(&mut other.host.custom));
        let replaced = absorb(&mut self.host, other.host, now);
        if let Some(mut state) = other.discovery {
            discovery.separate.append(&mut state.separate);
            for id in [gone, self.host.id] {
                discovery.separate.remove(&id);
            }
            absorb_state(&mut discovery, state, &replaced, now);
        }
        for (kind, claimed) in other.claims {
            let joined = match self.claims.remove(&kind) {
                Some(own) => own.joined(claimed),
                None => claimed,
            };
            self.claims.insert(kind, joined);
        }
        set_ages(&mut self.host, &mut discovery.state);
        discovery.claims = self.claims.keys().copied().collect();
        self.discovery = is_known.then_some(discovery);
        (replaced, left_out)
    }
}

/// Returns what discovery knows of a host that it has not described yet.
fn new_discovery(place: Place, host: &Host) -> HostDiscovery {
    HostDiscovery {
        organization_id: place.organization,
        network_id: place.network,
        claims: Vec::new(),
        state: HostState::of_host(host),
        separate: BTreeSet::new(),
    }
}
