//! One connection to the database.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use futures_util::TryStreamExt;
use futures_util::future::{Either, join, join_all, select};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Row, RowStream, SimpleQueryMessage, Statement};

use super::builder::Options;
use super::connector::{Connector, Driver};
use super::doubt;
use super::error::{Fault, is_unsupported, replaced, store_error, timed_out};
use super::hosts::ConnectionTarget;
use super::server::{Epoch, History, Server};
use super::sql;
use super::value::SqlValue;
use crate::store::StoreError;

/// A statement with its parameters.
pub(super) type Step<'v> = (&'static str, Vec<SqlValue<'v>>);

/// Use of a connection, which decides about the timeouts of the server, and when the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Single statements, and transactions that are sent at once.
    Work,
    /// A transaction that is open for as long as its reader wants.
    LongRead,
}

/// A connection that nothing is known about. Dropping it closes the connection at once, whatever the server is doing.
pub(super) struct RawConnection {
    client: Client,
    driver: AbortHandle,
}

impl RawConnection {
    /// Must be called on the runtime of the store.
    pub(super) fn new(client: Client, driver: Driver) -> Self {
        let driver = tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::debug!("a connection to the database ended: {}", store_error(&error));
            }
        });
        Self { client, driver: driver.abort_handle() }
    }

    /// Changes the settings of the session, and identifies the server, in one round trip.
    pub(super) async fn set_up(
        &self,
        target: &ConnectionTarget,
        purpose: Purpose,
        options: &Options,
    ) -> Result<Server, Fault> {
        let statement = options.statement_timeout.as_millis();
        let [statement, idle] = if purpose == Purpose::Work { [statement; 2] } else { [0; 2] };
        let settings =
            if options.transaction_pooling { Vec::new() } else { sql::settings(statement, idle).into() };
        let set = join_all(settings.iter().map(|setting| self.client.batch_execute(setting)));
        // A server that does not know a setting works without it.
        join(set, self.identify(target)).await.1
    }

    /// Asks the server for its history, and whether it accepts writes.
    pub(super) async fn identify(&self, target: &ConnectionTarget) -> Result<Server, Fault> {
        let (read_only, history) =
            join(self.client.simple_query(sql::IS_READ_ONLY), self.client.simple_query(sql::HISTORY)).await;
        let read_only = read_only.map_err(|error| Fault::of(&error))?;
        let history = match history {
            Ok(rows) => read_history(&rows),
            // Other databases with the same protocol have no such functions.
            Err(error) if is_unsupported(&error) => None,
            Err(error) if error.as_db_error().is_none() => return Err(Fault::of(&error)),
            // Without its history, the server cannot be distinguished from an outdated one.
            Err(error) => return Err(Fault::unidentified(&target.name, &error)),
        };
        let is_writable = text(&read_only, 0) == Some("off");
        Ok(Server { address: target.address, name: Arc::clone(&target.name), history, is_writable })
    }
}

/// Reads the result of [`sql::HISTORY`]. A standby has no timeline.
fn read_history(rows: &[SimpleQueryMessage]) -> Option<History> {
    let system = text(rows, 0)?.parse().ok()?;
    let timeline = text(rows, 1).map(|digits| u32::from_str_radix(digits, 16)).transpose().ok()?;
    Some(History { system, timeline })
}

/// Returns a column of the first row.
fn text(rows: &[SimpleQueryMessage], column: usize) -> Option<&str> {
    rows.iter().find_map(|row| match row {
        SimpleQueryMessage::Row(row) => row.try_get(column).ok()?,
        _ => None,
    })
}

impl Drop for RawConnection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A connection to the server in use.
pub(super) struct ServerConnection {
    link: RawConnection,
    /// Kept so that an open snapshot outlives its store.
    connector: Connector,
    statements: HashMap<&'static str, Statement>,
    /// Whether every statement that was begun is complete.
    is_idle: bool,
    purpose: Purpose,
    /// The epoch in which the connection was made. It ends the connection.
    pub(super) epoch: Epoch,
    /// Number of statements that were late, on any connection, when this one was last known to work.
    doubts: u64,
    opened: Instant,
}

