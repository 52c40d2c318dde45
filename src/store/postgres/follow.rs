//! Following the log: a statement asks it for the entries that the replica lacks, which are then applied.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::time::{sleep, timeout_at};
use tokio_postgres::Row;
use uuid::Uuid;

use super::error::{Fault, is_conflict, is_disconnect, store_error, timed_out, undecodable};
use super::load::load;
use super::shared::Shared;
use super::sql;
use super::value::{SqlValue, key_of, log_row, split};
use crate::store::log::queue::closed;
use crate::store::log::replica::{Followed, LocatedRecord, LogPosition, LogRow};
use crate::store::{Key, StoreError, Version};

/// Maximum number of statements for a probe or a fetch. Several are needed if others commit all the time or the
/// replica has to be loaded again.
const MAX_ROUNDS: usize = 1_000;

/// Pause before an unavailable database is asked again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Bodies by key and version.
pub(super) type BodiesByVersion = HashMap<(Key, Version), Bytes>;

impl Shared {
    /// Reads the log entries that the replica lacks, and applies them. Returns the end of the log.
    pub(super) async fn probe(self: &Arc<Self>) -> Result<LogPosition, StoreError> {
        self.probe_until(self.deadline()).await
    }

    /// Like [`probe`](Self::probe), until the caller must be answered.
    pub(super) async fn probe_until(self: &Arc<Self>, deadline: Instant) -> Result<LogPosition, StoreError> {
        for _ in 0..MAX_ROUNDS {
            let from = self.replica.read()?.position;
            let rows = self.round(sql::TAIL, vec![SqlValue::Number(from.number)], deadline).await?;
            let rows = rows.iter().map(log_row).collect::<Result<Vec<_>, _>>()?;
            if let Some(end) = self.follow_or_load_until(from, &rows, deadline).await? {
                return Ok(end);
            }
        }
        Err(timed_out())
    }

    /// Returns the time at which a caller that comes now must be answered.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.pool.connector.options.total_timeout()
    }

    /// Fetches the bodies of records, and follows the log as [`probe`](Self::probe) does.
    pub(super) async fn fetch(
        self: &Arc<Self>,
        missing: &[LocatedRecord],
        deadline: Instant,
    ) -> Result<(LogPosition, BodiesByVersion), StoreError> {
        for _ in 0..MAX_ROUNDS {
            let from = self.replica.read()?.position;
            let (ids, kinds) = split(missing.iter().map(|located| &located.key));
            let values =
                vec![SqlValue::Number(from.number), SqlValue::Ids(ids), SqlValue::ByteStrings(kinds)];
            let rows = self.round(sql::TAIL_AND_BODIES, values, deadline).await?;
            let (mut entries, mut bodies) = (Vec::new(), BodiesByVersion::new());
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
        from: LogPosition,
        rows: &[LogRow],
        deadline: Instant,
    ) -> Result<Option<LogPosition>, StoreError> {
        self.counts.lag.store(rows.len().saturating_sub(1) as u64, Ordering::Relaxed);
        match self.replica.follow(from, rows, sql::MAX_ENTRIES)? {
            Followed::Current(end) => return Ok(Some(end)),
            Followed::Partly => {}
            Followed::Lost => {
                // Without the entry that the replica is at, the log was trimmed. With another one, or none at all, it is
                // another log.
                let is_contradicted =
                    rows.first().is_none_or(|first| first.number == from.number && first.nonce != from.nonce);
                let shared = Arc::clone(self);
                // It continues without its callers, because loading takes longer than they wait. Those that come
                // meanwhile need no load of their own.
                let loading = self
                    .reloads
                    .run(|| async move { shared.load_again(from, is_contradicted).await.map_err(Arc::new) });
                let loaded = timeout_at(deadline.into(), loading).await.map_err(|_| timed_out())?;
                match loaded.ok_or_else(closed)? {
                    Err(fault) if !fault.is_transient => return Err(fault.error.copy()),
                    // The next round finds out whether the database answers again.
                    Err(_) => sleep(RETRY_DELAY).await,
                    Ok(()) => {}
                }
            }
        }
        Ok(None)
    }

    /// Loads the replica again, unless that was done since a position was read.
    ///
    /// If the log contradicts the replica, another server may be the right one. So the servers are compared before.
    async fn load_again(&self, from: LogPosition, is_contradicted: bool) -> Result<(), Fault> {
        if self.replica.read()?.position.load != from.load {
            return Ok(());
        }
        let connector = &self.pool.connector;
        if is_contradicted {
            connector.servers.distrust(connector.servers.view().epoch, None);
            if self.has_entry(from).await? {
                return Ok(());
            }
        }
        tracing::warn!("the replica does not continue the log at entry {}: loading it again", from.number);
        let loaded = load(connector, from.load + 1).await?;
        let outdated = std::mem::replace(&mut *self.replica.write()?, loaded);
        drop(outdated);
        self.counts.loads.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether the log has the entry at a position.
    async fn has_entry(&self, from: LogPosition) -> Result<bool, Fault> {
        let rows = self.pool.query(sql::NONCE, vec![SqlValue::Number(from.number)]).await?;
        let rows = rows.map_err(|error| Fault::of(&error))?;
        let nonce: Option<Uuid> = rows.first().and_then(|row| row.try_get(0).ok());
        Ok(nonce == Some(from.nonce))
    }

    /// Runs a statement that only reads, and repeats it if necessary.
    ///
    /// It is repeated whenever the isolation of the database demands it, and while the database cannot be reached: a
    /// failover may be under way.
    async fn round(
        &self,
        sql: &'static str,
        values: Vec<SqlValue<'_>>,
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
            if !fault.is_transient || !self.pool.connector.may_wait() {
                return Err(fault.error);
            }
            last = Some(fault.error);
            if timeout_at(deadline.into(), sleep(RETRY_DELAY)).await.is_err() {
                return Err(last.unwrap_or_else(timed_out));
            }
        }
    }

    fn cache(&self, missing: &[LocatedRecord], bodies: &BodiesByVersion) -> Result<(), StoreError> {
        let read = missing.iter().filter_map(|located| {
            let body = bodies.get(&(located.key, located.version))?;
            Some((located, body))
        });
        self.replica.cache(&read.collect::<Vec<_>>())
    }
}
