//! Credentials of a request, and the sites that may use a session. The credentials are in the `Authorization` header or
//! the session cookie.

use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};

use super::{Access, Sender};
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory, IssuedSession};
use crate::service::response::error::ApiError;

const COOKIE_NAME: &str = "session_id";

/// Maximum length of the cookie's path. Browsers ignore attributes of more than 1,024 bytes.
const MAX_COOKIE_PATH: usize = 1024;

/// Maximum number of session ids read from one request; further ones are ignored.
///
/// Browsers send one, or two while a cookie of an older path or domain exists. Each id costs look-ups in the store,
/// and the headers of a request have room for thousands.
const MAX_SESSION_IDS: usize = 4;

/// Identifies the sender of a request by the credentials that an endpoint looks at.
pub(in crate::service) async fn identify(
    inventory: &Inventory,
    access: Access,
    request: &Parts,
) -> Result<Sender, Error> {
    match access {
        Access::Session => identify_by_cookie(inventory, request).await.map(Sender::Caller),
        #[cfg(feature = "discovery")]
        Access::Daemon => identify_daemon(inventory, request).await,
        #[cfg(feature = "discovery")]
        Access::CallerOrDaemon(_) => match identify_caller(inventory, request).await {
            // A valid key, but of a daemon.
            Err(error) if *error.kind() == ErrorKind::UserContextRequired => {
                identify_daemon(inventory, request).await
            }
            caller => caller.map(Sender::Caller),
        },
        _ => identify_caller(inventory, request).await.map(Sender::Caller),
    }
}

#[cfg(feature = "discovery")]
async fn identify_daemon(inventory: &Inventory, request: &Parts) -> Result<Sender, Error> {
    let key = bearer_token(request).ok_or(ErrorKind::NotAuthenticated)?;
    inventory.authenticate_daemon_key(key).await.map(Sender::Daemon)
}

/// Identifies the caller of a request.
///
/// A caller set by the host application has precedence, then the API key in the `Authorization` header, then the
/// session cookie. Cookies are ignored if the request has an `Authorization` header, even an invalid one.
pub(in crate::service) async fn identify_caller(
    inventory: &Inventory,
    request: &Parts,
) -> Result<Caller, Error> {
    if let Some(caller) = set_by_host_application(request) {
        return Ok(caller.clone());
    }
    if request.headers.contains_key(AUTHORIZATION) {
        let key = bearer_token(request).ok_or(ErrorKind::NotAuthenticated)?;
        return inventory.authenticate_user_key(key).await;
    }
    identify_by_cookie(inventory, request).await
}

/// Identifies the caller by the session cookie alone.
pub(in crate::service) async fn identify_by_cookie(
    inventory: &Inventory,
    request: &Parts,
) -> Result<Caller, Error> {
    let session = session_id(request).ok_or(ErrorKind::NotAuthenticated)?;
    inventory.authenticate_session(session).await
}

/// Returns the caller that the host application has set as a request extension.
pub(in crate::service) fn set_by_host_application(request: &Parts) -> Option<&Caller> {
    request.extensions.get()
}

/// Returns the token of the only `Authorization` header. With several headers it is ambiguous, and none is used.
pub(in crate::service) fn bearer_token(request: &Parts) -> Option<&str> {
    let mut headers = request.headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (headers.next(), headers.next()) else { return None };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}

/// Returns the session id in a request's cookies.
///
/// A request with two different ids is ambiguous, so neither is used.
fn session_id(request: &Parts) -> Option<&str> {
    let mut ids = session_ids(request);
    let first = ids.next()?;
    ids.all(|other| other == first).then_some(first)
}

/// Returns the first [`MAX_SESSION_IDS`] session ids in a request's cookies.
pub(in crate::service) fn session_ids(request: &Parts) -> impl Iterator<Item = &str> {
    let headers = request.headers.get_all(COOKIE).iter();
    let cookies = headers.flat_map(|header| header.as_bytes().split(|byte| *byte == b';'));
    let ids = cookies.filter_map(|cookie| {
        // Other cookies may hold any bytes, so each one is decoded on its own.
        let (name, value) = std::str::from_utf8(cookie).ok()?.split_once('=')?;
        (name.trim() == COOKIE_NAME).then(|| value.trim().trim_matches('"'))
    });
    ids.take(MAX_SESSION_IDS)
}

