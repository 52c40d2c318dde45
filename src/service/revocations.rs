//! The end of the long responses of a user whom the host application revokes.
//!
//! Streams and lists that are read while they are sent share a [`Revocable`] for each user. A revocation in this process
//! marks it. If other processes may use the store, a revocation is stored as well, and one task looks for those of others
//! while there are long responses.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::inventory::{Error, Inventory};
use crate::model::UserId;
use crate::store::Version;

/// The interval at which revocations by other processes are looked for. A look takes less than the rest of a second.
const INTERVAL: Duration = Duration::from_millis(800);

/// Number of users from which on those without a long response are forgotten first.
const MAX_FORGOTTEN: usize = 256;

/// The long responses of a user, which end when the user is revoked.
#[derive(Debug, Default)]
pub(super) struct Revocable {
    is_revoked: AtomicBool,
    revoked: Notify,
}

impl Revocable {
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
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    users: HashMap<UserId, Watched>,
    /// The task, which may have ended with its runtime.
    task: Option<AbortHandle>,
}

struct Watched {
    /// The last revocation before the responses began; `None` if no other process could have made one.
    before: Option<Version>,
    responses: Weak<Revocable>,
}

impl Revocations {
    pub(super) fn new(inventory: Inventory) -> Arc<Self> {
        Arc::new(Self { inventory, live: Mutex::default() })
    }

    /// Returns what tells a long response of a user, which is about to begin, that the user is revoked.
    pub(super) async fn watch(self: &Arc<Self>, user: UserId) -> Result<Arc<Revocable>, Error> {
        let is_shared = self.inventory.is_shared();
        let before =
            if is_shared { self.inventory.revocations(&[user]).await?.pop().flatten() } else { None };
        let mut live = self.lock();
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

    /// Ends the long responses of a user, in this process at once.
    pub(super) async fn revoke(&self, user: UserId) -> Result<(), Error> {
        let is_shared = self.inventory.is_shared();
        let stored = if is_shared { self.inventory.put_revocation(user).await } else { Ok(()) };
        // Also if the store fails.
        if let Some(watched) = self.lock().users.remove(&user) {
            watched.end();
        }
        stored
    }

    /// Ends the responses of the users whom other processes have revoked. Returns `false` if there are no responses.
    async fn look(&self) -> bool {
        let (users, before): (Vec<UserId>, Vec<Option<Version>>) = {
            let mut live = self.lock();
            live.forget_ended();
            if live.users.is_empty() {
                live.task = None;
                return false;
            }
            live.users.iter().map(|(user, watched)| (*user, watched.before)).unzip()
        };
        let present = match self.inventory.revocations(&users).await {
            Ok(present) => present,
            Err(error) => {
                tracing::warn!(error = error.with_causes(), "revocations could not be read");
                return true;
            }
        };
        let mut live = self.lock();
        for ((user, before), present) in users.into_iter().zip(before).zip(present) {
            // Responses that have begun since know of later revocations.
            if present > before
                && live.users.get(&user).is_some_and(|watched| watched.before == before)
                && let Some(watched) = live.users.remove(&user)
            {
                watched.end();
            }
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
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
    loop {
        // The strong reference is dropped before the task sleeps.
        sleep(INTERVAL).await;
        let Some(revocations) = revocations.upgrade() else { return };
        if !revocations.look().await {
            return;
        }
    }
}
