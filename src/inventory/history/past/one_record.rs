//! Past states of single records.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::past_records::network_of;
use crate::access::Caller;
use crate::inventory::history::log::class::Class;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::{LogFilter, LogReader, Span};
use crate::inventory::history::log::record::ChangeEntry;
use crate::inventory::history::recording::recorder::{kind_of, shown};
use crate::inventory::schema::WRITTEN;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Moment};
use crate::model::{
    ChangeAction, ChangePosition, ChangedEntity, FieldChange, Host, HostId, Timestamp, apply_fields, set,
};
use crate::store::{Direction, KeyFilter, Query, TermRange};

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
    /// `NotFound` before its creation and after its deletion; `BeforeHistory`, before the history began. For a host that the
    /// caller may not see, the error of [`Hosts::get`](crate::inventory::Hosts::get), whatever the moment.
    pub async fn host_at(&self, caller: &Caller, id: HostId, at: &Moment) -> Result<Host, Error> {
        let place = self.place_of_state(caller, "at", at).await?;
        match self.document_at_place(caller, (ChangedEntity::Host, id.uuid()), place).await? {
            Some(document) => host_of(document),
            None => Err(self.error_of_unseen_host(caller, id).await?),
        }
    }

    /// Returns the error for a host that did not exist, or that the caller does not see.
    ///
    /// It depends on the present host alone, so that it reveals nothing about the past.
    pub(in crate::inventory) async fn error_of_unseen_host(
        &self,
        caller: &Caller,
        id: HostId,
    ) -> Result<Error, Error> {
        self.host_record_as(caller, id).await?;
        Ok(ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() }.into())
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

    /// Returns the time of the last change of a record up to a place. `None`: there is none, or it is the deletion.
    pub(in crate::inventory::history) async fn last_change_time(
        &self,
        caller: &Caller,
        record: Changed,
        place: Place,
    ) -> Result<Option<Timestamp>, Error> {
        let log = self.log_of_record(caller, record).await?;
        let after = self.history_mark().await?.mark.beginning();
        let last = log.back(Span { after, until: Some(place) }, Some(1)).next().await?;
        Ok(last.first().filter(|last| last.entry.action != ChangeAction::Deleted).map(|last| last.at))
    }

    async fn log_of_record(&self, caller: &Caller, (entity, id): Changed) -> Result<LogOfRecord<'_>, Error> {
        let seen = self.seen_in_log(caller).await?;
        Ok(LogOfRecord { inventory: self, filter: LogFilter { id: Some(id), ..seen }, entity })
    }

    /// Returns the document of a record as it was. `None`: it did not exist, or the caller does not see it.
    ///
    /// It follows from the creation through the entries before the place, or from the present state through those after it,
    /// whichever are fewer.
    pub(in crate::inventory::history) async fn document_at_place(
        &self,
        caller: &Caller,
        record: Changed,
        place: Place,
    ) -> Result<Option<Document>, Error> {
        let beginning = self.history_mark().await?.mark.beginning();
        let log = self.log_of_record(caller, record).await?;
        let before = Span { after: beginning, until: Some(place) };
        let last = log.back(before, Some(1)).next().await?;
        let last = last.first();
        if last.is_some_and(|last| last.entry.is_erased || last.entry.action == ChangeAction::Deleted) {
            return Ok(None);
        }
        if last.is_some() && !log.is_nearer_to_present(place).await? {
            let mut reader = log.back(before, None);
            // From the moment back to where the whole record is known, and then forward again.
            let mut later: Vec<RecordChange> = Vec::new();
            loop {
                let changes = reader.next().await?;
                if changes.is_empty() {
                    break;
                }
                for change in changes {
                    match change.entry.action {
                        _ if change.entry.is_erased => return Ok(None),
                        ChangeAction::Created => return replayed(&change, later).map(Some),
                        _ => later.push(change),
                    }
                }
            }
        }
        // The present state is known as a whole, also of a record that is older than the history.
        let mut document = self.present_document(caller, record).await?;
        let mut reader = log.back(Span { after: Some(place), until: None }, None);
        loop {
            let changes = reader.next().await?;
            if changes.is_empty() {
                break;
            }
            for change in changes {
                rewind(&change.entry, &mut document)?;
            }
        }
        if let Some(document) = &mut document {
            set_time(document, last.map(|change| change.at));
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

/// The entries of one record.
#[derive(Debug)]
struct LogOfRecord<'i> {
    inventory: &'i Inventory,
    filter: LogFilter,
    entity: ChangedEntity,
}

/// A change of one record, and its time.
#[derive(Debug)]
struct RecordChange {
    at: Timestamp,
    entry: ChangeEntry,
}

/// Reads the changes of one record, the last one first.
#[derive(Debug)]
struct RecordReader<'i> {
    log: LogReader<'i>,
    entity: ChangedEntity,
    span: Span,
}

