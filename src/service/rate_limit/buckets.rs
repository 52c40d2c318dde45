use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use super::RateLimit;
use crate::model::Timestamp;

/// From how many buckets on further addresses share one. With their table, which doubles as it grows, that is some
/// 40 MB at most.
const MAX_BUCKETS: usize = 200_000;

/// A length of time in parts of a microsecond, as many to each as requests come back a minute. So one request takes a
/// whole number of them to come back, whatever the limit, and nothing is ever rounded. At 128 bits nothing overflows.
type Ticks = i128;

/// What one request takes to come back: a minute's microseconds.
const REQUEST: Ticks = 60_000_000;
const MICROS_PER_SECOND: Ticks = 1_000_000;

/// Whose bucket a request is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::service) enum Client {
    /// An authenticated user, whichever the credential.
    User(Uuid),
    /// Somebody at this address.
    Address(IpAddr),
    /// Anybody: no address is known, or there are too many to count each.
    Anybody,
}

/// What is left to a client after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) struct Allowance {
    /// Requests a minute.
    pub(in crate::service) limit: u32,
    /// Requests left right now.
    pub(in crate::service) remaining: u64,
    /// Whole seconds until the bucket is full.
    pub(in crate::service) reset: u64,
    /// Whole seconds until the next request, where this one is refused.
    pub(in crate::service) retry_after: Option<u64>,
}

/// The buckets of all clients, by the generic cell rate algorithm: of each only the time is kept at which it will be full
/// again. A bucket that is full is the same as none.
#[derive(Debug)]
pub(in crate::service) struct Buckets {
    limit: RateLimit,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    full_at: HashMap<Client, Ticks>,
    /// When full buckets were last looked for.
    swept_at: Ticks,
}

impl Buckets {
    pub(in crate::service) fn new(limit: RateLimit) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Takes a request out of a client's bucket, if there is one left.
    pub(in crate::service) fn take(&self, client: Client, now: Timestamp) -> Allowance {
        let now = Ticks::from(now.unix_micros()) * Ticks::from(self.limit.per_minute.get());
        let capacity = REQUEST * Ticks::from(self.limit.burst.get());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let client = state.bucket_of(client, now);
        // A clock that was set back must not lock anybody out for longer than an empty bucket does.
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
    /// The client's own bucket, or the common one when there is no room for another. A user always has one: of users there
    /// are only as many as the store knows, and none of them pays for strangers.
    fn bucket_of(&mut self, client: Client, now: Ticks) -> Client {
        if self.full_at.len() < MAX_BUCKETS || self.full_at.contains_key(&client) {
            return client;
        }
        // Sooner than a request takes to come back, hardly another bucket would be full.
        if (now - self.swept_at).abs() >= REQUEST {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.swept_at = now;
        }
        let has_own = matches!(client, Client::User(_)) || self.full_at.len() < MAX_BUCKETS;
        if has_own { client } else { Client::Anybody }
    }
}
