use std::error::Error as StdError;

use bytes::{Buf, Bytes};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

use crate::wire::ApiError;

/// The body of a request of any type; `None` where it is known to be empty.
pub(super) type RequestBody = Option<Erased>;

/// A body as one type, and how many bytes it has at least: it does not tell that itself any more.
pub(super) struct Erased {
    body: UnsyncBoxBody<Bytes, BrokenOff>,
    at_least: u64,
}

/// What went wrong while a body was read.
#[derive(Debug, thiserror::Error)]
#[error("the body broke off")]
pub(super) struct BrokenOff(#[source] Box<dyn StdError + Send + Sync>);

/// A body as one type, so that all behind it is compiled once.
pub(super) fn erase<B>(body: B) -> RequestBody
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    if body.is_end_stream() {
        return None;
    }
    let at_least = body.size_hint().lower();
    let body = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    Some(Erased { body: body.map_err(|error| BrokenOff(error.into())).boxed_unsync(), at_least })
}

/// What a client sends to an endpoint.
pub(super) struct Input<'r> {
    pub(super) request: &'r Parts,
    pub(super) body: RequestBody,
    /// How many bytes a body has at most.
    pub(super) limit: usize,
}

impl<'r> Input<'r> {
    pub(super) fn query(&self) -> Option<&'r str> {
        self.request.uri.query()
    }

    /// The body, which must be called JSON, and must not be larger than the limit: what is, is not read any further.
    pub(super) async fn json(self) -> Result<Vec<u8>, ApiError> {
        if !is_json(self.request) {
            return Err(ApiError::unsupported_media_type());
        }
        let Self { body: Some(Erased { mut body, at_least }), limit, .. } = self else {
            return Ok(Vec::new());
        };
        let too_large = |length: u64| length > limit as u64;
        if too_large(at_least) {
            return Err(ApiError::request_too_large(limit));
        }
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            // It broke off. Whoever sent it is hardly there any more to read this.
            let frame = frame.map_err(|_| ApiError::malformed_json(1, 1))?;
            // Trailers say nothing here.
            let Ok(data) = frame.into_data() else { continue };
            if too_large(bytes.len() as u64 + data.len() as u64) {
                return Err(ApiError::request_too_large(limit));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    }
}

/// Whether the one `Content-Type` is `application/json`, or any type that says of itself that it is `+json`.
fn is_json(request: &Parts) -> bool {
    let mut given = request.headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return false };
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    match essence.split_once('/') {
        Some(("application", "json")) => true,
        Some((kind, subtype)) => {
            !kind.is_empty() && subtype.strip_suffix("+json").is_some_and(|name| !name.is_empty())
        }
        None => false,
    }
}
