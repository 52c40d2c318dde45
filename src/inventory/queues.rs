//! Queues of the updates of one record.
//!
//! Updates wait for each other instead of failing and retrying.

use std::collections::BTreeSet;

use super::QueueFigures;
use crate::keyed_lock::{KeyGuard, KeyedLock};
use crate::store::Key;

/// The maximum number of updates that hold or await the turn of one record.
const MAX_QUEUE: usize = 1024;

/// A queue per record being updated, of at most [`MAX_QUEUE`] updates each.
#[derive(Debug)]
pub(super) struct UpdateQueues(KeyedLock<Key>);

/// The error when too many updates of a record are waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

/// The exclusive turns of an update. Dropping them, or the future that awaits them, leaves the queues.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The turns, sorted by key.
    turns: Vec<(Key, KeyGuard<Key>)>,
    has_waited: bool,
}

impl Default for UpdateQueues {
    fn default() -> Self {
        Self(KeyedLock::new(MAX_QUEUE))
    }
}

impl UpdateQueues {
    /// Returns the figures of the queues, under this name.
    pub(super) fn figures(&self, name: &'static str) -> QueueFigures {
        let (length, longest) = self.0.callers();
        QueueFigures { name, length: length as u64, longest: longest as u64 }
    }

    /// Waits for the turns of all these records.
    ///
    /// Turns are taken in key order. An update must take all its turns in one call, which makes deadlocks impossible.
    ///
    /// # Errors
    /// [`QueueFull`] when [`MAX_QUEUE`] updates of one of the records are in its queue.
    pub(super) async fn enter(&self, keys: BTreeSet<Key>) -> Result<Turns, QueueFull> {
        let mut turns = Turns::default();
        for key in keys {
            let turn = match self.0.try_lock(key) {
                Some(turn) => turn,
                None => {
                    turns.has_waited = true;
                    self.0.lock(key).await.ok_or(QueueFull)?
                }
            };
            turns.turns.push((key, turn));
        }
        Ok(turns)
    }
}

impl Turns {
    /// Returns whether another update held one of the turns.
    ///
    /// If so, earlier reads may be stale.
    pub(super) const fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// Returns whether these turns include all of these records.
    pub(super) fn cover(&self, keys: &BTreeSet<Key>) -> bool {
        keys.iter().all(|key| self.turns.binary_search_by_key(key, |(other, _)| *other).is_ok())
    }
}
