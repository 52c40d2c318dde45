use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use toposcope::access::{Caller, ManualClock, PasswordCost, PasswordHasher};
use toposcope::inventory::{
    Error, ErrorKind, HostPage, HostQuery, Inventory, IssuedKey, IssuedSession, NewDaemonApiKey, NewUser,
    NewUserApiKey, Written,
};
use toposcope::model::{
    DaemonApiKey, Host, HostId, Network, NetworkId, OrganizationId, Permission, Tag, TagId, User, UserApiKey,
    UserId,
};
use toposcope::store::{Batch, Entry, Facets, Key, Precondition, Record, Store, UniqueKey};
use toposcope::testing::Interceptor;
use uuid::Uuid;

use crate::backend::TestStore;

use super::hooks::{Put, Recorder};
use super::{Fault, NOW, PASSWORD, Probe, Seeded, owner_of, refusal, time};

/// The kinds of the records of the history.
const HISTORY_KINDS: [&str; 9] = [
    "history",
    "change",
    "change_counts",
    "change_run",
    "change_totals",
    "network_links",
    "recorded_link",
    "pending_claims",
    "layout_moves",
];

/// An organization with two networks and two tags, in a store of the current backend. It also has the means to observe
/// the store.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) inventory: Inventory,
    pub(crate) clock: ManualClock,
    random: Arc<Seeded>,
    pub(crate) store: Arc<Interceptor<Arc<dyn Store>, Recorder>>,
    pub(crate) organization: OrganizationId,
    pub(crate) network: NetworkId,
    pub(crate) other_network: NetworkId,
    pub(crate) tags: [TagId; 2],
    /// Dropped last, because it removes a folder that the others use.
    _backend: Arc<TestStore>,
}

/// Another organization in the same store.
pub(crate) struct Foreign {
    pub(crate) organization: OrganizationId,
    pub(crate) network: NetworkId,
    pub(crate) tag: TagId,
}

/// A record in the store, with its facets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) record: Record,
    pub(crate) facets: Facets,
}

impl From<Entry> for Stored {
    /// Sorts the links, terms and keys, because a snapshot returns them in any order.
    fn from(Entry { record, mut facets, .. }: Entry) -> Self {
        facets.links.sort_unstable();
        facets.terms.sort_unstable();
        facets.unique_keys.sort_unstable();
        facets.sort_keys.sort_unstable_by_key(|sort_key| sort_key.name);
        Self { record, facets }
    }
}

impl Stored {
    pub(crate) fn kind(&self) -> &str {
        self.record.key.kind.as_str()
    }

    /// Returns whether an id appears anywhere in the record. It may be the record's own id or the id of another record.
    fn mentions(&self, id: Uuid) -> bool {
        let Facets { organization, network, links, unique_keys, .. } = &self.facets;
        let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        self.record.key.id == id
            || holds(&self.record.body, id.to_string().as_bytes())
            || [*organization, *network].contains(&Some(id))
            || links.iter().any(|link| link.target == id)
            || unique_keys.iter().any(|unique_key| holds(&unique_key.value, id.as_bytes()))
    }
}

impl Foreign {
    /// Returns the caller for work of the host application in the organization.
    pub(crate) const fn system(&self) -> Caller {
        Caller::system(self.organization)
    }
}

impl Fixture {
    /// Returns the caller for work of the host application in the organization.
    pub(crate) const fn system(&self) -> Caller {
        Caller::system(self.organization)
    }

    pub(crate) async fn new() -> Self {
        let backend = Arc::new(TestStore::new().await);
        let store = Arc::new(Interceptor::new(backend.store(), Recorder::default()));
        let clock = ManualClock::new(time(NOW));
        let random = Arc::new(Seeded::default());
        let inventory = reproducible(store.clone(), &clock, &random);
        let organization = inventory.organizations().create("Example").await.unwrap().id;
        let network = inventory
            .networks()
            .create(&Caller::system(organization), Network::new("Office"))
            .await
            .unwrap()
            .id;
        let other_network = inventory
            .networks()
            .create(&Caller::system(organization), Network::new("Laboratory"))
            .await
            .unwrap()
            .id;
        let tags = [
            inventory.tags().create(&Caller::system(organization), Tag::new("first")).await.unwrap().id,
            inventory.tags().create(&Caller::system(organization), Tag::new("second")).await.unwrap().id,
        ];
        Self {
            inventory,
            clock,
            random,
            store,
            organization,
            network,
            other_network,
            tags,
            _backend: backend,
        }
    }

    /// Returns a fixture with an Owner.
    pub(crate) async fn with_owner() -> (Self, User) {
        let fixture = Self::new().await;
        let owner = fixture.owner().await;
        (fixture, owner)
    }

    /// Returns a fixture with an Owner's key.
    pub(crate) async fn with_key() -> (Self, IssuedKey<UserApiKey>) {
        let (fixture, owner) = Self::with_owner().await;
        let issued = fixture.user_key(&owner, |_| {}).await;
        (fixture, issued)
    }

