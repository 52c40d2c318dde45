//! Hosts, their parts and what concerns several collections.

mod accounts;
mod all_parts;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "csv")]
mod csv_pages;
mod custom;
mod declared;
mod exact_filters;
mod export;
mod finding;
mod hosts;
mod import;
mod interrupted_repeats;
mod large_work;
mod locks;
mod many;
mod numbers;
mod parts;
mod patches;
mod removal;
mod repeats;
mod slow_bodies;
#[cfg(feature = "csv")]
mod stored_rows;
mod updates;

use http::Request;
use serde_json::{Value, json};
use toposcope::model::Permission;

use crate::backend::run;
use crate::common::{
    ELSEWHERE, Fixture, HOSTS, LAB, NOBODY, OFFICE, Reply, bare, get, send_json, with, with_header, with_key,
    without,
};

impl Fixture {
    /// Sends a request with the key of an Owner.
    async fn ask(&self, request: Request<String>) -> Reply {
        self.send(with_key(request, &self.key)).await
    }

    async fn read(&self, target: &str) -> Value {
        self.ask(get(target)).await.data().clone()
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        self.ask(send_json("POST", path, body)).await.data().clone()
    }

    /// Sends a request of an Owner of the other organization.
    async fn ask_abroad(&self, request: Request<String>) -> Reply {
        let key = self.owner_key(&self.abroad).await;
        self.send(with_key(request, &key)).await
    }
}

/// Runs a test on each backend, each time with a new fixture.
fn run_new(test: impl AsyncFn(Fixture)) {
    run(async || test(Fixture::new().await).await);
}

fn path_of(collection: &str, record: &Value) -> String {
    format!("{collection}/{}", record["id"].as_str().unwrap())
}

fn host_body() -> Value {
    json!({"network_id": OFFICE, "name": "a host"})
}
