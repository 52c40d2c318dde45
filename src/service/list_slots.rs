use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use crate::access::Tally;
use crate::wire::ApiError;

/// Seconds after which a client may ask again for a list that found no slot.
const RETRY_AFTER: u64 = 1;

/// The slots for lists without a limit that are being sent at the same time.
///
/// Each such list keeps the ids of the hosts that it has sent, so their number is bounded: for each user, with all
/// credentials together, and in all.
#[derive(Debug)]
pub(super) struct ListSlots {
    for_each_user: usize,
    in_all: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    /// At most one entry for each slot.
    by_user: Tally<Uuid>,
}

/// A slot that a list has taken. Dropping it frees the slot.
#[derive(Debug)]
pub(super) struct ListSlot {
    slots: Arc<ListSlots>,
    user: Uuid,
}

impl ListSlots {
    pub(super) fn new(for_each_user: usize, in_all: usize) -> Arc<Self> {
        Arc::new(Self { for_each_user, in_all, taken: Mutex::default() })
    }

    /// Takes a slot for a user's list.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if the user has no slot left, or the service has none.
    pub(super) fn take(self: &Arc<Self>, user: Uuid) -> Result<ListSlot, ApiError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.total >= self.in_all || taken.by_user.of(&user) >= self.for_each_user {
            return Err(ApiError::too_many_whole_lists(RETRY_AFTER));
        }
        taken.total += 1;
        taken.by_user.add(user);
        Ok(ListSlot { slots: Arc::clone(self), user })
    }
}

impl Drop for ListSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.total -= 1;
        taken.by_user.remove(&self.user);
    }
}
