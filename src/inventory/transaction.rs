//! Changes of records: read, decide, commit if nothing has changed, and retry.
//!
//! Updates of the same record wait for each other in queues. Without a queue, concurrent updates of one record would
//! fail and retry repeatedly, and most would give up. Queues are per record, so updates of different records, and
//! therefore of different organizations, never wait for each other.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use uuid::Uuid;

use super::history::Author;
use super::policy::Review;
use super::queues::Turns;
use super::schema::{ORGANIZATION, encode};
use super::{Entity, Error, ErrorKind, Inventory, unchanged};
use crate::model::Timestamp;
use crate::store::{Batch, Facets, Key, Name, Precondition, Query, StoreError, StoreErrorKind, UniqueKey};

/// The maximum number of attempts of a change under contention.
const MAX_ATTEMPTS: usize = 16;

/// The maximum number of attempts of a change about which a policy is asked. Any number of them can be
/// decided at the same time.
const MAX_REVIEWED_ATTEMPTS: usize = 64;

/// The time for which such a change waits for others that must be decided again as well.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The kind of the keys of the queues of such changes.
const REPEATED: Name = Name::new("repeated");

/// A read-decide-commit loop with retries and a bounded number of attempts.
///
/// The loop repeats until no record that the decision rests on has changed between reading and committing. It is
/// written out at each use: futures that hold an async closure are not `Send` in the service (rust-lang/rust#110338).
///
/// ```ignore
/// let mut transaction = self.transaction(Entity::Tag, id);
/// loop {
///     // Read, decide, make a batch.
///     if transaction.commit(batch).await? {
///         return Ok(());
///     }
/// }
/// ```
#[derive(Debug)]
pub(super) struct Transaction<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) author: Author,
    entity: Entity,
    id: Uuid,
    turns: Option<Turns>,
    /// The policy, if it is asked. It must not hold up the first attempt of any other change.
    pub(super) review: Option<Review>,
    /// The turn of a change about which the policy is asked, and that must be decided again.
    turn_to_repeat: Option<Turns>,
    /// Whether the turn of a quota is held at the commit.
    has_quota: bool,
    attempts: usize,
}

/// The outcome of one attempt to commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::inventory) enum Attempt<T = UniqueKey> {
    Committed,
    /// A record has changed since it was read; everything must be read and decided again.
    Stale,
    /// Another record has this unique key, or the value that it encodes.
    Taken(T),
}

