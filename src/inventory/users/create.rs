use std::fmt;

use uuid::Uuid;

use super::{StoredUser, check_networks_of, password_key, user_facets, user_key};
use crate::inventory::networks::network_key;
use crate::inventory::organizations::organization_key;
use crate::inventory::records::{encode, facets};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, text};
use crate::model::{Permission, User};
use crate::store::{Batch, Check, Expect, Key, StoreErrorKind};

/// A user to be created.
#[derive(Clone)]
#[non_exhaustive]
pub struct NewUser {
    /// The organization.
    pub organization_id: Uuid,
    /// The e-mail address, kept in lower case; unique in the store.
    pub email: String,
    /// The level.
    pub permissions: Permission,
    /// The password of 10 to 1,000 characters; `None`: this user cannot log in.
    pub password: Option<String>,
    /// The networks granted to a Member or Viewer.
    pub network_ids: Vec<Uuid>,
}

impl NewUser {
    /// A user without password and networks.
    #[must_use]
    pub fn new(organization_id: Uuid, email: impl Into<String>, permissions: Permission) -> Self {
        Self { organization_id, email: email.into(), permissions, password: None, network_ids: Vec::new() }
    }
}

/// Without the password.
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
    /// # Errors
    /// `Invalid` for an e-mail address or a password that cannot be accepted, `ReferenceInvalid` for a network that is
    /// not the organization's, `AlreadyExists` when the address is taken, `NotFound` when there is no such organization.
    pub async fn create_user(&self, new: NewUser) -> Result<User, Error> {
        let now = self.now();
        let email = text::email("email", &new.email)?;
        let networks: Vec<Key> = new.network_ids.iter().map(|id| network_key(*id)).collect();
        self.check_references(new.organization_id, Entity::Network, &networks, "network_ids").await?;
        let user = User {
            id: self.new_id()?,
            email,
            organization_id: new.organization_id,
            permissions: new.permissions,
            network_ids: text::distinct(new.network_ids),
            created_at: now,
            updated_at: now,
        };
        let stored = StoredUser { user: user.clone(), is_disabled: false };
        let mut batch = Batch::new();
        batch.put(user_key(user.id), Expect::Absent, user_facets(&user), encode(&stored)?);
        batch.check(Check::Record { key: organization_key(user.organization_id), expect: Expect::Present });
        check_networks_of(&user, &mut batch);
        if let Some(password) = new.password {
            let hash = self.passwords.hash(password).await?;
            batch.put(password_key(user.id), Expect::Absent, facets(user.organization_id, now), hash);
        }
        self.store.commit(batch).await.map_err(|error| match error.kind() {
            StoreErrorKind::AliasTaken(_) => {
                ErrorKind::AlreadyExists { entity: Entity::User, name: user.email.clone() }.into()
            }
            StoreErrorKind::Conflict(key) if *key == organization_key(user.organization_id) => {
                ErrorKind::NotFound { entity: Entity::Organization, id: user.organization_id }.into()
            }
            StoreErrorKind::Conflict(_) => ErrorKind::Conflict { entity: Entity::User, id: user.id }.into(),
            _ => Error::from(error),
        })?;
        Ok(user)
    }
}
