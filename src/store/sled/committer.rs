//! The one thread that writes: it takes what waits, writes it down in one go, and tells everybody at once.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use super::checkpoint::{Changes, Work};
use super::checkpoints::Checkpoints;
use super::gather::Gatherer;
use super::group::{Group, Parts};
use super::journal::{Accepted, Journal};
use super::queue::{Job, Reply, closed};
use super::shared::Shared;
use super::witness::Witness;
use crate::store::{Batch, Key, Precondition, StoreError};

/// The writing thread's own.
#[derive(Debug)]
pub(super) struct Committer {
    pub(super) shared: Arc<Shared>,
    pub(super) jobs: Gatherer,
    pub(super) journal: Journal,
    pub(super) witness: Witness,
    /// Whether what is acknowledged is on the disk by then.
    pub(super) witnesses: bool,
    pub(super) checkpoints: Checkpoints,
    /// What was written since the last checkpoint began.
    pub(super) changes: Changes,
    pub(super) sequence: u64,
    pub(super) body: u64,
}

impl Committer {
    /// Works until it is told to close the store, or nobody is left who could tell it anything.
    pub(super) fn run(mut self) {
        let reply = loop {
            let jobs = self.jobs.next();
            if jobs.is_empty() {
                break None;
            }
            if let Some(reply) = self.turn(jobs) {
                break Some(reply);
            }
        };
        let outcome = self.close();
        if let Err(error) = &outcome {
            tracing::error!(error = error as &dyn Error, "the store was not closed in order");
        }
        // The folder is free before anybody is told that it is.
        drop(self);
        if let Some(reply) = reply {
            reply.send(outcome);
        }
    }

    /// Writes one group. Gives back whoever wants the store closed.
    fn turn(&mut self, jobs: Vec<Job>) -> Option<Reply> {
        let shared = Arc::clone(&self.shared);
        let Ok(state) = shared.read_state() else { return None };
        let mut group = Group::new(state.index.next_version(), self.body);
        let (mut closing, mut settling) = (None, Vec::new());
        let mut is_complete = true;
        for job in jobs {
            let deferred = match job {
                Job::Commit(batch, reply) => group.admit(&state.index, batch, reply),
                // What expires is asked once nothing is under way that could change it.
                purge @ Job::Purge(..) if !group.is_empty() => Some(purge),
                Job::Purge(now, reply) => {
                    let keys = state.index.expired(now);
                    let reply = reply.with_count(keys.len() as u64);
                    group.admit(&state.index, deletions(keys), reply)
                }
                Job::Settle(reply) => {
                    settling.push(reply);
                    None
                }
                // What has to wait for the next group was asked for before.
                close @ Job::Close(_) if !is_complete => Some(close),
                Job::Close(reply) => {
                    closing = Some(reply);
                    None
                }
            };
            is_complete &= deferred.is_none();
            deferred.into_iter().for_each(|job| self.jobs.defer(job));
        }
        drop(state);
        self.finish(group.into_parts());
        if !settling.is_empty() {
            let settled = self.begin_settling();
            for reply in settling {
                match &settled {
                    Ok(pending) => reply.with_count(*pending).send(Ok(())),
                    Err(error) => reply.send(Err(again(error))),
                }
            }
        }
        closing
    }

    /// Writes a group down, shows it to readers, and tells whoever asked for it.
    fn finish(&mut self, parts: Parts) {
        let Parts { accepted, facets, replies, last_body } = parts;
        if accepted.is_empty() {
            return;
        }
        let begin = Instant::now();
        let outcome = self.write(&accepted);
        self.jobs.learn(begin.elapsed(), replies.len());
        if let Err(error) = outcome {
            tracing::error!(error = &error as &dyn Error, "nothing can be written");
            for reply in replies {
                reply.send(Err(StoreError::unavailable("nothing can be written")));
            }
            return;
        }
        self.body = last_body;
        let mut dropped: Vec<Bytes> = Vec::new();
        if let Ok(mut state) = self.shared.write_state() {
            for (accepted, facets) in accepted.iter().zip(facets) {
                state.apply(accepted, facets, &mut dropped);
            }
        }
        for reply in replies {
            reply.send(Ok(()));
        }
        self.changes.extend(accepted.into_iter().flat_map(|accepted| accepted.changes));
    }

