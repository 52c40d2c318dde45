//! The lock of a store's state, for critical sections of microseconds.

use std::hint::spin_loop;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::{Duration, Instant};

use super::StoreError;

/// Time a reader spins before it sleeps. It is twice the time to write one record, and a fraction of the time to wake
/// a sleeper.
const SPIN_TIME: Duration = Duration::from_micros(20);

/// A lock for many readers and one writer.
#[derive(Debug, Default)]
pub(super) struct StateLock<T> {
    state: RwLock<T>,
    /// Held by a writer until it has acquired the lock.
    next_writer: Mutex<()>,
}

impl<T> StateLock<T> {
    #[cfg(any(feature = "sled", feature = "postgres"))]
    pub(super) fn new(state: T) -> Self {
        Self { state: RwLock::new(state), next_writer: Mutex::new(()) }
    }

    /// Acquires the lock for reading; spins before it sleeps.
    ///
    /// # Errors
    /// `Corrupt`, as for the other methods, after a panic during a write.
    pub(super) fn read(&self) -> Result<RwLockReadGuard<'_, T>, StoreError> {
        let mut start = None;
        loop {
            match self.state.try_read() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(_)) => return Err(poisoned()),
                Err(TryLockError::WouldBlock) => {}
            }
            if start.get_or_insert_with(Instant::now).elapsed() > SPIN_TIME {
                return self.state.read().map_err(|_| poisoned());
            }
            spin_loop();
        }
    }

    /// Acquires the lock for reading, after the writer that waits for it.
    ///
    /// A thread that reads slice after slice calls this: a writer takes longer to wake up than such a thread to acquire
    /// the lock again, so it would wait for as long as the slices go on.
    pub(super) fn read_after_writer(&self) -> Result<RwLockReadGuard<'_, T>, StoreError> {
        drop(self.next_writer.lock().unwrap_or_else(PoisonError::into_inner));
        self.read()
    }

    /// Acquires the lock for writing.
    pub(super) fn write(&self) -> Result<RwLockWriteGuard<'_, T>, StoreError> {
        let _turn = self.next_writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.state.write().map_err(|_| poisoned())
    }
}

/// Returns the error after a panic during a write. The write may have been applied in part in memory.
fn poisoned() -> StoreError {
    StoreError::corrupt("a panic interrupted a write: close the store and open it again")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at its first mistake")]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread::{scope, yield_now};

    use super::StateLock;

    #[test]
    fn a_read_after_the_writer_does_not_overtake_a_writer_that_is_about_to_lock() {
        let lock = StateLock::<u32>::default();
        let (begins, begun) = channel();
        scope(|threads| {
            let turn = lock.next_writer.lock().unwrap();
            let reader = threads.spawn(|| {
                begins.send(()).unwrap();
                *lock.read_after_writer().unwrap()
            });
            begun.recv().unwrap();
            // Long enough for a reader that does not wait.
            (0..1_000).for_each(|_| yield_now());
            *lock.state.write().unwrap() = 1;
            drop(turn);
            assert_eq!(reader.join().unwrap(), 1);
        });
    }
}
