//! A lock for each key, for work on one key that must not run concurrently.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Capacity above which a map without keys releases its memory.
const MAX_IDLE_CAPACITY: usize = 1_024;

/// A lock for each key, which its callers get first in, first out. Locks of different keys are independent.
///
/// A key takes memory only while it is held or waited for, so the number of keys is bounded by the number of callers.
/// The number of callers that wait for one key is bounded by [`new`](Self::new).
#[derive(Clone)]
pub(crate) struct KeyedLock<K: Eq + Hash + Copy> {
    slots: Arc<Mutex<HashMap<K, Slot>>>,
    max_callers: usize,
}

#[derive(Debug)]
struct Slot {
    turn: Arc<Semaphore>,
    /// How many callers hold the lock or wait for it.
    callers: usize,
}

/// Holds the lock of a key until it is dropped.
#[derive(Debug)]
pub(crate) struct KeyGuard<K: Eq + Hash + Copy> {
    // The field order matters: the lock is released before its slot is given up.
    _permit: OwnedSemaphorePermit,
    caller: Caller<K>,
}

/// Counts a caller until it is dropped, even if it stops waiting.
#[derive(Debug)]
struct Caller<K: Eq + Hash + Copy> {
    slots: Arc<Mutex<HashMap<K, Slot>>>,
    key: K,
    turn: Arc<Semaphore>,
}

impl<K: Eq + Hash + Copy> KeyGuard<K> {
    /// Returns whether others wait for the key.
    pub(crate) fn is_awaited(&self) -> bool {
        lock(&self.caller.slots).get(&self.caller.key).is_some_and(|slot| slot.callers > 1)
    }
}

impl<K: Eq + Hash + Copy> KeyedLock<K> {
    /// Creates locks that at most this many callers per key hold or wait for.
    pub(crate) fn new(max_callers: usize) -> Self {
        Self { slots: Arc::default(), max_callers }
    }

    /// Waits for the lock of a key. `None` when too many wait for it already.
    pub(crate) async fn lock(&self, key: K) -> Option<KeyGuard<K>> {
        let caller = self.enter(key)?;
        let permit = Arc::clone(&caller.turn).acquire_owned().await.ok()?;
        Some(KeyGuard { _permit: permit, caller })
    }

    /// Takes the lock of a key if it is free.
    pub(crate) fn try_lock(&self, key: K) -> Option<KeyGuard<K>> {
        let caller = self.enter(key)?;
        let permit = Arc::clone(&caller.turn).try_acquire_owned().ok()?;
        Some(KeyGuard { _permit: permit, caller })
    }

    /// Returns the numbers of callers that hold a lock or wait for one. The first is that of all keys together, the
    /// second that of the key with most.
    pub(crate) fn callers(&self) -> (usize, usize) {
        let slots = lock(&self.slots);
        let callers = slots.values().map(|slot| slot.callers);
        callers.fold((0, 0), |(total, most), callers| (total + callers, most.max(callers)))
    }

    fn enter(&self, key: K) -> Option<Caller<K>> {
        let mut slots = lock(&self.slots);
        let slot = slots.entry(key).or_insert_with(|| Slot { turn: Arc::new(Semaphore::new(1)), callers: 0 });
        if slot.callers >= self.max_callers {
            return None;
        }
        slot.callers += 1;
        Some(Caller { slots: Arc::clone(&self.slots), key, turn: Arc::clone(&slot.turn) })
    }
}

/// The number of keys that are held or waited for.
impl<K: Eq + Hash + Copy> fmt::Debug for KeyedLock<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeyedLock").field("keys", &lock(&self.slots).len()).finish_non_exhaustive()
    }
}

impl<K: Eq + Hash + Copy> Drop for Caller<K> {
    fn drop(&mut self) {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.get_mut(&self.key) {
            slot.callers -= 1;
            if slot.callers == 0 {
                slots.remove(&self.key);
            }
        }
        if slots.is_empty() && slots.capacity() > MAX_IDLE_CAPACITY {
            *slots = HashMap::new();
        }
    }
}

fn lock<K>(slots: &Mutex<HashMap<K, Slot>>) -> MutexGuard<'_, HashMap<K, Slot>> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}
