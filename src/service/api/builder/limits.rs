//! Limits on requests and responses.

use std::time::Duration;

use super::ApiBuilder;
use crate::service::sender::rate_limit::RateLimit;

/// Default maximum size of a request body, in bytes.
pub(super) const BODY_LIMIT: usize = 1024 * 1024;

/// Default maximum size of the body of a bulk request, in bytes.
pub(super) const BULK_BODY_LIMIT: usize = 16 * 1024 * 1024;

/// Default maximum size of a report, in bytes.
#[cfg(feature = "discovery")]
pub(super) const REPORT_BODY_LIMIT: usize = 64 * 1024 * 1024;

/// Default capacity of the page cache, in bytes.
pub(super) const PAGE_CACHE_BYTES: usize = 16 * 1024 * 1024;

/// Default maximum number of concurrent lists without a limit, per user and in total.
pub(super) const MAX_WHOLE_LISTS: (usize, usize) = (4, 64);

/// Default maximum size of the responses that wait for their clients, per user and in total, in bytes.
pub(super) const UNREAD_RESPONSE_LIMITS: (usize, usize) = (64 * 1024 * 1024, 192 * 1024 * 1024);

/// Default time after which a long response or a request body is aborted if its client stalls.
pub(super) const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Bounds how often the timer of a stalled list wakes up.
const MIN_STALL_TIMEOUT: Duration = Duration::from_millis(1);

impl ApiBuilder {
    /// Sets the rate limit of each client; `None` disables it.
    ///
    /// Default: 300 requests a minute, bursts of 150.
    #[must_use]
    pub fn rate_limit(self, limit: impl Into<Option<RateLimit>>) -> Self {
        Self { rate_limit: limit.into(), ..self }
    }

