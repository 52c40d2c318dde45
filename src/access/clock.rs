use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::model::Timestamp;

/// Where the time comes from, for everything that begins, ends or is stamped.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still until it is moved, for tests that never sleep. All clones show the same time.
///
/// ```
/// use std::time::Duration;
///
/// use toposcope::access::{Clock, ManualClock};
///
/// let clock = ManualClock::new("2026-08-14T12:00:00Z".parse()?);
/// let shown_elsewhere = clock.clone();
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(shown_elsewhere.now().to_string(), "2026-08-14T12:01:30Z");
/// # Ok::<(), toposcope::model::TimestampError>(())
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows this time.
    #[must_use]
    pub fn new(time: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(time.unix_micros())))
    }

    /// Shows another time, earlier or later.
    pub fn set(&self, time: Timestamp) {
        self.0.store(time.unix_micros(), Ordering::SeqCst);
    }

    /// Moves forward, by whole microseconds, at most to the end of the year 9999.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        // The closure always gives a time, so there is no refusal to look at.
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |micros| {
            Some(shown(micros).plus_micros(by).unix_micros())
        });
    }
}

fn shown(micros: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.plus_micros(micros)
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        shown(self.0.load(Ordering::SeqCst))
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}
