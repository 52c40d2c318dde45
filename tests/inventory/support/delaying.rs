use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;
use toposcope::model::Timestamp;
use toposcope::store::{Batch, Key, Page, Query, Record, Snapshot, Store, StoreError, UniqueKey};

/// A store with slow commits, for tests with paused time.
#[derive(Debug)]
pub(crate) struct Delaying {
    inner: Arc<dyn Store>,
    delay: Duration,
    commits: AtomicUsize,
}

impl Delaying {
    pub(crate) fn new(inner: Arc<dyn Store>, delay: Duration) -> Arc<Self> {
        Arc::new(Self { inner, delay, commits: AtomicUsize::new(0) })
    }

    /// Returns the number of attempted commits.
    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Store for Delaying {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        sleep(self.delay).await;
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.inner.snapshot().await
    }
}
