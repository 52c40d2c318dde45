//! A store that adds the answer to a request to the commit that makes the change.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::pending::PendingAnswer;
use crate::model::Timestamp;
use crate::store::{Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey};

/// Adds the answer to a request to the commit that makes the change. Everything else is that of the store.
#[derive(Debug)]
pub(super) struct AnsweringStore {
    store: Arc<dyn Store>,
    pending: Arc<PendingAnswer>,
}

impl AnsweringStore {
    pub(super) fn new(store: Arc<dyn Store>, pending: Arc<PendingAnswer>) -> Self {
        Self { store, pending }
    }
}

#[async_trait]
impl Store for AnsweringStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.store.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.store.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.store.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.pending.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.store.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.store.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.store.revision(kind, organization).await
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }
}
