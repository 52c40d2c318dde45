//! Observation of requests: spans, audit log, figures.

mod audit;
mod figures;
mod own;
mod span;

use std::time::Duration;

use http::Response;
use http::request::Parts;
use tracing::Span;

use self::audit::Audit;
pub(super) use self::figures::Requests;
pub use self::figures::{ApiFigures, LimitFigures, RouteFigures};
pub(super) use self::own::OwnObservation;
use super::input::PathParameters;
use super::response::body::ResponseBody;
use super::response::error::ApiError;
use super::routes::route::Route;
use super::sender::Sender;
use super::served::Served;

/// A request that is being served.
///
/// Dropped before its end, it counts as a request that was dropped: its client, or a layer before the service, did not
/// wait for the answer.
pub(super) struct Observation<'r> {
    route: Option<&'static Route>,
    requests: &'r Requests,
    begun_at: Duration,
    span: Span,
    /// `None` once the response has it.
    served: Option<Served>,
}

impl<'r> Observation<'r> {
    /// Begins at a monotonic time.
    pub(super) fn begin(
        route: Option<&'static Route>,
        request: &Parts,
        requests: &'r Requests,
        begun_at: Duration,
    ) -> Self {
        let served = Served::new(route);
        let span = span::of(&served, request);
        Self { route, requests, begun_at, span, served: Some(served) }
    }

    pub(super) const fn span(&self) -> &Span {
        &self.span
    }

    /// Notes the sender of the request.
    pub(super) fn sent_by(&mut self, sender: Option<&Sender>) {
        let Some(served) = &mut self.served else { return };
        served.sent_by(sender);
        span::record_sender(&self.span, served);
    }

    /// Begins to note the changes of the request for the audit log, if it may make some.
    pub(super) fn audit(&self, request: &Parts, path: Option<&PathParameters<'_>>) -> Option<Audit> {
        Audit::begin(request, path, self.served.as_ref()?)
    }

    /// Notes how the request has ended.
    pub(super) fn ended_with<T>(&mut self, outcome: &Result<T, ApiError>) {
        if let Some(served) = &mut self.served {
            served.ended_with(outcome);
        }
    }

    /// Ends with the head of the response, at a monotonic time. The span continues until its body has ended.
    pub(super) fn end(mut self, response: &mut Response<ResponseBody>, now: Duration) {
        let status = response.status();
        self.requests.count(self.route, status, now.saturating_sub(self.begun_at));
        if !self.span.is_disabled() {
            self.span.record("status", status.as_u16());
            response.body_mut().keep_in(self.span.clone());
        }
        if let Some(served) = self.served.take() {
            response.extensions_mut().insert(served);
        }
    }
}

impl Drop for Observation<'_> {
    fn drop(&mut self) {
        if self.served.is_some() {
            self.requests.dropped.increment();
        }
    }
}
