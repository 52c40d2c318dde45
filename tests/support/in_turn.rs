use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

/// Several stores on the same records, each of which performs one operation in turn.
///
/// To the outside they are a single store, unless a store misses what another one has committed.
#[derive(Debug)]
pub(crate) struct InTurn<S> {
    stores: Vec<S>,
    operations: AtomicUsize,
}

impl<S: Store> InTurn<S> {
    pub(crate) fn new(stores: Vec<S>) -> Self {
        Self { stores, operations: AtomicUsize::new(0) }
    }

    pub(crate) fn stores(&self) -> &[S] {
        &self.stores
    }

    fn next(&self) -> &S {
        &self.stores[self.operations.fetch_add(1, Ordering::Relaxed) % self.stores.len()]
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for InTurn<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.next().get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.next().get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.next().list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.next().commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.next().purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.next().snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.next().revision(kind, organization).await
    }

    fn is_shared(&self) -> bool {
        self.stores.len() > 1 || self.stores.iter().any(Store::is_shared)
    }
}