    /// Sets the maximum size of a request body, in bytes.
    ///
    /// Default: 1 MiB. Endpoints that need no credential, such as the login, accept at most 16 KiB.
    ///
    /// All bodies that are being received or processed take at most eight times the largest of the limits for bodies,
    /// and no more than 128 MiB or one and a half times that limit, whichever is larger. The bodies of one user or
    /// daemon key take at most twice that limit, and those of an organization a share of the total, as for slots. While
    /// they arrive, the bodies of an organization take at most a quarter of the total, or are a single body. Beyond
    /// this, a body of more than 64 KiB is rejected with 429 `rate_limit_exceeded`. Smaller ones are always accepted.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        Self { body_limit: bytes, ..self }
    }

    /// Sets the maximum size of the body of a bulk request, in bytes. A bulk request creates or replaces up to
    /// 1,000 hosts.
    ///
    /// Default: 16 MiB. At most 8 such requests of a user, 24 of an organization, and 32 in all are processed at once;
    /// further ones are rejected with 429 `rate_limit_exceeded`.
    #[must_use]
    pub fn bulk_body_limit(self, bytes: usize) -> Self {
        Self { bulk_body_limit: bytes, ..self }
    }

    /// Sets the maximum size of a report of a scanner or a device, in bytes.
    ///
    /// Default: 64 MiB. Each report is held in memory while it is imported. At most two for each client, six for an
    /// organization, and eight in total are imported at a time, and no more together than one and a half times this size.
    /// The largest devices of all these reports have at most 200,000 interfaces, addresses and ports together.
    #[cfg(feature = "discovery")]
    #[must_use]
    pub fn report_body_limit(self, bytes: usize) -> Self {
        Self { report_body_limit: bytes, ..self }
    }

    /// Sets the maximum size of the graph or the file of a network, in bytes.
    ///
    /// Default: 64 MiB. Larger ones are refused with 413 `answer_too_large`.
    #[cfg(feature = "topology")]
    #[must_use]
    pub fn drawing_limit(self, bytes: usize) -> Self {
        Self { drawing_limit: bytes, ..self }
    }

    /// Sets the maximum size of the body of an import, in bytes.
    ///
    /// Default: `None`, any size. Imports are streamed in bounded memory. At most two imports of a user, six of an
    /// organization, and eight in total run at a time; further ones are rejected with 429 `rate_limit_exceeded`.
    #[must_use]
    pub fn import_body_limit(self, bytes: impl Into<Option<u64>>) -> Self {
        Self { import_body_limit: bytes.into(), ..self }
    }

    /// Sets the maximum number of items in a list without a limit (`limit=0`).
    ///
    /// Default: `None`, any number. The items from the offset on are counted when the list starts. Longer lists are
    /// rejected with 400 `validation_out_of_range`. A list without a limit is streamed: the service reads it from the
    /// store page by page while the client receives it. Until the list ends, it holds the ids of the items already
    /// sent, at most 40 bytes each.
    #[must_use]
    pub fn whole_list_limit(self, items: impl Into<Option<u64>>) -> Self {
        Self { whole_list_limit: items.into(), ..self }
    }

    /// Sets the maximum number of concurrent lists without a limit, per user and in total.
    ///
    /// Default: 4 and 64. Further ones are rejected with 429 `rate_limit_exceeded`. One organization gets at most three
    /// quarters of the total, rounded up, and fewer while others have some. Lists of up to 128 items do not
    /// count. With 0, all longer lists are rejected.
    #[must_use]
    pub fn whole_lists_at_once(self, per_user: usize, total: usize) -> Self {
        Self { whole_lists_at_once: (per_user, total), ..self }
    }

    /// Sets the maximum number of streams of events at once, per user and in total.
    ///
    /// Default: 4 and 64. One organization gets at most three quarters of the total, and less while others have some. Further requests
    /// are rejected with 429 `rate_limit_exceeded`. An open stream takes a few kilobytes, and reads the caller's rights each second.
    /// With 0, all streams are rejected.
    #[must_use]
    pub fn event_streams(self, per_user: usize, total: usize) -> Self {
        Self { event_streams: (per_user, total), ..self }
    }

    /// Sets the maximum size of the responses that wait for their clients, per user and in total, in bytes.
    ///
    /// Default: 64 MiB and 192 MiB. One organization gets at most three quarters of the total, and less while others
    /// have some. Further requests are rejected with 429 `rate_limit_exceeded`. A response above 16 KiB counts from
    /// when it begins until the client has read it. A page or a whole list above 1 MiB is read while it is sent, so
    /// only its current part counts, at least 1 MiB. Daemon keys count like users, and requests without credentials by
    /// the network prefix of the client. A client without unread responses may get one that is larger than its own
    /// limit, and larger than the total if there are no other unread responses. With 0, all responses above 16 KiB and
    /// all writes are rejected.
    ///
    /// A write counts with 16 KiB, or the size of its answer if that is more, from before it is executed: it is
    /// rejected while nothing has changed. The size is that of the record, or 256 bytes for each host of a bulk
    /// request. Only the answers of imports, of reports of scanners and devices, and of bulk requests with long errors
    /// may exceed the total, by the bytes that were not reserved.
    #[must_use]
    pub fn unread_responses(self, per_user: usize, total: usize) -> Self {
        Self { unread_responses: (per_user, total), ..self }
    }

    /// Sets how long a client may stall: send nothing of a body, or read nothing of a long response.
    ///
    /// Default: 60 seconds. A request whose body stalls is rejected with 408 `request_timeout`. So is one for whose
    /// body the service has waited, in all, longer than this time plus one second for each 32 KiB: of the whole body if
    /// its size is known, and otherwise of the bytes that have arrived. A whole list, or a response above 16 KiB, that
    /// is not read is aborted: this frees its memory and its slot, and ends the body with an error, so that the server
    /// closes the connection. This may happen up to an eighth of the time later. `None` means that nothing is aborted.
    /// Time spent waiting for the store does not count. The timer needs a tokio runtime with its time driver enabled;
    /// values below 1 millisecond count as 1 millisecond.
    #[must_use]
    pub fn stall_timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        let stall_timeout = timeout.into().map(|timeout| timeout.max(MIN_STALL_TIMEOUT));
        Self { stall_timeout, ..self }
    }

    /// Sets the size of the page cache, in bytes.
    ///
    /// Default: 16 MiB; 0 means no cache. The cache holds joined response bodies. A page is cached at its second
    /// request, if the hosts have not changed since the first one and the caller has the same organization and scope.
    /// Pages larger than half of the cache are not cached, nor are pages of a store without
    /// [revisions](crate::store::Store::revision).
    #[must_use]
    pub fn page_cache(self, bytes: usize) -> Self {
        Self { page_cache: bytes, ..self }
    }
}