    /// Returns a fixture with an Owner's session.
    pub(crate) async fn with_session() -> (Self, IssuedSession) {
        let (fixture, owner) = Self::with_owner().await;
        let issued = fixture.log_in(&owner).await;
        (fixture, issued)
    }

    /// Returns a fixture with another organization.
    pub(crate) async fn with_foreign() -> (Self, Foreign) {
        let fixture = Self::new().await;
        let foreign = fixture.foreign().await;
        (fixture, foreign)
    }

    /// Returns another inventory in the same store.
    pub(crate) fn second_inventory(&self) -> Inventory {
        reproducible(self.store.clone(), &self.clock, &self.random)
    }

    /// Returns another inventory in the same store, with a probe between them.
    pub(crate) fn probed(&self) -> (Inventory, Arc<Probe>) {
        let probe = Probe::new(Fault::None);
        let store: Arc<dyn Store> = self.store.clone();
        let store = Arc::new(Interceptor::new(store, probe.clone()));
        (reproducible(store, &self.clock, &self.random), probe)
    }

    pub(crate) async fn foreign(&self) -> Foreign {
        let organization = self.inventory.organizations().create("Elsewhere").await.unwrap().id;
        let network = self
            .inventory
            .networks()
            .create(&Caller::system(organization), Network::new("Theirs"))
            .await
            .unwrap()
            .id;
        let tag =
            self.inventory.tags().create(&Caller::system(organization), Tag::new("theirs")).await.unwrap().id;
        Foreign { organization, network, tag }
    }

    pub(crate) async fn try_put(&self, host: Host) -> Result<Written, Error> {
        self.inventory.hosts().put(&Caller::system(self.organization), host).await
    }

    pub(crate) async fn put(&self, host: &Host) -> Written {
        self.try_put(host.clone()).await.expect("the host is acceptable")
    }

    pub(crate) async fn try_host(&self, id: HostId) -> Result<Host, Error> {
        self.inventory.hosts().get(&Caller::system(self.organization), id).await
    }

    pub(crate) async fn host(&self, id: HostId) -> Host {
        self.try_host(id).await.expect("the host is there")
    }

    pub(crate) async fn delete(&self, host: HostId) -> Result<(), Error> {
        self.inventory.hosts().delete(&Caller::system(self.organization), host).await
    }

    /// Lists hosts for a caller who sees all of them.
    pub(crate) async fn list(&self, query: &HostQuery) -> HostPage {
        self.inventory.hosts().list(&owner_of(self.organization), query).await.unwrap()
    }

    pub(crate) async fn documents(&self) -> Vec<Bytes> {
        documents(&self.inventory, self.organization).await
    }

    /// Creates a user with a password and these networks.
    pub(crate) async fn user(&self, email: &str, permission: Permission, networks: &[NetworkId]) -> User {
        let mut new = NewUser::new(email, permission);
        new.password = Some(PASSWORD.to_owned());
        new.network_ids = networks.to_vec();
        self.inventory.users().create(&Caller::system(self.organization), new).await.unwrap()
    }

    pub(crate) async fn owner(&self) -> User {
        self.user("owner@example.net", Permission::Owner, &[]).await
    }

    /// Issues a key with the level of its user, adapted by the test.
    pub(crate) async fn user_key(
        &self,
        user: &User,
        adapt: impl FnOnce(&mut NewUserApiKey),
    ) -> IssuedKey<UserApiKey> {
        let mut new = NewUserApiKey::new(user.id, "laptop", user.permissions);
        adapt(&mut new);
        self.inventory.user_api_keys().create(&Caller::system(user.organization_id), new).await.unwrap()
    }

    /// Issues a key for the first network's daemon, adapted by the test.
    pub(crate) async fn daemon_key(
        &self,
        adapt: impl FnOnce(&mut NewDaemonApiKey),
    ) -> IssuedKey<DaemonApiKey> {
        let mut new = NewDaemonApiKey::new(self.network, "scanner");
        adapt(&mut new);
        self.inventory.daemon_api_keys().create(&Caller::system(self.organization), new).await.unwrap()
    }

    pub(crate) async fn log_in(&self, user: &User) -> IssuedSession {
        self.try_log_in(&user.email).await.unwrap()
    }

    pub(crate) async fn try_log_in(&self, email: &str) -> Result<IssuedSession, Error> {
        self.inventory.log_in(email, PASSWORD.to_owned()).await
    }

    /// Authenticates a user by a key.
    pub(crate) async fn by_key(&self, key: &IssuedKey<UserApiKey>) -> Result<Caller, Error> {
        self.inventory.authenticate_user_key(key.plaintext()).await
    }

    /// Authenticates a user by a session.
    pub(crate) async fn by_session(&self, session: &IssuedSession) -> Result<Caller, Error> {
        self.inventory.authenticate_session(session.plaintext()).await
    }

    /// Returns the number of sessions of a user in the store, expired ones included.
    pub(crate) async fn sessions_of(&self, user: UserId) -> usize {
        self.mentioning(user).await.iter().filter(|key| key.kind.as_str() == "session").count()
    }

