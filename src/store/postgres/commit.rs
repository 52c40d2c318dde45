//! The committer: a task that appends groups of commits to the log.
//!
//! A group is checked against the replica, and appended after the replica's position. If the log has another entry at
//! this place by then, the replica follows the log and the group is checked again. So commits are serial, whatever the
//! isolation level of the database, and a check needs no SQL. A batch is accepted in any state, because appending it
//! proves that the state was current; it is refused only in a state that was current after the batch arrived.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout_at};
use uuid::Uuid;

use super::append::{AppendOutcome, ProposedEntry, append};
use super::connection::{Purpose, ServerConnection};
use super::error::{Fault, held, store_error, timed_out, undecodable};
use super::load::{random, random_id};
use super::shared::Shared;
use super::single_flight::Occasional;
use super::sql;
use super::value::SqlValue;
use crate::model::Timestamp;
use crate::store::log::batch::AcceptedBatch;
use crate::store::log::body::BodyRef;
use crate::store::log::commit_group::{Admission, CommitGroup, deletions};
use crate::store::log::entry::Effect;
use crate::store::log::group_collector::GroupCollector;
use crate::store::log::queue::{Job, JobResponder};
use crate::store::log::replica::{LogPosition, LogRow, first_version};
use crate::store::{Batch, StoreError, Write};

/// Pause before the database is asked again for the outcome of a commit.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Number of groups that ask for the tail of the log, after one was overtaken.
const CONTENDED_GROUPS: u32 = 64;

/// Maximum number of records that a purge deletes in one entry.
const PURGED_RECORDS: usize = 10_000;

/// A batch and its caller.
type Request = (Batch, JobResponder);

/// State of the committer.
#[derive(Debug)]
pub(super) struct Committer {
    shared: Arc<Shared>,
    jobs: GroupCollector,
    connection: Option<ServerConnection>,
    /// Number of groups for which other instances are expected to commit at the same time.
    contended: u32,
    /// Error of the last attempt to append an entry, while other attempts follow.
    last_error: Option<StoreError>,
    /// Time at which the callers of the present group must be answered.
    deadline: Instant,
    unknown_outcomes: Occasional,
}

impl Committer {
    pub(super) fn new(shared: Arc<Shared>, jobs: GroupCollector) -> Self {
        let (deadline, unknown_outcomes) = (Instant::now(), Occasional::default());
        Self { shared, jobs, connection: None, contended: 0, last_error: None, deadline, unknown_outcomes }
    }

    /// Runs until a job closes the store or the queue is dropped.
    pub(super) async fn run(mut self) {
        loop {
            let mut jobs = VecDeque::from(self.jobs.next_async().await);
            let begin = Instant::now();
            self.deadline = self.shared.deadline();
            let failure = match jobs.pop_front() {
                None => return,
                Some(Job::Commit(batch, responder)) => {
                    let mut requests = vec![(batch, responder)];
                    while let Some(job) = jobs.pop_front() {
                        match job {
                            Job::Commit(batch, responder) => requests.push((batch, responder)),
                            other => {
                                jobs.push_front(other);
                                break;
                            }
                        }
                    }
                    self.commit(requests).await.err()
                }
                Some(Job::Purge(now, responder)) => self.purge(now, responder).await.err(),
                Some(Job::Maintain(responder)) => {
                    let outcome = self.renew().await;
                    let failure = outcome.as_ref().err().map(StoreError::copy);
                    responder.send(outcome);
                    failure
                }
                Some(Job::Close(responder)) => {
                    self.shared.pool.close_idle();
                    drop(self);
                    return responder.send(Ok(()));
                }
            };
            jobs.into_iter().for_each(|job| self.jobs.defer(job));
            if let Some(error) =
                failure.filter(|_| begin.elapsed() >= self.shared.pool.connector.options.acquire_timeout)
            {
                self.fail_waiting(&error);
            }
        }
    }

