//! Aborts the bodies whose clients have stalled.
//!
//! One task looks at all bodies that hold budget, so that a body costs no task of its own. The task begins with the first
//! of them, holds only weak references, and ends once it finds none.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use super::held::SharedBody;
use crate::invariant::Invariant;

/// Minimum and maximum number of sweeps of the bodies in the time that a client may stall.
///
/// The first bounds the delay after which a stalled client is noticed. The second bounds the work for many bodies that
/// stall one after another.
const SWEEPS_PER_TIMEOUT: (u32, u32) = (8, 64);

/// Maximum time between two sweeps.
const MAX_DELAY: Duration = Duration::from_secs(60 * 60);

/// The bodies that hold budget.
pub(in crate::service) struct Sweeper {
    /// How long a client may read nothing; `None`: for ever.
    stall_timeout: Option<Duration>,
    bodies: Mutex<Bodies>,
}

#[derive(Default)]
struct Bodies {
    /// `None` is a free place.
    places: Vec<Option<Weak<SharedBody>>>,
    free: Vec<usize>,
    /// The task, which may have ended with its runtime.
    task: Option<AbortHandle>,
}

impl Bodies {
    fn is_empty(&self) -> bool {
        self.places.len() == self.free.len()
    }

    /// Adds a body, and returns its place.
    fn add(&mut self, body: Weak<SharedBody>) -> usize {
        if let Some(place) = self.free.pop()
            && let Some(free) = self.places.get_mut(place)
        {
            *free = Some(body);
            return place;
        }
        self.places.push(Some(body));
        self.places.len() - 1
    }

    fn remove(&mut self, place: usize) {
        if self.places.get_mut(place).and_then(Option::take).asserted().is_some() {
            self.free.push(place);
        }
    }
}

/// The place of a body in the sweeper.
pub(super) struct Registration {
    sweeper: Arc<Sweeper>,
    place: usize,
    is_list: bool,
}

impl Sweeper {
    pub(in crate::service) fn new(stall_timeout: Option<Duration>) -> Arc<Self> {
        Arc::new(Self { stall_timeout, bodies: Mutex::default() })
    }

    /// Registers a body, which is aborted if its client stalls. Returns `None` without a time limit.
    ///
    /// Without a tokio runtime, the sweeps begin with the first body that is registered in one.
    pub(super) fn register(self: &Arc<Self>, body: &Arc<SharedBody>, is_list: bool) -> Option<Registration> {
        let stall_timeout = self.stall_timeout?;
        let mut bodies = self.lock();
        let place = bodies.add(Arc::downgrade(body));
        if bodies.task.as_ref().is_none_or(AbortHandle::is_finished)
            && let Ok(runtime) = Handle::try_current()
        {
            let now = Instant::now();
            let first = now + delay(stall_timeout, stall_timeout);
            bodies.task = Some(runtime.spawn(sweep_at(Arc::downgrade(self), first)).abort_handle());
            drop(bodies);
            body.begin_time(now);
        }
        Some(Registration { sweeper: Arc::clone(self), place, is_list })
    }

    /// Aborts the bodies of stalled clients. Returns the time of the next sweep, or `None` without bodies.
    fn sweep(&self, stall_timeout: Duration) -> Option<Instant> {
        let mut bodies = self.lock();
        if bodies.is_empty() {
            bodies.task = None;
            return None;
        }
        // Requests do not wait for the lock during the sweep.
        let present: Vec<_> = bodies.places.iter().flatten().cloned().collect();
        drop(bodies);
        let now = Instant::now();
        let stalls = present.iter().filter_map(|body| body.upgrade()?.sweep(now, stall_timeout));
        Some(now + delay(stall_timeout, stalls.min().unwrap_or(stall_timeout)))
    }

    fn lock(&self) -> MutexGuard<'_, Bodies> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time until the next sweep, if the next client will have stalled after `soonest`.
fn delay(stall_timeout: Duration, soonest: Duration) -> Duration {
    let (at_least, at_most) = SWEEPS_PER_TIMEOUT;
    soonest.clamp(stall_timeout / at_most, stall_timeout / at_least).min(MAX_DELAY)
}

async fn sweep_at(sweeper: Weak<Sweeper>, first: Instant) {
    let mut time = first;
    loop {
        // The strong reference is dropped before the task sleeps.
        sleep_until(time).await;
        let next = sweeper.upgrade().and_then(|sweeper| sweeper.sweep(sweeper.stall_timeout?));
        let Some(next) = next else { return };
        time = next;
    }
}

impl Registration {
    /// Ends the registration of a body that is dropped.
    ///
    /// With the last list, the task ends at once. With a body in memory, it ends at its next sweep: there are many of
    /// these, and each would need a task of its own.
    pub(super) fn end(self) {
        let mut bodies = self.sweeper.lock();
        bodies.remove(self.place);
        if self.is_list && bodies.is_empty() {
            let task = bodies.task.take();
            drop(bodies);
            if let Some(task) = task {
                task.abort();
            }
        }
    }
}