impl Inventory {
    /// Starts a transaction of an author. `entity` and `id` identify the record in a `Conflict` error.
    pub(super) fn transaction(
        &self,
        author: impl Into<Author>,
        entity: Entity,
        id: impl Into<Uuid>,
    ) -> Transaction<'_> {
        let (author, id) = (author.into(), id.into());
        let (turns, turn_to_repeat) = (None, None);
        let inventory = self;
        Transaction {
            inventory,
            author,
            entity,
            id,
            turns,
            review: None,
            turn_to_repeat,
            has_quota: false,
            attempts: 0,
        }
    }

    /// Starts a transaction of a caller, about which the policy is asked.
    ///
    /// With a policy, it takes no turns: others must not wait for the policy, which is asked in between. Only those changes of
    /// a record that must be decided again, because another one was committed first, wait for each other.
    pub(super) fn reviewed_transaction(
        &self,
        author: impl Into<Author>,
        entity: Entity,
        id: impl Into<Uuid>,
    ) -> Transaction<'_> {
        let review = self.policy.clone().map(Review::of_request);
        Transaction { review, ..self.transaction(author, entity, id) }
    }

    /// Updates a record in place, without adding references.
    ///
    /// `change` receives the decoded value and the current time. It is called again on every attempt.
    pub(super) async fn change<T: DeserializeOwned + Serialize>(
        &self,
        author: impl Into<Author>,
        key: Key,
        entity: Entity,
        facets: impl Fn(&T) -> Facets,
        change: impl Fn(&mut T, Timestamp),
    ) -> Result<T, Error> {
        let mut transaction = self.transaction(author, entity, key.id);
        loop {
            let (record, mut value) = self.read(key, entity).await?;
            change(&mut value, self.now());
            let mut batch = Batch::new();
            batch.put(key, unchanged(Some(&record)), facets(&value), encode(&value)?);
            if transaction.commit(batch).await? {
                return Ok(value);
            }
        }
    }

    /// Waits until no other creation under a quota of this owner is in progress.
    ///
    /// Returns at once when there is no limit. Must be called while the turns of no [`Transaction`] are held, as by
    /// [`Transaction::quota_turn`]; this makes deadlocks impossible. `entity` is reported in the `Conflict` error when too
    /// many creations wait.
    pub(super) async fn quota_turn(
        &self,
        limit: Option<u64>,
        owner: Key,
        entity: Entity,
    ) -> Result<Option<Turns>, Error> {
        if limit.is_none() {
            return Ok(None);
        }
        let turn = self.state.creations.enter(BTreeSet::from([owner])).await;
        turn.map(Some).map_err(|_| conflict(entity, owner.id))
    }

    /// Refuses to create `more` records when the query's matches plus these exceed the limit.
    ///
    /// Exact only while the caller holds the owner's [`quota_turn`](Self::quota_turn).
    pub(super) async fn check_quota(
        &self,
        limit: Option<u64>,
        entity: Entity,
        query: Query,
        more: u64,
    ) -> Result<(), Error> {
        let Some(limit) = limit else { return Ok(()) };
        if more > 0 && self.count(query).await?.saturating_add(more) > limit {
            return Err(ErrorKind::QuotaExceeded { entity, limit }.into());
        }
        Ok(())
    }

    /// Commits a batch. Returns `false` when a precondition or guard failed and the change must be decided again.
    pub(super) async fn commit_if_unchanged(&self, author: &Author, batch: Batch) -> Result<bool, Error> {
        Ok(self.failed_condition(author, batch).await?.is_none())
    }

    /// Returns whether a commit has failed because the organization of a record does not exist.
    pub(super) async fn is_of_missing_organization(&self, error: &StoreError) -> Result<bool, Error> {
        match error.kind() {
            StoreErrorKind::Conflict(key) if key.kind == ORGANIZATION => Ok(self.get(*key).await?.is_none()),
            _ => Ok(false),
        }
    }

    /// Commits a batch. Returns the precondition or guard that failed, if any.
    ///
    /// # Errors
    /// `NotFound` for an organization that does not exist.
    async fn failed_condition(&self, author: &Author, batch: Batch) -> Result<Option<StoreErrorKind>, Error> {
        let writes_organization = batch.writes().iter().any(|write| write.key().kind == ORGANIZATION);
        let Err(error) = self.commit(author, batch).await else { return Ok(None) };
        if !writes_organization && self.is_of_missing_organization(&error).await? {
            // Another attempt would fail in the same way.
            return Err(error.into());
        }
        match error.kind() {
            StoreErrorKind::Conflict(_)
            | StoreErrorKind::Linked(_)
            | StoreErrorKind::NetworkInUse(_)
            | StoreErrorKind::UniqueKeyTaken(_) => {
                tokio::task::yield_now().await;
                Ok(Some(error.kind().clone()))
            }
            _ => Err(error.into()),
        }
    }
}

