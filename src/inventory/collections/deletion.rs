//! Deletion of records that any number of others may refer to, in several commits.
//!
//! The first commit replaces the record by a tombstone of another kind with the same id. From then on the record does
//! not exist, and guards refuse new references to it. Then the references are removed, page by page. The last commit
//! deletes the tombstone. Repeating an interrupted deletion finds the tombstone and completes it.

use std::future::Future;

use bytes::Bytes;

use super::CollectionRecord;
use crate::inventory::history::Author;
use crate::inventory::schema::{decode, encode, facets};
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{OrganizationId, Timestamp};
use crate::store::{Batch, Facets, Guard, Key, Link, LinkFilter, Name, Precondition, Query, Record, Start};

/// Maximum number of records that one commit changes.
const MAX_RECORDS: usize = 1_000;

/// A kind of record that other records refer to until its deletion removes the references.
pub(in crate::inventory) trait Referenced: CollectionRecord {
    /// The kind of the tombstones.
    const TOMBSTONE: Name;
    /// The relations of links that must be removed before the tombstone is deleted.
    const RELATIONS: &'static [Name];

    /// Removes the references to a record of the organization.
    fn remove_references(
        inventory: &Inventory,
        organization: OrganizationId,
        record: &Self,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Facets and body of a referring record, without the reference.
pub(in crate::inventory) type Rewritten = (Facets, Bytes);

/// Adds the tombstone of a record to the batch that deletes the record.
pub(in crate::inventory) fn put_tombstone<T: Referenced>(
    record: &T,
    organization: OrganizationId,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<(), Error> {
    let key = Key::new(T::TOMBSTONE, record.id().into());
    batch.put(key, Precondition::Any, facets(organization, now), encode(record)?);
    Ok(())
}

impl Inventory {
    /// Completes the deletion of an organization's record. Returns whether there was a tombstone that `may` accepts.
    pub(in crate::inventory) async fn finish_deletion_of<T: Referenced>(
        &self,
        organization: OrganizationId,
        id: T::Id,
        may: impl Fn(&T) -> bool + Send,
    ) -> Result<bool, Error> {
        let own = Query {
            organization: Some(organization.uuid()),
            ids: Some(vec![id.into()]),
            ..Query::new(T::TOMBSTONE)
        };
        let Some(tombstone) = self.store.list(&own).await?.records.pop() else { return Ok(false) };
        let record: T = decode(&tombstone)?;
        if !may(&record) {
            return Ok(false);
        }
        let mut transaction = self.transaction(Author::system(organization), T::ENTITY, id);
        loop {
            T::remove_references(self, organization, &record).await?;
            let mut batch = Batch::new();
            // Another call may have completed the same deletion.
            batch.delete(tombstone.key, Precondition::Any);
            for relation in T::RELATIONS {
                let link = Link::new(*relation, id.into());
                batch.guard(Guard::LinkedWithin { organization: Some(organization.uuid()), link });
            }
            if transaction.commit(batch).await? {
                return Ok(true);
            }
        }
    }

    /// Rewrites an organization's records of a kind that have a link.
    ///
    /// Each record is rewritten once, in commits of at most 1,000 records.
    ///
    /// `entity` is the kind of the link's target.
    pub(in crate::inventory) async fn rewrite_linked(
        &self,
        (organization, kind): (OrganizationId, Name),
        (entity, link): (Entity, Link),
        rewrite: impl Fn(&Record, Timestamp) -> Result<Rewritten, Error> + Send,
    ) -> Result<(), Error> {
        let mut query = Query {
            organization: Some(organization.uuid()),
            links: vec![LinkFilter::new(link.relation, [link.target])],
            limit: Some(MAX_RECORDS),
            ..Query::new(kind)
        };
        loop {
            let author = Author::following(organization, [link.target]);
            let mut transaction = self.transaction(author, entity, link.target);
            let next = loop {
                let page = self.store.list(&query).await?;
                let now = self.now();
                let mut batch = Batch::new();
                for record in &page.records {
                    let (facets, body) = rewrite(record, now)?;
                    batch.put(record.key, unchanged(Some(record)), facets, body);
                }
                if batch.writes().is_empty() || transaction.commit(batch).await? {
                    break page.next;
                }
            };
            let Some(cursor) = next else { return Ok(()) };
            query.start = Start::After(cursor);
        }
    }
}
