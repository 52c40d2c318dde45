//! The endpoints that serve the document.

use std::sync::OnceLock;

use bytes::Bytes;
use http::StatusCode;

use super::document::build;
use crate::service::input::read_no_query;
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::RouteTable;
use crate::service::routes::route::{Call, Pending};

/// The document as each of its two endpoints sends it, built at the first request.
#[derive(Default)]
pub(in crate::service) struct Descriptions {
    at_root: OnceLock<Encoded>,
    under_api: OnceLock<Encoded>,
}

struct Encoded {
    bytes: Bytes,
    tag: Result<EntityTag, ApiError>,
}

/// `GET /openapi.json`.
pub(in crate::service) fn at_root(call: Call<'_>) -> Pending<'_> {
    let document = &call.state.descriptions.at_root;
    send(call, document, ".")
}

/// `GET /api/openapi.json`: the same document, seen from one level below.
pub(in crate::service) fn under_api(call: Call<'_>) -> Pending<'_> {
    let document = &call.state.descriptions.under_api;
    send(call, document, "..")
}

/// Sends the document. `server` is the way from it to the root of the API.
fn send<'r>(call: Call<'r>, document: &'r OnceLock<Encoded>, server: &'static str) -> Pending<'r> {
    Box::pin(async move {
        read_no_query(&call.input)?;
        let document = document.get_or_init(|| {
            let cookie = call.state.credentials.cookie.name();
            let routes = RouteTable::without(call.state.removed);
            let bytes = Bytes::from(build(routes, server, &cookie).to_string());
            Encoded { tag: EntityTag::of_document(&bytes), bytes }
        });
        let tag = document.tag.as_ref().map_err(|_| ApiError::internal())?;
        if tag.matches(call.input.request) {
            return Ok(Outcome::not_modified(tag));
        }
        let outcome = Outcome::document(StatusCode::OK, document.bytes.clone());
        Ok(outcome.with_tag(Some(tag.clone())))
    })
}
