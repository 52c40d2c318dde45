//! API keys of users, with which programs act for a user.

use uuid::Uuid;

use super::IssuedKey;
use crate::access::{Caller, KeyKind, KeyText};
use crate::inventory::records::{
    KeyHolder, delete_key_records, guard_references, put_secret, user_api_key_facets, user_caller,
};
use crate::inventory::schema::{
    USER_API_KEY, USER_LINK, encode, exists, linked, network_key, tag_key, user_api_key_key, user_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_session, unchanged, validate};
use crate::model::{Permission, Timestamp, UserApiKey};
use crate::store::{Batch, Key, Link, Precondition};

/// The input for [`Inventory::create_user_api_key`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewUserApiKey {
    /// The user who owns the key.
    pub user_id: Uuid,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The permission level, at most the owner's.
    pub permissions: Permission,
    /// The networks the key may reach, all accessible to the owner. Empty: none.
    pub network_ids: Vec<Uuid>,
    /// The ids of the key's tags, all of the owner's organization.
    pub tags: Vec<Uuid>,
    /// When the key expires; must be in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the key is accepted.
    pub is_enabled: bool,
}

impl NewUserApiKey {
    /// Creates the input for an enabled key without expiry or networks.
    #[must_use]
    pub fn new(user_id: Uuid, name: impl Into<String>, permissions: Permission) -> Self {
        Self {
            user_id,
            name: name.into(),
            permissions,
            network_ids: Vec::new(),
            tags: Vec::new(),
            expires_at: None,
            is_enabled: true,
        }
    }
}

impl Inventory {
    /// Creates an API key of a user.
    ///
    /// ```
    /// # use toposcope::inventory::{Bootstrap, NewUserApiKey};
    /// # use toposcope::model::Permission;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let start = inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
    /// let mut new = NewUserApiKey::new(start.owner.id, "laptop", Permission::Viewer);
    /// new.network_ids = vec![start.network.id];
    /// let issued = inventory.create_user_api_key(new).await?;
    /// println!("Write this down, it is not shown again: {}", issued.plaintext());
    ///
    /// let id = issued.record().id;
    /// inventory.disable_user_api_key(id).await?;
    /// assert!(inventory.authenticate_user_key(issued.plaintext()).await.is_err());
    /// inventory.delete_user_api_key(id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `Invalid`: the name is blank or too long, or `expires_at` is not in the future.
    /// - `PermissionDenied`: the level is above the owner's.
    /// - `AccessDenied`: the owner cannot access one of the networks.
    /// - `ReferenceInvalid`: a network or tag belongs to another organization.
    /// - `NotFound`: there is no such user.
    /// - `QuotaExceeded`.
    pub async fn create_user_api_key(&self, new: NewUserApiKey) -> Result<IssuedKey<UserApiKey>, Error> {
        let now = self.now();
        let name = validate::name("name", &new.name, 100)?;
        validate::future("expires_at", new.expires_at, now)?;
        let plaintext = KeyText::generate(KeyKind::User, &*self.random)?;
        let id = self.new_id()?;
        let limit = self.quotas.user_api_keys_per_user;
        let _turn = self.quota_turn(limit, user_key(new.user_id), Entity::User).await?;
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let owner = self.user(new.user_id).await?;
            let grant = Grant {
                permissions: Some(new.permissions),
                network_ids: Some(&new.network_ids),
                tags: &new.tags,
            };
            self.check_grant(&user_caller(&owner), &grant).await?;
            let keys = linked(USER_API_KEY, owner.organization_id, Link::new(USER_LINK, owner.id));
            self.check_quota(limit, Entity::UserApiKey, keys, 1).await?;
            let record = UserApiKey {
                id,
                name: name.clone(),
                organization_id: owner.organization_id,
                user_id: owner.id,
                tags: validate::distinct(new.tags.clone()),
                key: plaintext.masked(),
                last_used: None,
                created_at: now,
                updated_at: now,
                expires_at: new.expires_at,
                is_enabled: new.is_enabled,
                network_ids: validate::distinct(new.network_ids.clone()),
                permissions: new.permissions,
            };
            if transaction.commit(creation(&record, &plaintext)?).await? {
                return Ok(IssuedKey::new(record, plaintext));
            }
        }
    }
}

