use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex as StdMutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use super::login_places::{LoginPlace, LoginPlaces};
use super::{ClientPrefix, SecretDigest};

/// Failures within [`WINDOW`] after which a name is locked out.
const FAILURES: usize = 5;

/// Length of the sliding window in which failures count.
const WINDOW: Duration = Duration::from_secs(15 * 60);

/// Greatest number of names whose failures are stored, at about 200 bytes each.
const CAPACITY: usize = 100_000;

/// Number of turnstiles at which logins under one name take turns. Some names share one.
const TURNSTILES: usize = 64;

/// Bounds the logins under way, counts failed logins by name, and locks out a name that is being guessed at.
///
/// All decisions depend on the client and on the name it sends, never on whether an account with that name exists.
pub(crate) struct LoginAttempts {
    places: LoginPlaces,
    turnstiles: [Mutex<()>; TURNSTILES],
    hasher: RandomState,
    names: StdMutex<Names>,
}

/// The stored form of a name, which itself may be as long as a request.
type Digest = [u8; 16];

#[derive(Debug, Default)]
struct Names {
    /// Monotonic times of the latest failures, oldest first.
    failures: HashMap<Digest, Vec<Duration>>,
    /// The names in the order of their eviction: those that are locked out come last.
    order: BTreeSet<(bool, Duration, Digest)>,
}

/// A login under way, the only one under its name.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    _turnstile: MutexGuard<'a, ()>,
    _place: LoginPlace<'a>,
}

impl LoginAttempts {
    /// Waits until no other login under this name is under way, so that concurrent attempts are counted one by one.
    ///
    /// Returns `None` at once when too many logins are under way, in all or from this client or under this domain.
    pub(crate) async fn turn(&self, client: Option<ClientPrefix>, name: &str) -> Option<Turn<'_>> {
        let place = self.places.take(client, name)?;
        let turnstile = usize::try_from(self.hasher.hash_one(name) % TURNSTILES as u64).ok()?;
        let turnstile = self.turnstiles.get(turnstile)?.lock().await;
        Some(Turn { _turnstile: turnstile, _place: place })
    }

    /// Counts an attempt as failed before its outcome is known, so that hanging up does not gain another attempt. `now` is
    /// a monotonic reading.
    ///
    /// # Errors
    /// The number of seconds until the next attempt, if the name is locked out.
    pub(crate) fn begin(&self, name: &str, now: Duration) -> Result<(), u64> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).begin(digest(name), now)
    }

    /// Removes the failure that [`begin`](Self::begin) counted at this time: the attempt did not fail.
    pub(crate) fn take_back(&self, name: &str, at: Duration) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).take_back(digest(name), at);
    }
}

impl Names {
    fn begin(&mut self, name: Digest, now: Duration) -> Result<(), u64> {
        let mut times = self.remove(name);
        times.retain(|time| end_of_window(*time) > now);
        let oldest = times.first().filter(|_| times.len() >= FAILURES);
        let outcome = match oldest {
            Some(oldest) => Err(seconds_until(end_of_window(*oldest), now)),
            None => {
                times.push(now);
                Ok(())
            }
        };
        if self.failures.len() >= CAPACITY {
            self.forget_one(now);
        }
        self.insert(name, times);
        outcome
    }

    fn take_back(&mut self, name: Digest, at: Duration) {
        let mut times = self.remove(name);
        if let Some(place) = times.iter().rposition(|time| *time == at) {
            times.remove(place);
        }
        self.insert(name, times);
    }

    fn remove(&mut self, name: Digest) -> Vec<Duration> {
        let times = self.failures.remove(&name).unwrap_or_default();
        if let Some(place) = place(&times, name) {
            self.order.remove(&place);
        }
        times
    }

    fn insert(&mut self, name: Digest, times: Vec<Duration>) {
        if let Some(place) = place(&times, name) {
            self.order.insert(place);
            self.failures.insert(name, times);
        }
    }

    /// Evicts a name whose lock-out is over, or else the name whose last failure is the oldest.
    fn forget_one(&mut self, now: Duration) {
        let first_held = self.order.range((true, Duration::ZERO, Digest::default())..).next();
        let over = first_held.filter(|(_, last, _)| end_of_window(*last) <= now);
        if let Some((_, _, name)) = over.or_else(|| self.order.first()) {
            let name = *name;
            self.remove(name);
        }
    }
}

fn digest(name: &str) -> Digest {
    SecretDigest::of(name).lookup()
}

fn place(times: &[Duration], name: Digest) -> Option<(bool, Duration, Digest)> {
    times.last().map(|last| (times.len() >= FAILURES, *last, name))
}

const fn end_of_window(time: Duration) -> Duration {
    time.saturating_add(WINDOW)
}

/// Whole seconds, rounded up, at least one.
const fn seconds_until(end: Duration, now: Duration) -> u64 {
    let rest = end.saturating_sub(now);
    let whole = rest.as_secs() + (rest.subsec_nanos() > 0) as u64;
    if whole == 0 { 1 } else { whole }
}

impl Default for LoginAttempts {
    fn default() -> Self {
        Self {
            places: LoginPlaces::default(),
            turnstiles: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            names: StdMutex::default(),
        }
    }
}

/// Without the names.
impl fmt::Debug for LoginAttempts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LoginAttempts").finish_non_exhaustive()
    }
}
