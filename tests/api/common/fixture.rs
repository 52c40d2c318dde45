//! The fixture of most tests: two organizations in one store, and a clock.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::Request;
use http_body::Body;
use toposcope::access::{Caller, ManualClock, PasswordCost, PasswordHasher, Scope};
use toposcope::inventory::{Inventory, NewOrganization, NewUser, NewUserApiKey};
use toposcope::model::{Host, Network, NetworkId, Organization, Permission, Tag, TagId, User, UserId};
use toposcope::service::{Api, ApiBuilder};
use toposcope::store::Store;

use crate::backend::Backend;

use super::{
    Hook, InProgress, NOBODY, OFFICE, Produced, Reply, Row, Server, WatchedStore, ample, at, check, host,
    limit,
};

/// The password of every user of a [`Fixture`].
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Hashes passwords at minimum cost: these tests do not depend on the cost.
pub(crate) fn cheap_passwords() -> PasswordHasher {
    PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap())
}

/// Two organizations in one store, with a clock that moves only on demand.
pub(crate) struct Fixture {
    pub(crate) clock: ManualClock,
    pub(crate) store: Arc<WatchedStore>,
    pub(crate) inventory: Inventory,
    /// The organization that most tests use.
    pub(crate) home: Site,
    /// An organization whose data must never reach callers from home.
    pub(crate) abroad: Site,
    /// The key of the home Owner, for all networks.
    pub(crate) key: String,
    pub(crate) server: Server,
    users: AtomicU32,
}

/// An organization. Its networks and tags ascend by id.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) organization: Organization,
    pub(crate) networks: [NetworkId; 3],
    pub(crate) tags: [TagId; 3],
}

impl Fixture {
    /// Returns the caller for work of the host application at home.
    pub(crate) const fn system(&self) -> Caller {
        self.home.system()
    }

    pub(crate) async fn new() -> Self {
        let store = InProgress::watched_store().await;
        let clock = ManualClock::new(at(0));
        let inventory = inventory_in(store.clone(), &clock);
        let home = Site::new(&inventory, "Home", true, 0x100).await;
        let abroad = Site::new(&inventory, "Abroad", true, 0x200).await;
        let mut server = Server::new(inventory.clone(), ample());
        if Backend::current().is_shared() {
            server = server.in_turn_with(Server::new(inventory_in(store.clone(), &clock), ample()));
        }
        let (users, key) = (AtomicU32::new(0), String::new());
        let mut fixture = Self { clock, store, inventory, home, abroad, key, server, users };
        fixture.key = fixture.owner_key(&fixture.home).await;
        fixture
    }

    /// Lets one server answer all requests, for tests of values that each inventory counts for
    /// itself.
    pub(crate) fn on_one_instance(self) -> Self {
        Self { server: self.server.alone(), ..self }
    }

    /// Returns another inventory, in a store that wraps that of the fixture.
    pub(crate) fn inventory_in(&self, store: Arc<dyn Store>) -> Inventory {
        inventory_in(store, &self.clock)
    }

    /// Returns an inventory in the store of the fixture, behind a hook.
    pub(crate) fn inventory_with(&self, hook: &Arc<Hook>) -> Inventory {
        self.inventory_in(hook.before(self.store.clone()))
    }

    /// Returns a server on the store of the fixture, behind a hook.
    pub(crate) fn server_with(&self, hook: &Arc<Hook>) -> Server {
        Server::new(self.inventory_with(hook), ample())
    }

    /// Returns a server with this rate limit.
    pub(crate) fn limited(&self, per_minute: u32, burst: u32) -> Server {
        Server::new(self.inventory.clone(), limit(per_minute, burst))
    }

    /// Returns a server with further options.
    pub(crate) fn configured(&self, configure: impl FnOnce(ApiBuilder) -> ApiBuilder) -> Server {
        Server::built(configure(Api::builder(self.inventory.clone())), ample())
    }

    /// Returns a server whose graphs and files have at most this many bytes.
    pub(crate) fn drawing_limited(&self, bytes: usize) -> Server {
        self.configured(|builder| {
            #[cfg(feature = "topology")]
            let builder = builder.drawing_limit(bytes);
            let _ = bytes;
            builder
        })
    }

    /// Returns a caller with all rights in an organization.
    pub(crate) fn owner(&self, site: &Site) -> Caller {
        Caller::new(site.organization.id, UserId::from_u128(0xca11e4), Permission::Owner, Scope::all())
    }

    /// Creates a fixture whose home organization has these hosts.
    pub(crate) async fn with(hosts: impl IntoIterator<Item = Host>) -> Self {
        let fixture = Self::new().await;
        fixture.put(hosts).await;
        fixture
    }

    /// Creates a fixture with host 1, in the office.
    pub(crate) async fn with_one_host() -> Self {
        Self::with([host(1, OFFICE)]).await
    }

    /// Returns a caller with the lowest level, who can access all networks at home.
    pub(crate) fn viewer(&self) -> Caller {
        Caller::new(self.home.organization.id, UserId::new(NOBODY), Permission::Viewer, Scope::all())
    }

