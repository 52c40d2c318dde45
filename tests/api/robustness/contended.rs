use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Alias, Batch, Check, Expect, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError,
};
use uuid::Uuid;

use crate::common::Watched;

/// A store that can be told that others are always quicker: what is committed on the condition that a record has not
/// changed finds it changed.
#[derive(Debug)]
pub(super) struct Contended {
    inner: Arc<Watched>,
    is_contended: AtomicBool,
}

impl Contended {
    pub(super) const fn new(inner: Arc<Watched>) -> Self {
        Self { inner, is_contended: AtomicBool::new(false) }
    }

    /// Whether everything is kept as it was written.
    pub(super) async fn verify(&self) {
        self.inner.verify().await;
    }

    pub(super) fn set_contended(&self, is_contended: bool) {
        self.is_contended.store(is_contended, Ordering::SeqCst);
    }
}

/// A record that the batch expects to be as it was read.
fn versioned(batch: &Batch) -> Option<Key> {
    let writes = batch.writes().iter().map(|write| (write.key(), write.expect()));
    let checks = batch.checks().iter().filter_map(|check| match check {
        Check::Record { key, expect } => Some((*key, *expect)),
        _ => None,
    });
    writes.chain(checks).find(|(_, expect)| matches!(expect, Expect::Version(_))).map(|(key, _)| key)
}

#[async_trait]
impl Store for Contended {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.inner.get(keys).await
    }

    async fn resolve(&self, alias: &Alias) -> Result<Option<Record>, StoreError> {
        self.inner.resolve(alias).await
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
