//! Jobs of organizations, which take turns on the threads.
//!
//! A job calls [`yield_turn`] repeatedly, and gives its thread to the next one once its turn is over. The time that a
//! job waits for its turn therefore depends on the number of organizations that work, and not on how long their jobs
//! take.
//!
//! An organization that has worked little lately does not wait for the end of a turn: a job gives its thread to it at the
//! next call of [`yield_turn`].

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::abort_on_drop::{AbortOnDrop, rethrow};
use super::threads::{Precedence, Thread, Threads};
use crate::erased_job::{ErasedJob, ErasedResult, erase, result_of};
use crate::invariant::Invariant;
use crate::keyed_lock::{KeyGuard, KeyedLock};
use crate::model::OrganizationId;

/// The most jobs of one organization that run or wait, small and large ones each.
const MAX_JOBS: usize = 256;

/// The most jobs that have begun, each of another organization. They hold a thread while they wait.
const MAX_BEGUN: usize = 64;

/// The most large jobs that have begun. They hold much memory while they wait.
const MAX_LARGE_BEGUN: usize = 8;

/// The time after which a job lets others work.
const TIME_SLICE: Duration = Duration::from_millis(4);

/// The time after which a job lets organizations work that have worked little lately. Switching threads costs about 20 µs.
const SHORT_SLICE: Duration = Duration::from_micros(200);

thread_local! {
    /// The turn of the job that runs on this thread; `None` on all other threads.
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// Lets the jobs of other organizations work if the turn of this thread's job is over. Outside of jobs, nothing happens.
///
/// Loops whose length depends on input call this. Callers hold no locks that other organizations need.
pub(crate) fn yield_turn() {
    TURN.with_borrow_mut(|turn| turn.iter_mut().for_each(Turn::yield_if_over));
}

/// Runs jobs on the runtime's blocking threads, one at a time for each organization.
///
/// An organization has at most one small and one large job in progress. The large one lets small ones work as long as
/// it works itself, so that they do not wait for its end.
///
/// In total, fewer jobs run than there are processors, so that one is left for everything else. On a single processor,
/// one job runs. Organizations take turns in the order of their requests, except that organizations which have worked
/// little lately come first.
///
/// Where there is no runtime, jobs run in place.
#[derive(Clone, Debug)]
pub(crate) struct FairThreads {
    /// The organizations of which a job works. Only jobs that have one of the runtime's threads hold or await it.
    organizations: KeyedLock<OrganizationId>,
    /// The organizations of which a small job is in progress.
    with_small: KeyedLock<OrganizationId>,
    /// The organizations of which a large job is in progress.
    with_large: KeyedLock<OrganizationId>,
    begun: Arc<Semaphore>,
    large: Arc<Semaphore>,
    threads: Arc<Threads>,
}

/// The reason that a job did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRun {
    /// Too many jobs of the organization wait already.
    Busy,
    /// The runtime is shutting down.
    ShutDown,
}

/// The right to begin a job.
struct Begun {
    _in_progress: KeyGuard<OrganizationId>,
    _permit: OwnedSemaphorePermit,
    /// `None` for a job that is not large.
    large: Option<OwnedSemaphorePermit>,
}

/// The right to run a job.
struct Turn {
    id: OrganizationId,
    organizations: KeyedLock<OrganizationId>,
    begun: Begun,
    /// `None` while the job waits for its turn. Only jobs that have one of the runtime's threads wait for it: a job
    /// that the runtime cannot start yet must not block the others. The same holds for `thread`.
    organization: Option<KeyGuard<OrganizationId>>,
    /// When the job has got the turn of its organization, and how long it has waited for that.
    organization_since: (Instant, Duration),
    thread: Option<Thread>,
    threads: Arc<Threads>,
    since: Instant,
}

impl Default for FairThreads {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, NonZero::get);
        let threads = processors.saturating_sub(1).max(1);
        let large = MAX_LARGE_BEGUN.max(threads);
        Self {
            organizations: KeyedLock::new(MAX_JOBS),
            with_small: KeyedLock::new(MAX_JOBS),
            with_large: KeyedLock::new(MAX_JOBS),
            // More than large jobs can take, so that small jobs never wait for the end of all of these.
            begun: Arc::new(Semaphore::new(MAX_BEGUN.max(large + threads))),
            large: Arc::new(Semaphore::new(large)),
            threads: Threads::new(threads),
        }
    }
}

