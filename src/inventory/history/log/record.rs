//! Records of changes: the entries of one commit that are on one network, or on none.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use uuid::Uuid;

use super::audience::Audience;
use super::class::Class;
use super::frame::{Frame, Selection, decode, encode};
use super::position::Place;
use crate::inventory::Error;
use crate::inventory::schema::{CHANGED_LINK, CREATED_AT, WRITTEN, time_sort_key};
use crate::model::{ChangeAction, ChangeActor, ChangedEntity, FieldChange, OrganizationId, Timestamp};
use crate::store::{Batch, Facets, Key, Link, Precondition, Record, SortKey};

/// Entries of one commit, as a record of changes has them, or as a run does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::inventory::history) struct CommitChanges {
    pub(in crate::inventory::history) organization_id: OrganizationId,
    /// The era in which they were written.
    pub(in crate::inventory::history) era: u32,
    /// The version of the commit; `None` until the record is written, of which it is the version.
    pub(in crate::inventory::history) version: Option<u64>,
    /// A random number that identifies the commit.
    pub(in crate::inventory::history) commit: u64,
    /// The number of entries of the commit, in all its records. Zero in runs, which may have less of it.
    pub(in crate::inventory::history) count: u32,
    pub(in crate::inventory::history) at: Timestamp,
    pub(in crate::inventory::history) actor: Arc<ChangeActor>,
    pub(in crate::inventory::history) audience: Audience,
    pub(in crate::inventory::history) class: Class,
    pub(in crate::inventory::history) request_id: Option<String>,
    pub(in crate::inventory::history) entries: Vec<ChangeEntry>,
}

impl CommitChanges {
    /// Reads a record. The version is then always known.
    pub(in crate::inventory::history) fn read(record: &Record) -> Result<Self, Error> {
        Self::read_selected(record, &Selection::ALL)
    }

    /// Reads a record with the selected entries only.
    pub(in crate::inventory::history) fn read_selected(
        record: &Record,
        selection: &Selection,
    ) -> Result<Self, Error> {
        let frame = decode(&record.body, record.version.0, selection);
        let mut commits = frame.filter(|frame| frame.end.is_none()).map(|frame| frame.commits);
        let commit = commits.as_mut().filter(|commits| commits.len() <= 1).and_then(Vec::pop);
        commit.ok_or_else(|| Frame::damaged(record.key))
    }

    /// Adds the record to a batch. If the version is not known, it is that of the batch, and the store completes the place.
    pub(in crate::inventory::history) fn put(
        &self,
        key: Key,
        precondition: Precondition,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let written = match self.version {
            Some(_) => SortKey::new(WRITTEN, self.place(0).commit_key()),
            None => SortKey::with_version(WRITTEN, self.era.to_be_bytes()),
        };
        let mut facets = Facets::default()
            .with_organization(self.organization_id.uuid())
            .with_links(self.entries.iter().map(|entry| Link::new(CHANGED_LINK, entry.id)))
            .with_terms([self.audience.term(self.class)])
            .with_sort_keys([written, time_sort_key(CREATED_AT, self.at)]);
        facets.links.sort_unstable();
        facets.links.dedup();
        let readers = (self.organization_id, self.audience, self.class);
        let body = encode(readers, None, std::slice::from_ref(self))?;
        batch.put(key, precondition, facets, body);
        Ok(())
    }

    /// Returns the place of the entry with a number.
    pub(in crate::inventory::history) fn place(&self, number: u32) -> Place {
        let version = self.version.unwrap_or_default();
        Place { era: self.era, version, number, commit: self.commit }
    }

    /// Returns the place of the last entry of the commit, also if another record has it.
    pub(in crate::inventory::history) fn end(&self) -> Place {
        let last = self.entries.iter().map(|entry| entry.number).max().unwrap_or_default();
        self.place(last.max(self.count.saturating_sub(1)))
    }

    /// Returns the places of the entries.
    pub(in crate::inventory::history) fn places(&self) -> impl Iterator<Item = Place> {
        self.entries.iter().map(|entry| self.place(entry.number))
    }
}

/// A change as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::inventory::history) struct ChangeEntry {
    /// The number within the commit.
    pub(in crate::inventory::history) number: u32,
    pub(in crate::inventory::history) action: ChangeAction,
    pub(in crate::inventory::history) entity: ChangedEntity,
    pub(in crate::inventory::history) id: Uuid,
    pub(in crate::inventory::history) name: String,
    /// JSON: the document of a record that is new or gone, and otherwise the fields that differ. Empty: there are none.
    pub(in crate::inventory::history) content: Bytes,
    /// The place of the entry that led to this one.
    pub(in crate::inventory::history) cause: Option<Place>,
    /// Whether the content was erased.
    pub(in crate::inventory::history) is_erased: bool,
}

impl ChangeEntry {
    /// Returns about the size of the entry, in bytes.
    pub(in crate::inventory::history) const fn size(&self) -> usize {
        PER_ENTRY + self.name.len() + self.content.len()
    }

    /// Returns the fields that have changed: all of a record that is new or gone.
    pub(in crate::inventory::history) fn fields(&self) -> Result<BTreeMap<String, FieldChange>, Error> {
        if self.content.is_empty() {
            return Ok(BTreeMap::new());
        }
        let field: fn(Value) -> FieldChange = match self.action {
            ChangeAction::Created => |value| FieldChange { before: None, after: Some(value) },
            ChangeAction::Deleted => |value| FieldChange { before: Some(value), after: None },
            _ => return serde_json::from_slice(&self.content).map_err(Error::internal),
        };
        let members: BTreeMap<String, Value> =
            serde_json::from_slice(&self.content).map_err(Error::internal)?;
        let present = members.into_iter().filter(|(_, value)| !value.is_null());
        Ok(present.map(|(name, value)| (name, field(value))).collect())
    }
}

/// The size of an entry in a record without its name and content, in bytes.
const PER_ENTRY: usize = 48;
