//! The commit thread, which writes batches to the log in groups. It then shows them to readers, and acknowledges
//! them.

use std::error::Error;
use std::sync::Arc;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

use super::checkpoint::{Changes, CheckpointScheduler, CheckpointTask};
use super::state::Shared;
use super::wal::{DurableLsn, Wal};
use crate::store::index::{Index, Packer, Packs, is_large};
use crate::store::log::batch::AcceptedBatch;
use crate::store::log::body::BodyRef;
use crate::store::log::commit_group::{Admission, CommitGroup, deletions};
use crate::store::log::group_collector::GroupCollector;
use crate::store::log::queue::closed;
use crate::store::log::queue::{Job, JobResponder};
use crate::store::{Batch, StoreError, Write};

/// Size of the bodies in memory, in bytes, with which a log file is full. The file itself holds them compressed, and
/// would take any number of bodies that are all alike.
const MAX_PINNED: usize = 64 << 20;

/// State of the commit thread.
#[derive(Debug)]
pub(super) struct Committer {
    pub(super) shared: Arc<Shared>,
    pub(super) jobs: GroupCollector,
    pub(super) wal: Wal,
    pub(super) durable_lsn: DurableLsn,
    /// Whether a commit is synced before it is acknowledged.
    pub(super) is_durable: bool,
    pub(super) checkpoints: CheckpointScheduler,
    /// Changes written since the last checkpoint began.
    pub(super) changes: Changes,
    /// Size of the bodies of these changes in memory, in bytes.
    pub(super) pinned: usize,
    /// LSN of the last frame.
    pub(super) lsn: u64,
    /// Highest body number assigned.
    pub(super) last_body_id: u64,
}

impl Committer {
    /// Runs until a job closes the store or the queue is dropped.
    pub(super) fn run(mut self) {
        let responder = loop {
            let jobs = self.jobs.next();
            if jobs.is_empty() {
                break None;
            }
            if let Some(responder) = self.run_group(jobs) {
                break Some(responder);
            }
        };
        let outcome = self.close();
        if let Err(error) = &outcome {
            tracing::error!(
                error = error as &dyn Error,
                "the store was not closed cleanly; acknowledged commits are recovered when it is opened again"
            );
        }
        // Closes all files before the caller of `close` gets its answer.
        self.into_checkpoints().end();
        if let Some(responder) = responder {
            responder.send(outcome);
        }
    }

    /// Returns the checkpoint scheduler, and drops everything else.
    fn into_checkpoints(self) -> CheckpointScheduler {
        self.checkpoints
    }

    /// Writes one group. Returns the responder of a job that closes the store.
    fn run_group(&mut self, jobs: Vec<Job>) -> Option<JobResponder> {
        let shared = Arc::clone(&self.shared);
        let Ok(state) = shared.state.read() else { return None };
        let mut group = CommitGroup::new(state.index.next_version());
        let (mut closing, mut checkpoint_requests) = (None, Vec::new());
        let mut is_complete = true;
        for job in jobs {
            let deferred = match job {
                Job::Commit(batch, responder) => admit(&mut group, &state.index, batch, responder),
                // Expired records are selected only when no earlier write of the group can change them.
                purge @ Job::Purge(..) if !group.is_empty() => Some(purge),
                Job::Purge(now, responder) => {
                    let keys = state.index.expired(now);
                    let responder = responder.with_count(keys.len() as u64);
                    admit(&mut group, &state.index, deletions(keys), responder)
                }
                Job::Maintain(responder) => {
                    checkpoint_requests.push(responder);
                    None
                }
                // A deferred job was submitted before the close, so it is done first.
                close @ Job::Close(_) if !is_complete => Some(close),
                Job::Close(responder) => {
                    closing = Some(responder);
                    None
                }
            };
            is_complete &= deferred.is_none();
            deferred.into_iter().for_each(|job| self.jobs.defer(job));
        }
        let writes = group.requests.iter().map(|(batch, _)| batch.writes());
        let is_large = writes.clone().any(is_large);
        let packer = is_large.then(|| state.index.packer(writes.flatten()));
        drop(state);
        self.commit_group(group, packer.as_ref());
        if !checkpoint_requests.is_empty() {
            let started = self.start_requested_checkpoint();
            for responder in checkpoint_requests {
                match &started {
                    Ok(pending) => responder.with_count(*pending).send(Ok(())),
                    Err(error) => responder.send(Err(error.copy())),
                }
            }
        }
        closing
    }

