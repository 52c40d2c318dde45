use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Mutex;

use super::read::BodyReader;
use super::state::Shared;
use crate::store::StoreError;
use crate::store::log::queue::closed;
use crate::store::log::queue::{Job, Queue};
use crate::store::materializer::Materializer;

/// The open store, shared by the clones of a [`SledStore`](super::SledStore), its snapshots and its backups.
///
/// When the last reference is dropped, the store is closed and the folder released.
#[derive(Debug)]
pub(super) struct Handle {
    shared: Arc<Shared>,
    pub(super) queue: Queue,
    pub(super) reader: BodyReader,
    pub(super) materializer: Materializer,
    /// Held by the backup that runs; others wait for it.
    pub(super) backup_turn: Arc<Mutex<()>>,
    is_closed: AtomicBool,
}

impl Handle {
    pub(super) fn new(shared: Arc<Shared>, queue: Queue) -> Self {
        let reader = BodyReader::new(Arc::clone(&shared));
        Self {
            shared,
            queue,
            reader,
            materializer: Materializer::default(),
            backup_turn: Arc::default(),
            is_closed: AtomicBool::new(false),
        }
    }

    pub(super) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Waits until a checkpoint has applied everything that is committed now; commits continue.
    ///
    /// # Errors
    /// `Unavailable` when a checkpoint fails or the store is closed.
    pub(super) async fn wait_for_checkpoint(&self) -> Result<(), StoreError> {
        let mut checkpoint_status = self.shared.checkpoint_status.subscribe();
        let mut wanted = None;
        loop {
            // Every answer except 0 means that a checkpoint is running, which wakes this task when it ends.
            let pending = self.queue.submit(Job::Maintain).await?;
            if pending == 0 {
                return Ok(());
            }
            let wanted = *wanted.get_or_insert(pending);
            checkpoint_status.changed().await.map_err(|_| closed())?;
            let last = checkpoint_status.borrow_and_update();
            if let Some(failure) = &last.failure {
                return Err(StoreError::unavailable(failure.as_str()));
            }
            if last.applied_lsn + 1 >= wanted {
                return Ok(());
            }
        }
    }

    /// Makes every later read fail. The committer still completes the queued jobs.
    pub(super) fn mark_closed(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(super) fn require_open(&self) -> Result<(), StoreError> {
        if self.is_closed.load(Ordering::Acquire) { Err(closed()) } else { Ok(()) }
    }
}