impl<'i> LogOfRecord<'i> {
    /// Returns a reader of a part of the entries. `at_once`: the number of records that are read at a time.
    fn back(&self, span: Span, at_once: Option<usize>) -> RecordReader<'i> {
        let log = LogReader::new(self.inventory, self.filter.clone(), span, Direction::Descending);
        let log = match at_once {
            Some(records) => log.some_at_a_time(records),
            None => log,
        };
        RecordReader { log, entity: self.entity, span }
    }

    /// Returns whether fewer records of the store have later entries than have earlier ones.
    async fn is_nearer_to_present(&self, place: Place) -> Result<bool, Error> {
        let key = place.entry_key();
        let mut counts = [0, 0];
        let ranges = [TermRange::new([], Some(key.clone())), TermRange::new(key, None)];
        for (range, count) in ranges.into_iter().zip(&mut counts) {
            for query in [self.filter.runs(), self.filter.commits()] {
                let keys = vec![KeyFilter::new(WRITTEN, range.clone())];
                *count += self.inventory.store.list(&Query { keys, limit: Some(0), ..query }).await?.total;
            }
        }
        let [earlier, later] = counts;
        Ok(later < earlier)
    }
}

impl RecordReader<'_> {
    /// Returns the next changes. None: there are no further ones.
    async fn next(&mut self) -> Result<Vec<RecordChange>, Error> {
        loop {
            let commits = self.log.next().await?;
            if commits.is_empty() {
                return Ok(Vec::new());
            }
            let mut found = Vec::new();
            for commit in commits {
                for entry in &commit.entries {
                    let place = commit.place(entry.number);
                    // The others do not change the record.
                    let is_change = Class::of(entry.action) == Class::Records;
                    if is_change && entry.entity == self.entity && self.span.contains(place) {
                        found.push((place, RecordChange { at: commit.at, entry: entry.clone() }));
                    }
                }
            }
            if !found.is_empty() {
                found.sort_by_key(|(place, _)| Reverse(*place));
                return Ok(found.into_iter().map(|(_, change)| change).collect());
            }
        }
    }
}

/// Returns the outcome of these changes of a record, of which the last one comes first.
fn replayed(created: &RecordChange, later: Vec<RecordChange>) -> Result<Document, Error> {
    let at = later.first().unwrap_or(created).at;
    let mut document = whole(&created.entry)?;
    for change in later.into_iter().rev() {
        apply_side(change.entry.fields()?, &mut document, ChangeSide::After);
    }
    set_time(&mut document, Some(at));
    Ok(document)
}

/// Returns the document of a record that is new or gone. Members that are null count as missing.
fn whole(entry: &ChangeEntry) -> Result<Document, Error> {
    let mut document: Document = serde_json::from_slice(&entry.content).map_err(Error::internal)?;
    document.retain(|_, value| !value.is_null());
    Ok(document)
}

/// Changes the document of a record back to its state before a change. `None`: the record does not exist.
fn rewind(entry: &ChangeEntry, document: &mut Option<Document>) -> Result<(), Error> {
    match (entry.action, document) {
        (ChangeAction::Created, document) => *document = None,
        // Its former state is not known.
        (_, document) if entry.is_erased => *document = None,
        (ChangeAction::Deleted, document) => *document = Some(whole(entry)?),
        (ChangeAction::Updated, Some(document)) => apply_side(entry.fields()?, document, ChangeSide::Before),
        // The others do not change the record.
        _ => {}
    }
    Ok(())
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
