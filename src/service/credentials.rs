//! Credentials of a request: the `Authorization` header and the session cookie.

use http::HeaderValue;
use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;

use super::error::ApiError;
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory, IssuedSession};

const COOKIE_NAME: &str = "session_id";

/// Maximum length of the cookie's path. Browsers ignore attributes of more than 1,024 bytes.
const MAX_COOKIE_PATH: usize = 1024;

/// Maximum number of session ids read from one request; further ones are ignored.
///
/// Browsers send one, or two while a cookie of an older path or domain exists. Each id costs look-ups in the store,
/// and the headers of a request have room for thousands.
const MAX_SESSION_IDS: usize = 4;

/// Identifies the caller of a request.
///
/// A caller set by the host application has precedence, then the API key in the `Authorization` header, then the
/// session cookie. Cookies are ignored if the request has an `Authorization` header, even an invalid one.
pub(super) async fn identify(inventory: &Inventory, request: &Parts) -> Result<Caller, Error> {
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
pub(super) async fn identify_by_cookie(inventory: &Inventory, request: &Parts) -> Result<Caller, Error> {
    let session = session_id(request).ok_or(ErrorKind::NotAuthenticated)?;
    inventory.authenticate_session(session).await
}

/// Returns the caller that the host application has set as a request extension.
pub(super) fn set_by_host_application(request: &Parts) -> Option<&Caller> {
    request.extensions.get()
}

/// Returns the token of the only `Authorization` header. With several headers it is ambiguous, and none is used.
fn bearer_token(request: &Parts) -> Option<&str> {
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
pub(super) fn session_ids(request: &Parts) -> impl Iterator<Item = &str> {
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
pub(super) struct SessionCookie {
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
    pub(super) fn with_path(self, path: String) -> Result<Self, CookiePathError> {
        let is_valid = path.starts_with('/')
            && path.len() <= MAX_COOKIE_PATH
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
        if is_valid { Ok(Self { path, ..self }) } else { Err(CookiePathError) }
    }

    pub(super) fn insecure(self) -> Self {
        Self { is_secure: false, ..self }
    }

    /// Returns the `Set-Cookie` value for a new session, with the lifetime of the session.
    pub(super) fn begin(&self, session: &IssuedSession) -> Result<HeaderValue, ApiError> {
        let (begin, end) = (session.session().created_at, session.session().expires_at);
        self.header(session.plaintext(), (end.unix_micros() - begin.unix_micros()) / 1_000_000)
    }

    /// Returns the `Set-Cookie` value that makes a browser delete its session cookie.
    pub(super) fn end(&self) -> Result<HeaderValue, ApiError> {
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
