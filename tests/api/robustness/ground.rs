use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toposcope::access::{Caller, ManualClock, RandomError, RandomSource, Scope};
use toposcope::inventory::{Inventory, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey};
use toposcope::model::{
    Binding, BindingTarget, Host, Permission, Port, PortNumber, Protocol, Service, Timestamp, User,
};
use toposcope::service::{Api, RateLimit};
use uuid::Uuid;

use super::contended::Contended;
use crate::common::{
    NOBODY, PASSWORD, Server, Site, SplitMix64, Watched, address, at, cheap_passwords, host, key_for, service,
};

/// The largest body that the server accepts, in bytes.
pub(super) const BODY_LIMIT: usize = 4096;
/// An origin whose pages may use sessions.
pub(super) const FRIEND: &str = "https://app.example.net";

/// Lifetime of a session, in seconds.
const WEEK: i64 = 604_800;
const LEVELS: [Permission; 4] =
    [Permission::Owner, Permission::Admin, Permission::Member, Permission::Viewer];

/// An authenticated user.
pub(super) struct Person {
    pub(super) user: User,
    pub(super) key: String,
    pub(super) session: String,
    /// Id of an unused key, to be updated and deleted.
    pub(super) subject: Uuid,
}

/// The target of a round's requests: three organizations with records of every kind.
pub(super) struct Ground {
    pub(super) clock: ManualClock,
    pub(super) store: Arc<Contended>,
    pub(super) inventory: Inventory,
    pub(super) server: Server,
    pub(super) home: Site,
    /// The four levels at home, then the Owner of another organization, then one of an organization without
    /// API access.
    pub(super) people: Vec<Person>,
    /// Addresses that are only used for logins.
    pub(super) emails: Vec<String>,
    /// Keys that are refused.
    pub(super) bad_keys: Vec<String>,
    /// Sessions that are refused.
    pub(super) bad_sessions: Vec<String>,
    /// Callers that a host application might supply.
    pub(super) callers: Vec<Caller>,
    /// Hosts at home, each with its network.
    pub(super) hosts: Vec<(Uuid, Uuid)>,
    pub(super) ports: Vec<Uuid>,
    pub(super) shares: Vec<Uuid>,
    /// Ids of records of all kinds, at home and abroad.
    pub(super) ids: Vec<Uuid>,
}

/// A source of the same ids and secrets in every run.
#[derive(Debug)]
struct Seeded(AtomicU64);

impl RandomSource for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut random = SplitMix64(self.0.fetch_add(1, Ordering::Relaxed));
        bytes.fill_with(|| random.next().to_le_bytes()[0]);
        Ok(())
    }
}

impl Ground {
    pub(super) async fn new(seed: u64) -> Self {
        let store = Arc::new(Contended::new(Watched::new().await));
        let clock = ManualClock::new(at(-WEEK));
        let inventory = Inventory::new(store.clone())
            .with_clock(Arc::new(clock.clone()))
            .with_random(Arc::new(Seeded(AtomicU64::new(seed << 32))))
            .with_passwords(cheap_passwords());
        let home = Site::new(&inventory, "Home", true, 0x100).await;
        let abroad = Site::new(&inventory, "Abroad", true, 0x200).await;
        let free = Site::new(&inventory, "Free plan", false, 0x300).await;
        let limit = RateLimit::new(120.try_into().unwrap(), 25.try_into().unwrap());
        let builder = Api::builder(inventory.clone()).body_limit(BODY_LIMIT).allowed_origins([FRIEND]);
        let server = Server::built(builder, limit);
        let mut ground = Self {
            clock,
            store,
            inventory,
            server,
            home: home.clone(),
            people: Vec::new(),
            emails: Vec::new(),
            bad_keys: Vec::new(),
            bad_sessions: Vec::new(),
            callers: Vec::new(),
            hosts: Vec::new(),
            ports: Vec::new(),
            shares: Vec::new(),
            ids: vec![NOBODY, Uuid::nil(), Uuid::max()],
        };
        ground.add_bad_credentials(&home).await;
        // Credentials that expire a minute or a week after the start have expired from here on.
        ground.clock.set(at(0));
        for level in LEVELS {
            ground.add_person(&home, level).await;
        }
        ground.add_person(&abroad, Permission::Owner).await;
        ground.add_person(&free, Permission::Owner).await;
        ground.add_hosts(&home, &abroad).await;
        ground.add_shares(&home).await;
        for number in 0..2 {
            let user =
                ground.add_user(&home, &format!("guest{number}@example.net"), Permission::Viewer).await;
            ground.emails.push(user.email);
        }
        ground
    }

    async fn add_user(&self, site: &Site, email: &str, level: Permission) -> User {
        let mut user = NewUser::new(site.organization.id, email, level);
        user.network_ids = site.networks[..2].to_vec();
        user.password = Some(PASSWORD.to_owned());
        self.inventory.create_user(user).await.unwrap()
    }

    async fn add_person(&mut self, site: &Site, level: Permission) {
        let email = format!("person{}@example.net", self.people.len());
        let user = self.add_user(site, &email, level).await;
        let key = self.issue(key_for(&user, level, &site.networks[..2])).await;
        let session = self.sign_in(&user).await;
        let subject = self.new_subject(&user).await;
        self.callers.push(Caller::new(site.organization.id, user.id, level, Scope::only(site.networks)));
        self.ids.extend([site.organization.id, user.id, subject]);
        self.ids.extend(site.networks.iter().chain(&site.tags));
        self.people.push(Person { user, key, session, subject });
    }

    async fn issue(&self, key: NewUserApiKey) -> String {
        self.inventory.create_user_api_key(key).await.unwrap().plaintext().to_owned()
    }

