use std::fmt;

use uuid::Uuid;

use super::{EmailAddress, StoredUser, guard_networks, user_facets};
use crate::inventory::schema::{encode, facets, network_key, organization_key, password_key, user_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, validate};
use crate::model::{Permission, User};
use crate::store::{Batch, Guard, Key, Precondition, StoreErrorKind};

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
    batch.guard(Guard::Record {
        key: organization_key(user.organization_id),
        precondition: Precondition::Present,
    });
    guard_networks(user, &mut batch);
    if let Some(hash) = hash {
        let facets = facets(user.organization_id, user.created_at);
        batch.put(password_key(user.id), Precondition::Absent, facets, hash);
    }
    Ok(batch)
}