    fn write(&mut self, accepted: &[Accepted]) -> Result<(), StoreError> {
        self.make_room()?;
        let unwritten = |error| StoreError::unavailable("the journal cannot be written").with_source(error);
        self.journal.append(self.sequence + 1, accepted).map_err(unwritten)?;
        self.sequence += 1;
        if self.witnesses {
            // What it tells is a lower bound, so it may stay behind.
            let _ = self.witness.write(self.sequence);
        }
        Ok(())
    }

    /// Has what is in a full journal put into the records. Waits only for the time before.
    fn make_room(&mut self) -> Result<(), StoreError> {
        self.checkpoints.look(&mut self.journal);
        if !self.journal.is_full() && (self.journal.is_active() || self.journal.has_free_file()) {
            return Ok(());
        }
        self.checkpoints.finish(&mut self.journal)?;
        self.begin_checkpoint()
    }

    fn begin_checkpoint(&mut self) -> Result<(), StoreError> {
        let unsealed = |error| StoreError::unavailable("the journal cannot be changed").with_source(error);
        let Some((sealed, journal)) = self.journal.seal().map_err(unsealed)? else { return Ok(()) };
        if !self.witnesses {
            // What is in the records is on the disk, and its journal is about to be written over.
            let _ = self.witness.write(self.checkpoints.applied());
        }
        let version = self.shared.read_state()?.index.next_version().0 - 1;
        let changes = std::mem::take(&mut self.changes);
        self.checkpoints.begin(Work {
            changes,
            sealed: vec![sealed],
            // Where commits do not wait for the disk, the records must not be there before the journal.
            unsynced: if self.witnesses { None } else { Some(journal) },
            applied: self.sequence,
            version,
            body: self.body,
        });
        Ok(())
    }

    /// Puts everything into the records and lets go of the folder. What fails leaves the journal as it is, so that nothing
    /// is lost.
    fn close(&mut self) -> Result<(), StoreError> {
        let outcome = self.put_everything_away();
        // After the slice of a verification that is under way: it finds both copies open up to its end.
        let mut progress = self.shared.records.blocking_lock();
        let closed = self.shared.copies.close();
        progress.close();
        drop(progress);
        self.shared.folder.release();
        outcome.and(closed)
    }

    /// Begins a checkpoint, unless one is under way. Returns the number of the next sequence while there is something to wait
    /// for, otherwise 0. Does not wait, so commits go on meanwhile.
    fn begin_settling(&mut self) -> Result<u64, StoreError> {
        if !self.checkpoints.resume(&mut self.journal) {
            self.begin_checkpoint()?;
        }
        match (self.checkpoints.is_under_way(), self.journal.is_active()) {
            (true, _) => Ok(self.sequence + 1),
            (false, false) => Ok(0),
            // The thread that would do it has ended.
            (false, true) => Err(closed()),
        }
    }

    /// Has everything put into the records, and waits for it.
    fn settle(&mut self) -> Result<(), StoreError> {
        self.checkpoints.finish(&mut self.journal)?;
        self.begin_checkpoint()?;
        self.checkpoints.finish(&mut self.journal)
    }

    fn put_everything_away(&mut self) -> Result<(), StoreError> {
        self.settle()?;
        let unwritten = |error| StoreError::unavailable("the journal cannot be emptied").with_source(error);
        self.witness.write(self.sequence).and_then(|()| self.witness.sync()).map_err(unwritten)?;
        self.journal.clear().map_err(unwritten)
    }
}

fn deletions(keys: Vec<Key>) -> Batch {
    let mut batch = Batch::new();
    for key in keys {
        batch.delete(key, Precondition::Any);
    }
    batch
}

/// The same error for another who asked for the same.
fn again(error: &StoreError) -> StoreError {
    StoreError::unavailable(error.to_string())
}
