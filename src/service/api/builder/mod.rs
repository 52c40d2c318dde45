//! Configuration of the service.

mod limits;

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "discovery")]
use self::limits::REPORT_BODY_LIMIT;
use self::limits::{
    BODY_LIMIT, BULK_BODY_LIMIT, MAX_WHOLE_LISTS, PAGE_CACHE_BYTES, STALL_TIMEOUT, UNREAD_RESPONSE_LIMITS,
};
use super::Api;
use crate::access::PrefixLengths;
use crate::inventory::Inventory;
use crate::service::budget::Budget;
use crate::service::endpoints::event_stream::MAX_STREAMS;
use crate::service::endpoints::health::Health;
use crate::service::endpoints::many::{MAX_BULK_REQUESTS, MAX_IMPORTS};
use crate::service::endpoints::past::MAX_PAST_READINGS;
#[cfg(feature = "discovery")]
use crate::service::endpoints::reports::{MAX_REPORTS, REPORT_ROWS, report_bytes};
#[cfg(feature = "topology")]
use crate::service::endpoints::topology::{DrawingSlots, Drawings};
use crate::service::input::{body_bytes, incoming_bytes};
use crate::service::observation::Requests;
use crate::service::response::Responder;
use crate::service::response::body::Sweeper;
use crate::service::response::error::ApiError;
use crate::service::response::page_cache::PageCache;
use crate::service::revocations::Revocations;
use crate::service::routes::endpoints::Endpoints;
use crate::service::sender::client_address::{ClientAddressSource, ClientPrefixes};
use crate::service::sender::credentials::{Credentials, CrossSitePolicy};
use crate::service::sender::rate_limit::{Buckets, RateLimit};
use crate::service::sender::session_cookie::{SessionCookie, SessionCookieError};
use crate::service::shutdown::Shutdown;
use crate::service::state::ApiState;
#[cfg(feature = "topology")]
use crate::topology::{
    Topologies,
    render::{Theme, page::FrameAncestors},
};

/// Configures and builds an [`Api`]. Created by [`Api::builder`].
///
/// ```
/// use std::net::SocketAddr;
///
/// use toposcope::service::ClientAddressSource;
/// use toposcope::{Api, Inventory, MemoryStore};
///
/// let api = Api::builder(Inventory::new(MemoryStore::new()))
///     .client_address(ClientAddressSource::extension(SocketAddr::ip))
///     .allowed_origins(["https://app.example.net"])
///     .body_limit(64 * 1024)
///     .build();
/// ```
#[derive(Clone, Debug)]
pub struct ApiBuilder {
    inventory: Inventory,
    server_version: String,
    rate_limit: Option<RateLimit>,
    client_address: ClientAddressSource,
    client_prefixes: PrefixLengths,
    body_limit: usize,
    bulk_body_limit: usize,
    #[cfg(feature = "discovery")]
    report_body_limit: usize,
    #[cfg(feature = "topology")]
    frame_ancestors: FrameAncestors,
    #[cfg(feature = "topology")]
    theme: Theme,
    #[cfg(feature = "topology")]
    drawing_limit: usize,
    import_body_limit: Option<u64>,
    allowed_origins: Vec<String>,
    session_cookie: SessionCookie,
    has_insecure_cookies: bool,
    path_prefix: String,
    removed: Endpoints,
    whole_list_limit: Option<u64>,
    whole_lists_at_once: (usize, usize),
    event_streams: (usize, usize),
    unread_responses: (usize, usize),
    stall_timeout: Option<Duration>,
    page_cache: usize,
    shutdown: Shutdown,
}

