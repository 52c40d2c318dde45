use std::sync::Arc;
use std::time::Duration;

use super::api::Api;
use super::client_address::{ClientAddressSource, Clients};
use super::cross_site::CrossSite;
use super::kept_pages::KeptPages;
use super::list_slots::ListSlots;
use super::rate_limit::{Buckets, RateLimit};
use super::response::Responder;
use super::shared::Shared;
use crate::access::PrefixLengths;
use crate::inventory::Inventory;

/// Configures an [`Api`]. Created by [`Api::builder`].
#[derive(Clone, Debug)]
pub struct ApiBuilder {
    inventory: Inventory,
    server_version: String,
    rate_limit: Option<RateLimit>,
    client_address: ClientAddressSource,
    client_prefixes: PrefixLengths,
    body_limit: usize,
    allowed_origins: Vec<String>,
    secure_cookies: bool,
    whole_list_limit: Option<u64>,
    whole_lists_at_once: (usize, usize),
    whole_list_patience: Option<Duration>,
    kept_pages: usize,
}

/// 1 MiB.
const BODY_LIMIT: usize = 1024 * 1024;

/// 16 MiB.
const KEPT_PAGES: usize = 16 * 1024 * 1024;

/// For each user, and in all.
const WHOLE_LISTS_AT_ONCE: (usize, usize) = (4, 64);

const WHOLE_LIST_PATIENCE: Duration = Duration::from_secs(60);

/// The timer of a stalled list looks at most this often.
const MIN_PATIENCE: Duration = Duration::from_millis(1);

impl ApiBuilder {
    pub(super) fn new(inventory: Inventory) -> Self {
        let server_version = env!("CARGO_PKG_VERSION").to_owned();
        Self {
            inventory,
            server_version,
            rate_limit: Some(RateLimit::default()),
            client_address: ClientAddressSource::default(),
            client_prefixes: PrefixLengths::default(),
            body_limit: BODY_LIMIT,
            allowed_origins: Vec::new(),
            secure_cookies: true,
            whole_list_limit: None,
            whole_lists_at_once: WHOLE_LISTS_AT_ONCE,
            whole_list_patience: Some(WHOLE_LIST_PATIENCE),
            kept_pages: KEPT_PAGES,
        }
    }

    /// Sets the version of the embedding application, which every response shows. Default: the version of this crate.
    #[must_use]
    pub fn server_version(self, version: impl Into<String>) -> Self {
        Self { server_version: version.into(), ..self }
    }

    /// Sets how many requests a client may send; `None` means any number. Default: 300 a minute, bursts of 150.
    #[must_use]
    pub fn rate_limit(self, limit: impl Into<Option<RateLimit>>) -> Self {
        Self { rate_limit: limit.into(), ..self }
    }

    /// Sets how the service finds the address of a client, by which unauthenticated requests are limited.
    ///
    /// Default: the [`ClientAddr`](super::ClientAddr) request extension. Without a known address, all unauthenticated
    /// requests share one bucket, and the first of them logs a warning.
    #[must_use]
    pub fn client_address(self, source: ClientAddressSource) -> Self {
        Self { client_address: source, ..self }
    }

    /// Sets the length of the address prefix that counts as one unauthenticated client. Default: /32 for IPv4, /64 for IPv6.
    ///
    /// Greater lengths than 32 and 128 bits count as these. The prefix has a rate-limit bucket, and a share of the logins
    /// that may be under way at once.
    #[must_use]
    pub fn client_prefixes(self, ipv4: u8, ipv6: u8) -> Self {
        Self { client_prefixes: PrefixLengths::new(ipv4, ipv6), ..self }
    }

