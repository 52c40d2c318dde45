use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Guard, Key, Name, Page, Precondition, Query, Record, Revision, Snapshot, Store, StoreError,
    UniqueKey,
};
use uuid::Uuid;

use crate::common::Watched;

/// A store that can simulate constant conflicts: every commit with a precondition on a record's version finds
/// the record changed.
#[derive(Debug)]
pub(super) struct Contended {
    inner: Arc<Watched>,
    is_contended: AtomicBool,
}

impl Contended {
    pub(super) const fn new(inner: Arc<Watched>) -> Self {
        Self { inner, is_contended: AtomicBool::new(false) }
    }

    /// Asserts that every record is stored as it was written.
    pub(super) async fn verify(&self) {
        self.inner.verify().await;
    }

    pub(super) fn set_contended(&self, is_contended: bool) {
        self.is_contended.store(is_contended, Ordering::SeqCst);
    }
}

/// Returns a record that the batch expects to be unchanged.
fn versioned(batch: &Batch) -> Option<Key> {
    let writes = batch.writes().iter().map(|write| (write.key(), write.precondition()));
    let guards = batch.guards().iter().filter_map(|check| match check {
        Guard::Record { key, precondition, .. } => Some((*key, *precondition)),
        _ => None,
    });
    writes
        .chain(guards)
        .find(|(_, precondition)| matches!(precondition, Precondition::Version(_)))
        .map(|(key, _)| key)
}

#[async_trait]
impl Store for Contended {
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
        match versioned(&batch) {
            Some(key) if self.is_contended.load(Ordering::SeqCst) => Err(StoreError::conflict(key)),
            _ => self.inner.commit(batch).await,
        }
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.inner.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.inner.revision(kind, organization).await
    }
}
