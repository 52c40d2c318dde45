//! Passwords of shares, and the tokens that replace them in requests.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Shares, not_found};
use crate::access::{Caller, ClientPrefix, ShareSecret};
use crate::inventory::schema::{decode, encode, facets, share_key, share_password_key};
use crate::inventory::sessions::bounded;
use crate::inventory::{Error, ErrorKind, Inventory, validate};
use crate::model::{Share, ShareId, Timestamp};
use crate::store::{Batch, Precondition};
use crate::wire::ShareToken;

/// The time for which a token opens a share, in microseconds: 12 hours.
const TOKEN_LIFETIME_MICROS: i64 = 12 * 60 * 60 * 1_000_000;

/// The change of a share's password by an update.
#[derive(Clone, Default)]
pub enum PasswordChange {
    /// Keeps the current password, if there is one.
    #[default]
    Keep,
    /// Sets the password, of 10 to 1,000 characters. Tokens for an earlier one end.
    Set(String),
    /// Removes the password, so that none is required.
    Clear,
}

/// Omits the password.
impl fmt::Debug for PasswordChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Keep => "Keep",
            Self::Set(_) => "Set(..)",
            Self::Clear => "Clear",
        })
    }
}

/// The body of a [`SHARE_PASSWORD`](crate::inventory::schema::SHARE_PASSWORD) record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SharePassword {
    hash: String,
    /// Replaced together with the hash, so that a new password ends all tokens.
    secret: ShareSecret,
}

impl SharePassword {
    /// Returns whether a token for the share is valid. It must have been issued under this password and not have
    /// expired.
    pub(super) fn verifies(&self, share: ShareId, token: &str, now: Timestamp) -> bool {
        self.secret.verifies(share, token, now)
    }

    /// Adds the password of a share to a batch, in place of an earlier one.
    pub(super) fn put(&self, share: &Share, batch: &mut Batch) -> Result<(), Error> {
        let facets = facets(share.organization_id, share.created_at);
        batch.put(share_password_key(share.id), Precondition::Any, facets, encode(self)?);
        Ok(())
    }
}

