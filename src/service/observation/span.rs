//! The span of a request.

use http::HeaderName;
use http::request::Parts;
use tracing::{Span, field};

use crate::access::{Caller, Credential};
use crate::service::sender::request_id::RequestId;
use crate::service::served::Served;

/// The header with the id that a proxy has given the request, for requests without a [`RequestId`].
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of an id in bytes. A longer one is cut off: clients may send this header, too.
const MAX_REQUEST_ID: usize = 128;

/// Creates the span of a request. Its sender and status are not known yet.
pub(super) fn of(served: &Served, request: &Parts) -> Span {
    tracing::info_span!(
        target: "toposcope::request",
        "request",
        // Not the method of the request, which may be any text.
        method = known_method(request),
        route = served.route,
        request_id = request_id(request),
        organization = field::Empty,
        caller = field::Empty,
        status = field::Empty,
    )
}

pub(super) fn record_sender(span: &Span, served: &Served) {
    if span.is_disabled() {
        return;
    }
    if let Some(caller) = &served.caller {
        span.record("organization", field::display(caller.organization_id()));
    } else if let Some(daemon) = &served.daemon {
        span.record("organization", field::display(daemon.organization_id));
    }
    span.record("caller", kind(served));
}

/// Returns the kind of the sender.
pub(super) fn kind(served: &Served) -> &'static str {
    match served.caller.as_ref().map(Caller::credential) {
        Some(Credential::HostApplication) => "host_application",
        Some(Credential::Session) => "session",
        Some(Credential::UserApiKey { .. }) => "user_api_key",
        Some(Credential::System) => "system",
        None if served.daemon.is_some() => "daemon_api_key",
        None => "none",
    }
}

fn known_method(request: &Parts) -> &str {
    match request.method.as_str() {
        method @ ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") => method,
        _ => "other",
    }
}

/// Returns the request's id: that of the host application, or the header as far as it is visible ASCII.
fn request_id(request: &Parts) -> Option<&str> {
    if let Some(id) = request.extensions.get::<RequestId>() {
        return Some(id.as_str());
    }
    let id = request.headers.get(REQUEST_ID)?.to_str().ok()?;
    id.get(..id.len().min(MAX_REQUEST_ID))
}
