//! Endpoints with rules of their own.
//!
//! Each checks, in this order: the id in the path, the query, the body, and the rules of the inventory.

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use super::health::{Check, HealthReport};
use crate::service::input::{
    Fields, Login, read_health_query, read_id, read_login, read_no_query, read_referral,
};
use crate::service::response::Outcome;
use crate::service::response::error::{ApiError, STORE_RETRY_AFTER};
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::credentials::is_fault;
use crate::service::state::ApiState;
use crate::wire::API_VERSION;

/// The versions of the API and of the application that embeds it.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(in crate::service) struct Versions<'a> {
    pub(in crate::service) api_version: u32,
    pub(in crate::service) server_version: &'a str,
}

/// `GET /api/version`.
pub(in crate::service) fn version(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        read_no_query(&call.input)?;
        let responder = &call.state.responder;
        responder.value(&Versions { api_version: API_VERSION, server_version: responder.server_version() })
    })
}

/// `GET /api/health`.
pub(in crate::service) fn health(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let check = if read_health_query(call.input.query(), &call.route.query)? {
            Check::Write
        } else {
            Check::Read
        };
        let state = call.state;
        let is_healthy = state.health.check(check, &state.inventory).await;
        let failure = match check {
            Check::Read => "The store does not answer.",
            Check::Write => "The store does not accept writes.",
        };
        report(state, Some(failure).filter(|_| !is_healthy))
    })
}

/// `GET /api/health/live`: the server answers, whether or not its store does.
pub(in crate::service) fn live(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        read_no_query(&call.input)?;
        report(call.state, None)
    })
}

fn report(state: &ApiState, failure: Option<&'static str>) -> Result<Outcome, ApiError> {
    let is_healthy = failure.is_none();
    let report = HealthReport {
        success: is_healthy,
        data: is_healthy.then(|| format!("Toposcope {}", state.responder.server_version())),
        error: failure,
    };
    let body = serde_json::to_vec(&report).map(Bytes::from).map_err(|_| ApiError::internal())?;
    if is_healthy {
        return Ok(Outcome::document(StatusCode::OK, body));
    }
    let unavailable = Outcome::document(StatusCode::SERVICE_UNAVAILABLE, body);
    Ok(unavailable.with_header(RETRY_AFTER, HeaderValue::from(STORE_RETRY_AFTER)))
}

/// `POST /api/auth/login`.
pub(in crate::service) fn log_in(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        read_no_query(&call.input)?;
        let state = call.state;
        let client = state.client_prefixes.of(call.input.request);
        let body = call.input.json().await?;
        let Login { email, password, organization } = read_login(&Fields::read(&body, call.route.body)?)?;
        let session = state.inventory.log_in_to(client, organization, &email, password).await?;
        let cookie = state.credentials.cookie.begin(&session)?;
        Ok(state.responder.value(session.user())?.with_cookie(cookie))
    })
}

/// `POST /api/auth/logout`, with or without a session.
///
/// Ends every session whose id is in a cookie, whatever other credentials the request carries.
pub(in crate::service) fn log_out(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let ids = state.credentials.cookie.session_ids(request);
        for id in &ids {
            match state.inventory.authenticate_session(id).await {
                Ok(_) => state.cross_site.check(request)?,
                Err(error) if is_fault(&error) => return Err(error.into()),
                // A logout without a valid session succeeds.
                Err(_) => {}
            }
        }
        read_no_query(&call.input)?;
        for id in ids {
            state.inventory.log_out(id).await?;
        }
        Ok(state.responder.empty()?.with_cookie(state.credentials.cookie.end()?))
    })
}

/// `GET /api/v1/shares/public/{id}`.
pub(in crate::service) fn share_metadata(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        call.state.responder.value(&call.state.inventory.shares().metadata(id).await?)
    })
}

/// `POST /api/v1/organizations/referral-source`.
pub(in crate::service) fn submit_referral(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let (source, other) = read_referral(&Fields::read(&body, call.route.body)?)?;
        call.state.inventory.users().submit_referral(&caller, &source, other.as_deref()).await?;
        call.state.responder.empty()
    })
}
