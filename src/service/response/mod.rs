pub(super) mod body;
#[cfg(feature = "csv")]
pub(super) mod csv;
pub(super) mod entity_tag;
pub(super) mod error;
pub(super) mod page_cache;
pub(super) mod shape;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, LOCATION, RETRY_AFTER, SET_COOKIE, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use self::body::ResponseBody;
use self::entity_tag::EntityTag;
use self::error::ApiError;
use super::routes::route::Route;
use super::sender::rate_limit::Allowance;
use crate::access::Clock;
use crate::figures::Counter;
use crate::invariant::Invariant;
use crate::wire::{API_VERSION, ErrorCode, Failure, Meta, Pagination};

const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Number of headers of most responses. Space for more takes the allocator noticeably longer.
const USUAL_HEADERS: usize = 6;
/// Maximum number of headers in a response.
const MAX_HEADERS: usize = 10;

/// The successful result of an endpoint: the parts of its response that are not fixed.
pub(super) struct Outcome {
    /// `None` if the client already has the current state (304).
    body: Option<ResponseBody>,
    status: StatusCode,
    content_type: &'static str,
    cookie: Option<HeaderValue>,
    tag: Option<HeaderValue>,
    /// Whether the `Accept` header decides about the representation.
    varies: bool,
    /// Headers that few endpoints have.
    others: Vec<(HeaderName, HeaderValue)>,
}

/// The media type of envelopes.
pub(super) const JSON: &str = "application/json";

/// The text that closes the metadata and the envelope.
const AFTER_META: &[u8] = b"}}";

/// Number of bytes that the envelope of a small value has at most.
const USUAL_LENGTH: usize = 256;

/// The text that precedes the data of a success: the beginning of [`Success`](crate::wire::Success).
const BEFORE_DATA: &[u8] = b"{\"success\":true,\"data\":";

impl Outcome {
    pub(super) const fn new(body: ResponseBody) -> Self {
        let status = StatusCode::OK;
        Self {
            body: Some(body),
            status,
            content_type: JSON,
            cookie: None,
            tag: None,
            varies: false,
            others: Vec::new(),
        }
    }

    /// Creates a JSON response without an envelope.
    pub(super) fn document(status: StatusCode, document: Bytes) -> Self {
        Self { status, ..Self::new(ResponseBody::full(document)) }
    }

    /// Creates a 304: the client already has the state with this tag.
    pub(super) fn not_modified(tag: &EntityTag) -> Self {
        Self { body: None, tag: Some(tag.header()), ..Self::new(ResponseBody::default()) }
    }

    /// Creates a response of server-sent events.
    #[cfg(feature = "discovery")]
    pub(super) fn events(body: ResponseBody) -> Self {
        let outcome = Self::of_type("text/event-stream", body);
        // Proxies such as nginx otherwise hold back what arrives until they have a whole buffer.
        outcome.with_header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
    }

    /// Creates a response that is no JSON.
    pub(super) fn of_type(content_type: &'static str, body: ResponseBody) -> Self {
        Self { content_type, ..Self::new(body) }
    }

    /// Adds the `Location` of a record that a request to this route has created, where the record has a path.
    pub(super) fn with_location(self, route: &Route, id: impl fmt::Display) -> Result<Self, ApiError> {
        let Some(collection) = route.creates_in else { return Ok(self) };
        let location = HeaderValue::try_from(format!("{collection}/{id}"));
        Ok(self.with_header(LOCATION, location.map_err(|_| ApiError::internal())?))
    }

    /// Adds a header.
    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.others.push((name, value));
        self
    }

    /// Replaces the body, if there is one.
    ///
    /// # Errors
    /// Those of `map`.
    pub(super) fn map_body(
        self,
        map: impl FnOnce(ResponseBody) -> Result<ResponseBody, ApiError>,
    ) -> Result<Self, ApiError> {
        Ok(Self { body: self.body.map(map).transpose()?, ..self })
    }

    /// Adds `Vary: Accept`.
    pub(super) fn vary_by_accept(self) -> Self {
        Self { varies: true, ..self }
    }

    /// Adds an `ETag`, if there is one.
    pub(super) fn with_tag(self, tag: Option<EntityTag>) -> Self {
        Self { tag: tag.map(|tag| tag.header()), ..self }
    }

    /// Adds a `Set-Cookie`.
    pub(super) fn with_cookie(self, cookie: HeaderValue) -> Self {
        Self { cookie: Some(cookie), ..self }
    }
}

/// The `data` of a success without data: `{}`.
#[derive(Serialize)]
struct Empty {}

