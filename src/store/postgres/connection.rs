//! One connection to the database.

use std::collections::HashMap;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;

use futures_util::TryStreamExt;
use futures_util::future::join_all;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Row, RowStream, Socket, Statement};

use super::error::{store_error, timed_out};
use super::options::Options;
use super::sql;
use super::value::Value;
use crate::store::StoreError;

/// A statement with its parameters.
pub(super) type Step<'v> = (&'static str, Vec<Value<'v>>);

type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;
type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// Opens connections; hides the type of the TLS implementation.
#[derive(Clone)]
pub(super) struct Connector {
    connect: Arc<dyn Fn() -> Connecting + Send + Sync>,
    pub(super) options: Arc<Options>,
}

/// Use of a connection, which decides about the timeouts of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Single statements, and transactions that are sent at once.
    Work,
    /// A transaction that is open for as long as its reader wants.
    LongRead,
}

impl Connector {
    pub(super) fn new<T>(config: Config, tls: T, options: Options) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connect = move || -> Connecting {
            let (config, tls) = (config.clone(), tls.clone());
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                Ok((client, Box::pin(connection) as Driver))
            })
        };
        Self { connect: Arc::new(connect), options: Arc::new(options) }
    }

    /// Opens a connection. Must be called on the runtime of the store.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<Connection, StoreError> {
        let connecting = timeout(self.options.connect_timeout, (self.connect)());
        let (client, driver) =
            connecting.await.map_err(|_| timed_out())?.map_err(|error| store_error(&error))?;
        let driver = tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::debug!("a connection to the database ended: {}", store_error(&error));
            }
        });
        let options = Arc::clone(&self.options);
        let connection = Connection {
            client,
            driver: driver.abort_handle(),
            options,
            statements: HashMap::new(),
            is_idle: true,
        };
        if !self.options.transaction_pooling {
            connection.set_up(purpose).await?;
        }
        Ok(connection)
    }
}

/// A connection. Dropping it closes the connection at once, whatever the server is doing.
pub(super) struct Connection {
    client: Client,
    driver: AbortHandle,
    options: Arc<Options>,
    statements: HashMap<&'static str, Statement>,
    /// Whether every statement that was begun is complete.
    is_idle: bool,
}

impl Connection {
    pub(super) fn schema(&self) -> Option<&str> {
        self.options.schema.as_deref()
    }

    /// Returns whether further statements can be run.
    pub(super) fn is_usable(&self) -> bool {
        self.is_idle && !self.client.is_closed()
    }

    /// Runs one statement and returns its rows. The inner error comes from the server.
    pub(super) async fn query(
        &mut self,
        sql: &'static str,
        values: Vec<Value<'_>>,
    ) -> Result<Result<Vec<Row>, Error>, StoreError> {
        let mut results = self.run(vec![(sql, values)]).await?;
        results.pop().ok_or_else(timed_out)
    }

    /// Runs statements that are sent at once, and returns the result of each.
    ///
    /// # Errors
    /// `Unavailable` when the answers do not arrive in time. The statements may take effect later then.
    pub(super) async fn run(
        &mut self,
        steps: Vec<Step<'_>>,
    ) -> Result<Vec<Result<Vec<Row>, Error>>, StoreError> {
        self.is_idle = false;
        let patience = self.options.answer_timeout();
        let results = timeout(patience, self.pipeline(steps)).await.map_err(|_| timed_out())?;
        self.is_idle = true;
        Ok(results)
    }

    /// Starts a statement whose rows are read one by one. The connection cannot be used for anything else.
    pub(super) async fn stream(&mut self, sql: &'static str) -> Result<RowStream, StoreError> {
        self.is_idle = false;
        let no_values: [(Value<'_>, _); 0] = [];
        let sql = sql::qualify(sql, self.options.schema.as_deref());
        let rows = timeout(self.options.answer_timeout(), self.client.query_typed_raw(&sql, no_values)).await;
        rows.map_err(|_| timed_out())?.map_err(|error| store_error(&error))
    }

    /// Runs statements without parameters, and without preparing them.
    pub(super) async fn execute(&self, sql: &str) -> Result<Result<(), Error>, StoreError> {
        let sql = sql::qualify(sql, self.options.schema.as_deref());
        timeout(self.options.answer_timeout(), self.client.batch_execute(&sql)).await.map_err(|_| timed_out())
    }

    async fn set_up(&self, purpose: Purpose) -> Result<(), StoreError> {
        let statement = self.options.statement_timeout.as_millis();
        let [statement, idle] = if purpose == Purpose::Work { [statement; 2] } else { [0; 2] };
        let settings = sql::settings(statement, idle);
        let set = join_all(settings.iter().map(|setting| self.execute(setting))).await;
        // A server that does not know a setting works without it.
        set.into_iter().try_for_each(|outcome| outcome.map(|_| ()))
    }

    async fn pipeline(&mut self, steps: Vec<Step<'_>>) -> Vec<Result<Vec<Row>, Error>> {
        if self.options.transaction_pooling {
            let texts = steps.iter().map(|(sql, _)| sql::qualify(sql, self.options.schema.as_deref()));
            let texts: Vec<String> = texts.collect();
            let running = texts.iter().zip(steps).map(async |(text, (_, values))| {
                let values = values.into_iter().map(|value| {
                    let sql_type = value.sql_type();
                    (value, sql_type)
                });
                self.client.query_typed_raw(text, values).await?.try_collect().await
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
        let client = &self.client;
        let running = prepared.into_iter().map(async |(statement, values)| {
            pin!(client.query_raw(&statement, values)).await?.try_collect().await
        });
        join_all(running).await
    }

    async fn prepare(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let types: Vec<_> = values.iter().map(Value::sql_type).collect();
        let text = sql::qualify(sql, self.options.schema.as_deref());
        let statement = self.client.prepare_typed(&text, &types).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("is_idle", &self.is_idle).finish_non_exhaustive()
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connector").field("options", &self.options).finish_non_exhaustive()
    }
}
