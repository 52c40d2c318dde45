use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde_json::{Map, Value};

use super::transport::BoxError;
use crate::wire::ErrorCode;

/// The error of a request that did not succeed.
///
/// ```
/// use std::time::Duration;
/// use toposcope::client::ClientError;
/// use toposcope::wire::ErrorCode;
///
/// /// Returns how long to wait before the request is worth repeating.
/// fn delay(error: &ClientError) -> Option<Duration> {
///     match error.code() {
///         Some(ErrorCode::EntityConflict) => Some(Duration::ZERO),
///         _ => error.retry_after(),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct ClientError(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: ClientErrorKind,
    message: String,
    status: Option<StatusCode>,
    code: Option<String>,
    params: Map<String, Value>,
    retry_after: Option<Duration>,
    source: Option<BoxError>,
}

/// The kind of a [`ClientError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientErrorKind {
    /// The request cannot be expressed, for example because of an invalid base URL. Nothing was sent.
    Request,
    /// The service failed, or the response broke off. The server may have received the request.
    Transport,
    /// The response is not one of this API, or cannot be decoded.
    UnexpectedResponse,
    /// The response is larger than the limit of the client.
    ResponseTooLarge,
    /// The server responded with an error, which has a [`code`](ClientError::code).
    Api,
}

impl ClientError {
    fn new(kind: ClientErrorKind, message: impl Into<String>) -> Self {
        let (status, code, params, retry_after, source) = (None, None, Map::new(), None, None);
        Self(Box::new(Details { kind, message: message.into(), status, code, params, retry_after, source }))
    }

    pub(super) fn request(message: impl Into<String>) -> Self {
        Self::new(ClientErrorKind::Request, message)
    }

    pub(super) fn transport(message: &str, source: impl Into<BoxError>) -> Self {
        Self::new(ClientErrorKind::Transport, message).caused_by(source)
    }

    pub(super) fn unexpected(message: impl Into<String>) -> Self {
        Self::new(ClientErrorKind::UnexpectedResponse, message)
    }

    pub(super) fn caused_by(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(super) fn too_large(limit: usize) -> Self {
        Self::new(ClientErrorKind::ResponseTooLarge, format!("The response is larger than {limit} bytes."))
    }

    /// Creates the error for a response that is not a success.
    pub(super) fn of_response(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let mut error = match serde_json::from_slice::<Failure>(body) {
            Ok(failure) if !failure.success => {
                let mut error = Self::new(ClientErrorKind::Api, failure.error);
                (error.0.code, error.0.params) = (failure.code, failure.params);
                error
            }
            _ => Self::unexpected(describe(headers)),
        };
        error.0.retry_after = retry_after(headers);
        error.with_status(status)
    }

    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ClientErrorKind {
        self.0.kind
    }

    /// Returns the status of the response; `None` if there is none.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        self.0.status
    }

    /// Returns the error code. `None` if the server sent none, or one that this version does not know.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        let text: StrDeserializer<'_, ValueError> = self.code_text()?.into_deserializer();
        ErrorCode::deserialize(text).ok()
    }

    /// Returns the error code as the server sent it, known or not.
    #[must_use]
    pub fn code_text(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// Returns the details of an API error. The documentation of each [`ErrorCode`] lists the keys.
    #[must_use]
    pub fn params(&self) -> &Map<String, Value> {
        &self.0.params
    }

    /// Returns the sentence that describes the error to a person; for API errors, the server's.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the time after which the server suggests repeating the request. It comes from the header `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { message, status, code, .. } = &*self.0;
        formatter.write_str(message)?;
        match (status, code) {
            (Some(status), Some(code)) => write!(formatter, " ({code}, status {})", status.as_u16()),
            (Some(status), None) => write!(formatter, " (status {})", status.as_u16()),
            (None, _) => Ok(()),
        }
    }
}

impl StdError for ClientError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// The envelope of an error. The envelope of the health check has neither a code nor params.
#[derive(Deserialize)]
struct Failure {
    success: bool,
    error: String,
    code: Option<String>,
    #[serde(default)]
    params: Map<String, Value>,
}

fn describe(headers: &HeaderMap) -> String {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    format!("The response is not one of this API. Its content type is {}.", content_type.unwrap_or("unknown"))
}

/// Returns the delay in a `Retry-After` header. A date is ignored.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