fn creation(record: &UserApiKey, text: &KeyText) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    batch.put(
        user_api_key_key(record.id),
        Precondition::Absent,
        user_api_key_facets(record),
        encode(record)?,
    );
    let holder = (record.organization_id, KeyHolder::User(record.user_id));
    put_secret(&mut batch, record.id, Precondition::Absent, text, holder, record.created_at)?;
    batch.guard(exists(user_key(record.user_id)));
    guard_references(record, &mut batch);
    Ok(batch)
}

/// The new values of a user API key. `None` leaves a field unchanged.
///
/// ```
/// # use toposcope::inventory::{Bootstrap, NewUserApiKey, UserApiKeyUpdate};
/// # use toposcope::access::{Caller, Scope};
/// # use toposcope::model::Permission;
/// # use toposcope::{Inventory, MemoryStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// # let inventory = Inventory::new(MemoryStore::new());
/// # let start = inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
/// # let new = NewUserApiKey::new(start.owner.id, "laptop", Permission::Viewer);
/// # let key = inventory.create_user_api_key(new).await?.record().clone();
/// # let caller = Caller::new(start.organization.id, start.owner.id, Permission::Owner, Scope::all());
/// let mut update = UserApiKeyUpdate::new(start.organization.id, start.owner.id, "old laptop", vec![]);
/// update.is_enabled = Some(false);
/// let key = inventory.update_user_api_key_as(&caller, key.id, &update).await?;
/// assert_eq!((key.name.as_str(), key.is_enabled), ("old laptop", false));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserApiKeyUpdate {
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The organization, which must not change.
    pub organization_id: Uuid,
    /// The owner, which must not change.
    pub user_id: Uuid,
    /// The complete list of tags, all of the organization.
    pub tags: Vec<Uuid>,
    /// When the key expires, which may be in the past. `Some(None)`: never.
    pub expires_at: Option<Option<Timestamp>>,
    /// Whether the key is accepted.
    pub is_enabled: Option<bool>,
    /// The complete list of networks, all accessible to the owner.
    pub network_ids: Option<Vec<Uuid>>,
    /// The permission level, at most the owner's.
    pub permissions: Option<Permission>,
}

impl UserApiKeyUpdate {
    /// Creates an update of name and tags that leaves everything else unchanged.
    #[must_use]
    pub fn new(organization_id: Uuid, user_id: Uuid, name: impl Into<String>, tags: Vec<Uuid>) -> Self {
        Self {
            name: name.into(),
            organization_id,
            user_id,
            tags,
            expires_at: None,
            is_enabled: None,
            network_ids: None,
            permissions: None,
        }
    }

    fn apply(&self, key: UserApiKey, name: &str, now: Timestamp) -> UserApiKey {
        UserApiKey {
            name: name.to_owned(),
            tags: validate::distinct(self.tags.clone()),
            expires_at: self.expires_at.unwrap_or(key.expires_at),
            is_enabled: self.is_enabled.unwrap_or(key.is_enabled),
            network_ids: self.network_ids.clone().map_or(key.network_ids, validate::distinct),
            permissions: self.permissions.unwrap_or(key.permissions),
            updated_at: now,
            ..key
        }
    }
}

/// Requires a user session of any level, as for changing and deleting user API keys.
pub(crate) fn may_manage_user_api_keys(caller: &Caller) -> Result<(), Error> {
    require_session(caller)
}

