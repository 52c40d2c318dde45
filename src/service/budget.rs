//! Limits on the resources that requests and responses hold at a time, shared fairly between organizations.
//!
//! A budget consists of units: bytes of memory, or slots of costly requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::observation::LimitFigures;
use super::response::error::ApiError;
use crate::access::{Caller, ClientPrefix, CountMap};
use crate::figures::Counter;
use crate::inventory::Error;
use crate::model::OrganizationId;

/// Seconds after which a client may retry a request for which there was no budget.
const RETRY_AFTER: u64 = 1;

/// An organization may reserve a unit while it holds fewer than this many times the free ones.
///
/// Alone, it therefore gets three quarters of all units, rounded up, and the rest remains for others.
const ORGANIZATION_SHARE: usize = 3;

/// A user, a daemon key or the like, whose use of a budget is limited.
///
/// Its organization is a part of it: host applications choose the ids of users, which may be the same in several
/// organizations. All credentials of a user count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Holder {
    pub(super) organization: OrganizationId,
    pub(super) id: Uuid,
}

impl Holder {
    /// Returns the holder for all users and keys of the organization together.
    pub(super) const fn of_organization(self) -> Self {
        Self { id: Uuid::nil(), ..self }
    }

    /// Returns the holder for requests without a credential from this prefix.
    pub(super) fn of_prefix(prefix: Option<ClientPrefix>) -> Self {
        Self { organization: OrganizationId::nil(), id: prefix.map_or(Uuid::nil(), ClientPrefix::id) }
    }
}

impl From<&Caller> for Holder {
    fn from(caller: &Caller) -> Self {
        Self { organization: caller.organization_id(), id: caller.user_id().uuid() }
    }
}

/// A number of units, with a maximum for each holder and in total.
///
/// An organization may reserve a unit only while it holds fewer than three times the *free* ones: the more organizations
/// hold some, the less each of them gets. An organization without any gets a unit as long as one is free.
///
/// Several units may be more than a maximum allows. A holder without any may exceed its own maximum with them, and the
/// total as well if no other budget is held. With a maximum of 0, nothing is granted.
#[derive(Debug)]
pub(super) struct Budget {
    max_per_holder: usize,
    max_total: usize,
    refusal: fn(u64) -> ApiError,
    held: Mutex<HeldUnits>,
    refused: Counter,
}

#[derive(Debug, Default)]
struct HeldUnits {
    total: usize,
    /// Has at most one entry for each reservation, as does `by_holder`.
    by_organization: CountMap<OrganizationId>,
    by_holder: CountMap<Holder>,
}

/// Units of a budget that a holder has. Dropping it frees them.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: Arc<Budget>,
    holder: Holder,
    units: usize,
}

/// The holder, its organization or the whole service has too few free units.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the budget is exhausted")]
pub(super) struct BudgetExhausted {
    refusal: fn(u64) -> ApiError,
}

impl From<BudgetExhausted> for ApiError {
    fn from(exhausted: BudgetExhausted) -> Self {
        (exhausted.refusal)(RETRY_AFTER)
    }
}

/// Lets a change that the inventory calls fail. [`ApiError`] finds the cause again.
impl From<BudgetExhausted> for Error {
    fn from(exhausted: BudgetExhausted) -> Self {
        Self::internal(exhausted)
    }
}

impl Budget {
    /// Creates a budget with a maximum per holder and in total. `refusal` makes the error for requests beyond it.
    pub(super) fn new(
        (max_per_holder, max_total): (usize, usize),
        refusal: fn(u64) -> ApiError,
    ) -> Arc<Self> {
        Arc::new(Self {
            max_per_holder,
            max_total,
            refusal,
            held: Mutex::default(),
            refused: Counter::default(),
        })
    }

    /// Checks that a holder could reserve a unit now.
    ///
    /// A slot is reserved once the body has arrived: a client that sends it slowly must not keep others waiting. Checking
    /// before spares clients a body that would most likely be rejected.
    ///
    /// # Errors
    /// The errors of [`reserve`](Self::reserve).
    pub(super) fn check(self: &Arc<Self>, holder: Holder) -> Result<(), BudgetExhausted> {
        self.reserve(holder, 1).map(drop)
    }

    /// Reserves units for a holder.
    ///
    /// # Errors
    /// The errors of [`Reservation::grow`].
    pub(super) fn reserve(
        self: &Arc<Self>,
        holder: Holder,
        units: usize,
    ) -> Result<Reservation, BudgetExhausted> {
        let mut reservation = self.begin(holder);
        reservation.grow(units)?;
        Ok(reservation)
    }

    /// Begins a reservation, which has nothing yet.
    pub(super) fn begin(self: &Arc<Self>, holder: Holder) -> Reservation {
        Reservation { budget: Arc::clone(self), holder, units: 0 }
    }

    /// Returns the figures of the budget, under this name.
    pub(super) fn figures(&self, name: &'static str) -> LimitFigures {
        let (used, limit) = (self.lock().total as u64, self.max_total as u64);
        LimitFigures { name, used, limit, refused: self.refused.get() }
    }

    fn lock(&self) -> MutexGuard<'_, HeldUnits> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a reservation may grow by a number of units above 0.
    fn allows(&self, held: &HeldUnits, reservation: &Reservation, more: usize) -> bool {
        let Reservation { holder, units, .. } = reservation;
        // All units but the last one are held when the last one is granted.
        let before = more - 1;
        let of_holder = held.by_holder.count(holder);
        let is_own_allowed = match of_holder == *units {
            true => self.max_per_holder > 0,
            false => of_holder.saturating_add(before) < self.max_per_holder,
        };
        if held.total == *units {
            return is_own_allowed && self.max_total > 0;
        }
        let free = self.max_total.saturating_sub(held.total.saturating_add(before));
        let of_organization = held.by_organization.count(&holder.organization).saturating_add(before);
        is_own_allowed && of_organization < free.saturating_mul(ORGANIZATION_SHARE)
    }
}

impl Reservation {
    /// Reserves further units, up to `units` altogether.
    ///
    /// # Errors
    /// `BudgetExhausted` if there are not enough. Nothing changes then.
    pub(super) fn grow(&mut self, units: usize) -> Result<(), BudgetExhausted> {
        let more = units.saturating_sub(self.units);
        if more == 0 {
            return Ok(());
        }
        let mut held = self.budget.lock();
        if !self.budget.allows(&held, self, more) {
            drop(held);
            self.budget.refused.increment();
            return Err(BudgetExhausted { refusal: self.budget.refusal });
        }
        held.change(self.holder, self.units, units);
        drop(held);
        self.units = units;
        Ok(())
    }

    /// Changes the number of units, whether or not there are enough. Others are refused until there are again.
    pub(super) fn resize(&mut self, units: usize) {
        if units != self.units {
            self.budget.lock().change(self.holder, self.units, units);
            self.units = units;
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.resize(0);
    }
}

impl HeldUnits {
    fn change(&mut self, holder: Holder, from: usize, to: usize) {
        self.total = self.total.saturating_sub(from).saturating_add(to);
        if to > from {
            self.by_organization.add(holder.organization, to - from);
            self.by_holder.add(holder, to - from);
        } else {
            self.by_organization.subtract(&holder.organization, from - to);
            self.by_holder.subtract(&holder, from - to);
        }
    }
}
