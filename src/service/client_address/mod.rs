//! The address of a request's client, and the prefix by which the client is limited.

mod forwarded;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderName;
use http::header::FORWARDED;
use http::request::Parts;

use crate::access::{ClientPrefix, PrefixLengths};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// A request extension with the client address that the host application has determined.
///
/// The default [`ClientAddressSource`] reads it.
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

/// How an [`Api`](super::Api) finds the address of a request's client.
///
/// Unauthenticated clients are limited by their address. All requests without an address share one rate-limit bucket,
/// which a single client can exhaust for all of them; the first such request logs a warning.
///
/// | Requests come from | Source |
/// |---|---|
/// | axum with `into_make_service_with_connect_info::<SocketAddr>()` | `extension(\|peer: &ConnectInfo<SocketAddr>\| peer.0.ip())` |
/// | hyper, with the peer's `SocketAddr` inserted as a request extension | `extension(SocketAddr::ip)` |
/// | a reverse proxy that appends to `X-Forwarded-For` | `x_forwarded_for(1)` |
/// | a reverse proxy that appends to `Forwarded` (RFC 7239) | `forwarded(1)` |
/// | anything else | [`from_fn`](Self::from_fn), or a [`ClientAddr`] extension |
///
/// ```
/// use std::net::SocketAddr;
///
/// use toposcope::inventory::Inventory;
/// use toposcope::service::{Api, ClientAddressSource};
/// use toposcope::store::MemoryStore;
///
/// let api = Api::builder(Inventory::new(MemoryStore::new()))
///     .client_address(ClientAddressSource::extension(SocketAddr::ip))
///     .build();
/// ```
#[derive(Clone)]
pub struct ClientAddressSource(Arc<FindAddress>);

type FindAddress = dyn Fn(&Parts) -> Option<IpAddr> + Send + Sync;

impl ClientAddressSource {
    /// Reads the address with a function, which returns `None` if the address is unknown.
    #[must_use]
    pub fn from_fn(address: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static) -> Self {
        Self(Arc::new(address))
    }

    /// Reads the address from the request extension of type `T`.
    ///
    /// A request without the extension has no known address.
    #[must_use]
    pub fn extension<T>(address: impl Fn(&T) -> IpAddr + Send + Sync + 'static) -> Self
    where
        T: Send + Sync + 'static,
    {
        Self::from_fn(move |request| request.extensions.get::<T>().map(&address))
    }

    /// Reads the address from `X-Forwarded-For`, behind `proxies` trusted reverse proxies.
    ///
    /// Each proxy appends the address of its own peer, so the trusted entry is counted from the end: with one proxy
    /// the last entry, with two the last but one. Earlier entries may be forged and are ignored. A request with fewer
    /// entries has not passed all proxies, and its address is unknown; so is the address of a request whose entry is
    /// not an IP address. With 0 proxies the header is ignored.
    ///
    /// The service must be reachable only through the proxies; otherwise a client can forge the whole header.
    #[must_use]
    pub fn x_forwarded_for(proxies: usize) -> Self {
        Self::from_fn(move |request| forwarded::x_forwarded_for(&request.headers, &X_FORWARDED_FOR, proxies))
    }

    /// Reads the address from the `for` parameter of `Forwarded` (RFC 7239).
    ///
    /// Otherwise works like [`x_forwarded_for`](Self::x_forwarded_for).
    #[must_use]
    pub fn forwarded(proxies: usize) -> Self {
        Self::from_fn(move |request| forwarded::forwarded(&request.headers, &FORWARDED, proxies))
    }
}

/// Reads the [`ClientAddr`] extension.
impl Default for ClientAddressSource {
    fn default() -> Self {
        Self::extension(|address: &ClientAddr| address.0)
    }
}

impl fmt::Debug for ClientAddressSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ClientAddressSource").finish_non_exhaustive()
    }
}

/// Finds the address prefix by which an unauthenticated client is limited.
#[derive(Debug)]
pub(super) struct ClientPrefixes {
    source: ClientAddressSource,
    lengths: PrefixLengths,
    has_warned: AtomicBool,
}

impl ClientPrefixes {
    pub(super) const fn new(source: ClientAddressSource, lengths: PrefixLengths) -> Self {
        Self { source, lengths, has_warned: AtomicBool::new(false) }
    }

    /// Returns the prefix of the client's address, or `None` if the address is unknown.
    pub(super) fn of(&self, request: &Parts) -> Option<ClientPrefix> {
        let address = (self.source.0)(request);
        if address.is_none() && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the client address of a request is unknown: all such unauthenticated requests share one rate limit; \
                 set ApiBuilder::client_address"
            );
        }
        Some(self.lengths.prefix_of(address?))
    }
}
