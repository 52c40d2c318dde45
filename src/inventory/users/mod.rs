//! Users: accounts that can log in, and their rights.

mod email;
mod referrals;

use std::fmt;

use uuid::Uuid;

pub(super) use email::{EmailAddress, email_unique_key};
pub(crate) use referrals::may_submit_referrals;

use super::records::{StoredUser, delete_key_records, guard_networks, user_facets};
use super::schema::{
    REFERRAL, USER, USER_API_KEY, USER_LINK, all_of, encode, exists, facets, linked, network_key,
    organization_key, password_key, user_key,
};
use super::{Entity, Error, ErrorKind, Inventory, unchanged, validate};
use crate::model::{Permission, User};
use crate::store::{Batch, Guard, Key, Link, Precondition, StoreErrorKind};

/// The input for [`Inventory::create_user`].
#[derive(Clone)]
#[non_exhaustive]
pub struct NewUser {
    /// The organization the user belongs to.
    pub organization_id: Uuid,
    /// The e-mail address, of 3 to 254 characters in lower case.
    ///
    /// Stored in lower case. No two users in a store have addresses that differ only in case.
    pub email: String,
    /// The permission level.
    pub permissions: Permission,
    /// The password, of 10 to 1,000 characters; `None`: the user cannot log in.
    pub password: Option<String>,
    /// The networks granted to a Member or Viewer.
    pub network_ids: Vec<Uuid>,
}

impl NewUser {
    /// Creates the input for a user without password or networks.
    #[must_use]
    pub fn new(organization_id: Uuid, email: impl Into<String>, permissions: Permission) -> Self {
        Self { organization_id, email: email.into(), permissions, password: None, network_ids: Vec::new() }
    }
}

/// Omits the password.
impl fmt::Debug for NewUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewUser")
            .field("organization_id", &self.organization_id)
            .field("email", &self.email)
            .field("permissions", &self.permissions)
            .field("network_ids", &self.network_ids)
            .finish_non_exhaustive()
    }
}

impl Inventory {
    /// Creates a user.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewUser};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// # let office = inventory.create_network(organization.id, "Office").await?;
    /// let mut new = NewUser::new(organization.id, "member@example.net", Permission::Member);
    /// new.password = Some("correct horse".to_owned());
    /// new.network_ids = vec![office.id];
    /// let user = inventory.create_user(new).await?;
    /// assert_eq!(user.network_ids, [office.id]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for an unacceptable e-mail address or password; `ReferenceInvalid` for a network of another
    /// organization; `AlreadyExists` when the address is taken; `NotFound` when there is no such organization.
    pub async fn create_user(&self, new: NewUser) -> Result<User, Error> {
        let now = self.now();
        let email = EmailAddress::parse("email", &new.email)?.into_string();
        let networks: Vec<Key> = new.network_ids.iter().map(|id| network_key(*id)).collect();
        let user = User {
            id: self.new_id()?,
            email,
            organization_id: new.organization_id,
            permissions: new.permissions,
            network_ids: validate::distinct(new.network_ids),
            created_at: now,
            updated_at: now,
        };
        self.check_user(&user, &networks).await?;
        let hash = match new.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let mut transaction = self.transaction(Entity::User, user.id);
        loop {
            let Err(error) = self.store.commit(creation(&user, hash.clone())?).await else { return Ok(user) };
            match error.kind() {
                StoreErrorKind::UniqueKeyTaken(_) => {
                    return Err(ErrorKind::AlreadyExists { entity: Entity::User, name: user.email }.into());
                }
                // A referenced record may have been deleted.
                StoreErrorKind::Conflict(_) => self.check_user(&user, &networks).await?,
                _ => return Err(error.into()),
            }
            transaction.retry().await?;
        }
    }

    /// Checks that the user's organization exists and owns the granted networks.
    async fn check_user(&self, user: &User, networks: &[Key]) -> Result<(), Error> {
        self.organization(user.organization_id).await?;
        self.check_references(user.organization_id, Entity::Network, networks, "network_ids").await
    }
}

fn creation(user: &User, hash: Option<String>) -> Result<Batch, Error> {
    let stored = StoredUser { user: user.clone(), is_disabled: false };
    let mut batch = Batch::new();
    batch.put(user_key(user.id), Precondition::Absent, user_facets(user), encode(&stored)?);
    batch.guard(exists(organization_key(user.organization_id)));
    guard_networks(user, &mut batch);
    if let Some(hash) = hash {
        let facets = facets(user.organization_id, user.created_at);
        batch.put(password_key(user.id), Precondition::Absent, facets, hash);
    }
    Ok(batch)
}

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
