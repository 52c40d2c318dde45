//! Limits on the number of costly requests at a time, shared fairly between organizations.

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
type Holder = (Uuid, Uuid);

/// A slot in use. Dropping it frees the slot.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    holder: Holder,
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
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.max_total.saturating_sub(used.total);
        let holder = (organization, holder);
        if used.by_holder.count(&holder) >= self.max_per_holder
            || used.by_organization.count(&organization) >= free.saturating_mul(ORGANIZATION_SHARE)
        {
            return Err((self.refusal)(RETRY_AFTER));
        }
        used.total += 1;
        used.by_organization.increment(organization);
        used.by_holder.increment(holder);
        Ok(Slot { slots: Arc::clone(self), holder })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut used = self.slots.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.total -= 1;
        used.by_organization.decrement(&self.holder.0);
        used.by_holder.decrement(&self.holder);
    }
}
