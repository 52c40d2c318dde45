//! Passwords of users.

use super::{EmailAddress, Users, no_password};
use crate::access::{Caller, SessionId};
use crate::inventory::history::Author;
use crate::inventory::policy::Actor;
use crate::inventory::schema::{facets, password_key};
use crate::inventory::sessions::{Account, bounded};
use crate::inventory::transaction::conflict;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_session, require_system, validate};
use crate::model::{User, UserId};
use crate::store::{Batch, Guard, Precondition};

impl Users<'_> {
    /// Sets the password of the user with an e-mail address, in any case, and ends all of the user's sessions.
    ///
    /// For administrators of the store, when the user can no longer log in.
    ///
    /// ```
    /// # use toposcope::inventory::Bootstrap;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
    /// inventory.users().set_password_of("Owner@example.net", "correct horse".to_owned()).await?;
    /// assert!(inventory.log_in("owner@example.net", "correct horse".to_owned()).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `ReferenceInvalid` when no user has the e-mail address; `ChooseOrganization` when users of several organizations
    /// [have it](Inventory::with_shared_emails), so that [`set_password`](Self::set_password) is needed; `Invalid` for the address or
    /// the password.
    pub async fn set_password_of(self, email: &str, password: String) -> Result<User, Error> {
        let address = EmailAddress::normalize("email", email)?;
        let users = self.inventory.users_with_email(&address).await?;
        let organizations: Vec<_> = users.iter().map(|user| user.organization_id).collect();
        let organization = self.inventory.only_organization(&organizations).await?;
        let user = users.into_iter().find(|user| Some(user.organization_id) == organization);
        let user = user.ok_or_else(|| {
            Error::from(ErrorKind::ReferenceInvalid { entity: Entity::User, field: "email".to_owned() })
        })?;
        self.set_password(&Caller::system(user.organization_id), user.id, Some(password)).await?;
        Ok(user)
    }

    /// Sets or removes a user's password and ends all of the user's sessions. The caller must be
    /// [the system](crate::access::Caller::system).
    ///
    /// A password has 10 to 1,000 characters. Users without a password cannot log in.
    ///
    /// # Errors
    /// `PermissionDenied`; `NotFound`; `Invalid` for the password, and for any of an
    /// [external](crate::inventory::NewUser::external) user.
    pub async fn set_password(
        self,
        caller: &Caller,
        id: UserId,
        password: Option<String>,
    ) -> Result<(), Error> {
        require_system(caller)?;
        let organization = caller.organization_id();
        let hash = match password {
            Some(password) => Some(self.inventory.passwords.hash(password).await?),
            None => None,
        };
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::User, id);
        loop {
            let (record, user) = self.inventory.own_record::<User>(caller, id).await?;
            if user.email.is_empty() && hash.is_some() {
                return Err(no_password());
            }
            let mut batch = Batch::new();
            batch.guard(Guard::Record {
                key: record.key,
                precondition: Precondition::Version(record.version),
            });
            match &hash {
                Some(hash) => {
                    let facets = facets(organization, self.inventory.now());
                    batch.put(password_key(id), Precondition::Any, facets, hash.clone())
                }
                None => batch.delete(password_key(id), Precondition::Any),
            };
            self.inventory.delete_other_sessions(&user, None, &mut batch).await?;
            transaction.review(Actor::Caller(caller), Some(&user), Some(&user)).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Ends all sessions of a user. The caller must be [the system](crate::access::Caller::system).
    ///
    /// # Errors
    /// `PermissionDenied`; `NotFound`.
    pub async fn end_sessions(self, caller: &Caller, id: UserId) -> Result<(), Error> {
        require_system(caller)?;
        let user = self.get(caller, id).await?;
        self.inventory.end_sessions_of((user.organization_id, user.id)).await
    }

    /// Changes the caller's own password and ends the caller's other sessions.
    ///
    /// `kept_session` is the id in the browser's cookie, as for [`log_out`](crate::Inventory::log_out); that session continues.
    /// `None` ends all sessions.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Inventory, NewUser};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let mut user = NewUser::new("user@example.net", Permission::Viewer);
    /// # user.password = Some("correct horse".to_owned());
    /// # inventory.users().create(&Caller::system(organization.id), user).await?;
    /// let session = inventory.log_in("user@example.net", "correct horse".to_owned()).await?;
    /// let caller = inventory.authenticate_session(session.plaintext()).await?;
    /// let (current, new) = ("correct horse".to_owned(), "battery staple".to_owned());
    /// inventory.users().change_own_password(&caller, current, new, Some(session.plaintext())).await?;
    /// assert!(inventory.authenticate_session(session.plaintext()).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `SessionRequired` for a caller with an API key; `Invalid` for the new password, as `new_password`; `NotFound`
    /// for a user of the host application without a record; `PasswordIncorrect` if the current password is wrong,
    /// which counts as a failed login; `TooManyAttempts`; `Busy`.
    pub async fn change_own_password(
        self,
        caller: &Caller,
        current: String,
        new: String,
        kept_session: Option<&str>,
    ) -> Result<(), Error> {
        require_session(caller)?;
        validate::password("new_password", &new)?;
        let user = self.inventory.user(caller.user_id()).await?;
        if user.organization_id != caller.organization_id() {
            return Err(ErrorKind::NotFound { entity: Entity::User, id: user.id.uuid() }.into());
        }
        if user.email.is_empty() {
            return Err(ErrorKind::PasswordIncorrect.into());
        }
        let transaction = self.inventory.reviewed_transaction(caller, Entity::User, user.id);
        transaction.review(Actor::Caller(caller), Some(&user), Some(&user)).await?;
        let address = EmailAddress::normalize("email", &user.email)?;
        let kept = kept_session.and_then(SessionId::parse);
        let replacement =
            self.inventory.replace_password(&user, &address, (bounded(current), new), kept.as_ref());
        let account = self.inventory.attempted_account(&address, Some(user.organization_id));
        let attempts = &self.inventory.attempts;
        let changed = self.inventory.limit_attempts(attempts, None, &account, replacement).await;
        changed.map_err(|error| match error.kind() {
            // The caller is authenticated: a client that takes the error for that of its session would log out.
            ErrorKind::InvalidCredentials => ErrorKind::PasswordIncorrect.into(),
            _ => error,
        })
    }
}

