//! Queues in which updates of the same record wait for each other.
//!
//! Updates read, decide and commit on the version they read. Without a queue, many updates of one record overtake each
//! other again and again, and most of them give up. A queue is per record, so updates of different records, and
//! therefore different organizations, never wait for each other.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::store::Key;

/// Most updates that hold or await the turn of one record.
const MAX_QUEUE: usize = 1024;

/// An empty map gives its memory back when it has room for more entries than this.
const KEPT_ROOM: usize = 1024;

/// The queue of every record that is being updated.
///
/// An entry exists only while an update holds or awaits its turn, so there are never more entries than records named by
/// updates under way; each queue is bounded by [`MAX_QUEUE`].
#[derive(Default)]
pub(super) struct UpdateQueues(StdMutex<HashMap<Key, Queue>>);

#[derive(Debug, Default)]
struct Queue {
    /// Fair: tokio's mutex grants the lock in the order of the requests.
    turn: Arc<Mutex<()>>,
    /// How many updates hold or await the turn.
    length: usize,
}

/// A record has too many updates waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

/// The exclusive turns of an update. Dropping them, also while they are awaited, leaves the queues.
#[derive(Debug)]
pub(super) struct Turns<'a> {
    /// In the order of their keys.
    places: Vec<Place<'a>>,
    has_waited: bool,
}

/// One update in one queue.
struct Place<'a> {
    queues: &'a UpdateQueues,
    key: Key,
    guard: Option<OwnedMutexGuard<()>>,
}

impl UpdateQueues {
    /// Waits for the turns of all these records.
    ///
    /// The turns are taken in the order of the keys. An update must take all its turns in one call: then no two updates
    /// can wait for each other.
    ///
    /// # Errors
    /// [`QueueFull`] when [`MAX_QUEUE`] updates of one of the records are in its queue.
    pub(super) async fn enter(&self, keys: BTreeSet<Key>) -> Result<Turns<'_>, QueueFull> {
        let mut turns = Turns { places: Vec::with_capacity(keys.len()), has_waited: false };
        for key in keys {
            let turn = self.join(key)?;
            // In place before the wait, so that an update that is dropped meanwhile leaves the queue.
            let mut place = Place { queues: self, key, guard: None };
            place.guard = Some(if let Ok(guard) = Arc::clone(&turn).try_lock_owned() {
                guard
            } else {
                turns.has_waited = true;
                turn.lock_owned().await
            });
            turns.places.push(place);
        }
        Ok(turns)
    }

    fn join(&self, key: Key) -> Result<Arc<Mutex<()>>, QueueFull> {
        let mut queues = self.lock();
        let queue = queues.entry(key).or_default();
        if queue.length >= MAX_QUEUE {
            return Err(QueueFull);
        }
        queue.length += 1;
        Ok(Arc::clone(&queue.turn))
    }

    fn leave(&self, key: Key) {
        let mut queues = self.lock();
        if let Some(queue) = queues.get_mut(&key) {
            queue.length -= 1;
            if queue.length == 0 {
                queues.remove(&key);
            }
        }
        if queues.is_empty() && queues.capacity() > KEPT_ROOM {
            *queues = HashMap::new();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns<'_> {
    /// Whether another update held one of the turns: what was read before may have changed.
    pub(super) const fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// Whether the turns of all these records are among them.
    pub(super) fn cover(&self, keys: &BTreeSet<Key>) -> bool {
        keys.iter().all(|key| self.places.binary_search_by_key(key, |place| place.key).is_ok())
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // The turn passes to the next update before the queue may go.
        self.guard = None;
        self.queues.leave(self.key);
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Place").field("key", &self.key).finish_non_exhaustive()
    }
}

/// How many queues there are.
impl fmt::Debug for UpdateQueues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("UpdateQueues").field("queues", &self.lock().len()).finish_non_exhaustive()
    }
}
