//! A read lock that spins before it sleeps, for critical sections of microseconds.

use std::hint::spin_loop;
use std::sync::{LockResult, RwLock, RwLockReadGuard, TryLockError};
use std::time::{Duration, Instant};

/// Time a reader spins before it sleeps: twice the write of one record, and a fraction of the time to wake a sleeper.
const SPIN_TIME: Duration = Duration::from_micros(20);

/// Acquires the lock for reading. Returns `Err` if it is poisoned.
pub(super) fn read<T>(lock: &RwLock<T>) -> LockResult<RwLockReadGuard<'_, T>> {
    let mut start = None;
    loop {
        match lock.try_read() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        if start.get_or_insert_with(Instant::now).elapsed() > SPIN_TIME {
            return lock.read();
        }
        spin_loop();
    }
}
