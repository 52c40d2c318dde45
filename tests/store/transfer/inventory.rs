//! An inventory that was transferred to another store gives the same answers as before.

use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::access::{Caller, ManualClock, PasswordCost, PasswordHasher};
use toposcope::inventory::{
    Entity, ErrorKind, Import, Inventory, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey,
};
use toposcope::model::{
    HostId, Network, NetworkId, OrganizationId, Permission, PortId, ShareId, Tag, TagId, Timestamp,
};
use toposcope::service::Api;
use toposcope::store::{MemoryStore, Restore};
use tower::ServiceExt;
use uuid::Uuid;

use super::export;
use crate::contents::contents;

const NOW: &str = "2026-08-14T12:00:00Z";
const EMAIL: &str = "owner@example.net";
const PASSWORD: &str = "correct horse battery";
const PORT: PortId = PortId::from_u128(0x12);

fn inventory_in(store: &Arc<MemoryStore>) -> Inventory {
    let clock = ManualClock::new(NOW.parse::<Timestamp>().unwrap());
    let cheap = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
    Inventory::new(store.clone()).with_clock(Arc::new(clock)).with_passwords(cheap)
}

/// An inventory with records of every kind, and the credentials for it.
struct Fixture {
    store: Arc<MemoryStore>,
    inventory: Inventory,
    organization: OrganizationId,
    network: NetworkId,
    tag: TagId,
    share: ShareId,
    key: String,
    daemon_key: String,
    session: String,
}

impl Fixture {
    async fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let inventory = inventory_in(&store);
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let network = inventory
            .networks()
            .create(&Caller::system(organization), Network::new("Office"))
            .await
            .unwrap()
            .id;
        let tag = inventory.tags().create(&Caller::system(organization), Tag::new("a tag")).await.unwrap().id;
        let hosts = hosts(network, tag);
        let report = inventory
            .hosts()
            .import(&Caller::system(organization), hosts.as_bytes(), Import::new())
            .await
            .unwrap();
        assert_eq!(report.imported, 2, "{report}");
        let mut owner = NewUser::new(EMAIL, Permission::Owner);
        owner.password = Some(PASSWORD.to_owned());
        let owner = inventory.users().create(&Caller::system(organization), owner).await.unwrap();
        let mut key = NewUserApiKey::new(owner.id, "laptop", Permission::Owner);
        key.network_ids = vec![network];
        let key = inventory
            .user_api_keys()
            .create(&Caller::system(owner.organization_id), key)
            .await
            .unwrap()
            .plaintext()
            .to_owned();
        let daemon_key = inventory
            .daemon_api_keys()
            .create(&Caller::system(organization), NewDaemonApiKey::new(network, "scanner"))
            .await
            .unwrap();
        let mut share = NewShare::new("to show");
        share.password = Some(PASSWORD.to_owned());
        let share = inventory.shares().create(&Caller::system(organization), share).await.unwrap().id;
        let session = inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap().plaintext().to_owned();
        let daemon_key = daemon_key.plaintext().to_owned();
        Self { store, inventory, organization, network, tag, share, key, daemon_key, session }
    }

    /// Transfers the inventory to another store by an export.
    async fn moved(&self) -> Inventory {
        let store = Arc::new(MemoryStore::new());
        Restore::new().read(&*store, &export(&*self.store).await[..]).await.unwrap();
        assert!(contents(&*store).await == contents(&*self.store).await);
        inventory_in(&store)
    }

    /// Returns reading requests with a key, with a session, and without credentials.
    fn requests(&self) -> Vec<Request<String>> {
        let lists = [
            "limit=0".to_owned(),
            "limit=1&offset=1&order_by=name&order_direction=desc".to_owned(),
            format!("tag_ids={}&network_id={}", self.tag, self.network),
            format!("ids={}", Uuid::from_u128(0x20)),
            "order_by=nothing".to_owned(),
        ];
        let mut requests = Vec::new();
        for list in lists {
            let get = || Request::get(format!("/api/v1/hosts?{list}"));
            requests.push(get().header(AUTHORIZATION, format!("Bearer {}", self.key)));
            requests.push(get().header(AUTHORIZATION, format!("Bearer {}", self.daemon_key)));
            requests.push(get().header(AUTHORIZATION, "Bearer unknown"));
            requests.push(get().header(COOKIE, format!("session_id={}", self.session)));
        }
        requests.push(Request::get(format!("/api/v1/shares/public/{}", self.share)));
        let mut requests: Vec<_> =
            requests.into_iter().map(|request| request.body(String::new()).unwrap()).collect();
        for password in [PASSWORD, "wrong"] {
            let login = Request::post("/api/auth/login").header(CONTENT_TYPE, "application/json");
            requests.push(login.body(json!({"email": EMAIL, "password": password}).to_string()).unwrap());
        }
        requests
    }
}

