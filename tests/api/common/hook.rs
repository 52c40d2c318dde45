//! Hooks for stores: [`Hook`] records, delays and fails their operations.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use toposcope::store::{Key, Name, Record, Store, StoreError, Write};
use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};

use crate::backend::TestStore;

/// The kind of hosts in stores.
const HOST: Name = Name::new("host");

/// The kind of the records of when keys were last used.
const KEY_USE: Name = Name::new("key_use");

/// The kinds of the records of the history that a server reads and writes when it opens the history, before its first change.
const OF_HISTORY: [Name; 3] = [Name::new("history"), Name::new("change"), Name::new("change_run")];

/// A store of the current backend, which counts its operations in progress.
pub(crate) type WatchedStore = Interceptor<Arc<dyn Store>, InProgress>;

/// A hook that counts the operations in progress. It owns the backend, which outlives the store.
#[derive(Debug)]
pub(crate) struct InProgress {
    backend: TestStore,
    calls: AtomicUsize,
}

/// An operation that is in progress until this value is dropped.
struct Running<'c>(&'c AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl InProgress {
    /// Creates a new, empty store of the current backend.
    pub(crate) async fn watched_store() -> Arc<WatchedStore> {
        let backend = TestStore::new().await;
        Arc::new(Interceptor::new(backend.store(), Self { backend, calls: AtomicUsize::new(0) }))
    }

    /// Lets the background tasks finish. Requires a single-threaded runtime.
    pub(crate) async fn settle(&self) {
        loop {
            for _ in 0..20 {
                yield_now().await;
            }
            if self.calls.load(Ordering::SeqCst) == 0 {
                return;
            }
        }
    }

    /// Asserts that every record is stored as it was written.
    pub(crate) async fn verify(&self) {
        self.backend.verify().await;
    }
}

#[async_trait]
impl Intercept for InProgress {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let _running = Running(&self.calls);
        call.proceed().await
    }
}

/// A hook that keeps links from being recorded in the background, at moments that depend on the machine.
#[derive(Debug)]
pub(crate) struct Unfollowed;

impl Unfollowed {
    /// Returns what a background task reads that is to record the links of a network: the organization does not exist.
    pub(crate) fn answer(operation: &Operation) -> Option<Reply> {
        let Operation::Get(keys) = operation else { return None };
        let kinds = ["organization", "network", "network_links", "pending_claims"];
        let is_follower = keys.iter().map(|key| key.kind.as_str()).eq(kinds);
        is_follower.then(|| Reply::Records(vec![None; kinds.len()]))
    }
}

#[async_trait]
impl Intercept for Unfollowed {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        match Self::answer(call.operation()) {
            Some(nothing) => Ok(nothing),
            None => call.proceed().await,
        }
    }
}

/// A hook that records, delays and fails the operations of a store. Operations on the history alone can fail, but are
/// neither recorded nor held.
#[derive(Debug)]
pub(crate) struct Hook {
    seen: Mutex<Seen>,
    fault: Mutex<Fault>,
    has_revision: AtomicBool,
    yields: AtomicBool,
    /// Each list of hosts takes a permit and puts it back.
    pub(crate) open: Semaphore,
    /// Each commit takes a permit and puts it back, except for uses of keys.
    pub(crate) writable: Semaphore,
    /// Each commit of a use of a key takes a permit and puts it back.
    pub(crate) uses: Semaphore,
    commits: AtomicUsize,
}

#[derive(Debug, Default)]
struct Seen {
    number: usize,
    lists: usize,
    calls: Vec<Recorded>,
    written: Vec<Write>,
}

/// An operation, without the ids in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The method and the kinds of its records, such as `get host, network`.
    pub(crate) call: String,
    /// The records that were returned.
    pub(crate) records: Vec<Key>,
}

/// A fault of the operations of a store.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    None,
    /// Fails every commit that writes a record of this kind.
    Commit(Name, fn(Key) -> StoreError),
    /// Fails every operation from the one with this number on.
    From(usize, fn() -> StoreError),
    /// Replaces the bodies that operations read by key, from the operation with this number on.
    Body(usize, &'static [u8]),
    /// Fails every list.
    List(fn() -> StoreError),
}

impl Hook {
    pub(crate) fn new() -> Arc<Self> {
        Self::failing(Fault::None)
    }

    pub(crate) fn failing(fault: Fault) -> Arc<Self> {
        let (has_revision, yields) = (AtomicBool::new(true), AtomicBool::new(false));
        let (seen, fault) = (Mutex::default(), Mutex::new(fault));
        Arc::new(Self {
            seen,
            fault,
            has_revision,
            yields,
            open: Semaphore::new(1),
            writable: Semaphore::new(1),
            uses: Semaphore::new(1),
            commits: AtomicUsize::new(0),
        })
    }

    /// Returns a hook that yields to other tasks around each operation. A store behind a network would do the same.
    pub(crate) fn yielding() -> Arc<Self> {
        let hook = Self::new();
        hook.yields.store(true, Ordering::SeqCst);
        hook
    }

    pub(crate) fn set_fault(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// Makes the store omit its revision.
    pub(crate) fn hide_revision(&self) {
        self.has_revision.store(false, Ordering::SeqCst);
    }

    /// Puts this hook before a store.
    pub(crate) fn before(self: &Arc<Self>, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Interceptor::new(store, Arc::clone(self)))
    }

