use std::time::{Duration, Instant};

/// Minimum time between two log lines about the same thing.
const INTERVAL: Duration = Duration::from_secs(60);

/// Counts events of which a line is logged at most once a minute.
#[derive(Debug, Default)]
pub(super) struct Occasional {
    last: Option<Instant>,
    count: u64,
}

impl Occasional {
    /// Counts an event. Returns the number of events since the last line if it is time for the next one.
    pub(super) fn count(&mut self) -> Option<u64> {
        self.count += 1;
        if self.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return None;
        }
        self.last = Some(Instant::now());
        Some(std::mem::take(&mut self.count))
    }
}
