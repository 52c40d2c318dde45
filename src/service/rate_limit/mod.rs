//! The rate limit: one bucket of requests for each client.

mod buckets;

use std::num::NonZeroU32;

pub(super) use buckets::{Allowance, Buckets, Client};

/// A rate limit: each client has a bucket of `burst` requests that is refilled by `per_minute` requests a minute.
///
/// A client is an authenticated user, or the address prefix of unauthenticated requests. Time is monotonic: setting the
/// time of day neither refills nor empties a bucket.
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

/// 300 a minute, bursts of 150.
impl Default for RateLimit {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self::new(number(300), number(150))
    }
}

impl RateLimit {
    /// Creates a limit of `per_minute` requests a minute in the long run, and of `burst` requests at once.
    #[must_use]
    pub const fn new(per_minute: NonZeroU32, burst: NonZeroU32) -> Self {
        Self { per_minute, burst }
    }

    /// Requests refilled per minute.
    #[must_use]
    pub const fn per_minute(&self) -> NonZeroU32 {
        self.per_minute
    }

    /// Capacity of a bucket: the number of requests that may be sent at once.
    #[must_use]
    pub const fn burst(&self) -> NonZeroU32 {
        self.burst
    }
}
