//! Linearizable reads from the replica. A read is answered once a statement that began after the call has found that
//! the replica is current. The same statement fetches the bodies that are not in memory.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::error::{timed_out, undecodable};
use super::follow::BodiesByVersion;
use super::shared::Shared;
use crate::store::index::RowId;
use crate::store::log::queue::closed;
use crate::store::log::replica::{FoundRecords, LocatedRecord, LogPosition};
use crate::store::materializer::Materializer;
use crate::store::{Cursor, Key, Query, Record, StoreError, UniqueKey};

/// Maximum number of bodies that one statement fetches.
const MAX_BODIES: usize = 512;

/// Maximum number of bodies of a page that one statement fetches, if the size of the page's bodies is limited.
const MAX_BODIES_OF_LIMITED: usize = 64;

/// Reads from a store.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) shared: Arc<Shared>,
    pub(super) runtime: Handle,
    materializer: Materializer,
    probes: Arc<Mutex<Probes>>,
}

/// The records that a call looks up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lookup<'l> {
    Keys(&'l [Key]),
    UniqueKey(&'l UniqueKey),
    List(&'l Query),
}

/// The records that a lookup found. `unread`, `total` and `next` are those of a list.
#[derive(Debug)]
pub(super) struct ReadRecords {
    pub(super) records: Vec<Option<Record>>,
    pub(super) unread: Vec<Key>,
    pub(super) total: u64,
    pub(super) next: Option<Cursor>,
}

/// Sender of the answer that a caller of a probe waits for.
type ProbeSender = oneshot::Sender<Result<LogPosition, StoreError>>;

/// Callers that wait for a probe. All those that arrived before it began share it.
#[derive(Debug, Default)]
struct Probes {
    is_running: bool,
    waiting: Vec<ProbeSender>,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, runtime: Handle) -> Self {
        Self { shared, runtime, materializer: Materializer::default(), probes: Arc::default() }
    }

    /// Looks records up in a current state.
    pub(super) async fn read(&self, lookup: Lookup<'_>) -> Result<ReadRecords, StoreError> {
        let begin = Instant::now();
        let total_timeout = self.shared.pool.connector.options.total_timeout();
        let mut fetched = BodiesByVersion::new();
        let max_bytes = lookup.max_bytes();
        // The end of a log that contains everything that was committed before the call.
        let mut end: Option<LogPosition> = None;
        loop {
            let found = self.find(lookup).await?;
            let missing = found.missing(&fetched, max_bytes);
            if end.is_some_and(|end| end.load != found.position.load) {
                end = None;
            }
            if end.is_some_and(|end| found.position.covers(end)) && missing.is_empty() {
                return found.records(&fetched, max_bytes);
            }
            if begin.elapsed() > total_timeout {
                return Err(timed_out());
            }
            let confirmed = if missing.is_empty() {
                self.probe().await?
            } else {
                self.fetch(missing, &mut fetched).await?
            };
            let end = *end.get_or_insert(confirmed);
            if found.position.covers(end) && found.missing(&fetched, max_bytes).is_empty() {
                return found.records(&fetched, max_bytes);
            }
        }
    }

    async fn find(&self, lookup: Lookup<'_>) -> Result<FoundRecords, StoreError> {
        let replica = match lookup {
            Lookup::List(query) => return self.materializer.list(&self.shared, query).await,
            _ => self.shared.replica.read()?,
        };
        let rows: Vec<Option<RowId>> = match lookup {
            Lookup::Keys(keys) => keys.iter().map(|key| replica.index.find(*key)).collect(),
            Lookup::UniqueKey(unique_key) => vec![replica.index.get_by_unique_key(unique_key)],
            Lookup::List(_) => Vec::new(),
        };
        let records = rows.into_iter().map(|row| row.and_then(|row| replica.locate(row))).collect();
        Ok(FoundRecords { position: replica.position, records, total: 0, next: None })
    }

    /// Waits for a probe that begins after this call; returns the end of the log.
    pub(super) async fn probe(&self) -> Result<LogPosition, StoreError> {
        let (sender, answer) = oneshot::channel();
        let starts = {
            let mut probes = lock(&self.probes);
            probes.waiting.push(sender);
            !std::mem::replace(&mut probes.is_running, true)
        };
        if starts {
            let running = Running { probes: Arc::clone(&self.probes), is_over: false };
            self.runtime.spawn(run_probes(Arc::clone(&self.shared), running));
        }
        answer.await.map_err(|_| closed())?
    }

    /// Fetches bodies, and returns the end of the log that the first statement found.
    async fn fetch(
        &self,
        missing: Vec<LocatedRecord>,
        fetched: &mut BodiesByVersion,
    ) -> Result<LogPosition, StoreError> {
        let mut end = None;
        for chunk in missing.chunks(MAX_BODIES) {
            let (shared, chunk) = (Arc::clone(&self.shared), chunk.to_vec());
            // A task of its own, so that a dropped call does not cost a connection.
            let round = self.runtime.spawn(async move { shared.fetch(&chunk, shared.deadline()).await });
            let (position, bodies) = round.await.map_err(|_| closed())??;
            end.get_or_insert(position);
            fetched.extend(bodies);
        }
        end.ok_or_else(timed_out)
    }
}

impl Lookup<'_> {
    fn max_bytes(&self) -> Option<usize> {
        match self {
            // A page has at least one record.
            Self::List(query) => query.max_bytes.map(|max| max.max(1)),
            Self::Keys(_) | Self::UniqueKey(_) => None,
        }
    }
}

