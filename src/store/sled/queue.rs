//! The way from the tasks that write to the one thread that does the writing.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::model::Timestamp;
use crate::store::{Batch, StoreError};

/// How many may wait to be written. Whoever comes after them waits on the async side, where it can be dropped.
const WAITING: usize = 1024;

/// What the writing thread is asked to do.
#[derive(Debug)]
pub(super) enum Job {
    Commit(Batch, Reply),
    Purge(Timestamp, Reply),
    /// Put everything into the records.
    Settle(Reply),
    /// The same, and let the folder go.
    Close(Reply),
}

/// How whoever asked is told.
#[derive(Debug)]
pub(super) struct Reply {
    sender: oneshot::Sender<Result<u64, StoreError>>,
    /// How many records a purge deletes.
    count: u64,
    _turn: Option<OwnedSemaphorePermit>,
}

impl Reply {
    pub(super) fn with_count(self, count: usize) -> Self {
        Self { count: count as u64, ..self }
    }

    /// Nobody minds when whoever asked is gone.
    pub(super) fn send(self, outcome: Result<(), StoreError>) {
        let _ = self.sender.send(outcome.map(|()| self.count));
    }
}

/// Where tasks put what they want written.
#[derive(Debug)]
pub(super) struct Queue {
    jobs: Sender<Job>,
    turns: Arc<Semaphore>,
}

impl Queue {
    pub(super) fn new() -> (Self, Receiver<Job>) {
        let (jobs, receiver) = mpsc::channel();
        (Self { jobs, turns: Arc::new(Semaphore::new(WAITING)) }, receiver)
    }

    /// What comes of it. A future that is dropped has put nothing in, or leaves it to be done.
    pub(super) async fn ask(&self, job: impl FnOnce(Reply) -> Job) -> Result<u64, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok();
        let (sender, answer) = oneshot::channel();
        self.jobs.send(job(Reply { sender, count: 0, _turn: turn })).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

pub(super) fn closed() -> StoreError {
    StoreError::unavailable("the store is closed")
}