    /// Answers jobs that have waited for a group which failed late. Otherwise each group would wait as long again.
    fn fail_waiting(&mut self, error: &StoreError) {
        for job in self.jobs.take_all() {
            match job {
                Job::Commit(_, responder) | Job::Purge(_, responder) | Job::Maintain(responder) => {
                    responder.send(Err(error.copy()));
                }
                close @ Job::Close(_) => self.jobs.defer(close),
            }
        }
    }

    /// Commits batches, or answers their callers with an error. Returns an error that concerns all of them.
    async fn commit(&mut self, mut requests: Vec<Request>) -> Result<(), StoreError> {
        let mut is_current = false;
        while !requests.is_empty() {
            let (proposal, mut undecided) = self.admit(requests, is_current)?;
            if proposal.accepted.is_empty() {
                if !undecided.is_empty()
                    && let Err(error) = self.shared.probe_until(self.deadline).await
                {
                    return Err(fail(undecided, error));
                }
                (requests, is_current) = (undecided, true);
                continue;
            }
            let (begin, answered) = (Instant::now(), proposal.requests.len());
            let (proposed, outcome) = self.propose(proposal).await;
            self.jobs.record_group(begin.elapsed(), answered);
            match outcome {
                Ok(true) => proposed.into_iter().for_each(|(_, responder)| responder.send(Ok(()))),
                Ok(false) => undecided.extend(proposed),
                Err(error) => {
                    undecided.extend(proposed);
                    return Err(fail(undecided, error));
                }
            }
            (requests, is_current) = (undecided, true);
        }
        Ok(())
    }

    /// Checks batches against the replica. Returns the accepted ones, and those that a current state must decide.
    fn admit(
        &mut self,
        requests: Vec<Request>,
        is_current: bool,
    ) -> Result<(ProposedEntry, Vec<Request>), StoreError> {
        let random = match random() {
            Ok(bytes) => u16::from_le_bytes(bytes),
            Err(error) => return Err(fail(requests, error)),
        };
        let replica = self.shared.replica.read()?;
        let from = replica.position;
        let mut group = CommitGroup::new(first_version(place_after(from), random));
        let (mut undecided, mut deferred) = (Vec::new(), Vec::new());
        for (batch, responder) in requests {
            match group.admit(&replica.index, batch, responder) {
                Admission::Accepted => {}
                Admission::Deferred(batch, responder) => deferred.push(Job::Commit(batch, responder)),
                Admission::Decided(_, responder, outcome) if is_current => responder.send(outcome),
                Admission::Decided(batch, responder, _) => undecided.push((batch, responder)),
            }
        }
        // Body numbers increase with the position, like versions.
        let accepted = group.encode(&mut (place_after(from).cast_unsigned() << 32), BodyRef::plain);
        let CommitGroup { requests, .. } = group;
        let effect = Effect::new(&replica.index, replica.contents, pairs(&accepted, &requests));
        drop(replica);
        deferred.into_iter().for_each(|job| self.jobs.defer(job));
        Ok((ProposedEntry { from, accepted, requests, effect, is_renewal: false }, undecided))
    }

    /// Deletes expired records, and answers the caller. Returns the same error.
    async fn purge(&mut self, now: Timestamp, mut responder: JobResponder) -> Result<(), StoreError> {
        let mut purged = 0;
        loop {
            // Each entry of a purge has its own time.
            self.deadline = self.shared.deadline();
            if let Err(error) = self.shared.probe_until(self.deadline).await {
                return Err(refuse(responder, error));
            }
            let mut keys = match self.shared.replica.read() {
                Ok(replica) => replica.index.expired(now),
                Err(error) => return Err(refuse(responder, error)),
            };
            keys.truncate(PURGED_RECORDS);
            if keys.is_empty() {
                responder.with_count(purged).send(Ok(()));
                return Ok(());
            }
            let count = keys.len() as u64;
            let (proposal, _) = self.admit(vec![(deletions(keys), responder)], false)?;
            let (mut proposed, outcome) = self.propose(proposal).await;
            let Some((_, returned)) = proposed.pop() else { return Ok(()) };
            responder = returned;
            match outcome {
                Ok(is_committed) => purged += if is_committed { count } else { 0 },
                Err(error) => return Err(refuse(responder, error)),
            }
        }
    }

