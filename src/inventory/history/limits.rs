//! The limits of the history.

use std::time::Duration;

/// The limits of the history of an organization. The oldest entries are deleted first.
///
/// Security events, such as logins, are counted apart from changes of records, by the same limits: many changes never push
/// them out. The number and the size count entries that are no longer among the newest two thousand commits or so.
///
/// ```
/// use std::time::Duration;
///
/// use toposcope::inventory::HistoryLimits;
/// use toposcope::{Inventory, MemoryStore};
///
/// let mut limits = HistoryLimits::default();
/// limits.max_age = Duration::from_secs(90 * 24 * 60 * 60);
/// let inventory = Inventory::new(MemoryStore::new()).with_history_limits(limits);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryLimits {
    /// The age from which on entries are deleted, about once an hour. Default: 400 days.
    pub max_age: Duration,
    /// Maximum number of entries. Default: a million.
    pub max_entries: u64,
    /// Maximum size of the entries, in bytes of JSON before compression. Default: 4 GiB.
    pub max_bytes: u64,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            max_age: Duration::from_secs(400 * 24 * 60 * 60),
            max_entries: 1_000_000,
            max_bytes: 4 * 1024 * 1024 * 1024,
        }
    }
}
