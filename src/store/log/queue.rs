//! Queue from the tasks that write to the committer.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
#[cfg(feature = "sled")]
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use uuid::Uuid;

use crate::model::Timestamp;
use crate::store::{Batch, StoreError, Write};

/// Maximum number of queued jobs. Further callers wait asynchronously, where they can be dropped.
const MAX_PENDING: usize = 1024;

/// Size at which a group is full, in bytes of bodies. It bounds the latency of the first job in the group.
pub(crate) const GROUP_BYTES: usize = 4 << 20;

/// A request to the committer.
#[derive(Debug)]
pub(crate) enum Job {
    Commit(Batch, JobResponder),
    Purge(Timestamp, JobResponder),
    /// Runs the maintenance that is specific to the backend. The folder store starts a checkpoint; the answer is the
    /// LSN that follows the last one to be applied, or 0 if everything is applied.
    Maintain(JobResponder),
    /// Completes the jobs that were submitted before, and closes the store.
    Close(JobResponder),
}

impl Job {
    /// Returns the size of the bodies to be written, in bytes.
    pub(crate) fn size(&self) -> usize {
        let size = |write: &Write| match write {
            Write::Put { body, .. } => body.len(),
            Write::Delete { .. } => 0,
        };
        match self {
            Self::Commit(batch, _) => batch.writes().iter().map(size).sum(),
            Self::Purge(..) | Self::Maintain(_) | Self::Close(_) => 0,
        }
    }

    /// Returns the organization of the first record to be written, if it has one.
    pub(crate) fn organization(&self) -> Option<Uuid> {
        let Self::Commit(batch, _) = self else { return None };
        batch.writes().iter().find_map(|write| match write {
            Write::Put { facets, .. } => facets.organization,
            Write::Delete { .. } => None,
        })
    }
}

/// Sends the result of a job to its caller.
#[derive(Debug)]
pub(crate) struct JobResponder {
    sender: oneshot::Sender<Result<u64, StoreError>>,
    /// The answer of a successful job. It is the number of records that a purge deletes, or the LSN of a checkpoint
    /// request.
    count: u64,
    _permit: Option<OwnedSemaphorePermit>,
}

impl JobResponder {
    pub(crate) fn with_count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Sends the result. It is discarded if the caller has stopped waiting.
    pub(crate) fn send(self, outcome: Result<(), StoreError>) {
        let _ = self.sender.send(outcome.map(|()| self.count));
    }
}

/// The sending end of the queue. Dropping it ends the committer.
#[derive(Debug)]
pub(crate) struct Queue {
    channel: Arc<Channel>,
    permits: Arc<Semaphore>,
}

impl Queue {
    pub(crate) fn new() -> (Self, Jobs) {
        let channel = Arc::new(Channel::default());
        (
            Self { channel: Arc::clone(&channel), permits: Arc::new(Semaphore::new(MAX_PENDING)) },
            Jobs(channel),
        )
    }

    /// Submits a job and returns its result. Dropping the future either submits nothing or leaves the job to
    /// complete.
    pub(crate) async fn submit(&self, job: impl FnOnce(JobResponder) -> Job) -> Result<u64, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        let (sender, answer) = oneshot::channel();
        self.channel.put(job(JobResponder { sender, count: 0, _permit: permit }))?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.channel.lock().is_closed = true;
        self.channel.wake();
    }
}

/// The receiving end of the queue. Jobs still queued when it is dropped fail as closed.
#[derive(Debug)]
pub(crate) struct Jobs(Arc<Channel>);

impl Jobs {
    /// Waits until a job is queued or the queue is closed.
    #[cfg(feature = "sled")]
    pub(crate) fn wait(&self) {
        let mut state = self.0.lock();
        state.wanted = 1;
        let waited = self.0.arrived.wait_while(state, |state| state.must_wait());
        waited.unwrap_or_else(PoisonError::into_inner).wanted = 0;
    }

    /// Like `wait`, without blocking the thread.
    #[cfg(feature = "postgres")]
    pub(crate) async fn wait_async(&self) {
        while !self.0.lock().wants(1) {
            self.0.arrived_async.notified().await;
        }
    }

    /// Returns whether this many jobs are queued, or a group is full.
    #[cfg(feature = "postgres")]
    pub(crate) fn has(&self, wanted: usize) -> bool {
        self.0.lock().wants(wanted)
    }

    /// Waits until `wanted` jobs are queued or a group is full, at most for `timeout`.
    #[cfg(feature = "sled")]
    pub(crate) fn wait_for(&self, wanted: usize, timeout: Duration) {
        let mut state = self.0.lock();
        state.wanted = wanted;
        let waited = self.0.arrived.wait_timeout_while(state, timeout, |state| state.must_wait());
        waited.unwrap_or_else(PoisonError::into_inner).0.wanted = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().jobs.len()
    }

    /// Takes all queued jobs, oldest first.
    pub(crate) fn take(&self) -> VecDeque<Job> {
        let mut state = self.0.lock();
        (state.size, state.has_close) = (0, false);
        std::mem::take(&mut state.jobs)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        drop(self.take());
    }
}

#[derive(Debug, Default)]
struct Channel {
    state: Mutex<QueueState>,
    arrived: Condvar,
    /// Wakes a committer that is a task instead of a thread.
    #[cfg(feature = "postgres")]
    arrived_async: tokio::sync::Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    size: usize,
    /// Whether one of the jobs closes the store.
    has_close: bool,
    /// Number of jobs the committer waits for.
    ///
    /// It is woken once for all of them, because waking it for each would take it as long as writing one.
    wanted: usize,
    is_closed: bool,
}

impl Channel {
    fn put(&self, job: Job) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(closed());
        }
        let was_waiting = state.must_wait();
        state.size += job.size();
        state.has_close |= matches!(job, Job::Close(_));
        state.jobs.push_back(job);
        let wakes_committer = was_waiting && !state.must_wait();
        drop(state);
        if wakes_committer {
            self.wake();
        }
        Ok(())
    }

    fn wake(&self) {
        self.arrived.notify_one();
        #[cfg(feature = "postgres")]
        self.arrived_async.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    /// Returns whether a wait for this many jobs is over. If not, the next job that ends it wakes the committer.
    #[cfg(feature = "postgres")]
    fn wants(&mut self, wanted: usize) -> bool {
        self.wanted = wanted;
        let is_over = !self.must_wait();
        if is_over {
            self.wanted = 0;
        }
        is_over
    }

    fn must_wait(&self) -> bool {
        let is_group = self.size >= GROUP_BYTES || self.has_close;
        self.jobs.len() < self.wanted && !is_group && !self.is_closed
    }
}

/// Returns the error of every call after the store was closed.
pub(crate) fn closed() -> StoreError {
    StoreError::unavailable("the store is closed")
}
