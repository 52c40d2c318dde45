//! The history over HTTP: pages, the history of one record, the stream, and past hosts.

mod erasure;
#[cfg(feature = "topology")]
mod links;
mod pages;
mod parameters;
mod past;
mod request_ids;
mod states;
mod stream;
mod visibility;

use serde_json::Value;

use crate::common::{Fixture, Reply};

const CHANGES: &str = "/api/v1/changes";

impl Fixture {
    /// Returns a page of the history, as the holder of a key sees it.
    async fn changes_as(&self, key: &str, query: &str) -> Reply {
        self.server.get_with(key, &format!("{CHANGES}?{query}")).await
    }

    /// Returns a page of the history, as the key of the fixture sees it.
    async fn changes(&self, query: &str) -> Reply {
        self.changes_as(&self.key, query).await
    }

    /// Returns the newest position that the holder of a key sees.
    async fn newest(&self, key: &str) -> String {
        let reply = self.changes_as(key, "limit=0").await;
        assert_eq!(reply.data(), &Value::Array(vec![]));
        reply.next()
    }
}

impl Reply {
    /// Returns the position after a page.
    fn next(&self) -> String {
        self.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned()
    }

    /// Returns the entries of a page.
    #[track_caller]
    fn entries(&self) -> Vec<Value> {
        self.data().as_array().unwrap().clone()
    }

    /// Returns the actions and the names of the entries of a page.
    #[track_caller]
    fn told(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let entries = self.entries();
        entries.iter().map(|entry| format!("{} {}", text(&entry["action"]), text(&entry["name"]))).collect()
    }
}