impl FoundRecords {
    /// Returns the records whose bodies are neither in memory nor fetched. With `max_bytes`, these are the next few of
    /// them, up to the record that reaches the size.
    fn missing(&self, fetched: &BodiesByVersion, max_bytes: Option<usize>) -> Vec<LocatedRecord> {
        let most = max_bytes.map_or(usize::MAX, |_| MAX_BODIES_OF_LIMITED);
        let (mut missing, mut size) = (Vec::new(), 0_usize);
        for located in self.records.iter().flatten() {
            if missing.len() >= most || max_bytes.is_some_and(|max| size >= max) {
                break;
            }
            match located.body.as_ref().or_else(|| fetched.get(&(located.key, located.version))) {
                Some(body) => size = size.saturating_add(body.len()),
                None => missing.push(located.clone()),
            }
        }
        missing
    }

    fn records(self, fetched: &BodiesByVersion, max_bytes: Option<usize>) -> Result<ReadRecords, StoreError> {
        let mut found = ReadRecords {
            records: Vec::with_capacity(self.records.len()),
            unread: Vec::new(),
            total: self.total,
            next: self.next,
        };
        let mut size = 0_usize;
        for located in self.records {
            let Some(LocatedRecord { key, version, body, .. }) = located else {
                found.records.push(None);
                continue;
            };
            if max_bytes.is_some_and(|max| size >= max) {
                found.unread.push(key);
                continue;
            }
            let body = body.or_else(|| fetched.get(&(key, version)).cloned()).ok_or_else(undecodable)?;
            size = size.saturating_add(body.len());
            found.records.push(Some(Record { key, version, body }));
        }
        Ok(found)
    }
}

/// The task that runs probes. If it ends early, as when its runtime is shut down, its callers are answered.
struct Running {
    probes: Arc<Mutex<Probes>>,
    /// Whether no caller is left.
    is_over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            let mut probes = lock(&self.probes);
            probes.is_running = false;
            probes.waiting.clear();
        }
    }
}

async fn run_probes(shared: Arc<Shared>, mut running: Running) {
    loop {
        let mut waiting = {
            let mut probes = lock(&running.probes);
            let waiting = std::mem::take(&mut probes.waiting);
            probes.is_running = !waiting.is_empty();
            waiting
        };
        if waiting.is_empty() {
            running.is_over = true;
            return;
        }
        let outcome = shared.probe().await;
        if outcome.is_err() {
            // Callers that came in the meantime get the error too: otherwise they would wait for one timeout after
            // the other.
            waiting.append(&mut lock(&running.probes).waiting);
        }
        for sender in waiting {
            let copy = outcome.as_ref().map_err(StoreError::copy);
            let _ = sender.send(copy.copied());
        }
    }
}

fn lock(probes: &Mutex<Probes>) -> std::sync::MutexGuard<'_, Probes> {
    probes.lock().unwrap_or_else(PoisonError::into_inner)
}
