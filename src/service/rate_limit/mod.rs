//! The rate limit: how many requests are let through, of whom.

mod buckets;

use std::net::IpAddr;
use std::num::NonZeroU32;

pub(super) use buckets::{Allowance, Buckets, Client};

/// How many requests are let through: a bucket of `burst` requests for each client that fills up by `per_minute`.
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
    /// So many requests a minute in the long run, and so many at once.
    #[must_use]
    pub const fn new(per_minute: NonZeroU32, burst: NonZeroU32) -> Self {
        Self { per_minute, burst }
    }

    /// Requests a minute.
    #[must_use]
    pub const fn per_minute(&self) -> NonZeroU32 {
        self.per_minute
    }

    /// Requests at once.
    #[must_use]
    pub const fn burst(&self) -> NonZeroU32 {
        self.burst
    }
}

/// The address that a request comes from, as the host application knows it: set as a request extension, it gives
/// everybody who is not authenticated a bucket by address. Without it they all share one.
///
/// ```
/// use toposcope::service::ClientAddr;
///
/// let mut request = http::Request::get("/api/version").body(String::new())?;
/// request.extensions_mut().insert(ClientAddr([192, 0, 2, 1].into()));
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddr(pub IpAddr);
