use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::records::{EMAIL_ALIAS, SESSION, SESSION_ALIAS, SESSION_LINK, decode, encode, facets, linked};
use super::users::{StoredUser, password_key};
use super::{ATTEMPTS, Entity, Error, ErrorKind, Inventory, conflict, text};
use crate::access::{SessionId, Verifier};
use crate::model::{Session, Timestamp, User};
use crate::store::{Alias, Batch, Check, Expect, Key, Link, Record};

/// A session ends seven days after its login.
const LIFETIME_MICROS: i64 = 7 * 24 * 60 * 60 * 1_000_000;

/// Logins purge what is over, so often.
const PURGE_INTERVAL_MICROS: i64 = 60 * 60 * 1_000_000;

/// A session that has just begun: the only time that its id is to be had.
pub struct IssuedSession {
    user: User,
    session: Session,
    id: SessionId,
}

impl IssuedSession {
    /// Who logged in.
    #[must_use]
    pub const fn user(&self) -> &User {
        &self.user
    }

    /// The session.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The session id, to be handed to the browser and kept nowhere else.
    #[must_use]
    pub fn plaintext(&self) -> &str {
        self.id.expose()
    }
}

/// Without the plaintext.
impl fmt::Debug for IssuedSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IssuedSession")
            .field("user", &self.user)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// The body of a [`SESSION`] record. No response is ever made from it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionRecord {
    verifier: Verifier,
    pub(super) user_id: Uuid,
    organization_id: Uuid,
    created_at: Timestamp,
    pub(super) expires_at: Timestamp,
}

impl Inventory {
    /// Begins a session of the user who has this e-mail address, in any case, and this password. It ends after seven days.
    ///
    /// That the address is wrong, that the password is, and that the user has none or is disabled are one answer, in equal
    /// time. After five failures for an address within fifteen minutes it is held up, whether or not anybody has it, until
    /// the first of them is fifteen minutes old; this is counted in memory, by each `Inventory` for itself.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewUser};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example", true).await?;
    /// let mut owner = NewUser::new(organization.id, "owner@example.net", Permission::Owner);
    /// owner.password = Some("correct horse".to_owned());
    /// let owner = inventory.create_user(owner).await?;
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
    /// `InvalidCredentials`, `TooManyAttempts`.
    pub async fn log_in(&self, email: &str, password: String) -> Result<IssuedSession, Error> {
        let attempts = &self.remembered.attempts;
        let email = text::lower_case(email.trim());
        let _turn = attempts.turn(&email).await;
        let begun_at = self.now();
        if let Err(retry_after) = attempts.begin(&email, begun_at) {
            return Err(ErrorKind::TooManyAttempts { retry_after }.into());
        }
        let outcome = self.begin_session(&email, password).await;
        if !matches!(&outcome, Err(error) if *error.kind() == ErrorKind::InvalidCredentials) {
            attempts.take_back(&email, begun_at);
        }
        if outcome.is_ok() {
            self.purge_now_and_then().await;
        }
        outcome
    }

    async fn begin_session(&self, email: &str, password: String) -> Result<IssuedSession, Error> {
        for _ in 0..ATTEMPTS {
            let (user, hash) = self.verify_login(email, password.clone()).await?;
            let StoredUser { user: known, is_disabled } = decode(&user)?;
            if is_disabled {
                return Err(ErrorKind::InvalidCredentials.into());
            }
            let (session, id, mut batch) = self.new_session(&known)?;
            // A password that was changed meanwhile begins no session, nor does a user who was disabled.
            for record in [&user, &hash] {
                batch.check(Check::Record { key: record.key, expect: Expect::Version(record.version) });
            }
            if self.commit_if_unchanged(batch).await? {
                return Ok(IssuedSession { user: known, session, id });
            }
        }
        Err(conflict(Entity::Session, Uuid::nil()))
    }

