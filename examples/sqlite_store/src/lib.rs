//! A store in an SQLite database, as an example for authors of stores. It passes the conformance suite.
//!
//! * `schema.sql` has the tables: one for records, and one for each facet of which a record has several.
//! * This file has the connections, and the methods of [`Store`].
//! * [`commit`] applies a batch in a transaction, and [`list`] translates a query into SQL.
//!
//! SQLite blocks its caller, so every method runs on a blocking thread. In its WAL mode, one transaction writes at a
//! time, and readers neither wait for it nor see it before its end. From that follow the promises of the contract: commits
//! are serializable, every result is from one state, and a snapshot is a read transaction that is left open.

mod commit;
mod list;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::TransactionBehavior::{self, Deferred, Immediate};
use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row};
use toposcope::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Entry, Facets, Key, Link, Name, Page, Query, Record, Revision, Snapshot, SortKey, Store,
    StoreError, Term, UniqueKey, Version,
};
use toposcope::uuid::Uuid;

/// An error is one of the contract, or one of SQLite.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Size of the bodies that one call of a snapshot returns, in bytes. It bounds memory.
const MAX_CHUNK_BYTES: usize = 4 << 20;

/// A store in an SQLite database, which several processes of one machine may share.
///
/// A commit that has returned `Ok` is synced to disk. Clones are handles to the same store.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    connections: Arc<Connections>,
}

#[derive(Debug)]
struct Connections {
    path: PathBuf,
    /// The connections that no transaction uses.
    idle: Mutex<Vec<Connection>>,
    /// Held by the transaction that writes. SQLite itself would let the others poll for their turn.
    writing: Mutex<()>,
}

impl SqliteStore {
    /// Opens a database file, and creates it if it does not exist.
    ///
    /// # Errors
    /// `Unavailable` when the file cannot be used, `Corrupt` when it is not an SQLite database.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let (path, idle, writing) = (path.into(), Mutex::default(), Mutex::default());
        let store = Self { connections: Arc::new(Connections { path, idle, writing }) };
        store.transact(Immediate, |db| Ok(db.execute_batch(include_str!("schema.sql"))?)).await?;
        Ok(store)
    }

    /// Runs a transaction. If the work fails, and if the process dies before the end, nothing was written.
    ///
    /// A deferred one reads, from one state. An immediate one writes, and no other one writes from its beginning to its
    /// end.
    async fn transact<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let connections = Arc::clone(&self.connections);
        blocking(move || {
            let _turn = matches!(behavior, Immediate).then(|| lock(&connections.writing));
            let idle = lock(&connections.idle).pop();
            let mut connection = idle.map_or_else(|| connect(&connections.path), Ok)?;
            let transaction = connection.transaction_with_behavior(behavior)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            lock(&connections.idle).push(connection);
            Ok(result)
        })
        .await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let keys = keys.to_vec();
        let sql = "SELECT version, body FROM record WHERE kind = ?1 AND id = ?2";
        self.transact(Deferred, move |db| {
            let found = |key: Key| first(db, sql, (key.kind.as_str(), key.id), |row| record(key, row, 0));
            keys.into_iter().map(found).collect()
        })
        .await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        let unique_key = unique_key.clone();
        let sql = "SELECT kind, id, version, body FROM unique_key JOIN record USING (row) \
                   WHERE name = ?1 AND value = ?2";
        self.transact(Deferred, move |db| {
            let values = (unique_key.name.as_str(), unique_key.value);
            first(db, sql, values, |row| record(key(row, 0)?, row, 2))
        })
        .await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let query = query.clone();
        self.transact(Deferred, move |db| list::list(db, &query)).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.transact(Immediate, move |db| commit::commit(db, &batch)).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        let sql = "DELETE FROM record WHERE expires_at <= ?1";
        self.transact(Immediate, move |db| Ok(db.execute(sql, [now.unix_micros()])? as u64)).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let connections = Arc::clone(&self.connections);
        blocking(move || {
            let connection = connect(&connections.path)?;
            // A read transaction sees the state of its first read.
            connection.execute_batch("BEGIN; SELECT version FROM counter;")?;
            let connection = Arc::new(Mutex::new(connection));
            Ok(Box::new(SqliteSnapshot { connection, last_row: 0 }) as Box<dyn Snapshot>)
        })
        .await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        let sql = "SELECT number FROM revision WHERE kind = ?1 AND organization = ?2";
        self.transact(Deferred, move |db| {
            let number = first(db, sql, (kind.as_str(), organization), |row| row.get(0))?;
            // Without a row, there never was such a record.
            Ok(Some(Revision::new(number.map_or(0, u128::from_be_bytes))))
        })
        .await
    }
}

/// A read transaction on a connection of its own. While it is open, SQLite keeps what commits replace in its WAL file.
#[derive(Debug)]
struct SqliteSnapshot {
    connection: Arc<Mutex<Connection>>,
    last_row: i64,
}