/// Returns two hosts as lines of an import. One has an interface, a port and a service.
fn hosts(network: NetworkId, tag: TagId) -> String {
    let server = Uuid::from_u128(0x10);
    let part = |id: u128| {
        json!({
            "id": Uuid::from_u128(id), "host_id": server, "network_id": network,
            "created_at": NOW, "updated_at": NOW, "name": "sérver \"1\"",
        })
    };
    let with = |mut part: Value, fields: Value| {
        part.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        part
    };
    let parts = json!({
        "tags": [tag],
        "interfaces": [with(part(0x11), json!({"ip_address": "10.0.0.1", "position": 0}))],
        "ports": [with(part(PORT.as_u128()), json!({"number": 443, "protocol": "Tcp"}))],
    });
    format!("{}\n{}\n", with(part(0x10), parts), with(part(0x20), json!({"hidden": true})))
}

/// Returns the status and the body of the answer to a request.
async fn ask(inventory: &Inventory, request: Request<String>) -> (StatusCode, String) {
    let api = Api::builder(inventory.clone()).build();
    let (head, answer) = api.oneshot(request).await.unwrap().into_parts();
    let answer = answer.collect().await.unwrap().to_bytes();
    (head.status, String::from_utf8(answer.to_vec()).unwrap())
}

#[tokio::test]
async fn transferred_inventory_gives_the_same_answers() {
    let fixture = Fixture::new().await;
    let moved = fixture.moved().await;
    let mut statuses = Vec::new();
    for request in fixture.requests() {
        let what = format!("{request:?}");
        let (status, body) = ask(&fixture.inventory, request.clone()).await;
        assert_eq!(ask(&moved, request).await, (status, body), "{what}");
        statuses.push(status.as_u16());
    }
    let good = statuses.iter().filter(|status| **status == 200).count();
    assert_eq!(good, 2 * 4 + 2, "{statuses:?}");
}

#[tokio::test]
async fn keys_passwords_and_sessions_are_valid_after_a_transfer() {
    let fixture = Fixture::new().await;
    let moved = fixture.moved().await;
    let caller = moved.authenticate_user_key(&fixture.key).await.unwrap();
    assert_eq!(caller, fixture.inventory.authenticate_user_key(&fixture.key).await.unwrap());
    let daemon = moved.authenticate_daemon_key(&fixture.daemon_key).await.unwrap();
    assert_eq!(daemon, fixture.inventory.authenticate_daemon_key(&fixture.daemon_key).await.unwrap());
    assert!(moved.shares().verify_password(fixture.share, PASSWORD.to_owned()).await.unwrap());
    assert!(!moved.shares().verify_password(fixture.share, "wrong".to_owned()).await.unwrap());
    moved.log_out(&fixture.session).await.unwrap();
    assert!(moved.authenticate_session(&fixture.session).await.is_err());
    assert!(
        fixture.inventory.authenticate_session(&fixture.session).await.is_ok(),
        "the inventories are independent"
    );
}

#[tokio::test]
async fn transferred_inventory_keeps_its_rules() {
    let fixture = Fixture::new().await;
    let moved = fixture.moved().await;
    let in_use =
        moved.networks().delete(&Caller::system(fixture.organization), fixture.network).await.unwrap_err();
    assert!(matches!(in_use.kind(), ErrorKind::InUse { entity: Entity::Network, .. }), "{in_use}");
    let again = NewUser::new(EMAIL, Permission::Member);
    let taken = moved.users().create(&Caller::system(fixture.organization), again).await.unwrap_err();
    assert!(matches!(taken.kind(), ErrorKind::AlreadyExists { entity: Entity::User, .. }), "{taken}");
    let port = json!({
        "host_id": Uuid::from_u128(0x10), "network_id": fixture.network, "number": 8443, "protocol": "Tcp",
    });
    let update = Request::put(format!("/api/v1/ports/{PORT}"))
        .header(AUTHORIZATION, format!("Bearer {}", fixture.key))
        .header(CONTENT_TYPE, "application/json");
    let (status, answer) = ask(&moved, update.body(port.to_string()).unwrap()).await;
    assert_eq!(status, 200, "{answer}");
    let host =
        moved.hosts().get(&Caller::system(fixture.organization), HostId::from_u128(0x10)).await.unwrap();
    assert_eq!(host.ports[0].number.get(), 8443);
}
