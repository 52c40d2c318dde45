//! Calls to an instance, each of whose answers is compared with the earlier answers of the instance.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::sleep;
use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Query, Record, Store, StoreError, StoreErrorKind,
};
use uuid::Uuid;

const KIND: Name = Name::new("count");

/// The time within which every call ends with the default options, with a little for a busy machine.
const MAX_CALL: Duration = Duration::from_secs(6);

/// Pause between two calls.
const CALL_INTERVAL: Duration = Duration::from_millis(2);

/// An instance, and the numbers that it has acknowledged or returned.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) store: PostgresStore,
    /// The record that this instance writes.
    own: usize,
    /// By record: the highest number that a call has returned, of this instance and of those beside it.
    known: Arc<Vec<AtomicU64>>,
    /// The last number whose write was begun. Held while it is written.
    begun: Mutex<u64>,
    pub(super) calls: AtomicU64,
}

impl Instance {
    /// An instance of several, each of which writes a record of its own.
    pub(super) fn new(store: PostgresStore, own: usize, count: usize) -> Arc<Self> {
        let known = Arc::new((0..count).map(|_| AtomicU64::new(0)).collect());
        Arc::new(Self { store, own, known, begun: Mutex::default(), calls: AtomicU64::new(0) })
    }

    /// An instance whose answers must not be older than those of this one, and the other way around. Such instances
    /// need a standby that confirms each commit before the primary acknowledges it.
    pub(super) fn beside(&self, store: PostgresStore, own: usize) -> Arc<Self> {
        let known = Arc::clone(&self.known);
        Arc::new(Self { store, own, known, begun: Mutex::default(), calls: AtomicU64::new(0) })
    }

    /// Runs a writer, readers and an export during an event. `others` are all instances.
    pub(super) async fn run_during<T>(instances: &[Arc<Self>], event: impl Future<Output = T>) -> T {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for instance in instances {
            for way in 0..5_usize {
                let (instance, is_over) = (Arc::clone(instance), Arc::clone(&is_over));
                tasks.spawn(async move {
                    while !is_over.load(Ordering::Relaxed) {
                        instance.call(way).await;
                        sleep(CALL_INTERVAL).await;
                    }
                });
            }
        }
        let outcome = event.await;
        is_over.store(true, Ordering::Relaxed);
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        outcome
    }

    async fn call(&self, way: usize) {
        let begin = Instant::now();
        let outcome = match way {
            0 => self.write().await,
            1 | 2 => self.read().await,
            3 => self.list().await,
            _ => self.export().await,
        };
        if let Err(error) = outcome {
            assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
        }
        assert!(begin.elapsed() < MAX_CALL, "a call takes {:?}", begin.elapsed());
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes the next number.
    pub(super) async fn write(&self) -> Result<(), StoreError> {
        let mut number = self.begun.lock().await;
        *number += 1;
        let mut batch = Batch::new();
        batch.put(key(self.own), Precondition::Any, Facets::default(), number.to_string());
        self.store.commit(batch).await?;
        self.known[self.own].fetch_max(*number, Ordering::SeqCst);
        Ok(())
    }

    pub(super) async fn read(&self) -> Result<(), StoreError> {
        let before = self.numbers();
        let keys: Vec<Key> = (0..self.known.len()).map(key).collect();
        let found = self.store.get(&keys).await?;
        self.check(&before, found.iter().flatten());
        Ok(())
    }

    async fn list(&self) -> Result<(), StoreError> {
        let before = self.numbers();
        let page = self.store.list(&Query::new(KIND)).await?;
        self.check(&before, page.records.iter());
        Ok(())
    }

    async fn export(&self) -> Result<(), StoreError> {
        let before = self.numbers();
        let mut snapshot = self.store.snapshot().await?;
        let mut records = Vec::new();
        loop {
            let piece = snapshot.next(1).await?;
            if piece.is_empty() {
                break;
            }
            records.extend(piece.into_iter().map(|entry| entry.record));
        }
        self.check(&before, records.iter());
        Ok(())
    }

    /// Returns the highest number of each record that is known.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.known.iter().map(|number| number.load(Ordering::SeqCst)).collect()
    }

    /// Asserts that an answer has no record older than those known before the call.
    fn check<'r>(&self, before: &[u64], records: impl Iterator<Item = &'r Record>) {
        let mut found = vec![0; before.len()];
        for record in records {
            let place = record.key.id.as_u128() as usize - 1;
            found[place] = std::str::from_utf8(&record.body).unwrap().parse().unwrap();
        }
        let is_older = found.iter().zip(before).any(|(found, before)| found < before);
        assert!(!is_older, "{found:?} was read after {before:?}");
        for (known, found) in self.known.iter().zip(found) {
            known.fetch_max(found, Ordering::SeqCst);
        }
    }
}

fn key(place: usize) -> Key {
    Key::new(KIND, Uuid::from_u128(place as u128 + 1))
}
