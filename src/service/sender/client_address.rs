//! The address of a request's client, and the prefix by which the client is limited.
//!
//! Each reverse proxy appends an entry to its header, so only the last `proxies` entries are trusted; earlier ones may
//! come from an attacker. Both headers are therefore parsed from the end, so that nothing before the trusted entries,
//! such as an unbalanced quote, can change how these are parsed.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::FORWARDED;
use http::request::Parts;
use http::{HeaderMap, HeaderName};

use crate::access::{ClientPrefix, PrefixLengths};
use crate::invariant::Invariant;

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

/// The source of client addresses for an [`Api`](crate::service::Api).
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
        Self::from_fn(move |request| x_forwarded_for(&request.headers, &X_FORWARDED_FOR, proxies))
    }

    /// Reads the address from the `for` parameter of `Forwarded` (RFC 7239).
    ///
    /// Otherwise works like [`x_forwarded_for`](Self::x_forwarded_for).
    #[must_use]
    pub fn forwarded(proxies: usize) -> Self {
        Self::from_fn(move |request| forwarded(&request.headers, &FORWARDED, proxies))
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
pub(in crate::service) struct ClientPrefixes {
    source: ClientAddressSource,
    lengths: PrefixLengths,
    has_warned: AtomicBool,
}

impl ClientPrefixes {
    pub(in crate::service) const fn new(source: ClientAddressSource, lengths: PrefixLengths) -> Self {
        Self { source, lengths, has_warned: AtomicBool::new(false) }
    }

    /// Returns the prefix of the client's address, or `None` if the address is unknown.
    pub(in crate::service) fn of(&self, request: &Parts) -> Option<ClientPrefix> {
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

/// Returns the address in the entry that the outermost of `proxies` trusted proxies appended.
fn x_forwarded_for(headers: &HeaderMap, name: &HeaderName, proxies: usize) -> Option<IpAddr> {
    node(entry_from_end(headers, name, proxies, |_| false)?.trim())
}

/// Returns the `for` parameter of the entry that the outermost of `proxies` trusted proxies appended.
fn forwarded(headers: &HeaderMap, name: &HeaderName, proxies: usize) -> Option<IpAddr> {
    let entry = entry_from_end(headers, name, proxies, |character| character == b'"')?;
    let mut nodes = split_unquoted(entry, b';').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim().eq_ignore_ascii_case("for").then_some(value.trim())
    });
    match (nodes.next(), nodes.next()) {
        (Some(value), None) => node(unquoted(value)),
        _ => None,
    }
}

/// Returns the entry at `position`, counted from 1 backwards from the last entry.
fn entry_from_end<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    position: usize,
    is_quote: impl Fn(u8) -> bool,
) -> Option<&'h str> {
    let mut skip = position.checked_sub(1)?;
    for line in headers.get_all(name).iter().rev() {
        let mut line = line.as_bytes();
        loop {
            let comma = last_unquoted_comma(line, &is_quote);
            let start = comma.map_or(0, |comma| comma + 1);
            if skip == 0 {
                return std::str::from_utf8(line.get(start..)?).ok();
            }
            skip -= 1;
            let Some(comma) = comma else { break };
            line = line.get(..comma)?;
        }
    }
    None
}

/// Returns the position of the last comma outside of quotes.
///
/// The text after that comma is assumed to be well-formed.
fn last_unquoted_comma(line: &[u8], is_quote: impl Fn(u8) -> bool) -> Option<usize> {
    let mut is_quoted = false;
    for (position, byte) in line.iter().enumerate().rev() {
        if is_quote(*byte) && !is_escaped(line, position) {
            is_quoted = !is_quoted;
        } else if *byte == b',' && !is_quoted {
            return Some(position);
        }
    }
    None
}

/// Returns whether an odd number of backslashes precedes a character of a quoted string.
fn is_escaped(text: &[u8], position: usize) -> bool {
    let before = text.get(..position).asserted_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Splits an entry at a separator that is not inside quotes.
fn split_unquoted(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        let mut is_quoted = false;
        for (position, byte) in current.bytes().enumerate() {
            if byte == b'"' && !is_escaped(current.as_bytes(), position) {
                is_quoted = !is_quoted;
            } else if byte == separator && !is_quoted {
                rest = current.get(position + 1..);
                return current.get(..position);
            }
        }
        rest = None;
        Some(current)
    })
}

/// Strips the quotes around a value. Escapes are not resolved, because no address contains one.
fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// Parses an IP address with an optional port. An IPv6 address may be in brackets, and must be before a port.
fn node(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Some(text) = text.strip_prefix('[') {
        let (address, port) = text.split_once(']')?;
        let is_valid = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return address.parse().ok().filter(|_: &Ipv6Addr| is_valid).map(IpAddr::V6);
    }
    let (address, port) = text.split_once(':')?;
    address.parse().ok().filter(|_: &Ipv4Addr| is_port(port)).map(IpAddr::V4)
}

/// Returns whether a text is a port number or an obfuscated port (RFC 7239).
fn is_port(text: &str) -> bool {
    let obfuscated = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    text.parse::<u16>().is_ok() || text.strip_prefix('_').is_some_and(obfuscated)
}
