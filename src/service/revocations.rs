//! The end of the long responses of a user whom the host application revokes.
//!
//! Streams and lists that are read while they are sent share a [`Revocable`] for each user. A revocation in this process
//! marks it. If other processes may use the store, a revocation is stored as well, and one task looks for those of others
//! while there are long responses.
//!
//! A request knows the [`RequestStart`] when it began. A user who was revoked since then, while the first chunk of the response was
//! read, is found when the response joins the others of the user.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::inventory::{Error, Inventory, Revocation};
use crate::model::{Timestamp, UserId};
use crate::store::Version;

/// The interval at which the task reads the revocations by other processes. Reading takes less than the rest of a
/// second.
const INTERVAL: Duration = Duration::from_millis(800);

/// The minimum time between two log lines about an unavailable store.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Number of revocations by this process that are remembered. Responses that began before those seem revoked.
const MAX_RECENT: usize = 1024;

/// Number of users from which on those without a long response are forgotten first.
const MAX_FORGOTTEN: usize = 256;

/// The long responses of a user, which end when the user is revoked.
#[derive(Debug, Default)]
pub(super) struct Revocable {
    is_revoked: AtomicBool,
    revoked: Notify,
}

impl Revocable {
    fn revoked_already() -> Self {
        Self { is_revoked: AtomicBool::new(true), revoked: Notify::new() }
    }

    pub(super) fn is_revoked(&self) -> bool {
        self.is_revoked.load(Ordering::SeqCst)
    }

    /// Waits until the user is revoked.
    pub(super) async fn revoked(&self) {
        let mut revoked = pin!(self.revoked.notified());
        // A revocation from here on is noticed.
        revoked.as_mut().enable();
        if !self.is_revoked() {
            revoked.await;
        }
    }

    /// Runs a future until the user is revoked. Returns `None` then.
    pub(super) async fn unless_revoked<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let (mut future, mut revoked) = (pin!(future), pin!(self.revoked()));
        poll_fn(|context| match revoked.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => future.as_mut().poll(context).map(Some),
        })
        .await
    }

    fn revoke(&self) {
        self.is_revoked.store(true, Ordering::SeqCst);
        self.revoked.notify_waiters();
    }
}

/// The users with long responses.
pub(super) struct Revocations {
    inventory: Inventory,
    /// Number of revocations by this process. Changed with `live` locked.
    count: AtomicU64,
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    users: HashMap<UserId, Watched>,
    recent: Recent,
    /// The task, which may have ended with its runtime.
    task: Option<AbortHandle>,
}

/// When a request began.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestStart {
    /// Number of revocations by this process until then.
    revocations: u64,
    /// The monotonic time.
    at: Duration,
}

/// The users whom this process has revoked last, in order.
#[derive(Default)]
struct Recent {
    users: VecDeque<UserId>,
    /// Number of revocations that are no longer remembered.
    forgotten: u64,
}

struct Watched {
    /// The last revocation before the responses began; `None` if no other process could have made one.
    before: Option<Version>,
    responses: Weak<Revocable>,
}

impl Revocations {
    pub(super) fn new(inventory: Inventory) -> Arc<Self> {
        Arc::new(Self { inventory, count: AtomicU64::new(0), live: Mutex::default() })
    }

    /// Returns the present moment for a request that begins at a monotonic time.
    pub(super) fn moment(&self, at: Duration) -> RequestStart {
        RequestStart { revocations: self.count.load(Ordering::SeqCst), at }
    }

