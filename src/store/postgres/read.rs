//! Linearizable reads from the replica. A read is answered once a statement that began after the call has found that
//! the replica is current. The same statement fetches the bodies that are not in memory.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout_at};
use tokio_postgres::Row;

use super::error::{Fault, is_conflict, is_disconnect, store_error, timed_out, undecodable};
use super::load::load;
use super::shared::Shared;
use super::sql;
use super::value::{Value, key_of, log_row, split};
use crate::store::index::RowId;
use crate::store::log::queue::closed;
use crate::store::log::replica::{Followed, Found, Located, LogRow, Position};
use crate::store::materializer::Materializer;
use crate::store::{Cursor, Key, Query, Record, StoreError, UniqueKey, Version};

/// Maximum number of bodies that one statement fetches.
const MAX_BODIES: usize = 512;

/// Maximum number of bodies of a page that one statement fetches, if the size of the page's bodies is limited.
const MAX_BODIES_OF_LIMITED: usize = 64;

/// Maximum number of statements for a probe or a fetch. Several are needed if others commit all the time or the
/// replica has to be loaded again.
const MAX_ROUNDS: usize = 1_000;

/// Pause before an unavailable database is asked again.
const PAUSE: Duration = Duration::from_millis(50);

/// Bodies by key and version.
type Bodies = HashMap<(Key, Version), Bytes>;

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
pub(super) struct Records {
    pub(super) records: Vec<Option<Record>>,
    pub(super) unread: Vec<Key>,
    pub(super) total: u64,
    pub(super) next: Option<Cursor>,
}

/// Sender of the answer that a caller of a probe waits for.
type Answer = oneshot::Sender<Result<Position, StoreError>>;

