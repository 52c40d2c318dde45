//! Headers that many responses have.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::body::ResponseBody;
use crate::invariant::Invariant;
use crate::service::sender::rate_limit::Allowance;

const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Number of headers of most responses. Space for more takes the allocator noticeably longer.
pub(super) const USUAL_HEADERS: usize = 6;
/// Maximum number of headers in a response.
pub(super) const MAX_HEADERS: usize = 10;

/// Adds the rate-limit headers, with the state at the time of the request.
pub(in crate::service) fn add_allowance(response: &mut Response<ResponseBody>, allowance: &Allowance) {
    let headers = response.headers_mut();
    headers.insert(RATE_LIMIT, number(allowance.limit.into()));
    headers.insert(RATE_REMAINING, number(allowance.remaining));
    headers.insert(RATE_RESET, number(allowance.reset));
}

/// Returns a number as the value of a header. Its conversion to one takes two allocations, and this takes one.
fn number(mut number: u64) -> HeaderValue {
    let mut digits = [b'0'; 20];
    let mut begin = digits.len();
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + u8::try_from(number % 10).ok().asserted_or_default();
        number /= 10;
        begin = place;
        if number == 0 {
            break;
        }
    }
    let value = digits.get(begin..).and_then(|digits| HeaderValue::from_bytes(digits).ok());
    value.asserted().unwrap_or(HeaderValue::from_static("0"))
}

/// Creates a response with the headers that all responses have, and space for some more.
fn with_fixed_headers(body: ResponseBody, space: usize) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.reserve(space);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Creates a response with a body of this type.
pub(super) fn with_body(
    status: StatusCode,
    content_type: &'static str,
    body: ResponseBody,
    space: usize,
) -> Response<ResponseBody> {
    let mut response = with_fixed_headers(body, space);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Creates a 304, which has neither a body nor a `Content-Type`.
pub(super) fn not_modified() -> Response<ResponseBody> {
    let mut response = with_fixed_headers(ResponseBody::default(), USUAL_HEADERS);
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}
