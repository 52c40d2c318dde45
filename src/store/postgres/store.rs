use std::error::Error as _;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::commit::Committer;
use super::connector::Connector;
use super::connector::require_sessions;
use super::error::{Fault, timed_out};
use super::load::{load, migrate};
use super::maintain;
use super::pool::Pool;
use super::read::{Lookup, ReadRecords, Reader};
use super::server::Server;
use super::shared::{Counts, Shared};
use super::single_flight::SingleFlight;
use super::snapshot::PostgresSnapshot;
use super::watch;
use crate::model::Timestamp;
use crate::store::lock::StateLock;
use crate::store::log::group_collector::GroupCollector;
use crate::store::log::queue::{Job, Queue, closed};
use crate::store::log::replica::Replica;
use crate::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, StoreFigures, UniqueKey,
};

/// Maximum number of open snapshots, each of which has a connection.
const MAX_SNAPSHOTS: usize = 4;

/// A durable store in a PostgreSQL database that any number of instances share. The instances may be in any number of
/// processes.
///
/// PostgreSQL holds a log of commits, the facets and the bodies of all records. Every instance holds the index of all
/// facets in memory, and asks the log with every read whether the index is current, so a read takes one round trip.
///
/// # Guarantees
/// * **Linearizability.** Once a commit has returned, every read that begins later, on any instance, sees it. Commits are
///   serializable at every isolation level of the database.
/// * **Durability.** A commit that has returned `Ok` is as durable as a committed transaction of the server: with its
///   default settings it survives a crash, and with a synchronous standby also a failover. After a failover to an
///   asynchronous standby, which may lack the latest commits, the instances load the state of the new server.
/// * **Atomicity.** A commit whose connection is lost is looked up in the log by a random number before it is answered. It
///   returns `Unavailable` only while the database does not answer; the batch is then applied completely or not at all.
///   If a promoted server lacks the log to which it was to be added, it is checked and applied there.
/// * **One server.** All connections lead to one server. When the connection of a commit is lost, a server is silent or
///   another one was promoted, they are closed at once, and opened to the server of the highest timeline among those
///   that answer. So no read returns an older state than one that this instance has returned or acknowledged, even while
///   an old primary goes on beside the new one.
/// * **No hangs.** Calls wait for the end of a short outage, such as a switchover. Every call ends within about twice the
///   sum of the [timeouts](super::PostgresStoreBuilder::statement_timeout), by default nine seconds, with `Unavailable`:
///   it may first wait for another call. The store works again as soon as the database does.
///
/// # Costs
/// Every instance holds the facets of all records, as a [`MemoryStore`](crate::store::MemoryStore) does, and a cache of
/// bodies. Opening reads all facets. Commits that wait at the same time share one transaction.
///
/// # Limits
/// * Only this library may change the tables: instances do not detect other changes.
/// * After a backup was restored, call [`renew`](Self::renew) on one instance, because clients may know revisions that
///   the restored database would give to other records. Restart the instances that ran before: they refuse a database
///   whose timeline is lower than the one that they used, or whose system identifier is another one.
/// * It needs a tokio runtime with I/O and time. All its connections live on the runtime on which it was opened.
///
/// # Example
/// ```no_run
/// use toposcope::store::{Batch, Facets, Key, Name, PostgresStore, Precondition, Store};
/// use uuid::Uuid;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = PostgresStore::open("postgres://toposcope@localhost/inventory").await?;
/// let key = Key::new(Name::new("note"), Uuid::nil());
/// let mut batch = Batch::new();
/// batch.put(key, Precondition::Any, Facets::default(), "a body");
/// store.commit(batch).await?;
/// store.close().await?;
/// # Ok(())
/// # }
/// ```
pub struct PostgresStore {
    shared: Arc<Shared>,
    reader: Reader,
    queue: Queue,
    snapshots: Arc<Semaphore>,
    background: [AbortHandle; 2],
    is_closed: AtomicBool,
}