impl ServerConnection {
    pub(super) fn new(link: RawConnection, connector: &Connector, purpose: Purpose, epoch: Epoch) -> Self {
        Self {
            link,
            connector: connector.clone(),
            statements: HashMap::new(),
            is_idle: true,
            purpose,
            epoch,
            doubts: connector.servers.doubts(),
            opened: Instant::now(),
        }
    }

    pub(super) fn schema(&self) -> Option<&str> {
        self.connector.options.schema.as_deref()
    }

    /// Returns whether further statements can be run.
    pub(super) fn is_usable(&self) -> bool {
        let is_young = self.purpose == Purpose::LongRead
            || self.opened.elapsed() < self.connector.options.connection_lifetime;
        self.is_idle && is_young && !self.link.client.is_closed() && self.is_current()
    }

    /// Returns whether further statements can be run. Asks the server if a statement was late since the last use.
    pub(super) async fn is_alive(&mut self) -> bool {
        let doubts = self.connector.servers.doubts();
        if self.is_usable() && self.doubts != doubts {
            let (ended, asked) = (pin!(self.replaced()), pin!(self.link.client.batch_execute("")));
            match select(ended, pin!(timeout(doubt::PROBE_TIMEOUT, asked))).await {
                Either::Right((Ok(Ok(())), _)) => self.doubts = doubts,
                Either::Left(_) | Either::Right((Ok(Err(_)), _)) => return false,
                // The network has lost the state of this connection, and perhaps that of others.
                Either::Right((Err(_), _)) => self.connector.servers.distrust(self.epoch, None),
            }
        }
        self.is_usable()
    }

    /// Returns whether every statement that was run had an answer.
    pub(super) const fn is_answered(&self) -> bool {
        self.is_idle
    }

    /// Waits until the connection must no longer be used, because another server is in use.
    pub(super) fn replaced(&self) -> impl Future<Output = ()> + use<> {
        let (mut current, own, purpose) = (self.connector.servers.epoch(), self.epoch, self.purpose);
        async move {
            let _ = current.wait_for(|now| !is_of(own, purpose, *now)).await;
        }
    }

    /// Starts a check whether the server answers at all, when a statement is late. Never completes.
    fn doubt(&self) -> impl Future<Output = Infallible> + use<> {
        let (connector, own, purpose) = (self.connector.clone(), self.epoch, self.purpose);
        async move {
            sleep(connector.options.doubt_timeout()).await;
            if purpose == Purpose::Work {
                connector.doubt(own);
            }
            pending().await
        }
    }

    /// Returns whether the server of the connection is the one in use.
    pub(super) fn is_current(&self) -> bool {
        is_of(self.epoch, self.purpose, *self.connector.servers.epoch().borrow())
    }

    /// Runs one statement and returns its rows. The inner error comes from the server.
    pub(super) async fn query(
        &mut self,
        sql: &'static str,
        values: Vec<SqlValue<'_>>,
    ) -> Result<Result<Vec<Row>, Error>, StoreError> {
        let mut results = self.run(vec![(sql, values)]).await?;
        results.pop().ok_or_else(timed_out)
    }

    /// Runs statements that are sent at once, and returns the result of each.
    ///
    /// # Errors
    /// `Unavailable` when the answers do not arrive in time, or the server is no longer used. The statements may take
    /// effect later then.
    pub(super) async fn run(
        &mut self,
        steps: Vec<Step<'_>>,
    ) -> Result<Vec<Result<Vec<Row>, Error>>, StoreError> {
        self.is_idle = false;
        let answer_timeout = self.connector.options.answer_timeout();
        let results = {
            let (ended, doubt) = (pin!(self.replaced()), pin!(self.doubt()));
            let answered = pin!(timeout(answer_timeout, self.pipeline(steps)));
            let first = select(select(ended, doubt), answered).await;
            match first {
                Either::Left(_) => return Err(replaced()),
                Either::Right((results, _)) => results.map_err(|_| timed_out())?,
            }
        };
        self.is_idle = true;
        // Another attempt to connect may have noted an outage although this connection works.
        if results.first().is_some_and(Result::is_ok) {
            self.connector.servers.end_outage();
        }
        Ok(results)
    }

