//! Instances on one database, and the writers that use them.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::task::JoinSet;
use tokio::time::sleep;
use toposcope::store::{
    Batch, Key, Name, Page, PostgresStore, Precondition, Query, Record, Revision, Snapshot, Store,
    StoreError, StoreErrorKind, UniqueKey, Wrapper,
};
use uuid::Uuid;

use super::super::open;
use crate::contents::chain;
use crate::durability::workload::{Ledger, Progress, WRITERS, Writer, commit, settle};

/// Pause before the database is asked again.
const RETRY_DELAY: Duration = Duration::from_millis(2);

/// The time within which an instance must work again once the server does. It takes less than a second, but a machine
/// with busy neighbors may stand still for some.
const MAX_OUTAGE: Duration = Duration::from_secs(10);

/// A time far longer than any event takes that a test waits for.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Instances with writers, and the known outcomes of the batches of each writer.
pub(super) struct Instances {
    stores: Vec<Arc<Retrying>>,
    /// The writers of this process, between two rounds.
    writers: Vec<Writer>,
    pub(super) seed: u64,
    pub(super) progress: Progress,
    acknowledged: Arc<AtomicU64>,
    /// The number of writers that run. One ends with its round, or when the outcome of a batch is unknown.
    running: Arc<AtomicUsize>,
    unknown: usize,
    slowest: Duration,
}

impl Instances {
    /// Opens instances at these connections, and takes the writers with these numbers.
    pub(super) async fn open(seed: u64, connections: &[String], numbers: impl Iterator<Item = u64>) -> Self {
        let mut stores = Vec::new();
        for connection in connections {
            stores.push(Arc::new(Retrying(open(PostgresStore::builder(connection)).await)));
        }
        let writers = numbers.map(|number| Writer::new(seed, number)).collect();
        let (acknowledged, running) = Default::default();
        let (progress, slowest) = (Progress::new(), Duration::ZERO);
        Self { stores, writers, seed, progress, acknowledged, running, unknown: 0, slowest }
    }

    /// Opens two instances at one connection, with all writers.
    pub(super) async fn open_two(seed: u64, connection: &str) -> Self {
        Self::open(seed, &[connection.to_owned(), connection.to_owned()], 0..WRITERS).await
    }

    /// Runs all writers and a reader of each instance during an event of the database.
    ///
    /// The progress is then up to date, except for the batches of writers in other processes.
    pub(super) async fn run_during(&mut self, event: impl AsyncFnOnce(&mut Self)) {
        let is_over = Arc::new(AtomicBool::new(false));
        let (mut writing, mut reading) = (JoinSet::new(), JoinSet::new());
        for writer in mem::take(&mut self.writers) {
            let store = Arc::clone(&self.stores[writer.number as usize % self.stores.len()]);
            let writes = go_on(store, writer, Arc::clone(&self.acknowledged), Arc::clone(&is_over));
            let running = Arc::clone(&self.running);
            running.fetch_add(1, Ordering::Relaxed);
            writing.spawn(async move {
                let ended = writes.await;
                running.fetch_sub(1, Ordering::Relaxed);
                ended
            });
        }
        for store in &self.stores {
            reading.spawn(watch(Arc::clone(store), Arc::clone(&is_over)));
        }
        event(self).await;
        is_over.store(true, Ordering::Relaxed);
        for (writer, is_unknown) in writing.join_all().await {
            let number = writer.number as usize;
            self.progress.done[number] = writer.done;
            self.progress.begun[number] = writer.done + u64::from(is_unknown);
            self.unknown += usize::from(is_unknown);
            self.writers.push(writer);
        }
        for seen in reading.join_all().await {
            let pairs = self.progress.seen.iter_mut().zip(seen.0);
            pairs.for_each(|(before, seen)| *before = seen.max(*before));
        }
    }

    /// Verifies that every instance holds the right batches. These are all acknowledged batches, and those begun either
    /// completely or not at all. Nothing else may be present.
    pub(super) async fn verify(&mut self) {
        for store in &self.stores {
            let settled = settle(&**store, self.seed, &self.progress).await;
            let writers = settled.unwrap_or_else(|problem| panic!("{problem}"));
            // The progress found by the first instance must also be true of the others.
            self.progress.come(&writers.iter().map(|writer| writer.done).collect::<Vec<_>>());
            for own in &mut self.writers {
                own.clone_from(&writers[own.number as usize]);
            }
        }
    }

