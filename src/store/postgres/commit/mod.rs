//! The committer: a task that appends groups of commits to the log.
//!
//! A group is checked against the replica, and appended after the replica's position. If the log has another entry at
//! this place by then, the replica follows the log and the group is checked again. So commits are serial, whatever the
//! isolation level of the database, and a check needs no SQL. A batch is accepted in any state, because appending it
//! proves that the state was current; it is refused only in a state that was current after the batch arrived.

mod attempts;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio::time::timeout_at;

use super::append::ProposedEntry;
use super::connection::ServerConnection;
use super::error::timed_out;
use super::load::random;
use super::shared::Shared;
use super::single_flight::Occasional;
use crate::model::Timestamp;
use crate::store::log::batch::AcceptedBatch;
use crate::store::log::body::BodyRef;
use crate::store::log::commit_group::{Admission, CommitGroup, deletions};
use crate::store::log::entry::Effect;
use crate::store::log::group_collector::GroupCollector;
use crate::store::log::queue::{Job, JobResponder};
use crate::store::log::replica::{LogPosition, first_version};
use crate::store::{Batch, StoreError, Write};

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