impl FairThreads {
    /// Returns other queues of jobs for the same threads. Jobs of one organization that are in different queues do not wait
    /// for each other's end.
    pub(crate) fn beside(&self) -> Self {
        Self { threads: Arc::clone(&self.threads), ..Self::default() }
    }

    /// Returns the number of jobs, of all queues of the same threads, that wait for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.threads.waiting()
    }

    /// Runs a job and waits for it. A job that has begun runs to its end, even if its caller stops waiting.
    ///
    /// # Errors
    /// The errors of [`NotRun`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        self.run_of_size(organization, false, job).await
    }

    /// Runs a job like [`run`](Self::run). Few jobs that take much memory are in progress at the same time; the others do
    /// not wait for them.
    ///
    /// The turn is awaited by a task of its own: a caller that does not poll this future for a while would otherwise
    /// keep the turn from all that wait behind it.
    ///
    /// # Errors
    /// The errors of [`NotRun`].
    pub(crate) async fn run_of_size<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        is_large: bool,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let Ok(runtime) = Handle::try_current() else { return Ok(job()) };
        let done = self.run_erased(&runtime, organization, is_large, erase(job)).await?;
        result_of(done).ok_or(NotRun::ShutDown)
    }

    async fn run_erased(
        &self,
        runtime: &Handle,
        organization: OrganizationId,
        is_large: bool,
        job: ErasedJob,
    ) -> Result<ErasedResult, NotRun> {
        let threads = self.clone();
        let task = runtime.spawn(async move {
            let turn = threads.turn(organization, is_large).await?;
            Ok(Handle::current().spawn_blocking(move || turn.run(job)).await)
        });
        match AbortOnDrop(task).await?? {
            Ok(done) => Ok(done),
            Err(error) => Err(rethrow(error)),
        }
    }

    /// Runs a job if it can begin at once. Waits for the job only where there is no runtime.
    pub(crate) fn run_if_idle(&self, organization: OrganizationId, job: impl FnOnce() + Send + 'static) {
        let Some(turn) = self.try_turn(organization) else { return };
        match Handle::try_current() {
            Ok(runtime) => {
                let job = erase(job);
                drop(runtime.spawn_blocking(move || turn.run(job)));
            }
            Err(_) => job(),
        }
    }

    async fn turn(&self, organization: OrganizationId, is_large: bool) -> Result<Turn, NotRun> {
        let permit =
            async |of: &Arc<Semaphore>| Arc::clone(of).acquire_owned().await.map_err(|_| NotRun::ShutDown);
        let in_progress = if is_large { &self.with_large } else { &self.with_small };
        let in_progress = in_progress.lock(organization).await.ok_or(NotRun::Busy)?;
        // Before the other one, so that a job that waits for it keeps no small job waiting.
        let large = if is_large { Some(permit(&self.large).await?) } else { None };
        let begun = Begun { _in_progress: in_progress, _permit: permit(&self.begun).await?, large };
        Ok(self.granted(organization, begun))
    }

    fn try_turn(&self, organization: OrganizationId) -> Option<Turn> {
        let in_progress = self.with_small.try_lock(organization)?;
        let permit = Arc::clone(&self.begun).try_acquire_owned().ok()?;
        let begun = Begun { _in_progress: in_progress, _permit: permit, large: None };
        let is_free = self.with_large.try_lock(organization).is_some();
        (is_free && self.threads.has_free()).then(|| self.granted(organization, begun))
    }

    fn granted(&self, id: OrganizationId, begun: Begun) -> Turn {
        let now = Instant::now();
        Turn {
            id,
            organizations: self.organizations.clone(),
            begun,
            organization: None,
            organization_since: (now, Duration::ZERO),
            thread: None,
            threads: Arc::clone(&self.threads),
            since: now,
        }
    }
}

impl Turn {
    /// Runs a job on this thread.
    fn run<T>(mut self, job: impl FnOnce() -> T) -> T {
        /// Ends the turn, also when the job panics.
        struct End;

        impl Drop for End {
            fn drop(&mut self) {
                let turn = TURN.with_borrow_mut(Option::take);
                drop(turn);
            }
        }

        self.wait();
        TURN.with_borrow_mut(|turn| *turn = Some(self));
        let _end = End;
        job()
    }

