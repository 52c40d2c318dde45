//! Heavy work on blocking threads, shared fairly among organizations.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::keyed_lock::{KeyGuard, KeyedLock};

/// The most jobs of one organization that run or wait.
const WAITING: usize = 256;

/// Runs jobs on the runtime's blocking threads, one at a time for each organization.
///
/// In total, fewer jobs run than there are processors, so that one is left for everything else. On a single processor,
/// one job runs. Organizations take turns in the order in which they asked.
///
/// Where there is no runtime, jobs run in place.
#[derive(Clone, Debug)]
pub(crate) struct FairThreads {
    organizations: KeyedLock<Uuid>,
    threads: Arc<Semaphore>,
}

/// The reason that a job did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRun {
    /// Too many jobs of the organization wait already.
    Busy,
    /// The runtime is shutting down.
    ShutDown,
}

/// The right to run a job.
struct Turn {
    _organization: KeyGuard<Uuid>,
    _thread: OwnedSemaphorePermit,
}

impl Default for FairThreads {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, NonZero::get);
        let threads = Arc::new(Semaphore::new(processors.saturating_sub(1).max(1)));
        Self { organizations: KeyedLock::new(WAITING), threads }
    }
}

impl FairThreads {
    /// Runs a job and waits for it. A job that has begun runs to its end, even when its caller is gone.
    ///
    /// The turn is awaited by a task of its own: a caller that does not poll this future for a while would otherwise
    /// keep the turn from all that wait behind it.
    ///
    /// # Errors
    /// Those of [`NotRun`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        organization: Uuid,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let Ok(runtime) = Handle::try_current() else { return Ok(job()) };
        let threads = self.clone();
        let task = runtime.spawn(async move {
            let turn = threads.turn(organization).await?;
            let job = move || {
                let done = job();
                drop(turn);
                done
            };
            Ok(Handle::current().spawn_blocking(job).await)
        });
        match AbortOnDrop(task).await?? {
            Ok(done) => Ok(done),
            Err(error) => Err(rethrow(error)),
        }
    }

    /// Runs a job if it can begin at once. Waits for the job only where there is no runtime.
    pub(crate) fn run_if_idle(&self, organization: Uuid, job: impl FnOnce() + Send + 'static) {
        let Some(turn) = self.try_turn(organization) else { return };
        let job = move || {
            job();
            drop(turn);
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(job)),
            Err(_) => job(),
        }
    }

    async fn turn(&self, organization: Uuid) -> Result<Turn, NotRun> {
        let organization = self.organizations.lock(organization).await.ok_or(NotRun::Busy)?;
        let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(|_| NotRun::ShutDown)?;
        Ok(Turn { _organization: organization, _thread: thread })
    }

    fn try_turn(&self, organization: Uuid) -> Option<Turn> {
        let organization = self.organizations.try_lock(organization)?;
        let thread = Arc::clone(&self.threads).try_acquire_owned().ok()?;
        Some(Turn { _organization: organization, _thread: thread })
    }
}

/// A task that is aborted when its handle is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, NotRun>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(ready!(Pin::new(&mut self.0).poll(context)).map_err(rethrow))
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Resumes a job's panic in its caller, as if the caller had run the job.
fn rethrow(error: tokio::task::JoinError) -> NotRun {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => NotRun::ShutDown,
    }
}
