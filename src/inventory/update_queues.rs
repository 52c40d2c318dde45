//! Queues in which updates of the same record wait for each other.
//!
//! Updates read, decide and commit on the version they read. Without a queue, many updates of one record overtake each
//! other again and again, and most of them give up. A queue is per record, so updates of different records, and
//! therefore different organizations, never wait for each other.

use std::collections::BTreeSet;

use crate::keyed_lock::{KeyGuard, KeyedLock};
use crate::store::Key;

/// The most updates that hold or await the turn of one record.
const MAX_QUEUE: usize = 1024;

/// The queue of every record that is being updated, of at most [`MAX_QUEUE`] updates each.
#[derive(Debug)]
pub(super) struct UpdateQueues(KeyedLock<Key>);

/// A record has too many updates waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

/// The exclusive turns of an update. Dropping them, also while they are awaited, leaves the queues.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// In the order of their keys.
    turns: Vec<(Key, KeyGuard<Key>)>,
    has_waited: bool,
}

impl Default for UpdateQueues {
    fn default() -> Self {
        Self(KeyedLock::new(MAX_QUEUE))
    }
}

impl UpdateQueues {
    /// Waits for the turns of all these records.
    ///
    /// The turns are taken in the order of the keys. An update must take all its turns in one call: then no two updates
    /// can wait for each other.
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
    /// Whether another update held one of the turns: what was read before may have changed.
    pub(super) const fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// Whether the turns of all these records are among them.
    pub(super) fn cover(&self, keys: &BTreeSet<Key>) -> bool {
        keys.iter().all(|key| self.turns.binary_search_by_key(key, |(other, _)| *other).is_ok())
    }
}
