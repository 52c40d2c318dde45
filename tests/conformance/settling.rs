use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, SledStore, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

/// Number of commits after which a checkpoint is forced.
const COMMITS: usize = 50;

/// A store in a folder with very short-lived in-memory state. Now and then, before a read, it checkpoints all
/// commits, so that they are read from the sled trees and changed there by the next commits.
#[derive(Debug)]
pub(crate) struct Settling {
    store: Arc<SledStore>,
    commits: AtomicUsize,
}

impl Settling {
    pub(crate) fn new(store: Arc<SledStore>) -> Self {
        Self { store, commits: AtomicUsize::new(0) }
    }

    async fn settle(&self) -> Result<(), StoreError> {
        if self.commits.load(Ordering::Relaxed) < COMMITS {
            return Ok(());
        }
        self.commits.store(0, Ordering::Relaxed);
        let verification = self.store.verify().await?;
        if verification.is_sound() { Ok(()) } else { Err(StoreError::corrupt(verification.to_string())) }
    }
}

#[async_trait]
impl Store for Settling {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.settle().await?;
        self.store.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.settle().await?;
        self.store.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.settle().await?;
        self.store.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.store.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.store.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.settle().await?;
        self.store.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.settle().await?;
        self.store.revision(kind, organization).await
    }
}
