//! Users: accounts that can log in, and their rights.

mod external;
mod password;
mod record;
mod referrals;
mod upgrade;

use self::external::record_id;
use super::collections::{CollectionRecord, Reference, handle};
use super::email::EmailAddress;
use super::policy::Actor;
use super::records::{delete_key_records, guard_networks, user_facets};
use super::schema::{
    OWNER_LINK, REFERRAL, USER, USER_API_KEY, USER_LINK, encode, exists, facets, linked, organization_key,
    password_key, user_key,
};
use super::shared_emails::is_email_taken;
use super::{Entity, Error, ErrorKind, Inventory, Problem, validate};
use crate::access::{Caller, Scope};
use crate::model::{NetworkId, Permission, User, UserId};
use crate::store::{Batch, Guard, Link, Precondition, Query, StoreErrorKind};
use crate::wire::NewUser;

handle! {
    /// The users of an organization.
    ///
    /// Viewers and Members see themselves only. For other callers than [the system](crate::access::Caller::system), the
    /// methods return `InUse` when they would demote, disable or delete the last enabled Owner of an organization.
    ///
    /// A deletion deletes the password, sessions, API keys and referral of the user as well.
    pub struct Users(User) = users;
}

impl Users<'_> {
    /// Creates a user.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Inventory, NewUser};
    /// # use toposcope::model::{Network, Permission};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let system = Caller::system(organization.id);
    /// # let office = inventory.networks().create(&system, Network::new("Office")).await?;
    /// let mut new = NewUser::new("member@example.net", Permission::Member);
    /// new.password = Some("correct horse".to_owned());
    /// new.network_ids = vec![office.id];
    /// let user = inventory.users().create(&system, new).await?;
    /// assert_eq!(user.network_ids, [office.id]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for an unacceptable e-mail address, external id or password; `ReferenceInvalid` for a network of another
    /// organization; `AlreadyExists` when the address or the external id is taken (with
    /// [shared addresses](Inventory::with_shared_emails), in this organization); `NotFound` when there is no such organization;
    /// `PermissionDenied` for a caller below Admin or for a level above the caller's; `SessionRequired`;
    /// `AccessDenied` for a network outside of the caller's scope.
    pub async fn create(self, caller: &Caller, new: NewUser) -> Result<User, Error> {
        User::REQUIREMENTS.create.check(caller)?;
        if new.permissions > caller.permission() {
            return Err(ErrorKind::PermissionDenied.into());
        }
        self.inventory.create_user(caller, new).await
    }

    /// Sets a user's permission level and granted networks.
    ///
    /// Takes effect with the next request, also for the user's API keys: rights of a key beyond its user's have no
    /// effect.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Inventory, NewUser};
    /// # use toposcope::model::{Network, Permission};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let system = Caller::system(organization.id);
    /// let office = inventory.networks().create(&system, Network::new("Office")).await?;
    /// let users = inventory.users();
    /// let user = users.create(&system, NewUser::new("user@example.net", Permission::Admin)).await?;
    ///
    /// users.set_rights(&system, user.id, Permission::Viewer, vec![office.id]).await?;
    /// users.set_password(&system, user.id, Some("correct horse".to_owned())).await?;
    /// users.disable(&system, user.id).await?;
    /// assert_eq!(users.all(&system).await?.len(), 1);
    /// users.delete(&system, user.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`update`](crate::inventory::Collection::update).
    pub async fn set_rights(
        self,
        caller: &Caller,
        id: UserId,
        permissions: Permission,
        network_ids: Vec<NetworkId>,
    ) -> Result<User, Error> {
        let set = |user: &mut User| {
            user.permissions = permissions;
            user.network_ids.clone_from(&network_ids);
            Ok(())
        };
        self.update(caller, id, set).await
    }
}