    /// Writes a group to the log, applies it to the state, and acknowledges it.
    /// A packer is given for a large group.
    fn commit_group(&mut self, group: CommitGroup, packer: Option<&Packer>) {
        if group.is_empty() {
            return;
        }
        let begin = Instant::now();
        let mut last_body_id = self.last_body_id;
        let accepted = group.encode(&mut last_body_id, BodyRef::compressed);
        let CommitGroup { requests, .. } = group;
        let (outcome, packs) = thread::scope(|scope| {
            let packing = PackingThread::spawn(scope, packer, &requests);
            (self.write(&accepted), packing.join(requests.len()))
        });
        self.jobs.record_group(begin.elapsed(), requests.len());
        if let Err(error) = outcome {
            tracing::error!(error = &error as &dyn Error, "a commit group cannot be written");
            for (_, responder) in requests {
                let reason = format!("the commit cannot be written to disk: {error}");
                responder.send(Err(StoreError::unavailable(reason)));
            }
            return;
        }
        self.last_body_id = last_body_id;
        self.pinned += requests.iter().flat_map(|(batch, _)| batch.writes()).map(body_size).sum::<usize>();
        let (mut dropped, mut replaced) = (Vec::new(), Vec::with_capacity(requests.len()));
        if let Ok(mut state) = self.shared.state.write() {
            for ((accepted, (batch, _)), packs) in accepted.iter().zip(&requests).zip(packs) {
                replaced.push(state.apply(accepted, batch.writes(), packs, &mut dropped));
            }
        }
        for (_, responder) in requests {
            responder.send(Ok(()));
        }
        self.changes.extend(accepted.into_iter().flat_map(|accepted| accepted.changes));
        drop((dropped, replaced));
    }

    fn write(&mut self, accepted: &[AcceptedBatch]) -> Result<(), StoreError> {
        self.ensure_wal_space()?;
        let unwritten =
            |error| StoreError::unavailable("the write-ahead log cannot be written").with_source(error);
        self.wal.append(self.lsn + 1, accepted).map_err(unwritten)?;
        self.lsn += 1;
        if self.is_durable {
            // The durable LSN is a lower bound, so a failed write of it does no harm.
            let _ = self.durable_lsn.write(self.lsn);
        }
        Ok(())
    }

    /// Starts a checkpoint if the log file is full. Waits only for the checkpoint before it.
    fn ensure_wal_space(&mut self) -> Result<(), StoreError> {
        self.checkpoints.poll(&mut self.wal);
        let is_full = self.wal.is_full() || self.pinned >= MAX_PINNED;
        if !is_full && (self.wal.has_active_file() || self.wal.has_free_file()) {
            return Ok(());
        }
        self.checkpoints.wait(&mut self.wal)?;
        self.start_checkpoint()
    }

    fn start_checkpoint(&mut self) -> Result<(), StoreError> {
        let unsealed =
            |error| StoreError::unavailable("the write-ahead log cannot be sealed").with_source(error);
        let Some((sealed, wal)) = self.wal.seal().map_err(unsealed)? else { return Ok(()) };
        if !self.is_durable {
            // The applied LSN is on disk, and the log file that contained it is about to be overwritten.
            let _ = self.durable_lsn.write(self.checkpoints.applied_lsn());
        }
        let last_version = self.shared.state.read()?.index.next_version().0 - 1;
        let changes = std::mem::take(&mut self.changes);
        self.pinned = 0;
        self.checkpoints.start(CheckpointTask {
            changes,
            sealed: vec![sealed],
            // Without a sync on every commit, the log must reach the disk before the trees do.
            unsynced: if self.is_durable { None } else { Some(wal) },
            applied_lsn: self.lsn,
            last_version,
            last_body_id: self.last_body_id,
        });
        Ok(())
    }

