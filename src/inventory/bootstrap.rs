use std::fmt;

use serde::de::DeserializeOwned;

use super::collections::CollectionRecord;
use super::email::EmailAddress;
use super::history::Author;
use super::networks::not_being_deleted;
use super::organizations::{id_of_name, put_organization};
use super::records::{KeyHolder, put_secret, user_api_key_facets, user_facets};
use super::schema::{
    NETWORK_NAME_UNIQUE_KEY, decode, encode, exists, facets, name_unique_key, network_key, organization_key,
    password_key, user_api_key_record_key, user_key,
};
use super::{Entity, Error, Inventory, IssuedKey, unchanged, validate};
use crate::access::{Caller, KeyKind, KeyText};
use crate::model::{
    Network, NetworkId, Organization, OrganizationId, Permission, Timestamp, User, UserApiKey, UserApiKeyId,
    UserId, derived_id,
};
use crate::store::{Batch, Key, Precondition, Record, Write};

/// The initial name of the key. Its owner may rename it.
const KEY_NAME: &str = "bootstrap";

/// The records that [`Inventory::bootstrap`] ensures.
#[derive(Clone)]
pub struct Bootstrap {
    organization: String,
    email: String,
    password: Option<String>,
    network: String,
    key_permissions: Permission,
    key_rotation: KeyRotation,
}

/// Whether the plaintext of an existing key is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyRotation {
    Never,
    EveryStart,
}

impl Bootstrap {
    /// An organization and the e-mail address of its owner, with a network named `Default`.
    ///
    /// The organization's name, of 1 to 100 characters, identifies it at every later start.
    #[must_use]
    pub fn new(organization: impl Into<String>, owner_email: impl Into<String>) -> Self {
        Self {
            organization: organization.into(),
            email: owner_email.into(),
            password: None,
            network: "Default".to_owned(),
            key_permissions: Permission::Owner,
            key_rotation: KeyRotation::Never,
        }
    }

    /// Sets the name of the network, of 1 to 100 characters. Default: `Default`.
    ///
    /// The name, regardless of case, identifies the network at every later start, even if `bootstrap` has not created it.
    /// A new name adds a network.
    #[must_use]
    pub fn network(self, name: impl Into<String>) -> Self {
        Self { network: name.into(), ..self }
    }

    /// Sets the password, of 10 to 1,000 characters, with which the owner is created.
    ///
    /// Default: none, and the owner cannot log in. A later start does not change the password of an existing owner;
    /// [`Users::set_password`](crate::inventory::Users::set_password) does.
    #[must_use]
    pub fn password(self, password: impl Into<String>) -> Self {
        Self { password: Some(password.into()), ..self }
    }

    /// Sets the level of the API key. Default: [`Permission::Owner`].
    #[must_use]
    pub fn key_permissions(self, permissions: Permission) -> Self {
        Self { key_permissions: permissions, ..self }
    }

    /// Replaces the plaintext of the API key at every start and restores its rights. Default: an existing key is kept.
    ///
    /// Use it for tools that print a key at each start, or once after the plaintext was lost. The plaintext of the
    /// previous start is refused from then on. The key is enabled, has no expiry, and reaches every network of the
    /// organization, including later ones.
    #[must_use]
    pub fn rotate_key(self) -> Self {
        Self { key_rotation: KeyRotation::EveryStart, ..self }
    }
}

/// Omits the password.
impl fmt::Debug for Bootstrap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Bootstrap")
            .field("organization", &self.organization)
            .field("email", &self.email)
            .field("network", &self.network)
            .field("key_permissions", &self.key_permissions)
            .field("key_rotation", &self.key_rotation)
            .finish_non_exhaustive()
    }
}

/// The records after [`Inventory::bootstrap`], as stored.
#[derive(Debug)]
#[non_exhaustive]
pub struct Bootstrapped {
    /// The organization.
    pub organization: Organization,
    /// The owner.
    pub owner: User,
    /// The network.
    pub network: Network,
    /// The id of the owner's API key.
    pub key_id: UserApiKeyId,
    /// The API key with its plaintext, if this call created or rotated it. `None`: the key of an earlier start stays
    /// valid.
    pub issued_key: Option<IssuedKey<UserApiKey>>,
    /// Whether this call created the organization.
    pub is_new: bool,
}

/// The input after validation, with the ids that follow from the names.
///
/// Equal ids let concurrent calls compete for the same records instead of creating two of each.
#[derive(Debug)]
struct Plan {
    organization: Organization,
    network: Network,
    /// The owner's address, normalized.
    email: String,
}

