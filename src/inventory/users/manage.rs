use uuid::Uuid;

use super::{StoredUser, guard_networks, user_facets};
use crate::inventory::api_keys::delete_key_records;
use crate::inventory::schema::{
    REFERRAL, USER, USER_API_KEY, USER_LINK, all_of, encode, facets, linked, network_key, password_key,
    user_key,
};
use crate::inventory::{Entity, Error, Inventory, unchanged, validate};
use crate::model::{Permission, User};
use crate::store::{Batch, Guard, Key, Link, Precondition};

impl Inventory {
    /// Returns a user.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user(&self, id: Uuid) -> Result<User, Error> {
        let (_, stored): (_, StoredUser) = self.read(user_key(id), Entity::User).await?;
        Ok(stored.user)
    }

    /// Returns all users of an organization, oldest first.
    ///
    /// # Errors
    /// None specific to this method.
    pub async fn users(&self, organization: Uuid) -> Result<Vec<User>, Error> {
        let stored: Vec<StoredUser> = self.read_all(&all_of(USER, organization)).await?;
        Ok(stored.into_iter().map(|stored| stored.user).collect())
    }

    /// Sets a user's permission level and granted networks.
    ///
    /// Takes effect with the next request, also for the user's API keys: rights of a key beyond its user's have no
    /// effect.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewUser};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// let office = inventory.create_network(organization.id, "Office").await?;
    /// let user = NewUser::new(organization.id, "user@example.net", Permission::Admin);
    /// let user = inventory.create_user(user).await?;
    ///
    /// inventory.set_user_rights(user.id, Permission::Viewer, vec![office.id]).await?;
    /// inventory.set_user_password(user.id, Some("correct horse".to_owned())).await?;
    /// inventory.disable_user(user.id).await?;
    /// assert_eq!(inventory.users(organization.id).await?.len(), 1);
    /// inventory.delete_user(user.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`; `ReferenceInvalid` for a network of another organization.
    pub async fn set_user_rights(
        &self,
        id: Uuid,
        permissions: Permission,
        network_ids: Vec<Uuid>,
    ) -> Result<User, Error> {
        let networks: Vec<Key> = network_ids.iter().map(|id| network_key(*id)).collect();
        let network_ids = validate::distinct(network_ids);
        let mut transaction = self.transaction(Entity::User, id);
        loop {
            let (record, mut stored): (_, StoredUser) = self.read(user_key(id), Entity::User).await?;
            let organization = stored.user.organization_id;
            self.check_references(organization, Entity::Network, &networks, "network_ids").await?;
            stored.user.permissions = permissions;
            stored.user.network_ids.clone_from(&network_ids);
            stored.user.updated_at = self.now();
            let mut batch = Batch::new();
            batch.put(record.key, unchanged(Some(&record)), user_facets(&stored.user), encode(&stored)?);
            guard_networks(&stored.user, &mut batch);
            if transaction.commit(batch).await? {
                return Ok(stored.user);
            }
        }
    }

    /// Returns whether a user is enabled.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn is_user_enabled(&self, id: Uuid) -> Result<bool, Error> {
        let (_, stored): (_, StoredUser) = self.read(user_key(id), Entity::User).await?;
        Ok(!stored.is_disabled)
    }

    /// Enables a user, who can log in again. Enabled API keys of the user are accepted again.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable_user(&self, id: Uuid) -> Result<User, Error> {
        self.set_user_enabled(id, true).await
    }

    /// Disables a user.
    ///
    /// Disabled users cannot log in, their sessions end, and their API keys are refused from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn disable_user(&self, id: Uuid) -> Result<User, Error> {
        self.set_user_enabled(id, false).await
    }

    async fn set_user_enabled(&self, id: Uuid, is_enabled: bool) -> Result<User, Error> {
        let mut transaction = self.transaction(Entity::User, id);
        loop {
            let (record, mut stored): (_, StoredUser) = self.read(user_key(id), Entity::User).await?;
            stored.is_disabled = !is_enabled;
            stored.user.updated_at = self.now();
            let mut batch = Batch::new();
            batch.put(record.key, unchanged(Some(&record)), user_facets(&stored.user), encode(&stored)?);
            if !is_enabled {
                self.delete_sessions(&stored.user, &mut batch).await?;
            }
            if transaction.commit(batch).await? {
                return Ok(stored.user);
            }
        }
    }

    /// Sets or removes a user's password and ends all of the user's sessions.
    ///
    /// A password has 10 to 1,000 characters. Users without a password cannot log in.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for the password.
    pub async fn set_user_password(&self, id: Uuid, password: Option<String>) -> Result<(), Error> {
        let hash = match password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let mut transaction = self.transaction(Entity::User, id);
        loop {
            let (record, StoredUser { user, .. }) = self.read(user_key(id), Entity::User).await?;
            let mut batch = Batch::new();
            batch.guard(Guard::Record {
                key: record.key,
                precondition: Precondition::Version(record.version),
            });
            match &hash {
                Some(hash) => {
                    let facets = facets(user.organization_id, self.now());
                    batch.put(password_key(id), Precondition::Any, facets, hash.clone())
                }
                None => batch.delete(password_key(id), Precondition::Any),
            };
            self.delete_sessions(&user, &mut batch).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Deletes a user with their password, sessions, API keys and referral.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_user(&self, id: Uuid) -> Result<(), Error> {
        let link = Link::new(USER_LINK, id);
        let mut transaction = self.transaction(Entity::User, id);
        loop {
            let (record, StoredUser { user, .. }) = self.read(user_key(id), Entity::User).await?;
            let mut batch = Batch::new();
            batch.delete(record.key, unchanged(Some(&record)));
            batch.delete(password_key(id), Precondition::Any);
            for kind in [USER_API_KEY, REFERRAL] {
                for owned in self.store.list(&linked(kind, user.organization_id, link)).await?.records {
                    batch.delete(owned.key, Precondition::Any);
                    if kind == USER_API_KEY {
                        delete_key_records(&mut batch, owned.key.id);
                    }
                }
            }
            self.delete_sessions(&user, &mut batch).await?;
            // A key created in the meantime makes the commit fail and the deletion start over.
            batch.guard(Guard::LinkedWithin { organization: Some(user.organization_id), link });
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }
}
