//! The document as a whole, and the endpoints that serve it.

use std::sync::OnceLock;

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::envelopes::Envelopes;
use super::excerpt::keep_used;
use super::inputs::Inputs;
use super::operation::{OperationContext, operation};
use super::schemas::{self, TypeSchemas};
use crate::service::input::read_no_query;
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::RouteTable;
use crate::service::routes::route::{Call, Pending, Route};

/// Builds the document of these endpoints. The server URL is the way from the document to the root of the API, and
/// `cookie` the name of the session cookie.
pub(in crate::service) fn build(
    routes: impl Iterator<Item = &'static Route>,
    server: &str,
    cookie: &str,
) -> Value {
    let routes: Vec<&Route> = routes.filter(|route| route.operation_id.is_some()).collect();
    let TypeSchemas { records, inputs: forms } = schemas::of_types(&routes);
    let inputs = Inputs::new(&routes, &records, &forms);
    let envelopes = Envelopes::new(&records);
    let mut shared = OperationContext { records: &records, inputs: &inputs, envelopes, errors: Map::new() };
    let mut paths = Map::new();
    let mut tags: Vec<&str> = Vec::new();
    for route in &routes {
        let operations = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(operations) = operations {
            let method = route.method.as_str().to_ascii_lowercase();
            operations.insert(method, operation(route, &mut shared));
        }
        if !tags.contains(&route.tag()) {
            tags.push(route.tag());
        }
    }
    let OperationContext { envelopes, errors, .. } = shared;
    let envelopes = envelopes.into_schemas();
    let schemas: Map<_, _> = records.into_iter().chain(inputs.into_schemas()).chain(envelopes).collect();
    let paths = Value::from(paths);
    let mut components = Map::from_iter([
        ("schemas".to_owned(), schemas.into()),
        ("responses".to_owned(), errors.into()),
        ("securitySchemes".to_owned(), security_schemes(cookie)),
    ]);
    keep_used(&mut components, &paths);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toposcope",
            "summary": "Network inventory and topology.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": server}],
        "tags": tags.into_iter().map(|tag| json!({"name": tag})).collect::<Value>(),
    });
    // Moved: the macro copies.
    if let Value::Object(document) = &mut document {
        document.extend([("paths".to_owned(), paths), ("components".to_owned(), components.into())]);
    }
    document
}

fn security_schemes(cookie: &str) -> Value {
    let bearer = |description: &str| json!({"type": "http", "scheme": "bearer", "description": description});
    let schemes = [
        ("api_key", bearer("A user's API key. The organization must have API access.")),
        (
            "session",
            json!({
                "type": "apiKey",
                "in": "cookie",
                "name": cookie,
                "description": "The session that a login begins.",
            }),
        ),
        #[cfg(feature = "discovery")]
        ("daemon_key", bearer("The API key of discovery daemons.")),
        #[cfg(feature = "topology")]
        (
            "share_token",
            bearer("The token that `verify_share_password` returns for the password of a share."),
        ),
    ];
    schemes.into_iter().map(|(name, scheme)| (name.to_owned(), scheme)).collect::<Map<_, _>>().into()
}

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