    /// Appends an entry that changes all revisions.
    async fn renew(&mut self) -> Result<(), StoreError> {
        loop {
            self.shared.probe_until(self.deadline).await?;
            let proposal = {
                let replica = self.shared.replica.read()?;
                let effect = Effect::new(&replica.index, replica.contents, std::iter::empty());
                let (accepted, requests) = (Vec::new(), Vec::new());
                ProposedEntry { from: replica.position, accepted, requests, effect, is_renewal: true }
            };
            if self.propose(proposal).await.1? {
                return Ok(());
            }
        }
    }

    /// Appends an entry and applies it. Returns whether it was appended, or else another one was.
    async fn propose(&mut self, proposal: ProposedEntry) -> (Vec<Request>, Result<bool, StoreError>) {
        self.last_error = None;
        let written = match timeout_at(self.deadline.into(), self.write(&proposal)).await {
            Ok(written) => written,
            Err(_) => Err(self.last_error.take().unwrap_or_else(timed_out)),
        };
        let ProposedEntry { from, accepted, requests, effect, is_renewal } = proposal;
        let outcome = written.and_then(|nonce| {
            let Some(nonce) = nonce else { return Ok(false) };
            self.shared.counts.note_commit();
            let packs = self.shared.replica.pack(requests.iter().map(|(batch, _)| batch.writes()))?;
            let mut replica = self.shared.replica.write()?;
            // A probe may have found the entry before.
            if replica.position == from {
                let position = LogPosition { number: from.number + 1, nonce, ..from };
                let discarded =
                    replica.apply(position, effect, is_renewal, pairs(&accepted, &requests), packs);
                drop(replica);
                drop(discarded);
            }
            Ok(true)
        });
        (requests, outcome)
    }

    /// Appends an entry. Returns its nonce, or `None` when another entry took its place. The replica then has that
    /// entry.
    ///
    /// While the outcome of an attempt is unknown, its nonce is remembered. Only one entry can be appended at a
    /// place, so further attempts at the same place fence the earlier ones. If a promoted server has replaced the log by
    /// one that lacks the predecessor, nothing is there, and nothing can be appended there any more: the entry is lost
    /// with its log, and the batches are checked against the new one.
    async fn write(&mut self, proposal: &ProposedEntry) -> Result<Option<Uuid>, StoreError> {
        // Also those of attempts that seem to have failed: if the log has one, the entry is there.
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

    /// Returns whether a position is not in the log any more. The replica then has the state of the present log.
    async fn has_another_log(&self, from: LogPosition) -> Result<bool, StoreError> {
        self.shared.probe_until(self.deadline).await?;
        Ok(self.shared.replica.read()?.position.load != from.load)
    }

    /// Returns whether the present log ends before the place after a position, and does not have the position. So it was not
    /// trimmed there, and no entry can be appended after the position, because nonces are random. Servers that tell their
    /// timeline are never left for one with an earlier log.
    fn lacks(&self, from: LogPosition) -> Result<bool, StoreError> {
        let tells_timeline = self.shared.pool.connector.servers.view().tells_timeline();
        let end = self.shared.replica.read()?.position;
        let is_other = end.number < from.number || (end.number == from.number && end.nonce != from.nonce);
        Ok(tells_timeline && is_other)
    }

    /// Returns the connection for commits, or another one if it does not work any more.
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
            // Without an answer, the server was asked by now.
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

const fn place_after(position: LogPosition) -> i64 {
    position.number + 1
}

fn pairs<'b>(
    accepted: &'b [AcceptedBatch],
    requests: &'b [Request],
) -> impl Iterator<Item = (&'b AcceptedBatch, &'b [Write])> {
    accepted.iter().zip(requests.iter().map(|(batch, _)| batch.writes()))
}

fn fail(requests: Vec<Request>, error: StoreError) -> StoreError {
    requests.into_iter().fold(error, |error, (_, responder)| refuse(responder, error))
}

/// Answers a caller with an error, and returns it.
fn refuse(responder: JobResponder, error: StoreError) -> StoreError {
    responder.send(Err(error.copy()));
    error
}
