use http::HeaderValue;
use http::header::COOKIE;
use http::request::Parts;

use crate::inventory::IssuedSession;
use crate::wire::ApiError;

const NAME: &str = "session_id";

/// The session id of a request's cookies. Two that differ are none: which one is meant is not for us to guess.
pub(super) fn session_id(request: &Parts) -> Option<&str> {
    let mut given = session_ids(request);
    let first = given.next()?;
    given.all(|other| other == first).then_some(first)
}

/// All session ids of a request's cookies. The other cookies may be of any bytes.
pub(super) fn session_ids(request: &Parts) -> impl Iterator<Item = &str> {
    let headers = request.headers.get_all(COOKIE).iter();
    let cookies = headers.flat_map(|header| header.as_bytes().split(|byte| *byte == b';'));
    cookies.filter_map(|cookie| {
        let (name, value) = std::str::from_utf8(cookie).ok()?.split_once('=')?;
        (name.trim() == NAME).then(|| value.trim().trim_matches('"'))
    })
}

/// The header that gives a browser a session, to be sent back with every request until it ends.
pub(super) fn begin(session: &IssuedSession, is_secure: bool) -> Result<HeaderValue, ApiError> {
    let (begin, end) = (session.session().created_at, session.session().expires_at);
    header(session.plaintext(), (end.unix_micros() - begin.unix_micros()) / 1_000_000, is_secure)
}

/// The header that has a browser forget its session.
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
