//! Counts failed logins within a sliding window, and locks out clients and names with too many.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Maximum number of names in one table whose failures are stored, at about 200 bytes each by default.
const MAX_NAMES: usize = 100_000;

/// The stored form of a name. The name itself may be as long as a request body.
pub(super) type NameDigest = [u8; 16];

/// Failures by client and name, by site and name, and by name.
#[derive(Debug)]
pub(super) struct Failures {
    tables: [Table; 3],
}

/// The failures of names, and how many of them lock a name out.
#[derive(Debug)]
struct Table {
    max: usize,
    window: Duration,
    /// Monotonic times of the latest failures, oldest first.
    failures: HashMap<NameDigest, Vec<Duration>>,
    /// The names in eviction order.
    eviction_order: BTreeSet<EvictionKey>,
}

/// Whether the name is locked out, the time of its latest failure, and the name. Locked-out names are evicted last.
type EvictionKey = (bool, Duration, NameDigest);

impl Failures {
    pub(super) fn new(window: Duration, max: [usize; 3]) -> Self {
        let table = |max| Table { max, window, failures: HashMap::new(), eviction_order: BTreeSet::new() };
        Self { tables: max.map(table) }
    }

    /// Counts a failure under all names, unless one of them is locked out.
    ///
    /// # Errors
    /// The number of seconds until none of the names is locked out.
    pub(super) fn begin(&mut self, names: &[Option<NameDigest>; 3], now: Duration) -> Result<(), u64> {
        let ends =
            self.tables.iter().zip(names).filter_map(|(table, name)| table.end_of_lock(&(*name)?, now));
        if let Some(end) = ends.max() {
            return Err(seconds_until(end, now));
        }
        for (table, name) in self.tables.iter_mut().zip(names) {
            if let Some(name) = name {
                table.count(*name, now);
            }
        }
        Ok(())
    }

    /// Removes the failure of this time under all names.
    pub(super) fn take_back(&mut self, names: &[Option<NameDigest>; 3], at: Duration) {
        for (table, name) in self.tables.iter_mut().zip(names) {
            if let Some(name) = name {
                table.take_back(*name, at);
            }
        }
    }
}

impl Table {
    /// Returns when a name is no longer locked out; `None` if it is not.
    fn end_of_lock(&self, name: &NameDigest, now: Duration) -> Option<Duration> {
        let times = self.failures.get(name)?;
        let current = times.iter().filter(|time| self.end_of_window(**time) > now);
        // As many as lock a name out, counted from the latest one.
        let oldest = current.rev().nth(self.max.checked_sub(1)?)?;
        Some(self.end_of_window(*oldest))
    }

    fn count(&mut self, name: NameDigest, now: Duration) {
        let mut times = self.remove(name);
        times.retain(|time| self.end_of_window(*time) > now);
        times.push(now);
        if self.failures.len() >= MAX_NAMES {
            self.evict_one(now);
        }
        self.insert(name, times);
    }

    fn take_back(&mut self, name: NameDigest, at: Duration) {
        let mut times = self.remove(name);
        if let Some(index) = times.iter().rposition(|time| *time == at) {
            times.remove(index);
        }
        self.insert(name, times);
    }

    fn remove(&mut self, name: NameDigest) -> Vec<Duration> {
        let times = self.failures.remove(&name).unwrap_or_default();
        if let Some(key) = self.eviction_key(&times, name) {
            self.eviction_order.remove(&key);
        }
        times
    }

    fn insert(&mut self, name: NameDigest, times: Vec<Duration>) {
        if let Some(key) = self.eviction_key(&times, name) {
            self.eviction_order.insert(key);
            self.failures.insert(name, times);
        }
    }

    /// Evicts a name whose lock-out has ended, or else the first name in eviction order.
    fn evict_one(&mut self, now: Duration) {
        let first_locked = self.eviction_order.range((true, Duration::ZERO, NameDigest::default())..).next();
        let ended = first_locked.filter(|(_, last, _)| self.end_of_window(*last) <= now);
        if let Some((_, _, name)) = ended.or_else(|| self.eviction_order.first()) {
            let name = *name;
            self.remove(name);
        }
    }

    fn eviction_key(&self, times: &[Duration], name: NameDigest) -> Option<EvictionKey> {
        times.last().map(|last| (times.len() >= self.max, *last, name))
    }

    const fn end_of_window(&self, time: Duration) -> Duration {
        time.saturating_add(self.window)
    }
}

/// Returns the whole seconds until a time, rounded up and at least 1.
const fn seconds_until(end: Duration, now: Duration) -> u64 {
    let rest = end.saturating_sub(now);
    let whole = rest.as_secs() + (rest.subsec_nanos() > 0) as u64;
    if whole == 0 { 1 } else { whole }
}
