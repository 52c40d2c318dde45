use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Config, Error, NoTls, Socket};

use super::connector::Connector;
use super::doubt;
use super::store::{PostgresStore, open};
use crate::store::StoreError;

/// Minimum number of log entries that are kept. The outcome of an interrupted commit is read from them.
const MIN_LOG_ENTRIES: u64 = 10_000;

/// Longest timeout. PostgreSQL and the operating system take no more than 24 days, and the sum of several timeouts must
/// be a time that can be expressed.
const MAX_TIMEOUT: Duration = Duration::from_secs(20 * 24 * 3_600);

/// Options for opening a [`PostgresStore`]; returned by [`PostgresStore::builder`].
#[derive(Clone)]
pub struct PostgresStoreBuilder {
    connection: String,
    options: Options,
}

impl PostgresStore {
    /// Opens a store with the default options and without TLS; see [`PostgresStoreBuilder::open`].
    ///
    /// The connection is a string or a URL as libpq takes it: `host=/run/postgresql user=toposcope`, or
    /// `postgres://user:password@host/database`.
    ///
    /// # Errors
    /// The errors of [`PostgresStoreBuilder::open`].
    pub async fn open(connection: &str) -> Result<Self, StoreError> {
        Self::builder(connection).open().await
    }

    /// Opens a store with the default options and with TLS; see [`PostgresStoreBuilder::open_with`].
    ///
    /// # Errors
    /// The errors of [`PostgresStoreBuilder::open`].
    pub async fn open_with<T>(connection: &str, tls: T) -> Result<Self, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        Self::builder(connection).open_with(tls).await
    }

    /// Returns a builder to open a store with other options.
    #[must_use]
    pub fn builder(connection: &str) -> PostgresStoreBuilder {
        PostgresStoreBuilder::new(connection)
    }
}

impl PostgresStoreBuilder {
    fn new(connection: &str) -> Self {
        Self { connection: connection.to_owned(), options: Options::default() }
    }

    /// Sets the number of connections for reads. The default is 8.
    ///
    /// Commits have one connection of their own, and so has each open snapshot, of which there are at most four. One
    /// more connection watches each server, and from time to time a second one.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.options.max_connections = connections.max(1);
        self
    }

    /// Sets how long a read waits for a free connection. The default is 1.5 seconds, the longest time 20 days.
    #[must_use]
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.options.acquire_timeout = timeout.min(MAX_TIMEOUT);
        self
    }

    /// Sets how long opening a connection to one server may take. The default is 1.5 seconds, the longest time 20 days.
    ///
    /// A host that does not answer delays the others of the connection string by a quarter of a second at most.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.options.connect_timeout = timeout.min(MAX_TIMEOUT);
        self
    }

    /// Sets how long a statement may take. The default is 2.5 seconds, the longest time 20 days.
    ///
    /// A call waits as long as this time, the [`acquire_timeout`](Self::acquire_timeout) and half a second for the
    /// database, and as long again for a call that began before.
    #[must_use]
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.options.statement_timeout = timeout.min(MAX_TIMEOUT);
        self
    }

    /// Sets how long opening waits for the database, as for the end of a failover. The default is zero: it fails at once.
    ///
    /// Errors that need another configuration, such as a wrong password, are returned at once in any case. While it
    /// waits, a warning is logged once a minute.
    #[must_use]
    pub fn open_timeout(mut self, timeout: Duration) -> Self {
        self.options.open_timeout = timeout;
        self
    }

    /// Sets how long a connection is used before another one replaces it. The default is 5 minutes.
    ///
    /// It bounds how long an instance keeps using a server whose host name now leads to another one, if the servers do
    /// not report their timeline. PostgreSQL servers report it, and a promoted one is found within a few seconds.
    #[must_use]
    pub fn connection_lifetime(mut self, lifetime: Duration) -> Self {
        self.options.connection_lifetime = lifetime;
        self
    }

    /// Sets the schema of the tables, which is created if it does not exist. The default is the schema in which the
    /// database user creates tables.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.options.schema = Some(name.into());
        self
    }

    /// Sets the memory for cached record bodies, in bytes. The default is 64 MiB.
    #[must_use]
    pub fn body_cache_bytes(mut self, bytes: usize) -> Self {
        self.options.body_cache_bytes = bytes;
        self
    }

    /// Sets how long the log is kept. The default is an hour, and at most 100,000 entries.
    ///
    /// An instance that was cut off from the database for longer loads all facets again. At least 10,000 entries are
    /// kept.
    #[must_use]
    pub fn log_retention(mut self, age: Duration, entries: u64) -> Self {
        (self.options.log_age, self.options.log_entries) = (age, entries.max(MIN_LOG_ENTRIES));
        self
    }

    /// Sets whether connections lead to a pooler that assigns a server connection to each transaction. An example is
    /// pgbouncer with `pool_mode=transaction`. The default is `false`.
    ///
    /// The store then neither prepares statements nor changes settings of the session. Set `statement_timeout` and
    /// `idle_in_transaction_session_timeout` for the database user instead. Without this option, opening refuses such a
    /// pooler.
    #[must_use]
    pub fn transaction_pooling(mut self, is_pooled: bool) -> Self {
        self.options.transaction_pooling = is_pooled;
        self
    }

    /// Connects without TLS, creates the tables if they do not exist, and loads the index.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be used. `Invalid` when the connection string cannot be parsed or has
    /// servers of several clusters, when it leads to a pooler that needs
    /// [`transaction_pooling`](Self::transaction_pooling), or the database was written by a newer version of this library.
    /// `Corrupt` when its data is damaged.
    ///
    /// `Unavailable` is returned after the [`open_timeout`](Self::open_timeout) at the earliest, unless only another
    /// configuration helps.
    pub async fn open(self) -> Result<PostgresStore, StoreError> {
        self.open_with(NoTls).await
    }

    /// Like [`open`](Self::open), with TLS as the `sslmode` of the connection string demands it.
    ///
    /// The crates `tokio-postgres-rustls` and `postgres-native-tls` provide implementations.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub async fn open_with<T>(self, tls: T) -> Result<PostgresStore, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let config: Result<Config, _> = self.connection.parse();
        let mut config = config.map_err(|error| unparsable(&error))?;
        if config.get_application_name().is_none() {
            config.application_name("toposcope");
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(self.options.answer_timeout());
        }
        open(Connector::new(&config, tls, self.options)?).await
    }
}