impl Inventory {
    /// Replaces the current password by the new one and ends all sessions but one.
    ///
    /// `reviewed` is the user as the policy saw it.
    async fn replace_password(
        &self,
        reviewed: &User,
        address: &EmailAddress,
        (current, new): (String, String),
        kept: Option<&SessionId>,
    ) -> Result<(), Error> {
        let id = reviewed.id;
        let mut transaction = self.transaction(Author::user(reviewed.organization_id, id), Entity::User, id);
        let mut new_hash = None;
        loop {
            let organization = Some(reviewed.organization_id);
            let account = self.verify_login(address, current.clone(), organization, None).await?.pop();
            let Some(Account { record, user, hash }) = account.filter(|account| account.user.id == id) else {
                return Err(ErrorKind::InvalidCredentials.into());
            };
            if self.policy.is_some() && user != *reviewed {
                // The policy has not seen this state of the user, and the attempt holds a login slot.
                return Err(conflict(Entity::User, id));
            }
            if !user.is_enabled {
                return Err(ErrorKind::Disabled { entity: Entity::User }.into());
            }
            let new_hash: &String = match &mut new_hash {
                Some(known) => known,
                none => none.insert(self.passwords.hash(new.clone()).await?),
            };
            let mut batch = Batch::new();
            batch.guard(Guard::record(record.key, Precondition::Version(record.version)));
            let facets = facets(user.organization_id, self.now());
            batch.put(hash.key, Precondition::Version(hash.version), facets, new_hash.clone());
            self.delete_other_sessions(&user, kept, &mut batch).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }
}
