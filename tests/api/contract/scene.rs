#![allow(clippy::needless_pass_by_value, reason = "so that ids and other texts are passed alike")]

use http::Request;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{HostQuery, NewDaemonApiKey, NewShare};
use toposcope::model::{Binding, BindingTarget, Host, Permission, Port, Protocol, User};
use uuid::Uuid;

use crate::common::{
    ELSEWHERE, LAB, OFFICE, Server, VAULT, World, at, host, key_for, send_json, service, with_key,
    with_session,
};

/// A host of the office.
pub(super) const HOST: Uuid = Uuid::from_u128(1);
/// Its port 443/Tcp.
pub(super) const PORT: Uuid = Uuid::from_u128(0x11);
/// Its port 80/Tcp, which a service is bound to.
pub(super) const BOUND_PORT: Uuid = Uuid::from_u128(0x12);
/// Another host of the office, with a port 443/Tcp and a port 22/Tcp.
pub(super) const NEIGHBOUR: Uuid = Uuid::from_u128(2);
/// A host of the lab, without ports.
pub(super) const LAB_HOST: Uuid = Uuid::from_u128(3);
/// A host of the vault, which the member of the [`Scene`] was not granted, and its port 443/Tcp.
pub(super) const VAULT_HOST: Uuid = Uuid::from_u128(4);
pub(super) const VAULT_PORT: Uuid = Uuid::from_u128(0x41);
/// A host of the other organization, and its port 443/Tcp.
pub(super) const FOREIGN_HOST: Uuid = Uuid::from_u128(9);
pub(super) const FOREIGN_PORT: Uuid = Uuid::from_u128(0x91);

pub(super) const HOSTS: &str = "/api/v1/hosts";
pub(super) const DAEMON_KEYS: &str = "/api/v1/auth/daemon";
pub(super) const REFERRAL: &str = "/api/v1/organizations/referral-source";
pub(super) const LOG_IN: &str = "/api/auth/login";
pub(super) const LOG_OUT: &str = "/api/auth/logout";

pub(super) const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];

/// A world with a Member granted the office and the lab, with a session and an API key.
pub(super) struct Scene {
    pub(super) world: World,
    pub(super) member: User,
    /// The member's session.
    pub(super) session: String,
    /// The member's key, for both networks, and its id.
    pub(super) key: String,
    pub(super) key_id: Uuid,
    /// A key of another user of the organization.
    pub(super) other_key_id: Uuid,
    /// The key of a daemon in the office.
    pub(super) daemon_key: String,
    pub(super) daemon_key_id: Uuid,
    /// A public share.
    pub(super) share_id: Uuid,
}

impl Scene {
    pub(super) async fn new() -> Self {
        let world = World::with(hosts()).await;
        let mut foreign = host(9, ELSEWHERE);
        foreign.ports = vec![port(FOREIGN_PORT, &foreign, 443, Protocol::Tcp)];
        world.inventory.put_host(world.abroad.organization.id, foreign).await.unwrap();
        let member = world.user(&world.home, Permission::Member, &[OFFICE, LAB]).await;
        let session = world.sign_in(&member).await;
        let (key, key_id) = issue(&world, &member, Permission::Member).await;
        let other = world.user(&world.home, Permission::Member, &[OFFICE, LAB]).await;
        let (_, other_key_id) = issue(&world, &other, Permission::Member).await;
        let daemon = world.inventory.create_daemon_api_key(NewDaemonApiKey::new(OFFICE, "a daemon")).await;
        let daemon = daemon.unwrap();
        let share = NewShare::new(world.home.organization.id, "a share");
        let share_id = world.inventory.create_share(share).await.unwrap().id;
        let (daemon_key, daemon_key_id) = (daemon.plaintext().to_owned(), daemon.record().id);
        Self { world, member, session, key, key_id, other_key_id, daemon_key, daemon_key_id, share_id }
    }

    pub(super) fn server(&self) -> &Server {
        &self.world.server
    }

    /// Sends the request with the member's key.
    pub(super) fn by_key<B>(&self, request: Request<B>) -> Request<B> {
        with_key(request, &self.key)
    }

    /// Sends the request with the member's session.
    pub(super) fn by_session<B>(&self, request: Request<B>) -> Request<B> {
        with_session(request, &self.session)
    }

    /// By the member's key.
    pub(super) fn put_port(&self, id: impl ToString, body: &Value) -> Request<String> {
        self.by_key(put_port(id, body))
    }

    /// By the member's key.
    pub(super) fn create_daemon_key(&self, body: &Value) -> Request<String> {
        self.by_key(send_json("POST", DAEMON_KEYS, body))
    }

