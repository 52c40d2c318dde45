//! A store that fails on demand, and a deterministic source of ids and secrets.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::task;
use toposcope::access::{RandomError, RandomSource};
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

use super::leaks::INTERNAL;
use crate::common::{SplitMix64, Watched};

/// A store that fails from a certain call on, until it is mended.
#[derive(Debug)]
pub(crate) struct Fickle {
    inner: Arc<Watched>,
    plan: Mutex<Plan>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    /// Number of calls left before it fails; `None` if it works.
    left: Option<usize>,
    is_damaged: bool,
    has_failed: bool,
}

impl Fickle {
    pub(crate) fn new(inner: Arc<Watched>) -> Self {
        Self { inner, plan: Mutex::default() }
    }

    /// Lets the background tasks finish.
    pub(crate) async fn settle(&self) {
        self.inner.settle().await;
    }

    /// Asserts that every record is stored as it was written.
    pub(crate) async fn verify(&self) {
        self.inner.verify().await;
    }

    /// Makes the store fail after `left` more calls, as damaged or as unavailable.
    pub(crate) fn spoil(&self, left: usize, is_damaged: bool) {
        *self.plan.lock().unwrap() = Plan { left: Some(left), is_damaged, has_failed: false };
    }

    /// Makes the store work again. Returns whether it failed meanwhile.
    pub(crate) fn mend(&self) -> bool {
        std::mem::take(&mut *self.plan.lock().unwrap()).has_failed
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.plan.lock().unwrap().has_failed
    }

    fn call(&self) -> Result<(), StoreError> {
        let mut plan = self.plan.lock().unwrap();
        // Background tasks run at unpredictable times, so their calls are not counted.
        let is_waited_for = task::try_id().is_none();
        match &mut plan.left {
            None => return Ok(()),
            Some(0) => {}
            Some(left) => {
                *left -= usize::from(is_waited_for);
                return Ok(());
            }
        }
        plan.has_failed |= is_waited_for;
        let error = if plan.is_damaged { StoreError::corrupt } else { StoreError::unavailable };
        Err(error(INTERNAL))
    }
}

#[async_trait]
impl Store for Fickle {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.call()?;
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.call()?;
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.call()?;
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.call()?;
        self.inner.commit(batch).await
    }

    /// A failing purge does not prevent a login, so it never fails here.
    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.call()?;
        self.inner.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.call()?;
        self.inner.revision(kind, organization).await
    }
}

/// A source that returns the same ids and secrets in every run.
pub(crate) struct Seeded(Mutex<SplitMix64>);

impl Seeded {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Mutex::new(SplitMix64(seed)))
    }
}

impl RandomSource for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut random = self.0.lock().unwrap();
        for byte in bytes {
            *byte = random.next().to_le_bytes()[0];
        }
        Ok(())
    }
}

impl fmt::Debug for Seeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Seeded")
    }
}