    /// Returns the number of lists requested.
    pub(crate) fn lists(&self) -> usize {
        self.seen.lock().unwrap().lists
    }

    /// Returns the number of commits requested, except for uses of keys, which are recorded in the background.
    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    /// Returns the operations since they were last taken.
    pub(crate) fn take(&self) -> Vec<Recorded> {
        std::mem::take(&mut self.seen.lock().unwrap().calls)
    }

    /// Returns the operations since they were last taken, without their results.
    pub(crate) fn take_calls(&self) -> Vec<String> {
        self.take().into_iter().map(|recorded| recorded.call).collect()
    }

    /// Returns the writes since they were last taken.
    pub(crate) fn take_written(&self) -> Vec<Write> {
        std::mem::take(&mut self.seen.lock().unwrap().written)
    }

    async fn pause(&self) {
        if self.yields.load(Ordering::SeqCst) {
            yield_now().await;
        }
    }

    /// Records an operation. Returns its place among the operations not taken yet (`usize::MAX` for those of the history), and the fault to apply.
    fn record(&self, operation: &Operation) -> (usize, Fault) {
        let fault = *self.fault.lock().unwrap();
        let mut seen = self.seen.lock().unwrap();
        let number = seen.number;
        seen.number += 1;
        if !concerns_history(operation) {
            seen.lists += usize::from(matches!(operation, Operation::List(_)));
            seen.calls.push(Recorded { call: describe(operation), records: Vec::new() });
        }
        let place = if concerns_history(operation) { usize::MAX } else { seen.calls.len() - 1 };
        let is_due = match fault {
            Fault::From(first, _) | Fault::Body(first, _) => number >= first,
            _ => true,
        };
        (place, if is_due { fault } else { Fault::None })
    }

    fn record_result(&self, place: usize, reply: &Reply) {
        let found: Vec<&Record> = match reply {
            Reply::Records(records) => records.iter().flatten().collect(),
            Reply::Record(record) => record.iter().collect(),
            Reply::Page(page) => page.records.iter().collect(),
            _ => return,
        };
        if let Some(recorded) = self.seen.lock().unwrap().calls.get_mut(place) {
            recorded.records = found.into_iter().map(|record| record.key).collect();
        }
    }
}

#[async_trait]
impl Intercept for Hook {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        let (place, fault) = self.record(call.operation());
        self.pause().await;
        let _permit = match call.operation() {
            operation if concerns_history(operation) => None,
            Operation::List(query) if query.kind == HOST => Some(self.open.acquire().await.unwrap()),
            Operation::Commit(batch) if batch.writes().iter().any(|write| write.key().kind != KEY_USE) => {
                self.commits.fetch_add(1, Ordering::SeqCst);
                Some(self.writable.acquire().await.unwrap())
            }
            Operation::Commit(batch) if !batch.writes().is_empty() => {
                Some(self.uses.acquire().await.unwrap())
            }
            _ => None,
        };
        match (fault, call.operation()) {
            (Fault::From(_, error), _) | (Fault::List(error), Operation::List(_)) => return Err(error()),
            (Fault::Commit(kind, error), Operation::Commit(batch)) => {
                if let Some(write) = batch.writes().iter().find(|write| write.key().kind == kind) {
                    return Err(error(write.key()));
                }
            }
            _ => {}
        }
        if let Operation::Commit(batch) = call.operation()
            && !concerns_history(call.operation())
        {
            self.seen.lock().unwrap().written.extend_from_slice(batch.writes());
        }
        let mut reply = call.proceed().await?;
        self.pause().await;
        self.record_result(place, &reply);
        match (&mut reply, fault) {
            (Reply::Records(records), Fault::Body(_, body)) => {
                records.iter_mut().flatten().for_each(|record| record.body = Bytes::from_static(body));
            }
            (Reply::Record(Some(record)), Fault::Body(_, body)) => record.body = Bytes::from_static(body),
            (Reply::Revision(revision), _) if !self.has_revision.load(Ordering::SeqCst) => *revision = None,
            _ => {}
        }
        Ok(reply)
    }
}

/// Returns whether an operation reads or writes records of the history and no others.
fn concerns_history(operation: &Operation) -> bool {
    match operation {
        Operation::Get(keys) => !keys.is_empty() && keys.iter().all(|key| OF_HISTORY.contains(&key.kind)),
        Operation::List(query) => OF_HISTORY.contains(&query.kind),
        Operation::Commit(batch) => {
            let mut writes = batch.writes().iter();
            !batch.writes().is_empty() && writes.all(|write| OF_HISTORY.contains(&write.key().kind))
        }
        _ => false,
    }
}

fn describe(operation: &Operation) -> String {
    let join = |kinds: Vec<String>| kinds.join(", ");
    match operation {
        Operation::Get(keys) => {
            format!("get {}", join(keys.iter().map(|key| key.kind.to_string()).collect()))
        }
        Operation::GetByUniqueKey(unique_key) => format!("get_by_unique_key {}", unique_key.name),
        Operation::List(query) => format!("list {}", query.kind),
        Operation::Commit(batch) => {
            let kinds = batch.writes().iter().map(|write| write.key().kind.to_string());
            format!("commit {}", join(kinds.collect()))
        }
        Operation::PurgeExpired(_) => "purge_expired".to_owned(),
        Operation::Snapshot => "snapshot".to_owned(),
        Operation::Revision(..) => "revision".to_owned(),
        other => format!("{other:?}"),
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Fault")
    }
}
