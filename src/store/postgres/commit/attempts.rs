//! Attempts to append a proposed entry, until its outcome is known.

use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

use super::Committer;
use crate::store::StoreError;
use crate::store::log::replica::{LogPosition, LogRow};
use crate::store::postgres::append::{AppendOutcome, ProposedEntry, append};
use crate::store::postgres::connection::{Purpose, ServerConnection};
use crate::store::postgres::error::{Fault, held, store_error, timed_out, undecodable};
use crate::store::postgres::load::random_id;
use crate::store::postgres::sql;
use crate::store::postgres::value::SqlValue;

/// Pause before the database is asked again for the outcome of a commit.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Number of groups that ask for the tail of the log, after one was overtaken.
const CONTENDED_GROUPS: u32 = 64;

impl Committer {
    /// Appends an entry. Returns its nonce, or `None` when another entry took its place. The replica then has that
    /// entry.
    ///
    /// While the outcome of an attempt is unknown, its nonce is remembered. Only one entry can be appended at a
    /// place, so further attempts at the same place fence the earlier ones. If a promoted server has replaced the log by
    /// one that lacks the predecessor, nothing is there, and nothing can be appended there any more: the entry is lost
    /// with its log, and the batches are checked against the new one.
    pub(super) async fn write(&mut self, proposal: &ProposedEntry) -> Result<Option<Uuid>, StoreError> {
        // The nonces of all attempts, also of those that seem to have failed: if the log has one of them, the entry is
        // there.
        let (mut nonces, mut is_unknown): (Vec<Uuid>, _) = (Vec::new(), false);
        loop {
            let nonce = random_id()?;
            nonces.push(nonce);
            let mut is_overtaken = false;
            match self.attempt(proposal, nonce).await {
                AppendOutcome::Committed => return Ok(Some(nonce)),
                AppendOutcome::Overtaken(tail) if !is_unknown => {
                    self.catch_up(proposal.from, tail).await?;
                    return Ok(None);
                }
                AppendOutcome::Failed(error) | AppendOutcome::ReadOnly(error) if !is_unknown => {
                    return Err(error);
                }
                AppendOutcome::Interrupted(error) if !is_unknown => {
                    self.last_error = Some(error);
                    sleep(RETRY_DELAY).await;
                    continue;
                }
                AppendOutcome::Overtaken(_) => is_overtaken = true,
                AppendOutcome::Failed(error)
                | AppendOutcome::ReadOnly(error)
                | AppendOutcome::Interrupted(error) => {
                    self.last_error = Some(error);
                }
                AppendOutcome::Unknown(error) => {
                    if let Some(count) = self.unknown_outcomes.count() {
                        tracing::warn!(
                            count,
                            "the outcome of a commit is unknown, so the log is asked: {error}"
                        );
                    }
                    self.last_error = Some(error);
                    is_unknown = true;
                }
            }
            let found = loop {
                match self.nonce_at(proposal.from.number + 1).await {
                    Ok(found) => break found,
                    Err(error) => {
                        self.last_error = Some(error);
                        sleep(RETRY_DELAY).await;
                    }
                }
            };
            match found {
                Some(found) if nonces.contains(&found) => return Ok(Some(found)),
                Some(_) => {
                    self.catch_up(proposal.from, None).await?;
                    return Ok(None);
                }
                None => {
                    if is_overtaken && matches!(self.has_another_log(proposal.from).await, Ok(true)) {
                        if self.lacks(proposal.from)? {
                            return Ok(None);
                        }
                        // Another instance may have appended an entry to the new log since it was asked.
                        if !matches!(self.nonce_at(proposal.from.number + 1).await, Ok(Some(_))) {
                            return Err(self.last_error.take().unwrap_or_else(timed_out));
                        }
                    }
                    sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    /// Returns whether a position is no longer in the log. The replica then has the state of the present log.
    async fn has_another_log(&self, from: LogPosition) -> Result<bool, StoreError> {
        self.shared.probe_until(self.deadline).await?;
        Ok(self.shared.replica.read()?.position.load != from.load)
    }

    /// Returns whether the present log ends before the place after a position, and does not have the position. So it
    /// was not trimmed there, and no entry can be appended after the position, because nonces are random. A server that
    /// reports its timeline is never left for one with an earlier log.
    fn lacks(&self, from: LogPosition) -> Result<bool, StoreError> {
        let reports_timeline = self.shared.pool.connector.servers.view().reports_timeline();
        let end = self.shared.replica.read()?.position;
        let is_other = end.number < from.number || (end.number == from.number && end.nonce != from.nonce);
        Ok(reports_timeline && is_other)
    }

    /// Returns the connection for commits, or another one if it no longer works.
    async fn connect(&mut self) -> Result<ServerConnection, Fault> {
        if let Some(mut connection) = self.connection.take()
            && connection.is_alive().await
        {
            return Ok(connection);
        }
        self.shared.pool.connector.connect(Purpose::Work).await
    }

    async fn attempt(&mut self, proposal: &ProposedEntry, nonce: Uuid) -> AppendOutcome {
        let mut connection = match self.connect().await {
            Ok(connection) => connection,
            Err(Fault { error, is_transient: true, .. }) if self.shared.pool.connector.may_wait() => {
                return AppendOutcome::Interrupted(error);
            }
            Err(Fault { error, .. }) => return AppendOutcome::Failed(error),
        };
        if self.shared.pool.connector.holds_commits() {
            self.connection = Some(connection);
            return AppendOutcome::Interrupted(held());
        }
        self.contended = self.contended.saturating_sub(1);
        let outcome = append(&mut connection, proposal, nonce, self.contended > 0).await;
        let connector = &self.shared.pool.connector;
        match &outcome {
            AppendOutcome::Unknown(_) if connection.is_answered() => {
                connector.servers.distrust(connection.epoch, None);
            }
            AppendOutcome::Committed => connector.servers.note_write(connection.epoch, true),
            AppendOutcome::ReadOnly(_) => connector.servers.note_write(connection.epoch, false),
            // If an answer is missing, `doubt` has already checked whether the server answers at all.
            AppendOutcome::Unknown(_)
            | AppendOutcome::Overtaken(_)
            | AppendOutcome::Failed(_)
            | AppendOutcome::Interrupted(_) => {}
        }
        self.connection = Some(connection).filter(ServerConnection::is_usable);
        outcome
    }

    /// Makes the replica follow the log to the entry that replaced a proposed one.
    async fn catch_up(&mut self, from: LogPosition, tail: Option<Vec<LogRow>>) -> Result<(), StoreError> {
        self.shared.counts.conflicts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.contended = CONTENDED_GROUPS;
        if let Some(tail) = tail
            && self.shared.follow_or_load_until(from, &tail, self.deadline).await?.is_some()
        {
            return Ok(());
        }
        self.shared.probe_until(self.deadline).await.map(|_| ())
    }

    /// Returns the nonce at a place in the log. Everything in the log up to there is durable when it returns.
    ///
    /// A commit that was interrupted while it waited for a standby is visible before the standby has it. The
    /// confirmation waits for the standby.
    async fn nonce_at(&self, place: i64) -> Result<Option<Uuid>, StoreError> {
        let steps = vec![(sql::NONCE, vec![SqlValue::Number(place)]), (sql::CONFIRM, Vec::new())];
        let mut nonce = None;
        for rows in self.shared.pool.run(steps).await? {
            let rows = rows.map_err(|error| store_error(&error))?;
            let row = rows.first().map(|row| row.try_get(0).map_err(|_| undecodable()));
            nonce = nonce.or(row.transpose()?);
        }
        Ok(nonce)
    }
}
