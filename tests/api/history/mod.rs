//! The past over HTTP.

mod past;

use http::Request;
use serde_json::Value;
use toposcope::access::Caller;
use toposcope::inventory::ChangeQuery;

use crate::common::{Fixture, Reply, get, send_json, with_key};

impl Fixture {
    /// Sends a request with the key of an Owner.
    async fn as_owner(&self, request: Request<String>) -> Reply {
        self.send(with_key(request, &self.key)).await
    }

    /// Returns the `data` of what an Owner reads.
    async fn read_as_owner(&self, target: &str) -> Value {
        self.as_owner(get(target)).await.data().clone()
    }

    /// Creates a record as an Owner. Returns its path.
    async fn create_as_owner(&self, collection: &str, body: &Value) -> String {
        let record = self.as_owner(send_json("POST", collection, body)).await.data().clone();
        format!("{collection}/{}", record["id"].as_str().unwrap())
    }

    /// Returns the newest position of the history that a caller sees.
    async fn position_of(&self, caller: &Caller) -> String {
        let page = self.inventory.changes(caller, &ChangeQuery::default()).await.unwrap();
        page.next.to_string()
    }
}
