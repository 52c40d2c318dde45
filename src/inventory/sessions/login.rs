use std::fmt;

use super::attempts::OpenAttempt;
use super::decoys::MAX_DECOYS;
use super::session_facets;
use crate::access::{ClientPrefix, PasswordError, PasswordHasher, SessionId};
use crate::inventory::email::EmailAddress;
use crate::inventory::history::Author;
use crate::inventory::records::SessionRecord;
use crate::inventory::schema::{PASSWORD, SESSION, decode, encode, facets, password_key, user_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{OrganizationId, Session, User, UserId};
use crate::store::{Batch, Guard, Key, Precondition, Query, Record};

/// The longest password that is verified, in bytes.
///
/// It is the most that a password of the maximum number of characters can take.
const MAX_PASSWORD: usize = 4 * PasswordHasher::MAX_LENGTH;

/// A session that has just begun, with its id, which cannot be retrieved later.
pub struct IssuedSession {
    user: User,
    session: Session,
    id: SessionId,
}

impl IssuedSession {
    /// Returns the user who logged in.
    #[must_use]
    pub const fn user(&self) -> &User {
        &self.user
    }

    /// Returns the session.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session id. Hand it to the browser and do not store it.
    #[must_use]
    pub fn plaintext(&self) -> &str {
        self.id.expose()
    }
}

/// Omits the session id.
impl fmt::Debug for IssuedSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IssuedSession")
            .field("user", &self.user)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A user with a password.
pub(in crate::inventory) struct Account {
    pub(in crate::inventory) record: Record,
    pub(in crate::inventory) user: User,
    /// The hash of the password.
    pub(in crate::inventory) hash: Record,
}

/// A user whom a login considers, or none.
struct Candidate {
    account: Option<Account>,
    /// The hash to verify if there is no account.
    decoy: Option<Record>,
}

/// Returns the password to verify: the given one, or an empty one if it is too long.
///
/// No stored password is longer than the limit; verifying an empty one takes the same work and less memory.
pub(in crate::inventory) fn bounded(password: String) -> String {
    if password.len() > MAX_PASSWORD { String::new() } else { password }
}

impl Inventory {
    /// Logs a user in by e-mail address, in any case, and password.
    ///
    /// The session expires after [a time](crate::Inventory::with_session_lifetime), by default seven days. It takes the place of the
    /// user's oldest session if there are as many as [`Quotas`](crate::inventory::Quotas) allow, by default 100.
    ///
    /// An unknown address, a wrong password, a user without a password and a disabled user give the same error after
    /// the same work: the same number of store calls, the same number of bodies read, and one password hash, or eight with
    /// [shared addresses](crate::Inventory::with_shared_emails). Records that do not exist are replaced by those of another
    /// user with a password.
    ///
    /// By default, after five failures of a client for an address within fifteen minutes, its further logins with the
    /// address are refused until the first of these is fifteen minutes old, whether or not a user has the address. After
    /// fifty failures for an address, the logins of all clients with it are.
    /// [`with_login_limits`](crate::Inventory::with_login_limits) changes both. All logins by this method are of one client. Each `Inventory` counts in its own memory. A login
    /// whose future is dropped counts as a failure. Passwords hashed at another cost than the current one are hashed
    /// again by the next successful login.
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
    /// let mut owner = NewUser::new("owner@example.net", Permission::Owner);
    /// owner.password = Some("correct horse".to_owned());
    /// let owner = inventory.users().create(&Caller::system(organization.id), owner).await?;
    ///
    /// let session = inventory.log_in("Owner@Example.net", "correct horse".to_owned()).await?;
    /// let caller = inventory.authenticate_session(session.plaintext()).await?;
    /// assert_eq!(caller.user_id(), owner.id);
    ///
    /// inventory.log_out(session.plaintext()).await?;
    /// assert!(inventory.authenticate_session(session.plaintext()).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` when the address in lower case has fewer than 3 or more than 254 characters. `InvalidCredentials`,
    /// `TooManyAttempts`; `QuotaExceeded` if users may have no sessions; `Busy` when too many logins are in progress, in
    /// total or for this domain; `ChooseOrganization` if the password is right for users of several organizations.
    pub async fn log_in(&self, email: &str, password: String) -> Result<IssuedSession, Error> {
        self.log_in_from(None, email, password).await
    }

    /// Logs a user in like [`log_in`](crate::Inventory::log_in), for a client identified by its address.
    ///
    /// By default, at most 256 logins are in progress at once. One client may hold an eighth of the free places, so
    /// that it cannot keep others from logging in; one e-mail domain may hold all free places. `None` exempts the login
    /// from the bound per client. [`with_login_limits`](crate::Inventory::with_login_limits) changes both numbers.
    ///
    /// # Errors
    /// The errors of [`log_in`](crate::Inventory::log_in); `Busy` also when too many logins of this client are in progress.
    pub async fn log_in_from(
        &self,
        client: Option<ClientPrefix>,
        email: &str,
        password: String,
    ) -> Result<IssuedSession, Error> {
        self.log_in_to(client, None, email, password).await
    }

    /// Logs a user in like [`log_in_from`](crate::Inventory::log_in_from), who must be of this organization, if one is given.
    ///
    /// Users whose e-mail address is [shared](crate::Inventory::with_shared_emails) need it, if they have the same password in several
    /// organizations.
    ///
    /// # Errors
    /// The errors of [`log_in_from`](crate::Inventory::log_in_from); `InvalidCredentials` also for an organization in
    /// which no user has the address. `ChooseOrganization` only if no organization is given.
    pub async fn log_in_to(
        &self,
        client: Option<ClientPrefix>,
        organization: Option<OrganizationId>,
        email: &str,
        password: String,
    ) -> Result<IssuedSession, Error> {
        let address = EmailAddress::normalize("email", email)?;
        let password = bounded(password);
        let outcome = if self.shares_emails && organization.is_none() {
            self.log_in_to_any(client, &address, password).await
        } else {
            let account = self.attempted_account(&address, organization);
            let login = self.begin_session(&address, password, organization, None);
            self.limit_attempts(&self.attempts, client, &account, login).await
        };
        if outcome.is_ok() {
            self.purge_periodically();
        }
        outcome
    }

    /// Begins a session of the user whose password this is.
    ///
    /// `open` counts the attempt for each organization in which a user has the address.
    pub(super) async fn begin_session(
        &self,
        address: &EmailAddress,
        password: String,
        organization: Option<OrganizationId>,
        mut open: Option<&mut OpenAttempt<'_>>,
    ) -> Result<IssuedSession, Error> {
        let mut transaction = None;
        loop {
            let mut accounts =
                self.verify_login(address, password.clone(), organization, open.as_deref_mut()).await?;
            accounts.retain(|account| account.user.is_enabled);
            if let Some(open) = &mut open {
                let right: Vec<_> = accounts.iter().map(|account| account.user.organization_id).collect();
                open.set_right(&right);
            }
            let Account { record: user, user: owner, hash } = self.only_account(accounts).await?;
            let transaction = transaction.get_or_insert_with(|| {
                self.transaction(Author::user(owner.organization_id, owner.id), Entity::User, owner.id)
            });
            let (session, id, mut batch) = self.new_session(&owner)?;
            // The login fails if the user was disabled, or the password changed, in the meantime.
            batch.guard(Guard::Record { key: user.key, precondition: Precondition::Version(user.version) });
            match self.rehash(&password, &hash).await? {
                Some(new) => {
                    let facets = facets(owner.organization_id, session.created_at);
                    batch.put(hash.key, Precondition::Version(hash.version), facets, new);
                }
                None => {
                    batch.guard(Guard::Record {
                        key: hash.key,
                        precondition: Precondition::Version(hash.version),
                    });
                }
            }
            // Not `transaction.commit`: its turns would be held while a retry waits for the quota turn.
            let turn = self.session_turn(&owner, &mut batch).await?;
            match self.commit_if_unchanged(&Author::user(owner.organization_id, owner.id), batch).await {
                Ok(true) => {
                    self.state.sessions_begun.increment();
                    return Ok(IssuedSession { user: owner, session, id });
                }
                Ok(false) => {}
                // The organization is being deleted.
                Err(error) if error.is_of_missing_organization() => {
                    return Err(ErrorKind::InvalidCredentials.into());
                }
                Err(error) => return Err(error),
            }
            drop(turn);
            transaction.retry().await?;
        }
    }

    /// Returns the user to read when an address or its password does not exist.
    ///
    /// It is the nil id while no user has a password.
    ///
    /// Must be called before the address is looked up, so that the choice of decoys reveals nothing about it.
    async fn decoy(&self, address: &str) -> Result<UserId, Error> {
        let (decoys, now) = (&self.state.decoys, self.now());
        if let Some(decoy) = decoys.of(address, now) {
            return Ok(decoy);
        }
        let page = self.store.list(&Query { limit: Some(MAX_DECOYS), ..Query::new(PASSWORD) }).await?;
        decoys.choose(page.records.iter().map(|record| record.key.id.into()).collect(), now);
        Ok(decoys.of(address, now).unwrap_or_default())
    }

    /// Hashes a password at the current cost if the stored hash has another cost.
    ///
    /// The duration of a login at another cost would reveal that the address has an account.
    async fn rehash(&self, password: &str, hash: &Record) -> Result<Option<String>, Error> {
        if std::str::from_utf8(&hash.body).is_ok_and(|hash| self.passwords.is_current(hash)) {
            return Ok(None);
        }
        match self.passwords.hash(password.to_owned()).await {
            Ok(hash) => Ok(Some(hash)),
            // The password predates the current length limits; its hash stays.
            Err(PasswordError::TooShort { .. } | PasswordError::TooLong { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the account that a login is for.
    ///
    /// # Errors
    /// `InvalidCredentials`; `ChooseOrganization`.
    async fn only_account(&self, accounts: Vec<Account>) -> Result<Account, Error> {
        let organizations: Vec<_> = accounts.iter().map(|account| account.user.organization_id).collect();
        let organization = self.only_organization(&organizations).await?;
        let account = accounts.into_iter().find(|account| Some(account.user.organization_id) == organization);
        account.ok_or_else(|| ErrorKind::InvalidCredentials.into())
    }

    /// Returns the accounts with this address for which the password is correct, of one organization or of all.
    ///
    /// For each user that there could be, every login makes the same store calls and reads two bodies, in a call each, whether or
    /// not there is a user with a password: see [`super::decoys`]. A login to one organization considers one user. Others
    /// consider those of the organizations for which `open` accepts the attempt, but verify the hashes of all.
    pub(in crate::inventory) async fn verify_login(
        &self,
        address: &EmailAddress,
        password: String,
        organization: Option<OrganizationId>,
        mut open: Option<&mut OpenAttempt<'_>>,
    ) -> Result<Vec<Account>, Error> {
        let address = address.comparable();
        let decoy = self.decoy(&address).await?;
        let (first, others) = match organization {
            Some(organization) => (self.user_to_log_in(organization, &address).await?, Vec::new()),
            None => self.first_user_with_email(&address).await?,
        };
        let further = if organization.is_some() { 0 } else { self.users_per_email() - 1 };
        let mut candidates = vec![self.candidate(first, decoy).await?];
        let mut others = others.into_iter();
        for _ in 0..further {
            let user = self.get(others.next().unwrap_or(user_key(UserId::nil()))).await?;
            candidates.push(self.candidate(user, decoy).await?);
        }
        let mut accounts = Vec::new();
        for candidate in candidates {
            let organization = candidate.account.as_ref().map(|account| account.user.organization_id);
            let is_open = match (&mut open, organization) {
                (Some(open), Some(organization)) => open.begin(organization),
                _ => true,
            };
            let account = self.verify_candidate(password.clone(), candidate).await?;
            accounts.extend(account.filter(|_| is_open));
        }
        Ok(accounts)
    }

    /// Reads the password of a user, or a decoy.
    async fn candidate(&self, user: Option<Record>, decoy: UserId) -> Result<Candidate, Error> {
        let instead_of = |record: Option<&Record>| if record.is_some() { UserId::nil() } else { decoy };
        let id = user.as_ref().map_or(UserId::nil(), |user| user.key.id.into());
        let keys = [user_key(instead_of(user.as_ref())), password_key(id)];
        let hash = self.store.get(&keys).await?.pop().flatten();
        let decoy = self.get(password_key(instead_of(hash.as_ref()))).await?;
        let account = match user.zip(hash) {
            Some((record, hash)) => Some(Account { user: decode(&record)?, record, hash }),
            None => None,
        };
        Ok(Candidate { account, decoy })
    }

    /// Verifies one hash, and returns the account if the hash is that of the password.
    async fn verify_candidate(
        &self,
        password: String,
        candidate: Candidate,
    ) -> Result<Option<Account>, Error> {
        let Candidate { account: Some(account), .. } = candidate else {
            self.verify_decoy(password, candidate.decoy).await?;
            return Ok(None);
        };
        let text = String::from_utf8(account.hash.body.to_vec()).map_err(Error::internal)?;
        let is_right = self.passwords.verify(password, text).await?;
        if !is_right {
            self.note_failed_login(account.user.id);
        }
        Ok(is_right.then_some(account))
    }

    /// Verifies a password against a decoy's hash, to take the same time.
    async fn verify_decoy(&self, password: String, hash: Option<Record>) -> Result<(), Error> {
        let Some(hash) = hash else {
            // No user has a password, or the decoy has lost its own.
            self.state.decoys.forget();
            return Ok(self.passwords.verify_absent(password).await?);
        };
        let hash = String::from_utf8_lossy(&hash.body).into_owned();
        match self.passwords.verify(password.clone(), hash).await {
            Ok(_) => Ok(()),
            Err(PasswordError::MalformedHash) => Ok(self.passwords.verify_absent(password).await?),
            Err(error) => Err(error.into()),
        }
    }

    fn new_session(&self, user: &User) -> Result<(Session, SessionId, Batch), Error> {
        let now = self.now();
        let lifetime = i64::try_from(self.session_lifetime.as_micros()).map_err(Error::internal)?;
        let id = SessionId::generate(&*self.random)?;
        let session = Session {
            id: self.new_id()?,
            user_id: user.id,
            organization_id: user.organization_id,
            created_at: now,
            expires_at: now.plus_micros(lifetime),
        };
        let digest = id.digest();
        let record = SessionRecord {
            verifier: digest.verifier(),
            user_id: session.user_id,
            organization_id: session.organization_id,
            created_at: session.created_at,
            expires_at: session.expires_at,
        };
        let mut batch = Batch::new();
        let facets = session_facets(&record, &id);
        batch.put(Key::new(SESSION, session.id.uuid()), Precondition::Absent, facets, encode(&record)?);
        Ok((session, id, batch))
    }
}
