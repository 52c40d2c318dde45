//! The kinds of application records that an organization has.
//!
//! The first record of a kind stores a note of the kind. Deletions of networks and organizations read these notes,
//! because the program that deletes may not have the types of other programs or of its own earlier versions.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::inventory::schema::{APPLICATION_KIND, decode, encode, exists, facets, on_network};
use crate::inventory::{Error, Inventory};
use crate::model::{Network, OrganizationId};
use crate::store::{Batch, Facets, Key, Name, Precondition, Query};

/// Maximum number of records that one commit deletes.
pub(in crate::inventory) const MAX_DELETED: usize = 1_000;

#[derive(Debug, Serialize, Deserialize)]
struct KnownKind {
    organization_id: OrganizationId,
    kind: String,
}

impl Inventory {
    /// Adds the note of a new record's kind to its batch, or a guard of the stored note.
    pub(super) async fn note_kind(
        &self,
        organization: OrganizationId,
        kind: Name,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let key = known_kind_key(organization, kind);
        if self.get(key).await?.is_some() {
            batch.guard(exists(key));
            return Ok(());
        }
        let (key, facets, note) = self.known_kind(organization, kind)?;
        batch.put(key, Precondition::Absent, facets, note);
        Ok(())
    }

    /// Returns the note of a kind.
    pub(in crate::inventory) fn known_kind(
        &self,
        organization: OrganizationId,
        kind: Name,
    ) -> Result<(Key, Facets, Bytes), Error> {
        let known = KnownKind { organization_id: organization, kind: kind.as_str().to_owned() };
        Ok((known_kind_key(organization, kind), facets(organization, self.now()), encode(&known)?))
    }

    /// Returns the kinds of application records that an organization has or had, and the kinds of wrappers of the store.
    pub(in crate::inventory) async fn application_kinds(
        &self,
        organization: OrganizationId,
    ) -> Result<Vec<Name>, Error> {
        let query = Query { organization: Some(organization.uuid()), ..Query::new(APPLICATION_KIND) };
        let mut kinds = (*self.wrapper_kinds).clone();
        for record in self.store.list(&query).await?.records {
            let known: KnownKind = decode(&record)?;
            kinds.extend(Name::parse(&known.kind).filter(Name::is_of_application));
        }
        Ok(kinds.into_iter().collect())
    }

    /// Returns the keys of application records of these kinds on a network, at most one more than a commit deletes.
    pub(in crate::inventory) async fn application_records_on(
        &self,
        network: &Network,
        kinds: &[Name],
    ) -> Result<Vec<Key>, Error> {
        let mut keys = Vec::new();
        for kind in kinds {
            let query = Query {
                limit: Some((MAX_DELETED + 1).saturating_sub(keys.len())),
                // Bodies do not matter.
                max_bytes: Some(0),
                ..on_network(*kind, network.organization_id, network.id)
            };
            let page = self.store.list(&query).await?;
            keys.extend(page.records.into_iter().map(|record| record.key).chain(page.unread));
        }
        Ok(keys)
    }
}

/// Returns the key of the note about a kind.
fn known_kind_key(organization: OrganizationId, kind: Name) -> Key {
    let digest = Sha256::new().chain_update(organization.as_bytes()).chain_update(kind.as_str()).finalize();
    Key::new(APPLICATION_KIND, Uuid::from_bytes(digest.first_chunk().copied().unwrap_or_default()))
}
