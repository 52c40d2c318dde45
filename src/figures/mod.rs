//! Figures for monitoring: counts, latencies and the use of caches and limits.
//!
//! [`Api::figures`](crate::Api::figures) and [`Inventory::figures`](crate::Inventory::figures) return plain structs, which
//! [`to_openmetrics`](crate::service::ApiFigures::to_openmetrics) writes as text that Prometheus reads. Taking them costs
//! neither a store call nor a lock that requests wait for noticeably. No label is chosen by a client: routes, caches and
//! limits are fixed lists, so the number of lines is bounded.
//!
//! Counters begin at zero when the `Api` or the `Inventory` is created, and are those of this process alone.

mod counters;
mod openmetrics;

use std::time::Duration;

pub use self::counters::Latencies;
pub(crate) use self::counters::{CacheCounters, Counter, Histogram};
pub(crate) use self::openmetrics::{MetricKind, OpenMetrics};

/// The `Content-Type` of the text that the `to_openmetrics` methods write.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The use of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheFigures {
    /// The name of the cache.
    pub name: &'static str,
    /// Number of look-ups that found a value.
    pub hits: u64,
    /// Number of look-ups that found none.
    pub misses: u64,
    /// Number of entries now.
    pub entries: u64,
}

impl CacheFigures {
    pub(crate) fn new(name: &'static str, counters: &CacheCounters, entries: usize) -> Self {
        Self { name, hits: counters.hits.get(), misses: counters.misses.get(), entries: entries as u64 }
    }
}

/// Writes the families of all caches.
pub(crate) fn write_caches<'f>(
    text: &mut OpenMetrics,
    caches: &(impl Iterator<Item = &'f CacheFigures> + Clone),
) {
    type Value = fn(&CacheFigures) -> u64;
    let families: [(&str, MetricKind, &str, Value); 3] = [
        ("toposcope_cache_hits", MetricKind::Counter, "Look-ups in a cache that found a value.", |cache| {
            cache.hits
        }),
        ("toposcope_cache_misses", MetricKind::Counter, "Look-ups in a cache that found none.", |cache| {
            cache.misses
        }),
        ("toposcope_cache_entries", MetricKind::Gauge, "Entries of a cache.", |cache| cache.entries),
    ];
    for (name, kind, help, value) in families {
        let mut family = text.family(name, kind, help);
        for cache in caches.clone() {
            family.value(&[("cache", cache.name)], value(cache));
        }
    }
}

/// Returns a duration as whole nanoseconds.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
