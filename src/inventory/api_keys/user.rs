//! API keys of users, with which programs act for a user.

use uuid::Uuid;

use super::IssuedKey;
use crate::access::{Caller, KeyKind, KeyText};
use crate::inventory::collections::{CollectionRecord, guard_references};
use crate::inventory::records::{
    KeyHolder, delete_key_records, put_secret, user_api_key_facets, user_caller,
};
use crate::inventory::schema::{USER_API_KEY, USER_LINK, encode, exists, linked, user_api_key_key, user_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, unchanged, validate};
use crate::model::{Permission, Timestamp, UserApiKey};
use crate::store::{Batch, Link, Precondition};

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
    /// The networks the key may reach, all accessible to the owner. Empty: none. Ignored for a key of all networks.
    pub network_ids: Vec<Uuid>,
    /// Whether the key reaches all networks of its owner, including those that the owner will reach later.
    pub all_networks: bool,
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
            all_networks: false,
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
        self.issue_user_api_key(None, new).await
    }

    /// Creates an API key of the caller; `user_id` is ignored.
    ///
    /// # Errors
    /// Those of [`create_user_api_key`](Self::create_user_api_key), where the caller's level and networks bound those
    /// of the key; and `UserContextRequired`.
    pub async fn create_user_api_key_as(
        &self,
        caller: &Caller,
        new: NewUserApiKey,
    ) -> Result<IssuedKey<UserApiKey>, Error> {
        UserApiKey::REQUIREMENTS.create.check(caller)?;
        let new = NewUserApiKey { user_id: caller.user_id(), ..new };
        self.issue_user_api_key(Some(caller), new).await
    }

    /// Creates a key within the rights of the caller. Without a caller, the rights of the owner are the limit.
    async fn issue_user_api_key(
        &self,
        caller: Option<&Caller>,
        new: NewUserApiKey,
    ) -> Result<IssuedKey<UserApiKey>, Error> {
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
            if caller.is_some_and(|caller| caller.organization_id() != owner.organization_id) {
                return Err(ErrorKind::NotFound { entity: Entity::User, id: owner.id }.into());
            }
            let mut record = UserApiKey {
                id,
                name: name.clone(),
                organization_id: owner.organization_id,
                user_id: owner.id,
                tags: new.tags.clone(),
                key: plaintext.masked(),
                last_used: None,
                created_at: now,
                updated_at: now,
                expires_at: new.expires_at,
                is_enabled: new.is_enabled,
                network_ids: new.network_ids.clone(),
                all_networks: new.all_networks,
                permissions: new.permissions,
            };
            let granting = caller.cloned().unwrap_or_else(|| user_caller(&owner));
            if record.permissions > granting.permission() {
                return Err(ErrorKind::PermissionDenied.into());
            }
            if record.all_networks {
                self.require_all_networks(&granting, owner.id).await?;
            }
            self.check_own_references(&granting, &record.references()).await?;
            record.deduplicate();
            let keys = linked(USER_API_KEY, owner.organization_id, Link::new(USER_LINK, owner.id));
            self.check_quota(limit, Entity::UserApiKey, keys, 1).await?;
            self.set_present_networks(std::slice::from_mut(&mut record)).await?;
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
        encode(&record.stored())?,
    );
    put_user_secret(&mut batch, record, text)?;
    batch.guard(exists(user_key(record.user_id)));
    guard_references(&record.references(), &mut batch);
    Ok(batch)
}

/// Adds the secret of a key to a batch, in place of an earlier one.
fn put_user_secret(batch: &mut Batch, key: &UserApiKey, text: &KeyText) -> Result<(), Error> {
    let holder = (key.organization_id, KeyHolder::User(key.user_id));
    put_secret(batch, key.id, Precondition::Any, text, holder, key.created_at)
}

impl Inventory {
    /// Returns a user API key, with `key` masked.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user_api_key(&self, id: Uuid) -> Result<UserApiKey, Error> {
        let (_, key) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
        let mut keys = [key];
        UserApiKey::complete(self, &mut keys).await?;
        let [key] = keys;
        Ok(key)
    }

    /// Returns all API keys of a user, oldest first.
    ///
    /// # Errors
    /// `NotFound` when there is no such user.
    pub async fn user_api_keys(&self, user: Uuid) -> Result<Vec<UserApiKey>, Error> {
        let organization = self.user(user).await?.organization_id;
        let query = linked(USER_API_KEY, organization, Link::new(USER_LINK, user));
        let mut keys: Vec<UserApiKey> = self.read_all(&query).await?;
        UserApiKey::complete(self, &mut keys).await?;
        Ok(keys)
    }

    /// Enables a user API key. It is accepted from the next request on, unless it has expired.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable_user_api_key(&self, id: Uuid) -> Result<UserApiKey, Error> {
        self.set_user_api_key_enabled(id, true).await
    }

    /// Disables a user API key. It is refused from the next request on.
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
        // Read before the change, so that a completed change cannot return an error.
        let UserApiKey { last_used, network_ids, .. } = self.user_api_key(id).await?;
        let key = self.change(user_api_key_key(id), Entity::UserApiKey, user_api_key_facets, set).await?;
        let network_ids = if key.all_networks { network_ids } else { key.network_ids };
        Ok(UserApiKey { last_used, network_ids, ..key })
    }

    /// Deletes a user API key. It is refused from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_user_api_key(&self, id: Uuid) -> Result<(), Error> {
        let delete = |_: &UserApiKey, batch: &mut Batch| {
            delete_key_records(batch, id);
            Ok(())
        };
        self.delete(user_api_key_key(id), Entity::UserApiKey, delete).await
    }
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
            let mut keys = [UserApiKey { key: text.masked(), updated_at: self.now(), ..key }];
            // Completed before the commit, so that a completed rotation cannot return an error.
            UserApiKey::complete(self, &mut keys).await?;
            let [key] = keys;
            let mut batch = Batch::new();
            let facets = user_api_key_facets(&key);
            batch.put(record.key, unchanged(Some(&record)), facets, encode(&key.stored())?);
            // Key and secret are created and deleted together, so the key's version covers both.
            put_user_secret(&mut batch, &key, &text)?;
            if transaction.commit(batch).await? {
                return Ok(IssuedKey::new(key, text));
            }
        }
    }

    /// Replaces the plaintext of one of the caller's own API keys, like
    /// [`rotate_user_api_key`](Self::rotate_user_api_key).
    ///
    /// # Errors
    /// `UserContextRequired` for a caller with an API key; `NotFound`, also for the key of another user.
    pub async fn rotate_user_api_key_as(
        &self,
        caller: &Caller,
        id: Uuid,
    ) -> Result<IssuedKey<UserApiKey>, Error> {
        let text = KeyText::generate(KeyKind::User, &*self.random)?;
        let replace = |key: &mut UserApiKey, batch: &mut Batch| {
            key.key = text.masked();
            put_user_secret(batch, key, &text)
        };
        let record = self.update_with(caller, id, |_| Ok(()), replace).await?;
        Ok(IssuedKey::new(record, text))
    }
}
