use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use super::RateLimit;
use crate::model::Timestamp;

/// How many clients have a bucket of their own at most. With 40 bytes each that is some megabytes.
const MAX_BUCKETS: usize = 200_000;

const MINUTE: i64 = 60_000_000_000;
const SECOND: i64 = 1_000_000_000;

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
/// again, in nanoseconds. A bucket that is full is the same as none.
#[derive(Debug)]
pub(in crate::service) struct Buckets {
    limit: RateLimit,
    /// How long one request takes to come back.
    interval: i64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    full_at: HashMap<Client, i64>,
    /// Before this time it is no use looking for full buckets once more.
    next_sweep: i64,
}

impl Buckets {
    pub(in crate::service) fn new(limit: RateLimit) -> Self {
        let interval = (MINUTE / i64::from(limit.per_minute.get())).max(1);
        Self { limit, interval, state: Mutex::default() }
    }

    /// Takes a request out of a client's bucket, if there is one left.
    pub(in crate::service) fn take(&self, client: Client, now: Timestamp) -> Allowance {
        let now = now.unix_micros().saturating_mul(1000);
        let capacity = self.interval.saturating_mul(i64::from(self.limit.burst.get()));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let client = state.bucket_of(client, now, self.interval);
        // A clock that was set back must not lock anybody out for longer than an empty bucket does.
        let full_at =
            state.full_at.get(&client).map_or(now, |time| (*time).clamp(now, now.saturating_add(capacity)));
        let taken = full_at.saturating_add(self.interval);
        let excess = taken.saturating_sub(now).saturating_sub(capacity);
        if excess > 0 {
            return self.allowance(full_at - now, capacity, Some(excess));
        }
        state.full_at.insert(client, taken);
        self.allowance(taken - now, capacity, None)
    }

    fn allowance(&self, until_full: i64, capacity: i64, excess: Option<i64>) -> Allowance {
        let remaining = capacity.saturating_sub(until_full) / self.interval;
        Allowance {
            limit: self.limit.per_minute.get(),
            remaining: remaining.unsigned_abs(),
            reset: seconds(until_full),
            retry_after: excess.map(|excess| seconds(excess).max(1)),
        }
    }
}

impl State {
    /// The client's own bucket, or the common one when there is no room for another.
    fn bucket_of(&mut self, client: Client, now: i64, interval: i64) -> Client {
        if self.full_at.len() < MAX_BUCKETS || self.full_at.contains_key(&client) {
            return client;
        }
        if now >= self.next_sweep {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.next_sweep = now.saturating_add(interval);
        }
        if self.full_at.len() < MAX_BUCKETS { client } else { Client::Anybody }
    }
}

/// Whole seconds, rounded up.
fn seconds(nanoseconds: i64) -> u64 {
    nanoseconds.max(0).unsigned_abs().div_ceil(SECOND.unsigned_abs())
}
