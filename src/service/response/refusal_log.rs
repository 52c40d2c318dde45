//! The log of requests that were refused, or failed because the store was unavailable.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;

use crate::access::Clock;
use crate::wire::ErrorCode;

/// Returns whether an error that is not a server failure protects the server from overload.
pub(super) const fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// Minimum time between two log lines for one error code.
const INTERVAL: Duration = Duration::from_secs(60);

/// Counts refused requests, and requests that failed because the store was unavailable. It logs at most one line a
/// minute for each error code.
///
/// One line per refusal would let any client fill the log. Each line has the number of refusals since the previous
/// line; counts not yet logged are logged when the service is dropped. Memory is bounded by the number of error
/// codes.
pub(super) struct RefusalLog {
    clock: Arc<dyn Clock>,
    counters: Mutex<Vec<CodeCounter>>,
}

struct CodeCounter {
    code: ErrorCode,
    /// Whether the requests failed, rather than being refused by design.
    is_outage: bool,
    /// Number of requests since the last line.
    count: u64,
    /// Monotonic time of the last line.
    logged_at: Duration,
}

impl RefusalLog {
    pub(super) const fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, counters: Mutex::new(Vec::new()) }
    }

    /// Counts a request and returns the number of requests to log now, if any.
    pub(super) fn count(&self, code: ErrorCode, is_outage: bool) -> Option<u64> {
        let now = self.clock.monotonic();
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |counter: &&mut CodeCounter| (counter.code, counter.is_outage) == (code, is_outage);
        let Some(counter) = counters.iter_mut().find(is_same) else {
            counters.push(CodeCounter { code, is_outage, count: 0, logged_at: now });
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
        for CodeCounter { code, is_outage, count, .. } in counters.iter().filter(|counter| counter.count > 0)
        {
            let cause = "the service is shutting down";
            if *is_outage { log_outage(*count, cause) } else { log_refusals(*code, *count, cause) }
        }
    }
}

pub(super) fn log_outage(count: u64, latest: &str) {
    let code = ErrorCode::StoreUnavailable.as_str();
    tracing::error!(code, count, "requests failed since the previous line; latest: {latest}");
}

pub(super) fn log_refusals(code: ErrorCode, count: u64, latest: &str) {
    tracing::warn!(
        code = code.as_str(),
        count,
        "requests were refused since the previous line; latest: {latest}"
    );
}