impl Plan {
    /// Validates the input and derives the ids.
    fn new(bootstrap: &Bootstrap, now: Timestamp) -> Result<Self, Error> {
        let name = validate::name("organization", &bootstrap.organization, 100)?;
        let network = validate::name("network", &bootstrap.network, 100)?;
        let email = EmailAddress::parse("email", &bootstrap.email)?.into_string();
        let id = id_of_name(&name);
        let network_id = derived_id("bootstrap network", &[id.as_bytes(), network.as_bytes()]);
        let mut network = Network::new(network);
        network.begin(network_id, id, now);
        Ok(Self {
            network,
            organization: Organization { id, name, api_access: true, created_at: now, updated_at: now },
            email,
        })
    }
}

impl Inventory {
    /// Ensures that an organization with an owner, a network and an API key exists.
    ///
    /// The API key reaches the network.
    ///
    /// A host application calls this at every start, with the same arguments. The first call creates everything
    /// in one commit. Later calls find it again, create what was deleted since, and change nothing else: names, rights
    /// and passwords that were changed since stay as they are. Several tasks and processes may call it at once.
    ///
    /// Hosts that an earlier version of the library has stored are brought up to date first; see
    /// [`upgrade`](Self::upgrade).
    ///
    /// The store has no plaintext of the key, so only the call that creates it returns it, in
    /// [`issued_key`](Bootstrapped::issued_key). The key stays valid at later starts. [`Bootstrap::rotate_key`]
    /// replaces it.
    ///
    /// The key does not count against the quota of keys when it is created. It reaches all networks of the organization,
    /// including those made later, until it is restricted with [`Collection::update`](crate::inventory::Collection::update).
    ///
    /// ```
    /// use toposcope::inventory::Bootstrap;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let bootstrap = Bootstrap::new("Example", "me@example.net").network("Office");
    /// let first = inventory.bootstrap(bootstrap.clone()).await?;
    /// let key = first.issued_key.expect("the first start issues a key");
    ///
    /// let later = inventory.bootstrap(bootstrap).await?;
    /// assert_eq!(later.network, first.network);
    /// assert!(later.issued_key.is_none());
    /// let caller = inventory.authenticate_user_key(key.plaintext()).await?;
    /// assert!(caller.scope().allows(later.network.id));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a name, e-mail address or password that is not acceptable. `AlreadyExists` when the e-mail address
    /// belongs to a user of another organization. `Conflict` while the organization is being deleted.
    pub async fn bootstrap(&self, bootstrap: Bootstrap) -> Result<Bootstrapped, Error> {
        let plan = Plan::new(&bootstrap, self.now())?;
        self.upgrade().await?;
        // An interrupted deletion would keep the id taken.
        self.finish_network_deletion(&Caller::system(plan.organization.id), plan.network.id).await?;
        let mut password = bootstrap.password;
        let mut hash = None;
        let mut transaction = self.transaction(
            Author::system(plan.organization.id),
            Entity::Organization,
            plan.organization.id,
        );
        loop {
            let organization = self.find::<Organization>(organization_key(plan.organization.id)).await?;
            let known_network = self.find::<Network>(network_key(plan.network.id)).await?;
            let is_network_new = known_network.is_none();
            let network = match known_network {
                Some((_, network)) => Some(network),
                None => self.find_network_by_name(&plan).await?,
            };
            let owner = self.find_owner(&plan).await?;
            if owner.is_none()
                && let Some(password) = password.take()
            {
                hash = Some(self.passwords.hash(password).await?);
            }
            let is_new = organization.is_none();

            let mut batch = Batch::new();
            let organization = match organization {
                Some((_, organization)) => organization,
                None => {
                    put_organization(&plan.organization, &mut batch)?;
                    plan.organization.clone()
                }
            };
            let network = match network {
                Some(network) => network,
                None => put_network(&plan, &mut batch)?,
            };
            let owner = match owner {
                Some(owner) => owner,
                None => self.put_owner(&plan, hash.clone(), &mut batch).await?,
            };
            let key_id: UserApiKeyId = derived_id("bootstrap key", &[owner.id.as_bytes()]);
            let issued_key = match self.find::<UserApiKey>(user_api_key_record_key(key_id)).await? {
                Some((record, mut key)) if bootstrap.key_rotation == KeyRotation::Never => {
                    // Deleting a network removes it from every key, and a network that another call created was never
                    // granted.
                    if is_network_new && !key.all_networks && !key.network_ids.contains(&network.id) {
                        key.network_ids.push(network.id);
                        key.updated_at = self.now();
                        put_key(&key, unchanged(Some(&record)), &mut batch)?;
                    }
                    None
                }
                found => {
                    let level = bootstrap.key_permissions;
                    let issued = self.issue_key(found, key_id, &owner, level, &mut batch).await?;
                    Some(with_network(issued, network.id))
                }
            };
            if !batch.writes().is_empty() {
                guard_references(organization.id, owner.id, network.id, &mut batch);
            }
            if batch.writes().is_empty() {
                return Ok(Bootstrapped { organization, owner, network, key_id, issued_key, is_new });
            }
            match transaction.commit(batch).await {
                Ok(true) => {
                    return Ok(Bootstrapped { organization, owner, network, key_id, issued_key, is_new });
                }
                Ok(false) => {}
                // It was deleted since it was read, and is created again.
                Err(error) if error.is_of_missing_organization() => transaction.retry().await?,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Inventory {
    /// Returns a record with its value, or `None`.
    pub(super) async fn find<T: DeserializeOwned>(&self, key: Key) -> Result<Option<(Record, T)>, Error> {
        let Some(record) = self.get(key).await? else { return Ok(None) };
        let value = decode(&record)?;
        Ok(Some((record, value)))
    }

    /// Returns the organization's network with the name of the plan. It may have replaced a deleted network.
    async fn find_network_by_name(&self, plan: &Plan) -> Result<Option<Network>, Error> {
        let unique_key = name_unique_key(NETWORK_NAME_UNIQUE_KEY, plan.organization.id, &plan.network.name);
        let found = self.store.get_by_unique_key(&unique_key).await?;
        found.as_ref().map(decode).transpose()
    }

    /// Returns the user with the e-mail address of the plan. The user must be in the organization of the plan.
    async fn find_owner(&self, plan: &Plan) -> Result<Option<User>, Error> {
        self.user_with_email(plan.organization.id, &plan.email).await
    }

    /// Adds the creation of the owner to a batch.
    async fn put_owner(&self, plan: &Plan, hash: Option<String>, batch: &mut Batch) -> Result<User, Error> {
        let now = self.now();
        let user = User {
            id: self.new_id()?,
            email: plan.email.clone(),
            external_id: None,
            organization_id: plan.organization.id,
            permissions: Permission::Owner,
            network_ids: Vec::new(),
            is_enabled: true,
            created_at: now,
            updated_at: now,
        };
        batch.put(user_key(user.id), Precondition::Absent, user_facets(&user), encode(&user)?);
        self.guard_email(&user, batch).await?;
        if let Some(hash) = hash {
            batch.put(password_key(user.id), Precondition::Absent, facets(user.organization_id, now), hash);
        }
        Ok(user)
    }

    /// Adds the creation of the key, or its rotation, to a batch.
    async fn issue_key(
        &self,
        found: Option<(Record, UserApiKey)>,
        id: UserApiKeyId,
        owner: &User,
        permissions: Permission,
        batch: &mut Batch,
    ) -> Result<IssuedKey<UserApiKey>, Error> {
        let now = self.now();
        let text = KeyText::generate(KeyKind::User, &*self.random)?;
        let (record, earlier) = found.unzip();
        // Read before the commit, so that a completed rotation cannot be reported as an error.
        let last_used = self.last_use(id).await?;
        let network_ids = self.network_ids(owner.organization_id).await?;
        let (name, tags, created_at) = match earlier {
            Some(key) => (key.name, key.tags, key.created_at),
            None => (KEY_NAME.to_owned(), Vec::new(), now),
        };
        let key = UserApiKey {
            id,
            name,
            organization_id: owner.organization_id,
            user_id: owner.id,
            tags,
            key: text.masked(),
            last_used: None,
            created_at,
            updated_at: now,
            expires_at: None,
            is_enabled: true,
            network_ids,
            all_networks: true,
            permissions,
        };
        put_key(&key, unchanged(record.as_ref()), batch)?;
        let holder = (key.organization_id, KeyHolder::User(key.user_id));
        put_secret(batch, id, Precondition::Any, &text, holder, created_at)?;
        Ok(IssuedKey::new(UserApiKey { last_used, ..key }, text))
    }
}

fn put_network(plan: &Plan, batch: &mut Batch) -> Result<Network, Error> {
    let network = plan.network.clone();
    let facets = network.facets(network.organization_id);
    batch.put(network_key(network.id), Precondition::Absent, facets, encode(&network)?);
    batch.guard(not_being_deleted(network.id));
    Ok(network)
}

fn put_key(key: &UserApiKey, precondition: Precondition, batch: &mut Batch) -> Result<(), Error> {
    batch.put(
        user_api_key_record_key(key.id),
        precondition,
        user_api_key_facets(key),
        encode(&key.stored())?,
    );
    Ok(())
}

/// Returns a new key whose networks include one that was created in the same commit.
fn with_network(issued: IssuedKey<UserApiKey>, network: NetworkId) -> IssuedKey<UserApiKey> {
    issued.map(|mut key| {
        if !key.network_ids.contains(&network) {
            key.network_ids.push(network);
        }
        key
    })
}

/// Adds guards that the records to which the batch refers still exist. Records that it creates need no guard.
fn guard_references(organization: OrganizationId, owner: UserId, network: NetworkId, batch: &mut Batch) {
    let created: Vec<Key> = batch.writes().iter().map(Write::key).collect();
    for key in [organization_key(organization), user_key(owner), network_key(network)] {
        if !created.contains(&key) {
            batch.guard(exists(key));
        }
    }
}