/// Returns the error for a connection string that cannot be parsed. The parser's own error may quote a part of the
/// password, but not where it names a known option.
fn unparsable(error: &Error) -> StoreError {
    const INVALID: &str = "invalid value for option `";
    let text = error.source().map(ToString::to_string).unwrap_or_default();
    let option = text.strip_prefix(INVALID).and_then(|rest| rest.strip_suffix('`'));
    StoreError::invalid(match option {
        Some("target_session_attrs") => {
            "`target_session_attrs` of the connection string must be `any`, `read-write` or `read-only`"
                .to_owned()
        }
        Some("sslmode") => {
            "`sslmode` of the connection string must be `disable`, `prefer` or `require`: certificates \
                            are verified by the TLS implementation"
                .to_owned()
        }
        Some(option) => format!("the connection string has an invalid value of `{option}`"),
        None => "the connection string cannot be parsed".to_owned(),
    })
}

/// Omits the connection string, which may contain a password.
impl fmt::Debug for PostgresStoreBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostgresStoreBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Time that the server has to report its own timeout. After it, the client gives up on the connection.
const CLIENT_GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Options of a store.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) max_connections: usize,
    pub(super) acquire_timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) open_timeout: Duration,
    pub(super) connection_lifetime: Duration,
    pub(super) schema: Option<String>,
    pub(super) body_cache_bytes: usize,
    pub(super) log_age: Duration,
    pub(super) log_entries: u64,
    pub(super) transaction_pooling: bool,
}

impl Options {
    /// Maximum time to wait for the answer to a statement.
    pub(super) fn answer_timeout(&self) -> Duration {
        self.statement_timeout.saturating_add(CLIENT_GRACE_PERIOD)
    }

    /// Time after which a late statement makes the store check whether the server answers at all. The outcome is known
    /// when the statement ends.
    pub(super) fn doubt_timeout(&self) -> Duration {
        let timeout = self.answer_timeout();
        timeout.saturating_sub(doubt::PROBE_TIMEOUT).max(timeout / 2)
    }

    /// Maximum time to wait for a connection and the answer to a statement.
    pub(super) fn total_timeout(&self) -> Duration {
        self.answer_timeout().saturating_add(self.acquire_timeout)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_connections: 8,
            acquire_timeout: Duration::from_millis(1_500),
            connect_timeout: Duration::from_millis(1_500),
            statement_timeout: Duration::from_millis(2_500),
            open_timeout: Duration::ZERO,
            connection_lifetime: Duration::from_secs(300),
            schema: None,
            body_cache_bytes: 64 << 20,
            log_age: Duration::from_secs(3_600),
            log_entries: 100_000,
            transaction_pooling: false,
        }
    }
}
