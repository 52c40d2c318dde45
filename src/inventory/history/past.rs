//! What records were.

use std::collections::HashMap;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::difference::ORDER;
use crate::access::Caller;
use crate::inventory::{ChangeQuery, Entity, Error, ErrorKind, Inventory, Moment};
use crate::model::{Change, ChangeAction, ChangedEntity, Host, HostId, OrderDirection};

/// A document of a record, by its fields.
type Document = Map<String, Value>;

impl Inventory {
    /// Returns a host as it was. Its `updated_at` is the time of its last entry.
    ///
    /// # Errors
    /// `NotFound` before its creation and after its deletion, and for a host that the caller may not see. `PositionGone` before
    /// the history begins, and for a position whose entry is no longer there. `Invalid` for one that is not of this organization.
    pub async fn host_at(&self, caller: &Caller, id: HostId, at: &Moment) -> Result<Host, Error> {
        let missing = || Error::from(ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() });
        let at = Moment::Position(self.position_at(caller, "at", at).await?);
        let document = self.document_at(caller, ChangedEntity::Host, id.uuid(), &at).await?;
        serde_json::from_value(Value::Object(document.ok_or_else(missing)?)).map_err(Error::internal)
    }

    /// Returns the document of a record as it was. `None`: it did not exist, or the caller does not see it.
    async fn document_at(
        &self,
        caller: &Caller,
        entity: ChangedEntity,
        id: Uuid,
        at: &Moment,
    ) -> Result<Option<Document>, Error> {
        let mut query = ChangeQuery {
            entity: Some(entity),
            id: Some(id),
            until: Some(at.clone()),
            order_direction: OrderDirection::Descending,
            ..ChangeQuery::default()
        };
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
                return Ok(None);
            }
            query.before = Some(page.next);
        }
    }
}

/// Returns what became of a record through these changes, of which the last one comes first.
fn replayed(created: &Change, later: Vec<Change>) -> Document {
    let after = |change: &Change| change.at;
    let mut at = after(created);
    let fields = created.fields.iter().filter_map(|(name, field)| Some((name.clone(), field.after.clone()?)));
    let mut document: Document = fields.collect();
    for change in later.into_iter().rev() {
        at = after(&change);
        apply(change, &mut document);
    }
    document.insert("updated_at".to_owned(), Value::String(at.to_string()));
    document
}

/// Changes a document as an entry says.
fn apply(change: Change, document: &mut Document) {
    let mut orders = Vec::new();
    for (path, field) in change.fields {
        match path.split_once('.') {
            None => set(document, &path, field.after),
            Some((list, ORDER)) => orders.push((list.to_owned(), field.after)),
            Some((outer, rest)) => match document.get_mut(outer) {
                Some(Value::Object(members)) => set(members, rest, field.after),
                Some(Value::Array(parts)) => set_part(parts, rest, field.after),
                _ => {}
            },
        }
    }
    for (list, order) in orders {
        if let (Some(Value::Array(parts)), Some(Value::Array(order))) = (document.get_mut(&list), order) {
            let places: HashMap<&str, usize> =
                order.iter().filter_map(Value::as_str).enumerate().map(|(place, id)| (id, place)).collect();
            let place =
                |part: &Value| part.get("id").and_then(Value::as_str).and_then(|id| places.get(id).copied());
            parts.sort_by_cached_key(place);
        }
    }
}

pub(super) fn set(members: &mut Document, name: &str, value: Option<Value>) {
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
}

/// Changes a field of an element of a list, or a whole element.
pub(super) fn set_part(parts: &mut Vec<Value>, path: &str, value: Option<Value>) {
    let (id, field) = path.split_once('.').map_or((path, None), |(id, field)| (id, Some(field)));
    let place = parts.iter().position(|part| part.get("id").and_then(Value::as_str) == Some(id));
    match (place, field, value) {
        (Some(place), Some(field), value) => {
            if let Some(Value::Object(members)) = parts.get_mut(place) {
                set(members, field, value);
            }
        }
        (Some(place), None, None) => drop(parts.remove(place)),
        (Some(place), None, Some(part)) => {
            if let Some(known) = parts.get_mut(place) {
                *known = part;
            }
        }
        (None, None, Some(part)) => parts.push(part),
        (None, ..) => {}
    }
}
