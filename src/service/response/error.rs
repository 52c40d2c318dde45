use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::invariant::Invariant;
use crate::inventory::{ApplicationCode, Error, ErrorKind, ImportReport};
use crate::printable::printable;
use crate::service::budget::BudgetExhausted;
use crate::wire::{ErrorCode, MAX_LIMIT};

/// An error response, with the values for its headers and for the log.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) code: ErrorCode,
    /// The code of the host application, which the response has in place of `code`.
    pub(crate) application_code: Option<ApplicationCode>,
    pub(crate) message: String,
    pub(crate) params: Map<String, Value>,
    /// Seconds after which the client may retry; `None` if no `Retry-After` header is sent.
    pub(crate) retry_after: Option<u64>,
    /// The methods that the path supports, for the `Allow` header.
    pub(crate) allow: Option<&'static str>,
    /// The server's failure, for the log; `None` for client errors and for refusals by design.
    pub(crate) cause: Option<Error>,
}

/// Seconds after which a client may retry a request that the store could not serve.
pub(in crate::service) const STORE_RETRY_AFTER: u64 = 1;

/// Maximum number of characters of a parameter's name in a sentence.
const MAX_PARAMETER: usize = 64;

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        let message = message.into();
        Self { code, application_code: None, message, params, retry_after: None, allow: None, cause: None }
    }

    /// Returns the code as the response has it.
    pub(crate) fn code_text(&self) -> &str {
        self.application_code.map_or(self.code.as_str(), ApplicationCode::as_str)
    }

    /// Returns the status of the response.
    pub(crate) fn status(&self) -> StatusCode {
        self.application_code.map_or_else(|| self.code.status(), ApplicationCode::status)
    }

    pub(crate) fn unknown_parameter(field: &str) -> Self {
        let message =
            format!("There is no query parameter \"{}\" at this endpoint.", printable(field, MAX_PARAMETER));
        Self::new(ErrorCode::ValidationUnknownParameter, message, json!({"field": field}))
    }

    /// Creates the error for a parameter that looks like a filter by a custom field. `example` is such a filter.
    pub(crate) fn unknown_custom_filter(field: &str, example: &str) -> Self {
        let error = Self::unknown_parameter(field);
        let message = format!("{} A filter by a custom field has the form `{example}`.", error.message);
        Self { message, ..error }
    }

    pub(crate) fn route_not_found() -> Self {
        Self::new(ErrorCode::RouteNotFound, "No route matches this path.", Value::Null)
    }

    /// Creates the error for a path that has a route without the slash at its end.
    pub(crate) fn trailing_slash() -> Self {
        let message = "No route matches this path, but one does without the `/` at its end.";
        Self::new(ErrorCode::RouteNotFound, message, Value::Null)
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        let message = format!("This path supports only these methods: {allow}.");
        Self { allow: Some(allow), ..Self::new(ErrorCode::MethodNotAllowed, message, Value::Null) }
    }

    pub(crate) fn rate_limit_exceeded(retry_after: u64) -> Self {
        let message = format!("Too many requests. Retry in {retry_after} seconds.");
        let params = json!({"retry_after": retry_after});
        Self { retry_after: Some(retry_after), ..Self::new(ErrorCode::RateLimitExceeded, message, params) }
    }

    pub(crate) fn too_many_whole_lists(retry_after: u64) -> Self {
        let message = format!(
            "Too many lists without a limit are being sent. Set `limit` to 1 to {MAX_LIMIT}, or retry in {retry_after} seconds."
        );
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    #[cfg(feature = "topology")]
    pub(crate) fn too_many_drawings(retry_after: u64) -> Self {
        let message = format!("Too many topologies are being drawn. Retry in {retry_after} seconds.");
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    pub(crate) fn too_many_unread_responses(retry_after: u64) -> Self {
        let message = format!(
            "Too many bytes of responses wait for their clients. Read the responses to earlier requests, or retry in \
             {retry_after} seconds."
        );
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    pub(crate) fn too_many_bulk_requests(retry_after: u64) -> Self {
        let message = format!("Too many bulk requests are being processed. Retry in {retry_after} seconds.");
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    pub(crate) fn too_many_imports(retry_after: u64) -> Self {
        let message = format!("Too many imports are running. Retry in {retry_after} seconds.");
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    pub(crate) fn too_many_past_readings(retry_after: u64) -> Self {
        let message = format!(
            "Too many lists, diffs and summaries of the past are being made, or one for you. Retry in {retry_after} seconds."
        );
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    pub(crate) fn too_many_bodies(retry_after: u64) -> Self {
        let message = format!("Too many large bodies are being received. Retry in {retry_after} seconds.");
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    #[cfg(feature = "discovery")]
    pub(crate) fn too_many_reports(retry_after: u64) -> Self {
        let message = format!("Too many reports are being imported. Retry in {retry_after} seconds.");
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    pub(crate) fn too_many_streams(retry_after: u64) -> Self {
        let message =
            format!("Too many streams are open. Close one of them, and retry in {retry_after} seconds.");
        Self { message, ..Self::rate_limit_exceeded(retry_after) }
    }

    pub(crate) fn cross_site_request() -> Self {
        let message = "A request that uses a session must come from this site or from an allowed origin.";
        Self::new(ErrorCode::AuthCrossSiteRequest, message, Value::Null)
    }

    /// Creates the error for a body that is not JSON, with a sentence. Line and column are counted from 1.
    pub(crate) fn malformed_json(message: impl Into<String>, line: usize, column: usize) -> Self {
        Self::new(ErrorCode::ValidationMalformedJson, message, json!({"line": line, "column": column}))
    }

    /// Creates the error for an idempotency key at an endpoint that refuses it, with the reason.
    pub(crate) fn idempotency_key_not_accepted(reason: &str) -> Self {
        let message = format!("The header Idempotency-Key is not accepted here: {reason}.");
        Self::new(ErrorCode::ValidationInvalidFormat, message, json!({"field": "Idempotency-Key"}))
    }

    /// Creates the error for an upload that ended early.
    pub(crate) fn upload_incomplete() -> Self {
        let message = "The upload ended early; the report has what was done before.";
        Self::new(ErrorCode::RequestIncomplete, message, Value::Null)
    }

    /// Creates the error for an import of which no line could be stored.
    pub(crate) fn import_refused(report: &ImportReport) -> Self {
        let message = format!(
            "No line could be imported, and {} were refused; the report has the reasons for the first of them.",
            report.refused
        );
        Self::new(ErrorCode::ImportRefused, message, Value::Null).with_report(report)
    }

    /// Adds the report of an import.
    pub(crate) fn with_report(mut self, report: &ImportReport) -> Self {
        let report = serde_json::to_value(report).ok().asserted_or_default();
        self.params.insert("report".to_owned(), report);
        self
    }

    /// Creates the error for a body that breaks off. The connection is most likely lost, so the position does not matter.
    pub(crate) fn body_incomplete() -> Self {
        Self::malformed_json("The body did not arrive to its end.", 1, 1)
    }

    /// Creates the error for a body whose client has sent nothing, or too little, for too long.
    pub(crate) fn request_timeout() -> Self {
        let message = "The body did not arrive in time. Send it without pauses, at 32 KiB a second or more.";
        Self::new(ErrorCode::RequestTimeout, message, Value::Null)
    }

    /// Creates the error for a request that would keep a stopping server from ending.
    pub(crate) fn stopping() -> Self {
        let message = "The server is shutting down. Repeat the request after the time in `Retry-After`.";
        let error = Self::new(ErrorCode::ServerStopping, message, Value::Null);
        Self { retry_after: Some(STORE_RETRY_AFTER), ..error }
    }

    /// Creates the error for a list without a limit that has more than `max` items.
    pub(crate) fn list_too_long(max: u64) -> Self {
        let message = format!(
            "The list has more than {max} items, too many to send without a limit. Set `limit` to 1 to {MAX_LIMIT}."
        );
        let params = json!({"field": "limit", "min": 1, "max": MAX_LIMIT});
        Self::new(ErrorCode::ValidationOutOfRange, message, params)
    }

    /// Creates the error for a body that is too large. Without a limit, the host application knows it alone.
    pub(crate) fn request_too_large(limit: Option<u64>) -> Self {
        let message = limit.map_or_else(
            || "The body is larger than this server accepts.".to_owned(),
            |limit| format!("The body is larger than the maximum of {limit} bytes."),
        );
        Self::new(ErrorCode::RequestTooLarge, message, json!({"limit": limit}))
    }

    /// Creates the error for a graph whose encoding is larger than `limit` bytes.
    #[cfg(feature = "topology")]
    pub(crate) fn answer_too_large(limit: usize) -> Self {
        let message = format!(
            "The answer is larger than the maximum of {limit} bytes. Select a part of the network, such as with `focus` or `tag_ids`."
        );
        Self::new(ErrorCode::AnswerTooLarge, message, json!({"limit": limit}))
    }

    pub(crate) fn unsupported_media_type(expected: &str) -> Self {
        let message = format!("The `Content-Type` header must be one of: {expected}.");
        Self::new(ErrorCode::RequestUnsupportedMediaType, message, Value::Null)
    }

    pub(crate) fn unsupported_encoding() -> Self {
        let message =
            "The body has a `Content-Encoding`. Send it without compression, and without this header.";
        Self::new(ErrorCode::RequestUnsupportedMediaType, message, Value::Null)
    }

    pub(crate) fn internal() -> Self {
        Error::from(ErrorKind::Internal).into()
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let cause =
            std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<BudgetExhausted>());
        if let Some(exhausted) = cause {
            return Self::from(*exhausted);
        }
        let (code, params) = (error.code(), error.params());
        let application_code = error.application_code();
        let is_fault =
            matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unreadable | ErrorKind::StoreUnavailable);
        let message = error.client_message();
        let retry_after = match error.kind() {
            ErrorKind::StoreUnavailable
            | ErrorKind::PolicyUnavailable
            | ErrorKind::IndexIncomplete
            | ErrorKind::Busy => Some(STORE_RETRY_AFTER),
            ErrorKind::TooManyAttempts { retry_after } => Some(*retry_after),
            _ => None,
        };
        let cause = is_fault.then_some(error);
        Self { code, application_code, message, params, retry_after, allow: None, cause }
    }
}

/// Runs a future and turns a panic into an internal error.
///
/// A panic, for example in a store, then fails one request and not the connection with all others on it. The future
/// is borrowed because moving it in here would double the size of the caller's future.
pub(in crate::service) async fn catch_panic<T, E: From<Error>>(
    mut future: Pin<&mut impl Future<Output = Result<T, E>>>,
) -> Result<T, E> {
    let poll = |context: &mut Context<'_>| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<&str>().copied();
            let text =
                text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message");
            Poll::Ready(Err(Error::internal(format!("a request panicked: {text}")).into()))
        })
    };
    poll_fn(poll).await
}
