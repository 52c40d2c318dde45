use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;
use toposcope::store::{Batch, Facets, Guard, Key, StoreError, Write};
use toposcope::testing::{Call, Intercept, Operation, Reply};

/// A record as it was put.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    pub(crate) key: Key,
    pub(crate) facets: Facets,
    pub(crate) body: Bytes,
}

/// A hook that records everything that is ever put into the store.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    puts: Mutex<Vec<Put>>,
    /// The number of writes of each batch that has changed records.
    commits: Mutex<Vec<usize>>,
    purges: AtomicUsize,
}

impl Recorder {
    pub(crate) fn puts(&self) -> Vec<Put> {
        self.puts.lock().unwrap().clone()
    }

    /// Returns the number of batches that have changed records.
    pub(crate) fn commits(&self) -> usize {
        self.commits.lock().unwrap().len()
    }

    /// Returns the number of writes of each batch that has changed records.
    pub(crate) fn sizes_of_commits(&self) -> Vec<usize> {
        self.commits.lock().unwrap().clone()
    }

    /// Returns the number of purges requested.
    pub(crate) fn purges(&self) -> usize {
        self.purges.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Intercept for Recorder {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        let writes = match call.operation() {
            Operation::Commit(batch) => batch.writes().to_vec(),
            Operation::PurgeExpired(_) => {
                self.purges.fetch_add(1, Ordering::SeqCst);
                Vec::new()
            }
            _ => Vec::new(),
        };
        let reply = call.proceed().await?;
        // Links are recorded after a change, at some moment.
        if !writes.is_empty() && !is_follow_up(&writes) {
            self.commits.lock().unwrap().push(writes.len());
        }
        let puts = writes.into_iter().filter_map(|write| match write {
            Write::Put { key, facets, body, .. } => Some(Put { key, facets, body }),
            _ => None,
        });
        self.puts.lock().unwrap().extend(puts);
        Ok(reply)
    }
}

/// The disturbance of the store by a [`Probe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// All calls fail.
    Unavailable,
    /// Only the call with this number fails.
    UnavailableAt(usize),
    /// All commits but the first ones, of this number, fail.
    UnavailableAfterCommits(usize),
    /// Commits fail as if a concurrent write had come first.
    ///
    /// Of all preconditions and guards of a batch, the one with this number, counted cyclically, is reported as unmet.
    Unmet(usize),
    /// No call is answered until the fault is over.
    Silence,
    /// Only the call with this number is not answered.
    SilentAt(usize),
    /// No commit is answered.
    SilentCommits,
    /// No purge is answered.
    SilentPurges,
    /// Each commit takes this long.
    SlowCommits(Duration),
}

impl Fault {
    const fn silences(self, number: usize, operation: &Operation) -> bool {
        match self {
            Self::Silence => true,
            Self::SilentAt(silent) => silent == number,
            Self::SilentCommits => matches!(operation, Operation::Commit(_)),
            Self::SilentPurges => matches!(operation, Operation::PurgeExpired(_)),
            _ => false,
        }
    }
}

/// A call that a [`Probe`] let through.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passed {
    /// The method and the kinds of the requested records.
    pub(crate) name: String,
    /// The number of bodies in the answer.
    pub(crate) bodies: usize,
}

/// A hook that counts the calls of the store and disturbs them.
#[derive(Debug)]
pub(crate) struct Probe {
    fault: watch::Sender<Fault>,
    has_silenced: Notify,
    calls: AtomicUsize,
    commits: AtomicUsize,
    /// The number of commits that change records.
    changes: AtomicUsize,
    passed: Mutex<Vec<Passed>>,
}

impl Probe {
    pub(crate) fn new(fault: Fault) -> Arc<Self> {
        Arc::new(Self {
            fault: watch::Sender::new(fault),
            has_silenced: Notify::new(),
            calls: AtomicUsize::new(0),
            commits: AtomicUsize::new(0),
            changes: AtomicUsize::new(0),
            passed: Mutex::default(),
        })
    }

