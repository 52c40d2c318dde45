//! Records are deleted while concurrent tasks create references to them.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use toposcope::access::Caller;

use fastrand::Rng;
use serde_json::{Value, json};
use tokio::task::{JoinSet, yield_now};
use toposcope::inventory::{
    Entity, Error, ErrorKind, HostQuery, Inventory, NewShare, NewUser, NewUserApiKey,
};
use toposcope::model::{
    Host, Network, NetworkId, OrganizationId, Permission, Tag, TagId, UserApiKeyId, UserId,
};

use super::{Fixture, Owner, any_conflict, conflict, join_all, on_each_store, succeeded_or};
use crate::backend::Backend;
use crate::common::{OFFICE, PASSWORD, host, send_json, service};
use crate::isolation::oracle::values::{
    Refusal, invalid_credentials, network_denied, not_authenticated, not_found, reference_invalid, refusal,
};
use crate::requests::Choose;

const KEY: &str = "User API Key";

/// One operation of a round.
#[derive(Clone, Copy, Debug)]
enum Operation {
    DeleteNetwork,
    DeleteTag,
    DeleteUser,
    ChangePassword,
    PutHost,
    CreateDaemonKey,
    UpdateKey,
    GrantNetwork,
    CreateUser,
    CreateShare,
    CreateKey,
    UpdateOwnKey,
    LogIn,
    SubmitReferral,
}

/// Operations that prevent a network from being deleted.
const OCCUPYING: [Operation; 3] = [Operation::PutHost, Operation::CreateDaemonKey, Operation::CreateShare];
const OTHERS: [Operation; 7] = [
    Operation::UpdateKey,
    Operation::GrantNetwork,
    Operation::CreateUser,
    Operation::CreateKey,
    Operation::UpdateOwnKey,
    Operation::LogIn,
    Operation::SubmitReferral,
];

/// Returns the operations of a round. They are deletions, and a few concurrent operations that refer to the deleted
/// records.
fn operations(random: &mut Rng) -> Vec<Operation> {
    let mut operations = vec![Operation::DeleteNetwork, Operation::DeleteTag];
    operations.push(random.choose(&[Operation::DeleteUser, Operation::ChangePassword]));
    if random.bool() {
        operations.extend(random.some_of(&OCCUPYING));
    }
    operations.extend((0..8).map(|_| random.choose(&OTHERS)));
    operations
}

/// State shared by all rounds.
struct Shared {
    fixture: Fixture,
    /// A user that no round deletes.
    owner: Owner,
    /// The created keys, each with its user.
    keys: Mutex<Vec<(UserApiKeyId, UserId)>>,
    /// The sessions begun with the users' first password, each with its user.
    sessions: Mutex<Vec<(String, UserId)>>,
    /// The users whose password has changed.
    changed: Mutex<HashSet<UserId>>,
    /// Number of users created in the rounds.
    created: AtomicUsize,
    /// Numbers of networks, tags and users deleted.
    deleted: [AtomicUsize; 3],
}

/// The records that are deleted in a round.
struct Round {
    shared: Arc<Shared>,
    number: usize,
    network: NetworkId,
    tag: TagId,
    owner: Owner,
}

impl Round {
    async fn new(shared: Arc<Shared>, number: usize) -> Self {
        let fixture = &shared.fixture;
        let inventory = &fixture.common.inventory;
        let name = format!("round {number}");
        let network = inventory
            .networks()
            .create(&Caller::system(fixture.organization()), Network::new(&name))
            .await
            .unwrap()
            .id;
        let tag = inventory
            .tags()
            .create(&Caller::system(fixture.organization()), Tag::new(&name))
            .await
            .unwrap()
            .id;
        let owner = fixture.new_owner(&[]).await;
        shared.keys.lock().unwrap().push((owner.key, owner.user.id));
        Self { shared, number, network, tag, owner }
    }

    fn inventory(&self) -> &Inventory {
        &self.shared.fixture.inventory
    }

    fn organization(&self) -> OrganizationId {
        self.shared.fixture.organization()
    }