impl Inventory {
    /// Creates a user of the caller's organization with networks of the caller's scope.
    async fn create_user(&self, caller: &Caller, new: NewUser) -> Result<User, Error> {
        let scope = caller.scope();
        let now = self.now();
        let (id, email, external_id) = match &new.external {
            Some(external) => (record_id(caller, external)?, String::new(), Some(external.1.clone())),
            None => (UserId::nil(), EmailAddress::parse("email", &new.email)?.into_string(), None),
        };
        match &new.password {
            Some(_) if external_id.is_some() => return Err(no_password()),
            Some(password) => validate::password("password", password)?,
            None => {}
        }
        let mut user = User {
            id,
            email,
            external_id,
            organization_id: caller.organization_id(),
            permissions: new.permissions,
            network_ids: new.network_ids,
            is_enabled: true,
            created_at: now,
            updated_at: now,
        };
        let references = user.references();
        self.check_user(&user, scope, &references).await?;
        user.deduplicate();
        let hash = match new.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let external = user.external_id.is_some();
        if !external {
            user.id = self.new_id()?;
        }
        let mut transaction = self.reviewed_transaction(caller, Entity::User, user.id);
        loop {
            transaction.review(Actor::Caller(caller), None, Some(&user)).await?;
            let mut batch = creation(&user, hash.clone())?;
            if !external {
                self.guard_email(&user, &mut batch).await?;
            }
            let Err(error) = self.commit(&transaction.author, batch).await else { return Ok(user) };
            match error.kind() {
                kind if is_email_taken(kind) => self.check_email(&user).await?,
                // Other ids are new.
                StoreErrorKind::Conflict(key) if external && *key == user_key(user.id) => {
                    return Err(already_exists(&user));
                }
                // A referenced record may have been deleted.
                StoreErrorKind::Conflict(_) => self.check_user(&user, scope, &references).await?,
                _ => return Err(error.into()),
            }
            transaction.retry().await?;
        }
    }

    /// Checks that the user's organization exists and owns the granted networks, all of the scope.
    async fn check_user(&self, user: &User, scope: &Scope, references: &[Reference]) -> Result<(), Error> {
        self.organization(user.organization_id).await?;
        self.check_reachable(user.organization_id, scope, references).await
    }
}

fn already_exists(user: &User) -> Error {
    let error = Error::from(ErrorKind::AlreadyExists { entity: Entity::User, name: user.label().to_owned() });
    error.of_existing(Some(user.id.uuid()))
}

/// The error for a password of a user who cannot log in.
fn no_password() -> Error {
    Error::invalid("password", Problem::Unsupported)
}

fn creation(user: &User, hash: Option<String>) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    batch.put(user_key(user.id), Precondition::Absent, user_facets(user), encode(user)?);
    batch.guard(exists(organization_key(user.organization_id)));
    guard_networks(user, &mut batch);
    if let Some(hash) = hash {
        let facets = facets(user.organization_id, user.created_at);
        batch.put(password_key(user.id), Precondition::Absent, facets, hash);
    }
    Ok(batch)
}

impl Inventory {
    /// Returns a user of any organization.
    ///
    /// # Errors
    /// `NotFound`.
    pub(in crate::inventory) async fn user(&self, id: UserId) -> Result<User, Error> {
        Ok(self.read(user_key(id), Entity::User).await?.1)
    }

    /// Adds the deletion of everything that belongs to a user to a batch, except the sessions.
    ///
    /// Sessions without a user are refused, so that they can end afterwards.
    pub(super) async fn delete_records_of(&self, user: &User, batch: &mut Batch) -> Result<(), Error> {
        let link = Link::new(USER_LINK, user.id.uuid());
        batch.delete(password_key(user.id), Precondition::Any);
        for kind in [USER_API_KEY, REFERRAL] {
            for owned in self.store.list(&linked(kind, user.organization_id, link)).await?.records {
                batch.delete(owned.key, Precondition::Any);
                if kind == USER_API_KEY {
                    delete_key_records(batch, owned.key.id);
                }
            }
        }
        // A key created in the meantime makes the commit fail and the deletion start over.
        batch.guard(Guard::LinkedWithin { organization: Some(user.organization_id.uuid()), link });
        Ok(())
    }

    /// Adds a guard that another enabled Owner of the user's organization remains.
    ///
    /// # Errors
    /// `InUse` if there is none.
    pub(super) async fn keep_an_owner(&self, user: &User, batch: &mut Batch) -> Result<(), Error> {
        let organization = user.organization_id;
        let owners = linked(USER, organization, Link::new(OWNER_LINK, organization.uuid()));
        let first_two = self.store.list(&Query { limit: Some(2), ..owners }).await?.records;
        let other = first_two.iter().find(|owner| owner.key.id != user.id.uuid()).ok_or_else(|| {
            let (entity, used_by) = (Entity::User, Entity::Organization);
            ErrorKind::InUse { entity, name: user.label().to_owned(), used_by }
        })?;
        batch.guard(Guard::record(other.key, Precondition::Version(other.version)));
        Ok(())
    }
}
