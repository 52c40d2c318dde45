use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::error::ApiError;
use crate::access::Clock;
use crate::wire::ErrorCode;

/// Minimum time between two log lines for one error code.
const INTERVAL: Duration = Duration::from_secs(60);

/// Logs and counts refused requests: at most one line a minute per error code.
///
/// One line per refusal would let any client fill the log. Each line has the number of refusals since the previous
/// line; counts not yet logged are logged when the service is dropped. Memory is bounded by the number of error
/// codes.
pub(super) struct RefusalLog {
    clock: Arc<dyn Clock>,
    counters: Mutex<Vec<Counter>>,
}

struct Counter {
    code: ErrorCode,
    /// Number of refusals since the last line.
    count: u64,
    /// Monotonic time of the last line.
    logged_at: Duration,
}

impl RefusalLog {
    pub(super) const fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, counters: Mutex::new(Vec::new()) }
    }

    /// Counts a refusal, and logs the count at most once a minute per code.
    pub(super) fn count(&self, error: &ApiError) {
        if let Some(count) = self.count_at(error.code, self.clock.monotonic()) {
            log(error.code, count, &error.message);
        }
    }

    /// Counts a refusal and returns the number of refusals to log now, if any.
    fn count_at(&self, code: ErrorCode, now: Duration) -> Option<u64> {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(counter) = counters.iter_mut().find(|counter| counter.code == code) else {
            counters.push(Counter { code, count: 0, logged_at: now });
            return Some(1);
        };
        counter.count = counter.count.saturating_add(1);
        if now.saturating_sub(counter.logged_at) < INTERVAL {
            return None;
        }
        counter.logged_at = now;
        Some(std::mem::take(&mut counter.count))
    }
}

impl Drop for RefusalLog {
    fn drop(&mut self) {
        let counters = self.counters.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Counter { code, count, .. } in counters.iter().filter(|counter| counter.count > 0) {
            log(*code, *count, "the service is shutting down");
        }
    }
}

impl fmt::Debug for RefusalLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RefusalLog").finish_non_exhaustive()
    }
}

fn log(code: ErrorCode, count: u64, latest: &str) {
    tracing::warn!(
        code = code.as_str(),
        count,
        "requests were refused since the previous line; latest: {latest}"
    );
}