    /// Starts a statement whose rows are read one by one. The connection cannot be used for anything else.
    pub(super) async fn stream(&mut self, sql: &'static str) -> Result<RowStream, Fault> {
        self.is_idle = false;
        let no_values: [(SqlValue<'_>, _); 0] = [];
        let sql = sql::qualify(sql, self.connector.options.schema.as_deref());
        let rows = timeout(
            self.connector.options.answer_timeout(),
            self.link.client.query_typed_raw(&sql, no_values),
        )
        .await;
        rows.map_err(|_| timed_out())?.map_err(|error| Fault::of(&error))
    }

    /// Returns the number of the server's session. `None` if the server does not report it.
    pub(super) async fn session(&self) -> Result<Option<String>, Fault> {
        let asked =
            timeout(self.connector.options.answer_timeout(), self.link.client.simple_query(sql::SESSION));
        match asked.await.map_err(|_| timed_out())? {
            Ok(rows) => Ok(text(&rows, 0).map(str::to_owned)),
            // Servers that are similar to PostgreSQL may lack the function.
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => Ok(None),
            Err(error) => Err(Fault::of(&error)),
        }
    }

    /// Runs statements without parameters, and without preparing them.
    pub(super) async fn execute(&self, sql: &str) -> Result<Result<(), Error>, StoreError> {
        let sql = sql::qualify(sql, self.connector.options.schema.as_deref());
        timeout(self.connector.options.answer_timeout(), self.link.client.batch_execute(&sql))
            .await
            .map_err(|_| timed_out())
    }

    async fn pipeline(&mut self, steps: Vec<Step<'_>>) -> Vec<Result<Vec<Row>, Error>> {
        if self.connector.options.transaction_pooling {
            let texts =
                steps.iter().map(|(sql, _)| sql::qualify(sql, self.connector.options.schema.as_deref()));
            let texts: Vec<String> = texts.collect();
            let running = texts.iter().zip(steps).map(async |(text, (_, values))| {
                let values = values.into_iter().map(|value| {
                    let sql_type = value.sql_type();
                    (value, sql_type)
                });
                self.link.client.query_typed_raw(text, values).await?.try_collect().await
            });
            return join_all(running).await;
        }
        let (mut prepared, count) = (Vec::with_capacity(steps.len()), steps.len());
        for (sql, values) in steps {
            match self.prepare(sql, &values).await {
                Ok(statement) => prepared.push((statement, values)),
                // Nothing has run, so the first statement counts as failed, whichever could not be prepared: a failure
                // after a commit would mean that the commit succeeded.
                Err(error) => {
                    let others = (1..count).map(|_| Ok(Vec::new()));
                    return std::iter::once(Err(error)).chain(others).collect();
                }
            }
        }
        let client = &self.link.client;
        let running = prepared.into_iter().map(async |(statement, values)| {
            pin!(client.query_raw(&statement, values)).await?.try_collect().await
        });
        join_all(running).await
    }

    async fn prepare(&mut self, sql: &'static str, values: &[SqlValue<'_>]) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let types: Vec<_> = values.iter().map(SqlValue::sql_type).collect();
        let text = sql::qualify(sql, self.connector.options.schema.as_deref());
        let statement = self.link.client.prepare_typed(&text, &types).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Returns whether a connection of one epoch may be used in another. A long transaction needs only the same server.
fn is_of(own: Epoch, purpose: Purpose, now: Epoch) -> bool {
    now.server == own.server && (purpose == Purpose::LongRead || now == own)
}

impl fmt::Debug for ServerConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("is_idle", &self.is_idle).finish_non_exhaustive()
    }
}
