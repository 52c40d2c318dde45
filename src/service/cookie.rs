//! The session cookie: reading it from a request, setting and clearing it in a response.

use http::HeaderValue;
use http::header::COOKIE;
use http::request::Parts;

use crate::inventory::IssuedSession;
use crate::wire::ApiError;

const NAME: &str = "session_id";

/// How many session ids of one request are read; further ones are ignored.
///
/// Browsers send one, or two while a cookie of an older path or domain exists. Each id that is read costs look-ups in
/// the store, and the headers of a request have room for thousands.
const MAX_SESSION_IDS: usize = 4;

/// Returns the session id in a request's cookies, or `None` when there is none or when two differ.
///
/// A request with two different ids is ambiguous, so neither is used.
pub(super) fn session_id(request: &Parts) -> Option<&str> {
    let mut given = session_ids(request);
    let first = given.next()?;
    given.all(|other| other == first).then_some(first)
}

/// Returns the first [`MAX_SESSION_IDS`] session ids in a request's cookies.
///
/// Other cookies may hold any bytes.
pub(super) fn session_ids(request: &Parts) -> impl Iterator<Item = &str> {
    let headers = request.headers.get_all(COOKIE).iter();
    let cookies = headers.flat_map(|header| header.as_bytes().split(|byte| *byte == b';'));
    let ids = cookies.filter_map(|cookie| {
        let (name, value) = std::str::from_utf8(cookie).ok()?.split_once('=')?;
        (name.trim() == NAME).then(|| value.trim().trim_matches('"'))
    });
    ids.take(MAX_SESSION_IDS)
}

/// Returns the `Set-Cookie` value that hands a new session to a browser until the session ends.
pub(super) fn begin(session: &IssuedSession, is_secure: bool) -> Result<HeaderValue, ApiError> {
    let (begin, end) = (session.session().created_at, session.session().expires_at);
    header(session.plaintext(), (end.unix_micros() - begin.unix_micros()) / 1_000_000, is_secure)
}

/// Returns the `Set-Cookie` value that makes a browser delete its session cookie.
pub(super) fn end(is_secure: bool) -> Result<HeaderValue, ApiError> {
    header("", 0, is_secure)
}

fn header(value: &str, seconds: i64, is_secure: bool) -> Result<HeaderValue, ApiError> {
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{NAME}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    let mut header = HeaderValue::try_from(text).map_err(|_| ApiError::internal())?;
    header.set_sensitive(true);
    Ok(header)
}