    /// Returns the value of a success, or `None` for an error that concurrent operations explain.
    fn excused<T>(&self, result: Result<T, Error>, entity: Entity) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let is_excused = match error.kind() {
            ErrorKind::Conflict { entity: contended, .. } => *contended == entity,
            ErrorKind::ReferenceInvalid { entity: Entity::Network | Entity::Tag, .. } => true,
            ErrorKind::NotFound { entity: Entity::User, id } => *id == self.owner.user.id.uuid(),
            ErrorKind::InUse { entity: Entity::Network, .. } => entity == Entity::Network,
            _ => false,
        };
        assert!(is_excused, "{error}");
        None
    }

    /// Carries out the operation after a random delay.
    async fn act(self: Arc<Self>, operation: Operation, mut random: Rng) {
        for _ in 0..random.usize(..24) {
            yield_now().await;
        }
        match operation {
            Operation::DeleteNetwork => {
                let deleted = self
                    .inventory()
                    .networks()
                    .delete(&Caller::system(self.organization()), self.network)
                    .await;
                self.count_deleted(deleted, Entity::Network, 0);
            }
            Operation::DeleteTag => {
                let deleted =
                    self.inventory().tags().delete(&Caller::system(self.organization()), self.tag).await;
                self.count_deleted(deleted, Entity::Tag, 1);
            }
            Operation::DeleteUser => {
                let deleted = self
                    .inventory()
                    .users()
                    .delete(&Caller::system(self.owner.user.organization_id), self.owner.user.id)
                    .await;
                self.count_deleted(deleted, Entity::User, 2);
            }
            Operation::ChangePassword => {
                let (id, password) = (self.owner.user.id, "another password".to_owned());
                let changed = self
                    .inventory()
                    .users()
                    .set_password(&Caller::system(self.organization()), id, Some(password))
                    .await;
                if self.excused(changed, Entity::User).is_some() {
                    self.shared.changed.lock().unwrap().insert(id);
                }
            }
            Operation::PutHost => self.put_host(&mut random).await,
            Operation::GrantNetwork => {
                let (member, networks) = (self.shared.fixture.member.id, vec![OFFICE, self.network]);
                let granted = self
                    .inventory()
                    .users()
                    .set_rights(&Caller::system(self.organization()), member, Permission::Member, networks)
                    .await;
                self.excused(granted, Entity::User);
            }
            Operation::CreateUser => {
                let number = self.shared.created.fetch_add(1, Ordering::Relaxed);
                let email = format!("new{number}@example.net");
                let mut new = NewUser::new(email, Permission::Viewer);
                new.network_ids = vec![self.network];
                self.excused(
                    self.inventory().users().create(&Caller::system(self.organization()), new).await,
                    Entity::User,
                );
            }
            Operation::CreateShare => {
                let mut share = NewShare::new("a share");
                share.network_id = Some(self.network);
                self.excused(
                    self.inventory().shares().create(&Caller::system(self.organization()), share).await,
                    Entity::Share,
                );
            }
            Operation::CreateKey => {
                let mut key = NewUserApiKey::new(self.owner.user.id, "a key", Permission::Viewer);
                (key.network_ids, key.tags) = (vec![self.network], vec![self.tag]);
                let key = self
                    .inventory()
                    .user_api_keys()
                    .create(&Caller::system(self.owner.user.organization_id), key)
                    .await;
                if let Some(key) = self.excused(key, Entity::UserApiKey) {
                    self.shared.keys.lock().unwrap().push((key.record().id, self.owner.user.id));
                }
            }
            Operation::CreateDaemonKey
            | Operation::UpdateKey
            | Operation::UpdateOwnKey
            | Operation::SubmitReferral => self.send(operation).await,
            Operation::LogIn => self.log_in().await,
        }
    }

    fn count_deleted(&self, deleted: Result<(), Error>, entity: Entity, place: usize) {
        if self.excused(deleted, entity).is_some() {
            self.shared.deleted[place].fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn put_host(&self, random: &mut Rng) {
        let mut host = host(0x1_0000 + self.number as u128, self.network);
        match random.usize(..3) {
            0 => host.tags = vec![self.tag],
            1 => {
                let mut tagged = service(0x2_0000 + self.number as u128, &host, "a service");
                tagged.tags = vec![self.tag];
                host.services = vec![tagged];
            }
            _ => {}
        }
        self.excused(
            self.inventory().hosts().put(&Caller::system(self.organization()), host).await,
            Entity::Host,
        );
    }

    /// Sends the request of an operation, and checks the answer.
    async fn send(&self, operation: Operation) {
        let (shared, own) = (&self.shared.owner, &self.owner);
        let key_path = |key: UserApiKeyId| format!("/api/v1/auth/keys/{key}");
        let update = |owner: &Owner, name, tags: Value| {
            json!({
                "name": name, "organization_id": self.organization(), "user_id": owner.user.id, "tags": tags,
            })
        };
        let (session, method, target, body, refusals): (_, _, _, _, Vec<Refusal>) = match operation {
            Operation::CreateDaemonKey => (
                &shared.session,
                "POST",
                "/api/v1/auth/daemon".to_owned(),
                json!({"name": "a daemon", "network_id": self.network, "tags": [self.tag]}),
                vec![network_denied(self.network), reference_invalid("Tag", "tags.0"), any_conflict()],
            ),
            Operation::UpdateKey => {
                let mut body = update(shared, "a key", json!([self.tag]));
                body["network_ids"] = json!([self.network]);
                let refusals = vec![
                    reference_invalid("Network", "network_ids.0"),
                    reference_invalid("Tag", "tags.0"),
                    conflict(KEY, shared.key),
                ];
                (&shared.session, "PUT", key_path(shared.key), body, refusals)
            }
            Operation::UpdateOwnKey => {
                let body = update(own, "another name", json!([]));
                let refusals = vec![not_authenticated(), not_found(KEY, own.key), conflict(KEY, own.key)];
                (&own.session, "PUT", key_path(own.key), body, refusals)
            }
            _ => (
                &own.session,
                "POST",
                "/api/v1/organizations/referral-source".to_owned(),
                json!({"referral_source": "reddit"}),
                vec![not_authenticated(), conflict("User", own.user.id)],
            ),
        };
        let reply = self.shared.fixture.send_as(session, method, &target, &body).await;
        succeeded_or(&reply, &refusals);
    }

    async fn log_in(&self) {
        let user = &self.owner.user;
        let body = json!({"email": user.email, "password": PASSWORD});
        let reply = self.shared.fixture.send(send_json("POST", "/api/auth/login", &body)).await;
        let refusals = [
            invalid_credentials(),
            any_conflict(),
            // Logins for a deleted user may exceed the limit on failed logins.
            refusal(429, "auth_too_many_attempts", json!({"retry_after": 900})),
        ];
        if succeeded_or(&reply, &refusals) {
            let (_, rest) = reply.header("set-cookie").split_once('=').unwrap();
            let session = rest.split(';').next().unwrap().to_owned();
            self.shared.sessions.lock().unwrap().push((session, user.id));
        }
    }
}

#[test]
fn deleted_record_is_not_referenced_by_concurrent_writes() {
    on_each_store(async |wrap| {
        // Each round has its own network, tag and user to delete.
        let rounds = Backend::current().effort(80, 2_000);
        let fixture = Fixture::new(wrap).await;
        let shared = Arc::new(Shared {
            owner: fixture.new_owner(&[]).await,
            fixture,
            keys: Mutex::default(),
            sessions: Mutex::default(),
            changed: Mutex::default(),
            created: AtomicUsize::new(0),
            deleted: Default::default(),
        });
        let mut random = Rng::with_seed(5);
        for number in 0..rounds {
            let round = Arc::new(Round::new(shared.clone(), number).await);
            let mut tasks = JoinSet::new();
            for operation in operations(&mut random) {
                tasks.spawn(round.clone().act(operation, random.fork()));
            }
            join_all(tasks).await;
        }
        shared.audit().await;
        let deleted = shared.deleted.each_ref().map(|count| count.load(Ordering::Relaxed));
        println!("of {rounds}, {deleted:?} networks, tags and users were deleted");
        let [networks, tags, users] = deleted;
        assert_eq!(tags, rounds, "nothing keeps a tag");
        // Both orders must occur: the deletion first, and the others first.
        assert!([networks, users].iter().all(|count| (1..rounds).contains(count)), "{deleted:?}");
    });
}

/// Ids of the records that exist.
struct Existing {
    networks: HashSet<NetworkId>,
    tags: HashSet<TagId>,
    users: HashSet<UserId>,
}

impl Existing {
    fn check(&self, name: &str, networks: &[NetworkId], tags: &[TagId]) {
        assert!(networks.iter().all(|id| self.networks.contains(id)), "{name} has a deleted network");
        assert!(tags.iter().all(|id| self.tags.contains(id)), "{name} has a deleted tag");
    }
}

impl Shared {
    /// Asserts that every reference in the organization leads to an existing record.
    async fn audit(&self) {
        let (inventory, organization) = (&self.fixture.common.inventory, self.fixture.organization());
        let users = inventory.users().all(&Caller::system(organization)).await.unwrap();
        let existing = Existing {
            networks: inventory
                .networks()
                .all(&Caller::system(organization))
                .await
                .unwrap()
                .iter()
                .map(|found| found.id)
                .collect(),
            tags: inventory
                .tags()
                .all(&Caller::system(organization))
                .await
                .unwrap()
                .iter()
                .map(|tag| tag.id)
                .collect(),
            users: users.iter().map(|user| user.id).collect(),
        };
        for user in &users {
            existing.check("a user", &user.network_ids, &[]);
        }
        let caller = inventory.authenticate_session(&self.owner.session).await.unwrap();
        for document in inventory.hosts().list(&caller, &HostQuery::default()).await.unwrap().documents {
            let host: Host = serde_json::from_slice(&document).unwrap();
            let services = host.services.iter().flat_map(|service| &service.tags);
            let tags: Vec<TagId> = host.tags.iter().chain(services).copied().collect();
            existing.check("a host", &[host.network_id], &tags);
        }
        for key in inventory.daemon_api_keys().all(&Caller::system(organization)).await.unwrap() {
            existing.check("a daemon key", &[key.network_id], &key.tags);
        }
        for share in inventory.shares().all(&Caller::system(organization)).await.unwrap() {
            existing.check("a share", share.network_id.as_slice(), &[]);
        }
        for referral in inventory.users().referrals(&Caller::system(organization)).await.unwrap() {
            assert!(existing.users.contains(&referral.user_id), "a referral of a deleted user exists");
        }
        self.audit_credentials(&existing).await;
        self.fixture.common.store.hook().verify().await;
    }

    /// Asserts that keys and sessions exist if and only if their user does.
    async fn audit_credentials(&self, existing: &Existing) {
        let inventory = &self.fixture.common.inventory;
        let keys = self.keys.lock().unwrap().clone();
        for (id, user) in keys.into_iter().chain([(self.owner.key, self.owner.user.id)]) {
            match inventory.user_api_keys().get(&Caller::system(self.fixture.organization()), id).await {
                Ok(key) => {
                    assert!(existing.users.contains(&user), "a key of a deleted user exists");
                    existing.check("a key", &key.network_ids, &key.tags);
                }
                Err(error) => {
                    assert!(!existing.users.contains(&user), "{error}");
                    assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}");
                }
            }
        }
        let sessions = self.sessions.lock().unwrap().clone();
        for (session, user) in sessions {
            let is_valid = inventory.authenticate_session(&session).await.is_ok();
            let is_over = !existing.users.contains(&user) || self.changed.lock().unwrap().contains(&user);
            assert_ne!(is_valid, is_over, "a session ends with its user or with the password, and no sooner");
        }
    }
}
