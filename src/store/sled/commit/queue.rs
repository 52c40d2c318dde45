//! The way from the tasks that write to the one thread that does the writing.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::super::state::closed;
use crate::model::Timestamp;
use crate::store::{Batch, StoreError, Write};

/// How many may wait to be written. Whoever comes after them waits on the async side, where it can be dropped.
const MAX_PENDING: usize = 1024;

/// How many bytes are written in one go: more would keep the first pending for long.
pub(in crate::store::sled) const GROUP_BYTES: usize = 4 << 20;

/// What the writing thread is asked to do.
#[derive(Debug)]
pub(in crate::store::sled) enum Job {
    Commit(Batch, Responder),
    Purge(Timestamp, Responder),
    /// Begin to put everything into the records. The answer is 0 if everything is there, otherwise the lsn
    /// that follows the last one that has to be.
    Checkpoint(Responder),
    /// The same, and let the folder go.
    Close(Responder),
}

impl Job {
    /// How many bytes of bodies are to be written.
    pub(in crate::store::sled) fn size(&self) -> usize {
        let size = |write: &Write| match write {
            Write::Put { body, .. } => body.len(),
            Write::Delete { .. } => 0,
        };
        match self {
            Self::Commit(batch, _) => batch.writes().iter().map(size).sum(),
            Self::Purge(..) | Self::Checkpoint(_) | Self::Close(_) => 0,
        }
    }
}

/// How whoever asked is told.
#[derive(Debug)]
pub(in crate::store::sled) struct Responder {
    sender: oneshot::Sender<Result<u64, StoreError>>,
    /// How many records a purge deletes, or what else a job is answered with.
    count: u64,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Responder {
    pub(in crate::store::sled) fn with_count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Nobody minds when whoever asked is gone.
    pub(in crate::store::sled) fn send(self, outcome: Result<(), StoreError>) {
        let _ = self.sender.send(outcome.map(|()| self.count));
    }
}

/// Where tasks put what they want written. When it is dropped, nobody can submit for anything any more.
#[derive(Debug)]
pub(in crate::store::sled) struct Queue {
    channel: Arc<Channel>,
    permits: Arc<Semaphore>,
}

impl Queue {
    pub(in crate::store::sled) fn new() -> (Self, Jobs) {
        let channel = Arc::new(Channel::default());
        (
            Self { channel: Arc::clone(&channel), permits: Arc::new(Semaphore::new(MAX_PENDING)) },
            Jobs(channel),
        )
    }

    /// What comes of it. A future that is dropped has put nothing in, or leaves it to be done.
    pub(in crate::store::sled) async fn submit(
        &self,
        job: impl FnOnce(Responder) -> Job,
    ) -> Result<u64, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        let (sender, answer) = oneshot::channel();
        self.channel.put(job(Responder { sender, count: 0, _permit: permit }))?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.channel.lock().is_closed = true;
        self.channel.arrived.notify_one();
    }
}

/// The other end of the queue. What is still there when it is dropped is answered as closed.
#[derive(Debug)]
pub(in crate::store::sled) struct Jobs(Arc<Channel>);

impl Jobs {
    /// Waits until somebody asks for something, or nobody can any more.
    pub(in crate::store::sled) fn wait(&self) {
        let mut pending = self.0.lock();
        pending.wanted = 1;
        let waited = self.0.arrived.wait_while(pending, |pending| pending.must_wait());
        waited.unwrap_or_else(PoisonError::into_inner).wanted = 0;
    }

    /// Waits until so many jobs are there or a group is full, but not for longer than this.
    pub(in crate::store::sled) fn wait_for(&self, wanted: usize, timeout: Duration) {
        let mut pending = self.0.lock();
        pending.wanted = wanted;
        let waited = self.0.arrived.wait_timeout_while(pending, timeout, |pending| pending.must_wait());
        waited.unwrap_or_else(PoisonError::into_inner).0.wanted = 0;
    }

    pub(in crate::store::sled) fn len(&self) -> usize {
        self.0.lock().jobs.len()
    }

    /// All that are there, in the order they came in.
    pub(in crate::store::sled) fn take(&self) -> VecDeque<Job> {
        let mut pending = self.0.lock();
        (pending.size, pending.has_close) = (0, false);
        std::mem::take(&mut pending.jobs)
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
    pending: Mutex<Pending>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    jobs: VecDeque<Job>,
    size: usize,
    /// Whether one of the jobs is a wish to close the store.
    has_close: bool,
    /// How many the writing thread waits for. It is woken once for all of them: to be woken for each takes it as long as to
    /// write one.
    wanted: usize,
    is_closed: bool,
}

impl Channel {
    fn put(&self, job: Job) -> Result<(), StoreError> {
        let mut pending = self.lock();
        if pending.is_closed {
            return Err(closed());
        }
        let was_short = pending.must_wait();
        pending.size += job.size();
        pending.has_close |= matches!(job, Job::Close(_));
        pending.jobs.push_back(job);
        let wakes_committer = was_short && !pending.must_wait();
        drop(pending);
        if wakes_committer {
            self.arrived.notify_one();
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    fn must_wait(&self) -> bool {
        let is_group = self.size >= GROUP_BYTES || self.has_close;
        self.jobs.len() < self.wanted && !is_group && !self.is_closed
    }
}
