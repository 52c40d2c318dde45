//! Concurrent requests: each answer is true, and the final state is consistent.

mod credentials;
mod hosts;
mod ports;
mod references;

use std::sync::Arc;
use std::time::Duration;
use toposcope::access::Caller;

use http::Request;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toposcope::access::Clock as _;
use toposcope::inventory::Inventory;
use toposcope::model::{
    Host, NetworkId, OrganizationId, Permission, Port, PortId, Protocol, Timestamp, User, UserApiKeyId,
};
use toposcope::store::Store;
use uuid::Uuid;

use crate::backend::run_on_threads;
use crate::common::{
    self, Hook, LAB, OFFICE, Reply, Server, VAULT, ample, bare, cheap_passwords, key_for, send_json,
    with_session,
};
use crate::isolation::oracle::values::{Refusal, refusal};

/// A time far longer than a test takes. A task that waits this long hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// How calls reach a store.
type Wrap = fn(Arc<dyn Store>) -> Arc<dyn Store>;

/// Runs a test on each backend, directly and with other tasks between the calls.
fn on_each_store(test: impl AsyncFn(Wrap)) {
    run_on_threads(async || {
        test(|store| store).await;
        test(|store| Hook::yielding().before(store)).await;
    });
}

/// Waits for all tasks; none of them may fail.
async fn join_all<T: 'static>(tasks: JoinSet<T>) -> Vec<T> {
    timeout(DEADLINE, tasks.join_all()).await.expect("a task hangs")
}

/// Two organizations, with an Owner and a Member at home who have keys.
struct Fixture {
    common: common::Fixture,
    /// The inventory on the wrapped store.
    inventory: Inventory,
    server: Server,
    member: User,
    member_key: String,
}

impl Fixture {
    async fn new(wrap: Wrap) -> Self {
        let common = common::Fixture::new().await;
        let inventory = Inventory::new(wrap(common.store.clone()))
            .with_clock(Arc::new(common.clock.clone()))
            .with_passwords(cheap_passwords());
        let server = Server::new(inventory.clone(), ample());
        let networks = [OFFICE, LAB, VAULT];
        let member = common.user(&common.home, Permission::Member, &networks).await;
        let member_key = common.issue(key_for(&member, Permission::Member, &networks)).await;
        Self { common, inventory, server, member, member_key }
    }

    const fn organization(&self) -> OrganizationId {
        self.common.home.organization.id
    }

    /// Creates an Owner with a session and a key.
    async fn new_owner(&self, networks: &[NetworkId]) -> Owner {
        let user = self.common.user(&self.common.home, Permission::Owner, &[]).await;
        let session = self.common.sign_in(&user).await;
        let key = key_for(&user, Permission::Owner, networks);
        let key =
            self.inventory.user_api_keys().create(&Caller::system(self.organization()), key).await.unwrap();
        Owner { user, session, key: key.record().id, key_text: key.plaintext().to_owned() }
    }

    /// Returns a time that is later than all before.
    fn tick(&self) -> Timestamp {
        self.common.clock.advance(Duration::from_micros(1));
        self.common.clock.now()
    }

    async fn send(&self, request: Request<String>) -> Reply {
        self.server.send(request).await
    }

    /// Sends a request with this session, and with this body unless it is null.
    async fn send_as(&self, session: &str, method: &str, target: &str, body: &Value) -> Reply {
        let request = if body.is_null() { bare(method, target) } else { send_json(method, target, body) };
        self.send(with_session(request, session)).await
    }
}

/// A user with credentials.
struct Owner {
    user: User,
    session: String,
    key: UserApiKeyId,
    key_text: String,
}

fn tcp_port(id: PortId, host: &Host, number: usize, now: Timestamp) -> Port {
    Port {
        id,
        host_id: host.id,
        network_id: host.network_id,
        number: u16::try_from(number).unwrap().try_into().unwrap(),
        protocol: Protocol::Tcp,
        created_at: now,
        updated_at: now,
        last_seen_at: None,
        is_stale: false,
    }
}

fn conflict(entity: &str, id: impl Into<Uuid>) -> Refusal {
    let id = id.into();
    refusal(409, "entity_conflict", json!({"entity": entity, "id": id}))
}

/// A conflict on a record that the test does not know.
fn any_conflict() -> Refusal {
    Refusal { params: None, ..refusal(409, "entity_conflict", json!(null)) }
}

/// Returns whether a request succeeded; asserts that a refusal is one of these.
#[track_caller]
fn succeeded_or(reply: &Reply, refusals: &[Refusal]) -> bool {
    if reply.status == 200 {
        return true;
    }
    let (status, json) = (reply.status.as_u16(), &reply.json);
    let is_one = refusals.iter().any(|refusal| {
        (refusal.status, refusal.code) == (status, json["code"].as_str().unwrap())
            && refusal.params.as_ref().is_none_or(|params| *params == json["params"])
    });
    assert!(is_one, "{status} {json} is none of {refusals:?}");
    false
}
