//! The limits of reading a device, and the part of them that is left.

use std::time::Duration;

use tokio::time::Instant;

use super::pool::{WalkPool, WalkShare};

/// Limits of reading a device. Tables beyond them are truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkLimits {
    /// The number of variables of a table. The default is 100,000.
    pub rows: usize,
    /// The bytes of memory of all tables of a device. The default is 32 MiB.
    pub bytes: usize,
    /// The time that reading a device takes. The default is 30 minutes: reading a device that takes 4 seconds for each answer takes about 10, and more if others are read as well.
    pub time: Duration,
}

impl Default for WalkLimits {
    fn default() -> Self {
        Self { rows: 100_000, bytes: 32 << 20, time: Duration::from_secs(30 * 60) }
    }
}

impl WalkLimits {
    /// Sets the number of variables of a table.
    #[must_use]
    pub const fn with_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// Sets the bytes of memory of all tables of a device.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the time that reading a device takes.
    #[must_use]
    pub const fn with_time(self, time: Duration) -> Self {
        Self { time, ..self }
    }
}

/// The remaining part of the limits while a device is read.
#[derive(Debug)]
pub struct WalkBudget {
    pub(super) rows: usize,
    pub(super) bytes: usize,
    pub(super) ends: Instant,
    /// The memory that the device shares with others.
    share: Option<WalkShare>,
}

impl WalkBudget {
    /// Begins with all that the limits allow. The time begins now.
    #[must_use]
    pub fn new(limits: &WalkLimits) -> Self {
        let WalkLimits { rows, bytes, time } = *limits;
        // A time that no clock reaches counts as a day.
        let now = Instant::now();
        let ends = now.checked_add(time).unwrap_or(now + Duration::from_secs(86_400));
        Self { rows, bytes, ends, share: None }
    }

    /// Shares memory with other devices that are read at the same time, until the budget is dropped.
    pub(in crate::collect) fn sharing(self, pool: &WalkPool) -> Self {
        Self { share: Some(pool.share()), ..self }
    }

    /// Returns the time that is left.
    pub(in crate::collect) fn time_left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    /// Counts memory that the device has taken, and waits while all devices together have too much. The device is not to blame for this
    /// time.
    pub(super) async fn hold(&mut self, bytes: usize) {
        if let Some(share) = &mut self.share {
            let begun = Instant::now();
            share.take(bytes).await;
            self.ends += begun.elapsed();
        }
    }
}
