//! The rules that all collections share.
//!
//! There is one [table](table::KINDS) of collections, and one test for each rule.

mod access;
mod conditional;
mod faults;
mod lists;
mod records;
mod table;

use http::Request;
use serde_json::{Value, json};
use toposcope::model::{NetworkId, Permission};

use self::table::{KINDS, Kind};
use crate::backend::run;
use crate::common::{
    Fixture, OFFICE, Reply, bare, get, key_for, send_json, with, with_header, with_key, with_session,
};

/// A user with both credentials.
struct Client {
    key: String,
    session: String,
}

/// A kind of record, and a server with a caller who may do everything.
struct Scene {
    fixture: Fixture,
    owner: Client,
    kind: Kind,
}

impl Scene {
    async fn new(kind: fn(&Fixture) -> Kind) -> Self {
        let fixture = Fixture::new().await;
        let owner = client(&fixture, Permission::Owner, &fixture.home.networks).await;
        let kind = kind(&fixture);
        Self { fixture, owner, kind }
    }

    /// Sends a request of a user. It uses the session if writes of this kind need one, and the key otherwise.
    async fn send_as(&self, client: &Client, request: Request<String>) -> Reply {
        let request = if self.kind.needs_session {
            with_session(request, &client.session)
        } else {
            with_key(request, &client.key)
        };
        self.fixture.send(request).await
    }

    async fn send(&self, request: Request<String>) -> Reply {
        self.send_as(&self.owner, request).await
    }

    /// Creates a record and returns it as it is read. A kind that cannot be created has one record.
    async fn create(&self, number: usize) -> Value {
        let Some(body) = self.kind.body(number) else {
            return self.send(get(self.kind.path)).await.data()[0].clone();
        };
        let reply = self.send(send_json("POST", self.kind.path, &body)).await;
        let created = reply.data();
        let id = if created["id"].is_null() { &created["api_key"]["id"] } else { &created["id"] };
        self.send(get(&format!("{}/{}", self.kind.path, id.as_str().unwrap()))).await.data().clone()
    }

    async fn put(&self, record: &Value, body: &Value) -> Reply {
        self.send(send_json("PUT", &self.item(record), body)).await
    }

    fn item(&self, record: &Value) -> String {
        format!("{}/{}", self.kind.path, record["id"].as_str().unwrap())
    }

    /// Returns the params of errors about a record.
    fn params(&self, record: &Value) -> Value {
        json!({"entity": self.kind.entity, "id": record["id"]})
    }

    fn bulk_delete(&self, ids: &Value) -> Request<String> {
        send_json("POST", &format!("{}/bulk-delete", self.kind.path), ids)
    }

    /// Returns a valid request for each operation on a record.
    fn writes(&self, record: &Value) -> Vec<Request<String>> {
        let create = self.kind.body(90).map(|body| send_json("POST", self.kind.path, &body));
        let update = send_json("PUT", &self.item(record), record);
        let bulk = self.kind.can_bulk_delete.then(|| self.bulk_delete(&json!([record["id"]])));
        let delete = self.kind.can_delete.then(|| bare("DELETE", &self.item(record)));
        create.into_iter().chain([update]).chain(bulk).chain(delete).collect()
    }
}

/// Creates a user of the home organization with a key and a session.
async fn client(fixture: &Fixture, level: Permission, networks: &[NetworkId]) -> Client {
    let user = fixture.user(&fixture.home, level, networks).await;
    let key = fixture.issue(key_for(&user, level, networks)).await;
    let session = fixture.sign_in(&user).await;
    Client { key, session }
}

/// Runs a test for each kind.
#[allow(clippy::needless_pass_by_value, reason = "tests pass closures")]
fn for_each(test: impl AsyncFn(&Scene)) {
    run(async || {
        for kind in KINDS {
            test(&Scene::new(kind).await).await;
        }
    });
}

/// Runs a test for each kind of which it holds.
#[allow(clippy::needless_pass_by_value, reason = "tests pass closures")]
fn for_each_that(holds: fn(&Kind) -> bool, test: impl AsyncFn(&Scene)) {
    for_each(async |scene| {
        if holds(&scene.kind) {
            test(scene).await;
        }
    });
}
