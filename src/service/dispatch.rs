//! The path of a request from its route to its response.

use std::pin::pin;

use http::header::{CONNECTION, CONTENT_LENGTH, LOCATION};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, Version};
use tracing::Instrument;

use super::endpoints::once::IDEMPOTENCY_KEY;
#[cfg(feature = "topology")]
use super::endpoints::topology;
use super::input::PathParameters;
use super::input::{BodyEnd, Input, RequestBody};
use super::observation::Observation;
use super::response::body::{RequestRoom, ResponseBody};
use super::response::error::{ApiError, catch_panic};
use super::response::{Outcome, add_allowance};
use super::revocations::RequestStart;
use super::routes::RouteTable;
use super::routes::route::{BodyLimit, Call, Repetition, Route};
use super::sender::{AllowedSenders, Sender};
use super::state::ApiState;
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind};

/// Maximum size of the body of a request without a credential, in bytes. They are names and passwords.
const PUBLIC_BODY_LIMIT: usize = 16 * 1024;

impl ApiState {
    pub(super) async fn respond(&self, request: &Parts, body: RequestBody) -> Response<ResponseBody> {
        let found = RouteTable::find(&request.method, request.uri.path(), self.removed);
        let route = found.as_ref().ok().map(|(route, _)| *route);
        let begun_at = self.inventory.monotonic();
        let mut observation = Observation::begin(route, request, &self.requests, begun_at);
        let span = observation.span().clone();
        let began = self.revocations.moment(begun_at);
        // Instrumented by reference: moving the future would copy kilobytes.
        let mut response = {
            let answering = pin!(self.answer(request, body, found, began, &mut observation));
            answering.instrument(span).await
        };
        observation.end(&mut response, self.inventory.monotonic());
        response
    }

