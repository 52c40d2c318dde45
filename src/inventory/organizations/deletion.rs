//! Deletion of an organization with everything that belongs to it, in several commits.
//!
//! ```text
//! organization -> tombstone; all kinds of records, some at a time; tombstone -> nothing
//! ```
//!
//! From the first commit on, the organization does not exist: its callers are refused, and every batch with a record of
//! it fails. Nothing is added to it meanwhile, so that one pass over the kinds of records empties it. The tombstone keeps
//! the id taken until then. Each further commit requires the tombstone that the call has found. A slow call can therefore
//! never delete records of a later organization with the same id.

use super::Organizations;
use super::transfer::is_marker;
use crate::inventory::history::Author;
use crate::inventory::schema::{
    APPLICATION_KIND, CREATED_AT, KINDS_OF_ORGANIZATION, ORGANIZATION_DELETION, encode,
    organization_deletion_key, organization_key, time_sort_key,
};
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{Organization, OrganizationId};
use crate::store::{
    Batch, Direction, Facets, Guard, Key, Name, Order, Precondition, Query, Record, Start, StoreErrorKind,
};

/// Maximum number of records that one commit deletes.
const MAX_DELETED: usize = 1_000;

/// Number of interrupted deletions that are read at a time.
const DELETIONS: usize = 128;

impl Organizations<'_> {
    /// Deletes an organization with everything that belongs to it.
    ///
    /// This includes users with their sessions and keys, networks with their hosts, claims, shares and all other records, and
    /// records of the [application](crate::inventory::ApplicationRecord). Records that a wrapper of the store has added are
    /// included if their kinds are [declared](Inventory::with_wrapper_kinds).
    ///
    /// The organization ceases to exist at once: its callers, sessions and keys are refused, and nothing can be added
    /// to it. Then its records are deleted, in commits of at most 1,000. At the end its id is free. An interrupted
    /// deletion continues when this method is called again, or with the hourly purge that logins cause. Concurrent
    /// calls share the work. A [restoration](Self::restore) of an organization with this id that has not ended is given
    /// up, and deleted.
    ///
    /// ```
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// inventory.organizations().delete(organization.id).await?;
    /// assert!(inventory.organizations().get(organization.id).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`, also once the deletion is complete.
    pub async fn delete(self, id: OrganizationId) -> Result<(), Error> {
        let inventory = self.inventory;
        let mut transaction = inventory.transaction(Author::system(id), Entity::Organization, id);
        let tombstone = loop {
            if let Some(tombstone) = inventory.get(organization_deletion_key(id)).await? {
                if !is_marker(&tombstone) {
                    break tombstone;
                }
                match inventory.give_up_restoration(&tombstone).await? {
                    Some(tombstone) => break tombstone,
                    None => transaction.retry().await?,
                }
                continue;
            }
            let (record, organization) =
                inventory.read::<Organization>(organization_key(id), Entity::Organization).await?;
            let mut batch = Batch::new();
            batch.delete(record.key, unchanged(Some(&record)));
            let facets = Facets::default().with_sort_keys([time_sort_key(CREATED_AT, inventory.now())]);
            let key = organization_deletion_key(id);
            batch.put(key, Precondition::Absent, facets, encode(&organization)?);
            transaction.commit(batch).await?;
        };
        // Give up the turns: the rest takes long, and another call may share the work.
        drop(transaction);
        inventory.delete_records_of_organization(&tombstone).await?;
        // Started last, because the purge would otherwise delete these records at the same time.
        inventory.purge_periodically();
        Ok(())
    }
}

impl Inventory {
    /// Completes the deletions of organizations that were interrupted. Failures are only logged: the next call continues.
    pub(in crate::inventory) async fn complete_organization_deletions(&self) {
        let order = vec![Order::new(CREATED_AT, Direction::Ascending)];
        let mut query = Query { order, limit: Some(DELETIONS), ..Query::new(ORGANIZATION_DELETION) };
        loop {
            let page = match self.store.list(&query).await {
                Ok(page) => page,
                Err(error) => return warn(&error.into()),
            };
            for tombstone in &page.records {
                if let Err(error) = self.complete_organization_deletion(tombstone).await {
                    warn(&error);
                }
            }
            let Some(cursor) = page.next else { return };
            query.start = Start::After(cursor);
        }
    }

    /// Completes one deletion. It abandons an interrupted restoration, but not one in progress.
    async fn complete_organization_deletion(&self, tombstone: &Record) -> Result<(), Error> {
        if self.is_being_restored(tombstone) {
            return Ok(());
        }
        if !is_marker(tombstone) {
            return self.delete_records_of_organization(tombstone).await;
        }
        match self.give_up_restoration(tombstone).await? {
            Some(tombstone) => self.delete_records_of_organization(&tombstone).await,
            None => Ok(()),
        }
    }

    /// Deletes all records of the organization that a tombstone stands for, and then the tombstone.
    pub(super) async fn delete_records_of_organization(&self, tombstone: &Record) -> Result<(), Error> {
        let organization = OrganizationId::from(tombstone.key.id);
        let kinds = self.application_kinds(organization).await?;
        // A wrapper of the store may add records to the commits that delete the others.
        let (of_wrappers, noted): (Vec<_>, Vec<_>) =
            kinds.into_iter().partition(|kind| self.wrapper_kinds.contains(kind));
        let kinds =
            KINDS_OF_ORGANIZATION.into_iter().chain(noted).chain([APPLICATION_KIND]).chain(of_wrappers);
        for kind in kinds {
            loop {
                let keys = self.some_records(kind, organization).await?;
                if keys.is_empty() {
                    break;
                }
                let mut batch = Batch::new();
                for key in &keys {
                    batch.delete(*key, Precondition::Any);
                }
                batch.guard(Guard::record(tombstone.key, unchanged(Some(tombstone))));
                if !self.commit_unless_completed(batch, tombstone).await? {
                    return Ok(());
                }
                if keys.len() < MAX_DELETED {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        #[cfg(feature = "discovery")]
        self.state.credentials.forget_organization(organization);
        let mut batch = Batch::new();
        batch.delete(tombstone.key, unchanged(Some(tombstone)));
        self.commit_unless_completed(batch, tombstone).await?;
        Ok(())
    }

    /// Returns the keys of some of an organization's records of a kind, without reading their bodies.
    async fn some_records(&self, kind: Name, organization: OrganizationId) -> Result<Vec<Key>, Error> {
        let query = Query {
            organization: Some(organization.uuid()),
            limit: Some(MAX_DELETED),
            max_bytes: Some(0),
            ..Query::new(kind)
        };
        let page = self.store.list(&query).await?;
        Ok(page.records.into_iter().map(|record| record.key).chain(page.unread).collect())
    }

    /// Commits a step of a deletion. Returns `false` if another call has completed the deletion.
    async fn commit_unless_completed(&self, batch: Batch, tombstone: &Record) -> Result<bool, Error> {
        match self.store.commit(batch).await {
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(key) if *key == tombstone.key) => {
                Ok(false)
            }
            outcome => Ok(outcome.map(|()| true)?),
        }
    }
}

fn warn(error: &Error) {
    tracing::warn!(error = error.with_causes(), "the deletion of an organization was not completed");
}