/// The cookie that carries a session, except for its value.
#[derive(Clone, Debug)]
pub(in crate::service) struct SessionCookie {
    path: String,
    is_secure: bool,
}

/// The cookie is sent with every request, and over HTTPS only.
impl Default for SessionCookie {
    fn default() -> Self {
        Self { path: "/".to_owned(), is_secure: true }
    }
}

impl SessionCookie {
    /// # Errors
    /// If a browser would not accept the path as it is.
    pub(in crate::service) fn with_path(self, path: String) -> Result<Self, CookiePathError> {
        let is_valid = path.starts_with('/')
            && path.len() <= MAX_COOKIE_PATH
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
        if is_valid { Ok(Self { path, ..self }) } else { Err(CookiePathError) }
    }

    pub(in crate::service) fn insecure(self) -> Self {
        Self { is_secure: false, ..self }
    }

    /// Returns the `Set-Cookie` value for a new session, with the lifetime of the session.
    pub(in crate::service) fn begin(&self, session: &IssuedSession) -> Result<HeaderValue, ApiError> {
        let (begin, end) = (session.session().created_at, session.session().expires_at);
        self.header(session.plaintext(), (end.unix_micros() - begin.unix_micros()) / 1_000_000)
    }

    /// Returns the `Set-Cookie` value that makes a browser delete its session cookie.
    pub(in crate::service) fn end(&self) -> Result<HeaderValue, ApiError> {
        self.header("", 0)
    }

    fn header(&self, value: &str, seconds: i64) -> Result<HeaderValue, ApiError> {
        let Self { path, is_secure } = self;
        let secure = if *is_secure { "; Secure" } else { "" };
        let text =
            format!("{COOKIE_NAME}={value}; Path={path}; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
        let mut header = HeaderValue::try_from(text).map_err(|_| ApiError::internal())?;
        header.set_sensitive(true);
        Ok(header)
    }
}

/// The error for a text that is not a valid path of a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cookie path must begin with `/` and have at most 1024 visible ASCII characters, without `;`")]
#[non_exhaustive]
pub struct CookiePathError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Decides which sites may write with a user's session.
///
/// Browsers attach the session cookie to every request, including those that another site's page sends.
#[derive(Debug)]
pub(in crate::service) struct CrossSitePolicy {
    /// Origins allowed in addition to the request's own host.
    allowed_origins: Vec<String>,
}

impl CrossSitePolicy {
    pub(in crate::service) const fn new(allowed_origins: Vec<String>) -> Self {
        Self { allowed_origins }
    }

    /// Checks a request that uses a session. Non-browser clients pass, because they send neither header.
    ///
    /// # Errors
    /// `auth_cross_site_request` if the method writes and a page of another site sent the request.
    pub(in crate::service) fn check(&self, request: &Parts) -> Result<(), ApiError> {
        let is_reading = request.method == Method::GET || request.method == Method::HEAD;
        let is_allowed = is_reading
            || !is_marked_cross_site(&request.headers)
                && request.headers.get_all(ORIGIN).iter().all(|origin| {
                    origin.to_str().is_ok_and(|origin| self.is_listed(origin) || is_own(origin, request))
                });
        if is_allowed { Ok(()) } else { Err(ApiError::cross_site_request()) }
    }

    fn is_listed(&self, origin: &str) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

fn is_marked_cross_site(headers: &HeaderMap) -> bool {
    headers.get_all(SEC_FETCH_SITE).iter().any(|site| site.as_bytes().eq_ignore_ascii_case(b"cross-site"))
}

/// Returns whether an origin is the host that the request was sent to.
///
/// Schemes are not compared: behind a proxy that terminates TLS, the service does not know its own scheme.
fn is_own(origin: &str, request: &Parts) -> bool {
    let authority = request.uri.authority().map(http::uri::Authority::as_str);
    let header = || request.headers.get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = authority.or_else(header) else { return false };
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let without_port =
        |authority: &str| authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
    without_port(authority) == without_port(host)
}
