use std::collections::BTreeSet;

use uuid::Uuid;

use super::update_queues::Turns;
use super::{ATTEMPTS, Entity, Error, Inventory, conflict};
use crate::store::{Batch, Key, Precondition};

/// A read-decide-commit loop with retries and a bounded number of attempts.
///
/// The loop repeats until no record that the decision rests on has changed between reading and committing.
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
    inventory: &'a Inventory,
    entity: Entity,
    id: Uuid,
    turns: Option<Turns>,
    attempts: usize,
}

impl Inventory {
    /// Starts a transaction. `entity` and `id` identify the record in a `Conflict` error.
    pub(super) const fn transaction(&self, entity: Entity, id: Uuid) -> Transaction<'_> {
        Transaction { inventory: self, entity, id, turns: None, attempts: 0 }
    }
}

impl Transaction<'_> {
    /// Commits a batch. Returns `false` when everything must be read and decided again.
    ///
    /// The first commit joins the queues of the records that the batch replaces or deletes, unless
    /// [`enter`](Self::enter) was called before. Changes that are refused therefore never wait.
    ///
    /// # Errors
    /// `Conflict` after 16 attempts or when a queue is full.
    pub(super) async fn commit(&mut self, batch: Batch) -> Result<bool, Error> {
        if self.turns.is_none() && !self.enter(replaced_records(&batch)).await? {
            return Ok(false);
        }
        if self.inventory.commit_if_unchanged(batch).await? {
            return Ok(true);
        }
        self.count_attempt()?;
        Ok(false)
    }

    /// Waits for the turns of these records, releasing any turns held before.
    ///
    /// Returns `false` when another change held one of them: everything must be read and decided again.
    ///
    /// # Errors
    /// `Conflict` when the queue of one of the records is full, or after 16 attempts.
    pub(super) async fn enter(&mut self, records: BTreeSet<Key>) -> Result<bool, Error> {
        if self.turns.as_ref().is_some_and(|turns| turns.cover(&records)) {
            return Ok(true);
        }
        // Deadlock freedom: all turns are taken in one call, never in addition to held ones.
        self.turns = None;
        let queues = &self.inventory.remembered.queues;
        let turns = queues.enter(records).await.map_err(|_| self.conflict())?;
        let is_current = !turns.has_waited();
        self.turns = Some(turns);
        if !is_current {
            self.count_attempt()?;
        }
        Ok(is_current)
    }

    /// Counts a failed attempt and yields to other tasks.
    ///
    /// # Errors
    /// `Conflict` after 16 attempts.
    pub(super) async fn retry(&mut self) -> Result<(), Error> {
        self.count_attempt()?;
        tokio::task::yield_now().await;
        Ok(())
    }

    fn count_attempt(&mut self) -> Result<(), Error> {
        self.attempts += 1;
        if self.attempts < ATTEMPTS { Ok(()) } else { Err(self.conflict()) }
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
