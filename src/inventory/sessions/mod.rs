//! Login sessions.

mod decoys;
mod login;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use uuid::Uuid;

pub(super) use decoys::Decoys;
pub use login::IssuedSession;
pub(super) use login::bounded;

use super::queues::Turns;
use super::records::SessionRecord;
use super::schema::{SESSION, SESSION_LINK, SESSION_UNIQUE_KEY, decode, facets, linked, user_key};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::SessionId;
use crate::model::{Timestamp, User};
use crate::store::{Batch, Facets, Guard, Key, Link, Precondition, Store, UniqueKey};

/// The time between two purges of expired sessions by logins, in microseconds.
const PURGE_INTERVAL_MICROS: i64 = 60 * 60 * 1_000_000;

impl Inventory {
    /// Ends a session by the id in the browser's cookie. An unknown session is not an error.
    pub async fn log_out(&self, text: &str) -> Result<(), Error> {
        let Some(id) = SessionId::parse(text) else { return Ok(()) };
        if let Some((key, _)) = self.find_session(&id).await? {
            let mut batch = Batch::new();
            batch.delete(key, Precondition::Any);
            self.store.commit(batch).await?;
        }
        Ok(())
    }

    pub(super) async fn find_session(
        &self,
        id: &SessionId,
    ) -> Result<Option<(Key, Arc<SessionRecord>)>, Error> {
        let digest = id.digest();
        let unique_key = UniqueKey::new(SESSION_UNIQUE_KEY, digest.lookup());
        let Some(record) = self.store.get_by_unique_key(&unique_key).await? else { return Ok(None) };
        let session = self.state.authentication.sessions.get(&record)?;
        Ok(session.verifier.matches(&digest.verifier()).then_some((record.key, session)))
    }

    /// Deletes expired sessions and returns their number.
    ///
    /// Logins also do this about once an hour, so host applications need not call it.
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
    pub async fn purge_expired(&self) -> Result<u64, Error> {
        Ok(self.store.purge_expired(self.now()).await?)
    }

    fn purge_periodically(&self) {
        let now = self.now();
        let (purged_at, micros) = (&self.state.purged_at, now.unix_micros());
        let before = purged_at.load(Ordering::Relaxed);
        if micros.saturating_sub(before) >= PURGE_INTERVAL_MICROS || micros < before {
            let is_first =
                || purged_at.compare_exchange(before, micros, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            self.state.tasks.spawn(is_first, purge(Arc::clone(&self.store), now));
        }
    }

    /// Ensures that a user may begin one more session until the returned turn is dropped.
    ///
    /// At the limit, the batch deletes the user's expired sessions to make room.
    async fn session_turn(&self, user: &User, batch: &mut Batch) -> Result<Option<Turns>, Error> {
        let limit = self.quotas.sessions_per_user;
        let turn = self.quota_turn(limit, user_key(user.id), Entity::User).await?;
        let Some(limit) = limit else { return Ok(turn) };
        let sessions = linked(SESSION, user.organization_id, Link::new(SESSION_LINK, user.id));
        if self.count(sessions.clone()).await? < limit {
            return Ok(turn);
        }
        let now = self.now();
        let mut live = 0;
        for record in self.store.list(&sessions).await?.records {
            if decode::<SessionRecord>(&record)?.expires_at > now {
                live += 1;
            } else {
                batch.delete(record.key, Precondition::Any);
            }
        }
        if live >= limit {
            return Err(ErrorKind::QuotaExceeded { entity: Entity::Session, limit }.into());
        }
        Ok(turn)
    }

    /// Ends all sessions of a user.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn end_sessions(&self, user: Uuid) -> Result<(), Error> {
        let user = self.user(user).await?;
        let mut transaction = self.transaction(Entity::User, user.id);
        loop {
            let mut batch = Batch::new();
            self.delete_sessions(&user, &mut batch).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Adds the deletion of all of a user's sessions to a batch.
    pub(super) async fn delete_sessions(&self, user: &User, batch: &mut Batch) -> Result<(), Error> {
        self.delete_other_sessions(user, None, batch).await
    }

    /// Adds the deletion of all of a user's sessions but one to a batch.
    ///
    /// A guard makes the commit fail if another session begins in the meantime.
    pub(super) async fn delete_other_sessions(
        &self,
        user: &User,
        kept: Option<&SessionId>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let kept = match kept {
            Some(id) => self.find_session(id).await?.map(|(key, _)| (key, id)),
            None => None,
        };
        let (organization, link) = (user.organization_id, Link::new(SESSION_LINK, user.id));
        for record in self.store.list(&linked(SESSION, organization, link)).await?.records {
            match kept.filter(|(key, _)| *key == record.key) {
                // Written as it is, because the guard requires a write of every session.
                Some((_, id)) => {
                    let facets = session_facets(&decode(&record)?, id);
                    batch.put(record.key, Precondition::Version(record.version), facets, record.body);
                }
                None => {
                    batch.delete(record.key, Precondition::Any);
                }
            }
        }
        batch.guard(Guard::LinkedWithin { organization: Some(organization), link });
        Ok(())
    }
}

fn session_facets(session: &SessionRecord, id: &SessionId) -> Facets {
    facets(session.organization_id, session.created_at)
        .with_expires_at(session.expires_at)
        .with_links([Link::new(SESSION_LINK, session.user_id)])
        .with_unique_keys([UniqueKey::new(SESSION_UNIQUE_KEY, id.digest().lookup())])
}

async fn purge(store: Arc<dyn Store>, now: Timestamp) {
    if let Err(error) = store.purge_expired(now).await {
        tracing::warn!("expired sessions could not be purged: {}", Error::from(error).with_causes());
    }
}
