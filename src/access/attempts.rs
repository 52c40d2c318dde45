use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex as StdMutex, PoisonError};

use tokio::sync::{Mutex, MutexGuard};

use super::SecretDigest;
use crate::model::Timestamp;

/// So many failures within the window, and a name is held up.
const FAILURES: usize = 5;
const WINDOW_MICROS: i64 = 15 * 60 * 1_000_000;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// How many names are remembered at most, of some 80 bytes each. A login takes a password's worth of work, of which only
/// so much is done at once: to push a name out, more logins would be needed than fit into the window.
const CAPACITY: usize = 100_000;

/// Logins under one name take turns. There is a fixed number of turnstiles, so some names share one.
const TURNSTILES: usize = 64;

/// Counts failed logins by the name that was given, and holds up a name that is being guessed at. It knows nothing of who
/// exists: names that nobody has are held up alike.
pub(crate) struct LoginAttempts {
    turnstiles: [Mutex<()>; TURNSTILES],
    hasher: RandomState,
    failures: StdMutex<HashMap<[u8; 16], Failures>>,
}

/// The times of the latest failures, oldest first.
type Failures = Vec<Timestamp>;

impl LoginAttempts {
    /// Waits until no other login under this name is under way, so that many at once are counted like one by one.
    pub(crate) async fn turn(&self, name: &str) -> Option<MutexGuard<'_, ()>> {
        let place = usize::try_from(self.hasher.hash_one(name) % TURNSTILES as u64).unwrap_or_default();
        match self.turnstiles.get(place) {
            Some(turnstile) => Some(turnstile.lock().await),
            None => None,
        }
    }

    /// Counts an attempt as failed, before it is known whether it does, so that nobody gets another one by hanging up.
    ///
    /// # Errors
    /// When there are too many already: in how many seconds the next attempt is possible.
    pub(crate) fn begin(&self, name: &str, now: Timestamp) -> Result<(), u64> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let name = digest(name);
        if failures.len() >= CAPACITY && !failures.contains_key(&name) {
            make_room(&mut failures, now);
        }
        let times = failures.entry(name).or_default();
        forget_old(times, now);
        if times.len() >= FAILURES
            && let Some(oldest) = times.first()
        {
            return Err(seconds_until(oldest.plus_micros(WINDOW_MICROS), now));
        }
        times.push(now);
        Ok(())
    }

    /// Takes back what [`begin`](Self::begin) counted at this time: the attempt did not fail.
    pub(crate) fn take_back(&self, name: &str, at: Timestamp) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let name = digest(name);
        let Some(times) = failures.get_mut(&name) else { return };
        if let Some(place) = times.iter().rposition(|time| *time == at) {
            times.remove(place);
        }
        if times.is_empty() {
            failures.remove(&name);
        }
    }
}

/// A name may be as long as a request, what is kept of it is not.
fn digest(name: &str) -> [u8; 16] {
    SecretDigest::of(name).lookup()
}

/// Forgets failures that the window has left behind. After a clock was set back, none holds anybody up for longer than
/// the window from now.
fn forget_old(times: &mut Failures, now: Timestamp) {
    times.retain(|time| time.plus_micros(WINDOW_MICROS) > now);
    for time in times {
        *time = (*time).min(now);
    }
}

fn make_room(failures: &mut HashMap<[u8; 16], Failures>, now: Timestamp) {
    failures.retain(|_, times| {
        forget_old(times, now);
        !times.is_empty()
    });
    if failures.len() < CAPACITY {
        return;
    }
    let oldest = failures.iter().min_by_key(|(_, times)| times.last().copied()).map(|(name, _)| *name);
    if let Some(name) = oldest {
        failures.remove(&name);
    }
}

/// Whole seconds, rounded up, at least one.
fn seconds_until(end: Timestamp, now: Timestamp) -> u64 {
    let micros = u64::try_from(end.unix_micros() - now.unix_micros()).unwrap_or_default();
    micros.div_ceil(MICROS_PER_SECOND).max(1)
}

impl Default for LoginAttempts {
    fn default() -> Self {
        Self {
            turnstiles: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            failures: StdMutex::default(),
        }
    }
}

/// Without the names.
impl fmt::Debug for LoginAttempts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LoginAttempts").finish_non_exhaustive()
    }
}
