use std::sync::Mutex;

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, MemoryStore, Page, Query, Record, Snapshot, Store, StoreError, UniqueKey,
};

/// A store that fails after a set number of commits.
#[derive(Debug, Default)]
pub(crate) struct Failing {
    inner: MemoryStore,
    commits_left: Mutex<Option<u64>>,
}

impl Failing {
    pub(crate) fn fail_after(&self, commits: u64) {
        *self.commits_left.lock().unwrap() = Some(commits);
    }

    fn take_commit(&self) -> Result<(), StoreError> {
        match &mut *self.commits_left.lock().unwrap() {
            None => Ok(()),
            Some(0) => Err(StoreError::unavailable("told to fail")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

#[async_trait]
impl Store for Failing {
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
        self.take_commit()?;
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.inner.snapshot().await
    }
}
