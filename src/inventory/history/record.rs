//! Records of changes: the entries of one commit that are on one network, or on none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::audience::Audience;
use super::class::Class;
use super::position::Place;
use crate::inventory::Error;
use crate::inventory::schema::{CHANGED_LINK, CREATED_AT, WRITTEN, decode, encode, time_sort_key};
use crate::model::{ChangeAction, ChangeActor, ChangedEntity, OrganizationId, Timestamp};
use crate::store::{Batch, Facets, Key, Link, Precondition, Record, SortKey};

/// The body of a record of changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommitChanges {
    pub(super) organization_id: OrganizationId,
    /// The era in which they were written.
    pub(super) era: u32,
    /// The version of the commit; absent as long as it is that of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<u64>,
    /// A random number that identifies the commit.
    pub(super) commit: u64,
    /// The number of entries of the commit, in all its records.
    #[serde(default)]
    pub(super) count: u32,
    pub(super) at: Timestamp,
    pub(super) actor: ChangeActor,
    pub(super) audience: Audience,
    #[serde(default, skip_serializing_if = "Class::is_of_records")]
    pub(super) class: Class,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request_id: Option<String>,
    pub(super) entries: Vec<ChangeEntry>,
}

impl CommitChanges {
    /// Reads a record. The version is then always known.
    pub(super) fn read(record: &Record) -> Result<Self, Error> {
        let changes: Self = decode(record)?;
        let version = changes.version.or(Some(record.version.0));
        Ok(Self { version, ..changes })
    }

    /// Adds the record to a batch. If the version is not known, it is that of the batch, and the store completes the place.
    pub(super) fn put(&self, key: Key, precondition: Precondition, batch: &mut Batch) -> Result<(), Error> {
        let written = match self.version {
            Some(_) => SortKey::new(WRITTEN, self.place(0).commit_key()),
            None => SortKey::with_version(WRITTEN, self.era.to_be_bytes()),
        };
        let mut facets = Facets::default()
            .with_organization(self.organization_id.uuid())
            .with_links(self.entries.iter().map(|entry| Link::new(CHANGED_LINK, entry.id)))
            .with_terms([self.audience.term(), self.class.term()])
            .with_sort_keys([written, time_sort_key(CREATED_AT, self.at)]);
        facets.links.sort_unstable();
        facets.links.dedup();
        batch.put(key, precondition, facets, encode(self)?);
        Ok(())
    }

    /// Returns the place of the entry with a number.
    pub(super) fn place(&self, number: u32) -> Place {
        let version = self.version.unwrap_or_default();
        Place { era: self.era, version, number, commit: self.commit }
    }

    /// Returns the place of the last entry of the commit, also if another record has it.
    pub(super) fn end(&self) -> Place {
        let last = self.entries.iter().map(|entry| entry.number).max().unwrap_or_default();
        self.place(last.max(self.count.saturating_sub(1)))
    }

    /// Returns the places of the entries.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.entries.iter().map(|entry| self.place(entry.number))
    }
}

/// A change as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ChangeEntry {
    /// The number within the commit.
    pub(super) number: u32,
    pub(super) action: ChangeAction,
    pub(super) entity: ChangedEntity,
    pub(super) id: Uuid,
    pub(super) name: String,
    /// The document of a record that is new or gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) document: Option<Box<RawValue>>,
    /// The fields of a record that was updated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) fields: BTreeMap<String, StoredField>,
    /// Whether what it said was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_erased: bool,
}

impl ChangeEntry {
    /// Returns about the size of the entry, in bytes.
    pub(super) fn size(&self) -> usize {
        let length = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |text| text.get().len());
        let fields = self.fields.iter().map(|(path, StoredField { before, after })| {
            PER_FIELD + path.len() + length(before) + length(after)
        });
        PER_ENTRY + self.name.len() + length(&self.document) + fields.sum::<usize>()
    }
}

/// What an entry takes beside its content in a record, and a field beside its own, in bytes.
const PER_ENTRY: usize = 120;
const PER_FIELD: usize = 24;

/// A field that differs, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredField {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Box<RawValue>>,
}
