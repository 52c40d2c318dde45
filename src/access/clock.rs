use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
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
pub struct ManualClock(Arc<ManualTime>);

/// Both times of a [`ManualClock`], in microseconds.
struct ManualTime {
    unix: AtomicI64,
    elapsed: AtomicU64,
}

impl ManualClock {
    /// Creates a clock with this time of day and an elapsed time of zero.
    #[must_use]
    pub fn new(time: Timestamp) -> Self {
        Self(Arc::new(ManualTime { unix: AtomicI64::new(time.unix_micros()), elapsed: AtomicU64::new(0) }))
    }

    /// Sets the time of day, which may go backwards. The elapsed time does not change.
    pub fn set(&self, time: Timestamp) {
        self.0.unix.store(time.unix_micros(), Ordering::SeqCst);
    }

    /// Advances both times by whole microseconds.
    ///
    /// The time of day stops at the end of the year 9999, the elapsed time at 2^64 microseconds.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        // Both closures always return a value, so neither update can fail.
        let _ = self
            .0
            .elapsed
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |elapsed| Some(elapsed.saturating_add(micros)));
        let micros = i64::try_from(micros).unwrap_or(i64::MAX);
        let _ = self.0.unix.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |unix| {
            Some(timestamp(unix).plus_micros(micros).unix_micros())
        });
    }
}

fn timestamp(unix_micros: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.plus_micros(unix_micros)
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        timestamp(self.0.unix.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.elapsed.load(Ordering::SeqCst))
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}
