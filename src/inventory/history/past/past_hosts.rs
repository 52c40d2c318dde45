//! Hosts as they were, many at a time: the present ones, and what has become of them since.

use std::collections::BTreeMap;

use serde_json::Value;

use super::between::ChangeBetween;
use super::diff::MAX_BYTES;
use super::merged::MergedChanges;
use super::one_record::{ChangeSide, Document, apply_side, host_of, set_time};
use crate::access::Caller;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::recording::recorder::shown;
use crate::inventory::schema::HOST;
use crate::inventory::{ChangeQuery, Error, Inventory, Moment};
use crate::model::{
    Change, ChangeAction, ChangePosition, ChangedEntity, Host, HostId, NetworkId, OrderDirection, uuids,
};
use crate::store::Query;

/// What has become of hosts since a place of the history.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct MergedHosts {
    pub(in crate::inventory::history) hosts: BTreeMap<HostId, MergedChanges>,
    /// The memory that their names and fields take.
    bytes: usize,
}

impl MergedHosts {
    /// Adds the changes after one place up to another one; `None`: up to the newest. Returns the place that was reached.
    pub(in crate::inventory::history) async fn read(
        &mut self,
        inventory: &Inventory,
        caller: &Caller,
        span: (Place, Option<Place>),
        network_id: Option<NetworkId>,
    ) -> Result<Place, Error> {
        let query = ChangeQuery { entity: Some(ChangedEntity::Host), network_id, ..ChangeQuery::default() };
        let mut changes = inventory.changes_between(caller, span, query).await?;
        while let Some(page) = changes.next().await? {
            page.into_iter().for_each(|change| self.add(change));
        }
        Ok(changes.to)
    }

    /// Adds the next change of a host.
    pub(in crate::inventory::history) fn add(&mut self, change: ChangeBetween) {
        let known = self.hosts.entry(HostId::new(change.id)).or_default();
        let others = self.bytes.saturating_sub(known.bytes);
        known.add(change, MAX_BYTES.saturating_sub(others));
        self.bytes = others.saturating_add(known.bytes);
    }
}

/// The hosts of an organization as they were at a moment.
#[derive(Debug)]
pub(in crate::inventory) struct PastHosts {
    inventory: Inventory,
    caller: Caller,
    at: ChangePosition,
    place: Place,
    /// The place up to which changes are merged.
    reached: Place,
    merged: MergedHosts,
}

impl PastHosts {
    /// Reads what has changed since a moment.
    pub(in crate::inventory) async fn at(
        inventory: &Inventory,
        caller: &Caller,
        at: &Moment,
    ) -> Result<Self, Error> {
        let place = inventory.place_of_state(caller, "at", at).await?;
        let at = inventory.history_mark().await?.mark.key.seal(caller.organization_id(), place);
        let (inventory, caller) = (inventory.clone(), caller.clone());
        let merged = MergedHosts::default();
        let mut hosts = Self { inventory, caller, at, place, reached: place, merged };
        hosts.catch_up().await?;
        Ok(hosts)
    }

    /// Reads what has changed in the meantime.
    pub(in crate::inventory) async fn catch_up(&mut self) -> Result<(), Error> {
        let span = (self.reached, None);
        self.reached = self.merged.read(&self.inventory, &self.caller, span, None).await?;
        Ok(())
    }

    /// Returns whether a host has changed since.
    pub(in crate::inventory) fn has_changed(&self, id: HostId) -> bool {
        self.merged.hosts.contains_key(&id)
    }

    /// Returns the hosts that have changed since.
    pub(in crate::inventory) fn changed(&self) -> Vec<HostId> {
        self.merged.hosts.keys().copied().collect()
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
            let Some(mut document) = self.document(*id, present.remove(id)).await? else { continue };
            if with_time {
                set_time(&mut document, self.last_change(*id).await?.map(|change| change.at));
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

    /// Returns the document of a host as it was, from the present one.
    async fn document(&self, id: HostId, present: Option<Document>) -> Result<Option<Document>, Error> {
        let Some(merged) = self.merged.hosts.get(&id) else { return Ok(present) };
        if !merged.was_there() {
            return Ok(None);
        }
        match (merged.known_fields(), present) {
            (Some(fields), Some(mut document)) => {
                apply_side(fields, &mut document, ChangeSide::Before);
                Ok(Some(document))
            }
            // What is gone is known as a whole from its entries alone.
            _ => {
                let record = (ChangedEntity::Host, id.uuid());
                self.inventory.document_at_place(&self.caller, record, self.place).await
            }
        }
    }

    /// Returns the last change of a host up to the moment, without its fields.
    async fn last_change(&self, id: HostId) -> Result<Option<Change>, Error> {
        let query = ChangeQuery {
            entity: Some(ChangedEntity::Host),
            id: Some(id.uuid()),
            until: Some(Moment::Position(self.at.clone())),
            order_direction: OrderDirection::Descending,
            limit: Some(1),
            ..ChangeQuery::default()
        };
        let last = self.inventory.changes_with(&self.caller, &query, false).await?.changes.pop();
        Ok(last.filter(|change| change.action != ChangeAction::Deleted))
    }
}

/// Returns the network of a document.
pub(in crate::inventory::history) fn network_of(document: &Document) -> Option<NetworkId> {
    document.get("network_id").and_then(Value::as_str).and_then(|id| id.parse().ok())
}
