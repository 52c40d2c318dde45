//! API keys of users, with which programs act for a user.

use super::IssuedKey;
use crate::access::{Caller, KeyKind, KeyText};
use crate::inventory::collections::{CollectionRecord, guard_references, handle};
use crate::inventory::policy::Actor;
use crate::inventory::records::{KeyHolder, put_secret, user_api_key_facets, user_caller};
use crate::inventory::schema::{
    USER_API_KEY, USER_LINK, encode, exists, linked, user_api_key_record_key, user_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, validate};
use crate::model::{UserApiKey, UserApiKeyId, UserId};
use crate::store::{Batch, Link, Precondition};
use crate::wire::NewUserApiKey;

handle! {
    /// The API keys of users.
    ///
    /// Users see and change their own keys only. [The system](crate::access::Caller::system) sees and changes those of all users of its
    /// organization.
    pub struct UserApiKeys(UserApiKey) = user_api_keys;
}

impl UserApiKeys<'_> {
    /// Creates an API key of the caller, or of any user for [the system](crate::access::Caller::system).
    ///
    /// The key's level and networks are limited to the caller's or, for the system, to the owner's.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Bootstrap, NewUserApiKey};
    /// # use toposcope::model::Permission;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let start = inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
    /// let system = Caller::system(start.organization.id);
    /// let mut new = NewUserApiKey::new(start.owner.id, "laptop", Permission::Viewer);
    /// new.network_ids = vec![start.network.id];
    /// let issued = inventory.user_api_keys().create(&system, new).await?;
    /// println!("Write this down, it is not shown again: {}", issued.plaintext());
    ///
    /// let id = issued.record().id;
    /// inventory.user_api_keys().disable(&system, id).await?;
    /// assert!(inventory.authenticate_user_key(issued.plaintext()).await.is_err());
    /// inventory.user_api_keys().delete(&system, id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `SessionRequired`: the caller has an API key.
    /// - `Invalid`: the name is blank or too long, or `expires_at` is not in the future.
    /// - `PermissionDenied`: the level is above the limit.
    /// - `AccessDenied`: one of the networks is beyond the limit.
    /// - `ReferenceInvalid`: a network or tag belongs to another organization.
    /// - `NotFound`: there is no such user.
    /// - `QuotaExceeded`.
    pub async fn create(self, caller: &Caller, new: NewUserApiKey) -> Result<IssuedKey<UserApiKey>, Error> {
        UserApiKey::REQUIREMENTS.create.check(caller)?;
        let user_id = if caller.is_system() { new.user_id } else { caller.user_id() };
        self.inventory.issue_user_api_key(caller, NewUserApiKey { user_id, ..new }).await
    }

    /// Returns the API keys of a user that are visible to the caller, oldest first.
    ///
    /// # Errors
    /// `NotFound` when there is no such user.
    pub async fn of_user(self, caller: &Caller, user: UserId) -> Result<Vec<UserApiKey>, Error> {
        self.inventory.users().get(caller, user).await?;
        let keys = linked(USER_API_KEY, caller.organization_id(), Link::new(USER_LINK, user.uuid()));
        let mut keys: Vec<UserApiKey> = self.inventory.read_all(&UserApiKey::restrict(keys, caller)).await?;
        UserApiKey::complete(self.inventory, &mut keys).await?;
        Ok(keys)
    }

    /// Replaces the plaintext of a user API key. The old one is refused from the next request on.
    ///
    /// Everything else stays: id, name, owner, level, networks, tags, expiry, and whether the key is enabled. One
    /// commit replaces the verifier, so that exactly one plaintext is valid at any time.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Bootstrap, NewUserApiKey};
    /// # use toposcope::model::Permission;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let start = inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
    /// # let system = Caller::system(start.organization.id);
    /// let new = NewUserApiKey::new(start.owner.id, "backup script", Permission::Viewer);
    /// let old = inventory.user_api_keys().create(&system, new).await?;
    ///
    /// let key = inventory.user_api_keys().rotate(&system, old.record().id).await?;
    /// assert_eq!(key.record().name, "backup script");
    /// assert!(inventory.authenticate_user_key(key.plaintext()).await.is_ok());
    /// assert!(inventory.authenticate_user_key(old.plaintext()).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`update`](crate::inventory::Collection::update).
    pub async fn rotate(self, caller: &Caller, id: UserApiKeyId) -> Result<IssuedKey<UserApiKey>, Error> {
        let text = KeyText::generate(KeyKind::User, &*self.inventory.random)?;
        let replace = |key: &mut UserApiKey, batch: &mut Batch| {
            key.key = text.masked();
            put_user_secret(batch, key, &text)
        };
        let record = self.inventory.update_with(caller, id, |_| Ok(()), replace).await?;
        Ok(IssuedKey::new(record, text))
    }
}

impl Inventory {
    /// Creates a key within the rights of the caller. For the system, the rights of the owner are the limit.
    async fn issue_user_api_key(
        &self,
        caller: &Caller,
        new: NewUserApiKey,
    ) -> Result<IssuedKey<UserApiKey>, Error> {
        let now = self.now();
        let name = validate::name("name", &new.name, 100)?;
        validate::future("expires_at", new.expires_at, now)?;
        let plaintext = KeyText::generate(KeyKind::User, &*self.random)?;
        let id = self.new_id()?;
        let limit = self.quotas.user_api_keys_per_user;
        let mut transaction = self.reviewed_transaction(caller, Entity::UserApiKey, id);
        loop {
            let owner = self.user(new.user_id).await?;
            if caller.organization_id() != owner.organization_id {
                return Err(ErrorKind::NotFound { entity: Entity::User, id: owner.id.uuid() }.into());
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
            let granting = if caller.is_system() { user_caller(&owner) } else { caller.clone() };
            if record.permissions > granting.permission() {
                return Err(ErrorKind::PermissionDenied.into());
            }
            if record.all_networks {
                self.require_all_networks(&granting, owner.id).await?;
            }
            self.check_own_references(&granting, &record.references()).await?;
            record.deduplicate();
            self.set_present_networks(std::slice::from_mut(&mut record)).await?;
            transaction.review(Actor::Caller(caller), None, Some(&record)).await?;
            let _turn = transaction.quota_turn(limit, user_key(owner.id), Entity::User).await?;
            let keys = linked(USER_API_KEY, owner.organization_id, Link::new(USER_LINK, owner.id.uuid()));
            self.check_quota(limit, Entity::UserApiKey, keys, 1).await?;
            if transaction.commit(creation(&record, &plaintext)?).await? {
                return Ok(IssuedKey::new(record, plaintext));
            }
        }
    }
}

fn creation(record: &UserApiKey, text: &KeyText) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    batch.put(
        user_api_key_record_key(record.id),
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