    fn yield_if_over(&mut self) {
        let worked = self.since.elapsed();
        if worked < TIME_SLICE && !self.lets_first_work(worked) {
            return;
        }
        let is_overtaken = self.lets_others_of_its_organization_work();
        if !is_overtaken && !self.threads.are_awaited() {
            self.since = Instant::now();
            self.thread.iter_mut().for_each(Thread::begin_usual_turn);
            return;
        }
        self.thread = None;
        if is_overtaken {
            self.organization = None;
        }
        self.wait();
    }

    /// Returns whether the job has worked long enough to let an organization work that has worked little.
    fn lets_first_work(&self, worked: Duration) -> bool {
        let is_usual = self.thread.as_ref().is_some_and(|thread| thread.order() == Precedence::Usual);
        is_usual && worked >= SHORT_SLICE && self.threads.are_awaited_by_first()
    }

    /// Returns whether the job is a large one that has worked as long as it waited for a small one before.
    fn lets_others_of_its_organization_work(&self) -> bool {
        let (since, waited) = self.organization_since;
        self.begun.large.is_some()
            && since.elapsed() >= waited
            && self.organization.as_ref().is_some_and(KeyGuard::is_awaited)
    }

    /// Waits for the job's turn: first among the jobs of its organization, then among all.
    fn wait(&mut self) {
        if let Ok(runtime) = Handle::try_current() {
            if self.organization.is_none() {
                let start = Instant::now();
                self.organization = runtime.block_on(self.organizations.lock(self.id)).asserted();
                self.organization_since = (Instant::now(), start.elapsed());
            }
            self.thread = Some(self.threads.acquire(self.id));
        }
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn small_jobs_of_an_organization_overtake_its_large_one_and_no_second_large_one_begins() {
        let threads = FairThreads::default();
        let id = OrganizationId::from_u128(1);
        let (end, ended) = channel::<()>();
        let (beginning, begun) = channel::<u8>();
        let run = |number: u8, work: Box<dyn FnOnce() + Send>| {
            let (threads, beginning) = (threads.clone(), beginning.clone());
            tokio::spawn(async move {
                let job = move || {
                    beginning.send(number).unwrap();
                    work();
                };
                threads.run_of_size(id, true, job).await
            })
        };
        let wait = move || {
            while ended.recv_timeout(Duration::from_millis(1)).is_err() {
                yield_turn();
            }
        };
        let first = run(1, Box::new(wait));
        while begun.try_recv() != Ok(1) {
            tokio::task::yield_now().await;
        }
        let second = run(2, Box::new(|| ()));
        for number in 0..100 {
            assert_eq!(threads.run(id, move || number).await, Ok(number));
        }
        assert!(!first.is_finished() && begun.try_recv().is_err());
        end.send(()).unwrap();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (Ok(()), Ok(())));
        assert_eq!(begun.try_recv(), Ok(2));
    }

    #[test]
    fn jobs_of_both_sizes_end_on_a_single_blocking_thread() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let threads = FairThreads::default();
            let id = OrganizationId::from_u128(1);
            // The large one waits behind a job of the runtime, and the small one behind it.
            let blocker = tokio::task::spawn_blocking(|| std::thread::park_timeout(Duration::from_millis(5)));
            let large = threads.run_of_size(id, true, || {
                let start = Instant::now();
                while start.elapsed() < 3 * TIME_SLICE {
                    yield_turn();
                }
            });
            let (large, small) = tokio::join!(large, threads.run(id, || ()));
            assert_eq!((large, small, blocker.await.is_ok()), (Ok(()), Ok(()), true));
        });
    }

    #[tokio::test]
    async fn small_job_does_not_wait_for_the_end_of_large_jobs() {
        let threads = FairThreads::default();
        let mut ends = Vec::new();
        let mut jobs = Vec::new();
        // Twice as many as may begin.
        for number in 0..2 * threads.large.available_permits() as u128 {
            let (end, ended) = channel::<()>();
            ends.push(end);
            let threads = threads.clone();
            jobs.push(tokio::spawn(async move {
                let wait = move || {
                    while ended.recv_timeout(Duration::from_millis(1)).is_err() {
                        yield_turn();
                    }
                };
                threads.run_of_size(OrganizationId::from_u128(number), true, wait).await
            }));
        }
        while threads.large.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(threads.run(OrganizationId::new(uuid::Uuid::max()), || 7).await, Ok(7));
        assert!(jobs.iter().all(|job| !job.is_finished()));
        for end in ends {
            // Jobs that have not begun take it later.
            end.send(()).unwrap();
        }
        for job in jobs {
            assert_eq!(job.await.unwrap(), Ok(()));
        }
    }
}
