//! Snapshots: a transaction that stays open on a connection of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedSemaphorePermit};
use tokio::time::sleep;
use tokio_postgres::Row;
use uuid::Uuid;

use super::connection::{Purpose, ServerConnection};
use super::connector::Connector;
use super::error::{Fault, store_error, undecodable};
use super::sql;
use super::value::{SqlValue, key_of};
use crate::store::log::codec::decode_header;
use crate::store::log::queue::closed;
use crate::store::{Entry, Key, Record, Snapshot, StoreError};

/// Size of the bodies at which a piece ends, in bytes. The record that reaches it is the last of the piece.
const PIECE_BYTES: i64 = 4 << 20;

/// Pause before an unavailable database is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The contents of the store when the transaction began.
pub(super) struct PostgresSnapshot {
    runtime: Handle,
    transaction: Arc<Mutex<Transaction>>,
    /// The last record that was returned.
    after: Option<Key>,
}

#[derive(Debug)]
struct Transaction {
    connection: ServerConnection,
    _permit: OwnedSemaphorePermit,
}

impl PostgresSnapshot {
    /// Begins the transaction. Must be called on the runtime of the store.
    pub(super) async fn begin(
        connector: &Connector,
        permit: OwnedSemaphorePermit,
    ) -> Result<Self, StoreError> {
        let mut connection = loop {
            match connector.connect(Purpose::LongRead).await {
                Ok(connection) => break connection,
                Err(Fault { is_transient: true, .. }) if connector.may_wait() => sleep(RETRY_DELAY).await,
                Err(fault) => return Err(fault.error),
            }
        };
        // The first statement after the beginning decides which state the transaction sees.
        for result in connection.run(vec![(sql::BEGIN_SNAPSHOT, Vec::new()), (sql::LAST, Vec::new())]).await?
        {
            result.map_err(|error| store_error(&error))?;
        }
        let transaction = Arc::new(Mutex::new(Transaction { connection, _permit: permit }));
        Ok(Self { runtime: Handle::current(), transaction, after: None })
    }
}

#[async_trait]
impl Snapshot for PostgresSnapshot {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (transaction, after) = (Arc::clone(&self.transaction), self.after);
        // A task of its own, so that a dropped call leaves the transaction usable.
        let piece = self.runtime.spawn(async move {
            let mut transaction = transaction.lock().await;
            transaction.piece(after, limit.min(sql::MAX_PIECE_RECORDS)).await
        });
        let piece = piece.await.map_err(|_| closed())??;
        self.after = piece.last().map(|entry| entry.record.key).or(self.after);
        Ok(piece)
    }
}

impl Transaction {
    async fn piece(&mut self, after: Option<Key>, limit: usize) -> Result<Vec<Entry>, StoreError> {
        if !self.connection.is_usable() {
            return Err(StoreError::unavailable(
                "the snapshot was lost with its connection: open another one",
            ));
        }
        let kind = after.map(|key| key.kind);
        let kind = kind.as_ref().map_or(sql::NO_KIND, |kind| kind.as_str().as_bytes());
        let id = after.map_or(Uuid::nil(), |key| key.id);
        let limits = [SqlValue::Number(limit as i64), SqlValue::Number(PIECE_BYTES)];
        let values = [SqlValue::Id(id), SqlValue::Bytes(kind)].into_iter().chain(limits).collect();
        let rows =
            self.connection.query(sql::SNAPSHOT_PIECE, values).await?.map_err(|error| store_error(&error))?;
        rows.iter().map(entry).collect()
    }
}

fn entry(row: &Row) -> Result<Entry, StoreError> {
    let key = key_of(row, 0)?;
    let header = decode_header(key, row.try_get(2).map_err(|_| undecodable())?)?;
    let body: &[u8] = row.try_get(3).map_err(|_| undecodable())?;
    let record = Record { key, version: header.version, body: Bytes::copy_from_slice(body) };
    let mut facets = header.facets;
    facets.links.sort_unstable();
    facets.links.dedup();
    facets.terms.sort_unstable();
    facets.terms.dedup();
    facets.unique_keys.sort_unstable();
    facets.unique_keys.dedup();
    Ok(Entry { record, facets })
}

impl fmt::Debug for PostgresSnapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostgresSnapshot").field("after", &self.after).finish_non_exhaustive()
    }
}
