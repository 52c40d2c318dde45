//! Users whom the host application authenticates, and users that it ensures.

use super::{EmailAddress, Users};
use crate::access::Caller;
use crate::inventory::schema::{decode, user_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem, require_system};
use crate::model::{OrganizationId, Permission, User, UserId, derived_id};
use crate::wire::NewUser;

/// Maximum number of characters of an external id.
const MAX_EXTERNAL_ID: usize = 255;

impl NewUser {
    /// Creates the input for a user of the host application, without an e-mail address.
    ///
    /// Such a user never logs in: the host application authenticates it and sets a [`Caller`] with the user's id. It can
    /// have API keys, and a record for what it has stored. `external_id` is the host application's own id of the user, of 1 to 255
    /// characters, compared exactly and unique within the organization. White space around it and control characters are
    /// refused.
    ///
    /// ```
    /// # use toposcope::{Inventory, MemoryStore};
    /// use toposcope::access::{Caller, Scope};
    /// use toposcope::inventory::NewUser;
    /// use toposcope::model::Permission;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// let new = NewUser::external(organization.id, "host-user-42", Permission::Member);
    /// let user = inventory.users().ensure(&Caller::system(organization.id), new).await?;
    /// let scope = Scope::granted(user.permissions, user.network_ids.iter().copied());
    /// let caller = Caller::new(organization.id, user.id, user.permissions, scope);
    /// # assert_eq!(inventory.users().get(&caller, caller.user_id()).await?, user);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn external(
        organization: OrganizationId,
        external_id: impl Into<String>,
        permissions: Permission,
    ) -> Self {
        Self { external: Some((organization, external_id.into())), ..Self::new("", permissions) }
    }
}

impl Users<'_> {
    /// Returns the user with this e-mail address or external id, or creates it. The caller must be
    /// [the system](Caller::system).
    ///
    /// A host application calls this when one of its users logs in. Its effect on an existing user depends on the
    /// manager of the user:
    ///
    /// | User | Level | Networks, password, [`is_enabled`](User::is_enabled) |
    /// |---|---|---|
    /// | [`NewUser::external`]: the host application | becomes that of `new` | stay |
    /// | with an e-mail address: the administrators of the organization | stays | stay |
    ///
    /// [`set_rights`](Self::set_rights) changes the networks. Do not let in a user that is not enabled: callers of the host
    /// application are not checked for it. Streams that are open at a lower level end by [`Api::revoke`](crate::Api::revoke).
    ///
    /// Several tasks and processes may call it at once: the user is created once, and has the level of the last call.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create), but `AlreadyExists` only for an e-mail address of a user of another
    /// organization, unless addresses [are shared](Inventory::with_shared_emails).
    pub async fn ensure(self, caller: &Caller, new: NewUser) -> Result<User, Error> {
        require_system(caller)?;
        self.inventory.purge_periodically();
        let organization = caller.organization_id();
        let mut transaction = self.inventory.transaction(caller, Entity::Organization, organization);
        loop {
            let outcome = match self.inventory.find_user(caller, &new).await? {
                Some(user) if new.external.is_some() && user.permissions != new.permissions => {
                    self.set_level(caller, user.id, new.permissions).await
                }
                Some(user) => return Ok(user),
                None => self.create(caller, new.clone()).await,
            };
            match outcome {
                // Another call has created or deleted it.
                Err(error) if is_of_another_call(&error) => transaction.retry().await?,
                outcome => return outcome,
            }
        }
    }

    /// Returns the user of the caller's organization with this external id, or `None`. Nothing is created.
    ///
    /// ```
    /// # use toposcope::{Inventory, MemoryStore};
    /// use toposcope::access::Caller;
    /// use toposcope::inventory::NewUser;
    /// use toposcope::model::Permission;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// let (users, system) = (inventory.users(), Caller::system(organization.id));
    /// assert_eq!(users.find_external(&system, "host-user-42").await?, None);
    /// let new = NewUser::external(organization.id, "host-user-42", Permission::Member);
    /// let user = users.ensure(&system, new).await?;
    /// assert_eq!(users.find_external(&system, "host-user-42").await?, Some(user));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for an id that no user can have; the errors of [`get`](crate::inventory::Collection::get), except
    /// `NotFound` for the user.
    pub async fn find_external(self, caller: &Caller, external_id: &str) -> Result<Option<User>, Error> {
        let external = (caller.organization_id(), external_id.to_owned());
        match self.get(caller, record_id(caller, &external)?).await {
            Ok(user) => Ok(Some(user)),
            Err(error) if is_missing_user(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn set_level(self, caller: &Caller, id: UserId, permissions: Permission) -> Result<User, Error> {
        let set = |user: &mut User| {
            user.permissions = permissions;
            Ok(())
        };
        self.update(caller, id, set).await
    }
}

impl Inventory {
    /// Returns the user of the caller's organization with the identity of a new one.
    ///
    /// # Errors
    /// The errors of [`user_with_email`](Self::user_with_email); `Invalid` for its e-mail address or external id.
    async fn find_user(&self, caller: &Caller, new: &NewUser) -> Result<Option<User>, Error> {
        match &new.external {
            Some(external) => {
                let found = self.get(user_key(record_id(caller, external)?)).await?;
                found.as_ref().map(decode).transpose()
            }
            None => {
                let address = EmailAddress::parse("email", &new.email)?.into_string();
                self.user_with_email(caller.organization_id(), &address).await
            }
        }
    }
}

/// Returns whether another call has created or deleted the user meanwhile.
fn is_of_another_call(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::AlreadyExists { .. }) || is_missing_user(error)
}

fn is_missing_user(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound { entity: Entity::User, .. })
}

/// Validates the external id of a user of an organization, and returns the id of the user's record.
///
/// It is derived, so that of several creations at once one succeeds, and so that no unique key is needed.
///
/// # Errors
/// `Invalid`; `NotFound` for an organization other than the caller's.
pub(super) fn record_id(
    caller: &Caller,
    (organization, external_id): &(OrganizationId, String),
) -> Result<UserId, Error> {
    let invalid = |problem| Err(Error::invalid("external_id", problem));
    if external_id.is_empty() {
        return invalid(Problem::Empty);
    }
    if external_id.chars().count() > MAX_EXTERNAL_ID {
        return invalid(Problem::MaxLength { max: MAX_EXTERNAL_ID });
    }
    if external_id.trim() != external_id || external_id.contains(char::is_control) {
        return invalid(Problem::InvalidFormat);
    }
    if *organization != caller.organization_id() {
        return Err(ErrorKind::NotFound { entity: Entity::Organization, id: organization.uuid() }.into());
    }
    Ok(derived_id("external user", &[organization.as_bytes(), external_id.as_bytes()]))
}
