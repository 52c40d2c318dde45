//! Records of one kind as they were: the present ones, with the changes since undone.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::between::ChangeBetween;
use super::diff::MAX_BYTES;
use super::merged::MergedChanges;
use super::one_record::{ChangeSide, Document, apply_side};
use crate::access::Caller;
use crate::inventory::history::log::position::Place;
use crate::inventory::{ChangeQuery, Error, Inventory, Moment};
use crate::model::{ChangedEntity, NetworkId};

/// A moment whose state can be read.
#[derive(Clone, Debug)]
pub(crate) struct PastMoment {
    pub(super) place: Place,
}

impl Inventory {
    /// Returns the moment that the parameter `field` names.
    ///
    /// # Errors
    /// `Invalid` for text that is no position; `BeforeHistory` for a time before the history began; `PositionGone` for a position whose entry
    /// is no longer there.
    pub(crate) async fn past_moment(
        &self,
        caller: &Caller,
        field: &str,
        moment: &Moment,
    ) -> Result<PastMoment, Error> {
        let place = self.place_of_state(caller, field, moment).await?;
        Ok(PastMoment { place })
    }
}

/// The changes of the records of one kind since a place of the history, merged for each record.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct MergedRecords {
    pub(in crate::inventory::history) records: BTreeMap<Uuid, MergedChanges>,
    /// The memory that their names and fields take.
    bytes: usize,
}

impl MergedRecords {
    /// Adds the changes after one place up to another one; `None`: up to the newest. Returns the place that was reached.
    pub(in crate::inventory::history) async fn read(
        &mut self,
        inventory: &Inventory,
        caller: &Caller,
        span: (Place, Option<Place>),
        (entity, network_id): (ChangedEntity, Option<NetworkId>),
    ) -> Result<Place, Error> {
        let query = ChangeQuery { entity: Some(entity), network_id, ..ChangeQuery::default() };
        let mut changes = inventory.changes_between(caller, span, query).await?;
        while let Some(page) = changes.next().await? {
            page.into_iter().for_each(|change| self.add(change));
        }
        Ok(changes.to)
    }

    /// Adds the next change of a record.
    pub(in crate::inventory::history) fn add(&mut self, change: ChangeBetween) {
        let known = self.records.entry(change.id).or_default();
        let others = self.bytes.saturating_sub(known.bytes);
        known.add(change, MAX_BYTES.saturating_sub(others));
        self.bytes = others.saturating_add(known.bytes);
    }
}

/// Reads records of one kind as they were at a moment, by the changes since.
#[derive(Debug)]
pub(in crate::inventory::history) struct PastRecords {
    inventory: Inventory,
    caller: Caller,
    kind: (ChangedEntity, Option<NetworkId>),
    place: Place,
    /// The place up to which changes are merged.
    reached: Place,
    merged: MergedRecords,
}

impl PastRecords {
    /// Reads the changes since a moment. With a network, only changes on it are read.
    pub(in crate::inventory::history) async fn since(
        inventory: &Inventory,
        caller: &Caller,
        kind: (ChangedEntity, Option<NetworkId>),
        at: &PastMoment,
    ) -> Result<Self, Error> {
        let (inventory, caller) = (inventory.clone(), caller.clone());
        let (place, merged) = (at.place, MergedRecords::default());
        let mut records = Self { inventory, caller, kind, place, reached: place, merged };
        records.catch_up().await?;
        Ok(records)
    }

    /// Reads the changes made in the meantime.
    pub(in crate::inventory::history) async fn catch_up(&mut self) -> Result<(), Error> {
        let span = (self.reached, None);
        self.reached = self.merged.read(&self.inventory, &self.caller, span, self.kind).await?;
        Ok(())
    }

    /// Returns whether a record has changed since.
    pub(in crate::inventory::history) fn has_changed(&self, id: Uuid) -> bool {
        self.merged.records.contains_key(&id)
    }

    /// Returns the records that have changed since.
    pub(in crate::inventory::history) fn changed(&self) -> impl Iterator<Item = Uuid> {
        self.merged.records.keys().copied()
    }

    /// Returns the document of a record as it was, from the present one. `None`: it was not there.
    pub(in crate::inventory::history) async fn document(
        &self,
        id: Uuid,
        present: Option<Document>,
    ) -> Result<Option<Document>, Error> {
        let Some(merged) = self.merged.records.get(&id) else { return Ok(present) };
        if !merged.was_there() {
            return Ok(None);
        }
        match (merged.known_fields(), present) {
            (Some(fields), Some(mut document)) => {
                apply_side(fields, &mut document, ChangeSide::Before);
                Ok(Some(document))
            }
            // Only the entries of a deleted record have its whole document.
            _ => self.inventory.document_at_place(&self.caller, (self.kind.0, id), self.place).await,
        }
    }
}

/// Returns the network of a document.
pub(in crate::inventory::history) fn network_of(document: &Document) -> Option<NetworkId> {
    document.get("network_id").and_then(Value::as_str).and_then(|id| id.parse().ok())
}
