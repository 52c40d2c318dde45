use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::sync::Semaphore;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

/// A store that counts its lists, and can make them wait, fail, or omit their revision.
#[derive(Debug)]
pub(crate) struct Switched {
    inner: Arc<dyn Store>,
    lists: AtomicUsize,
    pub(crate) fails: AtomicBool,
    pub(crate) panics: AtomicBool,
    pub(crate) tells_revision: AtomicBool,
    /// Each list takes a permit and puts it back.
    pub(crate) open: Semaphore,
}

impl Switched {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            lists: AtomicUsize::new(0),
            fails: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            tells_revision: AtomicBool::new(true),
            open: Semaphore::new(1),
        })
    }

    /// Returns the number of lists requested.
    pub(crate) fn lists(&self) -> usize {
        self.lists.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Store for Switched {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        let _permit = self.open.acquire().await.unwrap();
        if self.fails.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("the store is away"));
        }
        assert!(!self.panics.load(Ordering::SeqCst), "the store panics");
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.inner.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        let revision = self.inner.revision(kind, organization).await?;
        Ok(revision.filter(|_| self.tells_revision.load(Ordering::SeqCst)))
    }
}