/// Encodes the envelopes of one server and logs its errors. Clones share the counters of the log.
#[derive(Clone)]
pub(super) struct Responder {
    server_version: String,
    /// The text of the [`Meta`] of a success, up to the place of the pagination.
    meta: Bytes,
    refusals: Arc<RefusalLog>,
    /// Number of requests that failed because the store was unavailable.
    outages: Arc<Counter>,
}

impl Responder {
    /// Creates a responder. The clock limits how often refusals are logged.
    pub(super) fn new(server_version: String, clock: Arc<dyn Clock>) -> Self {
        let meta = json!({"api_version": API_VERSION, "server_version": &server_version}).to_string();
        let meta = format!(",\"meta\":{}", meta.trim_end_matches('}')).into();
        Self { server_version, meta, refusals: Arc::new(RefusalLog::new(clock)), outages: Arc::default() }
    }

    /// Encodes a value in its envelope.
    pub(super) fn value(&self, data: &impl Serialize) -> Result<Outcome, ApiError> {
        Ok(Outcome::new(self.body(data)?))
    }

    /// Encodes a value in its envelope, as a body.
    pub(super) fn body(&self, data: &impl Serialize) -> Result<ResponseBody, ApiError> {
        let mut text = Vec::with_capacity(USUAL_LENGTH);
        text.extend_from_slice(BEFORE_DATA);
        serde_json::to_writer(&mut text, data).map_err(|_| ApiError::internal())?;
        text.extend_from_slice(&self.meta);
        text.extend_from_slice(AFTER_META);
        Ok(ResponseBody::full(text.into()))
    }

    /// Encodes a value in its envelope, as a body, unless it is too large.
    #[cfg(feature = "topology")]
    pub(super) fn bounded_body(&self, data: &impl Serialize, limit: usize) -> Result<ResponseBody, ApiError> {
        let data = crate::topology::render::json(data, limit);
        let data = data.map_err(|error| ApiError::answer_too_large(error.limit))?;
        let parts = [BEFORE_DATA, data.as_bytes(), &self.meta, AFTER_META];
        Ok(ResponseBody::full(parts.concat().into()))
    }

    /// Encodes a record in its envelope. The tag is that of the record.
    pub(super) fn record(&self, record: &impl Serialize, tag: EntityTag) -> Result<Outcome, ApiError> {
        Ok(self.value(record)?.with_tag(Some(tag)))
    }

    /// Encodes the envelope of a stored JSON document.
    pub(super) fn stored_document(&self, document: &[u8]) -> Result<Outcome, ApiError> {
        Ok(Outcome::new(ResponseBody::full([BEFORE_DATA, document, &self.meta, AFTER_META].concat().into())))
    }

    /// Encodes the envelope of a success without data.
    pub(super) fn empty(&self) -> Result<Outcome, ApiError> {
        self.value(&Empty {})
    }

    /// Returns the number of requests that failed because the store was unavailable.
    pub(super) fn outages(&self) -> u64 {
        self.outages.get()
    }

    pub(super) fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Creates the body of one page of a list.
    pub(super) fn page(
        &self,
        documents: Vec<Bytes>,
        pagination: &Pagination,
    ) -> Result<ResponseBody, ApiError> {
        Ok(ResponseBody::page(documents, self.tail(pagination)?))
    }

    pub(super) fn respond(&self, outcome: Result<Outcome, ApiError>) -> Response<ResponseBody> {
        outcome.map_or_else(|error| self.error(error), success)
    }

    /// Encodes the text that closes the envelope of a list.
    pub(super) fn tail(&self, pagination: &Pagination) -> Result<Bytes, ApiError> {
        let mut text = Vec::with_capacity(USUAL_LENGTH);
        text.push(b']');
        text.extend_from_slice(&self.meta);
        text.extend_from_slice(b",\"pagination\":");
        serde_json::to_writer(&mut text, pagination).map_err(|_| ApiError::internal())?;
        text.extend_from_slice(AFTER_META);
        Ok(text.into())
    }

