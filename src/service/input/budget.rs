//! The memory that request bodies take while they arrive, shared fairly between organizations.

use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use crate::access::CountMap;
use crate::service::response::error::ApiError;

/// Number of bytes of each body that need no budget.
///
/// Most bodies are smaller: they are accepted whatever others send.
const FREE_BYTES: usize = 64 * 1024;

/// Number of bodies of the largest size that a holder may send at once, and all together.
const LARGEST_AT_ONCE: (usize, usize) = (2, 8);

/// Maximum number of bytes of all bodies, unless the largest body needs more: 128 MiB.
const MAX_BYTES: usize = 128 * 1024 * 1024;

/// An organization may take bytes while it holds fewer than this many times the free ones, as it may take slots.
const ORGANIZATION_SHARE: usize = 3;

/// Seconds after which a client may retry a request whose body found no space.
const RETRY_AFTER: u64 = 1;

/// Bytes for the bodies of requests that are being received or processed.
///
/// Without it, clients that send many bodies slowly could make the server hold all of them.
#[derive(Debug)]
pub(in crate::service) struct BodyBudget {
    max_per_holder: usize,
    max_total: usize,
    used: Mutex<UsedBytes>,
}

#[derive(Debug, Default)]
struct UsedBytes {
    total: usize,
    by_organization: CountMap<Uuid>,
    by_holder: CountMap<Holder>,
}

/// An organization, and one of its users or daemon keys.
type Holder = (Uuid, Uuid);

/// The bytes of one body. Dropping it frees them.
#[derive(Debug)]
pub(in crate::service) struct HeldBytes {
    budget: Arc<BodyBudget>,
    /// `None`: the request has no credential. Such bodies are smaller than what needs no budget.
    holder: Option<Holder>,
    bytes: usize,
}

impl BodyBudget {
    /// Creates a budget for bodies of at most `largest` bytes each.
    pub(in crate::service) fn new(largest: usize) -> Arc<Self> {
        let (per_holder, total) = LARGEST_AT_ONCE;
        // An organization gets three quarters, which must suffice for a body of the largest size.
        let most = MAX_BYTES.max(largest.saturating_add(largest / 2));
        let (max_per_holder, max_total) = (largest.saturating_mul(per_holder), largest.saturating_mul(total));
        Arc::new(Self { max_per_holder, max_total: max_total.min(most), used: Mutex::default() })
    }

    /// Prepares to receive a body, for which nothing is held yet.
    pub(in crate::service) fn begin(self: &Arc<Self>, holder: Option<Holder>) -> HeldBytes {
        HeldBytes { budget: Arc::clone(self), holder, bytes: 0 }
    }
}

impl HeldBytes {
    /// Takes the bytes of a body that grows to `size`.
    ///
    /// # Errors
    /// `rate_limit_exceeded` if the holder, the organization or the whole service has no more space.
    pub(in crate::service) fn grow(&mut self, size: usize) -> Result<(), ApiError> {
        let more = size.saturating_sub(FREE_BYTES).saturating_sub(self.bytes);
        let Some(holder) = self.holder.filter(|_| more > 0) else { return Ok(()) };
        let budget = &*self.budget;
        let mut used = budget.used.lock().unwrap_or_else(PoisonError::into_inner);
        let left = budget.max_total.saturating_sub(used.total).checked_sub(more);
        let of_holder = used.by_holder.count(&holder).saturating_add(more);
        let of_organization = used.by_organization.count(&holder.0).saturating_add(more);
        let is_granted = of_holder <= budget.max_per_holder
            && left.is_some_and(|left| of_organization <= left.saturating_mul(ORGANIZATION_SHARE));
        if !is_granted {
            return Err(ApiError::too_many_bodies(RETRY_AFTER));
        }
        used.total += more;
        used.by_organization.add(holder.0, more);
        used.by_holder.add(holder, more);
        self.bytes += more;
        Ok(())
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        let Some(holder) = self.holder.filter(|_| self.bytes > 0) else { return };
        let mut used = self.budget.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.total -= self.bytes;
        used.by_organization.subtract(&holder.0, self.bytes);
        used.by_holder.subtract(&holder, self.bytes);
    }
}
