use super::cookie;
use super::input::Input;
use super::response::Reply;
use super::shared::Shared;
use crate::inventory::ErrorKind;
use crate::wire::{ApiError, read_login, read_no_query};

/// `POST /api/auth/login`, for everybody.
pub(super) async fn log_in(shared: &Shared, input: Input<'_>) -> Result<Reply, ApiError> {
    read_no_query(input.query())?;
    let client = shared.clients.prefix(input.request);
    let login = read_login(&input.json().await?)?;
    let session = shared.inventory.log_in_from(client, &login.email, login.password).await?;
    let header = cookie::begin(&session, shared.secure_cookies)?;
    Ok(shared.responder.value(session.user())?.with_cookie(header))
}

/// `POST /api/auth/logout`, also without a session. Every session that a cookie names ends, whatever else the request
/// carries.
pub(super) async fn log_out(shared: &Shared, input: Input<'_>) -> Result<Reply, ApiError> {
    for id in cookie::session_ids(input.request) {
        match shared.inventory.authenticate_session(id).await {
            Ok(_) => shared.cross_site.check(input.request)?,
            Err(error) if matches!(error.kind(), ErrorKind::StoreUnavailable | ErrorKind::Internal) => {
                return Err(error.into());
            }
            // That nobody is logged in is no reason not to be logged out.
            Err(_) => {}
        }
    }
    read_no_query(input.query())?;
    for id in cookie::session_ids(input.request) {
        shared.inventory.log_out(id).await?;
    }
    Ok(shared.responder.nothing()?.with_cookie(cookie::end(shared.secure_cookies)?))
}
