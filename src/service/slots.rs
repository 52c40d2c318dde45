//! Limits on costly requests at a time and on the memory of responses, shared fairly between organizations.

use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use super::response::error::ApiError;
use crate::access::CountMap;

/// Seconds after which a client may retry a request that got no slot.
const RETRY_AFTER: u64 = 1;

/// An organization may acquire a slot while it holds fewer than this many times the free ones.
///
/// Alone, it therefore gets three quarters of all slots, rounded up, and the rest remains for others.
const ORGANIZATION_SHARE: usize = 3;

/// Slots for requests that hold memory or a processor for a while.
///
/// Each holder, such as a user, has a maximum of its own. All credentials of a user count together. An organization
/// may acquire a slot only while it holds fewer than three times the *free* slots: the more organizations hold slots,
/// the fewer each of them gets. An organization without a slot gets one as long as one is free.
///
/// Where memory is limited, each slot is a byte.
#[derive(Debug)]
pub(super) struct Slots {
    max_per_holder: usize,
    max_total: usize,
    refusal: fn(u64) -> ApiError,
    used: Mutex<UsedSlots>,
}

#[derive(Debug, Default)]
struct UsedSlots {
    total: usize,
    /// Has at most one entry for each slot in use, as does `by_holder`.
    by_organization: CountMap<Uuid>,
    by_holder: CountMap<Holder>,
}

/// An organization, and one of its users, daemon keys or the like.
///
/// Host applications choose the ids of users, which may be the same in several organizations.
pub(super) type Holder = (Uuid, Uuid);

/// Some slots in use. Dropping them frees them.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    holder: Holder,
    amount: usize,
}

impl Slots {
    /// Creates slots with a maximum per holder and in total. `refusal` makes the error when there is none.
    pub(super) fn new(
        (max_per_holder, max_total): (usize, usize),
        refusal: fn(u64) -> ApiError,
    ) -> Arc<Self> {
        Arc::new(Self { max_per_holder, max_total, refusal, used: Mutex::default() })
    }

    /// Checks that a holder could acquire a slot now.
    ///
    /// A slot is acquired once the body has arrived: a client that sends it slowly must not keep others waiting. Checking
    /// before spares clients a body that would most likely be rejected.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire).
    pub(super) fn check(self: &Arc<Self>, organization: Uuid, holder: Uuid) -> Result<(), ApiError> {
        self.acquire(organization, holder).map(drop)
    }

    /// Acquires a slot for a holder in an organization.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if the holder, the organization or the whole service has no free slot.
    pub(super) fn acquire(self: &Arc<Self>, organization: Uuid, holder: Uuid) -> Result<Slot, ApiError> {
        self.acquire_many((organization, holder), 1)
    }

    /// Acquires a number of slots at once. A holder that has none may exceed its own maximum with them.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if the holder, the organization or the whole service has too few free slots.
    pub(super) fn acquire_many(self: &Arc<Self>, holder: Holder, amount: usize) -> Result<Slot, ApiError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let further = amount.saturating_sub(1);
        let free = self.max_total.saturating_sub(used.total.saturating_add(further));
        let of_holder = used.by_holder.count(&holder);
        let most_before = if of_holder == 0 { 0 } else { further };
        if of_holder.saturating_add(most_before) >= self.max_per_holder
            || used.by_organization.count(&holder.0).saturating_add(further)
                >= free.saturating_mul(ORGANIZATION_SHARE)
        {
            return Err((self.refusal)(RETRY_AFTER));
        }
        Ok(used.take(self, holder, amount))
    }

    /// Checks that a holder has fewer than its own maximum.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if it has not.
    pub(super) fn require_room(&self, holder: Holder) -> Result<(), ApiError> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.by_holder.count(&holder) >= self.max_per_holder {
            return Err((self.refusal)(RETRY_AFTER));
        }
        Ok(())
    }

    /// Takes a number of slots, free or not. Others are refused until they are free again.
    pub(super) fn take(self: &Arc<Self>, holder: Holder, amount: usize) -> Slot {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).take(self, holder, amount)
    }
}

impl UsedSlots {
    fn take(&mut self, slots: &Arc<Slots>, holder: Holder, amount: usize) -> Slot {
        self.change(&holder, 0, amount);
        Slot { slots: Arc::clone(slots), holder, amount }
    }

    fn change(&mut self, holder: &Holder, from: usize, to: usize) {
        self.total = self.total.saturating_sub(from).saturating_add(to);
        if to > from {
            self.by_organization.add(holder.0, to - from);
            self.by_holder.add(*holder, to - from);
        } else {
            self.by_organization.subtract(&holder.0, from - to);
            self.by_holder.subtract(holder, from - to);
        }
    }
}

impl Slot {
    /// Changes the number of slots, whether or not there are enough.
    pub(super) fn resize(&mut self, amount: usize) {
        let mut used = self.slots.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.change(&self.holder, self.amount, amount);
        self.amount = amount;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.resize(0);
    }
}