    /// Waits until more batches were acknowledged, or all writers are at an end.
    pub(super) async fn await_batches(&self, count: u64) {
        let (begin, before) = (Instant::now(), self.acknowledged.load(Ordering::Relaxed));
        let is_enough = || self.acknowledged.load(Ordering::Relaxed) >= before + count;
        while !is_enough() && self.running.load(Ordering::Relaxed) > 0 {
            assert!(begin.elapsed() < TIMEOUT, "the writers do not come forward");
            sleep(RETRY_DELAY).await;
        }
    }

    /// Waits until every instance reads and commits again, from the moment the server accepts connections.
    pub(super) async fn await_service(&mut self, server: &str) {
        let begin = Instant::now();
        while tokio_postgres::connect(server, tokio_postgres::NoTls).await.is_err() {
            assert!(begin.elapsed() < TIMEOUT, "the server does not come back");
            sleep(RETRY_DELAY).await;
        }
        let begin = Instant::now();
        let serving: JoinSet<()> =
            self.stores.iter().cloned().map(|store| async move { serve(&store.0).await }).collect();
        serving.join_all().await;
        let outage = begin.elapsed();
        assert!(outage < MAX_OUTAGE, "an instance works only {outage:?} after the server");
        self.slowest = self.slowest.max(outage);
    }

    /// Asserts that every batch of this process has got an answer.
    pub(super) fn assert_all_known(&self) {
        assert_eq!(self.unknown, 0, "batches of unknown outcome");
    }

    /// Prints the events, and asserts that no instance had to load the index again.
    pub(super) fn finish(&self, what: &str) {
        let (total, unknown, slowest) = (self.progress.total(), self.unknown, self.slowest);
        let overtaken: u64 = self.stores.iter().map(|store| store.0.status().commit_conflicts).sum();
        println!(
            "{what}: {total} batches, none lost, none in part; {unknown} of unknown outcome, {overtaken} groups overtaken; \
             all instances worked at the latest {slowest:?} after the server"
        );
        let reloads: u64 = self.stores.iter().map(|store| store.0.status().reloads).sum();
        assert_eq!(reloads, 0, "an instance does not continue the log");
    }
}

/// Writes until the end of the round, or until a batch's outcome is unknown.
async fn go_on(
    store: Arc<Retrying>,
    mut writer: Writer,
    acknowledged: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
) -> (Writer, bool) {
    while !is_over.load(Ordering::Relaxed) {
        match commit(&*store, &writer).await {
            Ok(()) => {
                writer.go_on();
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                let problem =
                    format!("batch {} of writer {}: {}", writer.done + 1, writer.number, chain(&error));
                assert!(is_outage(&error), "{problem}");
                println!("{problem}");
                return (writer, true);
            }
        }
    }
    (writer, false)
}

/// Reads the ledger all the time. A batch that was seen must not be missing later.
async fn watch(store: Arc<Retrying>, is_over: Arc<AtomicBool>) -> Ledger {
    let mut last = Ledger(vec![0; WRITERS as usize]);
    while !is_over.load(Ordering::Relaxed) {
        let record = store.get(&[Ledger::KEY]).await.unwrap().pop().flatten();
        let ledger = Ledger::read(record.as_ref());
        let has_lost = ledger.0.iter().zip(&last.0).any(|(now, before)| now < before);
        assert!(!has_lost, "{ledger:?} after {last:?}");
        last = ledger;
        sleep(RETRY_DELAY).await;
    }
    last
}

/// Returns once an instance has read and committed.
async fn serve(store: &PostgresStore) {
    loop {
        // The deletion of a record that does not exist is an entry of the log as well.
        let mut batch = Batch::new();
        batch.delete(Key::new(Name::new("none"), Uuid::nil()), Precondition::Any);
        if store.get(&[Ledger::KEY]).await.is_ok() && store.commit(batch).await.is_ok() {
            return;
        }
        sleep(RETRY_DELAY).await;
    }
}

/// A store whose reads wait while the database is unavailable. An error is therefore always the error of a commit.
#[derive(Debug)]
struct Retrying(PostgresStore);

/// Repeats a read while the database is unavailable.
macro_rules! retrying {
    ($read:expr) => {{
        let begin = Instant::now();
        loop {
            match $read.await {
                Err(error) if is_outage(&error) && begin.elapsed() < TIMEOUT => sleep(RETRY_DELAY).await,
                outcome => return outcome,
            }
        }
    }};
}

fn is_outage(error: &StoreError) -> bool {
    *error.kind() == StoreErrorKind::Unavailable
}

#[async_trait]
impl Wrapper for Retrying {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        retrying!(self.0.get(keys))
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        retrying!(self.0.get_by_unique_key(unique_key))
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        retrying!(self.0.list(query))
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        retrying!(self.0.snapshot())
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        retrying!(self.0.revision(kind, organization))
    }
}