impl Shares<'_> {
    /// Updates a share and its password on behalf of a caller.
    ///
    /// Without a change of the password, the same as [`Collection::update`](crate::inventory::Collection::update).
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::{Inventory, NewShare, PasswordChange};
    /// # use toposcope::model::{Permission, UserId};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let mut new = NewShare::new("The office");
    /// new.network_id = Some(network.id);
    /// let share = inventory.shares().create(&caller, new).await?;
    ///
    /// let password = PasswordChange::Set("correct horse".to_owned());
    /// let share = inventory.shares().update_with_password(&caller, share.id, password, |_| Ok(())).await?;
    /// assert!(share.requires_password);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Collection::update`](crate::inventory::Collection::update); `Invalid` for the password.
    pub async fn update_with_password(
        self,
        caller: &Caller,
        id: ShareId,
        password: PasswordChange,
        change: impl Fn(&mut Share) -> Result<(), Error> + Send + Sync,
    ) -> Result<Share, Error> {
        let password = match password {
            PasswordChange::Keep => return self.update(caller, id, change).await,
            PasswordChange::Clear => None,
            PasswordChange::Set(password) => {
                validate::password("password", &password)?;
                // Refused before hashing, so that only an acceptable update makes the server work.
                change(&mut self.get(caller, id).await?)?;
                Some(self.inventory.protect(password).await?)
            }
        };
        let set = |share: &mut Share, batch: &mut Batch| {
            let had_password = std::mem::replace(&mut share.requires_password, password.is_some());
            match &password {
                Some(password) => password.put(share, batch)?,
                None if had_password => {
                    batch.delete(share_password_key(id), Precondition::Any);
                }
                None => {}
            }
            Ok(())
        };
        self.inventory.update_with(caller, id, change, set).await
    }

    /// Verifies a share's password. Any password opens a share that requires none.
    ///
    /// Does not limit attempts; [`Shares::issue_token`](crate::inventory::Shares::issue_token) does.
    ///
    /// # Errors
    /// `NotFound`, also for disabled and expired shares.
    pub async fn verify_password(self, id: ShareId, password: String) -> Result<bool, Error> {
        match self.inventory.password_of_open_share(id).await? {
            Some(stored) => {
                Ok(self.inventory.passwords.of_shares().verify(bounded(password), stored.hash).await?)
            }
            None => Ok(true),
        }
    }

    /// Issues a token that opens a share for 12 hours, if the password is correct.
    ///
    /// Five wrong passwords for a share from a client within 15 minutes lock that client out of the share, and fifty from
    /// all clients lock out all of them; tokens still open it. [`with_login_limits`](crate::Inventory::with_login_limits) changes the
    /// numbers. `None` stands for all clients without an address. Any password opens a share that requires none.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Inventory, NewShare};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// let mut new = NewShare::new("The office");
    /// new.password = Some("correct horse".to_owned());
    /// let share = inventory.shares().create(&Caller::system(organization.id), new).await?;
    ///
    /// let issued = inventory.shares().issue_token(share.id, "correct horse".to_owned(), None).await?;
    /// assert!(inventory.shares().check_token(share.id, &issued.token).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`, also for disabled and expired shares; `SharePasswordIncorrect`; `TooManyAttempts`; `Busy` when too
    /// many passwords are being verified, in total, for this share or for this client.
    pub async fn issue_token(
        self,
        id: ShareId,
        password: String,
        client: Option<ClientPrefix>,
    ) -> Result<ShareToken, Error> {
        let secret = if self.inventory.password_of_open_share(id).await?.is_some() {
            // Places are shared fairly between shares as between the domains of e-mail addresses.
            let name = format!("@{id}");
            let attempt = self.inventory.verify_attempt(id, bounded(password));
            let secret =
                self.inventory.limit_attempts(&self.inventory.share_attempts, client, &name, attempt).await?;
            self.inventory.note_password_of_share(id);
            secret
        } else {
            ShareSecret::generate(&*self.inventory.random)?
        };
        let expires_at = self.inventory.now().plus_micros(TOKEN_LIFETIME_MICROS);
        Ok(ShareToken { token: secret.issue(id, expires_at), expires_at })
    }

    /// Returns whether a token opens a share. Any token opens a share that requires no password.
    ///
    /// # Errors
    /// `NotFound`, also for disabled and expired shares.
    pub async fn check_token(self, id: ShareId, token: &str) -> Result<bool, Error> {
        let password = self.inventory.password_of_open_share(id).await?;
        Ok(password.is_none_or(|password| password.verifies(id, token, self.inventory.now())))
    }
}

impl Inventory {
    /// Hashes a new password and generates the secret of its tokens.
    pub(super) async fn protect(&self, password: String) -> Result<SharePassword, Error> {
        let secret = ShareSecret::generate(&*self.random)?;
        Ok(SharePassword { hash: self.passwords.of_shares().hash(password).await?, secret })
    }

    /// Returns the password of an open share; `None` if it requires none.
    async fn password_of_open_share(&self, id: ShareId) -> Result<Option<SharePassword>, Error> {
        // One call, so that both are of one state of the store.
        let records = self.store.get(&[share_key(id), share_password_key(id)]).await?;
        let [Some(share), password] = records.as_slice() else { return Err(not_found(id)) };
        let share: Share = decode(share)?;
        self.require_open(&share).await?;
        if !share.requires_password {
            return Ok(None);
        }
        decode(password.as_ref().ok_or_else(|| not_found(id))?).map(Some)
    }

    /// Returns the secret of a share's tokens if the password is correct.
    async fn verify_attempt(&self, id: ShareId, password: String) -> Result<ShareSecret, Error> {
        // Read after waiting for the turn: the password may have changed.
        let Some(SharePassword { hash, secret }) = self.password_of_open_share(id).await? else {
            return Ok(ShareSecret::generate(&*self.random)?);
        };
        if self.passwords.of_shares().verify(password, hash).await? {
            Ok(secret)
        } else {
            Err(ErrorKind::SharePasswordIncorrect.into())
        }
    }
}