    /// Puts hosts at home.
    pub(crate) async fn put(&self, hosts: impl IntoIterator<Item = Host>) {
        for host in hosts {
            self.inventory.hosts().put(&Caller::system(self.home.organization.id), host).await.unwrap();
        }
    }

    /// Puts a host into the other organization.
    pub(crate) async fn put_abroad(&self, host: Host) {
        self.inventory.hosts().put(&Caller::system(self.abroad.organization.id), host).await.unwrap();
    }

    /// Creates a user, whose password is [`PASSWORD`].
    pub(crate) async fn user(&self, site: &Site, level: Permission, networks: &[NetworkId]) -> User {
        let number = self.users.fetch_add(1, Ordering::Relaxed);
        let mut user = NewUser::new(format!("user{number}@example.net"), level);
        user.network_ids = networks.to_vec();
        user.password = Some(PASSWORD.to_owned());
        self.inventory.users().create(&Caller::system(site.organization.id), user).await.unwrap()
    }

    /// Returns the system caller of the organization of a user.
    pub(crate) async fn system_of(&self, user: UserId) -> Caller {
        for organization in self.inventory.organizations().all().await.unwrap() {
            let system = Caller::system(organization.id);
            if self.inventory.users().get(&system, user).await.is_ok() {
                return system;
            }
        }
        panic!("no organization has the user {user}");
    }

    /// Issues a key and returns its plaintext.
    pub(crate) async fn issue(&self, key: NewUserApiKey) -> String {
        let system = self.system_of(key.user_id).await;
        self.inventory.user_api_keys().create(&system, key).await.unwrap().plaintext().to_owned()
    }

    /// Creates a user with a key, and returns its plaintext.
    pub(crate) async fn key(&self, level: Permission, networks: &[NetworkId]) -> String {
        let user = self.user(&self.home, level, networks).await;
        self.issue(key_for(&user, level, networks)).await
    }

    /// Creates an organization without API access.
    pub(crate) async fn free_site(&self) -> Site {
        Site::new(&self.inventory, "Free plan", false, 0x300).await
    }

    /// Creates a session of a user, and returns its plaintext.
    pub(crate) async fn sign_in(&self, user: &User) -> String {
        let session = self.inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
        session.plaintext().to_owned()
    }

    /// Creates an Owner, and returns a key of this user for all networks.
    pub(crate) async fn owner_key(&self, site: &Site) -> String {
        let owner = self.user(site, Permission::Owner, &[]).await;
        self.issue(key_for(&owner, Permission::Owner, &site.networks)).await
    }

    pub(crate) async fn send<B>(&self, request: Request<B>) -> Reply
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        self.server.send(request).await
    }

    /// Sends the requests of a table and compares all answers.
    pub(crate) async fn check(&self, rows: impl IntoIterator<Item = Row>) -> Produced {
        check(&self.server, rows).await
    }

    /// Creates an Owner at home, and returns a key that also reaches networks that are created later.
    pub(crate) async fn key_for_all_networks(&self) -> String {
        let owner = self.user(&self.home, Permission::Owner, &[]).await;
        let mut key = key_for(&owner, Permission::Owner, &[]);
        key.all_networks = true;
        self.issue(key).await
    }

    /// Lists hosts with the key of the fixture.
    pub(crate) async fn list(&self, query: &str) -> Reply {
        self.list_as(&self.key, query).await
    }

    pub(crate) async fn list_as(&self, key: &str, query: &str) -> Reply {
        self.server.get_with(key, &format!("/api/v1/hosts?{query}")).await
    }

    pub(crate) async fn ids(&self, query: &str) -> Vec<u128> {
        self.list(query).await.ids()
    }
}

impl Site {
    /// Returns the caller for work of the host application in the organization.
    pub(crate) const fn system(&self) -> Caller {
        Caller::system(self.organization.id)
    }

    pub(crate) async fn new(inventory: &Inventory, name: &str, api_access: bool, first: u128) -> Self {
        let mut new = NewOrganization::new(name);
        new.api_access = api_access;
        let organization = inventory.organizations().create(new).await.unwrap();
        let networks = [0, 1, 2].map(|number| NetworkId::from_u128(first + number));
        let mut tags = [TagId::nil(); 3];
        for (network, tag) in networks.into_iter().zip(&mut tags) {
            let name = format!("network {network}");
            inventory
                .networks()
                .create_with_id(&Caller::system(organization.id), network, Network::new(&name))
                .await
                .unwrap();
            *tag = inventory
                .tags()
                .create(&Caller::system(organization.id), Tag::new(format!("tag {network}")))
                .await
                .unwrap()
                .id;
        }
        tags.sort_unstable();
        Self { organization, networks, tags }
    }
}

fn inventory_in(store: Arc<dyn Store>, clock: &ManualClock) -> Inventory {
    Inventory::new(store).with_clock(Arc::new(clock.clone())).with_passwords(cheap_passwords())
}

/// Returns the draft of a valid key.
pub(crate) fn key_for(user: &User, level: Permission, networks: &[NetworkId]) -> NewUserApiKey {
    let mut key = NewUserApiKey::new(user.id, "a key", level);
    key.network_ids = networks.to_vec();
    key
}
