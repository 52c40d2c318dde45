//! Edits of stored hosts: decode, change, encode, and commit unless the hosts have changed meanwhile.

use serde::de::DeserializeOwned;

use super::change::{Before, HostChange};
use super::document::{EncodedHost, HostEncoder, decode};
use super::parts::Embedded;
use super::taken_part::TakenPart;
use super::virtualization::Summary;
use crate::access::Caller;
use crate::inventory::policy::Actor;
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Error, Inventory};
use crate::model::{Host, OrganizationId, Record as _, Timestamp};
use crate::store::Record;

/// A host to be changed, with its record and summary as stored.
#[derive(Debug)]
pub(super) struct StoredHost {
    pub(super) record: Record,
    pub(super) summary: Summary,
    pub(super) host: Host,
}

/// Changed hosts to be stored.
#[derive(Debug)]
pub(super) struct HostEdit {
    hosts: Vec<StoredHost>,
    keeps_identities: bool,
}

impl StoredHost {
    pub(super) fn decode(record: Record) -> Result<Self, Error> {
        let host: Host = decode(&record)?;
        Ok(Self { record, summary: Summary::from(&host), host })
    }
}

impl HostEdit {
    /// Creates an edit of parts of one kind, which moves `updated_at` of the hosts.
    pub(super) fn of<P: Embedded>(mut hosts: Vec<StoredHost>, now: Timestamp) -> Self {
        for stored in &mut hosts {
            stored.host.updated_at = now;
        }
        Self { hosts, keeps_identities: !P::IDENTIFIES_HOST }
    }

    pub(super) fn encode(self, encoder: HostEncoder) -> Result<(Vec<EncodedHost>, Before), Error> {
        let mut before = Before::with_capacity(self.hosts.len());
        let mut puts = Vec::with_capacity(self.hosts.len());
        for StoredHost { record, summary, host } in self.hosts {
            puts.push(encoder.of_stored(record.body.len()).encode(host)?);
            before.insert(record.key.id.into(), (record, summary));
        }
        Ok((puts, before))
    }
}

impl Inventory {
    /// Decodes a stored host or a part of it. A large host is decoded on a blocking thread.
    pub(in crate::inventory) async fn decode_host<T: DeserializeOwned + Send + 'static>(
        &self,
        organization: OrganizationId,
        record: &Record,
    ) -> Result<T, Error> {
        let record = record.clone();
        self.state.offload.run(organization, record.body.len(), move || decode(&record)).await?
    }

    /// Decodes a stored host to be changed.
    pub(super) async fn open_host(
        &self,
        organization: OrganizationId,
        record: Record,
    ) -> Result<StoredHost, Error> {
        let bytes = record.body.len();
        self.state.offload.run(organization, bytes, move || StoredHost::decode(record)).await?
    }

    /// Encodes and commits changed hosts. The attempt is stale unless they are still stored as they were decoded.
    ///
    /// The policy is asked before.
    pub(super) async fn commit_edit(
        &self,
        transaction: &Transaction<'_>,
        caller: &Caller,
        edit: HostEdit,
    ) -> Result<Attempt<TakenPart>, Error> {
        let organization = caller.organization_id();
        let keeps_identities = edit.keeps_identities;
        let encoder = self.host_encoder(organization);
        let bytes = edit.hosts.iter().map(|stored| stored.host.likely_size()).sum();
        let (puts, before) =
            self.state.offload.run(organization, bytes, move || edit.encode(encoder)).await??;
        let change = HostChange { keeps_identities, ..HostChange::putting(caller, &puts) };
        self.change_hosts_as(transaction, Actor::Caller(caller), &change, &before).await
    }
}
