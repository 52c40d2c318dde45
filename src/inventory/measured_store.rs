//! The store of an inventory, whose calls are counted and measured.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use uuid::Uuid;

use super::changed_records::BatchChanges;
use super::figures::StoreCallFigures;
use crate::figures::{Counter, Histogram};
use crate::model::Timestamp;
use crate::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Store, StoreError, StoreErrorKind, StoreFuture,
    UniqueKey, Wrapper,
};

/// One read in this many is measured, because measuring costs an allocation, which is noticeable in short requests. The
/// number is a prime, so that requests with a fixed sequence of reads do not measure the same one each time.
const MEASURED_SHARE: u64 = 17;

/// Counts the calls of a store.
#[derive(Debug, Default)]
pub(super) struct StoreCounters {
    get: CallCounters,
    get_by_unique_key: CallCounters,
    list: CallCounters,
    revision: CallCounters,
    changed_since: CallCounters,
    commit: CallCounters,
    purge_expired: CallCounters,
}

#[derive(Debug, Default)]
struct CallCounters {
    calls: Counter,
    /// The failures among the measured calls.
    failures: Counter,
    latencies: Histogram,
}

/// A store around the one that the host application has given.
pub(super) struct MeasuredStore {
    store: Arc<dyn Store>,
    counters: Arc<StoreCounters>,
}

impl MeasuredStore {
    pub(super) fn new(store: Arc<dyn Store>) -> (Self, Arc<StoreCounters>) {
        let counters = Arc::<StoreCounters>::default();
        (Self { store, counters: Arc::clone(&counters) }, counters)
    }
}

/// Shows the inner store.
impl fmt::Debug for MeasuredStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(formatter)
    }
}

impl StoreCounters {
    pub(super) fn figures(&self) -> Vec<StoreCallFigures> {
        let Self { get, get_by_unique_key, list, revision, changed_since, commit, purge_expired } = self;
        vec![
            get.figures("get"),
            get_by_unique_key.figures("get_by_unique_key"),
            list.figures("list"),
            revision.figures("revision"),
            changed_since.figures("changed_since"),
            commit.figures("commit"),
            purge_expired.figures("purge_expired"),
        ]
    }
}

impl CallCounters {
    fn figures(&self, call: &'static str) -> StoreCallFigures {
        let (calls, failures, latencies) =
            (self.calls.get(), self.failures.get(), self.latencies.latencies());
        StoreCallFigures { call, calls, failures, latencies }
    }

    /// Counts a read, and measures some.
    fn read<'f, T: Send + 'f>(&'f self, reading: StoreFuture<'f, T>) -> StoreFuture<'f, T> {
        let number = self.calls.next();
        if number.is_multiple_of(MEASURED_SHARE) { Box::pin(self.measure(reading)) } else { reading }
    }

    async fn measure<T>(&self, call: StoreFuture<'_, T>) -> Result<T, StoreError> {
        let begun_at = Instant::now();
        let result = call.await;
        self.latencies.record(begun_at.elapsed());
        if result.as_ref().is_err_and(is_failure) {
            self.failures.increment();
        }
        result
    }
}

/// Returns whether an error is a failure of the store, not the refusal of a request.
fn is_failure(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::Unavailable | StoreErrorKind::Corrupt)
}

impl Wrapper for MeasuredStore {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn get<'s, 'k, 'f>(&'s self, keys: &'k [Key]) -> StoreFuture<'f, Vec<Option<Record>>>
    where
        's: 'f,
        'k: 'f,
        Self: 'f,
    {
        self.counters.get.read(self.inner().get(keys))
    }

    fn get_by_unique_key<'s, 'k, 'f>(&'s self, unique_key: &'k UniqueKey) -> StoreFuture<'f, Option<Record>>
    where
        's: 'f,
        'k: 'f,
        Self: 'f,
    {
        self.counters.get_by_unique_key.read(self.inner().get_by_unique_key(unique_key))
    }

    fn list<'s, 'q, 'f>(&'s self, query: &'q Query) -> StoreFuture<'f, Page>
    where
        's: 'f,
        'q: 'f,
        Self: 'f,
    {
        self.counters.list.read(self.inner().list(query))
    }

    fn revision<'s, 'f>(&'s self, kind: Name, organization: Uuid) -> StoreFuture<'f, Option<Revision>>
    where
        's: 'f,
        Self: 'f,
    {
        self.counters.revision.read(self.inner().revision(kind, organization))
    }

    fn changed_since<'s, 'f>(
        &'s self,
        kind: Name,
        organization: Uuid,
        revision: Revision,
    ) -> StoreFuture<'f, Option<Vec<Uuid>>>
    where
        's: 'f,
        Self: 'f,
    {
        self.counters.changed_since.read(self.inner().changed_since(kind, organization, revision))
    }

    fn commit<'s, 'f>(&'s self, batch: Batch) -> StoreFuture<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        let commit = &self.counters.commit;
        commit.calls.increment();
        Box::pin(async move {
            let changes = BatchChanges::of(&batch);
            let result = commit.measure(self.inner().commit(batch)).await;
            match (changes, &result) {
                (Some(changes), Ok(())) => changes.committed(),
                (Some(changes), Err(error)) if !is_failure(error) => changes.refused(),
                // The outcome of a failed commit is unknown.
                _ => {}
            }
            result
        })
    }

    fn purge_expired<'s, 'f>(&'s self, now: Timestamp) -> StoreFuture<'f, u64>
    where
        's: 'f,
        Self: 'f,
    {
        let purge = &self.counters.purge_expired;
        purge.calls.increment();
        Box::pin(purge.measure(self.inner().purge_expired(now)))
    }
}