    async fn sign_in(&self, user: &User) -> String {
        let session = self.inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
        session.plaintext().to_owned()
    }

    async fn new_subject(&self, user: &User) -> Uuid {
        let key = key_for(user, Permission::Viewer, &[]);
        self.inventory.create_user_api_key(key).await.unwrap().record().id
    }

    async fn add_bad_credentials(&mut self, site: &Site) {
        let user = self.add_user(site, "formerly@example.net", Permission::Owner).await;
        let end = Some(at(-WEEK + 60));
        let good = key_for(&user, Permission::Owner, &site.networks);
        let blind = self.issue(NewUserApiKey::new(user.id, "blind", Permission::Owner)).await;
        let mut disabled = good.clone();
        disabled.is_enabled = false;
        let mut expired = good.clone();
        expired.expires_at = end;
        let deleted = self.inventory.create_user_api_key(good.clone()).await.unwrap();
        self.inventory.delete_user_api_key(deleted.record().id).await.unwrap();
        let unknown = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
        self.bad_keys = vec![
            blind,
            self.issue(disabled).await,
            self.issue(expired).await,
            deleted.plaintext().to_owned(),
            unknown.to_owned(),
            "nonsense".to_owned(),
        ];
        for (is_enabled, expires_at) in [(true, None), (false, None), (true, end)] {
            let mut key = NewDaemonApiKey::new(site.networks[0], "daemon");
            key.is_enabled = is_enabled;
            key.expires_at = expires_at;
            let issued = self.inventory.create_daemon_api_key(key).await.unwrap();
            self.bad_keys.push(issued.plaintext().to_owned());
        }
        let over = self.sign_in(&user).await;
        let ended = self.sign_in(&user).await;
        self.inventory.log_out(&ended).await.unwrap();
        let leaver = self.add_user(site, "leaver@example.net", Permission::Owner).await;
        self.bad_keys.push(self.issue(key_for(&leaver, Permission::Owner, &[])).await);
        self.clock.set(at(-1));
        self.bad_sessions = vec![over, ended, self.sign_in(&leaver).await, "nonsense".to_owned()];
        self.inventory.disable_user(leaver.id).await.unwrap();
    }

    async fn add_hosts(&mut self, home: &Site, abroad: &Site) {
        for number in 0..8 {
            let network = home.networks[[0, 0, 1, 1, 0, 1, 2, 0][number]];
            let host = rich_host(number, network, &home.tags);
            self.hosts.push((host.id, network));
            self.ports.extend(host.ports.iter().map(|port| port.id));
            self.ids.extend([host.id, host.ports[0].id]);
            self.inventory.put_host(home.organization.id, host).await.unwrap();
        }
        let foreign = rich_host(0xff, abroad.networks[0], &abroad.tags);
        self.ids.extend([foreign.id, foreign.ports[0].id]);
        self.inventory.put_host(abroad.organization.id, foreign).await.unwrap();
    }

    async fn add_shares(&mut self, home: &Site) {
        for password in [None, Some(PASSWORD.to_owned())] {
            let mut share = NewShare::new(home.organization.id, "a share");
            share.password = password;
            self.shares.push(self.inventory.create_share(share).await.unwrap().id);
        }
        let mut hidden = NewShare::new(home.organization.id, "a share");
        hidden.is_enabled = false;
        self.ids.push(self.inventory.create_share(hidden).await.unwrap().id);
    }

    /// Restores the sessions that requests have ended and the keys that they have deleted.
    pub(super) async fn mend(&mut self) {
        for place in 0..self.people.len() {
            let Person { user, session, subject, .. } = &self.people[place];
            if self.inventory.authenticate_session(session).await.is_err() {
                self.people[place].session = self.sign_in(user).await;
            } else if self.inventory.user_api_key(*subject).await.is_err() {
                self.people[place].subject = self.new_subject(user).await;
            }
        }
    }

    /// Advances the clock by about as much as the rate limit asks for.
    pub(super) fn pass_time(&self, random: &mut SplitMix64) {
        self.clock.advance(Duration::from_millis(random.next() % 400));
    }

    /// Returns a time before or after now.
    pub(super) fn any_time(random: &mut SplitMix64) -> Timestamp {
        at(random.next().cast_signed() % 10_000)
    }
}

fn rich_host(number: usize, network: Uuid, tags: &[Uuid]) -> Host {
    let number = number as u128;
    let mut host = host(0x1000 + number, network);
    host.name = format!("host {number}");
    host.interfaces = address(0x1000 + number, network, &[("192.0.2.1", 0)]).interfaces;
    host.tags = tags[..usize::try_from(number % 3).unwrap()].to_vec();
    for (place, port) in [22_u16, 80, 443].into_iter().enumerate() {
        host.ports.push(Port {
            id: Uuid::from_u128(0x5000 + 4 * number + place as u128),
            host_id: host.id,
            network_id: network,
            number: PortNumber::try_from(port).unwrap(),
            protocol: Protocol::Tcp,
            created_at: at(0),
            updated_at: at(0),
        });
    }
    host.services = vec![bound_service(&host, number)];
    host
}

/// A service bound to the first port of its host.
fn bound_service(host: &Host, number: u128) -> Service {
    let mut service = service(0x7000 + number, host, "a service");
    service.bindings.push(Binding {
        id: Uuid::from_u128(0x8000 + number),
        service_id: service.id,
        network_id: host.network_id,
        target: BindingTarget::Port { port_id: host.ports[0].id, interface_id: None },
        created_at: at(0),
        updated_at: at(0),
    });
    service
}
