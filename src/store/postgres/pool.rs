//! The connections for single statements.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::{Error, Row};

use super::connection::{Purpose, ServerConnection, Step};
use super::connector::Connector;
use super::error::{Fault, timed_out};
use super::value::SqlValue;
use crate::store::StoreError;

/// A bounded number of connections, which are opened when they are needed.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) connector: Connector,
    idle: Mutex<Vec<ServerConnection>>,
    permits: Semaphore,
    waiting: AtomicUsize,
}

impl Pool {
    pub(super) fn new(connector: Connector) -> Self {
        let permits = Semaphore::new(connector.options.max_connections);
        Self { connector, idle: Mutex::default(), permits, waiting: AtomicUsize::new(0) }
    }

    /// Runs statements that are sent at once, and returns the result of each. They run on one connection.
    ///
    /// # Errors
    /// `Unavailable` when all connections are in use for too long, the database cannot be reached, or it does not answer
    /// in time. The connection is closed then; the statements may take effect later.
    pub(super) async fn run(&self, steps: Vec<Step<'_>>) -> Result<Vec<Result<Vec<Row>, Error>>, Fault> {
        let total_timeout = self.connector.options.total_timeout();
        timeout(total_timeout, self.run_with_retries(steps)).await.map_err(|_| Fault::from(timed_out()))?
    }

    async fn run_with_retries(&self, steps: Vec<Step<'_>>) -> Result<Vec<Result<Vec<Row>, Error>>, Fault> {
        let _permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => self.wait().await?,
        };
        let mut connection = loop {
            let idle = self.lock().pop();
            let Some(mut connection) = idle else { break self.connector.connect(Purpose::Work).await? };
            if connection.is_alive().await {
                break connection;
            }
        };
        let results = connection.run(steps).await?;
        if connection.is_usable() {
            self.lock().push(connection);
        }
        Ok(results)
    }

    /// Runs one statement and returns its rows.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: Vec<SqlValue<'_>>,
    ) -> Result<Result<Vec<Row>, Error>, Fault> {
        self.run(vec![(sql, values)]).await?.pop().ok_or_else(|| timed_out().into())
    }

    /// Returns the numbers of used connections, idle connections and callers waiting for a connection.
    pub(super) fn usage(&self) -> [usize; 3] {
        let in_use = self.connector.options.max_connections.saturating_sub(self.permits.available_permits());
        [in_use, self.lock().len(), self.waiting.load(Ordering::Relaxed)]
    }

    pub(super) fn close_idle(&self) {
        self.lock().clear();
    }

    /// Closes all connections that are not of the server in use. Those in use end by themselves.
    pub(super) fn close_replaced(&self) {
        self.lock().retain(ServerConnection::is_usable);
    }

    async fn wait(&self) -> Result<SemaphorePermit<'_>, Fault> {
        let _waiting = Waiting::new(&self.waiting);
        let permit = timeout(self.connector.options.acquire_timeout, self.permits.acquire()).await;
        permit.ok().and_then(Result::ok).ok_or_else(|| {
            let text = "all connections of the pool are in use, and none became free in time";
            // In an outage, callers with a place wait for a server as well.
            let is_transient = self.connector.servers.outage().is_some();
            Fault { is_transient, ..StoreError::unavailable(text).into() }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ServerConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a caller for as long as it waits, even if it stops early.
struct Waiting<'p>(&'p AtomicUsize);

impl<'p> Waiting<'p> {
    fn new(count: &'p AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
