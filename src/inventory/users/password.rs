//! Passwords of users.

use uuid::Uuid;

use super::EmailAddress;
use crate::access::{Caller, SessionId};
use crate::inventory::email::email_unique_key;
use crate::inventory::schema::{decode, facets, password_key, user_key};
use crate::inventory::sessions::bounded;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_session, validate};
use crate::model::User;
use crate::store::{Batch, Guard, Precondition};

impl Inventory {
    /// Sets the password of the user with an e-mail address, in any case, and ends all of the user's sessions.
    ///
    /// For administrators of the store, when the user cannot log in any more.
    ///
    /// ```
    /// # use toposcope::inventory::Bootstrap;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # inventory.bootstrap(Bootstrap::new("Example", "owner@example.net")).await?;
    /// inventory.set_password("Owner@example.net", "correct horse".to_owned()).await?;
    /// assert!(inventory.log_in("owner@example.net", "correct horse".to_owned()).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `ReferenceInvalid` when no user has the e-mail address; `Invalid` for the address or the password.
    pub async fn set_password(&self, email: &str, password: String) -> Result<User, Error> {
        let address = EmailAddress::normalize("email", email)?;
        let found = self.store.get_by_unique_key(&email_unique_key(&address.comparable())).await?;
        let record = found.ok_or_else(|| {
            Error::from(ErrorKind::ReferenceInvalid { entity: Entity::User, field: "email".to_owned() })
        })?;
        self.set_user_password(record.key.id, Some(password)).await?;
        self.user(record.key.id).await
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
            let (record, user): (_, User) = self.read(user_key(id), Entity::User).await?;
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
            self.delete_other_sessions(&user, None, &mut batch).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Changes the caller's own password and ends the caller's other sessions.
    ///
    /// `kept_session` is the id in the browser's cookie, as for [`log_out`](Self::log_out); that session continues.
    /// `None` ends all sessions.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewUser};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// # let mut user = NewUser::new(organization.id, "user@example.net", Permission::Viewer);
    /// # user.password = Some("correct horse".to_owned());
    /// # inventory.create_user(user).await?;
    /// let session = inventory.log_in("user@example.net", "correct horse".to_owned()).await?;
    /// let caller = inventory.authenticate_session(session.plaintext()).await?;
    /// let (current, new) = ("correct horse".to_owned(), "battery staple".to_owned());
    /// inventory.change_own_password_as(&caller, current, new, Some(session.plaintext())).await?;
    /// assert!(inventory.authenticate_session(session.plaintext()).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `UserContextRequired` for a caller with an API key; `Invalid` for the new password, as `new_password`; `NotFound`
    /// for a user of the host application without a record; `InvalidCredentials` if the current password is wrong,
    /// which counts as a failed login; `TooManyAttempts`; `Busy`.
    pub async fn change_own_password_as(
        &self,
        caller: &Caller,
        current: String,
        new: String,
        kept_session: Option<&str>,
    ) -> Result<(), Error> {
        require_session(caller)?;
        validate::password("new_password", &new)?;
        let user = self.user(caller.user_id()).await?;
        if user.organization_id != caller.organization_id() {
            return Err(ErrorKind::NotFound { entity: Entity::User, id: user.id }.into());
        }
        let address = EmailAddress::normalize("email", &user.email)?;
        let kept = kept_session.and_then(SessionId::parse);
        let replacement = self.replace_password(&user, &address, (bounded(current), new), kept.as_ref());
        self.limit_attempts(&self.attempts, None, &address.comparable(), replacement).await
    }

    /// Replaces the current password by the new one and ends all sessions but one.
    async fn replace_password(
        &self,
        user: &User,
        address: &EmailAddress,
        (current, new): (String, String),
        kept: Option<&SessionId>,
    ) -> Result<(), Error> {
        let mut transaction = self.transaction(Entity::User, user.id);
        let mut new_hash = None;
        loop {
            let (record, hash) = self.verify_login(address, current.clone()).await?;
            if record.key != user_key(user.id) {
                return Err(ErrorKind::InvalidCredentials.into());
            }
            if !decode::<User>(&record)?.is_enabled {
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
            self.delete_other_sessions(user, kept, &mut batch).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }
}
