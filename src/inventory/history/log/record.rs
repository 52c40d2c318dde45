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
pub(in crate::inventory::history) struct CommitChanges {
    pub(in crate::inventory::history) organization_id: OrganizationId,
    /// The era in which they were written.
    pub(in crate::inventory::history) era: u32,
    /// The version of the commit; absent as long as it is that of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) version: Option<u64>,
    /// A random number that identifies the commit.
    pub(in crate::inventory::history) commit: u64,
    /// The number of entries of the commit, in all its records.
    #[serde(default)]
    pub(in crate::inventory::history) count: u32,
    pub(in crate::inventory::history) at: Timestamp,
    pub(in crate::inventory::history) actor: ChangeActor,
    pub(in crate::inventory::history) audience: Audience,
    #[serde(default, skip_serializing_if = "Class::is_of_records")]
    pub(in crate::inventory::history) class: Class,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) request_id: Option<String>,
    pub(in crate::inventory::history) entries: Vec<ChangeEntry>,
}

impl CommitChanges {
    /// Reads a record. The version is then always known.
    pub(in crate::inventory::history) fn read(record: &Record) -> Result<Self, Error> {
        let changes: Self = decode(record)?;
        let version = changes.version.or(Some(record.version.0));
        Ok(Self { version, ..changes })
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
            .with_terms([self.audience.term(), self.class.term()])
            .with_sort_keys([written, time_sort_key(CREATED_AT, self.at)]);
        facets.links.sort_unstable();
        facets.links.dedup();
        batch.put(key, precondition, facets, encode(self)?);
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::inventory::history) struct ChangeEntry {
    /// The number within the commit.
    pub(in crate::inventory::history) number: u32,
    pub(in crate::inventory::history) action: ChangeAction,
    pub(in crate::inventory::history) entity: ChangedEntity,
    pub(in crate::inventory::history) id: Uuid,
    pub(in crate::inventory::history) name: String,
    /// The document of a record that is new or gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) document: Option<Box<RawValue>>,
    /// The fields of a record that was updated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::inventory::history) fields: BTreeMap<String, StoredField>,
    /// The place of the entry that led to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) cause: Option<Place>,
    /// Whether what it said was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::inventory::history) is_erased: bool,
}

impl ChangeEntry {
    /// Returns about the size of the entry, in bytes.
    pub(in crate::inventory::history) fn size(&self) -> usize {
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
pub(in crate::inventory::history) struct StoredField {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) before: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) after: Option<Box<RawValue>>,
}
