//! The OpenAPI document, made from the route table and from the types of the records.

mod document;
mod errors;
mod examples;
mod inputs;
mod operation;
mod parameters;
mod schemas;

use std::sync::LazyLock;

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;

use super::entity_tag::EntityTag;
use super::error::ApiError;
use super::input::read_no_query;
use super::response::Outcome;
use super::routes::{Call, Pending};

/// Returns the OpenAPI 3.1 document of the API.
///
/// The API serves it at `/openapi.json` and `/api/openapi.json`. Its server URL is relative to the former, so that the
/// document is valid wherever the API is mounted.
///
/// ```
/// let document = toposcope::openapi();
/// assert_eq!(document["openapi"], "3.1.0");
/// assert_eq!(document["paths"]["/api/v1/hosts"]["get"]["operationId"], "get_all_hosts");
/// ```
#[must_use]
pub fn openapi() -> Value {
    DOCUMENT.clone()
}

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| document::build("."));

/// The document as one endpoint sends it.
struct Encoded {
    bytes: Bytes,
    tag: Result<EntityTag, ApiError>,
}

impl Encoded {
    fn new(document: &Value) -> Self {
        let bytes = Bytes::from(document.to_string());
        Self { tag: EntityTag::of_document(&bytes), bytes }
    }
}

/// `GET /openapi.json`.
pub(super) fn at_root(call: Call<'_>) -> Pending<'_> {
    static ENCODED: LazyLock<Encoded> = LazyLock::new(|| Encoded::new(&DOCUMENT));
    send(call, &ENCODED)
}

/// `GET /api/openapi.json`: the same document, seen from one level below.
pub(super) fn under_api(call: Call<'_>) -> Pending<'_> {
    static ENCODED: LazyLock<Encoded> = LazyLock::new(|| Encoded::new(&document::build("..")));
    send(call, &ENCODED)
}

fn send<'r>(call: Call<'r>, document: &'static LazyLock<Encoded>) -> Pending<'r> {
    Box::pin(async move {
        read_no_query(&call.input)?;
        let tag = document.tag.as_ref().map_err(|_| ApiError::internal())?;
        if tag.matches(call.input.request) {
            return Ok(Outcome::not_modified(tag));
        }
        let outcome = Outcome::document(StatusCode::OK, document.bytes.clone());
        Ok(outcome.with_tag(Some(tag.clone())))
    })
}