/// Callers that wait for a probe. All those that arrived before it began share it.
#[derive(Debug, Default)]
struct Probes {
    is_running: bool,
    waiting: Vec<Answer>,
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, runtime: Handle) -> Self {
        Self { shared, runtime, materializer: Materializer::default(), probes: Arc::default() }
    }

    /// Looks records up in a current state.
    pub(super) async fn read(&self, lookup: Lookup<'_>) -> Result<Records, StoreError> {
        let begin = Instant::now();
        let patience = self.shared.pool.connector.options.patience();
        let mut fetched = Bodies::new();
        let max_bytes = lookup.max_bytes();
        // The end of a log that contains everything that was committed before the call.
        let mut end: Option<Position> = None;
        loop {
            let found = self.find(lookup).await?;
            let missing = found.missing(&fetched, max_bytes);
            if end.is_some_and(|end| end.load != found.position.load) {
                end = None;
            }
            if end.is_some_and(|end| found.position.covers(end)) && missing.is_empty() {
                return found.records(&fetched, max_bytes);
            }
            if begin.elapsed() > patience {
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

    async fn find(&self, lookup: Lookup<'_>) -> Result<Found, StoreError> {
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
        Ok(Found { position: replica.position, records, total: 0, next: None })
    }

    /// Waits for a probe that begins after this call; returns the end of the log.
    pub(super) async fn probe(&self) -> Result<Position, StoreError> {
        let (sender, answer) = oneshot::channel();
        let starts = {
            let mut probes = lock(&self.probes);
            probes.waiting.push(sender);
            !std::mem::replace(&mut probes.is_running, true)
        };
        if starts {
            let (shared, probes) = (Arc::clone(&self.shared), Arc::clone(&self.probes));
            self.runtime.spawn(run_probes(shared, probes));
        }
        answer.await.map_err(|_| closed())?
    }

    /// Fetches bodies, and returns the end of the log that the first statement found.
    async fn fetch(&self, missing: Vec<Located>, fetched: &mut Bodies) -> Result<Position, StoreError> {
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

impl Found {
    /// Returns the records whose bodies are neither in memory nor fetched. With `max_bytes`, these are the next few of
    /// them, up to the record that reaches the size.
    fn missing(&self, fetched: &Bodies, max_bytes: Option<usize>) -> Vec<Located> {
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

    fn records(self, fetched: &Bodies, max_bytes: Option<usize>) -> Result<Records, StoreError> {
        let mut found = Records {
            records: Vec::with_capacity(self.records.len()),
            unread: Vec::new(),
            total: self.total,
            next: self.next,
        };
        let mut size = 0_usize;
        for located in self.records {
            let Some(Located { key, version, body, .. }) = located else {
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

async fn run_probes(shared: Arc<Shared>, probes: Arc<Mutex<Probes>>) {
    loop {
        let mut waiting = {
            let mut probes = lock(&probes);
            let waiting = std::mem::take(&mut probes.waiting);
            probes.is_running = !waiting.is_empty();
            waiting
        };
        if waiting.is_empty() {
            return;
        }
        let outcome = shared.probe().await;
        if outcome.is_err() {
            // Callers that came in the meantime get the error too: otherwise they would wait for one timeout after
            // the other.
            waiting.append(&mut lock(&probes).waiting);
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

impl Shared {
    /// Reads the log entries that the replica lacks, and applies them. Returns the end of the log.
    pub(super) async fn probe(self: &Arc<Self>) -> Result<Position, StoreError> {
        self.probe_until(self.deadline()).await
    }

    /// Like [`probe`](Self::probe), until the caller must be answered.
    pub(super) async fn probe_until(self: &Arc<Self>, deadline: Instant) -> Result<Position, StoreError> {
        for _ in 0..MAX_ROUNDS {
            let from = self.replica.read()?.position;
            let rows = self.round(sql::TAIL, vec![Value::Number(from.number)], deadline).await?;
            let rows = rows.iter().map(log_row).collect::<Result<Vec<_>, _>>()?;
            if let Some(end) = self.follow_or_load_until(from, &rows, deadline).await? {
                return Ok(end);
            }
        }
        Err(timed_out())
    }

    /// Returns the time at which a caller that comes now must be answered.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.pool.connector.options.patience()
    }

    /// Fetches the bodies of records, and follows the log as [`probe`](Self::probe) does.
    async fn fetch(
        self: &Arc<Self>,
        missing: &[Located],
        deadline: Instant,
    ) -> Result<(Position, Bodies), StoreError> {
        for _ in 0..MAX_ROUNDS {
            let from = self.replica.read()?.position;
            let (ids, kinds) = split(missing.iter().map(|located| &located.key));
            let values = vec![Value::Number(from.number), Value::Ids(ids), Value::ByteStrings(kinds)];
            let rows = self.round(sql::TAIL_AND_BODIES, values, deadline).await?;
            let (mut entries, mut bodies) = (Vec::new(), Bodies::new());
            for row in &rows {
                let version: Option<i64> = row.try_get(5).map_err(|_| undecodable())?;
                match version {
                    None => entries.push(log_row(row)?),
                    Some(version) => {
                        let body: &[u8] = row.try_get(6).map_err(|_| undecodable())?;
                        let version = Version(version.cast_unsigned());
                        bodies.insert((key_of(row, 3)?, version), Bytes::copy_from_slice(body));
                    }
                }
            }
            entries.sort_unstable_by_key(|row| row.number);
            if let Some(end) = self.follow_or_load_until(from, &entries, deadline).await? {
                self.cache(missing, &bodies)?;
                return Ok((end, bodies));
            }
        }
        Err(timed_out())
    }

    /// Follows the log, or loads the replica again. Returns the end of the log if the entries reached it.
    pub(super) async fn follow_or_load_until(
        self: &Arc<Self>,
        from: Position,
        rows: &[LogRow],
        deadline: Instant,
    ) -> Result<Option<Position>, StoreError> {
        self.counts.lag.store(rows.len().saturating_sub(1) as u64, Ordering::Relaxed);
        match self.replica.follow(from, rows, sql::MAX_ENTRIES)? {
            Followed::Current(end) => return Ok(Some(end)),
            Followed::Partly => {}
            Followed::Lost => {
                let shared = Arc::clone(self);
                // A task of its own, because loading takes longer than a caller waits.
                let loading = tokio::spawn(async move { shared.load_again(from).await });
                let loaded = timeout_at(deadline.into(), loading).await.map_err(|_| timed_out())?;
                match loaded.map_err(|_| closed())? {
                    Err(Fault { error, is_transient: false }) => return Err(error),
                    // The next round finds out whether the database answers again.
                    Err(_) => sleep(PAUSE).await,
                    Ok(()) => {}
                }
            }
        }
        Ok(None)
    }

    /// Loads the replica again, unless that was done since a position was read.
    ///
    /// Another server may be the right one, whose log continues the replica's. So the servers are compared before.
    async fn load_again(&self, from: Position) -> Result<(), Fault> {
        let _loading = self.loading.lock().await;
        if self.replica.read()?.position.load != from.load {
            return Ok(());
        }
        let connector = &self.pool.connector;
        connector.servers.distrust(connector.servers.view().epoch);
        if self.continues(from).await? {
            return Ok(());
        }
        tracing::warn!("the replica does not continue the log at entry {}: loading it again", from.number);
        let loaded = load(connector, from.load + 1).await?;
        let outdated = std::mem::replace(&mut *self.replica.write()?, loaded);
        drop(outdated);
        self.counts.loads.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether the log continues the replica, as far as it can be told without its entries.
    async fn continues(&self, from: Position) -> Result<bool, Fault> {
        let replica = self.replica.read()?.position;
        if replica.number != from.number {
            // It is the contents that are unexpected.
            return Ok(false);
        }
        let rows = self.pool.query(sql::NONCE, vec![Value::Number(from.number)]).await?;
        let rows = rows.map_err(|error| Fault::of(&error))?;
        let nonce: Option<uuid::Uuid> = rows.first().and_then(|row| row.try_get(0).ok());
        Ok(nonce == Some(from.nonce))
    }

    /// Runs a statement that only reads, and repeats it if necessary.
    ///
    /// It is repeated whenever the isolation of the database demands it, and while the database cannot be reached: a
    /// failover may be under way.
    async fn round(
        &self,
        sql: &'static str,
        values: Vec<Value<'_>>,
        deadline: Instant,
    ) -> Result<Vec<Row>, StoreError> {
        let mut last = None;
        loop {
            self.counts.rounds.fetch_add(1, Ordering::Relaxed);
            let fault = match timeout_at(deadline.into(), self.pool.query(sql, values.clone())).await {
                Ok(Ok(Ok(rows))) => return Ok(rows),
                Ok(Ok(Err(error))) if is_conflict(&error) => continue,
                Ok(Ok(Err(error))) if is_disconnect(&error) => {
                    self.pool.close_idle();
                    let fault = Fault::of(&error);
                    // The first of these connections may have been idle when the server restarted.
                    if last.is_none() {
                        last = Some(fault.error);
                        continue;
                    }
                    fault
                }
                Ok(Ok(Err(error))) => return Err(store_error(&error)),
                Ok(Err(fault)) => fault,
                Err(_) => return Err(last.unwrap_or_else(timed_out)),
            };
            if !fault.is_transient {
                return Err(fault.error);
            }
            last = Some(fault.error);
            if timeout_at(deadline.into(), sleep(PAUSE)).await.is_err() {
                return Err(last.unwrap_or_else(timed_out));
            }
        }
    }

    fn cache(&self, missing: &[Located], bodies: &Bodies) -> Result<(), StoreError> {
        let mut replica = self.replica.write()?;
        for located in missing {
            if let Some(body) = bodies.get(&(located.key, located.version)) {
                replica.cache(located, body)?;
            }
        }
        let evicted = replica.bodies.evict();
        drop(replica);
        drop(evicted);
        Ok(())
    }
}