    /// The user of an e-mail address and the hash of the password, which is the one given. There are as many look-ups, and
    /// as much work on the password, for an address that nobody has.
    async fn verify_login(&self, email: &str, password: String) -> Result<(Record, Record), Error> {
        let address = text::email("email", email).unwrap_or_default();
        let user = self.store.resolve(&Alias::new(EMAIL_ALIAS, address)).await?;
        let id = user.as_ref().map_or(Uuid::nil(), |user| user.key.id);
        let (Some(user), Some(hash)) = (user, self.get(password_key(id)).await?) else {
            self.passwords.verify_absent(password).await?;
            return Err(ErrorKind::InvalidCredentials.into());
        };
        let text = String::from_utf8(hash.body.to_vec()).map_err(Error::internal)?;
        if self.passwords.verify(password, text).await? {
            Ok((user, hash))
        } else {
            Err(ErrorKind::InvalidCredentials.into())
        }
    }

    fn new_session(&self, user: &User) -> Result<(Session, SessionId, Batch), Error> {
        let now = self.now();
        let id = SessionId::generate(&*self.random)?;
        let session = Session {
            id: self.new_id()?,
            user_id: user.id,
            organization_id: user.organization_id,
            created_at: now,
            expires_at: now.plus_micros(LIFETIME_MICROS),
        };
        let digest = id.digest();
        let record = SessionRecord {
            verifier: digest.verifier(),
            user_id: session.user_id,
            organization_id: session.organization_id,
            created_at: session.created_at,
            expires_at: session.expires_at,
        };
        let mut facets = facets(session.organization_id, now);
        facets.expires_at = Some(session.expires_at);
        facets.links.push(Link::new(SESSION_LINK, session.user_id));
        facets.aliases.push(Alias::new(SESSION_ALIAS, digest.lookup()));
        let mut batch = Batch::new();
        batch.put(Key::new(SESSION, session.id), Expect::Absent, facets, encode(&record)?);
        Ok((session, id, batch))
    }

    /// Ends a session by its id, as the browser's cookie has it. That there is none is no error.
    ///
    /// # Errors
    /// None of its own.
    pub async fn log_out(&self, text: &str) -> Result<(), Error> {
        let Some(id) = SessionId::parse(text) else { return Ok(()) };
        if let Some((key, _)) = self.find_session(&id).await? {
            let mut batch = Batch::new();
            batch.delete(key, Expect::Any);
            self.store.commit(batch).await?;
        }
        Ok(())
    }

    pub(super) async fn find_session(
        &self,
        id: &SessionId,
    ) -> Result<Option<(Key, Arc<SessionRecord>)>, Error> {
        let digest = id.digest();
        let alias = Alias::new(SESSION_ALIAS, digest.lookup());
        let Some(record) = self.store.resolve(&alias).await? else { return Ok(None) };
        let session = self.remembered.rights.sessions.get(&record)?;
        Ok(session.verifier.matches(&digest.verifier()).then_some((record.key, session)))
    }

    /// Deletes the sessions that are over, and tells how many. Logins do the same once an hour, so that a host application
    /// need not.
    ///
    /// ```
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// let purged = inventory.purge_expired().await?;
    /// assert_eq!(purged, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// None of its own.
    pub async fn purge_expired(&self) -> Result<u64, Error> {
        Ok(self.store.purge_expired(self.now()).await?)
    }

    async fn purge_now_and_then(&self) {
        let now = self.now().unix_micros();
        let purged_at = &self.remembered.purged_at;
        let before = purged_at.load(Ordering::Relaxed);
        let is_due = now.saturating_sub(before) >= PURGE_INTERVAL_MICROS || now < before;
        let is_first =
            || purged_at.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due
            && is_first()
            && let Err(error) = self.purge_expired().await
        {
            tracing::warn!("sessions that are over were not purged: {}", error.with_causes());
        }
    }

    pub(super) async fn session_keys(&self, user: &User) -> Result<Vec<Key>, Error> {
        let query = linked(SESSION, user.organization_id, Link::new(SESSION_LINK, user.id));
        Ok(self.store.list(&query).await?.records.iter().map(|record| record.key).collect())
    }
}
