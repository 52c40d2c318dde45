use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{Batch, Key, Page, Query, Record, Snapshot, Store, StoreError, UniqueKey};

/// A store that records which calls are made of it, and how many bodies each returns.
#[derive(Debug)]
pub(crate) struct Calls {
    inner: Arc<dyn Store>,
    made: Mutex<Vec<Call>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The method and the kinds of the requested records.
    pub(crate) name: String,
    pub(crate) bodies: usize,
}

impl Calls {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, made: Mutex::default() })
    }

    /// Returns the calls made since the previous call of this method.
    pub(crate) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.made.lock().unwrap())
    }

    fn note(&self, name: String, bodies: usize) {
        self.made.lock().unwrap().push(Call { name, bodies });
    }
}

#[async_trait]
impl Store for Calls {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let records = self.inner.get(keys).await?;
        let kinds: Vec<&str> = keys.iter().map(|key| key.kind.as_str()).collect();
        self.note(format!("get {}", kinds.join(" ")), records.iter().flatten().count());
        Ok(records)
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        let record = self.inner.get_by_unique_key(unique_key).await?;
        self.note(format!("get_by_unique_key {}", unique_key.name), usize::from(record.is_some()));
        Ok(record)
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let page = self.inner.list(query).await?;
        self.note(format!("list {}", query.kind), page.records.len());
        Ok(page)
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.note("commit".to_owned(), 0);
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.note("purge".to_owned(), 0);
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.note("snapshot".to_owned(), 0);
        self.inner.snapshot().await
    }
}
