//! Counters that many threads increment at once.
//!
//! They are plain atomics without order: each number is exact, but numbers that are read together may belong to slightly
//! different moments.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::nanos;

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// Increments the number and returns the former one.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Hits and misses of a cache.
#[derive(Debug, Default)]
pub(crate) struct CacheCounters {
    pub(crate) hits: Counter,
    pub(crate) misses: Counter,
}

impl CacheCounters {
    /// Counts a look-up.
    pub(crate) fn count(&self, is_hit: bool) {
        if is_hit { self.hits.increment() } else { self.misses.increment() }
    }
}

/// The latencies of one kind of operation, counted by their length.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latencies {
    /// Numbers of operations by duration. Each element counts the operations that took at most the bound at its place
    /// in [`BOUNDS`](Self::BOUNDS) and longer than the bound before it, and the last element those that took longer
    /// than all bounds.
    pub counts: Vec<u64>,
    /// The time that all operations took together.
    pub sum: Duration,
}

impl Latencies {
    /// The bounds by which latencies are counted, in ascending order.
    pub const BOUNDS: &[Duration] = &BOUNDS;

    /// Returns the number of operations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

const BOUNDS: [Duration; 11] = [
    Duration::from_micros(100),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(10),
];

/// Counts latencies.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    counts: [AtomicU64; BOUNDS.len() + 1],
    sum_nanos: AtomicU64,
}

impl Histogram {
    pub(crate) fn record(&self, latency: Duration) {
        let place = BOUNDS.iter().position(|bound| latency <= *bound).unwrap_or(BOUNDS.len());
        if let Some(count) = self.counts.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_nanos.fetch_add(nanos(latency), Ordering::Relaxed);
    }

    pub(crate) fn latencies(&self) -> Latencies {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        Latencies { counts, sum: Duration::from_nanos(self.sum_nanos.load(Ordering::Relaxed)) }
    }
}