    /// Returns the revocation signal of a user's long response, which is about to begin.
    ///
    /// It is set if the user was revoked since the moment when the request began.
    pub(super) async fn watch(
        self: &Arc<Self>,
        user: UserId,
        began: RequestStart,
    ) -> Result<Arc<Revocable>, Error> {
        let is_shared = self.inventory.is_shared();
        let last = if is_shared { self.inventory.revocations(&[user]).await?.pop().flatten() } else { None };
        let mut live = self.lock();
        if live.recent.contains(user, began) || last.is_some_and(|last| last.revoked_at > self.time_of(began))
        {
            return Ok(Arc::new(Revocable::revoked_already()));
        }
        let before = last.map(|last| last.version);
        if let Some(watched) = live.users.get(&user)
            && let Some(present) = watched.responses.upgrade()
        {
            if before <= watched.before {
                return Ok(present);
            }
            // Another process has revoked the user since.
            present.revoke();
        }
        if live.users.len() >= MAX_FORGOTTEN {
            live.forget_ended();
        }
        let responses = Arc::new(Revocable::default());
        live.users.insert(user, Watched { before, responses: Arc::downgrade(&responses) });
        if is_shared
            && live.task.as_ref().is_none_or(AbortHandle::is_finished)
            && let Ok(runtime) = Handle::try_current()
        {
            live.task = Some(runtime.spawn(look(Arc::downgrade(self))).abort_handle());
        }
        Ok(responses)
    }

    /// Ends the long responses of a user, in this process at once, whatever the store does.
    pub(super) async fn revoke(&self, user: UserId) -> Result<(), Error> {
        {
            let mut live = self.lock();
            self.count.store(live.recent.add(user), Ordering::SeqCst);
            if let Some(watched) = live.users.remove(&user) {
                watched.end();
            }
        }
        if self.inventory.is_shared() { self.inventory.put_revocation(user).await } else { Ok(()) }
    }

    /// Returns the time of a moment by the clock that revocations are stored with.
    fn time_of(&self, moment: RequestStart) -> Timestamp {
        let ago = self.inventory.monotonic().saturating_sub(moment.at);
        let micros = i64::try_from(ago.as_micros()).unwrap_or(i64::MAX);
        self.inventory.now().plus_micros(micros.saturating_neg())
    }

    /// Ends the responses of the users whom other processes have revoked. Returns `false` if there are no responses.
    async fn look(&self) -> Result<bool, Error> {
        let (users, before): (Vec<UserId>, Vec<Option<Version>>) = {
            let mut live = self.lock();
            live.forget_ended();
            if live.users.is_empty() {
                live.task = None;
                return Ok(false);
            }
            live.users.iter().map(|(user, watched)| (*user, watched.before)).unzip()
        };
        let present = self.inventory.revocations(&users).await?;
        let mut live = self.lock();
        for ((user, before), present) in users.into_iter().zip(before).zip(present) {
            let present = present.map(|present: Revocation| present.version);
            // Responses that have begun since know of later revocations.
            if present > before
                && live.users.get(&user).is_some_and(|watched| watched.before == before)
                && let Some(watched) = live.users.remove(&user)
            {
                watched.end();
            }
        }
        Ok(true)
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recent {
    /// Adds a user. Returns the number of all revocations.
    fn add(&mut self, user: UserId) -> u64 {
        self.users.push_back(user);
        if self.users.len() > MAX_RECENT {
            self.users.pop_front();
            self.forgotten += 1;
        }
        self.forgotten + self.users.len() as u64
    }

    /// Returns whether a user may have been revoked since a moment.
    fn contains(&self, user: UserId, since: RequestStart) -> bool {
        let Some(known) = since.revocations.checked_sub(self.forgotten) else { return true };
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        self.users.iter().skip(known).any(|revoked| *revoked == user)
    }
}

impl Live {
    fn forget_ended(&mut self) {
        self.users.retain(|_, watched| watched.responses.strong_count() > 0);
    }
}

impl Watched {
    fn end(self) {
        if let Some(responses) = self.responses.upgrade() {
            responses.revoke();
        }
    }
}

impl Drop for Revocations {
    fn drop(&mut self) {
        if let Some(task) = self.lock().task.take() {
            task.abort();
        }
    }
}

async fn look(revocations: Weak<Revocations>) {
    let mut mentioned_at: Option<Instant> = None;
    loop {
        // The strong reference is dropped before the task sleeps.
        sleep(INTERVAL).await;
        let Some(revocations) = revocations.upgrade() else { return };
        match revocations.look().await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) if mentioned_at.is_none_or(|mentioned_at| mentioned_at.elapsed() >= LOG_INTERVAL) => {
                mentioned_at = Some(Instant::now());
                tracing::warn!(error = error.with_causes(), "revocations could not be read");
            }
            Err(_) => {}
        }
    }
}
