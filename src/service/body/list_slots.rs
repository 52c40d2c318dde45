use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use crate::access::CountMap;
use crate::service::error::ApiError;

/// Seconds after which a client may retry a list that got no slot.
const RETRY_AFTER: u64 = 1;

/// Bounds the number of concurrent lists without a limit, per user and in total.
///
/// Each such list holds the ids of the hosts that it has sent, so their number must be bounded. All credentials of a
/// user count together.
#[derive(Debug)]
pub(in crate::service) struct ListSlots {
    max_per_user: usize,
    max_total: usize,
    used: Mutex<UsedSlots>,
}

#[derive(Debug, Default)]
struct UsedSlots {
    total: usize,
    /// Has at most one entry for each slot in use.
    by_user: CountMap<Uuid>,
}

/// A slot held by a list. Dropping it frees the slot.
#[derive(Debug)]
pub(in crate::service) struct ListSlot {
    slots: Arc<ListSlots>,
    user: Uuid,
}

impl ListSlots {
    pub(in crate::service) fn new(max_per_user: usize, max_total: usize) -> Arc<Self> {
        Arc::new(Self { max_per_user, max_total, used: Mutex::default() })
    }

    /// Acquires a slot for a user's list.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if the user or the whole service has no free slot.
    pub(in crate::service) fn acquire(self: &Arc<Self>, user: Uuid) -> Result<ListSlot, ApiError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.total >= self.max_total || used.by_user.count(&user) >= self.max_per_user {
            return Err(ApiError::too_many_whole_lists(RETRY_AFTER));
        }
        used.total += 1;
        used.by_user.increment(user);
        Ok(ListSlot { slots: Arc::clone(self), user })
    }
}

impl Drop for ListSlot {
    fn drop(&mut self) {
        let mut used = self.slots.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.total -= 1;
        used.by_user.decrement(&self.user);
    }
}
