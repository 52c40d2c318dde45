//! The SQLite database.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction};
use serde_json::{Map, Value};
use tokio::sync::Notify;
use toposcope::model::{Change, ChangePosition, ChangedEntity, OrganizationId};
use toposcope::uuid::Uuid;

use crate::Error;

/// The number of messages from which on changes wait until some are posted. The history keeps them in the meantime.
const MAX_MESSAGES: i64 = 10_000;

/// The tables with records.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Table {
    /// The copy.
    Record,
    /// The records of the next copy, until all of it has been read.
    Incoming,
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Incoming => "incoming",
        }
    }
}

/// A message for the receiver of webhooks.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) number: i64,
    /// The position of the change.
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) body: String,
}

/// The database of a copy. Each method is a transaction, or reads from one state.
#[derive(Debug)]
pub struct Database {
    connection: Mutex<Connection>,
    /// Whether changes are put into the outbox.
    has_webhook: bool,
    /// Signals that a message was added.
    pub(crate) added: Notify,
    /// Signals that a message was removed.
    pub(crate) removed: Notify,
    /// Prevents a second process from following into the file. The system releases it at the end of the process.
    _lock: File,
}

impl Database {
    /// Opens a database, and creates it if it does not exist. `has_webhook`: changes are kept until they are posted.
    ///
    /// # Errors
    /// If another process follows into the file, or it cannot be used.
    pub fn open(path: &Path, has_webhook: bool) -> Result<Self, Error> {
        let lock = lock_file(path)?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        // Others may read the copy while it changes. After a power failure, the last transactions may be missing. They
        // contain rows, positions and messages alike, so they are repeated.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")?;
        connection.execute_batch(include_str!("schema.sql"))?;
        let connection = Mutex::new(connection);
        Ok(Self { connection, has_webhook, added: Notify::new(), removed: Notify::new(), _lock: lock })
    }

    /// Returns the organization of the copy. `None`: nothing is copied yet.
    pub(crate) fn organization(&self) -> Result<Option<OrganizationId>, Error> {
        let sql = "SELECT organization FROM source";
        let text: Option<String> = self.connection().query_row(sql, (), |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Returns the position of the last change that the copy includes. `None`: everything has to be copied.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn position(&self) -> Result<Option<ChangePosition>, Error> {
        let sql = "SELECT position FROM source";
        let text: Option<Option<String>> =
            self.connection().query_row(sql, (), |row| row.get(0)).optional()?;
        Ok(text.flatten().map(ChangePosition::new))
    }

    /// Forgets the position, so that everything is copied anew. Until then the records stay.
    pub(crate) fn forget_position(&self) -> Result<(), Error> {
        self.connection().execute("UPDATE source SET position = NULL", ())?;
        Ok(())
    }

    /// Returns the number of records of a kind.
    pub(crate) fn count(&self, entity: ChangedEntity) -> Result<i64, Error> {
        let sql = "SELECT count(*) FROM record WHERE entity = ?1";
        Ok(self.connection().query_row(sql, [entity.as_str()], |row| row.get(0))?)
    }

    /// Returns the document of a record.
    pub(crate) fn document(
        &self,
        table: Table,
        entity: ChangedEntity,
        id: Uuid,
    ) -> Result<Option<Map<String, Value>>, Error> {
        let sql = format!("SELECT document FROM {} WHERE entity = ?1 AND id = ?2", table.name());
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&sql)?;
        let values = (entity.as_str(), id.to_string());
        let text: Option<String> = statement.query_row(values, |row| row.get(0)).optional()?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Replaces the document of a record. `None` deletes the record.
    pub(crate) fn put(
        &self,
        table: Table,
        entity: ChangedEntity,
        id: Uuid,
        document: Option<&str>,
    ) -> Result<(), Error> {
        put(&self.connection(), table, entity, id, document)
    }

    /// Empties the table of the records that are being copied.
    pub(crate) fn begin_copy(&self) -> Result<(), Error> {
        self.connection().execute("DELETE FROM incoming", ())?;
        Ok(())
    }

    /// Replaces the whole copy, in one transaction.
    pub(crate) fn end_copy(
        &self,
        organization: OrganizationId,
        position: &ChangePosition,
    ) -> Result<(), Error> {
        let was_copied = self.organization()?.is_some();
        self.transact(|transaction| {
            transaction.execute_batch(
                "DELETE FROM record; INSERT INTO record SELECT entity, id, document FROM incoming; DELETE FROM incoming",
            )?;
            let sql = "INSERT OR REPLACE INTO source (only_row, organization, position) VALUES (1, ?1, ?2)";
            transaction.execute(sql, (organization.to_string(), position.as_str()))?;
            if was_copied && self.has_webhook {
                // The receiver has to know that it missed changes.
                let body = serde_json::json!({ "position": position }).to_string();
                add_message(transaction, position, "renewed", &body)?;
            }
            Ok(())
        })
    }

    /// Writes the record after a change, the change's position and its message, in one transaction.
    pub(crate) fn apply(
        &self,
        change: &Change,
        document: Option<&str>,
        is_copied: bool,
    ) -> Result<(), Error> {
        self.transact(|transaction| {
            if is_copied {
                put(transaction, Table::Record, change.entity, change.id, document)?;
            }
            if self.has_webhook {
                add_message(transaction, &change.position, "change", &serde_json::to_string(change)?)?;
            }
            let mut statement = transaction.prepare_cached("UPDATE source SET position = ?1")?;
            statement.execute([change.position.as_str()])?;
            Ok(())
        })
    }

    /// Returns whether there is room for another message.
    pub(crate) fn has_room(&self) -> Result<bool, Error> {
        // Numbers are consecutive, and reading both ends takes no longer when there are many.
        let sql = "SELECT (SELECT max(number) FROM outbox) - (SELECT min(number) FROM outbox)";
        let connection = self.connection();
        let between: Option<i64> = connection.prepare_cached(sql)?.query_row((), |row| row.get(0))?;
        Ok(between.is_none_or(|between| between < MAX_MESSAGES))
    }

    /// Returns the oldest message.
    pub(crate) fn first_message(&self) -> Result<Option<Message>, Error> {
        let sql = "SELECT number, id, event, body FROM outbox ORDER BY number LIMIT 1";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Message { number: row.get(0)?, id: row.get(1)?, event: row.get(2)?, body: row.get(3)? })
        };
        Ok(self.connection().prepare_cached(sql)?.query_row((), read).optional()?)
    }