    /// Sets the greatest size of a request body, in bytes. Default: 1 MiB.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        Self { body_limit: bytes, ..self }
    }

    /// Sets further origins, such as `https://app.example.net`, whose pages may use a session for more than reading.
    ///
    /// Default: none, so that only pages of the host that the request is sent to may. Set this for other hosts of the same
    /// site, and behind a proxy that changes the header `Host`. Requests that the browser marks as `cross-site` by
    /// `Sec-Fetch-Site` stay refused. A [`Caller`](crate::access::Caller) that the host application sets is not checked: a
    /// host application that authenticates by a cookie of its own must check the origin itself.
    ///
    /// ```
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::service::Api;
    /// # use toposcope::store::MemoryStore;
    /// let api = Api::builder(Inventory::new(MemoryStore::new()))
    ///     .allowed_origins(["https://app.example.net"])
    ///     .body_limit(64 * 1024)
    ///     .secure_cookies(true)
    ///     .build();
    /// ```
    #[must_use]
    pub fn allowed_origins<O: Into<String>>(self, origins: impl IntoIterator<Item = O>) -> Self {
        // Written as an address, an origin ends with a slash; browsers send it without.
        let origins = origins.into_iter().map(|origin| origin.into().trim_end_matches('/').to_owned());
        Self { allowed_origins: origins.collect(), ..self }
    }

    /// Sets whether the session cookie is `Secure`, so that browsers send it over HTTPS only. Default: true.
    ///
    /// Browsers that reach the service over plain HTTP store the cookie only with `false`.
    #[must_use]
    pub fn secure_cookies(self, secure: bool) -> Self {
        Self { secure_cookies: secure, ..self }
    }

    /// Sets the greatest number of hosts in a list without a limit (`limit=0`); `None`, the default, means any number.
    ///
    /// The hosts are counted from the offset on when the list begins. Longer lists are refused with 400
    /// `validation_out_of_range`. A list without a limit is sent while it is read from the store, page by page. It keeps the
    /// ids of the hosts that it has sent until it ends, at most 40 bytes for each.
    #[must_use]
    pub fn whole_list_limit(self, hosts: impl Into<Option<u64>>) -> Self {
        Self { whole_list_limit: hosts.into(), ..self }
    }

    /// Sets how many lists without a limit are sent at the same time, for each user and in all. Default: 4 and 64.
    ///
    /// Further ones are refused with 429 `rate_limit_exceeded`. Lists of up to 128 hosts do not count. With 0, all longer
    /// lists are refused.
    #[must_use]
    pub fn whole_lists_at_once(self, for_each_user: usize, in_all: usize) -> Self {
        Self { whole_lists_at_once: (for_each_user, in_all), ..self }
    }

    /// Sets after what time a list without a limit is broken off if its reader takes nothing; `None` means never.
    /// Default: 60 seconds.
    ///
    /// What the list holds is freed at that time, and its slot. The body then ends with an error, so that the server closes
    /// the connection. Time in which the list waits for the store does not count. The time limit needs a tokio runtime with its
    /// time driver enabled; less than a millisecond counts as one.
    #[must_use]
    pub fn whole_list_patience(self, patience: impl Into<Option<Duration>>) -> Self {
        let whole_list_patience = patience.into().map(|patience| patience.max(MIN_PATIENCE));
        Self { whole_list_patience, ..self }
    }

    /// Sets the size of the page cache, in bytes. Default: 16 MiB; 0 means no cache.
    ///
    /// A page is cached as one piece when it is requested for the second time in the same state by a caller who sees the
    /// same hosts, unless it is larger than half of the cache. Pages of a store without
    /// [revisions](crate::store::Store::revision) are not cached.
    #[must_use]
    pub fn kept_pages(self, bytes: usize) -> Self {
        Self { kept_pages: bytes, ..self }
    }

    /// Builds the service.
    #[must_use]
    pub fn build(self) -> Api {
        let (lists_for_each_user, lists_in_all) = self.whole_lists_at_once;
        Api::new(Arc::new(Shared {
            responder: Responder::new(self.server_version, self.inventory.clock()),
            inventory: self.inventory,
            buckets: self.rate_limit.map(Buckets::new),
            clients: Clients::new(self.client_address, self.client_prefixes),
            body_limit: self.body_limit,
            cross_site: CrossSite::new(self.allowed_origins),
            secure_cookies: self.secure_cookies,
            whole_list_limit: self.whole_list_limit,
            list_slots: ListSlots::new(lists_for_each_user, lists_in_all),
            whole_list_patience: self.whole_list_patience,
            kept_pages: KeptPages::new(self.kept_pages),
        }))
    }
}