impl ApiBuilder {
    pub(super) fn new(inventory: Inventory) -> Self {
        Self {
            inventory,
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            rate_limit: Some(RateLimit::default()),
            client_address: ClientAddressSource::default(),
            client_prefixes: PrefixLengths::default(),
            body_limit: BODY_LIMIT,
            bulk_body_limit: BULK_BODY_LIMIT,
            #[cfg(feature = "discovery")]
            report_body_limit: REPORT_BODY_LIMIT,
            #[cfg(feature = "topology")]
            frame_ancestors: FrameAncestors::default(),
            #[cfg(feature = "topology")]
            theme: Theme::default(),
            #[cfg(feature = "topology")]
            drawing_limit: crate::topology::render::MAX_FILE,
            import_body_limit: None,
            allowed_origins: Vec::new(),
            session_cookie: SessionCookie::default(),
            has_insecure_cookies: false,
            path_prefix: String::new(),
            removed: Endpoints::default(),
            whole_list_limit: None,
            whole_lists_at_once: MAX_WHOLE_LISTS,
            event_streams: MAX_STREAMS,
            unread_responses: UNREAD_RESPONSE_LIMITS,
            stall_timeout: Some(STALL_TIMEOUT),
            page_cache: PAGE_CACHE_BYTES,
            shutdown: Shutdown::default(),
        }
    }

    /// Lets users of several organizations have the same e-mail address, as
    /// [`Inventory::with_shared_emails`] describes.
    ///
    /// It concerns the inventory of this API, [`Api::inventory`]. Clones that were made before do not share addresses: their users
    /// of a second organization get 409 `entity_already_exists`.
    ///
    /// A login with a password that is right in several organizations is answered with 409 `auth_choose_organization`, whose
    /// params list these organizations. It is sent again with one of them as `organization_id`.
    #[must_use]
    pub fn shared_emails(self) -> Self {
        Self { inventory: self.inventory.with_shared_emails(), ..self }
    }

    /// Sets the version of the host application, which every response reports.
    ///
    /// Default: the version of this crate.
    #[must_use]
    pub fn server_version(self, version: impl Into<String>) -> Self {
        Self { server_version: version.into(), ..self }
    }

    /// Sets how the service finds a client's address, by which it limits unauthenticated requests.
    ///
    /// Default: the [`ClientAddr`](crate::service::ClientAddr) request extension. All unauthenticated requests without
    /// a known address share one rate-limit bucket, and the first of them logs a warning.
    #[must_use]
    pub fn client_address(self, source: ClientAddressSource) -> Self {
        Self { client_address: source, ..self }
    }

    /// Sets the address prefix lengths, in bits, that identify an unauthenticated client.
    ///
    /// Default: 32 (IPv4) and 64 (IPv6). Lengths above 32 (IPv4) and 128 (IPv6) are clamped. Each prefix has its own
    /// rate-limit bucket and its own share of the concurrent logins.
    #[must_use]
    pub fn client_prefixes(self, ipv4: u8, ipv6: u8) -> Self {
        Self { client_prefixes: PrefixLengths::new(ipv4, ipv6), ..self }
    }

    /// Sets additional origins, such as `https://app.example.net`, whose pages may write with a session.
    ///
    /// Default: none; only pages of the host that the request is sent to may write. Set this for other hosts of the
    /// same site, and behind a proxy that changes the `Host` header. Requests that the browser marks as `cross-site`
    /// with `Sec-Fetch-Site` are always rejected, and those that it marks as `same-origin` are always accepted. The
    /// requests of a [`Caller`](crate::access::Caller) that the host application has set are checked if they have a
    /// `Cookie`, because it may be the credential of the caller, or if the caller is [through a
    /// session](crate::access::Caller::through_session).
    #[must_use]
    pub fn allowed_origins<O: Into<String>>(self, origins: impl IntoIterator<Item = O>) -> Self {
        // Configured origins may end with a slash; browsers send none.
        let origins = origins.into_iter().map(|origin| origin.into().trim_end_matches('/').to_owned());
        Self { allowed_origins: origins.collect(), ..self }
    }

    /// Omits the `Secure` attribute of the session cookie. Servers that browsers reach over plain HTTP need this.
    ///
    /// Default: the cookie is `Secure`. Browsers then send it over HTTPS only, and do not store it when it arrives over
    /// plain HTTP. A cookie with the prefix `__Host-` or with [`SameSite::None`](crate::service::SameSite::None) is
    /// `Secure` even so: browsers refuse it otherwise.
    #[must_use]
    pub fn insecure_cookies(self) -> Self {
        Self { has_insecure_cookies: true, ..self }
    }

