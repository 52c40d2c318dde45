use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::yield_now;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

/// A store that yields to other tasks before and after each of its operations, as one behind a network would.
#[derive(Debug)]
pub(crate) struct Yielding(Arc<dyn Store>);

impl Yielding {
    pub(crate) const fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    async fn between<T>(&self, operation: impl Future<Output = T>) -> T {
        yield_now().await;
        let result = operation.await;
        yield_now().await;
        result
    }
}

#[async_trait]
impl Store for Yielding {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.between(self.0.get(keys)).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.between(self.0.get_by_unique_key(unique_key)).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.between(self.0.list(query)).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.between(self.0.commit(batch)).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.between(self.0.purge_expired(now)).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.between(self.0.snapshot()).await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.between(self.0.revision(kind, organization)).await
    }
}