impl Inventory {
    /// Updates one of the caller's own API keys. Takes effect with the next request.
    ///
    /// # Errors
    /// - `UserContextRequired`: the caller uses an API key.
    /// - `Invalid`: the name is unacceptable.
    /// - `NotFound`: there is no such key, or it belongs to another user.
    /// - `UpdateForbidden`: the organization or owner would change.
    /// - `PermissionDenied`: the level is above the caller's.
    /// - `ReferenceInvalid`: a network or tag belongs to another organization.
    /// - `AccessDenied`: the caller cannot access one of the networks.
    pub async fn update_user_api_key_as(
        &self,
        caller: &Caller,
        id: Uuid,
        update: &UserApiKeyUpdate,
    ) -> Result<UserApiKey, Error> {
        may_manage_user_api_keys(caller)?;
        let name = validate::name("name", &update.name, 100)?;
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let (record, key) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
            if !is_own(caller, &key) {
                return Err(not_found(id));
            }
            if update.organization_id != key.organization_id || update.user_id != key.user_id {
                return Err(ErrorKind::UpdateForbidden { entity: Entity::UserApiKey }.into());
            }
            let grant = Grant {
                permissions: update.permissions,
                network_ids: update.network_ids.as_deref(),
                tags: &update.tags,
            };
            self.check_grant(caller, &grant).await?;
            // Read before the commit, so that a completed update cannot return an error.
            let last_used = self.last_use(id).await?;
            let key = update.apply(key, &name, self.now());
            let mut batch = Batch::new();
            batch.put(record.key, unchanged(Some(&record)), user_api_key_facets(&key), encode(&key)?);
            guard_references(&key, &mut batch);
            if transaction.commit(batch).await? {
                return Ok(UserApiKey { last_used, ..key });
            }
        }
    }
}

/// The rights to be given to a key, which its user must have. `None`: unchanged.
#[derive(Debug)]
pub(super) struct Grant<'a> {
    pub(super) permissions: Option<Permission>,
    pub(super) network_ids: Option<&'a [Uuid]>,
    pub(super) tags: &'a [Uuid],
}

impl Inventory {
    /// Checks that a user may give a key this level, these networks and these tags.
    pub(super) async fn check_grant(&self, user: &Caller, grant: &Grant<'_>) -> Result<(), Error> {
        if grant.permissions.is_some_and(|level| level > user.permission()) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let organization = user.organization_id();
        let ids = grant.network_ids.unwrap_or_default();
        let networks: Vec<Key> = ids.iter().map(|id| network_key(*id)).collect();
        self.check_references(organization, Entity::Network, &networks, "network_ids").await?;
        if let Some(id) = ids.iter().copied().find(|network| !user.scope().allows(*network)) {
            return Err(ErrorKind::AccessDenied { entity: Entity::Network, id }.into());
        }
        let tags: Vec<Key> = grant.tags.iter().map(|id| tag_key(*id)).collect();
        self.check_references(organization, Entity::Tag, &tags, "tags").await
    }
}