#[async_trait]
impl Snapshot for SqliteSnapshot {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let (connection, last_row) = (Arc::clone(&self.connection), self.last_row);
        let (entries, last_row) = blocking(move || chunk(&lock(&connection), last_row, limit)).await?;
        // Only now, so that a call that is dropped consumes nothing.
        self.last_row = last_row;
        Ok(entries)
    }
}

/// Reads the records after a row, and returns the last row that was read.
fn chunk(db: &Connection, mut last_row: i64, limit: usize) -> Outcome<(Vec<Entry>, i64)> {
    let sql = "SELECT kind, id, version, body, row, organization, network, expires_at FROM record \
               WHERE row > ?1 ORDER BY row LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query((last_row, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_CHUNK_BYTES
        && let Some(row) = rows.next()?
    {
        let record = record(key(row, 0)?, row, 2)?;
        last_row = row.get(4)?;
        bytes += record.body.len();
        entries.push(Entry::new(record, facets(db, row)?));
    }
    Ok((entries, last_row))
}

/// Reads the facets of a row of [`chunk`].
fn facets(db: &Connection, row: &Row<'_>) -> Outcome<Facets> {
    let number: i64 = row.get(4)?;
    let pairs = |table: &str| {
        let sql = format!("SELECT name, value FROM {table} WHERE row = ?1");
        all(db, &sql, [number], |row| Ok((name(row, 0)?, row.get::<_, Vec<u8>>(1)?)))
    };
    let links = pairs("link")?.into_iter().map(|(name, id)| Ok(Link::new(name, Uuid::from_slice(&id)?)));
    let expires_at = row.get::<_, Option<i64>>(7)?.map(Timestamp::from_unix_micros).transpose()?;
    Ok(Facets::default()
        .with_organization(row.get::<_, Option<Uuid>>(5)?)
        .with_network(row.get::<_, Option<Uuid>>(6)?)
        .with_expires_at(expires_at)
        .with_links(links.collect::<Outcome<Vec<_>>>()?)
        .with_terms(pairs("term")?.into_iter().map(|(name, value)| Term::new(name, value)))
        .with_sort_keys(pairs("sort_key")?.into_iter().map(|(name, value)| SortKey::new(name, value)))
        .with_unique_keys(pairs("unique_key")?.into_iter().map(|(name, value)| UniqueKey::new(name, value))))
}

/// Returns all rows of a query.
fn all<T>(db: &Connection, sql: &str, values: impl Params, read: impl ReadRow<T>) -> Outcome<Vec<T>> {
    Ok(db.prepare_cached(sql)?.query_map(values, read)?.collect::<rusqlite::Result<_>>()?)
}

/// Returns the first row of a query, if it has any.
fn first<T>(db: &Connection, sql: &str, values: impl Params, read: impl ReadRow<T>) -> Outcome<Option<T>> {
    Ok(db.prepare_cached(sql)?.query_row(values, read).optional()?)
}

/// A function that reads a value from a row.
trait ReadRow<T>: FnMut(&Row<'_>) -> rusqlite::Result<T> {}

impl<T, F: FnMut(&Row<'_>) -> rusqlite::Result<T>> ReadRow<T> for F {}

/// Reads a version and a body, in the columns from `index` on.
fn record(key: Key, row: &Row<'_>, index: usize) -> rusqlite::Result<Record> {
    let version = Version(row.get::<_, i64>(index)?.cast_unsigned());
    Ok(Record { key, version, body: row.get::<_, Vec<u8>>(index + 1)?.into() })
}

/// Reads a kind and an id, in the columns from `index` on.
fn key(row: &Row<'_>, index: usize) -> rusqlite::Result<Key> {
    Ok(Key::new(name(row, index)?, row.get(index + 1)?))
}

fn name(row: &Row<'_>, index: usize) -> rusqlite::Result<Name> {
    let text: String = row.get(index)?;
    Name::parse(&text).ok_or(rusqlite::Error::InvalidColumnType(index, text, Type::Text))
}

fn connect(path: &Path) -> Outcome<Connection> {
    let connection = Connection::open(path)?;
    // A transaction waits this long for a transaction of another process.
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(64);
    // With WAL, `synchronous = FULL` syncs each commit before it returns.
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")?;
    Ok(connection)
}

/// Runs work on a blocking thread. Work that has begun ends, even if the future is dropped.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Result<T, StoreError> {
    let outcome = tokio::task::spawn_blocking(work).await;
    outcome.map_err(|_| StoreError::unavailable("the runtime was shut down"))?.map_err(as_store_error)
}

/// Takes a lock, also after a panic. A transaction that a panic interrupts is rolled back.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts an error. Errors of SQLite are temporary, unless they state that the file is damaged.
fn as_store_error(error: Box<dyn Error + Send + Sync>) -> StoreError {
    error.downcast::<StoreError>().map(|error| *error).unwrap_or_else(|error| {
        let code = error.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
        let failed = match code {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => StoreError::corrupt,
            Some(_) => StoreError::unavailable,
        };
        failed("the SQLite database".to_owned()).with_source(error)
    })
}
