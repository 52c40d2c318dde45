//! API keys of users, with which programs act for a user.

use uuid::Uuid;

use super::{KeyHolder, delete_key_records, put_secret};
use crate::access::{Caller, KeyKind, KeyText};
use crate::inventory::schema::{
    NETWORK_LINK, TAG_LINK, USER_API_KEY, USER_LINK, encode, facets, linked, links, network_key, tag_key,
    user_api_key_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, IssuedKey, require_session, unchanged};
use crate::model::{Permission, UserApiKey};
use crate::store::{Batch, Facets, Guard, Key, Link, Precondition};

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

pub(in crate::inventory) fn user_api_key_facets(record: &UserApiKey) -> Facets {
    let mut facets = facets(record.organization_id, record.created_at);
    facets.links.push(Link::new(USER_LINK, record.user_id));
    facets.links.extend(links(NETWORK_LINK, &record.network_ids));
    facets.links.extend(links(TAG_LINK, &record.tags));
    facets
}

/// Adds guards that the records a key refers to still exist.
pub(super) fn guard_references(record: &UserApiKey, batch: &mut Batch) {
    let networks = record.network_ids.iter().map(|id| network_key(*id));
    for key in networks.chain(record.tags.iter().map(|id| tag_key(*id))) {
        batch.guard(Guard::Record { key, precondition: Precondition::Present });
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
        let uses = self.last_uses(keys.iter().map(|key| key.id)).await?;
        for (key, last_used) in keys.iter_mut().zip(uses) {
            key.last_used = last_used;
        }
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
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let (record, key) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
            if !predicate(&key) {
                return Err(not_found(id));
            }
            let mut batch = Batch::new();
            batch.delete(record.key, unchanged(Some(&record)));
            delete_key_records(&mut batch, id);
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
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
    /// # use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// # let owner = NewUser::new(organization.id, "owner@example.net", Permission::Owner);
    /// # let owner = inventory.create_user(owner).await?;
    /// let new = NewUserApiKey::new(owner.id, "backup script", Permission::Viewer);
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
