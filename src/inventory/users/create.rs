use std::fmt;

use serde::Deserialize;
use uuid::Uuid;

use super::networks::network_key;
use super::organizations::organization_key;
use super::records::{EMAIL_ALIAS, NETWORK_LINK, PASSWORD, USER, decode, encode, facets, links};
use super::{Entity, Error, ErrorKind, Inventory, text};
use crate::access::{Caller, Scope};
use crate::model::{Permission, User};
use crate::store::{Alias, Batch, Check, Expect, Key, StoreErrorKind};

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
        let mut user_facets = facets(user.organization_id, now);
        user_facets.aliases.push(Alias::new(EMAIL_ALIAS, user.email.as_bytes()));
        user_facets.links.extend(links(NETWORK_LINK, &user.network_ids));
        let mut batch = Batch::new();
        batch.put(user_key(user.id), Expect::Absent, user_facets, encode(&user)?);
        batch.check(Check::Record { key: organization_key(user.organization_id), expect: Expect::Present });
        for network in &user.network_ids {
            batch.check(Check::Record { key: network_key(*network), expect: Expect::Present });
        }
        if let Some(password) = new.password {
            let hash = self.passwords.hash(password).await?;
            batch.put(Key::new(PASSWORD, user.id), Expect::Absent, facets(user.organization_id, now), hash);
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

    /// A user.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user(&self, id: Uuid) -> Result<User, Error> {
        match self.get(user_key(id)).await? {
            Some(record) => decode(&record),
            None => Err(ErrorKind::NotFound { entity: Entity::User, id }.into()),
        }
    }
}

/// As much of a user as decides what they may do.
#[derive(Debug, Deserialize)]
pub(super) struct UserRights {
    id: Uuid,
    organization_id: Uuid,
    permissions: Permission,
    network_ids: Vec<Uuid>,
}

impl UserRights {
    /// The user as a caller, with all rights that are theirs at present.
    pub(super) fn caller(&self) -> Caller {
        let scope = Scope::granted(self.permissions, self.network_ids.iter().copied());
        Caller::new(self.organization_id, self.id, self.permissions, scope)
    }
}

pub(super) const fn user_key(id: Uuid) -> Key {
    Key::new(USER, id)
}
