//! Results of endpoints, and the responses of them.

use std::fmt;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, LINK, LOCATION, SET_COOKIE, VARY};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use super::JSON;
use super::body::ResponseBody;
use super::entity_tag::EntityTag;
use super::error::ApiError;
use super::headers::{MAX_HEADERS, USUAL_HEADERS, not_modified, with_body};
use crate::service::routes::route::Route;

/// The successful result of an endpoint: the parts of its response that are not fixed.
pub(in crate::service) struct Outcome {
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

impl Outcome {
    pub(in crate::service) const fn new(body: ResponseBody) -> Self {
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
    pub(in crate::service) fn document(status: StatusCode, document: Bytes) -> Self {
        Self { status, ..Self::new(ResponseBody::full(document)) }
    }

    /// Creates a 304: the client already has the state with this tag.
    pub(in crate::service) fn not_modified(tag: &EntityTag) -> Self {
        Self { body: None, tag: Some(tag.header()), ..Self::new(ResponseBody::default()) }
    }

    /// Creates a response of server-sent events.
    pub(in crate::service) fn events(body: ResponseBody) -> Self {
        let outcome = Self::of_type("text/event-stream", body);
        // Proxies such as nginx otherwise hold back data until they have a whole buffer.
        outcome.with_header(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))
    }

    /// Creates a response that is no JSON.
    pub(in crate::service) fn of_type(content_type: &'static str, body: ResponseBody) -> Self {
        Self { content_type, ..Self::new(body) }
    }

    /// Adds the `Location` of a record that a request to this route has created, where the record has a path.
    pub(in crate::service) fn with_location(
        self,
        route: &Route,
        id: impl fmt::Display,
    ) -> Result<Self, ApiError> {
        let Some(collection) = route.creates_in else { return Ok(self) };
        let location = HeaderValue::try_from(format!("{collection}/{id}"));
        Ok(self.with_header(LOCATION, location.map_err(|_| ApiError::internal())?))
    }

    /// Adds a header.
    pub(in crate::service) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.others.push((name, value));
        self
    }

    /// Adds a `Link` to the next page, if there is one.
    pub(in crate::service) fn with_next_page(self, link: Option<HeaderValue>) -> Self {
        match link {
            Some(link) => self.with_header(LINK, link),
            None => self,
        }
    }

    /// Replaces the body, if there is one.
    ///
    /// # Errors
    /// The errors of `map`.
    pub(in crate::service) fn map_body(
        self,
        map: impl FnOnce(ResponseBody) -> Result<ResponseBody, ApiError>,
    ) -> Result<Self, ApiError> {
        Ok(Self { body: self.body.map(map).transpose()?, ..self })
    }

    /// Adds `Vary: Accept`.
    pub(in crate::service) fn vary_by_accept(self) -> Self {
        Self { varies: true, ..self }
    }

    /// Adds an `ETag`, if there is one.
    pub(in crate::service) fn with_tag(self, tag: Option<EntityTag>) -> Self {
        Self { tag: tag.map(|tag| tag.header()), ..self }
    }

    /// Adds a `Set-Cookie`.
    pub(in crate::service) fn with_cookie(self, cookie: HeaderValue) -> Self {
        Self { cookie: Some(cookie), ..self }
    }

    /// Creates the response.
    pub(super) fn into_response(self) -> Response<ResponseBody> {
        let (status, content_type) = (self.status, self.content_type);
        let has_more_headers =
            self.varies || self.tag.is_some() || self.cookie.is_some() || !self.others.is_empty();
        let space = if has_more_headers { MAX_HEADERS } else { USUAL_HEADERS };
        let with_body = |body| with_body(status, content_type, body, space);
        let mut response = self.body.map_or_else(not_modified, with_body);
        let headers = response.headers_mut();
        if self.varies {
            headers.insert(VARY, HeaderValue::from_static("Accept"));
        }
        headers.extend(self.others);
        if let Some(cookie) = self.cookie {
            headers.insert(SET_COOKIE, cookie);
        }
        if let Some(tag) = self.tag {
            headers.insert(ETAG, tag);
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        }
        response
    }
}
