use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::access::ClientPrefix;
use crate::invariant::Invariant;
use crate::service::budget::Holder;

/// A token-bucket rate limit per client: `burst` requests, refilled by `per_minute` requests a minute.
///
/// A client is an authenticated user, a daemon API key, or the address prefix of unauthenticated requests. The limit
/// uses monotonic time: setting the time of day neither refills nor empties a bucket.
///
/// ```
/// use std::num::NonZeroU32;
/// use toposcope::service::RateLimit;
///
/// let limit = RateLimit::new(NonZeroU32::new(60).ok_or("zero")?, NonZeroU32::new(10).ok_or("zero")?);
/// assert_eq!(limit.per_minute().get(), 60);
/// # Ok::<(), &'static str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    per_minute: NonZeroU32,
    burst: NonZeroU32,
}

/// 300 requests a minute, bursts of 150.
impl Default for RateLimit {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self::new(number(300), number(150))
    }
}

impl RateLimit {
    /// Creates a limit of `per_minute` requests a minute on average and bursts of `burst` requests.
    #[must_use]
    pub const fn new(per_minute: NonZeroU32, burst: NonZeroU32) -> Self {
        Self { per_minute, burst }
    }

    /// Returns the number of requests refilled per minute.
    #[must_use]
    pub const fn per_minute(&self) -> NonZeroU32 {
        self.per_minute
    }

    /// Returns the capacity of a bucket: the maximum number of requests in a burst.
    #[must_use]
    pub const fn burst(&self) -> NonZeroU32 {
        self.burst
    }
}

/// Number of buckets beyond which further address prefixes share one bucket.
///
/// The table, which doubles as it grows, then takes at most 40 MB (`cargo bench --bench addresses`).
const MAX_BUCKETS: usize = 200_000;

/// Elapsed time in units of 1/`per_minute` microseconds.
///
/// In this unit the refill time of one request is the same whole number for every limit, so nothing is rounded. 128
/// bits never overflow.
type Ticks = i128;

/// Refill time of one request, in ticks.
const REQUEST: Ticks = 60_000_000;
const MICROS_PER_SECOND: Ticks = 1_000_000;

/// The owner of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::service) enum BucketOwner {
    /// The requests of one user, with any credential, or of one daemon key.
    ///
    /// They are counted for each organization: host applications may use one user id in several.
    Holder(Holder),
    /// Unauthenticated requests from this address prefix.
    Prefix(ClientPrefix),
    /// Unauthenticated requests whose address is unknown, or for which the table is full.
    Other,
}

/// The state of a client's bucket after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) struct Allowance {
    /// Requests refilled per minute.
    pub(in crate::service) limit: u32,
    /// Requests left now.
    pub(in crate::service) remaining: u64,
    /// Whole seconds until the bucket is full.
    pub(in crate::service) reset: u64,
    /// Whole seconds until the next request is allowed; `None` if this one was.
    pub(in crate::service) retry_after: Option<u64>,
}

/// The buckets of all clients, implemented with the generic cell rate algorithm (GCRA).
///
/// A bucket is stored as the time at which it will be full again. Full buckets are not stored.
#[derive(Debug)]
pub(in crate::service) struct Buckets {
    limit: RateLimit,
    table: Mutex<BucketTable>,
}

#[derive(Debug, Default)]
struct BucketTable {
    full_at: HashMap<BucketOwner, Ticks>,
    /// Time at which full buckets were last removed.
    swept_at: Ticks,
}

impl Buckets {
    pub(in crate::service) fn new(limit: RateLimit) -> Self {
        Self { limit, table: Mutex::default() }
    }

    /// Takes one request from a client's bucket, if one is left.
    ///
    /// `now` is a monotonic time.
    pub(in crate::service) fn take(&self, client: BucketOwner, now: Duration) -> Allowance {
        let micros = Ticks::try_from(now.as_micros()).ok().asserted_or_default();
        let now = micros * Ticks::from(self.limit.per_minute.get());
        let capacity = REQUEST * Ticks::from(self.limit.burst.get());
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let client = table.bucket_of(client, now);
        let full_at = table.full_at.entry(client).or_insert(now);
        // Concurrent requests may take the lock in a different order than they read the clock.
        *full_at = (*full_at).clamp(now, now + capacity);
        let excess = *full_at + REQUEST - now - capacity;
        let retry_after = (excess > 0).then(|| self.seconds(excess).max(1));
        if retry_after.is_none() {
            *full_at += REQUEST;
        }
        let lacking = *full_at - now;
        drop(table);
        Allowance {
            limit: self.limit.per_minute.get(),
            remaining: small(capacity - lacking) / small(REQUEST),
            reset: self.seconds(lacking),
            retry_after,
        }
    }

    /// Returns the number of seconds, rounded up, in which these ticks pass.
    fn seconds(&self, ticks: Ticks) -> u64 {
        small(ticks).div_ceil(small(MICROS_PER_SECOND) * u64::from(self.limit.per_minute.get()))
    }
}

/// Converts ticks of at most a full bucket, of which a `u32` is the number of requests.
fn small(ticks: Ticks) -> u64 {
    u64::try_from(ticks).ok().asserted_or_default()
}

impl BucketTable {
    /// Returns the client's own bucket, or [`BucketOwner::Other`] if the table is full.
    ///
    /// A user or key always has a bucket: the store bounds their number, and many addresses must not limit them.
    fn bucket_of(&mut self, client: BucketOwner, now: Ticks) -> BucketOwner {
        if self.full_at.len() < MAX_BUCKETS || self.full_at.contains_key(&client) {
            return client;
        }
        // Sweeping again within the refill time of one request would free hardly any bucket.
        if now - self.swept_at >= REQUEST {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.swept_at = now;
        }
        let is_known = !matches!(client, BucketOwner::Prefix(_) | BucketOwner::Other);
        let has_own = is_known || self.full_at.len() < MAX_BUCKETS;
        if has_own { client } else { BucketOwner::Other }
    }
}
