use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

/// A store that records the calls and the records that they return.
#[derive(Debug)]
pub(crate) struct Logged {
    inner: Arc<dyn Store>,
    calls: Mutex<Vec<Call>>,
}

/// One call, without the ids in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// The records that were returned.
    pub(crate) records: Vec<Key>,
}

impl Logged {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, calls: Mutex::default() })
    }

    /// Returns the calls since the previous call of this method.
    pub(crate) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    fn note<'r>(&self, method: &'static str, records: impl IntoIterator<Item = &'r Record>) {
        let records = records.into_iter().map(|record| record.key).collect();
        self.calls.lock().unwrap().push(Call { method, records });
    }
}

#[async_trait]
impl Store for Logged {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let found = self.inner.get(keys).await?;
        self.note("get", found.iter().flatten());
        Ok(found)
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        let found = self.inner.get_by_unique_key(unique_key).await?;
        self.note("get_by_unique_key", &found);
        Ok(found)
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let page = self.inner.list(query).await?;
        self.note("list", &page.records);
        Ok(page)
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.note("commit", []);
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.note("purge_expired", []);
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.note("snapshot", []);
        self.inner.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.note("revision", []);
        self.inner.revision(kind, organization).await
    }
}
