//! Background work: following the log between reads, and trimming it.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::error::{store_error, undecodable};
use super::shared::Shared;
use super::sql;
use super::value::SqlValue;
use crate::store::StoreError;

/// Time between two runs.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time between two positions that are remembered with their time.
const MARK_INTERVAL: Duration = Duration::from_secs(10);

/// Number of entries that one statement deletes, and of statements in one run.
const TRIM_LIMITS: (i64, usize) = (5_000, 10);

/// State of the background task.
#[derive(Debug, Default)]
struct Maintenance {
    /// Positions of the log and when they were reached, oldest first.
    marks: VecDeque<(Instant, i64)>,
    /// No entry before this position is left.
    oldest: Option<i64>,
    /// Whether a warning about the length of the log was written.
    has_warned: bool,
}

/// Runs until the store is dropped.
pub(super) async fn run(shared: Weak<Shared>) {
    let mut maintenance = Maintenance::default();
    loop {
        sleep(INTERVAL).await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = maintenance.run(&shared).await {
            tracing::debug!("the log of the database cannot be maintained: {error}");
        }
    }
}

impl Maintenance {
    async fn run(&mut self, shared: &Arc<Shared>) -> Result<(), StoreError> {
        shared.pool.close_replaced();
        let position = shared.probe().await?.number;
        let options = &shared.pool.connector.options;
        let expired = self.mark(position, options.log_age);
        let entries = i64::try_from(options.log_entries).unwrap_or(i64::MAX);
        // The last entry always stays: the next one refers to it.
        let keep_from = expired.max(position.saturating_sub(entries)).min(position);
        let mut oldest = match self.oldest {
            Some(oldest) => oldest,
            None => oldest_position(shared).await?,
        };
        for _ in 0..TRIM_LIMITS.1 {
            if oldest >= keep_from {
                break;
            }
            let until = keep_from.min(oldest + TRIM_LIMITS.0);
            let values = vec![SqlValue::Number(oldest), SqlValue::Number(until)];
            shared.pool.query(sql::TRIM, values).await?.map_err(|error| store_error(&error))?;
            oldest = until;
        }
        self.oldest = Some(oldest);
        let length = position - oldest;
        shared.counts.log_entries.store(length.cast_unsigned(), Ordering::Relaxed);
        self.warn_if_long(length, entries);
        Ok(())
    }

    /// Remembers when a position was reached. Returns the newest position that is older than `age`, or 0 if there is
    /// none.
    fn mark(&mut self, position: i64, age: Duration) -> i64 {
        let now = Instant::now();
        if self.marks.back().is_none_or(|(at, _)| now.duration_since(*at) >= MARK_INTERVAL) {
            self.marks.push_back((now, position));
        }
        let is_old = |(at, _): &(Instant, i64)| now.duration_since(*at) >= age;
        while self.marks.get(1).is_some_and(is_old) {
            self.marks.pop_front();
        }
        self.marks.front().filter(|mark| is_old(mark)).map_or(0, |(_, position)| *position)
    }

    fn warn_if_long(&mut self, length: i64, entries: i64) {
        let is_long = length > entries.saturating_mul(2);
        if is_long && !self.has_warned {
            tracing::warn!(
                "the log of the database grows faster than it is trimmed: it has {length} entries"
            );
        }
        self.has_warned = is_long;
    }
}

async fn oldest_position(shared: &Arc<Shared>) -> Result<i64, StoreError> {
    let rows = shared.pool.query(sql::OLDEST, Vec::new()).await?.map_err(|error| store_error(&error))?;
    rows.first().map_or(Ok(0), |row| row.try_get(0).map_err(|_| undecodable()))
}
