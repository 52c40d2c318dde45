//! The endpoints of discovery daemons, and those with which users give them work.

mod credentials;
mod exchanges;
mod hosts;
mod networks;
mod readers;
mod sessions;
mod streams;
mod users;
mod versions;
mod work;

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::inventory::NewDaemonApiKey;
use toposcope::model::{DaemonId, NetworkId};

use crate::common::{Fixture, LAB, NOBODY, OFFICE, Reply, send_json, with_key};

/// A daemon that most tests use.
const DAEMON: DaemonId = DaemonId::from_u128(0xdae1);
/// Another daemon of the same network.
const OTHER: DaemonId = DaemonId::from_u128(0xdae2);

/// A fixture with the key of daemons in the office.
struct Scene {
    fixture: Fixture,
    key: String,
}

impl Scene {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let mut scene = Self { fixture, key: String::new() };
        scene.key = scene.daemon_key(OFFICE).await;
        scene
    }

    /// Creates a scene with a registered daemon.
    async fn with_daemon() -> Self {
        let scene = Self::new().await;
        scene.register(DAEMON).await;
        scene
    }

    async fn daemon_key(&self, network: NetworkId) -> String {
        let key = NewDaemonApiKey::new(network, "a daemon");
        let is_home = self.fixture.home.networks.contains(&network);
        let site = if is_home { &self.fixture.home } else { &self.fixture.abroad };
        self.fixture
            .inventory
            .daemon_api_keys()
            .create(&site.system(), key)
            .await
            .unwrap()
            .plaintext()
            .to_owned()
    }

    /// Sends a request with the key of daemons in the office.
    async fn post(&self, path: &str, body: Value) -> Reply {
        self.post_with(&self.key, path, body).await
    }

    #[allow(clippy::needless_pass_by_value, reason = "tests pass literals")]
    async fn post_with(&self, key: &str, path: &str, body: Value) -> Reply {
        self.fixture.send(with_key(send_json("POST", path, &body), key)).await
    }

    /// Registers a daemon, and returns the answer.
    async fn register(&self, id: DaemonId) -> Value {
        self.post("/api/daemons/register", registration(id)).await.data().clone()
    }

    /// Asks for work, and returns the session or null.
    async fn work(&self, id: DaemonId) -> Value {
        self.ask(id, json!({})).await[0].clone()
    }

    /// Asks for work with this status. Returns the session and whether the daemon has to stop.
    async fn ask(&self, id: DaemonId, status: Value) -> Value {
        self.post(&format!("/api/daemons/{id}/request-work"), status).await.data().clone()
    }

    /// Reports the phase of a session.
    async fn report(&self, daemon: DaemonId, session: &Value, phase: &str) {
        let id = session["session_id"].as_str().unwrap();
        let body = json!({"session_id": id, "daemon_id": daemon, "phase": phase, "progress": 10});
        assert_eq!(*self.post(&format!("/api/v1/discovery/{id}/update"), body).await.data(), Value::Null);
    }

    /// Sends a `GET` as the Owner, and returns the data.
    async fn get(&self, target: &str) -> Value {
        self.fixture.server.get_with(&self.fixture.key, target).await.data().clone()
    }

    /// Returns a discovery as the Owner sees it.
    async fn discovery(&self, session: &Value) -> Value {
        self.get(&format!("/api/v1/discoveries/{}", session["session_id"].as_str().unwrap())).await
    }

    /// Queues a discovery as the Owner, and returns it.
    async fn queue(&self, body: Value) -> Value {
        self.post_with(&self.fixture.key, "/api/v1/discoveries", body).await.data().clone()
    }

    fn pass(&self, time: Duration) {
        self.fixture.clock.advance(time);
    }
}

fn registration(id: DaemonId) -> Value {
    json!({"daemon_id": id, "name": "scanner", "mode": "daemon_poll", "version": "0.14.8"})
}

fn type_of(session: &Value) -> &str {
    session["discovery_type"]["type"].as_str().unwrap_or("nothing")
}