    /// Returns why an operation was refused, and asserts that it left the store unchanged. Uses of keys do not count,
    /// because those of earlier operations are recorded in the background.
    pub(crate) async fn refusal<T: fmt::Debug>(
        &self,
        attempt: impl Future<Output = Result<T, Error>>,
    ) -> ErrorKind {
        let contents = async || {
            let mut contents = self.contents().await;
            contents.retain(|stored| stored.record.key.kind.as_str() != "key_use");
            contents
        };
        let before = contents().await;
        let kind = refusal(attempt.await);
        assert_eq!(contents().await, before, "a refused operation ({kind:?}) changes nothing");
        kind
    }

    /// Waits until a use of a key is recorded, which happens in the background.
    pub(crate) async fn until_used(&self, key: impl Into<Uuid>) {
        let key = key.into();
        while !self.mentioning(key).await.iter().any(|key| key.kind.as_str() == "key_use") {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the number of batches that have changed records.
    pub(crate) fn commits(&self) -> usize {
        self.store.hook().commits()
    }

    /// Returns the number of purges requested.
    pub(crate) fn purges(&self) -> usize {
        self.store.hook().purges()
    }

    /// Returns all records of the store but the history, by key. The history keeps deleted values.
    ///
    /// Facets are those of a snapshot, not the latest recorded ones: concurrent commits are recorded in the order in
    /// which their answers are received, which may not be the order in which they took effect.
    pub(crate) async fn contents(&self) -> Vec<Stored> {
        let mut snapshot = self.store.snapshot().await.unwrap();
        let mut contents = Vec::new();
        loop {
            let entries = snapshot.next(1_000).await.unwrap();
            if entries.is_empty() {
                break;
            }
            contents.extend(entries.into_iter().map(Stored::from));
        }
        contents.retain(|stored| !HISTORY_KINDS.contains(&stored.kind()));
        contents.sort_unstable_by_key(|stored| stored.record.key);
        contents
    }

    /// Returns the records in which an id appears, as their own or as another record's, beside the history.
    pub(crate) async fn mentioning(&self, id: impl Into<Uuid>) -> Vec<Key> {
        let id = id.into();
        let contents = self.contents().await;
        contents.iter().filter(|stored| stored.mentions(id)).map(|stored| stored.record.key).collect()
    }

    /// Returns every body that was ever stored.
    pub(crate) fn bodies(&self) -> Vec<Bytes> {
        self.store.hook().puts().into_iter().map(|put| put.body).collect()
    }

    /// Returns every unique key that a record ever had.
    pub(crate) fn unique_keys(&self) -> Vec<UniqueKey> {
        self.store.hook().puts().into_iter().flat_map(|put| put.facets.unique_keys).collect()
    }

    /// Replaces the body and the facets of an existing record.
    pub(crate) async fn overwrite(&self, key: Key, facets: Facets, body: Vec<u8>) {
        let mut batch = Batch::new();
        batch.put(key, Precondition::Present, facets, body);
        self.store.commit(batch).await.unwrap();
    }

    /// Alters the record whose JSON body matches, as a concurrent update would.
    pub(crate) async fn alter(&self, is_meant: impl Fn(&Value) -> bool, alter: impl FnOnce(&mut Value)) {
        let (put, mut value) = self.latest(is_meant);
        alter(&mut value);
        self.overwrite(put.key, put.facets, serde_json::to_vec(&value).unwrap()).await;
    }

    /// Deletes the record whose JSON body matches.
    pub(crate) async fn remove(&self, is_meant: impl Fn(&Value) -> bool) {
        let mut batch = Batch::new();
        batch.delete(self.latest(is_meant).0.key, Precondition::Present);
        self.store.commit(batch).await.unwrap();
    }

    fn latest(&self, is_meant: impl Fn(&Value) -> bool) -> (Put, Value) {
        let puts = self.store.hook().puts().into_iter().rev();
        let mut values = puts.filter_map(|put| {
            let value = serde_json::from_slice(&put.body).ok()?;
            Some((put, value))
        });
        values.find(|(_, value)| is_meant(value)).expect("such a record was stored")
    }
}

/// Returns an inventory that hashes passwords at the least cost.
pub(crate) fn inventory_in(store: Arc<dyn Store>) -> Inventory {
    let least = PasswordCost::new(8, 1).expect("the least cost");
    Inventory::new(store).with_passwords(PasswordHasher::new().with_cost(least))
}

fn reproducible(store: Arc<dyn Store>, clock: &ManualClock, random: &Arc<Seeded>) -> Inventory {
    inventory_in(store).with_clock(Arc::new(clock.clone())).with_random(random.clone())
}

/// Returns all hosts of an organization as documents, by age.
pub(crate) async fn documents(inventory: &Inventory, organization: OrganizationId) -> Vec<Bytes> {
    let page = inventory.hosts().list(&owner_of(organization), &HostQuery::default()).await.unwrap();
    assert_eq!(page.total, page.documents.len() as u64);
    page.documents
}
