use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::MAX_UNCOUNTED;
use crate::inventory::Error;
use crate::service::budget::{Budget, BudgetExhausted, Holder, Reservation};

/// What the fields that the server sets and the envelope add to a record: bytes, and a fraction of the record.
const ADDED: (usize, usize) = (512, 8);

/// The bytes that the answer to a write may take, reserved before the write is executed.
///
/// A write that has been executed must be answered, so that it can no longer be refused.
pub(in crate::service) struct AnswerRoom(Option<Mutex<Reservation>>);

impl AnswerRoom {
    /// Reserves nothing: the answer may be refused when it is known.
    pub(in crate::service) const fn unreserved() -> Self {
        Self(None)
    }

    /// Reserves what most answers take at most.
    ///
    /// # Errors
    /// `BudgetExhausted`.
    pub(in crate::service) fn new(budget: &Arc<Budget>, holder: Holder) -> Result<Self, BudgetExhausted> {
        Ok(Self(Some(Mutex::new(budget.reserve(holder, MAX_UNCOUNTED)?))))
    }

    /// Reserves a number of bytes for the answer.
    ///
    /// # Errors
    /// `BudgetExhausted`: the write must not be executed.
    pub(in crate::service) fn reserve(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        let Some(reservation) = &self.0 else { return Ok(()) };
        reservation.lock().unwrap_or_else(PoisonError::into_inner).grow(bytes)
    }

    /// Reserves the size of a record as it will be stored, whose times and ids may not be set yet.
    ///
    /// # Errors
    /// `BudgetExhausted` as an internal error, which becomes the refusal again.
    pub(in crate::service) fn reserve_record(&self, record: &impl Serialize) -> Result<(), Error> {
        let mut size = Size(0);
        serde_json::to_writer(&mut size, record).map_err(Error::internal)?;
        let (bytes, fraction) = ADDED;
        Ok(self.reserve(size.0.saturating_add(size.0 / fraction).saturating_add(bytes))?)
    }

    /// Returns what was reserved, if anything was, as the reservation of an answer of this size.
    pub(in crate::service) fn into_reservation(self, bytes: usize) -> Option<Reservation> {
        let mut reservation = self.0?.into_inner().unwrap_or_else(PoisonError::into_inner);
        reservation.resize(bytes);
        Some(reservation)
    }
}

/// Counts the bytes that are written to it.
struct Size(usize);

impl Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
