//! Work outside of requests' own tasks: background tasks, and long computations on blocking threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::{Error, ErrorKind};
use crate::fair_threads::{FairThreads, NotRun};
use crate::model::OrganizationId;

/// The maximum number of concurrent optional tasks.
const MAX_TASKS: usize = 64;

/// Background tasks, aborted when the inventory is dropped.
#[derive(Debug, Default)]
pub(super) struct BackgroundTasks {
    /// Tasks that are skipped when too many run.
    optional: Mutex<JoinSet<()>>,
    /// Tasks that always run.
    required: Mutex<JoinSet<()>>,
}

impl BackgroundTasks {
    /// Returns the number of tasks.
    pub(super) fn running(&self) -> u64 {
        (unfinished(&self.optional).len() + unfinished(&self.required).len()) as u64
    }

    /// Spawns a task if there is a runtime, fewer than 64 tasks run, and `begins`, called last, returns true.
    pub(super) fn spawn(
        &self,
        begins: impl FnOnce() -> bool,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut tasks = unfinished(&self.optional);
        if tasks.len() < MAX_TASKS && begins() {
            tasks.spawn_on(task, &runtime);
        }
    }

    /// Spawns a task if there is a runtime, however many run.
    ///
    /// Each belongs to a request that ended early, so that limits on requests bound their number.
    pub(super) fn spawn_required(&self, task: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = Handle::try_current() else { return };
        unfinished(&self.required).spawn_on(task, &runtime);
    }
}

/// Forgets the tasks that have ended.
fn unfinished(tasks: &Mutex<JoinSet<()>>) -> MutexGuard<'_, JoinSet<()>> {
    let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
    while tasks.try_join_next().is_some() {}
    tasks
}

/// The largest work, in bytes, that runs in place.
///
/// It takes about 2 ms; switching threads costs about 20 µs.
const INLINE_BYTES: usize = 256 * 1024;

/// The size of work in bytes from which on it takes much memory.
const LARGE_BYTES: usize = 4 * 1024 * 1024;

/// Runs long work on the runtime's blocking threads, whose number all kinds of work share.
#[derive(Debug)]
pub(super) struct Offload {
    /// Decoding and encoding of large records.
    records: FairThreads,
    /// Work on the bodies of requests and responses. It does not wait for work on records.
    bodies: FairThreads,
    /// Work of about a second and more. Other work never waits for its end.
    #[cfg(feature = "discovery")]
    long: FairThreads,
}

impl Default for Offload {
    fn default() -> Self {
        let records = FairThreads::default();
        Self {
            bodies: records.beside(),
            #[cfg(feature = "discovery")]
            long: records.beside(),
            records,
        }
    }
}

impl Offload {
    /// Returns the number of jobs that wait for a thread.
    pub(super) fn waiting(&self) -> u64 {
        self.records.waiting() as u64
    }

    /// Runs an organization's work on records of about `bytes` bytes.
    ///
    /// Small work, and any work without a runtime, runs in place.
    ///
    /// # Errors
    /// `Busy` when too much work of the organization is waiting; `Internal` when the runtime is shutting down.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        run(&self.records, organization, bytes, work).await
    }

    /// Runs work like [`run`](Self::run), on the bodies of requests and responses.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub(super) async fn run_on_bodies<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        run(&self.bodies, organization, bytes, work).await
    }

    /// Runs an organization's work of about a second and more.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    #[cfg(feature = "discovery")]
    pub(super) async fn run_long<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        run(&self.long, organization, usize::MAX, work).await
    }
}

async fn run<T: Send + 'static>(
    threads: &FairThreads,
    organization: OrganizationId,
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    if bytes <= INLINE_BYTES {
        return Ok(work());
    }
    threads.run_of_size(organization, bytes >= LARGE_BYTES, work).await.map_err(|reason| match reason {
        NotRun::Busy => ErrorKind::Busy.into(),
        NotRun::ShutDown => Error::internal("the runtime is shutting down"),
    })
}
