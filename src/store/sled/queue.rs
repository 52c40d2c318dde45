//! The way from the tasks that write to the one thread that does the writing.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::model::Timestamp;
use crate::store::{Batch, StoreError, Write};

/// How many may wait to be written. Whoever comes after them waits on the async side, where it can be dropped.
const WAITING: usize = 1024;

/// How many bytes are written in one go: more would keep the first waiting for long.
pub(super) const GROUP_BYTES: usize = 4 << 20;

/// What the writing thread is asked to do.
#[derive(Debug)]
pub(super) enum Job {
    Commit(Batch, Reply),
    Purge(Timestamp, Reply),
    /// Begin to put everything into the records. The answer is 0 if everything is there, otherwise the sequence
    /// that follows the last one that has to be.
    Settle(Reply),
    /// The same, and let the folder go.
    Close(Reply),
}

impl Job {
    /// How many bytes of bodies are to be written.
    pub(super) fn size(&self) -> usize {
        let size = |write: &Write| match write {
            Write::Put { body, .. } => body.len(),
            Write::Delete { .. } => 0,
        };
        match self {
            Self::Commit(batch, _) => batch.writes().iter().map(size).sum(),
            Self::Purge(..) | Self::Settle(_) | Self::Close(_) => 0,
        }
    }
}

/// How whoever asked is told.
#[derive(Debug)]
pub(super) struct Reply {
    sender: oneshot::Sender<Result<u64, StoreError>>,
    /// How many records a purge deletes, or what else a job is answered with.
    count: u64,
    _turn: Option<OwnedSemaphorePermit>,
}

impl Reply {
    pub(super) fn with_count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Nobody minds when whoever asked is gone.
    pub(super) fn send(self, outcome: Result<(), StoreError>) {
        let _ = self.sender.send(outcome.map(|()| self.count));
    }
}

/// Where tasks put what they want written. When it is dropped, nobody can ask for anything any more.
#[derive(Debug)]
pub(super) struct Queue {
    line: Arc<Line>,
    turns: Arc<Semaphore>,
}

impl Queue {
    pub(super) fn new() -> (Self, Jobs) {
        let line = Arc::new(Line::default());
        (Self { line: Arc::clone(&line), turns: Arc::new(Semaphore::new(WAITING)) }, Jobs(line))
    }

    /// What comes of it. A future that is dropped has put nothing in, or leaves it to be done.
    pub(super) async fn ask(&self, job: impl FnOnce(Reply) -> Job) -> Result<u64, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok();
        let (sender, answer) = oneshot::channel();
        self.line.put(job(Reply { sender, count: 0, _turn: turn }))?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.line.lock().is_closed = true;
        self.line.arrived.notify_one();
    }
}

/// The other end of the queue. What is still there when it is dropped is answered as closed.
#[derive(Debug)]
pub(super) struct Jobs(Arc<Line>);

impl Jobs {
    /// Waits until somebody asks for something, or nobody can any more.
    pub(super) fn wait(&self) {
        let mut waiting = self.0.lock();
        waiting.wanted = 1;
        let waited = self.0.arrived.wait_while(waiting, |waiting| waiting.is_short());
        waited.unwrap_or_else(PoisonError::into_inner).wanted = 0;
    }

    /// Waits until so many jobs are there or a group is full, but not for longer than this.
    pub(super) fn wait_for(&self, wanted: usize, patience: Duration) {
        let mut waiting = self.0.lock();
        waiting.wanted = wanted;
        let waited = self.0.arrived.wait_timeout_while(waiting, patience, |waiting| waiting.is_short());
        waited.unwrap_or_else(PoisonError::into_inner).0.wanted = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().jobs.len()
    }

    /// All that are there, in the order they came in.
    pub(super) fn take(&self) -> VecDeque<Job> {
        let mut waiting = self.0.lock();
        (waiting.size, waiting.is_last) = (0, false);
        std::mem::take(&mut waiting.jobs)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        drop(self.take());
    }
}

#[derive(Debug, Default)]
struct Line {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    size: usize,
    /// Whether one of the jobs is a wish to close the store.
    is_last: bool,
    /// How many the writing thread waits for. It is woken once for all of them: to be woken for each takes it as long as to
    /// write one.
    wanted: usize,
    is_closed: bool,
}

impl Line {
    fn put(&self, job: Job) -> Result<(), StoreError> {
        let mut waiting = self.lock();
        if waiting.is_closed {
            return Err(closed());
        }
        let was_short = waiting.is_short();
        waiting.size += job.size();
        waiting.is_last |= matches!(job, Job::Close(_));
        waiting.jobs.push_back(job);
        let is_awaited = was_short && !waiting.is_short();
        drop(waiting);
        if is_awaited {
            self.arrived.notify_one();
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn is_short(&self) -> bool {
        let is_group = self.size >= GROUP_BYTES || self.is_last;
        self.jobs.len() < self.wanted && !is_group && !self.is_closed
    }
}

pub(super) fn closed() -> StoreError {
    StoreError::unavailable("the store is closed")
}
