//! The address of a request's client: where it comes from, and the prefix that it is limited by.

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

/// A client address that the host application has found out itself, as a request extension.
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
/// Unauthenticated clients are limited by their address. Requests without an address share one rate-limit bucket, so that
/// a single client can use it up for all of them; the first such request logs a warning.
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
    /// Reads the address by a function of the request. `None` means that the address is unknown.
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

    /// Reads the address from `X-Forwarded-For`, as written by the outermost of `proxies` trusted reverse proxies.
    ///
    /// Each proxy appends the address of its own peer, so the entry counted from the end is the one that is trusted: with
    /// one proxy the last entry, with two the last but one. Entries before it may be forged and are ignored. A request
    /// with fewer entries has not passed all proxies and has no known address, nor has one whose entry is no IP address.
    /// With 0 proxies no header is trusted.
    ///
    /// The service must be reachable through the proxies only; otherwise a client can write the header itself.
    #[must_use]
    pub fn x_forwarded_for(proxies: usize) -> Self {
        Self::from_fn(move |request| forwarded::x_forwarded_for(&request.headers, &X_FORWARDED_FOR, proxies))
    }

    /// Reads the address from the `for` parameter of `Forwarded` (RFC 7239), otherwise like
    /// [`x_forwarded_for`](Self::x_forwarded_for).
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

/// Tells unauthenticated clients apart.
#[derive(Debug)]
pub(super) struct Clients {
    source: ClientAddressSource,
    lengths: PrefixLengths,
    has_warned: AtomicBool,
}

impl Clients {
    pub(super) const fn new(source: ClientAddressSource, lengths: PrefixLengths) -> Self {
        Self { source, lengths, has_warned: AtomicBool::new(false) }
    }

    /// Returns the prefix of the client's address, or `None` if the address is unknown.
    pub(super) fn prefix(&self, request: &Parts) -> Option<ClientPrefix> {
        let address = (self.source.0)(request);
        if address.is_none() && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the client address of a request is unknown: all such unauthenticated requests share one rate limit; \
                 configure ApiBuilder::client_address"
            );
        }
        Some(self.lengths.prefix_of(address?))
    }
}