    /// By the member's session.
    pub(super) fn put_key(&self, id: impl ToString, body: &Value) -> Request<String> {
        self.by_session(put_key(id, body))
    }

    /// By the member's session.
    pub(super) fn submit_referral(&self, body: &Value) -> Request<String> {
        self.by_session(send_json("POST", REFERRAL, body))
    }

    /// The minimal update of the member's key.
    pub(super) fn key_body(&self) -> Value {
        json!({
            "name": "a key",
            "organization_id": self.member.organization_id,
            "user_id": self.member.id,
            "tags": [],
        })
    }

    /// Returns everything that requests can change, except when keys were last used.
    pub(super) async fn stored(&self) -> String {
        let mut stored = String::new();
        for site in [&self.world.home, &self.world.abroad] {
            let id = site.organization.id;
            let everybody = Caller::new(id, Uuid::nil(), Permission::Owner, Scope::all());
            let inventory = &self.world.inventory;
            for document in inventory.list_hosts(&everybody, &HostQuery::default()).await.unwrap().documents {
                stored.push_str(std::str::from_utf8(&document).unwrap());
            }
            for user in inventory.users(id).await.unwrap() {
                for mut key in inventory.user_api_keys(user.id).await.unwrap() {
                    key.last_used = None;
                    stored.push_str(&format!("{key:?}"));
                }
                stored.push_str(&format!("{user:?}"));
            }
            for mut key in inventory.daemon_api_keys(id).await.unwrap() {
                key.last_used = None;
                stored.push_str(&format!("{key:?}"));
            }
            stored.push_str(&format!("{:?}", inventory.referrals(id).await.unwrap()));
            stored.push_str(&format!("{:?}", inventory.shares(id).await.unwrap()));
        }
        stored
    }
}

fn hosts() -> [Host; 4] {
    let mut office = host(1, OFFICE);
    office.ports =
        vec![port(PORT, &office, 443, Protocol::Tcp), port(BOUND_PORT, &office, 80, Protocol::Tcp)];
    let mut web = service(0x51, &office, "web");
    web.bindings = vec![Binding {
        id: Uuid::from_u128(0xb1),
        service_id: web.id,
        network_id: OFFICE,
        target: BindingTarget::Port { port_id: BOUND_PORT, interface_id: None },
        created_at: at(0),
        updated_at: at(0),
    }];
    office.services = vec![web];
    let mut neighbour = host(2, OFFICE);
    neighbour.ports = vec![
        port(Uuid::from_u128(0x21), &neighbour, 443, Protocol::Tcp),
        port(Uuid::from_u128(0x22), &neighbour, 22, Protocol::Tcp),
    ];
    let mut vault = host(4, VAULT);
    vault.ports = vec![port(VAULT_PORT, &vault, 443, Protocol::Tcp)];
    [office, neighbour, host(3, LAB), vault]
}

async fn issue(world: &World, owner: &User, level: Permission) -> (String, Uuid) {
    let issued = world.inventory.create_user_api_key(key_for(owner, level, &[OFFICE, LAB])).await.unwrap();
    (issued.plaintext().to_owned(), issued.record().id)
}

pub(super) fn port(id: Uuid, host: &Host, number: u16, protocol: Protocol) -> Port {
    Port {
        id,
        host_id: host.id,
        network_id: host.network_id,
        number: number.try_into().unwrap(),
        protocol,
        created_at: at(0),
        updated_at: at(0),
    }
}

pub(super) fn put_port(id: impl ToString, body: &Value) -> Request<String> {
    send_json("PUT", &format!("/api/v1/ports/{}", id.to_string()), body)
}

pub(super) fn put_key(id: impl ToString, body: &Value) -> Request<String> {
    send_json("PUT", &key_path(id), body)
}

pub(super) fn key_path(id: impl ToString) -> String {
    format!("/api/v1/auth/keys/{}", id.to_string())
}

pub(super) fn share_path(id: impl ToString) -> String {
    format!("/api/v1/shares/public/{}", id.to_string())
}

pub(super) fn log_in(email: &str, password: &str) -> Request<String> {
    send_json("POST", LOG_IN, &json!({"email": email, "password": password}))
}

/// The minimal body that leaves [`PORT`] as it is.
pub(super) fn port_body() -> Value {
    json!({"host_id": HOST, "network_id": OFFICE, "number": 443, "protocol": "Tcp"})
}

/// The minimal body of a daemon's key.
pub(super) fn daemon_body() -> Value {
    json!({"name": "scanner", "network_id": OFFICE, "tags": []})
}

/// Returns the body with a field replaced or added.
pub(super) fn with(body: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut body = body.clone();
    body[field] = value.into();
    body
}

/// Returns the body without a field.
pub(super) fn without(body: &Value, field: &str) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove(field);
    body
}
