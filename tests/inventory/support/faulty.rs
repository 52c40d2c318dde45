use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::sync::watch;
use toposcope::model::Timestamp;
use toposcope::store::{Batch, Guard, Key, Page, Query, Record, Snapshot, Store, StoreError, UniqueKey};

/// The fault of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// All calls fail.
    Unavailable,
    /// Only the call with this number fails.
    UnavailableAt(usize),
    /// Commits fail as if a concurrent write had come first: of all preconditions and guards of a batch, the
    /// one with this number, counted cyclically, is reported as unmet.
    Unmet(usize),
    /// No call is answered until the fault is over.
    Silence,
    /// No commit is answered.
    SilentCommits,
    /// No purge is answered.
    SilentPurges,
}

/// A store with a configurable fault.
pub(crate) struct Faulty {
    inner: Arc<dyn Store>,
    fault: watch::Sender<Fault>,
    calls: AtomicUsize,
    commits: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        let fault = watch::Sender::new(Fault::None);
        Arc::new(Self { inner, fault, calls: AtomicUsize::new(0), commits: AtomicUsize::new(0) })
    }

    /// Sets the fault, and counts the calls anew.
    pub(crate) fn set(&self, fault: Fault) {
        self.calls.store(0, Ordering::SeqCst);
        self.commits.store(0, Ordering::SeqCst);
        self.fault.send_replace(fault);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    async fn call(&self) -> Result<(), StoreError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        match self.fault_after(|fault| fault == Fault::Silence).await {
            Fault::Unavailable => Err(StoreError::unavailable("told to fail")),
            Fault::UnavailableAt(place) if place == number => Err(StoreError::unavailable("told to fail")),
            _ => Ok(()),
        }
    }

    async fn before_commit(&self, batch: &Batch) -> Result<(), StoreError> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        match self.fault_after(|fault| fault == Fault::SilentCommits).await {
            Fault::Unmet(number) => Err(unmet(batch, number)),
            _ => Ok(()),
        }
    }

    /// Waits until the fault is none of these, and returns it.
    async fn fault_after(&self, is_waited_for: impl Fn(Fault) -> bool) -> Fault {
        *self.fault.subscribe().wait_for(|fault| !is_waited_for(*fault)).await.expect("the store is there")
    }
}

/// Returns the error of a store for a batch whose precondition with this number is not met.
fn unmet(batch: &Batch, number: usize) -> StoreError {
    let place = number % (batch.writes().len() + batch.guards().len());
    if let Some(write) = batch.writes().get(place) {
        return StoreError::conflict(write.key());
    }
    match &batch.guards()[place - batch.writes().len()] {
        Guard::Record { key, .. } => StoreError::conflict(*key),
        Guard::UniqueKey { unique_key, .. } => StoreError::unique_key_taken(unique_key.clone()),
        Guard::LinkedWithin { link, .. } => StoreError::linked(*link),
        Guard::NetworkEmpty { network, .. } => StoreError::network_in_use(*network),
        guard => panic!("unknown guard: {guard:?}"),
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Faulty").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for Faulty {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.call().await?;
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.call().await?;
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.call().await?;
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.call().await?;
        self.before_commit(&batch).await?;
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.call().await?;
        self.fault_after(|fault| fault == Fault::SilentPurges).await;
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.call().await?;
        self.inner.snapshot().await
    }
}
