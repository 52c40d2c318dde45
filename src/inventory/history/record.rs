//! Records of changes: the entries of one commit that are on one network, or on none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::audience::Audience;
use crate::inventory::Error;
use crate::inventory::schema::{CHANGED_LINK, CREATED_AT, WRITTEN, encode, time_sort_key};
use crate::model::{ChangeAction, ChangeActor, ChangedEntity, OrganizationId, Timestamp};
use crate::store::{Batch, Facets, Key, Link, Precondition, SortKey};

/// The body of a record of changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommitChanges {
    pub(super) organization_id: OrganizationId,
    /// The era in which they were written.
    pub(super) era: u32,
    /// A random number that identifies the commit.
    pub(super) commit: u64,
    pub(super) at: Timestamp,
    pub(super) actor: ChangeActor,
    pub(super) audience: Audience,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request_id: Option<String>,
    pub(super) entries: Vec<Entry>,
}

impl CommitChanges {
    /// Adds the record to a batch. The store completes its place.
    pub(super) fn put(&self, key: Key, precondition: Precondition, batch: &mut Batch) -> Result<(), Error> {
        let written = SortKey::with_version(WRITTEN, self.era.to_be_bytes());
        let mut facets = Facets::default()
            .with_organization(self.organization_id.uuid())
            .with_links(self.entries.iter().map(|entry| Link::new(CHANGED_LINK, entry.id)))
            .with_terms([self.audience.term()])
            .with_sort_keys([written, time_sort_key(CREATED_AT, self.at)]);
        facets.links.sort_unstable();
        facets.links.dedup();
        batch.put(key, precondition, facets, encode(self)?);
        Ok(())
    }
}

/// A change as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
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
}

/// A field that differs, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredField {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Box<RawValue>>,
}