    async fn answer<'r>(
        &'r self,
        request: &'r Parts,
        body: RequestBody,
        found: Result<(&'static Route, PathParameters<'r>), ApiError>,
        began: RequestStart,
        observation: &mut Observation<'_>,
    ) -> Response<ResponseBody> {
        let work = self.shutdown.begin();
        let body_end = BodyEnd::of(body.as_ref());
        let access = found.as_ref().ok().map(|(route, _)| route.access);
        #[cfg(feature = "topology")]
        let page = found.as_ref().ok().map(|(route, _)| route.answer).filter(|answer| answer.is_page());
        let by_host_application =
            || self.credentials.set_by_host_application(request).map(|caller| caller.map(Sender::Caller));
        let sender = match access {
            Some(access) if access.is_public() => by_host_application(),
            // Nothing is done for the caller, whose organization need not exist.
            None | Some(AllowedSenders::Session) if request.extensions.get::<Caller>().is_some() => {
                by_host_application()
            }
            _ => Some(catch_panic(pin!(self.identify(access, request))).await),
        };
        let identified = sender.as_ref().and_then(|sender| sender.as_ref().ok());
        observation.sent_by(identified);
        let prefix = if identified.is_none() { self.client_prefixes.of(request) } else { None };
        let allowance = match access {
            Some(AllowedSenders::Unlimited) => None,
            _ => self.allowance(identified, prefix),
        };
        let mut room = RequestRoom::new(self.body_budgets(), Self::holder(identified, prefix));
        // Endpoints without a credential read, or have short answers.
        let is_refusable = request.method.is_safe() || access.is_none_or(AllowedSenders::is_public);
        let admission = match allowance.and_then(|allowance| allowance.retry_after) {
            Some(seconds) => Err(ApiError::rate_limit_exceeded(seconds)),
            None if is_refusable => Ok(()),
            None => room.begin_write(&self.response_bytes).map_err(ApiError::from),
        };
        let outcome = match admission {
            Err(error) => Err(error),
            Ok(()) => {
                let body_limit = self.body_limit_of(found.as_ref().ok().map(|(route, _)| *route));
                let body = body.map(|body| body.limited(self.stall_timeout, &self.shutdown));
                let audit = observation.audit(request, found.as_ref().ok().map(|(_, path)| path));
                let serving = pin!(async {
                    let input = Input { request, began, body, body_limit, room: &room };
                    let outcome = catch_panic(pin!(self.handle(found, sender, input))).await?;
                    self.hold_bytes(room, outcome)
                });
                match audit {
                    Some(audit) => audit.note(serving).await,
                    None => serving.await,
                }
            }
        };
        observation.ended_with(&outcome);
        #[cfg(feature = "topology")]
        let failure = page.and_then(|page| topology::failure_page(self, page, outcome.as_ref().err()?));
        let mut response = self.responder.respond(outcome);
        add_prefix(&mut response, &self.path_prefix);
        #[cfg(feature = "topology")]
        if let Some(failure) = failure {
            response = failure.replace_body(response);
        }
        if let Some(allowance) = &allowance {
            add_allowance(&mut response, allowance);
        }
        if !body_end.is_reached() && !lacks_time(response.status()) {
            let dropping = pin!(async {
                body_end.drop_rest(request).await;
                Ok::<_, ApiError>(())
            });
            // The response is sent, too, if the body panics.
            catch_panic(dropping).await.ok();
        }
        if !body_end.is_reached() {
            close_if_early(&mut response, request.version);
        }
        if request.method == Method::HEAD {
            return without_body(response);
        }
        response.body_mut().hold(work);
        response
    }

    /// Reserves the bytes of the body of a response until the client has read it.
    pub(super) fn hold_bytes(&self, room: RequestRoom<'_>, outcome: Outcome) -> Result<Outcome, ApiError> {
        outcome.map_body(|body| {
            let reserve = |bytes| room.into_answer(&self.response_bytes, bytes);
            Ok(body.held(reserve, &self.sweeper)?)
        })
    }

    /// Identifies the sender by the credentials that the endpoint accepts.
    async fn identify(&self, access: Option<AllowedSenders>, request: &Parts) -> Result<Sender, Error> {
        match access {
            Some(access) => self.credentials.identify(access, request).await,
            None => self.credentials.identify_caller(request).await.map(Sender::Caller),
        }
    }

    /// Returns the maximum size of a body, in bytes. It is small for endpoints without a credential, which
    /// accept bodies of any client.
    fn body_limit_of(&self, route: Option<&Route>) -> usize {
        match route.map(|route| (route.access, route.body_limit)) {
            Some((access, _)) if access.is_public() => self.body_limit.min(PUBLIC_BODY_LIMIT),
            Some((_, BodyLimit::Bulk)) => self.bulk_body_limit,
            #[cfg(feature = "discovery")]
            Some((_, BodyLimit::Report)) => self.report_body_limit,
            _ => self.body_limit,
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
            access if access.is_public() || matches!(access, AllowedSenders::Session) => None,
            access => {
                let sender = sender.unwrap_or_else(|| Err(ErrorKind::NotAuthenticated.into()));
                let sender = self.admit(sender, input.request)?;
                access.check(&sender)?;
                Some(sender)
            }
        };
        if let Repetition::Refused { reason } = route.repetition
            && input.request.headers.contains_key(&IDEMPOTENCY_KEY)
        {
            return Err(ApiError::idempotency_key_not_accepted(reason));
        }
        (route.handler)(Call::new(self, route, path, sender, input)).await
    }
}

/// Announces that the connection closes, if the response was sent before the body of its request had arrived.
///
/// A server closes a connection whose request did not arrive to its end. The client must not use it again.
pub(super) fn close_if_early(response: &mut Response<ResponseBody>, version: Version) {
    if is_early(response.status()) && version < Version::HTTP_2 {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Returns whether a response with this status means that the server or the client has no time for the body.
const fn lacks_time(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    )
}

/// Returns whether a response with this status is usually sent before the body of its request has arrived.
const fn is_early(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE
    )
}

/// Puts the path below which clients see the service before the `Location`.
fn add_prefix(response: &mut Response<ResponseBody>, prefix: &str) {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let Some(location) = location.filter(|_| !prefix.is_empty()) else { return };
    if let Ok(location) = HeaderValue::try_from(format!("{prefix}{location}")) {
        response.headers_mut().insert(LOCATION, location);
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