impl Transaction<'_> {
    /// Commits a batch. Returns `false` when everything must be read and decided again.
    ///
    /// The first commit joins the queues of the records that the batch replaces or deletes, unless
    /// [`enter`](Self::enter) was called before. Changes that are refused therefore never wait.
    ///
    /// # Errors
    /// `Conflict` after 16 attempts, or 64 if the policy is asked, or when a queue is full.
    pub(super) async fn commit(&mut self, batch: Batch) -> Result<bool, Error> {
        Ok(self.attempt(batch).await? == Attempt::Committed)
    }

    /// Commits a batch like [`commit`](Self::commit). Returns the unique key if another record has it.
    pub(super) async fn attempt(&mut self, batch: Batch) -> Result<Attempt, Error> {
        if self.turns.is_none() && !self.enter(replaced_records(&batch)).await? {
            return Ok(Attempt::Stale);
        }
        let Some(failed) = self.inventory.failed_condition(&self.author, batch).await? else {
            return Ok(Attempt::Committed);
        };
        self.count_attempt()?;
        if let StoreErrorKind::UniqueKeyTaken(unique_key) = failed {
            return Ok(Attempt::Taken(unique_key));
        }
        self.wait_to_repeat().await?;
        Ok(Attempt::Stale)
    }

    /// Waits until no other creation under a quota of this owner is in progress, releasing any turns held before.
    ///
    /// The turn must be held until the commit. `None` if there is no limit.
    pub(super) async fn quota_turn(
        &mut self,
        limit: Option<u64>,
        owner: Key,
        entity: Entity,
    ) -> Result<Option<Turns>, Error> {
        if limit.is_some() {
            (self.turns, self.has_quota) = (None, true);
        }
        self.inventory.quota_turn(limit, owner, entity).await
    }

    /// Waits for the turns of these records, releasing any turns held before.
    ///
    /// Does nothing if the policy is asked. Returns `false` when another change held one of them: everything must be read and decided again.
    ///
    /// # Errors
    /// `Conflict` when the queue of one of the records is full, or after 16 attempts.
    pub(super) async fn enter(&mut self, records: BTreeSet<Key>) -> Result<bool, Error> {
        if self.review.is_some() || self.turns.as_ref().is_some_and(|turns| turns.cover(&records)) {
            return Ok(true);
        }
        // Deadlock freedom: all turns are taken in one call, never in addition to held ones.
        self.turns = None;
        let queues = &self.inventory.state.queues;
        let turns = queues.enter(records).await.map_err(|_| self.conflict())?;
        let is_current = !turns.has_waited();
        self.turns = Some(turns);
        if !is_current {
            self.count_attempt()?;
        }
        Ok(is_current)
    }

    /// Counts a failed attempt and yields to other tasks. Must be called without the turn of a quota.
    ///
    /// # Errors
    /// `Conflict` after 16 attempts, or 64 if the policy is asked.
    pub(super) async fn retry(&mut self) -> Result<(), Error> {
        self.count_attempt()?;
        tokio::task::yield_now().await;
        self.wait_to_repeat().await
    }

    /// Waits until no other change of the record is decided again, if the policy is asked. The turn is held to the end.
    ///
    /// N changes of a record at once thus ask about 2 N times. Without turns, only one change would succeed for each
    /// answer of the policy, and all others would ask again.
    ///
    /// # Errors
    /// `Conflict` if the queue is full, or if it takes too long.
    async fn wait_to_repeat(&mut self) -> Result<(), Error> {
        // Deadlock freedom: the turn of a quota is never held while waiting for this one.
        if self.review.is_none() || self.has_quota || self.turn_to_repeat.is_some() {
            return Ok(());
        }
        let key = BTreeSet::from([Key::new(REPEATED, self.id)]);
        // On the heap, so that changes without a policy do not grow.
        match Box::pin(timeout(MAX_WAIT, self.inventory.state.repeated.enter(key))).await {
            Ok(Ok(turn)) => {
                self.turn_to_repeat = Some(turn);
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(self.conflict()),
        }
    }

    fn count_attempt(&mut self) -> Result<(), Error> {
        self.attempts += 1;
        let limit = if self.review.is_none() { MAX_ATTEMPTS } else { MAX_REVIEWED_ATTEMPTS };
        if self.attempts < limit { Ok(()) } else { Err(self.conflict()) }
    }

    fn conflict(&self) -> Error {
        conflict(self.entity, self.id)
    }
}

/// Returns the records that a batch replaces or deletes at the version that was read.
fn replaced_records(batch: &Batch) -> BTreeSet<Key> {
    let replaced =
        batch.writes().iter().filter(|write| matches!(write.precondition(), Precondition::Version(_)));
    replaced.map(|write| write.key()).collect()
}

/// Creates the error for a change that ran out of attempts.
pub(super) fn conflict(entity: Entity, id: impl Into<Uuid>) -> Error {
    ErrorKind::Conflict { entity, id: id.into() }.into()
}
