//! Login sessions.

mod attempts;
mod decoys;
mod login;

use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(super) use decoys::Decoys;
pub use login::IssuedSession;
pub(super) use login::{Account, bounded};

use super::history::Author;
use super::queues::Turns;
use super::records::SessionRecord;
use super::schema::{
    CREATED_AT, SESSION, SESSION_LINK, SESSION_UNIQUE_KEY, decode, facets, linked, user_key,
};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::SessionId;
use crate::model::{OrganizationId, Timestamp, User, UserId};
use crate::store::{Batch, Direction, Facets, Guard, Key, Link, Order, Precondition, Query, UniqueKey};

/// The time between two purges of expired sessions by logins, in microseconds.
const PURGE_INTERVAL_MICROS: i64 = 60 * 60 * 1_000_000;

/// Maximum number of sessions that one commit ends because of their number or their user.
const MAX_ENDED: usize = 1_000;

impl Inventory {
    /// Ends a session by the id in the browser's cookie. An unknown session is not an error.
    pub async fn log_out(&self, text: &str) -> Result<(), Error> {
        let Some(id) = SessionId::parse(text) else { return Ok(()) };
        if let Some((key, session)) = self.find_session(&id).await? {
            let author = Author::user(session.organization_id, session.user_id);
            let mut transaction = self.transaction(author, Entity::Session, key.id);
            loop {
                let mut batch = Batch::new();
                batch.delete(key, Precondition::Any);
                if transaction.commit(batch).await? {
                    break;
                }
            }
            self.state.sessions_ended.increment();
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

    /// Deletes expired sessions, answers to repeatable requests and revocations, and returns their number.
    ///
    /// Deletions of organizations and networks that were interrupted are completed, too. Logins, requests with an idempotency key,
    /// [`ensure`](crate::inventory::Users::ensure), [`revoke`](crate::Api::revoke) and further deletions of organizations also do
    /// all this about once an hour. Host applications without any of them should call it.
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
        let purged = self.store.purge_expired(self.now()).await?;
        self.complete_deletions().await;
        Ok(purged)
    }

    /// Completes interrupted deletions, and drops old history and the credentials of deleted organizations. Failures
    /// are logged.
    async fn complete_deletions(&self) {
        self.complete_organization_deletions().await;
        self.complete_network_deletions().await;
        self.forget_old_changes().await;
        #[cfg(feature = "discovery")]
        self.drop_credentials().await;
    }

    pub(super) fn purge_periodically(&self) {
        let now = self.now();
        let (purged_at, micros) = (&self.state.purged_at, now.unix_micros());
        let before = purged_at.load(Ordering::Relaxed);
        if micros.saturating_sub(before) >= PURGE_INTERVAL_MICROS || micros < before {
            let is_first =
                || purged_at.compare_exchange(before, micros, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            self.state.tasks.spawn(is_first, maintain(self.with_own_state(), now));
        }
    }

    /// Adds the deletion of the user's oldest sessions to the batch of a new one, if the user has too many.
    ///
    /// The number is exact until the returned turn is dropped. If the user has far too many, each login ends some of
    /// them.
    ///
    /// # Errors
    /// `QuotaExceeded` if users may have no sessions at all.
    async fn session_turn(&self, user: &User, batch: &mut Batch) -> Result<Option<Turns>, Error> {
        let limit = self.quotas.sessions_per_user;
        let turn = self.quota_turn(limit, user_key(user.id), Entity::User).await?;
        let Some(limit) = limit else { return Ok(turn) };
        if limit == 0 {
            return Err(ErrorKind::QuotaExceeded { entity: Entity::Session, limit }.into());
        }
        let sessions = sessions_of(user.organization_id, user.id);
        let Some(surplus) =
            (self.count(sessions.clone()).await? + 1).checked_sub(limit).filter(|more| *more > 0)
        else {
            return Ok(turn);
        };
        let surplus = usize::try_from(surplus).unwrap_or(MAX_ENDED).min(MAX_ENDED);
        let order = vec![Order::new(CREATED_AT, Direction::Ascending)];
        let oldest = Query { order, limit: Some(surplus), ..sessions };
        for record in self.store.list(&oldest).await?.records {
            batch.delete(record.key, Precondition::Any);
        }
        Ok(turn)
    }

    /// Ends all sessions of a user, in commits of at most 1,000. A session that begins meanwhile ends as well.
    pub(super) async fn end_sessions_of(
        &self,
        (organization, user): (OrganizationId, UserId),
    ) -> Result<(), Error> {
        let some = Query { limit: Some(MAX_ENDED), ..sessions_of(organization, user) };
        let mut transaction = self.transaction(Author::system(organization), Entity::User, user);
        loop {
            let mut batch = Batch::new();
            for record in self.store.list(&some).await?.records {
                batch.delete(record.key, Precondition::Any);
            }
            let is_last = batch.writes().len() < MAX_ENDED;
            if is_last {
                let link = Link::new(SESSION_LINK, user.uuid());
                batch.guard(Guard::LinkedWithin { organization: Some(organization.uuid()), link });
            }
            if transaction.commit(batch).await? && is_last {
                return Ok(());
            }
        }
    }

    /// Deletes the sessions of a user who has been disabled or deleted.
    ///
    /// They are refused anyway, and none begin, so that failures are only logged.
    pub(super) async fn forget_sessions_of(&self, user: (OrganizationId, UserId)) {
        if let Err(error) = self.end_sessions_of(user).await {
            tracing::warn!(error = error.with_causes(), "sessions of a former user were not deleted");
        }
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
        let (organization, link) = (user.organization_id, Link::new(SESSION_LINK, user.id.uuid()));
        for record in self.store.list(&sessions_of(organization, user.id)).await?.records {
            match kept.filter(|(key, _)| *key == record.key) {
                // Written unchanged, because the guard requires a write of every session.
                Some((_, id)) => {
                    let facets = session_facets(&decode(&record)?, id);
                    batch.put(record.key, Precondition::Version(record.version), facets, record.body);
                }
                None => {
                    batch.delete(record.key, Precondition::Any);
                }
            }
        }
        batch.guard(Guard::LinkedWithin { organization: Some(organization.uuid()), link });
        Ok(())
    }
}

fn session_facets(session: &SessionRecord, id: &SessionId) -> Facets {
    facets(session.organization_id, session.created_at)
        .with_expires_at(session.expires_at)
        .with_links([Link::new(SESSION_LINK, session.user_id.uuid())])
        .with_unique_keys([UniqueKey::new(SESSION_UNIQUE_KEY, id.digest().lookup())])
}

fn sessions_of(organization: OrganizationId, user: UserId) -> Query {
    linked(SESSION, organization, Link::new(SESSION_LINK, user.uuid()))
}

/// Deletes expired sessions, and completes changes that were interrupted.
async fn maintain(inventory: Inventory, now: Timestamp) {
    if let Err(error) = inventory.store.purge_expired(now).await {
        tracing::warn!("expired sessions could not be purged: {}", Error::from(error).with_causes());
    }
    inventory.complete_deletions().await;
    inventory.follow_renamings(None).await;
}
