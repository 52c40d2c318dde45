//! All endpoints except the list of hosts.
//!
//! Each checks, in this order: the level, the id in the path, the query, the body, and the rules of the inventory.

use serde::Serialize;

use super::credentials::{identify, session_ids};
use super::error::ApiError;
use super::input::{
    Input, read_daemon_key, read_id, read_login, read_no_query, read_port_update, read_referral,
    read_user_key_update,
};
use super::response::{Outcome, Responder};
use super::state::ApiState;
use crate::access::Caller;
use crate::inventory::{
    ErrorKind, may_create_daemon_api_keys, may_manage_user_api_keys, may_submit_referrals, may_update_ports,
};
use crate::model::DaemonApiKey;
use crate::wire::API_VERSION;

#[derive(Serialize)]
struct Versions<'a> {
    api_version: u32,
    server_version: &'a str,
}

/// `GET /api/version`, without credentials.
pub(super) fn version(responder: &Responder, query: Option<&str>) -> Result<Outcome, ApiError> {
    read_no_query(query)?;
    responder.value(Versions { api_version: API_VERSION, server_version: responder.server_version() })
}

/// `POST /api/auth/login`, without credentials.
pub(super) async fn log_in(state: &ApiState, input: Input<'_>) -> Result<Outcome, ApiError> {
    read_no_query(input.query())?;
    let client = state.client_prefixes.of(input.request);
    let (email, password) = read_login(&input.json().await?)?;
    let session = state.inventory.log_in_from(client, &email, password).await?;
    let cookie = state.session_cookie.begin(&session)?;
    Ok(state.responder.value(session.user())?.with_cookie(cookie))
}

/// `POST /api/auth/logout`, with or without a session.
///
/// Ends every session whose id is in a cookie, whatever other credentials the request carries.
pub(super) async fn log_out(state: &ApiState, input: Input<'_>) -> Result<Outcome, ApiError> {
    for id in session_ids(input.request) {
        match state.inventory.authenticate_session(id).await {
            Ok(_) => state.cross_site.check(input.request)?,
            Err(error) if matches!(error.kind(), ErrorKind::StoreUnavailable | ErrorKind::Internal) => {
                return Err(error.into());
            }
            // A logout without a valid session succeeds.
            Err(_) => {}
        }
    }
    read_no_query(input.query())?;
    for id in session_ids(input.request) {
        state.inventory.log_out(id).await?;
    }
    Ok(state.responder.empty()?.with_cookie(state.session_cookie.end()?))
}

/// `PUT /api/v1/ports/{id}`, for Members and above.
pub(super) async fn update_port(
    state: &ApiState,
    caller: &Caller,
    id: &str,
    input: Input<'_>,
) -> Result<Outcome, ApiError> {
    may_update_ports(caller)?;
    let id = read_id(id)?;
    let (update, caller) = read_body(state, input, read_port_update).await?;
    state.responder.value(state.inventory.update_port(&caller, id, update).await?)
}

/// A new daemon key. No other response contains its plain text.
#[derive(Serialize)]
struct CreatedDaemonKey<'k> {
    api_key: DaemonApiKey,
    key: &'k str,
}

/// `POST /api/v1/auth/daemon`, for Members and above.
pub(super) async fn create_daemon_key(
    state: &ApiState,
    caller: &Caller,
    input: Input<'_>,
) -> Result<Outcome, ApiError> {
    may_create_daemon_api_keys(caller)?;
    let (new, caller) = read_body(state, input, read_daemon_key).await?;
    let issued = state.inventory.create_daemon_api_key_as(&caller, new).await?;
    let api_key = DaemonApiKey { key: issued.plaintext().to_owned(), ..issued.record().clone() };
    state.responder.value(CreatedDaemonKey { api_key, key: issued.plaintext() })
}

/// `PUT /api/v1/auth/keys/{id}`, for sessions of any level.
pub(super) async fn update_user_key(
    state: &ApiState,
    caller: &Caller,
    id: &str,
    input: Input<'_>,
) -> Result<Outcome, ApiError> {
    may_manage_user_api_keys(caller)?;
    let id = read_id(id)?;
    let (update, caller) = read_body(state, input, read_user_key_update).await?;
    state.responder.value(state.inventory.update_user_api_key_as(&caller, id, &update).await?)
}

/// `DELETE /api/v1/auth/keys/{id}`, for sessions of any level.
pub(super) async fn delete_user_key(
    state: &ApiState,
    caller: &Caller,
    id: &str,
    input: Input<'_>,
) -> Result<Outcome, ApiError> {
    may_manage_user_api_keys(caller)?;
    let id = read_id(id)?;
    read_no_query(input.query())?;
    state.inventory.delete_user_api_key_as(caller, id).await?;
    state.responder.empty()
}

/// `GET /api/v1/shares/public/{id}`, without credentials.
pub(super) async fn share_metadata(
    state: &ApiState,
    id: &str,
    query: Option<&str>,
) -> Result<Outcome, ApiError> {
    let id = read_id(id)?;
    read_no_query(query)?;
    state.responder.value(state.inventory.share_metadata(id).await?)
}

/// `POST /api/v1/organizations/referral-source`, for sessions of any level.
pub(super) async fn submit_referral(
    state: &ApiState,
    caller: &Caller,
    input: Input<'_>,
) -> Result<Outcome, ApiError> {
    may_submit_referrals(caller)?;
    let ((source, other), caller) = read_body(state, input, read_referral).await?;
    state.inventory.submit_referral(&caller, &source, other.as_deref()).await?;
    state.responder.empty()
}

/// Reads the query, which must be empty, and the body. Returns the value of the body and the caller.
///
/// The caller is identified again: a client may take any time to send the body, and the caller's rights may have been
/// withdrawn meanwhile.
async fn read_body<T>(
    state: &ApiState,
    input: Input<'_>,
    read: impl FnOnce(&[u8]) -> Result<T, ApiError>,
) -> Result<(T, Caller), ApiError> {
    read_no_query(input.query())?;
    let request = input.request;
    let value = read(&input.json().await?)?;
    Ok((value, identify(&state.inventory, request).await?))
}
