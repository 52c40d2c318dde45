//! Hosts and their parts, and a [`Populated`] fixture.

#![allow(clippy::needless_pass_by_value, reason = "so that ids and other texts are passed alike")]

use std::net::IpAddr;
use std::ops::Deref;

use http::Request;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{HostQuery, NewDaemonApiKey, NewShare};
use toposcope::model::{
    Binding, BindingId, BindingTarget, DaemonApiKeyId, Host, HostId, HostVirtualization, Interface,
    InterfaceId, NetworkId, Permission, Port, PortId, Protocol, ProxmoxVirtualization, Service,
    ServiceDefinition, ServiceId, ShareId, Source, Timestamp, User, UserApiKeyId, UserId,
};

use super::{ELSEWHERE, Fixture, LAB, OFFICE, VAULT, key_for, send_json, with_key, with_session};

/// Returns the time this many seconds after the present of a new fixture. Negative values are before it.
pub(crate) fn at(seconds: i64) -> Timestamp {
    "2026-08-14T12:00:00Z".parse::<Timestamp>().unwrap().plus_micros(seconds * 1_000_000)
}

/// A minimal host. All of them are equal in every order, so a test states only what differs: `Host { name:
/// "x".to_owned(), ..host(1, network) }`.
pub(crate) fn host(id: u128, network: NetworkId) -> Host {
    Host { created_at: at(0), updated_at: at(0), ..Host::with_id(HostId::from_u128(id), network, "host") }
}

/// A host whose document has this length.
pub(crate) fn of_length(id: u128, length: usize) -> Host {
    // Metadata has no limit of its own, unlike texts.
    let filled = |text: String| {
        let metadata = vec![serde_json::Map::from_iter([("text".to_owned(), text.into())])];
        Host { source: Source::Discovery { metadata }, ..host(id, OFFICE) }
    };
    let bare = serde_json::to_vec(&filled(String::new())).unwrap().len();
    // The pattern contains `id`, so that a misplaced piece is detected.
    let pattern = format!("{id}-");
    let host = filled(pattern.chars().cycle().take(length - bare).collect());
    assert_eq!(serde_json::to_vec(&host).unwrap().len(), length);
    host
}

/// A host with these addresses at these positions.
pub(crate) fn address(id: u128, network: NetworkId, addresses: &[(&str, i64)]) -> Host {
    let mut host = host(id, network);
    for (place, (address, position)) in addresses.iter().enumerate() {
        let id = (id << 64) + u128::try_from(place).unwrap();
        host.interfaces.push(interface(id, &host, address.parse().unwrap(), *position));
    }
    host
}

/// A host with one port, 443/Tcp.
pub(crate) fn with_port(id: HostId, network: NetworkId, port_id: PortId) -> Host {
    let mut host = host(id.as_u128(), network);
    host.ports.push(port(port_id, &host, 443, Protocol::Tcp));
    host
}

pub(crate) fn interface(id: u128, host: &Host, ip_address: IpAddr, position: i64) -> Interface {
    Interface {
        id: InterfaceId::from_u128(id),
        host_id: host.id,
        network_id: host.network_id,
        subnet_id: None,
        name: None,
        ip_address,
        mac_address: None,
        mac_source: None,
        position,
        created_at: at(0),
        updated_at: at(0),
        last_seen_at: None,
        is_stale: false,
    }
}

pub(crate) fn service(id: u128, host: &Host, name: &str) -> Service {
    Service {
        id: ServiceId::from_u128(id),
        host_id: host.id,
        network_id: host.network_id,
        name: name.to_owned(),
        position: 0,
        service_definition: ServiceDefinition::new("Proxmox VE").unwrap(),
        source: Source::Manual,
        tags: vec![],
        virtualization: None,
        bindings: vec![],
        created_at: at(0),
        updated_at: at(0),
        last_seen_at: None,
        is_stale: false,
    }
}

/// A host that runs on this service.
pub(crate) fn guest(id: u128, network: NetworkId, service: u128) -> Host {
    let service_id = ServiceId::from_u128(service);
    let proxmox = ProxmoxVirtualization { vm_name: None, vm_id: None, service_id };
    Host { virtualization: Some(HostVirtualization::Proxmox(proxmox)), ..host(id, network) }
}

pub(crate) fn port(id: PortId, host: &Host, number: u16, protocol: Protocol) -> Port {
    Port {
        id,
        host_id: host.id,
        network_id: host.network_id,
        number: number.try_into().unwrap(),
        protocol,
        created_at: at(0),
        updated_at: at(0),
        last_seen_at: None,
        is_stale: false,
    }
}

