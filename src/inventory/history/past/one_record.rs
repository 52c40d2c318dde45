//! What records were.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::past_records::network_of;
use crate::access::Caller;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::recording::recorder::{kind_of, shown};
use crate::inventory::{ChangeQuery, Entity, Error, ErrorKind, Inventory, Moment};
use crate::model::{
    Change, ChangeAction, ChangePosition, ChangedEntity, FieldChange, Host, HostId, OrderDirection,
    Timestamp, apply_fields, set,
};
use crate::store::Query;

/// A document of a record, by its fields.
pub(in crate::inventory::history) type Document = Map<String, Value>;

/// A record whose changes are recorded.
pub(in crate::inventory) type Changed = (ChangedEntity, Uuid);

/// One of the two states of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::inventory::history) enum ChangeSide {
    Before,
    After,
}

impl ChangeSide {
    fn of(self, field: FieldChange) -> Option<Value> {
        match self {
            Self::Before => field.before,
            Self::After => field.after,
        }
    }
}

impl Inventory {
    /// Returns a host as it was. Its `updated_at` is the time of its last entry.
    ///
    /// # Errors
    /// `NotFound` before its creation and after its deletion, and for a host that the caller may not see; `PositionGone` before the
    /// history began.
    pub async fn host_at(&self, caller: &Caller, id: HostId, at: &Moment) -> Result<Host, Error> {
        let missing = || Error::from(ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() });
        let place = self.place_of_state(caller, "at", at).await?;
        let document = self.document_at_place(caller, (ChangedEntity::Host, id.uuid()), place).await?;
        host_of(document.ok_or_else(missing)?)
    }

    /// Returns a record as it was at a position, which a request names in the field `position`. `None`: it did not exist, or
    /// the caller does not see it.
    pub(in crate::inventory) async fn record_at<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        record: Changed,
        position: &ChangePosition,
    ) -> Result<Option<T>, Error> {
        let position = Moment::Position(position.clone());
        let place = self.place_of_state(caller, "position", &position).await?;
        let document = self.document_at_place(caller, record, place).await?;
        let decoded = document.map(|document| serde_json::from_value(Value::Object(document)));
        decoded.transpose().map_err(Error::internal)
    }

    /// Returns the document of a record as it was. `None`: it did not exist, or the caller does not see it.
    pub(in crate::inventory::history) async fn document_at_place(
        &self,
        caller: &Caller,
        (entity, id): Changed,
        place: Place,
    ) -> Result<Option<Document>, Error> {
        let position = self.history_mark().await?.mark.key.seal(caller.organization_id(), place);
        let of_record = ChangeQuery {
            entity: Some(entity),
            id: Some(id),
            order_direction: OrderDirection::Descending,
            ..ChangeQuery::default()
        };
        let mut query = ChangeQuery { until: Some(Moment::Position(position.clone())), ..of_record.clone() };
        // From the moment back to where the whole record is known, and then forward again.
        let mut later: Vec<Change> = Vec::new();
        loop {
            let page = self.changes(caller, &query).await?;
            let is_last = !page.has_more;
            for change in page.changes {
                if change.is_erased {
                    return Ok(None);
                }
                match change.action {
                    ChangeAction::Deleted if later.is_empty() => return Ok(None),
                    ChangeAction::Created => return Ok(Some(replayed(&change, later))),
                    ChangeAction::Updated | ChangeAction::Deleted => later.push(change),
                    // The others do not change the record.
                    _ => {}
                }
            }
            if is_last {
                break;
            }
            query.before = Some(page.next);
        }
        // The record is older than the history, so that only its present state is known as a whole.
        let mut document = self.present_document(caller, (entity, id)).await?;
        let mut query = ChangeQuery { after: Some(position), ..of_record };
        loop {
            let page = self.changes(caller, &query).await?;
            page.changes.into_iter().for_each(|change| rewind(change, &mut document));
            if !page.has_more {
                break;
            }
            query.before = Some(page.next);
        }
        if let Some(document) = &mut document {
            set_time(document, later.first().map(|change| change.at));
        }
        Ok(document)
    }

    /// Returns the present document of a record. `None`: it does not exist, or the caller does not see it.
    async fn present_document(
        &self,
        caller: &Caller,
        (entity, id): Changed,
    ) -> Result<Option<Document>, Error> {
        let Some(kind) = kind_of(entity) else { return Ok(None) };
        let organization = Some(caller.organization_id().uuid());
        let own = Query { organization, ids: Some(vec![id]), ..Query::new(kind) };
        let Some(record) = self.store.list(&own).await?.records.pop() else { return Ok(None) };
        let document: Document =
            serde_json::from_slice(&shown(entity, &record.body)?).map_err(Error::internal)?;
        let is_seen = network_of(&document).is_none_or(|network| caller.scope().allows(network));
        Ok(Some(document).filter(|_| is_seen))
    }
}

/// Returns the host of a document.
pub(in crate::inventory::history) fn host_of(document: Document) -> Result<Host, Error> {
    let mut host: Host = serde_json::from_value(Value::Object(document)).map_err(Error::internal)?;
    // Parts that were removed later are behind the others.
    host.sort_embedded();
    Ok(host)
}

/// Sets the time of the last change of a record, as far as it is known.
pub(in crate::inventory::history) fn set_time(document: &mut Document, last: Option<Timestamp>) {
    let last = last.map(|last| Value::String(last.to_string()));
    set(document, "updated_at", last.or_else(|| document.get("created_at").cloned()));
}

/// Returns what became of a record through these changes, of which the last one comes first.
fn replayed(created: &Change, later: Vec<Change>) -> Document {
    let at = later.first().unwrap_or(created).at;
    let fields = created.fields.iter().filter_map(|(name, field)| Some((name.clone(), field.after.clone()?)));
    let mut document: Document = fields.collect();
    later.into_iter().rev().for_each(|change| apply_side(change.fields, &mut document, ChangeSide::After));
    set_time(&mut document, Some(at));
    document
}

/// Changes the document of a record back to what it was before a change. `None`: the record does not exist.
pub(in crate::inventory::history) fn rewind(change: Change, document: &mut Option<Document>) {
    match (change.action, document) {
        (ChangeAction::Created, document) => *document = None,
        // It is not known what it was.
        (_, document) if change.is_erased => *document = None,
        (ChangeAction::Deleted, document) => {
            let fields = change.fields.into_iter();
            *document = Some(fields.filter_map(|(name, field)| Some((name, field.before?))).collect());
        }
        (ChangeAction::Updated, Some(document)) => apply_side(change.fields, document, ChangeSide::Before),
        // The others do not change the record.
        _ => {}
    }
}

/// Changes a document to one of the states of a change.
pub(in crate::inventory::history) fn apply_side(
    mut fields: BTreeMap<String, FieldChange>,
    document: &mut Document,
    side: ChangeSide,
) {
    let values = fields.iter_mut().map(|(path, field)| (path.as_str(), side.of(std::mem::take(field))));
    apply_fields(values, document);
}