impl Inventory {
    /// Returns a user API key, with `key` masked.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user_api_key(&self, id: Uuid) -> Result<UserApiKey, Error> {
        let (_, key) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
        Ok(UserApiKey { last_used: self.last_use(id).await?, ..key })
    }

    /// Returns all API keys of a user, oldest first.
    ///
    /// # Errors
    /// `NotFound` when there is no such user.
    pub async fn user_api_keys(&self, user: Uuid) -> Result<Vec<UserApiKey>, Error> {
        let organization = self.user(user).await?.organization_id;
        let query = linked(USER_API_KEY, organization, Link::new(USER_LINK, user));
        let mut keys: Vec<UserApiKey> = self.read_all(&query).await?;
        self.set_last_uses(&mut keys, |key| key.id, |key| &mut key.last_used).await?;
        Ok(keys)
    }

    /// Enables a user API key: it is accepted from the next request on, unless it has expired.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable_user_api_key(&self, id: Uuid) -> Result<UserApiKey, Error> {
        self.set_user_api_key_enabled(id, true).await
    }

    /// Disables a user API key: it is refused from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn disable_user_api_key(&self, id: Uuid) -> Result<UserApiKey, Error> {
        self.set_user_api_key_enabled(id, false).await
    }

    async fn set_user_api_key_enabled(&self, id: Uuid, is_enabled: bool) -> Result<UserApiKey, Error> {
        let set = |key: &mut UserApiKey, now| {
            key.is_enabled = is_enabled;
            key.updated_at = now;
        };
        let last_used = self.last_use(id).await?;
        let key = self.change(user_api_key_key(id), Entity::UserApiKey, user_api_key_facets, set).await?;
        Ok(UserApiKey { last_used, ..key })
    }

    /// Deletes a user API key. It is refused from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_user_api_key(&self, id: Uuid) -> Result<(), Error> {
        self.delete_key_if(id, |_| true).await
    }

    /// Deletes one of the caller's own API keys. It is refused from the next request on.
    ///
    /// # Errors
    /// `UserContextRequired` for a caller with an API key; `NotFound`, also for the key of another user.
    pub async fn delete_user_api_key_as(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        require_session(caller)?;
        self.delete_key_if(id, |key| is_own(caller, key)).await
    }

    async fn delete_key_if(&self, id: Uuid, predicate: impl Fn(&UserApiKey) -> bool) -> Result<(), Error> {
        let delete = |key: &UserApiKey, batch: &mut Batch| {
            delete_key_records(batch, id);
            if predicate(key) { Ok(()) } else { Err(not_found(id)) }
        };
        self.delete(user_api_key_key(id), Entity::UserApiKey, delete).await
    }
}

/// Returns whether the caller owns a key.
pub(super) fn is_own(caller: &Caller, key: &UserApiKey) -> bool {
    key.user_id == caller.user_id() && key.organization_id == caller.organization_id()
}

pub(super) fn not_found(id: Uuid) -> Error {
    ErrorKind::NotFound { entity: Entity::UserApiKey, id }.into()
}

impl Inventory {
    /// Replaces the plaintext of a user API key. The old one is refused from the next request on.
    ///
    /// Everything else stays: id, name, owner, level, networks, tags, expiry, and whether the key is enabled. Both
    /// halves of the change are one commit, so that exactly one plaintext is valid at any time.
    ///
    /// ```
    /// # use toposcope::inventory::{Bootstrap, NewUserApiKey};
    /// # use toposcope::model::Permission;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let start = inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
    /// let new = NewUserApiKey::new(start.owner.id, "backup script", Permission::Viewer);
    /// let old = inventory.create_user_api_key(new).await?;
    ///
    /// let key = inventory.rotate_user_api_key(old.record().id).await?;
    /// assert_eq!(key.record().name, "backup script");
    /// assert!(inventory.authenticate_user_key(key.plaintext()).await.is_ok());
    /// assert!(inventory.authenticate_user_key(old.plaintext()).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn rotate_user_api_key(&self, id: Uuid) -> Result<IssuedKey<UserApiKey>, Error> {
        let text = KeyText::generate(KeyKind::User, &*self.random)?;
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let (record, key): (_, UserApiKey) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
            // Read before the commit, so that a completed rotation cannot return an error.
            let last_used = self.last_use(id).await?;
            let key = UserApiKey { key: text.masked(), updated_at: self.now(), ..key };
            let mut batch = Batch::new();
            batch.put(record.key, unchanged(Some(&record)), user_api_key_facets(&key), encode(&key)?);
            // Key and secret are created and deleted together, so the key's version covers both.
            let holder = (key.organization_id, KeyHolder::User(key.user_id));
            put_secret(&mut batch, id, Precondition::Any, &text, holder, key.created_at)?;
            if transaction.commit(batch).await? {
                return Ok(IssuedKey::new(UserApiKey { last_used, ..key }, text));
            }
        }
    }
}