    /// Applies everything to the trees and releases the folder. A failure leaves the log as it is, so no commit is
    /// lost.
    fn close(&mut self) -> Result<(), StoreError> {
        let outcome = self.flush_all();
        // Waits for the current slice of a scrub, which finds both copies open until it ends.
        let mut progress = self.shared.trees_lock.blocking_lock();
        let closed = self.shared.trees.close();
        progress.mark_closed();
        drop(progress);
        self.shared.folder.release();
        outcome.and(closed)
    }

    /// Starts a checkpoint unless one is running; does not wait, so commits continue.
    ///
    /// Returns the LSN that follows the last one to be applied, or 0 if there is nothing to wait for.
    fn start_requested_checkpoint(&mut self) -> Result<u64, StoreError> {
        if !self.checkpoints.retry(&mut self.wal) {
            self.start_checkpoint()?;
        }
        match (self.checkpoints.is_running(), self.wal.has_active_file()) {
            (true, _) => Ok(self.lsn + 1),
            (false, false) => Ok(0),
            // The checkpoint thread has ended.
            (false, true) => Err(closed()),
        }
    }

    /// Applies everything to the trees, and waits for it.
    fn checkpoint_now(&mut self) -> Result<(), StoreError> {
        self.checkpoints.wait(&mut self.wal)?;
        self.start_checkpoint()?;
        self.checkpoints.wait(&mut self.wal)
    }

    fn flush_all(&mut self) -> Result<(), StoreError> {
        self.checkpoint_now()?;
        let unwritten =
            |error| StoreError::unavailable("the write-ahead log cannot be truncated").with_source(error);
        self.durable_lsn.write(self.lsn).and_then(|()| self.durable_lsn.sync()).map_err(unwritten)?;
        self.wal.clear().map_err(unwritten)
    }
}

/// A thread that packs the facets of large batches. It runs while the log waits for the disk.
struct PackingThread<'scope>(Option<ScopedJoinHandle<'scope, Vec<Packs>>>);

impl<'scope> PackingThread<'scope> {
    fn spawn<'env>(
        scope: &'scope Scope<'scope, 'env>,
        packer: Option<&'env Packer>,
        requests: &'env [(Batch, JobResponder)],
    ) -> Self {
        let spawn = |packer: &'env Packer| {
            let pack = || requests.iter().map(|(batch, _)| packer.pack(batch.writes())).collect();
            thread::Builder::new().spawn_scoped(scope, pack).ok()
        };
        // Without a thread, the index packs the facets when the batches are applied.
        Self(packer.and_then(spawn))
    }

    /// Returns the packed facets of each batch; `batches` is the number of batches.
    fn join(self, batches: usize) -> Vec<Packs> {
        // The index packs the facets that were not packed here.
        let mut packs = self.0.and_then(|thread| thread.join().ok()).unwrap_or_default();
        packs.resize_with(batches, Packs::default);
        packs
    }
}

fn body_size(write: &Write) -> usize {
    match write {
        Write::Put { body, .. } => body.len(),
        Write::Delete { .. } => 0,
    }
}

/// Adds a batch to the group, or answers its caller. Returns a batch that has to wait for the next group.
fn admit(group: &mut CommitGroup, index: &Index, batch: Batch, responder: JobResponder) -> Option<Job> {
    match group.admit(index, batch, responder) {
        Admission::Accepted => None,
        Admission::Deferred(batch, responder) => Some(Job::Commit(batch, responder)),
        Admission::Decided(batch, responder, outcome) => {
            // Dropped before the caller continues.
            drop(batch);
            responder.send(outcome);
            None
        }
    }
}
