use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory};

/// Who sends a request: whom the host application has set, or else whose API key the request carries.
pub(super) async fn identify(inventory: &Inventory, request: &Parts) -> Result<Caller, Error> {
    if let Some(caller) = request.extensions.get::<Caller>() {
        return Ok(caller.clone());
    }
    let key = bearer_token(request).ok_or(ErrorKind::NotAuthenticated)?;
    inventory.authenticate_user_key(key).await
}

/// The token of the one `Authorization` header. Two of them are none: which one is meant is not for us to guess.
fn bearer_token(request: &Parts) -> Option<&str> {
    let mut given = request.headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}
