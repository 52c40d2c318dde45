use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex as StdMutex, PoisonError};

use tokio::sync::{Mutex, MutexGuard};

use super::SecretDigest;
use crate::model::Timestamp;

/// So many failures within the window, and a name is held up.
const FAILURES: usize = 5;
const WINDOW_MICROS: i64 = 15 * 60 * 1_000_000;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// How many names are remembered at most, of some 200 bytes each.
const CAPACITY: usize = 100_000;

/// How many logins are under way at once at most, those that wait for their turn included.
const UNDER_WAY: usize = 256;

/// Logins under one name take turns. There is a fixed number of turnstiles, so some names share one.
const TURNSTILES: usize = 64;

/// Counts failed logins by the name that was given, and holds up a name that is being guessed at. It knows nothing of who
/// exists: names that nobody has are held up alike.
pub(crate) struct LoginAttempts {
    under_way: AtomicUsize,
    turnstiles: [Mutex<()>; TURNSTILES],
    hasher: RandomState,
    names: StdMutex<Names>,
}

/// What is kept of a name, which may be as long as a request.
type Digest = [u8; 16];

#[derive(Debug, Default)]
struct Names {
    /// The times of the latest failures, oldest first.
    failures: HashMap<Digest, Vec<Timestamp>>,
    /// In the order in which they are forgotten when there are too many: those that are held up last.
    order: BTreeSet<(bool, Timestamp, Digest)>,
}

/// A login under way: no other one under its name is.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    under_way: &'a AtomicUsize,
    _turnstile: Option<MutexGuard<'a, ()>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

impl LoginAttempts {
    /// Waits until no other login under this name is under way, so that many at once are counted like one by one. `None`
    /// when too many are waiting already.
    pub(crate) async fn turn(&self, name: &str) -> Option<Turn<'_>> {
        let others = self.under_way.fetch_add(1, Ordering::Relaxed);
        let mut turn = Turn { under_way: &self.under_way, _turnstile: None };
        if others >= UNDER_WAY {
            return None;
        }
        let place = usize::try_from(self.hasher.hash_one(name) % TURNSTILES as u64).ok()?;
        turn._turnstile = Some(self.turnstiles.get(place)?.lock().await);
        Some(turn)
    }

    /// Counts an attempt as failed, before it is known whether it does, so that nobody gets another one by hanging up.
    ///
    /// # Errors
    /// When there are too many already: in how many seconds the next attempt is possible.
    pub(crate) fn begin(&self, name: &str, now: Timestamp) -> Result<(), u64> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).begin(digest(name), now)
    }

    /// Takes back what [`begin`](Self::begin) counted at this time: the attempt did not fail.
    pub(crate) fn take_back(&self, name: &str, at: Timestamp) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).take_back(digest(name), at);
    }
}

impl Names {
    fn begin(&mut self, name: Digest, now: Timestamp) -> Result<(), u64> {
        let mut times = self.remove(name);
        // After a clock was set back, nothing holds a name up for longer than the window from now.
        times.retain(|time| time.plus_micros(WINDOW_MICROS) > now);
        for time in &mut times {
            *time = (*time).min(now);
        }
        let held_until = times.first().filter(|_| times.len() >= FAILURES);
        let outcome = match held_until.map(|oldest| oldest.plus_micros(WINDOW_MICROS)) {
            Some(end) => Err(seconds_until(end, now)),
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

    fn take_back(&mut self, name: Digest, at: Timestamp) {
        let mut times = self.remove(name);
        if let Some(place) = times.iter().rposition(|time| *time == at) {
            times.remove(place);
        }
        self.insert(name, times);
    }

    fn remove(&mut self, name: Digest) -> Vec<Timestamp> {
        let times = self.failures.remove(&name).unwrap_or_default();
        if let Some(place) = place(&times, name) {
            self.order.remove(&place);
        }
        times
    }

    fn insert(&mut self, name: Digest, times: Vec<Timestamp>) {
        if let Some(place) = place(&times, name) {
            self.order.insert(place);
            self.failures.insert(name, times);
        }
    }

    /// Forgets the name that is held up and need not be any more, or else the one whose last failure is the oldest.
    fn forget_one(&mut self, now: Timestamp) {
        let first_held = self.order.range((true, Timestamp::MIN, Digest::default())..).next();
        let over = first_held.filter(|(_, last, _)| last.plus_micros(WINDOW_MICROS) <= now);
        if let Some((_, _, name)) = over.or_else(|| self.order.first()) {
            let name = *name;
            self.remove(name);
        }
    }
}

fn digest(name: &str) -> Digest {
    SecretDigest::of(name).lookup()
}

fn place(times: &[Timestamp], name: Digest) -> Option<(bool, Timestamp, Digest)> {
    times.last().map(|last| (times.len() >= FAILURES, *last, name))
}

/// Whole seconds, rounded up, at least one.
fn seconds_until(end: Timestamp, now: Timestamp) -> u64 {
    let micros = u64::try_from(end.unix_micros() - now.unix_micros()).unwrap_or_default();
    micros.div_ceil(MICROS_PER_SECOND).max(1)
}

impl Default for LoginAttempts {
    fn default() -> Self {
        Self {
            under_way: AtomicUsize::new(0),
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