    /// Sets the path below which clients see the service, such as `/netinv`, if a router or a proxy strips it.
    ///
    /// Default: none. It precedes the `Location` of created records. All other addresses are relative. Slashes at both
    /// ends do not matter: `netinv` and `/netinv/` are the same path. Characters that paths cannot have, such as spaces,
    /// are percent-encoded.
    #[must_use]
    pub fn path_prefix(self, path: impl AsRef<str>) -> Self {
        Self { path_prefix: absolute_path(path.as_ref()), ..self }
    }

    /// Leaves groups of endpoints out. Default: none; further calls leave further groups out.
    ///
    /// Requests to them get 404 `route_not_found`, or, with `Api::routes`, the answer of the application to unknown paths. The OpenAPI document that the API serves lacks them, and so do the
    /// routes for axum. Their methods in the client fail with the same code.
    ///
    /// ```
    /// use toposcope::service::Endpoints;
    /// use toposcope::{Api, Inventory, MemoryStore};
    ///
    /// let own_accounts = Endpoints::LOGIN | Endpoints::USERS;
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).without(own_accounts).build();
    /// ```
    #[must_use]
    pub fn without(self, endpoints: Endpoints) -> Self {
        Self { removed: self.removed | endpoints, ..self }
    }

    /// Sets the attributes of the session cookie. Default: [`SessionCookie::new`].
    ///
    /// # Errors
    /// `HostPrefix` if the cookie has the prefix `__Host-` and also a path or a domain.
    pub fn session_cookie(self, cookie: SessionCookie) -> Result<Self, SessionCookieError> {
        cookie.check()?;
        Ok(Self { session_cookie: cookie, ..self })
    }

    /// Sets which sites may show the page of a share in a frame. Default: none.
    ///
    /// ```
    /// # use toposcope::{Api, Inventory, MemoryStore};
    /// let intranet = "'self' https://intranet.example".parse()?;
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).frame_ancestors(intranet).build();
    /// # Ok::<(), toposcope::topology::render::page::InvalidFrameAncestors>(())
    /// ```
    #[cfg(feature = "topology")]
    #[must_use]
    pub fn frame_ancestors(self, frame_ancestors: FrameAncestors) -> Self {
        Self { frame_ancestors, ..self }
    }

    /// Sets the colors, the fonts and the icons of pictures and pages. Default: those of the crate.
    ///
    /// ```
    /// # use toposcope::{Api, Inventory, MemoryStore};
    /// use toposcope::topology::render::{Theme, ThemeColor};
    ///
    /// let theme = Theme::builder().fonts(["Inter", "sans-serif"]).light(ThemeColor::Accent, "#8a1c5b").build()?;
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).theme(theme).build();
    /// # Ok::<(), toposcope::topology::render::InvalidTheme>(())
    /// ```
    #[cfg(feature = "topology")]
    #[must_use]
    pub fn theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// Ends long work once this future is ready, so that the host application can stop.
    ///
    /// Streams of events end, and lists without a limit and pages above 1 MiB are broken off after a record. New ones
    /// are refused with 503 and `Retry-After`. Request bodies may arrive for another half second; then their requests
    /// are refused in the same way, an import with the report of what it has stored. Everything else is still answered.
    /// The host application stops to accept connections itself, and [`Api::drained`] returns when the rest is done.
    ///
    /// The future runs as a task of the tokio runtime in which this method is called, or the first request. APIs that are built from clones
    /// of this builder stop together.
    ///
    /// ```
    /// use axum::Router;
    /// use toposcope::{Api, Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (stop, stopped) = tokio::sync::watch::channel(false);
    /// let asked = || {
    ///     let mut stopped = stopped.clone();
    ///     // An error means that the sender was dropped, which also ends the server.
    ///     async move { stopped.wait_for(|asked| *asked).await.map_or((), drop) }
    /// };
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).shutdown(asked()).build();
    /// let app = Router::new().fallback_service(api.clone());
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    /// let server = tokio::spawn(axum::serve(listener, app).with_graceful_shutdown(asked()).into_future());
    ///
    /// stop.send_replace(true);
    /// server.await??;
    /// api.drained().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn shutdown(self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { shutdown: Shutdown::on(signal), ..self }
    }

    /// Builds the service.
    #[must_use]
    pub fn build(self) -> Api {
        let cookie =
            if self.has_insecure_cookies { self.session_cookie.insecure() } else { self.session_cookie };
        let largest_body = self.body_limit.max(self.bulk_body_limit);
        #[cfg(feature = "discovery")]
        let largest_body = largest_body.max(self.report_body_limit);
        #[cfg(feature = "topology")]
        let drawing_slots = DrawingSlots::default();
        let state = ApiState {
            #[cfg(feature = "topology")]
            topologies: Topologies::new(self.inventory.clone()),
            #[cfg(feature = "topology")]
            drawings: Drawings::new(drawing_slots.clone()),
            #[cfg(feature = "topology")]
            shared_drawings: Drawings::new(drawing_slots),
            #[cfg(feature = "topology")]
            frame_ancestors: self.frame_ancestors,
            #[cfg(feature = "topology")]
            theme: self.theme,
            #[cfg(feature = "topology")]
            drawing_limit: self.drawing_limit,
            responder: Responder::new(self.server_version, self.inventory.clock()),
            credentials: Credentials::new(self.inventory.clone(), cookie),
            bodies: Budget::new(body_bytes(largest_body), ApiError::too_many_bodies),
            incoming_bodies: Budget::new(incoming_bytes(largest_body), ApiError::too_many_bodies),
            path_prefix: self.path_prefix,
            removed: self.removed,
            requests: Requests::default(),
            buckets: self.rate_limit.map(Buckets::new),
            client_prefixes: ClientPrefixes::new(self.client_address, self.client_prefixes),
            body_limit: self.body_limit,
            bulk_body_limit: self.bulk_body_limit,
            import_body_limit: self.import_body_limit,
            cross_site: CrossSitePolicy::new(self.allowed_origins),
            whole_list_limit: self.whole_list_limit,
            list_slots: Budget::new(self.whole_lists_at_once, ApiError::too_many_whole_lists),
            response_bytes: Budget::new(self.unread_responses, ApiError::too_many_unread_responses),
            past_slots: Budget::new(MAX_PAST_READINGS, ApiError::too_many_past_readings),
            bulk_slots: Budget::new(MAX_BULK_REQUESTS, ApiError::too_many_bulk_requests),
            import_slots: Budget::new(MAX_IMPORTS, ApiError::too_many_imports),
            #[cfg(feature = "discovery")]
            report_body_limit: self.report_body_limit,
            #[cfg(feature = "discovery")]
            report_slots: Budget::new(MAX_REPORTS, ApiError::too_many_reports),
            #[cfg(feature = "discovery")]
            report_bytes: Budget::new(report_bytes(self.report_body_limit), ApiError::too_many_reports),
            #[cfg(feature = "discovery")]
            report_rows: Budget::new(REPORT_ROWS, ApiError::too_many_reports),
            event_slots: Budget::new(self.event_streams, ApiError::too_many_streams),
            stall_timeout: self.stall_timeout,
            sweeper: Sweeper::new(self.stall_timeout),
            page_cache: PageCache::new(self.page_cache),
            health: Health::default(),
            revocations: Revocations::new(self.inventory.clone()),
            shutdown: self.shutdown,
            #[cfg(feature = "openapi")]
            descriptions: Default::default(),
            inventory: self.inventory,
        };
        Api { state: Arc::new(state) }
    }
}

/// Returns a path with one slash in front and none at its end; an empty text for the root.
///
/// With two slashes in front, clients would take the first segment for a host name.
pub(in crate::service) fn absolute_path(path: &str) -> String {
    let path = path.trim_matches('/');
    let mut absolute = String::with_capacity(path.len() + 1);
    if !path.is_empty() {
        absolute.push('/');
    }
    for byte in path.bytes() {
        // The characters of a path (RFC 3986, section 3.3), and those already encoded.
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/%".contains(&byte) {
            absolute.push(char::from(byte));
        } else {
            absolute.push_str(&format!("%{byte:02X}"));
        }
    }
    absolute
}