/// A host of the office.
pub(crate) const HOST: HostId = HostId::from_u128(1);
/// Its port 443/Tcp.
pub(crate) const PORT: PortId = PortId::from_u128(0x11);
/// Its port 80/Tcp, which a service is bound to.
pub(crate) const BOUND_PORT: PortId = PortId::from_u128(0x12);
/// Another host of the office, with a port 443/Tcp and a port 22/Tcp.
pub(crate) const NEIGHBOUR: HostId = HostId::from_u128(2);
/// A host of the lab, without ports.
pub(crate) const LAB_HOST: HostId = HostId::from_u128(3);
/// A host of the vault and its port 443/Tcp. The member of the [`Populated`] fixture has no access to them.
pub(crate) const VAULT_HOST: HostId = HostId::from_u128(4);
pub(crate) const VAULT_PORT: PortId = PortId::from_u128(0x41);
/// A host of the other organization, and its port 443/Tcp.
pub(crate) const FOREIGN_HOST: HostId = HostId::from_u128(9);
pub(crate) const FOREIGN_PORT: PortId = PortId::from_u128(0x91);

pub(crate) const HOSTS: &str = "/api/v1/hosts";
pub(crate) const DAEMON_KEYS: &str = "/api/v1/auth/daemon";
pub(crate) const REFERRAL: &str = "/api/v1/organizations/referral-source";
pub(crate) const LOG_IN: &str = "/api/auth/login";
pub(crate) const LOG_OUT: &str = "/api/auth/logout";

pub(crate) const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];

/// A [`Fixture`] with hosts, a share, and a Member with session and API key. The Member has access to the office and
/// the lab.
pub(crate) struct Populated {
    fixture: Fixture,
    pub(crate) member: User,
    /// The member's session.
    pub(crate) session: String,
    /// The member's key, for both networks, and its id.
    pub(crate) member_key: String,
    pub(crate) member_key_id: UserApiKeyId,
    /// A key of another user of the organization.
    pub(crate) other_key_id: UserApiKeyId,
    /// The key of a daemon in the office.
    pub(crate) daemon_key: String,
    pub(crate) daemon_key_id: DaemonApiKeyId,
    /// A public share.
    pub(crate) share_id: ShareId,
}

impl Deref for Populated {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.fixture
    }
}

impl Populated {
    pub(crate) async fn on_one_instance() -> Self {
        let populated = Self::new().await;
        Self { fixture: populated.fixture.on_one_instance(), ..populated }
    }

    pub(crate) async fn new() -> Self {
        let fixture = Fixture::with(hosts()).await;
        let mut foreign = host(9, ELSEWHERE);
        foreign.ports = vec![port(FOREIGN_PORT, &foreign, 443, Protocol::Tcp)];
        fixture
            .inventory
            .hosts()
            .put(&Caller::system(fixture.abroad.organization.id), foreign)
            .await
            .unwrap();
        let member = fixture.user(&fixture.home, Permission::Member, &[OFFICE, LAB]).await;
        let session = fixture.sign_in(&member).await;
        let (member_key, member_key_id) = issue(&fixture, &member, Permission::Member).await;
        let other = fixture.user(&fixture.home, Permission::Member, &[OFFICE, LAB]).await;
        let (_, other_key_id) = issue(&fixture, &other, Permission::Member).await;
        let daemon = fixture
            .inventory
            .daemon_api_keys()
            .create(&fixture.system(), NewDaemonApiKey::new(OFFICE, "a daemon"))
            .await;
        let daemon = daemon.unwrap();
        let share = NewShare::new("a share");
        let share_id = fixture.inventory.shares().create(&fixture.system(), share).await.unwrap().id;
        let (daemon_key, daemon_key_id) = (daemon.plaintext().to_owned(), daemon.record().id);
        Self {
            fixture,
            member,
            session,
            member_key,
            member_key_id,
            other_key_id,
            daemon_key,
            daemon_key_id,
            share_id,
        }
    }

    /// Sends the request with the member's key.
    pub(crate) fn by_key<B>(&self, request: Request<B>) -> Request<B> {
        with_key(request, &self.member_key)
    }

    /// Sends the request with the member's session.
    pub(crate) fn by_session<B>(&self, request: Request<B>) -> Request<B> {
        with_session(request, &self.session)
    }

    /// Returns an update of a port with the member's key.
    pub(crate) fn put_port(&self, id: impl ToString, body: &Value) -> Request<String> {
        self.by_key(put_port(id, body))
    }

    /// Returns the creation of a daemon key with the member's key.
    pub(crate) fn create_daemon_key(&self, body: &Value) -> Request<String> {
        self.by_key(send_json("POST", DAEMON_KEYS, body))
    }

    /// Returns an update of a key with the member's session.
    pub(crate) fn put_key(&self, id: impl ToString, body: &Value) -> Request<String> {
        self.by_session(put_key(id, body))
    }

    /// Returns an update of the member's key with the member's session.
    pub(crate) fn put_own_key(&self, body: &Value) -> Request<String> {
        self.put_key(self.member_key_id, body)
    }

    /// Returns the submission of a referral with the member's session.
    pub(crate) fn submit_referral(&self, body: &Value) -> Request<String> {
        self.by_session(send_json("POST", REFERRAL, body))
    }