    /// Sets the fault, and counts the calls from zero.
    pub(crate) fn set(&self, fault: Fault) {
        self.calls.store(0, Ordering::SeqCst);
        self.commits.store(0, Ordering::SeqCst);
        self.fault.send_replace(fault);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Returns the number of attempted commits.
    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    /// Returns the number of attempted commits that change records, since the probe was created.
    pub(crate) fn changes(&self) -> usize {
        self.changes.load(Ordering::SeqCst)
    }

    /// Returns the answered calls since the previous call of this method.
    pub(crate) fn take_passed(&self) -> Vec<Passed> {
        std::mem::take(&mut self.passed.lock().unwrap())
    }

    /// Waits until a call is not answered.
    pub(crate) async fn silenced(&self) {
        self.has_silenced.notified().await;
    }
}

/// Returns whether an operation opens the history of an instance, before its first change.
fn opens_history(operation: &Operation) -> bool {
    let is_mark = |key: Key| key.kind.as_str() == "history";
    match operation {
        Operation::Get(keys) => !keys.is_empty() && keys.iter().copied().all(is_mark),
        Operation::List(query) => {
            ["change", "change_run"].contains(&query.kind.as_str()) && query.limit == Some(1)
        }
        Operation::Commit(batch) => {
            let mut writes = batch.writes().iter().map(Write::key);
            !batch.writes().is_empty() && writes.all(is_mark)
        }
        _ => false,
    }
}

/// Returns whether a call is one of the background tasks that record links, as far as it shows.
fn follows_links(operation: &Operation) -> bool {
    match operation {
        Operation::Get(keys) => {
            keys.iter().any(|key| ["network_links", "pending_claims"].contains(&key.kind.as_str()))
        }
        Operation::List(query) => match query.kind.as_str() {
            "network_links" | "recorded_link" | "layout_moves" | "pending_claims" => true,
            "network" => query.organization.is_none(),
            "change" | "change_run" => query.limit == Some(15),
            _ => false,
        },
        Operation::Commit(batch) => is_follow_up(batch.writes()),
        _ => false,
    }
}

/// Returns whether a batch records links. A new network has a record of its links from the beginning.
fn is_follow_up(writes: &[Write]) -> bool {
    let has = |kind: &str| writes.iter().any(|write| write.key().kind.as_str() == kind);
    let mut kinds = writes.iter().map(|write| write.key().kind);
    let is_note_alone = !writes.is_empty() && kinds.all(|kind| kind.as_str() == "pending_claims");
    is_note_alone || (has("network_links") && !has("network"))
}

#[async_trait]
impl Intercept for Probe {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        if opens_history(call.operation()) || follows_links(call.operation()) {
            return call.proceed().await;
        }
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let is_commit = matches!(call.operation(), Operation::Commit(_));
        let commits = self.commits.fetch_add(usize::from(is_commit), Ordering::SeqCst);
        let is_change = matches!(call.operation(), Operation::Commit(batch) if !batch.writes().is_empty());
        self.changes.fetch_add(usize::from(is_change), Ordering::SeqCst);
        let silences = |fault: &Fault| fault.silences(number, call.operation());
        if silences(&self.fault.borrow()) {
            self.has_silenced.notify_one();
        }
        let fault =
            *self.fault.subscribe().wait_for(|fault| !silences(fault)).await.expect("it has a sender");
        let is_unavailable = match fault {
            Fault::Unavailable => true,
            Fault::UnavailableAt(failing) => failing == number,
            Fault::UnavailableAfterCommits(passing) => is_commit && commits >= passing,
            _ => false,
        };
        if is_unavailable {
            return Err(StoreError::unavailable("the test wants it"));
        }
        match (fault, call.operation()) {
            (Fault::Unmet(condition), Operation::Commit(batch)) => {
                return Err(unmet(batch, condition));
            }
            (Fault::SlowCommits(delay), Operation::Commit(_)) => sleep(delay).await,
            _ => {}
        }
        let name = name_of(call.operation());
        let reply = call.proceed().await?;
        self.passed.lock().unwrap().push(Passed { name, bodies: bodies_in(&reply) });
        Ok(reply)
    }
}

/// Returns the store's error for a batch whose condition with this number is not met.
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

fn name_of(operation: &Operation) -> String {
    match operation {
        Operation::Get(keys) => {
            let kinds: Vec<&str> = keys.iter().map(|key| key.kind.as_str()).collect();
            format!("get {}", kinds.join(" "))
        }
        Operation::GetByUniqueKey(unique_key) => format!("get_by_unique_key {}", unique_key.name),
        Operation::List(query) => format!("list {}", query.kind),
        Operation::Commit(_) => "commit".to_owned(),
        other => format!("{other:?}"),
    }
}

fn bodies_in(reply: &Reply) -> usize {
    match reply {
        Reply::Records(records) => records.iter().flatten().count(),
        Reply::Record(record) => usize::from(record.is_some()),
        Reply::Page(page) => page.records.len(),
        _ => 0,
    }
}
