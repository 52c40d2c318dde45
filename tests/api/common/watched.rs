use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::task::yield_now;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

use crate::backend::TestStore;

/// The store of a test, which counts its calls in progress.
#[derive(Debug)]
pub(crate) struct Watched {
    backend: TestStore,
    calls: AtomicUsize,
}

/// A call that is in progress until this value is dropped.
struct Call<'c>(&'c AtomicUsize);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Watched {
    pub(crate) async fn new() -> Arc<Self> {
        Arc::new(Self { backend: TestStore::new().await, calls: AtomicUsize::new(0) })
    }

    /// Lets the background tasks finish. Requires a single-threaded runtime.
    pub(crate) async fn settle(&self) {
        loop {
            for _ in 0..20 {
                yield_now().await;
            }
            if self.calls.load(Ordering::SeqCst) == 0 {
                return;
            }
        }
    }

    /// Asserts that every record is stored as it was written.
    pub(crate) async fn verify(&self) {
        self.backend.verify().await;
    }

    fn call(&self) -> Call<'_> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Call(&self.calls)
    }
}

#[async_trait]
impl Store for Watched {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let _call = self.call();
        self.backend.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        let _call = self.call();
        self.backend.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let _call = self.call();
        self.backend.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let _call = self.call();
        self.backend.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        let _call = self.call();
        self.backend.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let _call = self.call();
        self.backend.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        let _call = self.call();
        self.backend.revision(kind, organization).await
    }
}
