use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use uuid::Uuid;

use super::RateLimit;
use crate::access::ClientPrefix;

/// Number of buckets from which on further address prefixes share one. With the table, which doubles as it grows, the
/// buckets take at most 40 MB (`cargo bench --bench addresses`).
const MAX_BUCKETS: usize = 200_000;

/// Elapsed time in fractions of a microsecond: as many to a microsecond as requests are refilled per minute. The refill
/// time of one request is then a whole number, whatever the limit, and nothing is rounded. 128 bits never overflow.
type Ticks = i128;

/// Refill time of one request: the microseconds of a minute.
const REQUEST: Ticks = 60_000_000;
const MICROS_PER_SECOND: Ticks = 1_000_000;

/// The owner of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::service) enum Client {
    /// An authenticated user, with any credential.
    User(Uuid),
    /// Unauthenticated requests from this address prefix.
    Prefix(ClientPrefix),
    /// Unauthenticated requests whose address is unknown, or whose prefix finds no room in the table.
    Shared,
}

/// State of a client's bucket after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) struct Allowance {
    /// Requests refilled per minute.
    pub(in crate::service) limit: u32,
    /// Requests left right now.
    pub(in crate::service) remaining: u64,
    /// Whole seconds until the bucket is full.
    pub(in crate::service) reset: u64,
    /// Whole seconds until the next request is let through; `None` if this one was.
    pub(in crate::service) retry_after: Option<u64>,
}

/// The buckets of all clients, by the generic cell rate algorithm.
///
/// Of each bucket only the time is stored at which it will be full again; a full bucket is not stored.
#[derive(Debug)]
pub(in crate::service) struct Buckets {
    limit: RateLimit,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    full_at: HashMap<Client, Ticks>,
    /// Time of the last removal of full buckets.
    swept_at: Ticks,
}

impl Buckets {
    pub(in crate::service) fn new(limit: RateLimit) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Takes a request out of a client's bucket, if there is one left. `now` is a monotonic reading.
    pub(in crate::service) fn take(&self, client: Client, now: Duration) -> Allowance {
        let micros = Ticks::try_from(now.as_micros()).unwrap_or_default();
        let now = micros * Ticks::from(self.limit.per_minute.get());
        let capacity = REQUEST * Ticks::from(self.limit.burst.get());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let client = state.bucket_of(client, now);
        // Requests at the same time may take the lock in another order than the one in which they read the clock.
        let full_at = state.full_at.get(&client).map_or(now, |time| (*time).clamp(now, now + capacity));
        let excess = full_at + REQUEST - now - capacity;
        let (full_at, retry_after) =
            if excess > 0 { (full_at, Some(self.seconds(excess).max(1))) } else { (full_at + REQUEST, None) };
        state.full_at.insert(client, full_at);
        Allowance {
            limit: self.limit.per_minute.get(),
            remaining: u64::try_from((capacity - (full_at - now)) / REQUEST).unwrap_or_default(),
            reset: self.seconds(full_at - now),
            retry_after,
        }
    }

    /// Whole seconds, rounded up.
    fn seconds(&self, ticks: Ticks) -> u64 {
        let second = (MICROS_PER_SECOND * Ticks::from(self.limit.per_minute.get())).unsigned_abs();
        u64::try_from(ticks.max(0).unsigned_abs().div_ceil(second)).unwrap_or(u64::MAX)
    }
}

impl State {
    /// Returns the client's own bucket, or the shared one when the table is full.
    ///
    /// A user always has a bucket: the store bounds the number of users, and a flood of addresses must not limit them.
    fn bucket_of(&mut self, client: Client, now: Ticks) -> Client {
        if self.full_at.len() < MAX_BUCKETS || self.full_at.contains_key(&client) {
            return client;
        }
        // Within the refill time of one request, hardly any further bucket becomes full.
        if now - self.swept_at >= REQUEST {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.swept_at = now;
        }
        let has_own = matches!(client, Client::User(_)) || self.full_at.len() < MAX_BUCKETS;
        if has_own { client } else { Client::Shared }
    }
}
