use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde::Serialize;

use super::ResponseBody;
use super::rate_limit::Allowance;
use crate::wire::{API_VERSION, ApiError, Failure, Meta, Pagination, Success};

const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// How many headers a response has at most.
const HEADERS: usize = 9;

/// What an endpoint answers.
pub(super) struct Reply {
    content: Content,
    cookie: Option<HeaderValue>,
}

enum Content {
    /// A value that was encoded for this response.
    Value(Bytes),
    /// Documents as they were stored, and which part of a list they are.
    Page(Vec<Bytes>, Pagination),
}

impl Reply {
    pub(super) const fn page(documents: Vec<Bytes>, pagination: Pagination) -> Self {
        Self { content: Content::Page(documents, pagination), cookie: None }
    }

    /// The same with a `Set-Cookie`.
    pub(super) fn with_cookie(self, cookie: HeaderValue) -> Self {
        Self { cookie: Some(cookie), ..self }
    }
}

/// The data of a success that has none: `{}`.
#[derive(Serialize)]
struct Nothing {}

/// Writes the envelopes of one server.
#[derive(Clone, Debug)]
pub(super) struct Responder {
    server_version: String,
}

impl Responder {
    pub(super) const fn new(server_version: String) -> Self {
        Self { server_version }
    }

    /// The envelope of a value, encoded.
    pub(super) fn value(&self, data: impl Serialize) -> Result<Reply, ApiError> {
        let envelope = Success { success: true, data, meta: self.meta(None) };
        Ok(Reply { content: Content::Value(encode(&envelope)?), cookie: None })
    }

    /// The envelope of a success that has nothing to tell.
    pub(super) fn nothing(&self) -> Result<Reply, ApiError> {
        self.value(Nothing {})
    }

    pub(super) fn server_version(&self) -> &str {
        &self.server_version
    }

    pub(super) fn respond(&self, outcome: Result<Reply, ApiError>) -> Response<ResponseBody> {
        match outcome.and_then(|reply| self.success(reply)) {
            Ok(response) => with_fixed_headers(response),
            Err(error) => self.error(error),
        }
    }

    fn success(&self, reply: Reply) -> Result<Response<ResponseBody>, ApiError> {
        let mut response = Response::new(match reply.content {
            Content::Value(body) => ResponseBody::full(body),
            Content::Page(documents, pagination) => self.page(documents, pagination)?,
        });
        if let Some(cookie) = reply.cookie {
            response.headers_mut().insert(SET_COOKIE, cookie);
        }
        Ok(response)
    }

    fn page(&self, documents: Vec<Bytes>, pagination: Pagination) -> Result<ResponseBody, ApiError> {
        let meta = encode(&self.meta(Some(pagination)))?;
        let tail = [b"],\"meta\":", &meta[..], b"}"].concat();
        Ok(ResponseBody::page(Bytes::from_static(b"{\"success\":true,\"data\":["), documents, tail.into()))
    }

    fn error(&self, error: ApiError) -> Response<ResponseBody> {
        log(&error);
        let envelope = Failure {
            success: false,
            error: error.message,
            code: error.code.as_str().to_owned(),
            params: error.params,
            meta: self.meta(None),
        };
        // Text and numbers alone always encode; and if not, the status would still be right.
        let mut response = Response::new(ResponseBody::full(encode(&envelope).unwrap_or_default()));
        *response.status_mut() = error.code.status();
        let headers = response.headers_mut();
        if error.code.status() == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(methods) = error.allow {
            headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        if let Some(seconds) = error.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        with_fixed_headers(response)
    }

    fn meta(&self, pagination: Option<Pagination>) -> Meta {
        Meta { api_version: API_VERSION, server_version: self.server_version.clone(), pagination }
    }
}

/// Adds what the rate limit has to say, true at the moment of the request.
pub(super) fn add_allowance(response: &mut Response<ResponseBody>, allowance: &Allowance) {
    let headers = response.headers_mut();
    headers.insert(RATE_LIMIT, HeaderValue::from(allowance.limit));
    headers.insert(RATE_REMAINING, HeaderValue::from(allowance.remaining));
    headers.insert(RATE_RESET, HeaderValue::from(allowance.reset));
}

fn with_fixed_headers(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    let headers = response.headers_mut();
    headers.reserve(HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn encode(value: &impl Serialize) -> Result<Bytes, ApiError> {
    serde_json::to_vec(value).map(Bytes::from).map_err(|_| ApiError::internal())
}

/// A fault goes to the log with all its causes; what a client did wrong does not.
fn log(error: &ApiError) {
    if let Some(cause) = &error.cause {
        tracing::error!(code = error.code.as_str(), "{}", cause.with_causes());
    }
}
