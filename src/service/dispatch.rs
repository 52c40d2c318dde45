//! The path of a request from its route to its response.

use std::pin::pin;

use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::endpoints::once::IDEMPOTENCY_KEY;
#[cfg(feature = "topology")]
use super::endpoints::topology;
use super::input::PathParameters;
use super::input::{Input, RequestBody};
use super::response::body::ResponseBody;
use super::response::error::{ApiError, catch_panic};
use super::response::{Outcome, add_allowance};
use super::routes::RouteTable;
#[cfg(feature = "topology")]
use super::routes::route::Answer;
use super::routes::route::{BodyLimit, Call, Repetition, Route};
use super::sender::credentials;
use super::sender::{Access, Sender};
use super::state::ApiState;
use crate::inventory::{Error, ErrorKind};

impl ApiState {
    pub(super) async fn respond(&self, request: &Parts, body: RequestBody) -> Response<ResponseBody> {
        let found = RouteTable::find(&request.method, request.uri.path());
        let access = found.as_ref().ok().map(|(route, _)| route.access);
        #[cfg(feature = "topology")]
        let is_page = matches!(&found, Ok((Route { answer: Answer::Html, .. }, _)));
        let sender = match (credentials::set_by_host_application(request), access) {
            #[cfg(feature = "discovery")]
            (_, Some(Access::Daemon)) => Some(catch_panic(pin!(self.identify(access, request))).await),
            (Some(caller), _) => Some(Ok(Sender::Caller(caller.clone()))),
            (None, Some(access)) if access.is_public() => None,
            _ => Some(catch_panic(pin!(self.identify(access, request))).await),
        };
        let allowance = match access {
            Some(Access::Unlimited) => None,
            _ => self.allowance(request, sender.as_ref().and_then(|sender| sender.as_ref().ok())),
        };
        let outcome = match allowance.and_then(|allowance| allowance.retry_after) {
            Some(seconds) => Err(ApiError::rate_limit_exceeded(seconds)),
            None => {
                let body_limit = match found.as_ref().map(|(route, _)| route.body_limit) {
                    Ok(BodyLimit::Bulk) => self.bulk_body_limit,
                    #[cfg(feature = "discovery")]
                    Ok(BodyLimit::Report) => self.report_body_limit,
                    _ => self.body_limit,
                };
                let body = body.map(|body| body.with_patience(self.patience));
                let input = Input { request, body, body_limit };
                catch_panic(pin!(self.handle(found, sender, input))).await
            }
        };
        let mut response = self.responder.respond(outcome);
        #[cfg(feature = "topology")]
        if is_page && !response.status().is_success() {
            response = topology::failure_page(response, &self.frame_ancestors);
        }
        if let Some(allowance) = &allowance {
            add_allowance(&mut response, allowance);
        }
        if request.method == Method::HEAD { without_body(response) } else { response }
    }

    /// Identifies the sender by the credentials that the endpoint looks at.
    async fn identify(&self, access: Option<Access>, request: &Parts) -> Result<Sender, Error> {
        match access {
            Some(access) => credentials::identify(&self.inventory, access, request).await,
            None => credentials::identify_caller(&self.inventory, request).await.map(Sender::Caller),
        }
    }

    async fn handle<'r>(
        &'r self,
        found: Result<(&'static Route, PathParameters<'r>), ApiError>,
        sender: Option<Result<Sender, Error>>,
        input: Input<'r>,
    ) -> Result<Outcome, ApiError> {
        let (route, path) = found?;
        let sender = match route.access {
            access if access.is_public() || matches!(access, Access::Session) => None,
            access => {
                let sender = sender.unwrap_or_else(|| Err(ErrorKind::NotAuthenticated.into()));
                let sender = self.admit(sender, input.request)?;
                access.check(&sender)?;
                Some(sender)
            }
        };
        if route.repetition == Repetition::Refused && input.request.headers.contains_key(&IDEMPOTENCY_KEY) {
            return Err(ApiError::idempotency_key_not_accepted());
        }
        (route.handler)(Call::new(self, (route, RouteTable::all()), path, sender, input)).await
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
