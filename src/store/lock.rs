//! Waiting for a lock that is held for some microseconds only.

use std::hint::spin_loop;
use std::sync::{LockResult, RwLock, RwLockReadGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long a reader tries before it sleeps. A write of one record takes half of this, and who sleeps is woken several times
/// as late.
const PATIENCE: Duration = Duration::from_micros(20);

/// Takes the lock for reading. `Err` if it is poisoned.
pub(super) fn read<T>(lock: &RwLock<T>) -> LockResult<RwLockReadGuard<'_, T>> {
    let mut start = None;
    loop {
        match lock.try_read() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        if start.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return lock.read();
        }
        spin_loop();
    }
}
