//! Hosts as they were, many at a time: the present ones, with the changes since undone.

use std::collections::BTreeMap;

use super::one_record::{Document, host_of, set_time};
use super::past_records::{PastMoment, PastRecords};
use crate::access::Caller;
use crate::inventory::history::recording::recorder::shown;
use crate::inventory::schema::HOST;
use crate::inventory::{Error, Inventory, Moment};
use crate::model::{ChangedEntity, Host, HostId, NetworkId, Timestamp, uuids};
use crate::store::Query;

/// The hosts of an organization as they were at a moment.
#[derive(Debug)]
pub(in crate::inventory) struct PastHosts {
    inventory: Inventory,
    caller: Caller,
    at: PastMoment,
    records: PastRecords,
}

impl PastHosts {
    /// Reads the changes since a moment.
    pub(in crate::inventory) async fn at(
        inventory: &Inventory,
        caller: &Caller,
        at: &Moment,
    ) -> Result<Self, Error> {
        let at = inventory.past_moment(caller, "at", at).await?;
        Self::since(inventory, caller, at, None).await
    }

    /// Reads the changes since a moment. With a network, only the hosts that are or were on it are known.
    pub(in crate::inventory) async fn since(
        inventory: &Inventory,
        caller: &Caller,
        at: PastMoment,
        network_id: Option<NetworkId>,
    ) -> Result<Self, Error> {
        let kind = (ChangedEntity::Host, network_id);
        let records = PastRecords::since(inventory, caller, kind, &at).await?;
        Ok(Self { inventory: inventory.clone(), caller: caller.clone(), at, records })
    }

    /// Reads the changes made in the meantime.
    pub(in crate::inventory) async fn catch_up(&mut self) -> Result<(), Error> {
        self.records.catch_up().await
    }

    /// Returns whether a host has changed since.
    pub(in crate::inventory) fn has_changed(&self, id: HostId) -> bool {
        self.records.has_changed(id.uuid())
    }

    /// Returns the hosts that have changed since.
    pub(in crate::inventory) fn changed(&self) -> Vec<HostId> {
        self.records.changed().map(HostId::new).collect()
    }

    /// Returns these hosts as they were, without those that were not there.
    ///
    /// The time of the last change is as exact as `with_time` asks for: it takes a look at the entries of each host.
    pub(in crate::inventory) async fn get(
        &mut self,
        ids: &[HostId],
        with_time: bool,
    ) -> Result<Vec<Host>, Error> {
        let mut present = self.present(ids).await?;
        // After the hosts were read, so that their changes up to then are known.
        self.catch_up().await?;
        let mut hosts = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(mut document) = self.records.document(id.uuid(), present.remove(id)).await? else {
                continue;
            };
            if with_time {
                set_time(&mut document, self.last_change_time(*id).await?);
            }
            hosts.push(host_of(document)?);
            tokio::task::yield_now().await;
        }
        Ok(hosts)
    }

    /// Returns the documents of the present hosts that the caller may see.
    async fn present(&self, ids: &[HostId]) -> Result<BTreeMap<HostId, Document>, Error> {
        let query = Query {
            organization: Some(self.caller.organization_id().uuid()),
            networks: self.caller.scope().network_filter(),
            ids: Some(uuids(ids)),
            ..Query::new(HOST)
        };
        let records = self.inventory.store.list(&query).await?.records;
        let documents = records.iter().map(|record| {
            let document = shown(ChangedEntity::Host, &record.body)?;
            let document = serde_json::from_slice(&document).map_err(Error::internal)?;
            Ok((HostId::new(record.key.id), document))
        });
        documents.collect()
    }

    /// Returns the time of the last change of a host up to the moment; `None`: there is none, or it is the deletion.
    async fn last_change_time(&self, id: HostId) -> Result<Option<Timestamp>, Error> {
        let host = (ChangedEntity::Host, id.uuid());
        self.inventory.last_change_time(&self.caller, host, self.at.place).await
    }
}
