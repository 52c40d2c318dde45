use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::model::Timestamp;

/// The source of the time of day and of elapsed time.
///
/// The time of day can jump, when an administrator sets it or a time server corrects it. Elapsed time never jumps.
/// Records are stamped and expire by the time of day; rate limits and lock-outs use elapsed time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time of day.
    fn now(&self) -> Timestamp;

    /// Returns the time elapsed since an arbitrary, fixed start. It never decreases.
    fn monotonic(&self) -> Duration;
}

/// The start of [`SystemClock`]'s elapsed time: the first call in this process.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn monotonic(&self) -> Duration {
        START.elapsed()
    }
}

/// A clock for tests, which changes only by calls to its methods. All clones share one time.
///
/// [`advance`](Self::advance) lets time pass; [`set`](Self::set) changes the time of day without letting time pass.
///
/// ```
/// use std::time::Duration;
///
/// use toposcope::access::{Clock, ManualClock};
///
/// let clock = ManualClock::new("2026-08-14T12:00:00Z".parse()?);
/// let clone = clock.clone();
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(clone.now().to_string(), "2026-08-14T12:01:30Z");
/// clock.set("2026-08-14T11:00:00Z".parse()?);
/// assert_eq!(clone.monotonic(), Duration::from_secs(90));
/// # Ok::<(), toposcope::model::TimestampError>(())
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<Mutex<ManualTime>>);

struct ManualTime {
    now: Timestamp,
    elapsed_micros: u64,
}

impl ManualClock {
    /// Creates a clock with this time of day and an elapsed time of zero.
    #[must_use]
    pub fn new(time: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(ManualTime { now: time, elapsed_micros: 0 })))
    }

    /// Sets the time of day, which may go backwards. The elapsed time does not change.
    pub fn set(&self, time: Timestamp) {
        self.lock().now = time;
    }

    /// Advances both times by whole microseconds.
    ///
    /// The time of day stops at the end of the year 9999, the elapsed time at 2^64 microseconds.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        let mut time = self.lock();
        time.elapsed_micros = time.elapsed_micros.saturating_add(micros);
        time.now = time.now.plus_micros(i64::try_from(micros).unwrap_or(i64::MAX));
    }

    fn lock(&self) -> MutexGuard<'_, ManualTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.lock().elapsed_micros)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}