    fn error(&self, error: ApiError) -> Response<ResponseBody> {
        self.log(&error);
        let meta = Meta::new(&self.server_version);
        let (code, status) = (error.code_text().to_owned(), error.status());
        let envelope = Failure { params: error.params, ..Failure::new(code, error.message, meta) };
        // Strings and numbers always encode; if they did not, the status would still be right.
        let body = ResponseBody::full(serde_json::to_vec(&envelope).ok().asserted_or_default().into());
        let mut response = with_body(status, JSON, body, MAX_HEADERS);
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(methods) = error.allow {
            headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        if let Some(seconds) = error.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    /// Logs a server failure with all its causes, counts an outage or a refusal, and ignores client errors.
    pub(super) fn log(&self, error: &ApiError) {
        match &error.cause {
            // While the store is unavailable, every request fails: log one line with a count instead of each.
            Some(cause) if error.code == ErrorCode::StoreUnavailable => {
                self.outages.increment();
                match self.refusals.count(error.code, true) {
                    Some(count) => log_outage(count, &cause.with_causes()),
                    None => tracing::debug!("{}", cause.with_causes()),
                }
            }
            Some(cause) => tracing::error!(code = error.code.as_str(), "{}", cause.with_causes()),
            None if is_refusal(error.code.status()) => {
                if let Some(count) = self.refusals.count(error.code, false) {
                    log_refusals(error.code, count, &error.message);
                }
            }
            None => {}
        }
    }
}

fn success(outcome: Outcome) -> Response<ResponseBody> {
    let (status, content_type) = (outcome.status, outcome.content_type);
    let has_more_headers =
        outcome.varies || outcome.tag.is_some() || outcome.cookie.is_some() || !outcome.others.is_empty();
    let space = if has_more_headers { MAX_HEADERS } else { USUAL_HEADERS };
    let with_body = |body| with_body(status, content_type, body, space);
    let mut response = outcome.body.map_or_else(not_modified, with_body);
    let headers = response.headers_mut();
    if outcome.varies {
        headers.insert(VARY, HeaderValue::from_static("Accept"));
    }
    headers.extend(outcome.others);
    if let Some(cookie) = outcome.cookie {
        headers.insert(SET_COOKIE, cookie);
    }
    if let Some(tag) = outcome.tag {
        headers.insert(ETAG, tag);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    response
}

/// Adds the rate-limit headers, with the state at the time of the request.
pub(super) fn add_allowance(response: &mut Response<ResponseBody>, allowance: &Allowance) {
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

fn with_body(
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
fn not_modified() -> Response<ResponseBody> {
    let mut response = with_fixed_headers(ResponseBody::default(), USUAL_HEADERS);
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}

/// Returns whether an error that is not a server failure protects the server from overload.
const fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// Minimum time between two log lines for one error code.
const INTERVAL: Duration = Duration::from_secs(60);

/// Counts refused requests, and those that failed because the store was unavailable: at most one line a minute for each
/// error code is logged.
///
/// One line per refusal would let any client fill the log. Each line has the number of refusals since the previous
/// line; counts not yet logged are logged when the service is dropped. Memory is bounded by the number of error
/// codes.
struct RefusalLog {
    clock: Arc<dyn Clock>,
    counters: Mutex<Vec<CodeCounter>>,
}

struct CodeCounter {
    code: ErrorCode,
    /// Whether the requests failed, rather than being refused by design.
    is_outage: bool,
    /// Number of requests since the last line.
    count: u64,
    /// Monotonic time of the last line.
    logged_at: Duration,
}

impl RefusalLog {
    const fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, counters: Mutex::new(Vec::new()) }
    }

    /// Counts a request and returns the number of requests to log now, if any.
    fn count(&self, code: ErrorCode, is_outage: bool) -> Option<u64> {
        let now = self.clock.monotonic();
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |counter: &&mut CodeCounter| (counter.code, counter.is_outage) == (code, is_outage);
        let Some(counter) = counters.iter_mut().find(is_same) else {
            counters.push(CodeCounter { code, is_outage, count: 0, logged_at: now });
            return Some(1);
        };
        counter.count = counter.count.saturating_add(1);
        if now.saturating_sub(counter.logged_at) < INTERVAL {
            return None;
        }
        counter.logged_at = now;
        Some(std::mem::take(&mut counter.count))
    }
}

impl Drop for RefusalLog {
    fn drop(&mut self) {
        let counters = self.counters.get_mut().unwrap_or_else(PoisonError::into_inner);
        for CodeCounter { code, is_outage, count, .. } in counters.iter().filter(|counter| counter.count > 0)
        {
            let cause = "the service is shutting down";
            if *is_outage { log_outage(*count, cause) } else { log_refusals(*code, *count, cause) }
        }
    }
}

fn log_outage(count: u64, latest: &str) {
    let code = ErrorCode::StoreUnavailable.as_str();
    tracing::error!(code, count, "requests failed since the previous line; latest: {latest}");
}

fn log_refusals(code: ErrorCode, count: u64, latest: &str) {
    tracing::warn!(
        code = code.as_str(),
        count,
        "requests were refused since the previous line; latest: {latest}"
    );
}
