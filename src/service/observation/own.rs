//! Observation of requests to endpoints of the host application.

use std::time::Duration;

use http::Response;
use http::request::Parts;
use tracing::Span;

use super::{Requests, span};
use crate::service::response::body::ResponseBody;
use crate::service::sender::Sender;
use crate::service::served::Served;

/// A request to an endpoint of the host application.
#[derive(Clone, Debug)]
pub(in crate::service) struct OwnObservation {
    begun_at: Duration,
    span: Span,
}

impl OwnObservation {
    /// Begins at a monotonic time.
    pub(in crate::service) fn begin(request: &Parts, begun_at: Duration) -> Self {
        Self { begun_at, span: span::of(&Served::of_own_endpoint(), request) }
    }

    pub(in crate::service) const fn span(&self) -> &Span {
        &self.span
    }

    /// Notes the sender of the request.
    pub(in crate::service) fn sent_by(&self, sender: Option<&Sender>) {
        if !self.span.is_disabled() {
            let mut served = Served::of_own_endpoint();
            served.sent_by(sender);
            span::record_sender(&self.span, &served);
        }
    }

    /// Ends with the head of the response, at a monotonic time. The span continues until its body has ended.
    pub(in crate::service) fn end(
        &self,
        response: &mut Response<ResponseBody>,
        requests: &Requests,
        now: Duration,
    ) {
        let status = response.status();
        requests.count_own(status, now.saturating_sub(self.begun_at));
        if !self.span.is_disabled() {
            self.span.record("status", status.as_u16());
            response.body_mut().keep_in(self.span.clone());
        }
    }
}
