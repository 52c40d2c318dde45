use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::MAX_UNCOUNTED;
use crate::inventory::Error;
use crate::service::budget::{Budget, BudgetExhausted, Holder, Reservation};

/// What the fields that the server sets and the envelope add to a record: bytes, and a fraction of the record.
const ADDED: (usize, usize) = (512, 8);

/// The bytes that a request holds while it is processed: those of its body, and those reserved for its answer.
///
/// A write reserves them before it is executed: then it must be answered, and can no longer be refused. Other answers may be
/// refused when they are known, and reserve nothing before.
pub(in crate::service) struct RequestRoom<'r> {
    bodies: &'r Arc<Budget>,
    holder: Holder,
    held: Mutex<HeldBytes>,
}

#[derive(Default)]
struct HeldBytes {
    body: Option<Reservation>,
    answer: Option<Reservation>,
}

impl<'r> RequestRoom<'r> {
    /// Creates room without any bytes. Those of the body will be taken from `bodies`.
    pub(in crate::service) fn new(bodies: &'r Arc<Budget>, holder: Holder) -> Self {
        Self { bodies, holder, held: Mutex::default() }
    }

    /// Reserves what the answers to most writes take at most.
    ///
    /// # Errors
    /// `BudgetExhausted`.
    pub(in crate::service) fn begin_write(&mut self, answers: &Arc<Budget>) -> Result<(), BudgetExhausted> {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        held.answer = Some(answers.reserve(self.holder, MAX_UNCOUNTED)?);
        Ok(())
    }

    /// Begins the reservation of a body, which grows as the body arrives.
    pub(in crate::service) fn begin_body(&self) -> Reservation {
        self.bodies.begin(self.holder)
    }

    /// Holds the bytes of a body that has arrived.
    pub(in crate::service) fn hold_body(&self, body: Reservation) {
        self.lock().body = Some(body);
    }

    /// Reserves a number of bytes for the answer to a write.
    ///
    /// # Errors
    /// `BudgetExhausted`: the write must not be executed.
    pub(in crate::service) fn reserve(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        self.lock().answer.as_mut().map_or(Ok(()), |answer| answer.grow(bytes))
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

    /// Returns a reservation for an answer of this size. That of a write has been made.
    ///
    /// # Errors
    /// `BudgetExhausted`.
    pub(in crate::service) fn into_answer(
        self,
        answers: &Arc<Budget>,
        bytes: usize,
    ) -> Result<Reservation, BudgetExhausted> {
        let held = self.held.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(mut answer) = held.answer else { return answers.reserve(self.holder, bytes) };
        answer.resize(bytes);
        Ok(answer)
    }

    fn lock(&self) -> MutexGuard<'_, HeldBytes> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
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
