use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::sync::Mutex;
use toposcope::model::Timestamp;
use toposcope::store::{Batch, Key, Page, Query, Record, Snapshot, Store, StoreError, UniqueKey};

/// A store whose contents a concurrent task changes right before one of its calls. Trying every call in turn
/// covers every moment at which two changes can interleave.
pub(crate) struct Interposer {
    inner: Arc<dyn Store>,
    calls: AtomicUsize,
    moment: usize,
    interference: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    has_fired: AtomicBool,
}

impl Interposer {
    pub(crate) fn new(
        inner: Arc<dyn Store>,
        moment: usize,
        interference: impl Future<Output = ()> + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            inner,
            calls: AtomicUsize::new(0),
            moment,
            interference: Mutex::new(Some(Box::pin(interference))),
            has_fired: AtomicBool::new(false),
        })
    }

    /// Returns whether there were enough calls for the interference to take place.
    pub(crate) fn has_fired(&self) -> bool {
        self.has_fired.load(Ordering::SeqCst)
    }

    async fn before_call(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.moment
            && let Some(interference) = self.interference.lock().await.take()
        {
            interference.await;
            self.has_fired.store(true, Ordering::SeqCst);
        }
    }
}

impl fmt::Debug for Interposer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Interposer").field("moment", &self.moment).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for Interposer {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.before_call().await;
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.before_call().await;
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.before_call().await;
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.before_call().await;
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.before_call().await;
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.before_call().await;
        self.inner.snapshot().await
    }
}
