//! The path of a request from its route to its response.

use std::pin::pin;

use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::body::ResponseBody;
use super::error::{ApiError, catch_panic};
use super::input::{Input, RequestBody};
use super::response::{Outcome, add_allowance};
use super::route::Route;
use super::state::ApiState;
use super::{credentials, endpoints, hosts};
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind};

impl ApiState {
    pub(super) async fn respond(&self, request: &Parts, body: RequestBody) -> Response<ResponseBody> {
        let route = Route::find(&request.method, request.uri.path());
        let caller = catch_panic(pin!(self.caller(route.as_ref().ok(), request))).await;
        let allowance = self.allowance(request, caller.as_ref().ok());
        let outcome = match allowance.and_then(|allowance| allowance.retry_after) {
            Some(seconds) => Err(ApiError::rate_limit_exceeded(seconds)),
            None => {
                let input = Input { request, body, body_limit: self.body_limit };
                catch_panic(pin!(self.handle(route, caller, input))).await
            }
        };
        let mut response = self.responder.respond(outcome);
        if let Some(allowance) = &allowance {
            add_allowance(&mut response, allowance);
        }
        if request.method == Method::HEAD { without_body(response) } else { response }
    }

    /// Identifies the caller by the credentials that the route uses.
    async fn caller(&self, route: Option<&Route<'_>>, request: &Parts) -> Result<Caller, Error> {
        match (credentials::set_by_host_application(request), route) {
            (Some(caller), _) => Ok(caller.clone()),
            (None, Some(route)) if route.is_public() => Err(ErrorKind::NotAuthenticated.into()),
            (None, Some(Route::LogOut)) => credentials::identify_by_cookie(&self.inventory, request).await,
            _ => credentials::identify(&self.inventory, request).await,
        }
    }

    async fn handle(
        &self,
        route: Result<Route<'_>, ApiError>,
        caller: Result<Caller, Error>,
        input: Input<'_>,
    ) -> Result<Outcome, ApiError> {
        let caller = || self.admit(caller, input.request);
        match route? {
            Route::Version => endpoints::version(&self.responder, input.query()),
            Route::ListHosts => hosts::list(self, &caller()?, input.request).await,
            // Boxed, so that the future of the most frequent requests stays small.
            Route::LogIn => Box::pin(endpoints::log_in(self, input)).await,
            Route::LogOut => Box::pin(endpoints::log_out(self, input)).await,
            Route::UpdatePort(id) => Box::pin(endpoints::update_port(self, &caller()?, id, input)).await,
            Route::CreateDaemonKey => Box::pin(endpoints::create_daemon_key(self, &caller()?, input)).await,
            Route::UpdateUserKey(id) => {
                Box::pin(endpoints::update_user_key(self, &caller()?, id, input)).await
            }
            Route::DeleteUserKey(id) => {
                Box::pin(endpoints::delete_user_key(self, &caller()?, id, input)).await
            }
            Route::ShareMetadata(id) => Box::pin(endpoints::share_metadata(self, id, input.query())).await,
            Route::SubmitReferral => Box::pin(endpoints::submit_referral(self, &caller()?, input)).await,
        }
    }
}

/// Turns the response to a GET into the response to a HEAD.
///
/// The length of the omitted body becomes the `Content-Length`, if it is known.
fn without_body(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    if let Some(length) = response.body().length()
        && response.status() != StatusCode::NOT_MODIFIED
    {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    response.map(|_| ResponseBody::default())
}