/// Figures of a [`PostgresStore`] for the metrics of the host application.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresStatus {
    /// Connections for reads that are open but not in use.
    pub connections_idle: usize,
    /// Connections for reads that are in use.
    pub connections_in_use: usize,
    /// Reads that wait for a connection.
    pub waiting_for_connection: usize,
    /// Open snapshots, each of which has a connection.
    pub snapshots: usize,
    /// Position of the log up to which the index is current.
    pub log_position: i64,
    /// Log entries that the index lacked at the last probe.
    pub lag: u64,
    /// Log entries in the database when it was last trimmed.
    pub log_entries: u64,
    /// Size of the cached bodies, in bytes.
    pub body_cache_bytes: usize,
    /// Statements for reads since the store was opened.
    pub read_rounds: u64,
    /// Commit groups that another instance overtook, since the store was opened.
    pub commit_conflicts: u64,
    /// Times the index was loaded again, since the store was opened.
    pub reloads: u64,
    /// Host and port of the server that was used last.
    pub server: String,
    /// Timeline of that server, which increases with every promotion. `None` if the server does not report it.
    pub timeline: Option<u32>,
    /// Times another server, or another address of a server, was used than before, since the store was opened.
    pub server_changes: u64,
    /// Attempts to connect to a server that failed, since the store was opened.
    pub failed_connects: u64,
    /// Time since the database last confirmed a commit of this instance. `None` if it has not done so yet.
    pub since_last_commit: Option<Duration>,
}

impl PostgresStore {
    /// Completes the commits that were submitted before, and closes the connections.
    ///
    /// Every further call on this store returns `Unavailable`. Dropping the store does the same in the background.
    ///
    /// # Errors
    /// `Unavailable` if the store is closed already.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.is_closed.store(true, Ordering::Release);
        self.background.iter().for_each(AbortHandle::abort);
        self.queue.submit(Job::Close).await.map(|_| ())
    }

    /// Gives all records of all organizations new revisions, on every instance.
    ///
    /// Call it after a backup of the database was restored. The revisions that clients have may belong to commits that
    /// the backup does not contain, and the restored database would give them to other states.
    ///
    /// Restart the instances that ran before the restore. If the restored database has a lower timeline than the one
    /// that they used, they take it for an old primary, and refuse it.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    pub async fn renew(&self) -> Result<(), StoreError> {
        self.queue.submit(Job::Maintain).await.map(|_| ())
    }

    /// Returns the present figures, without asking the database.
    #[must_use]
    pub fn status(&self) -> PostgresStatus {
        let [connections_in_use, connections_idle, waiting_for_connection] = self.shared.pool.usage();
        let replica = self.shared.replica.read();
        let replica = replica.map(|replica| (replica.position.number, replica.bodies.cached_bytes()));
        let (log_position, body_cache_bytes) = replica.unwrap_or_default();
        let Counts { rounds, lag, log_entries, conflicts, loads, last_commit } = &self.shared.counts;
        let servers = &self.shared.pool.connector.servers;
        let server = servers.view().server;
        let last_commit = *last_commit.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        PostgresStatus {
            connections_idle,
            connections_in_use,
            waiting_for_connection,
            snapshots: MAX_SNAPSHOTS.saturating_sub(self.snapshots.available_permits()),
            log_position,
            lag: read(lag),
            log_entries: read(log_entries),
            body_cache_bytes,
            read_rounds: read(rounds),
            commit_conflicts: read(conflicts),
            reloads: read(loads),
            timeline: server.as_ref().and_then(Server::timeline),
            server: server.map(|server| server.name.to_string()).unwrap_or_default(),
            server_changes: read(&servers.changes),
            failed_connects: read(&servers.failed_connects),
            since_last_commit: last_commit.map(|commit| commit.elapsed()),
        }
    }

    fn require_open(&self) -> Result<(), StoreError> {
        if self.is_closed.load(Ordering::Acquire) { Err(closed()) } else { Ok(()) }
    }
}

