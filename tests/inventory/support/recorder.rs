use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Facets, Key, MemoryStore, Page, Precondition, Query, Record, Snapshot, Store, StoreError,
    UniqueKey, Version, Write,
};
use uuid::Uuid;

/// An in-memory store that keeps a copy of everything ever stored in it.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    inner: MemoryStore,
    stored: Mutex<Vec<Stored>>,
    commits: Mutex<u64>,
    purges: Mutex<u64>,
}

#[derive(Clone, Debug)]
struct Stored {
    key: Key,
    facets: Facets,
    body: Bytes,
}

/// A stored record with its facets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) key: Key,
    pub(crate) version: Version,
    pub(crate) body: Bytes,
    pub(crate) facets: Facets,
}

impl Kept {
    /// Returns whether an id appears anywhere in the record, as its own or as that of another record.
    fn mentions(&self, id: Uuid) -> bool {
        let Facets { organization, network, links, unique_keys, .. } = &self.facets;
        let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        self.key.id == id
            || holds(&self.body, id.to_string().as_bytes())
            || [*organization, *network].contains(&Some(id))
            || links.iter().any(|link| link.target == id)
            || unique_keys.iter().any(|unique_key| holds(&unique_key.value, id.as_bytes()))
    }
}

impl Recorder {
    /// Returns the number of batches that have changed something.
    pub(crate) fn commits(&self) -> u64 {
        *self.commits.lock().unwrap()
    }

    /// Returns the number of purges requested.
    pub(crate) fn purges(&self) -> u64 {
        *self.purges.lock().unwrap()
    }

    /// Returns everything in the store.
    pub(crate) async fn contents(&self) -> Vec<Kept> {
        let stored = self.stored.lock().unwrap().clone();
        let facets: BTreeMap<Key, Facets> =
            stored.into_iter().map(|stored| (stored.key, stored.facets)).collect();
        let keys: Vec<Key> = facets.keys().copied().collect();
        let records = self.inner.get(&keys).await.unwrap().into_iter().flatten();
        let kept = records.map(|Record { key, version, body }| {
            let facets = facets[&key].clone();
            Kept { key, version, body, facets }
        });
        kept.collect()
    }

    /// Returns the records in which an id appears, as their own or as that of another record.
    pub(crate) async fn mentioning(&self, id: Uuid) -> Vec<Key> {
        self.contents().await.iter().filter(|kept| kept.mentions(id)).map(|kept| kept.key).collect()
    }

    /// Returns every body that was ever stored.
    pub(crate) fn bodies(&self) -> Vec<Bytes> {
        self.stored.lock().unwrap().iter().map(|stored| stored.body.clone()).collect()
    }

    /// Returns every unique key that a record ever had.
    pub(crate) fn unique_keys(&self) -> Vec<UniqueKey> {
        self.stored.lock().unwrap().iter().flat_map(|stored| stored.facets.unique_keys.clone()).collect()
    }

    /// Alters the record whose JSON body matches, as a concurrent update would.
    pub(crate) async fn alter(&self, is_meant: impl Fn(&Value) -> bool, alter: impl FnOnce(&mut Value)) {
        let (stored, mut value) = self.latest(is_meant);
        alter(&mut value);
        let mut batch = Batch::new();
        batch.put(stored.key, Precondition::Present, stored.facets, serde_json::to_vec(&value).unwrap());
        self.commit(batch).await.unwrap();
    }

    /// Deletes the record whose JSON body matches.
    pub(crate) async fn remove(&self, is_meant: impl Fn(&Value) -> bool) {
        let (stored, _) = self.latest(is_meant);
        let mut batch = Batch::new();
        batch.delete(stored.key, Precondition::Present);
        self.commit(batch).await.unwrap();
    }

    fn latest(&self, is_meant: impl Fn(&Value) -> bool) -> (Stored, Value) {
        let stored = self.stored.lock().unwrap();
        let mut values = stored.iter().rev().filter_map(|stored| {
            let value = serde_json::from_slice(&stored.body).ok()?;
            Some((stored.clone(), value))
        });
        values.find(|(_, value)| is_meant(value)).expect("such a record was stored")
    }
}

#[async_trait]
impl Store for Recorder {
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
        let writes = batch.writes().to_vec();
        self.inner.commit(batch).await?;
        if !writes.is_empty() {
            *self.commits.lock().unwrap() += 1;
        }
        let puts = writes.into_iter().filter_map(|write| match write {
            Write::Put { key, facets, body, .. } => Some(Stored { key, facets, body }),
            _ => None,
        });
        self.stored.lock().unwrap().extend(puts);
        Ok(())
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        *self.purges.lock().unwrap() += 1;
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.inner.snapshot().await
    }
}
