pub(super) mod body;
#[cfg(feature = "csv")]
pub(super) mod csv;
pub(super) mod entity_tag;
pub(super) mod error;
mod headers;
mod outcome;
pub(super) mod page_cache;
mod refusal_log;
pub(super) mod shape;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use self::body::ResponseBody;
use self::entity_tag::EntityTag;
use self::error::ApiError;
pub(super) use self::headers::add_allowance;
use self::headers::{MAX_HEADERS, with_body};
pub(super) use self::outcome::Outcome;
use self::refusal_log::{RefusalLog, is_refusal, log_outage, log_refusals};
use crate::access::Clock;
use crate::figures::Counter;
use crate::invariant::Invariant;
use crate::wire::{API_VERSION, ErrorCode, Failure, Meta, Pagination};

/// The media type of envelopes.
pub(super) const JSON: &str = "application/json";

/// The text that closes the metadata and the envelope.
const AFTER_META: &[u8] = b"}}";

/// Number of bytes that the envelope of a small value has at most.
const USUAL_LENGTH: usize = 256;

/// The text that precedes the data of a success: the beginning of [`Success`](crate::wire::Success).
const BEFORE_DATA: &[u8] = b"{\"success\":true,\"data\":";

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
        outcome.map_or_else(|error| self.error(error), Outcome::into_response)
    }

    /// Encodes the text that closes the envelope of a list.
    pub(super) fn tail(&self, pagination: &impl Serialize) -> Result<Bytes, ApiError> {
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
