use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The memory that the tables of all devices take that are read at the same time.
///
/// While they take more than the limit, only the device goes on whose reading began first, and the others wait until a device
/// was read. The tables therefore take no more than the limit, those of one device, and one answer of each other device.
#[derive(Clone, Debug)]
pub(in crate::collect) struct WalkPool {
    state: Arc<PoolState>,
}

#[derive(Debug)]
struct PoolState {
    limit: usize,
    shares: Mutex<Shares>,
    /// Memory was given back.
    freed: Notify,
}

#[derive(Debug, Default)]
struct Shares {
    used: usize,
    /// The numbers of the devices that are read, in the order of their beginnings.
    numbers: BTreeSet<u64>,
    next: u64,
}

/// The memory of one device, which is given back when this is dropped.
#[derive(Debug)]
pub(super) struct WalkShare {
    pool: WalkPool,
    number: u64,
    bytes: usize,
}

impl WalkPool {
    pub(in crate::collect) fn new(limit: usize) -> Self {
        Self { state: Arc::new(PoolState { limit, shares: Mutex::default(), freed: Notify::new() }) }
    }

    /// Begins to read a device.
    pub(super) fn share(&self) -> WalkShare {
        let mut shares = self.lock();
        let number = shares.next;
        shares.next += 1;
        shares.numbers.insert(number);
        drop(shares);
        WalkShare { pool: self.clone(), number, bytes: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Shares> {
        self.state.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WalkShare {
    /// Counts memory of the device, and waits until the device may go on.
    pub(super) async fn take(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        {
            let mut shares = self.pool.lock();
            shares.used = shares.used.saturating_add(bytes);
        }
        loop {
            let freed = self.pool.state.freed.notified();
            if self.may_go_on() {
                return;
            }
            freed.await;
        }
    }

    fn may_go_on(&self) -> bool {
        let shares = self.pool.lock();
        shares.used <= self.pool.state.limit || shares.numbers.first() == Some(&self.number)
    }
}

impl Drop for WalkShare {
    fn drop(&mut self) {
        let mut shares = self.pool.lock();
        shares.used = shares.used.saturating_sub(self.bytes);
        shares.numbers.remove(&self.number);
        drop(shares);
        self.pool.state.freed.notify_waiters();
    }
}
