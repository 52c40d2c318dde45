use http::header::AUTHORIZATION;
use http::request::Parts;

use super::cookie;
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory};

/// Who sends a request: whom the host application has set, or else whose API key or session the request carries. A header
/// `Authorization` decides, whatever it holds; only without one is there a look at the cookies.
pub(super) async fn identify(inventory: &Inventory, request: &Parts) -> Result<Caller, Error> {
    if let Some(caller) = known(request) {
        return Ok(caller.clone());
    }
    if request.headers.contains_key(AUTHORIZATION) {
        let key = bearer_token(request).ok_or(ErrorKind::NotAuthenticated)?;
        return inventory.authenticate_user_key(key).await;
    }
    by_cookie(inventory, request).await
}

/// Whose session the request carries.
pub(super) async fn by_cookie(inventory: &Inventory, request: &Parts) -> Result<Caller, Error> {
    let session = cookie::session_id(request).ok_or(ErrorKind::NotAuthenticated)?;
    inventory.authenticate_session(session).await
}

/// Whom the host application has set.
pub(super) fn known(request: &Parts) -> Option<&Caller> {
    request.extensions.get()
}

/// The token of the one `Authorization` header. Two of them are none: which one is meant is not for us to guess.
fn bearer_token(request: &Parts) -> Option<&str> {
    let mut given = request.headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}