    /// Returns a valid referral with the member's session.
    pub(crate) fn refer(&self) -> Request<String> {
        self.submit_referral(&json!({"referral_source": "reddit"}))
    }

    /// Returns the minimal body of an update of the member's key.
    pub(crate) fn key_body(&self) -> Value {
        json!({
            "name": "a key",
            "organization_id": self.member.organization_id,
            "user_id": self.member.id,
            "tags": [],
        })
    }

    /// Returns all records that requests can change, without the times at which keys were last used.
    pub(crate) async fn stored(&self) -> String {
        let mut stored = String::new();
        for site in [&self.fixture.home, &self.fixture.abroad] {
            let id = site.organization.id;
            let everybody = Caller::new(id, UserId::nil(), Permission::Owner, Scope::all());
            let inventory = &self.fixture.inventory;
            for document in inventory.hosts().list(&everybody, &HostQuery::default()).await.unwrap().documents
            {
                stored.push_str(std::str::from_utf8(&document).unwrap());
            }
            for user in inventory.users().all(&Caller::system(id)).await.unwrap() {
                for mut key in inventory
                    .user_api_keys()
                    .of_user(&Caller::system(user.organization_id), user.id)
                    .await
                    .unwrap()
                {
                    key.last_used = None;
                    stored.push_str(&format!("{key:?}"));
                }
                stored.push_str(&format!("{user:?}"));
            }
            for mut key in inventory.daemon_api_keys().all(&Caller::system(id)).await.unwrap() {
                key.last_used = None;
                stored.push_str(&format!("{key:?}"));
            }
            stored
                .push_str(&format!("{:?}", inventory.users().referrals(&Caller::system(id)).await.unwrap()));
            stored.push_str(&format!("{:?}", inventory.shares().all(&Caller::system(id)).await.unwrap()));
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
        id: BindingId::from_u128(0xb1),
        service_id: web.id,
        network_id: OFFICE,
        target: BindingTarget::Port { port_id: BOUND_PORT, interface_id: None },
        created_at: at(0),
        updated_at: at(0),
    }];
    office.services = vec![web];
    let mut neighbour = host(2, OFFICE);
    neighbour.ports = vec![
        port(PortId::from_u128(0x21), &neighbour, 443, Protocol::Tcp),
        port(PortId::from_u128(0x22), &neighbour, 22, Protocol::Tcp),
    ];
    let mut vault = host(4, VAULT);
    vault.ports = vec![port(VAULT_PORT, &vault, 443, Protocol::Tcp)];
    [office, neighbour, host(3, LAB), vault]
}

async fn issue(fixture: &Fixture, owner: &User, level: Permission) -> (String, UserApiKeyId) {
    let issued = fixture
        .inventory
        .user_api_keys()
        .create(&fixture.system(), key_for(owner, level, &[OFFICE, LAB]))
        .await
        .unwrap();
    (issued.plaintext().to_owned(), issued.record().id)
}

pub(crate) fn put_port(id: impl ToString, body: &Value) -> Request<String> {
    send_json("PUT", &format!("/api/v1/ports/{}", id.to_string()), body)
}

pub(crate) fn put_key(id: impl ToString, body: &Value) -> Request<String> {
    send_json("PUT", &key_path(id), body)
}

pub(crate) fn key_path(id: impl ToString) -> String {
    format!("/api/v1/auth/keys/{}", id.to_string())
}

pub(crate) fn share_path(id: impl ToString) -> String {
    format!("/api/v1/shares/public/{}", id.to_string())
}

/// The minimal body that leaves [`PORT`] as it is.
pub(crate) fn port_body() -> Value {
    json!({"host_id": HOST, "network_id": OFFICE, "number": 443, "protocol": "Tcp"})
}

/// The minimal body of a daemon's key.
pub(crate) fn daemon_body() -> Value {
    json!({"name": "scanner", "network_id": OFFICE, "tags": []})
}

/// Returns the body with a field replaced or added.
pub(crate) fn with(body: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut body = body.clone();
    body[field] = value.into();
    body
}

/// Returns the body without a field.
pub(crate) fn without(body: &Value, field: &str) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().remove(field);
    body
}

/// Returns the numbers and the other characters of a text without case, and the leading zeros of each number. Numbers
/// have the order of digits.
pub(crate) fn natural(text: &str) -> (Vec<(char, u128)>, Vec<usize>) {
    let text = text.to_lowercase();
    let mut rest = text.as_str();
    let (mut parts, mut zeros) = (vec![], vec![]);
    while let Some(first) = rest.chars().next() {
        let digits = rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len());
        let (taken, others) = rest.split_at(digits.max(if digits == 0 { first.len_utf8() } else { 0 }));
        if digits == 0 {
            parts.push((first, 0));
        } else {
            parts.push(('0', taken.parse().unwrap()));
            zeros.push(taken[..digits - 1].bytes().take_while(|digit| *digit == b'0').count());
        }
        rest = others;
    }
    (parts, zeros)
}