/// Opens a store, on a task of its own. A runtime without timers makes that task panic.
pub(super) async fn open(connector: Connector) -> Result<PostgresStore, StoreError> {
    let runtime = Handle::try_current().map_err(|error| {
        StoreError::invalid("a PostgresStore needs a tokio runtime: open it from a task").with_source(error)
    })?;
    // Dropping the set ends the task, which may wait for the database for a long time.
    let mut opening = JoinSet::new();
    let open = async move {
        let replica = StateLock::new(prepare(&connector).await?);
        let (counts, reloads) = (Counts::default(), SingleFlight::default());
        let shared = Arc::new(Shared { replica, pool: Pool::new(connector), counts, reloads });
        let (queue, jobs) = Queue::new();
        tokio::spawn(Committer::new(Arc::clone(&shared), GroupCollector::new(jobs)).run());
        let maintenance = tokio::spawn(maintain::run(Arc::downgrade(&shared))).abort_handle();
        let watching = tokio::spawn(watch::run(Arc::downgrade(&shared))).abort_handle();
        Ok(PostgresStore {
            reader: Reader::new(Arc::clone(&shared), Handle::current()),
            shared,
            queue,
            snapshots: Arc::new(Semaphore::new(MAX_SNAPSHOTS)),
            background: [maintenance, watching],
            is_closed: AtomicBool::new(false),
        })
    };
    opening.spawn_on(open, &runtime);
    let opened = opening.join_next().await.ok_or_else(closed)?;
    opened.map_err(|error| {
        StoreError::invalid("the tokio runtime lacks I/O or time, or was shut down").with_source(error)
    })?
}

/// Time between two log lines while the database is awaited.
const LINE_INTERVAL: Duration = Duration::from_secs(60);

/// Pause before the database is tried again while it is awaited.
const OPEN_RETRY_DELAY: Duration = Duration::from_millis(250);

/// Creates the tables and loads the replica. Waits for the database as long as the options allow.
async fn prepare(connector: &Connector) -> Result<Replica, StoreError> {
    let begin = Instant::now();
    let mut last_line: Option<Instant> = None;
    loop {
        let loaded = async {
            require_sessions(connector).await?;
            migrate(connector).await?;
            load(connector, 0).await
        };
        let Fault { error, is_transient, .. } = match loaded.await {
            Ok(replica) => return Ok(replica),
            Err(fault) => fault,
        };
        if !is_transient || begin.elapsed() >= connector.options.open_timeout {
            return Err(error);
        }
        if last_line.is_none_or(|line| line.elapsed() >= LINE_INTERVAL) {
            let cause = error.source().map(|cause| format!(" ({cause})")).unwrap_or_default();
            tracing::warn!("waiting for the database: {error}{cause}");
            last_line = Some(Instant::now());
        }
        sleep(OPEN_RETRY_DELAY).await;
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.require_open()?;
        self.reader.read(Lookup::Keys(keys)).await.map(|found| found.records)
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.require_open()?;
        Ok(self.reader.read(Lookup::UniqueKey(unique_key)).await?.records.pop().flatten())
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.require_open()?;
        let ReadRecords { records, unread, total, next } = self.reader.read(Lookup::List(query)).await?;
        Ok(Page { unread, ..Page::new(records.into_iter().flatten().collect(), total, next) })
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.queue.submit(|responder| Job::Commit(batch, responder)).await.map(|_| ())
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.queue.submit(|responder| Job::Purge(now, responder)).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.require_open()?;
        let (connector, snapshots) = (self.shared.pool.connector.clone(), Arc::clone(&self.snapshots));
        let begun = self.reader.runtime.spawn(async move {
            let permit = timeout(connector.options.acquire_timeout, snapshots.acquire_owned()).await;
            let permit = permit.ok().and_then(Result::ok).ok_or_else(|| {
                StoreError::unavailable(format!("{MAX_SNAPSHOTS} snapshots are open already"))
            })?;
            let begun =
                timeout(connector.options.answer_timeout(), PostgresSnapshot::begin(&connector, permit));
            begun.await.map_err(|_| timed_out())?
        });
        Ok(Box::new(begun.await.map_err(|_| closed())??))
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.require_open()?;
        self.reader.probe().await?;
        Ok(Some(self.shared.replica.read()?.revision(kind, organization)))
    }

    async fn changed_since(
        &self,
        kind: Name,
        organization: Uuid,
        revision: Revision,
    ) -> Result<Option<Vec<Uuid>>, StoreError> {
        self.require_open()?;
        self.reader.probe().await?;
        Ok(self.shared.replica.read()?.changed_since(kind, organization, revision))
    }

    fn figures(&self) -> StoreFigures {
        self.shared.replica.read().map(|state| state.index.figures()).unwrap_or_default()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.background.iter().for_each(AbortHandle::abort);
    }
}

/// Shows the position of the log, but no contents.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostgresStore").field("status", &self.status()).finish_non_exhaustive()
    }
}
