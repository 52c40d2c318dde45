use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory};

/// Who sends a request: whom the host application has set, or else whose API key the request carries.
pub(super) async fn identify(inventory: &Inventory, request: &Parts) -> Result<Caller, Error> {
    match (known(request), bearer_token(request)) {
        (Err(_), Some(key)) => inventory.authenticate_user_key(key).await,
        (known, _) => known,
    }
}

/// Whom the host application has set.
pub(super) fn known(request: &Parts) -> Result<Caller, Error> {
    Ok(request.extensions.get::<Caller>().ok_or(ErrorKind::NotAuthenticated)?.clone())
}

/// The token of the one `Authorization` header. Two of them are none: which one is meant is not for us to guess.
fn bearer_token(request: &Parts) -> Option<&str> {
    let mut given = request.headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}
