//! The typed client, over the API in process and over substitutes for other servers.

mod collections;
#[cfg(feature = "openapi")]
mod contract;
#[cfg(feature = "discovery")]
mod discovery;
mod errors;
mod history;
mod layers;
mod operations;
mod records;
mod sessions;
#[cfg(feature = "topology")]
mod topology;

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use serde_json::{Value, json};
use toposcope::client::{Client, HttpService, RequestBody};
use toposcope::model::Tag;
use toposcope::service::Api;
use tower::service_fn;

use crate::common::{Fixture, Server};

/// Returns a client of a server, with a key.
fn client_of(server: &Server, key: &str) -> Client<Api> {
    Client::new(server.api.clone()).with_api_key(key).unwrap()
}

/// Creates a fixture, and a client with the key of its Owner.
async fn owner() -> (Fixture, Client<Api>) {
    let fixture = Fixture::new().await;
    let client = client_of(&fixture.server, &fixture.key);
    (fixture, client)
}

/// Creates this many tags, and returns their names in order of creation.
async fn create_tags(fixture: &Fixture, count: usize) -> Vec<String> {
    let names: Vec<String> = (0..count).map(|number| format!("numbered {number:03}")).collect();
    for name in &names {
        fixture.clock.advance(std::time::Duration::from_secs(1));
        fixture.inventory.records().create(&fixture.owner(&fixture.home), Tag::new(name)).await.unwrap();
    }
    names
}

type Canned = Response<Full<Bytes>>;

/// Returns a client of a service that responds to each request with this function.
fn answered_by(
    respond: impl Fn(Request<RequestBody>) -> Canned + Clone + Send + Sync + 'static,
) -> Client<impl HttpService> {
    Client::new(service_fn(move |request| {
        let response = respond(request);
        async { Ok::<_, Infallible>(response) }
    }))
}

fn canned(status: u16, content_type: &str, body: impl Into<Bytes>) -> Canned {
    let response = Response::builder().status(status).header("content-type", content_type);
    response.body(Full::new(body.into())).unwrap()
}

/// Returns a success with this data.
fn success(data: &Value, pagination: Option<Value>) -> Canned {
    let mut meta = json!({"api_version": 1, "server_version": "9.9.9"});
    if let Some(pagination) = pagination {
        meta["pagination"] = pagination;
    }
    let body = json!({"success": true, "data": data, "meta": meta, "added later": 1});
    canned(200, "application/json", body.to_string())
}