    /// Removes a message that was accepted.
    pub(crate) fn remove_message(&self, number: i64) -> Result<(), Error> {
        self.connection().prepare_cached("DELETE FROM outbox WHERE number = ?1")?.execute([number])?;
        self.removed.notify_one();
        Ok(())
    }

    /// Runs a transaction. If the work fails, and if the process dies before the end, nothing was written.
    fn transact(&self, work: impl FnOnce(&Transaction<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        work(&transaction)?;
        transaction.commit()?;
        self.added.notify_one();
        Ok(())
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A transaction that a panic interrupts is rolled back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn put(
    connection: &Connection,
    table: Table,
    entity: ChangedEntity,
    id: Uuid,
    document: Option<&str>,
) -> Result<(), Error> {
    let (table, entity, id) = (table.name(), entity.as_str(), id.to_string());
    match document {
        Some(document) => {
            let sql = format!("INSERT OR REPLACE INTO {table} (entity, id, document) VALUES (?1, ?2, ?3)");
            connection.prepare_cached(&sql)?.execute((entity, id, document))?;
        }
        None => {
            let sql = format!("DELETE FROM {table} WHERE entity = ?1 AND id = ?2");
            connection.prepare_cached(&sql)?.execute((entity, id))?;
        }
    }
    Ok(())
}

fn add_message(
    transaction: &Transaction<'_>,
    position: &ChangePosition,
    event: &str,
    body: &str,
) -> Result<(), Error> {
    let sql = "INSERT INTO outbox (id, event, body) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(sql)?.execute((position.as_str(), event, body))?;
    Ok(())
}

/// Locks the file beside the database, as a mark that a process follows into it.
fn lock_file(path: &Path) -> Result<File, Error> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let cannot = |error: &dyn std::fmt::Display| {
        Error::Other(format!("{} cannot be created: {error}.", Path::new(&name).display()))
    };
    let lock = File::options().create(true).append(true).open(&name).map_err(|error| cannot(&error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::Other(format!(
            "Another process follows into {}. End it, or name another file with --database.",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(cannot(&error)),
    }
}
